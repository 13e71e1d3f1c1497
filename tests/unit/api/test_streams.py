"""What waits for slow clients is bounded, progress makes room for memories, a stream is followed with its own token only."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from service.api.context import Asked
from service.api.listening import ListeningOutcome, StreamEvent
from service.api.stream_json import TYPES, as_json
from service.api.streams import Outbox, ReadsTooSlowly, Streams, StreamsConfig, TooManyStreams
from service.api.tokens import TokenEntry
from service.streaming.prompt import MemoryPrompt
from service.streaming.told import MemoryReady, NotAnswered, SpeakerHeard, StageEntered, TermsMatched, Timing
from service.streaming.work import Stage
from service.types.entities import EntityType, NamedEntity

ROOT = Path(__file__).parents[3]
ENTRY = TokenEntry("t1", "", "ours", "ana", "home", frozenset({"ask"}), "ana", datetime.now(UTC), None)
OTHER = TokenEntry("t2", "", "ours", "ana", "home", frozenset({"ask"}), "ana", datetime.now(UTC), None)


def progress(at: float) -> StageEntered:
    return StageEntered(at, 1, Stage.LISTENING)


def result(at: float) -> NotAnswered:
    return NotAnswered(at, 1, "code", "reason")


async def test_progress_makes_room_and_what_must_be_told_is_never_dropped() -> None:
    outbox = Outbox(3)
    for event in (progress(1), result(2), progress(3), result(4), result(5)):
        outbox.put(event)
    with pytest.raises(ReadsTooSlowly):
        outbox.put(result(6))
    outbox.end()
    assert [event.at for event in [await outbox.get() for _ in range(3)] if event] == [2, 4, 5]
    assert await outbox.get() is None


async def test_a_follower_that_is_too_slow_is_left_behind_and_holds_nobody_up() -> None:
    streams = Streams(StreamsConfig(max_waiting=2))
    with streams.open(ENTRY, Asked()) as stream, streams.follow(stream.id, ENTRY, Asked()) as follower:
        assert follower is not None
        for at in range(5):
            stream.tell(result(at))
            assert (await stream.outbox.get()) == result(at)
        assert [await follower.get(), await follower.get(), await follower.get()] == [result(0), result(1), None]


async def test_a_memory_that_a_follower_was_too_slow_to_take_is_not_told_them_any_more() -> None:
    """What they may see may be less by then."""
    memory = MemoryReady(1, 1, "Where?", MemoryPrompt("In Cork.", 3, ()), Timing(1, 1, 1, 1))
    streams = Streams(StreamsConfig(memory_seconds=0.05))
    with streams.open(ENTRY, Asked()) as stream, streams.follow(stream.id, ENTRY, Asked()) as follower:
        assert follower is not None
        stream.tell(memory)
        assert await follower.get() == memory
        for told in (memory, result(2)):
            stream.tell(told)
        await asyncio.sleep(0.1)
        assert await follower.get() == result(2)
        assert [await stream.outbox.get() for _ in range(3)] == [memory, memory, result(2)]


def test_a_stream_is_followed_with_its_own_token_and_the_same_hearers_only() -> None:
    streams = Streams()
    with streams.open(ENTRY, Asked(heard_by=("ben",))) as stream:
        for entry, asked in ((OTHER, Asked(heard_by=("ben",))), (ENTRY, Asked()), (ENTRY, Asked(heard_by=("ben", "cleo")))):
            with streams.follow(stream.id, entry, asked) as outbox:
                assert outbox is None
        with streams.follow(stream.id, ENTRY, Asked(heard_by=("ben",))) as outbox:
            assert outbox is not None
    with streams.follow(stream.id, ENTRY, Asked(heard_by=("ben",))) as outbox:
        assert outbox is None


def test_streams_are_counted_by_token_and_in_all_and_closed_ones_no_more() -> None:
    streams = Streams(StreamsConfig(max_open=3, max_each=2))
    for _ in range(3):
        with streams.open(ENTRY, Asked()), streams.open(ENTRY, Asked()):
            with pytest.raises(TooManyStreams), streams.open(ENTRY, Asked()):
                pass
            with streams.open(OTHER, Asked()), pytest.raises(TooManyStreams), streams.open(OTHER, Asked()):
                pass


def test_a_streams_codes_are_documented() -> None:
    from service.api.stream_closing import Closing

    readme = (ROOT / "README.md").read_text()
    assert [code for code in Closing if str(int(code)) not in readme] == []


def test_a_streams_events_are_documented_each() -> None:
    readme = (ROOT / "README.md").read_text().partition("## Listening")[2].partition("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE)
    code = "".join((ROOT / f"service/api/{name}.py").read_text() for name in ("stream", "stream_closing"))
    of_the_stream = set(re.findall(r'(?:send_json\(|told = )\{"type": "(\w+)"', code))
    assert of_the_stream == {"ready", "remembered", "error"}
    assert documented.pop(0) == "type" and sorted(documented) == sorted({*TYPES.values(), *of_the_stream})
    members = get_args(get_args(ListeningOutcome)[0])
    assert {member for member in members if issubclass(member, StreamEvent)} == set(TYPES)


def test_an_event_is_the_same_in_json_and_graphql() -> None:
    known = NamedEntity("e", "telescope", EntityType.THING)
    assert as_json(TermsMatched(1.23456, 2, (("p", "Nora"),), (known,), ("roof",))) == {
        "type": "matched", "at": 1.235, "utterance": 2, "people": [{"id": "Person:p", "name": "Nora"}],
        "entities": [{"id": "Entity:e", "name": "telescope", "type": "thing"}], "terms": ["roof"],
    }  # fmt: skip
    assert as_json(SpeakerHeard(1.0, 1, None, None, True)) == {
        "type": "speaker", "at": 1.0, "utterance": 1, "linked": True, "person": None}  # fmt: skip
