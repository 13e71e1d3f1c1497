"""Sound that grows comes as the whole file's does; who may read meanwhile is nobody who may not at the end."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest

from service.audio import decode
from service.graph.close_sessions import KnownPerson
from service.graph.open_sessions import OpenTurn
from service.pipelines.live import Growing, StreamStopped, readers_so_far
from service.types.audio import SAMPLE_RATE, Segment, Waveform
from service.types.people import AccessPolicy
from tests.builders import write_wav

HEADER, SECONDS = 44, 30.0


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, round(SECONDS * SAMPLE_RATE))
    return write_wav(tmp_path_factory.mktemp("stream") / "stream.wav", noise)


async def test_growing_sound_comes_in_the_pieces_of_the_whole_file(sound: Path) -> None:
    growing = Growing("s1", sound, HEADER)
    heard: list[Waveform] = []
    reading = asyncio.create_task(asyncio.to_thread(lambda: heard.extend(growing.blocks(seconds=7.0))))
    left = round(SECONDS * SAMPLE_RATE) * 2
    while left:
        now = min(left, 2 * 91_001)
        growing.wrote(now)
        left -= now
        await asyncio.sleep(0.01)
    growing.end()
    await reading
    whole = list(decode.blocks(sound, seconds=7.0))
    assert [block.start for block in heard] == [block.start for block in whole]
    assert all(np.array_equal(one.samples, other.samples) for one, other in zip(heard, whole, strict=True))


def test_it_is_read_also_under_another_name_and_whoever_reads_is_stopped(sound: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.wav"
    part.write_bytes(sound.read_bytes())
    growing = Growing("s1", part, HEADER, seconds=10.0)
    part.rename(tmp_path / "whole.wav")
    blocks = growing.blocks(seconds=7.0)
    assert next(blocks).duration == 7.0
    threading.Timer(0.05, growing.stop).start()
    with pytest.raises(StreamStopped):
        next(blocks)


async def test_whoever_waits_for_an_answer_holds_it_up_for_a_while(sound: Path) -> None:
    busy = True
    growing = Growing("s1", sound, HEADER, seconds=10.0, busy=lambda: busy)
    reading = asyncio.create_task(asyncio.to_thread(lambda: next(growing.blocks(seconds=7.0))))
    assert not (await asyncio.wait([reading], timeout=0.3))[0]
    busy = False
    assert (await asyncio.wait_for(reading, 5)).duration == 7.0


def turn(id: str, start: float, speaker: str | None) -> OpenTurn:
    return OpenTurn(id, Segment(start, start + 2.0), f"track of {speaker}", speaker, None)


@pytest.mark.parametrize(
    ("access", "read_by"),
    [
        (AccessPolicy.OWN, {"a": {"ana"}, "b": {"ben"}, "c": set(), "d": {"ana"}, "e": {"eva"}}),
        (AccessPolicy.ADDRESSED, {"a": {"ana"}, "b": {"ben"}, "c": set(), "d": {"ana"}, "e": {"eva"}}),
        (AccessPolicy.ATTENDED, {"a": {"ana"}, "b": {"ana", "ben"}, "c": {"ana"}, "d": {"ana"}, "e": {"eva"}}),
    ],
)
def test_who_was_there_so_far_reads_as_far_as_the_space_lets_them(access: AccessPolicy, read_by: dict[str, set[str]]) -> None:
    turns = [turn("a", 0, "ana"), turn("b", 3, "ben"), turn("c", 6, None), turn("d", 9, "ana"), turn("e", 12, "eva")]
    people = [KnownPerson(name, (), is_bot=False) for name in ("ana", "ben", "eva")] + [KnownPerson("bot", (), is_bot=True)]
    assert readers_so_far(turns, access, people) == read_by
    assert all(
        before <= readers_so_far(turns, access, people)[id]
        for end in range(len(turns))
        for id, before in readers_so_far(turns[:end], access, people).items()
    ), "nobody who reads a turn stops to"
    assert not any(readers_so_far(turns, access, [people[-1]]).values()), "of whom nothing is known by then"
