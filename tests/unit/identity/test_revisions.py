"""What the graph is told to write, and how an open session follows merges and erasures."""

from __future__ import annotations

from service.identity.policies import Bounded
from service.identity.revisions import follow, voice_changes
from service.identity.router import FoldState, RouterConfig, step
from service.types.people import Create
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


def test_bindings_follow_a_merge_and_an_erased_persons_track_is_free() -> None:
    known = gallery(a_person("ana", axis(0)), a_person("ben", axis(2)))
    turns = [a_turn("m0", axis(0), track="t1"), a_turn("m1", axis(2), at=5, track="t2")]
    state, _ = step(FoldState(gallery=known), turns, RouterConfig())
    assert follow(state, {"ana": "anna"}).bound == {"t1": "anna", "t2": "ben"}
    assert follow(state, {}, gone={"ben"}).bound == {"t1": "ana"}
    assert set(follow(state, {"ana": "anna"}).heard) == {"anna", "ben"}


def test_stepping_the_whole_batch_again_finds_the_person_another_process_made() -> None:
    turns = one_after_another([axis(0)])
    _, (alone,) = step(FoldState(), turns, RouterConfig())
    _, (again,) = step(FoldState().with_gallery(gallery(a_person("made-elsewhere", between(0.95)))), turns, RouterConfig())
    assert isinstance(alone, Create)
    assert getattr(again, "person_id", None) == "made-elsewhere"
