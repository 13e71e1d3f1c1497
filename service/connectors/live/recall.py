"""What does Recall.ai tell? Real-time events by webhook or WebSocket, the bot's status, and sound.

Read in its documentation (2026): real-time event payloads, status changes, authentication, participant e-mails and how to know
participants again, the audio protocol of v1.10; in source: the schemas of its sample apps. General knowledge, not read: that
`transcript.partial_data` has the shape of `transcript.data`, and that in v1.10 a separate stream's message begins with the
participant's id (Int32).

That a meeting is over is told by status webhooks alone: send them to the same source. The transcript made after the call
is not fetched: its region is not told, and what was told live stands. `email` is a guess, matched by name with the calendar's
invitees, as Recall says itself: so it is none here, for whoever takes somebody's name would get what they may read. What is
written to one person alone in the chat is not told either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.connectors.declared import AccountsWithin, DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field
from service.connectors.files.words import between
from service.connectors.live import Delivery, EventUnreadable, Read
from service.connectors.live.bodies import (
    at_iso,
    document,
    hashed,
    id_of,
    is_true,
    keyed,
    mapping,
    need_id,
    posted_id,
    reading,
    until,
    within_meeting,
)
from service.connectors.live.frames import base64_samples, binary_samples
from service.connectors.live.signatures import WINDOW, by_use, verify_shared_secret, verify_webhook_id
from service.types.audio import WITHOUT_SPACES, Segment, Word
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

NAME = "recall"
PREFIXES = ("webhook-", "svix-")
"""Of its headers; the latter of workspaces made before December 2025, for status webhooks, with a secret of their own."""
RATE = 16_000
"""Hz, of all its sound."""
PARTICIPANTS = {"join": Joined, "leave": Left, "update": Renamed}
ACCOUNTS = {"zoom": "conf_user_id", "microsoft_teams": "user_id"}
"""What of `extra_data` is the same in every meeting, by its documentation; Zoom's `user_guid` is not."""


@dataclass(frozen=True, slots=True)
class Recall:
    declared = DeclaredLive(
        NAME,
        "Recall.ai, real-time endpoints, status webhooks, and the sound of v1.10",
        ("webhook", "websocket", "transcript", "partials", "participants", "mixed audio", "audio per participant"),
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.PARTICIPANT,
        utterance_ids=None,
        repeats="webhook-id of a delivery; an utterance by recording, participant, times and words",
        signing=Signing.WEBHOOK_ID,
        replay_seconds=WINDOW,
        accounts="extra_data.zoom.conf_user_id, extra_data.microsoft_teams.user_id",
        accounts_within=AccountsWithin.PROVIDER,
        metadata="data.bot.metadata",
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        """Of a WebSocket its upgrade, whose body is empty. The Desktop SDK and v1.10 do not sign: a secret `token:…` of the
        source goes into the URL they are given, `?token=…`."""
        signing, sent = by_use(secrets)
        is_signed = any(f"{prefix}signature" in delivery.headers for prefix in PREFIXES)
        if sent and not is_signed:
            verify_shared_secret(delivery, sent, source=source, parameter="token")
        else:
            verify_webhook_id(delivery, signing, source=source, prefixes=PREFIXES)

    def read(self, delivery: Delivery) -> Read:
        if delivery.binary:
            return _binary(delivery)
        with reading(NAME):
            whole = document(delivery, NAME)
            if "separate_streams" in whole.value and "bot_id" in whole.value:
                return _hello(whole)
            kind = whole["event"].text()
            if kind is None:
                raise whole["event"].refuse("the kind of event")
            meeting, events = _events(kind, whole["data"])
            key, metadata = posted_id(delivery, "webhook-id", "svix-id"), mapping(whole["data"]["bot"]["metadata"])
            return Read(meeting, events, delivery_key=key, metadata=metadata)

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _events(kind: str, data: Field) -> tuple[str | None, tuple[MeetingEvent, ...]]:
    """The meeting is the bot's, or without one (Desktop SDK) the recording."""
    recording, bot = id_of(data["recording"]["id"]), id_of(data["bot"]["id"])
    meeting = bot or recording or id_of(data["bot_id"])
    events = keyed(meeting, _told(kind, data, recording or "", is_without_bot=bot is None))
    if events and meeting is None:
        raise data["bot"]["id"].refuse("the id of a bot or a recording")
    return (meeting if events else None), events


def _told(kind: str, data: Field, recording: str, *, is_without_bot: bool) -> Iterator[MeetingEvent]:
    group, _, what = kind.partition(".")
    inner = data["data"]
    if kind in ("transcript.data", "transcript.partial_data"):
        yield from _uttered(inner, recording, final=kind == "transcript.data")
    elif group == "participant_events":
        yield from _participant(what, inner, recording)
    elif kind in ("audio_mixed_raw.data", "audio_separate_raw.data"):
        yield _sound(inner, is_mixed=kind.startswith("audio_mixed"))
    elif group == "bot":
        status = data["status"] if what == "status_change" else inner
        yield from _status(status["code"].text() or what, status)
    elif kind == "recording.done" and is_without_bot:
        yield Ended(key="", at=at_iso(inner["updated_at"]))


def _status(code: str, status: Field) -> Iterator[MeetingEvent]:
    """`call_ended` is not the end: transcripts follow for minutes, until the bot is done."""
    at = at_iso(status.first_of("updated_at", "created_at"))
    if code == "done":
        yield Ended(key="", at=at)
    elif code == "fatal":
        yield Ended(key="", at=at, failed=status["sub_code"].text() or code)


def _participant(what: str, inner: Field, recording: str) -> Iterator[MeetingEvent]:
    """Nothing for cameras and screens."""
    stamp, speaker = inner["timestamp"], _speaker(inner["participant"])
    if what in PARTICIPANTS:
        yield from _began(recording, stamp)
        yield PARTICIPANTS[what](key="", at=at_iso(stamp["absolute"]), speaker=speaker)
    elif what in ("speech_on", "speech_off"):
        start, base = _moment(stamp)
        yield Spoke(key="", speaker=speaker, start=start, end=start if what == "speech_off" else None, base=base)
    elif what == "chat_message":
        text, to = inner["data"]["text"].text(), inner["data"]["to"].text()
        if text is not None and (to or "").casefold() == "everyone":
            start, base = _moment(stamp)
            yield Uttered(key="", speaker=speaker, text=text, start=start, end=start, base=base, source="chat")


def _uttered(inner: Field, recording: str, *, final: bool) -> Iterator[MeetingEvent]:
    words = [word for word in inner["words"] if word["text"].text()]
    if not words:
        return
    speaker, language = _speaker(inner["participant"]), inner.first_of("language_code", "language").text()
    times, base = _times(words)
    known = [time for time in times if time is not None]
    if not known:
        raise inner["words"].refuse("words of which one at least has a start_timestamp")
    texts = [word["text"].text() or "" for word in words]
    whole = Segment(known[0].start, max(time.end for time in known))
    filled = between(times, whole, [len(text) + 1 for text in texts])
    blank = "" if language and language.partition("-")[0].lower() in WITHOUT_SPACES else " "
    start = min(time.start for time in filled)
    yield from _began(recording, *(word["start_timestamp"] for word in words))
    yield Uttered(
        key="",
        speaker=speaker,
        text=blank.join(texts),
        start=start,
        end=until(start, max(time.end for time in filled), inner["words"]),
        base=base,
        slot=hashed(recording, speaker.handle),
        final=final,
        words=tuple(Word(text, time) for text, time in zip(texts, filled, strict=True)),
        language=language,
    )


def _times(words: Sequence[Field]) -> tuple[list[Segment | None], Base]:
    """From 1970 where a word tells both its times, or the date alone: a bot may make several recordings, each counts anew."""
    zero = next((z for word in words if (z := _zero(word["start_timestamp"])) is not None), None)
    if zero is not None:
        return [_span(word, zero.timestamp()) for word in words], Base.EPOCH
    if any(_relative(word["start_timestamp"]) is not None for word in words):
        return [_span(word, 0.0) for word in words], Base.MEETING
    dates = [at_iso(word["start_timestamp"]["absolute"]) for word in words]
    ends = [at_iso(word["end_timestamp"]["absolute"]) or start for word, start in zip(words, dates, strict=True)]
    spans = [
        None if start is None or end is None else Segment(start.timestamp(), max(start, end).timestamp())
        for start, end in zip(dates, ends, strict=True)
    ]
    return spans, Base.EPOCH


def _span(word: Field, zero: float) -> Segment | None:
    start, end = (_relative(word[f"{side}_timestamp"]) for side in ("start", "end"))
    return None if start is None else Segment(zero + start, zero + max(start, start if end is None else end))


def _moment(stamp: Field) -> tuple[float, Base]:
    at, relative = at_iso(stamp["absolute"]), _relative(stamp)
    if at is not None:
        return at.timestamp(), Base.EPOCH
    if relative is None:
        raise stamp.refuse("a timestamp, relative or absolute")
    return relative, Base.MEETING


def _relative(stamp: Field) -> float | None:
    """Seconds since the recording's start."""
    return within_meeting(stamp["relative"])


def _zero(stamp: Field) -> datetime | None:
    """When the recording began, as a stamp with both its times tells."""
    at, relative = at_iso(stamp["absolute"]), _relative(stamp)
    return None if at is None or relative is None else at - timedelta(seconds=relative)


def _began(recording: str, *stamps: Field) -> Iterator[MeetingEvent]:
    """A recording begins once; each of its events tells it, to the millisecond, and a little differently."""
    zero = next((z for stamp in stamps if (z := _zero(stamp)) is not None), None)
    if zero is not None:
        yield Began(key=f"began {recording}", at=zero)


def _speaker(participant: Field) -> Speaker:
    """Nobody where a sentence had begun before the bot came."""
    handle = id_of(participant["id"])
    if handle is None:
        return Speaker(None, name=participant["name"].label())
    extra = participant["extra_data"]
    accounts = [(issuer, id_of(extra[issuer][field])) for issuer, field in ACCOUNTS.items() if isinstance(extra.value, Mapping)]
    account = next((AccountKey(f"{NAME}:{issuer}", subject) for issuer, subject in accounts if subject), None)
    return Speaker(handle, name=participant["name"].label(), account=account, is_host=is_true(participant["is_host"]))


def _sound(inner: Field, *, is_mixed: bool) -> Heard:
    start, base = _moment(inner["timestamp"])
    return Heard(
        key="",
        data=base64_samples(inner["buffer"]),
        encoding=AudioEncoding.S16,
        sample_rate=RATE,
        speaker=None if is_mixed else _speaker(inner["participant"]),
        start=start,
        base=base,
    )


def _hello(whole: Field) -> Read:
    """Of v1.10; `offset` is of the connection's first sample since the recording's start."""
    carried = {"meeting": need_id(whole["bot_id"]), "separate": str(is_true(whole["separate_streams"]))}
    return Read(None, (), carried=carried)


def _binary(delivery: Delivery) -> Read:
    carried = delivery.carried or {}
    if "meeting" not in carried:
        raise EventUnreadable(provider=NAME, place="the binary message", what="it came before the connection's hello.")
    is_separate = carried.get("separate") == "True"
    data = binary_samples(delivery.body, 4 if is_separate else 0, AudioEncoding.S16, provider=NAME)
    speaker = Speaker(str(int.from_bytes(delivery.body[:4], "little"))) if is_separate else None
    heard = Heard(key="", data=data, encoding=AudioEncoding.S16, sample_rate=RATE, speaker=speaker)
    return Read(carried["meeting"], (heard,))


CONNECTOR = Recall()
