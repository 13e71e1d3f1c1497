"""Whose stream a piece of a meeting's sound is of."""

from __future__ import annotations

from pathlib import Path

from service.memory.meeting import Participant
from service.pipelines.meeting_tapes import Stream, Tape
from service.pipelines.meeting_voices import MIXED, by_track

ANA = Participant("a", "a", name="Ana Ruiz")
BO, OTHER_BO = Participant("b", "b", name="Bo"), Participant("c", "c", name="Bo")


def tracks(*streams: Stream, people: tuple[Participant, ...] = (ANA, BO, OTHER_BO)) -> list[str]:
    tapes = [Tape(Path(f"{n}.tape"), stream) for n, stream in enumerate(streams)]
    found = by_track(tapes, {one.track: one for one in people})
    return [next(track for track, own in found.items() if tape in own) for tape in tapes]


def test_a_stream_is_its_handles_whatever_name_it_shows() -> None:
    assert tracks(Stream("c1", "a", name="Bo"), Stream("c2", "a")) == ["a", "a"]


def test_where_its_number_says_nothing_it_is_whose_name_it_shows_if_one_alone_has_it() -> None:
    shown = [Stream("c1", "0", "c1", "Ana Ruiz"), Stream("c1", "1", "c1", "Bo"), Stream("c1", "2", "c1")]
    found = tracks(*shown)
    assert found[0] == "a"
    assert not {"a", "b", "c"} & set(found[1:]) and len(set(found)) == 3


def test_what_all_are_mixed_into_is_everybodys() -> None:
    assert tracks(Stream("c1", is_mixed=True), Stream("c2", is_mixed=True)) == [MIXED, MIXED]
