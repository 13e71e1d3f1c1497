"""What does Vexa tell? Webhooks of a meeting's status, the live bundles of its WebSocket, its feed, REST, and captured sound.

Read in source (0.12 to 0.13): the contracts transcript.v1 (with the feed, its retractions and `speaker_kind`), webhook.v1,
ws.v1, captured-signal.v1 and capture-v1; in its documentation: webhooks, of which older ones have no envelope, only the bearer.
General knowledge, not read: that the last bundle told of a segment holds, whichever way it came.

Its WebSocket is one that others open: who forwards its messages here, opens ours or posts them, signed as Vexa signs. Its feed
and its sound do not say which meeting they are of: `session_start` before them on the connection does, or `?meeting=…` in the
URL, which is the numeric id of webhooks and bundles. A name is a label: a segment's `speaker_key` is one for each turn, so
speakers are known by name, and where that is not earned yet (`provisional-cluster-id`) by turn."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, has
from service.connectors.files.source import speaker_label
from service.connectors.live import Delivery, EventUnreadable, Read
from service.connectors.live.bodies import (
    MEETING,
    at_epoch,
    at_iso,
    document,
    hashed,
    id_of,
    keyed,
    meeting_of,
    need_id,
    reading,
    starting,
    until,
    within_meeting,
)
from service.connectors.live.frames import base64_samples, binary_samples
from service.connectors.live.signatures import WINDOW, verify_shared_secret, verify_timestamp_body
from service.types.audio import Segment, Word
from service.types.meeting import (
    NOBODY,
    AudioEncoding,
    Base,
    Began,
    Ended,
    Heard,
    MeetingEvent,
    Speaker,
    Uttered,
    Withdrawn,
)

NAME = "vexa"
EPOCH = 1e9
"""Seconds from which a time counts from 1970: nobody speaks for 31 years. Chat lines stand so among spoken ones."""
PENDING = ":pending"
SOURCES = {"provisional-cluster-id": "diariser", "caption": "caption", "chat": "chat"}
"""How a segment's speaker was found, where it was not the platform."""
RATE = 16_000
MIXED = 999
"""Track of all speakers together."""
NAMED = 0x80000000
"""Bit of a frame's track number: a name follows the header."""
HEADER = struct.Struct("<Id")
"""Track; milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Vexa:
    declared = DeclaredLive(
        NAME,
        "Vexa, webhooks, live bundles, feed, and captured sound (0.10 to 0.13)",
        ("webhook", "websocket", "transcript", "partials", "mixed audio", "audio per participant"),
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.NAME,
        utterance_ids="segment_id; pending ones share a slot with their speaker_key instead",
        repeats="event_id of a delivery; a segment by segment_id, the bundle with the latest ts holds",
        signing=Signing.TIMESTAMP_BODY,
        replay_seconds=WINDOW,
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        """By signature where there is one; older versions send the secret alone. Both have the secret with them, so that who
        reads a delivery can make others: give Vexa a secret of its own, and only https."""
        if "x-webhook-signature" in delivery.headers or "authorization" not in delivery.headers:
            verify_timestamp_body(delivery, secrets, source=source)
        else:
            verify_shared_secret(delivery, secrets, source=source, header="authorization", scheme="Bearer ")

    def read(self, delivery: Delivery) -> Read:
        carried = delivery.carried or {}
        named = meeting_of(delivery, "meeting")
        if delivery.binary:
            return Read(_needed(named or carried.get("meeting"), "the binary message"), (_frame(delivery),))
        with reading(NAME):
            whole = document(delivery, NAME)
            told = whole["data"] if has(whole.value, "event_type", "data") else whole
            own = id_of(told["meeting"]["id"] if told["meeting"].value is not None else told.first_of("meeting_id", "id"))
            meeting = own or named or carried.get("meeting") or id_of(told["native_meeting_id"])
            events = keyed(meeting, _events(whole, told, delivery))
            if events and named is not None and meeting != named:  # the URL is not signed
                raise EventUnreadable(provider=NAME, place="meeting.id", what="it is not the meeting that the URL names")
            is_start = whole["type"].value == "session_start" and meeting is not None
            return Read(
                _needed(meeting, "meeting.id") if events else None,
                events,
                delivery_key=id_of(whole["event_id"]),
                carried={"meeting": meeting} if is_start and meeting is not None else None,
            )

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _needed(meeting: str | None, place: str) -> str:
    if meeting is None:
        what = "needed: the meeting, here, in session_start before it on the connection, or as ?meeting=… in the URL."
        raise EventUnreadable(provider=NAME, place=place, what=what)
    return meeting


def _events(whole: Field, told: Field, delivery: Delivery) -> Iterator[MeetingEvent]:
    kind = whole["type"].value
    if whole["event_type"].value is not None:
        yield from _status(told["meeting"])
    elif kind == "bot_status":
        yield from _ended(whole["status"].text(), None, None)
    elif kind == "session_start":
        yield Began(key="", at=at_iso(whole["start_time"]), platform=whole["platform"].text())
    elif kind == "session_end":
        yield Ended(key="")
    elif kind == "retract":
        for id in whole["segment_ids"]:
            yield Withdrawn(key="", id=need_id(id))
    elif has(whole.value, "speakerIndex", "pcm"):
        yield _captured(whole, delivery)
    elif has(whole.value, "issue_id"):  # a report about a segment, with its text
        return
    elif kind == "transcription_segment" or (kind is None and has(whole.value, "segment_id", "text")):
        yield from _segment(whole, whole)
    elif kind in (None, "transcript", "transcription"):
        if (began := at_iso(whole["start_time"])) is not None:
            yield Began(key="", at=began, platform=whole["platform"].text())
        for listed in ("segments", "confirmed", "pending"):
            for segment in whole[listed]:
                yield from _segment(segment, whole, is_pending=listed == "pending")


def _status(meeting: Field) -> Iterator[MeetingEvent]:
    """Of `meeting.status_change` and what has an event of its own: both say all of the meeting."""
    status, start = meeting["status"].text(), at_iso(meeting["start_time"])
    if start is not None:
        yield Began(key="", at=start, title=meeting["data"]["name"].text(), platform=meeting["platform"].text())
    failed = meeting["completion_reason"].text() or meeting["failure_stage"].text()
    yield from _ended(status, at_iso(meeting["end_time"]), failed)


def _ended(status: str | None, at: datetime | None, failed: str | None) -> Iterator[MeetingEvent]:
    if status in ("completed", "failed"):
        yield Ended(key="", at=at, failed=(failed or "failed") if status == "failed" else None)


def _segment(segment: Field, bundle: Field, *, is_pending: bool = False) -> Iterator[MeetingEvent]:
    text, told_id = segment["text"].text(), id_of(segment["segment_id"])
    if text is None:
        return
    is_pending = is_pending or segment["completed"].value is False
    span, zero, base = _span(segment, text)
    turn = (told_id or "").rpartition(":")[0] or id_of(segment["speaker_key"]) or ""
    speaker = _speaker(segment, turn, _session(bundle))
    if zero is not None:
        yield Began(key=f"began {_session(bundle)}", at=zero)
    # without an id, it is known by speaker and start: told again, it takes its own place
    id = told_id or hashed(_session(bundle), turn, speaker.handle, speaker.name, round(span.start, 1))
    yield Uttered(
        key="",
        speaker=speaker,
        text=text,
        start=span.start,
        end=span.end,
        base=base,
        id=None if told_id is not None and told_id.endswith(PENDING) else id,
        slot=hashed(_session(bundle), turn) if turn else None,
        final=not is_pending,
        revision=_revision(segment, bundle),
        words=tuple(_words(segment["words"], base, zero)),
        language=segment["language"].text(),
        source=SOURCES.get(segment["source"].text() or "", "platform"),
    )


def _span(segment: Field, text: str) -> tuple[Segment, datetime | None, Base]:
    """From 1970 where a date is told; with the session's second 0, where both are told."""
    (start, start_at), (end, end_at) = (_times(segment, side) for side in ("start", "end"))
    zero = _zero(start, start_at) or _zero(end, end_at)
    if start_at is not None:
        after = zero + timedelta(seconds=end) if zero is not None and end is not None else end_at
        begin = start_at.timestamp()
        last = after.timestamp() if after is not None else starting(begin, text).end
        return Segment(begin, until(begin, last, segment["end"])), zero, Base.EPOCH
    if start is None:
        raise segment["start"].refuse("start and end in seconds, or absolute_start_time and absolute_end_time")
    return Segment(start, max(start, starting(start, text).end if end is None else end)), None, Base.MEETING


def _times(segment: Field, side: str) -> tuple[float | None, datetime | None]:
    """Seconds since the session's start, and the moment, as far as they are told: a field may be either."""
    told = segment.first_of(side, f"{side}_time")
    at = at_iso(segment[f"absolute_{side}_time"])
    if isinstance(told.value, str):
        return None, at or at_iso(told)
    seconds = told.number()
    if seconds is None or abs(seconds) < EPOCH:
        return within_meeting(told), at
    return None, at or at_epoch(told)


def _zero(seconds: float | None, at: datetime | None) -> datetime | None:
    return None if seconds is None or at is None else at - timedelta(seconds=seconds)


def _words(words: Field, base: Base, zero: datetime | None) -> Iterator[Word]:
    """None where the segment counts from 1970 and its words from a start that is not told."""
    if base is Base.EPOCH and zero is None:
        return
    after = zero.timestamp() if zero is not None else 0.0
    for word in words:
        start, end, text = word["start"].number(), word["end"].number(), word["word"].text()
        if text and start is not None and end is not None and max(abs(start), abs(end)) <= MEETING:
            yield Word(text, Segment(after + start, after + max(start, end)), word["probability"].share())


def _speaker(segment: Field, turn: str, session: str) -> Speaker:
    name = segment["speaker"].label()
    confidence = segment["confidence"].share() if segment["confidence"].value is not None else None
    is_room = segment["speaker_kind"].value == "room"
    is_earned = segment["source"].value != "provisional-cluster-id" and confidence != 0
    if name is not None and is_earned:
        return Speaker(None, name=name, is_room=is_room, confidence=confidence)
    return Speaker(turn, scope=session, name=name, is_room=is_room, confidence=confidence) if turn else NOBODY


def _session(bundle: Field) -> str:
    return id_of(bundle["session_uid"]) or ""


def _revision(segment: Field, bundle: Field) -> int:
    """Milliseconds since 1970 of when it was told: an older bundle that comes late changes nothing."""
    at = at_iso(segment["updated_at"]) or (at_iso(bundle["ts"]) if isinstance(bundle["ts"].value, str) else None)
    return 0 if at is None else int(at.timestamp() * 1000)


# ---- sound


def _captured(whole: Field, delivery: Delivery) -> Heard:
    """A frame as JSON."""
    track, name = whole["speakerIndex"].number(), whole["speakerName"].label()
    at = at_epoch(whole["ts"], 1000)
    return _heard(base64_samples(whole["pcm"], AudioEncoding.F32), track, at, name, delivery)


def _frame(delivery: Delivery) -> Heard:
    """A binary frame. Raises EventUnreadable."""
    body, place = delivery.body, "the binary message"
    if len(body) < HEADER.size:
        raise EventUnreadable(provider=NAME, place=place, what=f"{len(body)} bytes; needed: a header of {HEADER.size}.")
    track, milliseconds = HEADER.unpack_from(body)
    with reading(NAME):
        at = at_epoch(Field(milliseconds, place, NAME), 1000)
    name, begin = None, HEADER.size
    if track & NAMED:
        (length,) = struct.unpack_from("<I", body, begin) if len(body) >= begin + 4 else (len(body),)
        begin += 4 + -(-length // 4) * 4
        try:
            name = speaker_label(body[HEADER.size + 4 : HEADER.size + 4 + length].decode())
        except UnicodeDecodeError as problem:
            raise EventUnreadable(provider=NAME, place=place, what="its name is not UTF-8.") from problem
    data = binary_samples(body, begin, AudioEncoding.F32, provider=NAME)
    return _heard(data, track & ~NAMED, at, name, delivery)


def _heard(data: bytes, track: float | None, at: datetime | None, name: str | None, delivery: Delivery) -> Heard:
    is_mixed = track is None or int(track) == MIXED
    return Heard(
        key="",
        data=data,
        encoding=AudioEncoding.F32,
        sample_rate=RATE,
        speaker=None if is_mixed else Speaker(f"{int(track or 0)}", scope=delivery.connection, name=name),
        start=None if at is None else at.timestamp(),
        base=Base.EPOCH,
    )


CONNECTOR = Vexa()
