"""What does Jitsi tell? jigasi's remote publisher and its final file, transcription results of the conference, and what
opus-transcriber-proxy dispatches; also the sound that the bridge sends to a transcriber, and jigasi to a Whisper service.

Read in source (2026): jigasi LocalJsonTranscriptHandler and RemotePublisherTranscriptionHandler (a POST an event: START, JOIN,
SPEECH, LEAVE, END; with `room_name`, unsigned, finals only); opus-transcriber-proxy README, DISPATCHER_INTEGRATION (a
WebSocket of `{sessionId, endpointId, text, timestamp, language}`, headers of one's choice), WEBSOCKET_DUMP and AUDIO_MIXING
(`media` with Opus packets, timestamps of a clock of 48 kHz that starts anywhere); jigasi WhisperWebsocket and its audio
devices, with skynet's Streaming Whisper Module, which takes it (each binary message 60 bytes of `participant|language`, filled
up with zeros, and samples of 16 bit, little-endian, 16 kHz; a single byte once all have left). General knowledge, not read:
what `timestamp` of a result is the moment of (taken for the start, as the files' reader does), and that a bridge waits for
`pong`.

Neither signs: a secret goes into the URL of jigasi (`?token=…`), and into the proxy's DISPATCHER_HEADERS (`Authorization:
Bearer …`). The meeting is the session, else the room: several meetings a day have one name. The file is a meeting of its own:
send the events or the file. jigasi's `email` is what somebody typed, so it is no account; `identity_id`, from the token of who
joined, is one."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, has
from service.connectors.files.source import clean
from service.connectors.live import Delivery, EventUnreadable, Read
from service.connectors.live.bodies import (
    at_epoch,
    at_iso,
    document,
    epoch,
    id_of,
    is_true,
    keyed,
    meeting_of,
    need_id,
    reading,
    starting,
)
from service.connectors.live.frames import binary_samples
from service.connectors.live.signatures import by_use, verify_shared_secret
from service.types.meeting import (
    NOBODY,
    AccountKey,
    AudioEncoding,
    Base,
    Began,
    Ended,
    Heard,
    Joined,
    Left,
    MeetingEvent,
    Speaker,
    Uttered,
)

NAME = "jitsi"
RESULT = "transcription-result"
SPOKEN = (RESULT, "SPEECH")
UNNAMED = "Fellow Jitster"
"""What Jitsi shows for who gave no name."""
OPUS_CLOCK = 48_000
"""Hz, of Opus in RTP (RFC 7587), whatever rate was recorded."""
WHISPER_HEADER = 60
"""Bytes."""
WHISPER_RATE = 16_000
"""Hz."""
ALL_LEFT = b"\0"


@dataclass(frozen=True, slots=True)
class Jitsi:
    declared = DeclaredLive(
        NAME,
        "Jitsi: jigasi (events, its file, and sound as for Whisper), opus-transcriber-proxy, the bridge's sound",
        ("webhook", "websocket", "transcript", "partials", "participants", "audio per participant"),
        TimeUnit.MILLISECONDS,
        TimeBase.EPOCH,
        SpeakerScope.PARTICIPANT,
        utterance_ids="message_id; none of what the proxy dispatches",
        repeats="is_interim before the final one of a message_id",
        signing=Signing.SHARED_SECRET,
        accounts="identity_id",
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        all_sent = [secret for some in by_use(secrets) for secret in some]
        verify_shared_secret(delivery, all_sent, source=source, header="authorization", scheme="Bearer ", parameter="token")

    def read(self, delivery: Delivery) -> Read:
        if delivery.binary:
            return _whispered(delivery)
        with reading(NAME):
            whole = document(delivery, NAME)
            named = id_of(whole["sessionId"]) or meeting_of(delivery, "meeting", "sessionId") or _of_file(whole)
            meeting = named or id_of(whole["room_name"])
            if whole["event"].value == "media":
                return _heard(whole, delivery, meeting)
            events = tuple(_events(whole))
            if events and meeting is None:
                what = "missing; needed: room_name, sessionId, or ?meeting=… in the URL"
                raise EventUnreadable(provider=NAME, place="room_name", what=what)
            return Read(meeting if events else None, keyed(meeting, events), in_room=named is None and meeting is not None)

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        """A bridge asks whether somebody is there."""
        if delivery.binary or b'"ping"' not in delivery.body:
            return None
        with reading(NAME):
            whole = document(delivery, NAME)
            return {"event": "pong", "id": whole["id"].value} if whole["event"].value == "ping" else None


def _events(whole: Field) -> Iterator[MeetingEvent]:
    if has(whole.value, "events", "room_name"):
        yield from _file(whole)
    elif has(whole.value, "endpointId", "text"):
        yield from _dispatched(whole)
    else:
        yield from _event(whole)


def _of_file(whole: Field) -> str | None:
    """The file has all of one meeting, so it is known by when that began."""
    room, began = id_of(whole["room_name"]), whole["start_time"].text()
    return f"{room} {began}" if has(whole.value, "events") and room is not None and began is not None else None


def _file(whole: Field) -> Iterator[MeetingEvent]:
    """What jigasi writes when the meeting is over."""
    began = at_iso(whole["start_time"])
    yield Began(key="", at=began, title=whole["room_name"].text(), platform=NAME)
    for participant in whole["initial_participants"]:
        yield Joined(key="", at=began, speaker=_speaker(participant))
    for event in whole["events"]:
        yield from _event(event)
    yield Ended(key="", at=at_iso(whole["end_time"]))


def _event(event: Field) -> Iterator[MeetingEvent]:
    """Nothing for raised hands, translations, and what is not known."""
    at = at_epoch(event["timestamp"], 1000)
    kind = event["event"].value
    if event["type"].value not in (None, RESULT):
        return
    if kind in SPOKEN or (kind is None and event["type"].value == RESULT):
        yield from _uttered(event)
    elif kind == "START":
        yield Began(key="", at=at, title=event["room_name"].text(), platform=NAME)
    elif kind == "END":
        yield Ended(key="", at=at)
    elif kind == "JOIN":
        yield Joined(key="", at=at, speaker=_speaker(event["participant"]))
    elif kind == "LEAVE":
        yield Left(key="", at=at, speaker=_speaker(event["participant"]))


def _uttered(event: Field) -> Iterator[MeetingEvent]:
    best = next(iter(event["transcript"]), None) if isinstance(event["transcript"].value, list) else None
    text = (best["text"] if best is not None else event.first_of("transcript", "text")).text()
    if text is None:
        return
    confidence = best["confidence"] if best is not None else None
    yield _said(
        event,
        text,
        speaker=_speaker(event["participant"]),
        id=id_of(event["message_id"]),
        final=not is_true(event["is_interim"]),
        confidence=None if confidence is None or confidence.value is None else confidence.share(),
    )


def _dispatched(whole: Field) -> Iterator[MeetingEvent]:
    text = whole["text"].text()
    if text is not None:
        handle = id_of(whole["endpointId"])
        yield _said(whole, text, speaker=NOBODY if handle is None else Speaker(handle))


def _said(
    event: Field, text: str, *, speaker: Speaker, id: str | None = None, final: bool = True, confidence: float | None = None
) -> Uttered:
    at = epoch(event["timestamp"], 1000)
    if at is None:
        raise event["timestamp"].refuse("milliseconds since 1970")
    span = starting(at, text)
    return Uttered(
        key="",
        speaker=speaker,
        text=text,
        start=span.start,
        end=span.end,
        base=Base.EPOCH,
        id=id,
        final=final,
        language=event["language"].text(),
        confidence=confidence,
    )


def _speaker(participant: Field) -> Speaker:
    handle, account = id_of(participant["id"]), id_of(participant["identity_id"])
    name = participant["name"].label()
    return Speaker(
        handle,
        name=None if name == UNNAMED else name,
        account=None if account is None else AccountKey(NAME, account),
    )


def _heard(whole: Field, delivery: Delivery, meeting: str | None) -> Read:
    """One packet of Opus. Its clock starts anywhere, but the same for all of a connection: the first one's is when it came."""
    meeting = _needed(meeting)
    media = whole["media"]
    ticks = media["timestamp"].number()
    if ticks is None:
        raise media["timestamp"].refuse("a time in 1/48000 s")
    told = delivery.carried if delivery.carried is not None and "ticks" in delivery.carried else None
    first = told or {"ticks": repr(ticks), "at": repr(delivery.received_at.timestamp())}
    since = (ticks - float(first["ticks"])) / OPUS_CLOCK
    return Read(meeting, (_sound(media, float(first["at"]) + since),), carried=None if told else first)


def _needed(meeting: str | None) -> str:
    if meeting is None:
        raise EventUnreadable(provider=NAME, place="the URL", what="sound has no meeting; needed: ?meeting=…")
    return meeting


def _whispered(delivery: Delivery) -> Read:
    """One participant's next sound, as jigasi has a Whisper service recognise it; or its last message."""
    meeting = _needed(meeting_of(delivery, "meeting", "sessionId"))
    if delivery.body == ALL_LEFT:
        return Read(meeting, keyed(meeting, (Ended(key=""),)))
    try:
        head = delivery.body[:WHISPER_HEADER].rstrip(b"\0").decode()
    except UnicodeDecodeError:
        head = ""
    debug_name, pipe, _ = head.partition("|")
    participant = clean(debug_name.rpartition("/")[2])  # older ones have the room before it
    if not (pipe and participant):
        what = f"its first {WHISPER_HEADER} bytes; needed: participant|language, and zeros"
        raise EventUnreadable(provider=NAME, place="the binary message", what=what)
    data = binary_samples(delivery.body, WHISPER_HEADER, AudioEncoding.S16, provider=NAME)
    speaker = Speaker(participant)
    return Read(meeting, (Heard(key="", data=data, encoding=AudioEncoding.S16, sample_rate=WHISPER_RATE, speaker=speaker),))


def _sound(media: Field, start: float) -> Heard:
    payload = media["payload"].value
    try:
        data = base64.b64decode(payload, validate=True) if isinstance(payload, str) else b""
    except (binascii.Error, ValueError) as problem:
        raise media["payload"].refuse("base64") from problem
    if not data:
        raise media["payload"].refuse("base64 of an Opus packet")
    tag = need_id(media["tag"])
    # `tag` is the endpoint and the number of its source: a participant's next microphone is the participant still
    endpoint, _, number = tag.rpartition("-")
    return Heard(
        key="",
        data=data,
        encoding=AudioEncoding.OPUS,
        sample_rate=OPUS_CLOCK,
        speaker=Speaker(endpoint if endpoint and number.lower().startswith("a") else tag),
        start=start,
        base=Base.EPOCH,
    )


CONNECTOR = Jitsi()
