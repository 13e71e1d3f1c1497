"""What does Attendee tell? Webhooks of transcripts, participants, chat and the bot's state, and sound by WebSocket.

Read in source and documentation (2026): webhook payloads and their signing, the states of a bot and whom a chat line is to,
docs/webhooks, docs/realtime_audio (with `sequence`). General knowledge, not read: what the times of words count from (no
webhook has words so far; those that do not lie in their utterance are left out).

A webhook is signed as canonical JSON, without a time: it can be sent again by whoever saw it, and is known by what it says.
Its idempotency key is one for each subscription. The WebSocket is not signed: a secret of its own goes into its URL
(`?token=…`), in the source's secrets as `token:…`. What is written to the bot alone is not told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field
from service.connectors.live import Delivery, Read
from service.connectors.live.bodies import (
    at_epoch,
    at_iso,
    document,
    epoch,
    id_of,
    is_true,
    keyed,
    mapping,
    need_id,
    reading,
    starting,
    within_meeting,
)
from service.connectors.live.frames import base64_samples, rate_of
from service.connectors.live.signatures import by_use, verify_canonical_json, verify_shared_secret
from service.types.audio import Segment, Word
from service.types.meeting import (
    AccountKey,
    AudioEncoding,
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
)

NAME = "attendee"
MILLISECONDS = 1000.0
PARTICIPANTS = {"join": Joined, "leave": Left, "update": Renamed}
SPEECH = ("speech_start", "speech_stop")
BEFORE = (None, "ready", "joining", "waiting_room", "joined_not_recording", "joined_recording_permission_denied")
"""States of a bot that has not recorded yet: out of a pause or a breakout room nothing begins."""
ANONYMOUS = "@local"
"""Ends the id of who sits in a Teams room and is told apart by voice alone: in no roster, and somebody else next time."""


@dataclass(frozen=True, slots=True)
class Attendee:
    declared = DeclaredLive(
        NAME,
        "Attendee, webhooks and real-time audio (2026)",
        ("webhook", "websocket", "transcript", "participants", "mixed audio", "audio per participant"),
        TimeUnit.MILLISECONDS,
        TimeBase.EPOCH,
        SpeakerScope.PARTICIPANT,
        utterance_ids=None,
        repeats="idempotency_key, one for each subscription; an utterance by speaker, times and text",
        signing=Signing.CANONICAL_JSON,
        accounts="speaker_user_uuid",
        metadata="bot_metadata, of webhooks",
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        """Of a WebSocket its upgrade."""
        signing, sent = by_use(secrets)
        if sent and "x-webhook-signature" not in delivery.headers:
            verify_shared_secret(delivery, sent, source=source, parameter="token")
        else:
            verify_canonical_json(delivery, signing, source=source)

    def read(self, delivery: Delivery) -> Read:
        with reading(NAME):
            whole = document(delivery, NAME)
            if whole["trigger"].text() is None:
                raise whole["trigger"].refuse("the kind of event")
            bot = id_of(whole["bot_id"])
            events = keyed(bot, _events(whole["trigger"].text() or "", whole["data"]))
            if events and bot is None:
                raise whole["bot_id"].refuse("the id of the bot")
            key, metadata = id_of(whole["idempotency_key"]), mapping(whole["bot_metadata"])
            return Read(bot if events else None, events, delivery_key=key, metadata=metadata)

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _events(trigger: str, data: Field) -> Iterator[MeetingEvent]:
    """Nothing for calendars and logs."""
    if trigger == "transcript.update":
        yield from _uttered(data)
    elif trigger in ("participant_events.join_leave", "participant_events.speech_start_stop"):
        yield from _participant(data)
    elif trigger == "chat_messages.update":
        yield from _chat(data)
    elif trigger == "bot.state_change":
        yield from _state(data)
    elif trigger in ("realtime_audio.mixed", "realtime_audio.per_participant"):
        yield _sound(data, is_mixed=trigger.endswith("mixed"))


def _uttered(data: Field) -> Iterator[MeetingEvent]:
    """Nothing where no text was recognised: `transcription` is null then."""
    told = data["transcription"]
    text = told["transcript"].text()
    if text is None:
        return
    start = _needed(data["timestamp_ms"])
    lasts = within_meeting(data["duration_ms"], MILLISECONDS)
    end = starting(start, text).end if lasts is None else start + max(0.0, lasts)
    words = tuple(_words(told["words"], start, end))
    yield Uttered(
        key="",
        speaker=_speaker(data, "speaker"),
        text=text,
        start=start,
        end=end,
        base=Base.EPOCH,
        words=words,
        language=told["language"].text(),
    )


def _words(words: Field, start: float, end: float) -> Iterator[Word]:
    """Counted from the utterance's start; none of those that then lie outside of it."""
    for word in words:
        text, begin, until = word.first_of("word", "text").text(), word["start"].number(), word["end"].number()
        if text and begin is not None and until is not None and 0 <= begin <= until <= end - start + 1.0:
            yield Word(text, Segment(min(start + begin, end), min(start + until, end)), word["confidence"].share())


def _participant(data: Field) -> Iterator[MeetingEvent]:
    kind, speaker = data["event_type"].text(), _speaker(data, "participant")
    if kind in PARTICIPANTS:
        yield PARTICIPANTS[kind](key="", at=at_epoch(data["timestamp_ms"], MILLISECONDS), speaker=speaker)
    elif kind in SPEECH:
        start = _needed(data["timestamp_ms"])
        yield Spoke(key="", speaker=speaker, start=start, end=start if kind == SPEECH[1] else None, base=Base.EPOCH)


def _chat(data: Field) -> Iterator[MeetingEvent]:
    text, to = data["text"].text(), data["to"].text()
    if text is None or (to or "").casefold() != "everyone":
        return
    at = epoch(data["timestamp_ms"], MILLISECONDS) or _needed(data["timestamp"], 1.0)
    id = id_of(data["id"])
    yield Uttered(key="", speaker=_speaker(data, "sender"), text=text, start=at, end=at, base=Base.EPOCH, id=id, source="chat")


def _state(data: Field) -> Iterator[MeetingEvent]:
    """Transcripts may follow a meeting's end; the bot's own end is after its processing."""
    at, state = at_iso(data["created_at"]), data["new_state"].text()
    if state == "joined_recording" and data["old_state"].text() in BEFORE:
        yield Began(key="", at=at)
    elif state == "ended":
        yield Ended(key="", at=at)
    elif state == "fatal_error":
        yield Ended(key="", at=at, failed=data["event_sub_type"].text() or data["event_type"].text() or state)


def _speaker(data: Field, whose: str) -> Speaker:
    handle, name = id_of(data[f"{whose}_uuid"]), data[f"{whose}_name"].label()
    if handle is None:
        return Speaker(None, name=name)
    account = None if handle.endswith(ANONYMOUS) else id_of(data[f"{whose}_user_uuid"])
    return Speaker(
        handle,
        name=name,
        account=None if account is None else AccountKey(NAME, account),
        is_host=is_true(data[f"{whose}_is_host"]),
    )


def _sound(data: Field, *, is_mixed: bool) -> Heard:
    name = data["participant_name"].label()
    return Heard(
        key="",
        data=base64_samples(data["chunk"]),
        encoding=AudioEncoding.S16,
        sample_rate=rate_of(data["sample_rate"]),
        speaker=None if is_mixed else Speaker(need_id(data["participant_uuid"]), name=name),
        start=epoch(data["timestamp_ms"], MILLISECONDS),
        base=Base.EPOCH,
    )


def _needed(field: Field, per_second: float = MILLISECONDS) -> float:
    seconds = epoch(field, per_second)
    if seconds is None:
        raise field.refuse("a time since 1970")
    return seconds


CONNECTOR = Attendee()
