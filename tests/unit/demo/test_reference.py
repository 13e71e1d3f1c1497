"""The household is what the demo says of it: who was there, who could not know, and sound that fits the script."""

from __future__ import annotations

import pytest

from service.audio import decode
from service.connectors.files import read_transcript
from service.demo.reference import HOUSEHOLD, Recording, Said, call, household
from service.memory.attendance import attendances, attends
from service.memory.interactions import Spoken

HOME = household()


def test_three_members_are_there_on_every_day_and_the_visitor_on_one() -> None:
    assert HOME.members == ("nora", "ben", "ruth")
    heard = [{turn.speaker for turn in recording.turns} for recording in HOME.recordings]
    assert all(set(HOME.members) <= speakers for speakers in heard)
    assert sum("victor" in speakers for speakers in heard) == 1
    assert not any("stranger" in speakers for speakers in heard)


@pytest.mark.parametrize("recording", HOME.recordings, ids=lambda r: r.id)
def test_a_recording_is_as_long_as_its_script_says(recording: Recording) -> None:
    info = decode.probe(recording.path)
    assert info.channels == 1
    assert 60 <= info.duration <= 100
    assert info.duration == pytest.approx(max(interval.end for _, interval in recording.present), abs=0.1)


@pytest.mark.parametrize("recording", HOME.recordings, ids=lambda r: r.id)
def test_everybody_speaks_only_while_they_are_in_the_room(recording: Recording) -> None:
    present = dict(recording.present)
    assert all(present[turn.speaker].overlap(turn.segment) == pytest.approx(turn.segment.duration) for turn in recording.turns)


@pytest.mark.parametrize("recording", HOME.recordings, ids=lambda r: r.id)
def test_the_transcript_beside_a_recording_says_what_the_script_says(recording: Recording) -> None:
    transcript = read_transcript(recording.path.with_suffix(".vtt"))
    assert [(s.label, s.text) for s in transcript.segments] == [(HOME.names[t.speaker], t.text) for t in recording.turns]


def _hearers(recording: Recording, word: str) -> set[str]:
    """Who was there, by first and last own turn, when `word` was said."""
    spoken = [Spoken(str(i), turn.segment, turn.speaker, turn.speaker) for i, turn in enumerate(recording.turns)]
    (turn, *_) = [turn for turn in recording.turns if word in (turn.text or "")]
    return {a.person_id for a in attendances(spoken) if attends(a, turn.segment)}


@pytest.mark.parametrize(
    ("day", "word", "hearers"),
    [
        (0, "telescope", {"nora", "ruth"}),
        (0, "walnuts", {"nora", "ben", "ruth"}),
        (1, "humidity", {"nora", "ruth", "victor"}),
        (1, "telescope arrived", {"nora", "ruth"}),
        (1, "surprise party", {"nora", "ruth"}),
        (2, "trip to Cork", {"nora", "ben"}),
        (2, "hazelnuts", {"nora", "ben", "ruth"}),
        (2, "blue teapot", {"ben", "ruth"}),
    ],
)
def test_a_secret_is_heard_only_by_those_it_is_meant_for(day: int, word: str, hearers: set[str]) -> None:
    assert _hearers(HOME.recordings[day], word) == hearers


def test_there_are_two_overlaps_and_pauses_between_other_turns() -> None:
    gaps = [later.segment.start - earlier.segment.end for r in HOME.recordings for earlier, later in _neighbours(r)]
    assert sum(gap < 0 for gap in gaps) == 2  # a backchannel and an interruption
    assert all(0.3 <= gap <= 2.5 for gap in gaps if gap >= 0)


def _neighbours(recording: Recording) -> zip[tuple[Said, Said]]:
    return zip(recording.turns, recording.turns[1:], strict=False)


def test_each_member_enrols_and_every_kind_of_asker_has_a_question() -> None:
    assert {clip.speaker for clip in HOME.enrolments} == set(HOME.members)
    assert all("my voice is kept" in clip.text for clip in HOME.enrolments)
    assert {clip.speaker for clip in HOME.questions.values()} == {*HOME.members, "victor", "stranger"}
    same = {clip.text for id, clip in HOME.questions.items() if id.startswith("ask_surprise")}
    assert len(same) == 1
    assert all(clip.path.is_file() for clip in (*HOME.enrolments, *HOME.questions.values()))


def test_the_sound_is_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in HOUSEHOLD.glob("*.ogg")) < 3_000_000


def test_the_real_call_comes_with_a_package_and_has_two_speakers() -> None:
    recording = call()
    assert len({turn.speaker for turn in recording.turns}) == 2
    assert decode.probe(recording.path).duration == pytest.approx(30, abs=0.1)
