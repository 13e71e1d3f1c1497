"""What the graph is told to write, and what an open session makes of others' changes meanwhile."""

from __future__ import annotations

from dataclasses import replace

from service.identity.policies import Bounded
from service.identity.revisions import voice_changes
from service.identity.router import FoldState, RouterConfig, step
from service.types.people import Create, Link
from tests.unit.identity.voices import a_person, a_turn, an_exemplar, axis, between, gallery, one_after_another


def test_only_people_whose_voice_changed_are_written() -> None:
    before = FoldState(gallery=gallery(a_person("ana", axis(0)), a_person("ben", axis(2))))
    after, (_, created) = step(before, one_after_another([between(0.9), axis(5)]), RouterConfig())
    changes = {c.voice.person_id: c for c in voice_changes(before, after)}
    assert isinstance(created, Create)
    assert set(changes) == {"ana", created.person_id}
    assert [e.message_id for e in changes["ana"].added] == ["m0"] and not changes["ana"].created
    assert changes[created.person_id].created and changes["ana"].evicted == ()


def test_an_evicted_exemplar_is_named() -> None:
    voice, bounded = a_person("ana", axis(0)), Bounded()
    for i in range(11):
        voice = bounded.learn(voice, an_exemplar(f"e{i:02d}", between(1 - i / 20), net_speech=3.0 + i))
    before = FoldState(gallery={"ana": voice})
    after, _ = step(before, [a_turn("m", between(0.93))], RouterConfig())
    (change,) = voice_changes(before, after)
    assert len(after.gallery["ana"].exemplars) == 12
    assert [e.message_id for e in change.added] == ["m"]
    assert len(change.evicted) == 1 and change.evicted[0] in {e.id for e in voice.exemplars}


def test_passing_voices_are_never_written() -> None:
    after, _ = step(FoldState(), one_after_another([axis(0)]), RouterConfig(keep_voices=False))
    assert voice_changes(FoldState(), after) == ()


def test_a_merge_made_and_undone_while_a_session_is_open_leaves_its_bindings() -> None:
    known = gallery(a_person("ana", axis(0)), a_person("ben", axis(2)))
    merged = {**known, "ben": replace(known["ben"], same_as="ana")}
    turns = [
        [a_turn(f"m{i}", axis(0), at=20 * i, track="t1"), a_turn(f"n{i}", axis(2), at=20 * i + 5, track="t2")] for i in range(3)
    ]
    state, told = FoldState(), []
    for people, batch in zip((known, merged, known), turns, strict=True):
        state, decisions = step(state.with_gallery(people), batch, RouterConfig())
        told.append([d.person_id for d in decisions if isinstance(d, Link)])
    assert told == [["ana", "ben"]] * 3 and state.bound == {"t1": "ana", "t2": "ben"}


def test_stepping_the_whole_batch_again_finds_the_person_another_process_made() -> None:
    turns = one_after_another([axis(0)])
    _, (alone,) = step(FoldState(), turns, RouterConfig())
    _, (again,) = step(FoldState().with_gallery(gallery(a_person("made-elsewhere", between(0.95)))), turns, RouterConfig())
    assert isinstance(alone, Create)
    assert getattr(again, "person_id", None) == "made-elsewhere"
