"""What a player sends, the connector of the same provider reads as what was played, as far as that provider can tell it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from service.connectors.live import CONNECTORS, Delivery, connector
from service.connectors.live.bodies import hashed, lasting
from service.connectors.live.generic_schema import as_json
from service.connectors.live.playing import PLAYERS, Played, number_of, player
from service.connectors.live.playing.recall import words_told
from service.connectors.live.playing.recorded import read_recorded, recorded, with_names
from service.connectors.live.playing.vexa import turn_of
from service.types.audio import Segment
from service.types.meeting import (
    NOBODY,
    AccountKey,
    Base,
    Began,
    Ended,
    Heard,
    Joined,
    Left,
    MeetingEvent,
    Renamed,
    Speaker,
    Spoke,
    Uttered,
    Withdrawn,
)
from tests.unit.connectors.live.backend import SECRET
from tests.unit.connectors.live.meeting_events import EPOCH, events

EXAMPLE = Path(__file__).parents[4] / "deploy/examples/meeting.jsonl"
MEETING = Played("bot-1", datetime.fromtimestamp(EPOCH, UTC))
Told = Callable[[MeetingEvent], list[MeetingEvent]]


def received(provider: str, event: MeetingEvent, id: str = "d1") -> list[MeetingEvent]:
    """Through signature and connector."""
    there, read = player(provider), []
    now = datetime.now(UTC)
    for body in there.bodies(MEETING, event, id=id):
        delivery = Delivery(there.headers(body, SECRET, at=now, id=id), body, now)
        connector(provider).verify(delivery, [SECRET], source="mine")
        found = connector(provider).read(delivery)
        assert not found.events or found.meeting == MEETING.id
        read += found.events
    return read


def plain(told: Iterable[MeetingEvent]) -> list[Any]:
    """Without keys, with times to the millisecond."""

    def rounded(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: rounded(inner) for name, inner in value.items() if name != "key"}
        if isinstance(value, list):
            return [rounded(inner) for inner in value]
        return round(value, 3) if isinstance(value, float) else value

    return [rounded(as_json(event)) for event in told]


def epoch(event: Uttered | Spoke, seconds: float) -> float:
    return MEETING.epoch(seconds, event.base)


def since_1970(event: Uttered) -> Uttered:
    by = 0.0 if event.base is Base.EPOCH else EPOCH
    words = [replace(w, segment=Segment(w.segment.start + by, w.segment.end + by)) for w in event.words]
    return replace(event, start=event.start + by, end=event.end + by, words=tuple(words), base=Base.EPOCH)


def marks(event: Spoke, speaker: Speaker) -> list[Spoke]:
    """A stretch of speech as two marks."""
    start, end = epoch(event, event.start), None if event.end is None else epoch(event, event.end)
    bare = replace(event, at=None, speaker=speaker, base=Base.EPOCH)
    on = [replace(bare, start=start, end=None)] if end != start else []
    return on + ([] if end is None else [replace(bare, start=end, end=end)])


BEGAN = Began(key="", at=MEETING.began_at)
BARE = {"at": None, "revision": 0, "confidence": None}


def by_recall(event: MeetingEvent) -> list[MeetingEvent]:
    def speaker(whose: Speaker) -> Speaker:
        account = None if whose.account is None else AccountKey("recall:zoom", whose.account.subject)
        handle = number_of(whose)
        if handle is None:
            return Speaker(None, name=whose.name) if whose.name else NOBODY
        return Speaker(str(handle), name=whose.name, account=account, is_host=whose.is_host)

    match event:
        case Ended():
            return [replace(event, duration=None)]
        case Joined() | Left() | Renamed():
            told = [replace(event, speaker=speaker(event.speaker))]
            return [BEGAN, *told] if event.at else [*told]
        case Spoke():
            return [*marks(event, speaker(event.speaker))]
        case Uttered(source="chat"):
            at = epoch(event, event.start)
            chat = replace(since_1970(event), speaker=speaker(event.speaker), start=at, end=at, words=(), language=None, **BARE)
            return [replace(chat, id=None, slot=None)] if event.final else []
        case Uttered():
            words = tuple(replace(word, confidence=1.0) for word in words_told(event))
            told_ = since_1970(replace(event, words=words))
            own = speaker(event.speaker)
            slot = hashed(f"{MEETING.id}-recording", own.handle)
            return [BEGAN, replace(told_, speaker=own, slot=slot, id=None, source="platform", **BARE)]
    return []


def by_vexa(event: MeetingEvent) -> list[MeetingEvent]:
    match event:
        case Began():
            return [Began(key="", at=event.at or MEETING.began_at, platform=event.platform)]
        case Ended():
            return [BEGAN, replace(event, duration=None)]
        case Uttered():
            turn = f"session-{MEETING.id}:{turn_of(event)}"
            is_chat = event.source == "chat"
            confidence = None if is_chat else event.speaker.confidence
            name = event.speaker.name
            own = Speaker(turn, name=name, confidence=confidence)
            if name is not None and confidence != 0 and event.source != "diariser":
                own = Speaker(None, name=name, confidence=confidence)
            told = replace(since_1970(event), speaker=own, slot=hashed("", turn), at=None, confidence=None)
            start = round(MEETING.since(event.start, event.base) * 1000)
            ms = round((MEETING.epoch(event.end, event.base) + event.revision) * 1000)
            told = replace(told, id=f"{turn}:{start}" if event.final else None, revision=ms)
            return [replace(told, end=told.start, words=())] if is_chat else [BEGAN, told]
    return []


def by_attendee(event: MeetingEvent) -> list[MeetingEvent]:
    def speaker(whose: Speaker) -> Speaker:
        if whose.handle is None:
            return Speaker(None, name=whose.name) if whose.name else NOBODY
        account = None if whose.account is None else AccountKey("attendee", whose.account.subject)
        return Speaker(whose.handle, name=whose.name, account=account, is_host=whose.is_host)

    match event:
        case Began():
            return [Began(key="", at=event.at or MEETING.began_at)]
        case Ended():
            return [replace(event, duration=None)]
        case Joined() | Left() | Renamed():
            return [replace(event, speaker=speaker(event.speaker))]
        case Spoke():
            return [*marks(event, speaker(event.speaker))]
        case Uttered(final=True):
            told = replace(since_1970(event), speaker=speaker(event.speaker), words=(), language=None, slot=None, **BARE)
            if event.source == "chat":
                return [replace(told, end=told.start)]
            return [replace(told, id=None, source="platform")]
    return []


def by_meetingbaas(event: MeetingEvent) -> list[MeetingEvent]:
    match event:
        case Began():
            return [Began(key="", at=event.at or MEETING.began_at)]
        case Ended():
            return [replace(event, at=None, duration=None if event.failed else event.duration)]
        case Uttered(source=source) if source != "chat":
            own = NOBODY
            if event.speaker.handle or event.speaker.name:
                own = Speaker(event.speaker.handle, name=event.speaker.name)
            by = EPOCH if event.base is Base.EPOCH else 0.0
            words = [replace(w, segment=Segment(w.segment.start - by, w.segment.end - by)) for w in event.words]
            times = {"start": event.start - by, "end": event.end - by, "words": tuple(words), "base": Base.MEETING}
            slot = hashed(MEETING.id, "segment")
            return [replace(event, at=None, revision=0, id=None, source="platform", speaker=own, slot=slot, **times)]
    return []


def dated(event: MeetingEvent) -> datetime:
    return event.at or MEETING.began_at


def by_jitsi(event: MeetingEvent) -> list[MeetingEvent]:
    def speaker(whose: Speaker) -> Speaker:
        account = None if whose.account is None else AccountKey("jitsi", whose.account.subject)
        return Speaker(whose.handle, name=whose.name, account=account)

    match event:
        case Began():
            return [Began(key="", at=dated(event), title=MEETING.id, platform="jitsi")]
        case Ended():
            return [Ended(key="", at=dated(event))]
        case Joined() | Left():
            return [replace(event, at=dated(event), speaker=speaker(event.speaker))]
        case Uttered(source=source) if source != "chat":
            start = epoch(event, event.start)
            told = replace(event, **BARE, speaker=speaker(event.speaker), start=start, end=start + lasting(event.text))
            plain_ = {"slot": None, "words": (), "source": "platform", "base": Base.EPOCH}
            return [replace(told, **plain_, confidence=event.confidence)]
    return []


def by_livekit(event: MeetingEvent) -> list[MeetingEvent]:
    at = dated(event).replace(microsecond=0)
    match event:
        case Began():
            return [Began(key="", at=at, title=MEETING.id, platform="livekit")]
        case Ended():
            return [Ended(key="", at=at)]
        case Joined(speaker=Speaker(handle=str())) | Left(speaker=Speaker(handle=str())):
            own = event.speaker
            return [replace(event, at=at, speaker=Speaker(own.handle, name=own.name, is_bot=own.is_bot))]
        case Uttered(source=source) if source != "chat":
            own = NOBODY if event.speaker.handle is None else Speaker(event.speaker.handle)
            slot = own.handle if event.id is None else None
            return [replace(since_1970(event), **BARE, speaker=own, slot=slot, words=(), source="platform")]
    return []


def just_said(event: Uttered, speaker: Speaker) -> Uttered:
    """Told when it was over."""
    end = epoch(event, event.end)
    told = replace(event, **BARE, speaker=speaker, start=end - lasting(event.text), end=end, base=Base.EPOCH, id=None)
    return replace(told, slot=speaker.handle, words=(), source="platform")


def by_pipecat(event: MeetingEvent) -> list[MeetingEvent]:
    def speaker(whose: Speaker) -> Speaker:
        return NOBODY if whose.handle is None else Speaker(whose.handle, name=whose.name)

    match event:
        case Began():
            return [Began(key="", at=dated(event), title=event.title, platform="pipecat")]
        case Ended():
            return [Ended(key="", at=dated(event))]
        case Joined() | Left():
            return [replace(event, at=dated(event), speaker=speaker(event.speaker))]
        case Uttered(source=source) if source != "chat" and (event.final or not event.speaker.is_bot):
            own = Speaker("bot", is_bot=True) if event.speaker.is_bot else speaker(event.speaker)
            return [just_said(event, own)]
    return []


def by_daily(event: MeetingEvent) -> list[MeetingEvent]:
    match event:
        case Began():
            return [Began(key="", at=dated(event), title=MEETING.id, platform="daily")]
        case Ended():
            return [Ended(key="", at=dated(event), duration=(dated(event) - MEETING.began_at).total_seconds())]
        case Joined(speaker=Speaker(handle=str())) | Left(speaker=Speaker(handle=str())):
            own = event.speaker
            account = None
            if own.account is not None and own.account.subject != own.handle:
                account = AccountKey("daily", own.account.subject)
            told = Speaker(own.handle, name=own.name, account=account, is_host=own.is_host)
            return [replace(event, at=dated(event), speaker=told)]
        case Uttered(source=source) if source != "chat":
            own = NOBODY if event.speaker.handle is None else Speaker(event.speaker.handle)
            return [replace(just_said(event, own), language=None)]
    return []


TOLD: dict[str, Told] = {
    "generic": lambda event: [event],
    "recall": by_recall,
    "vexa": by_vexa,
    "attendee": by_attendee,
    "meetingbaas": by_meetingbaas,
    "jitsi": by_jitsi,
    "livekit": by_livekit,
    "pipecat": by_pipecat,
    "daily": by_daily,
}


@st.composite
def played(draw: st.DrawFn) -> MeetingEvent:
    """An event of this meeting, at a whole millisecond of it."""
    event = draw(events)
    at = MEETING.began_at + timedelta(milliseconds=draw(st.integers(0, 36_000_000)))
    return replace(event, at=None if event.at is None else at)


@pytest.mark.parametrize("provider", PLAYERS)
@settings(max_examples=60)
@given(event=played())
def test_what_is_played_is_what_the_connector_reads(provider: str, event: MeetingEvent) -> None:
    assert plain(received(provider, event)) == plain(TOLD[provider](event))


@pytest.mark.parametrize("provider", PLAYERS)
@settings(max_examples=15)
@given(event=played())
def test_the_same_event_has_the_same_keys_whatever_delivery_brings_it(provider: str, event: MeetingEvent) -> None:
    first, again = received(provider, event, id="d1"), received(provider, event, id="d2")
    assume(not isinstance(event, Heard))
    assert [told.key for told in first] == [told.key for told in again]


def test_every_player_has_a_connector_and_is_tested() -> None:
    assert set(PLAYERS) <= set(CONNECTORS) and set(PLAYERS) == set(TOLD)
    assert all(player(provider).provider == provider for provider in PLAYERS)


@pytest.mark.parametrize("provider", PLAYERS)
def test_the_example_has_all_its_finals_whoever_sends_it(provider: str) -> None:
    told = [step.event for step in with_names(read_recorded(EXAMPLE)).steps]
    chats = () if provider in ("generic", "recall", "vexa", "attendee") else ("chat",)
    finals = [event.text for event in told if isinstance(event, Uttered) and event.final and event.source not in chats]
    read = [found for event in told for found in received(provider, event)]
    assert [event.text for event in read if isinstance(event, Uttered) and event.final] == finals
    assert any(isinstance(event, Ended) for event in read)


def test_who_is_named_once_is_named_with_every_event() -> None:
    said: Sequence[dict[str, Any]] = [
        {"type": "joined", "speaker": {"handle": "7", "name": "Ana", "is_host": True, "confidence": 0.5}},
        {"type": "uttered", "speaker": {"handle": "7"}, "text": "Hi.", "start": 1, "end": 2},
        {"type": "renamed", "speaker": {"handle": "7", "name": "Ana Kovář"}},
        {"type": "left", "speaker": {"handle": "7"}},
        {"type": "joined", "speaker": {"handle": "7", "scope": "c2"}},
        {"type": "withdrawn", "id": "u1"},
    ]
    told = [step.event for step in with_names(recorded([json.dumps({"meeting": "m", **e}).encode() for e in said])).steps]
    whole = [event.speaker for event in told if not isinstance(event, Withdrawn)]  # type: ignore[attr-defined]
    assert whole == [
        Speaker("7", name="Ana", is_host=True, confidence=0.5),
        Speaker("7", name="Ana", is_host=True),
        Speaker("7", name="Ana Kovář", is_host=True),
        Speaker("7", name="Ana Kovář", is_host=True),
        Speaker("7", "c2"),
    ]
