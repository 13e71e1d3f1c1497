"""What does MeetingBaas v2 tell? Webhooks and callbacks of a bot, live transcripts, who speaks, and sound by WebSocket.

Read in its documentation (2026): webhooks, streaming (audio and managed transcription), artifacts. General knowledge, not read:
that live utterances count from the recording's start, as those of the file do.

Webhooks are signed as svix does. Callbacks have the plain secret of their bot in a header, and sockets nothing: for both the
source has a secret `token:…`, that goes into `callback_config.secret`, and into the socket's URL (`?token=…`). Sound and who
speaks do not say which bot they are of: the hello before them does. The transcript that a finished bot points to is fetched,
and ends the meeting when it was read: what was told live stands in it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, pairwise

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field, has, span
from service.connectors.files.words import between
from service.connectors.live import Delivery, EventUnreadable, Fetch, Read
from service.connectors.live.bodies import (
    at_epoch,
    at_iso,
    document,
    hashed,
    id_of,
    keyed,
    mapping,
    meeting_of,
    need_id,
    posted_id,
    reading,
    within_meeting,
)
from service.connectors.live.fetched import fetched_of
from service.connectors.live.frames import binary_samples, rate_of
from service.connectors.live.signatures import WINDOW, by_use, verify_shared_secret, verify_webhook_id
from service.types.audio import Segment, Word
from service.types.meeting import AudioEncoding, Base, Began, Ended, Heard, MeetingEvent, Speaker, Spoke, Uttered

NAME = "meetingbaas"
RATE = 24_000
"""Hz, unless the hello or the URL says otherwise."""
MILLISECONDS = 4e9
"""Above it a time since 1970 is in milliseconds, as v1 writes it, and some of v2."""
VOICES = "voices of the stream"
"""Scope of the recogniser's own labels: no participants."""
SHORTEST_RUN = 2
"""Words of another voice that are split off, as a turn of somebody else; one alone is a diariser's slip. By hand."""


@dataclass(frozen=True, slots=True)
class MeetingBaas:
    declared = DeclaredLive(
        NAME,
        "MeetingBaas v2, webhooks, callbacks, and streaming in both modes",
        ("webhook", "websocket", "transcript", "partials", "mixed audio"),
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.PARTICIPANT,
        utterance_ids=None,
        repeats="svix-id of a delivery; the transcript says again what was told live: by time and text",
        signing=Signing.WEBHOOK_ID,
        replay_seconds=WINDOW,
        metadata="data.extra, of bot.*",
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        signing, sent = by_use(secrets)
        if sent and "svix-signature" not in delivery.headers:
            verify_shared_secret(delivery, sent, source=source, header="x-mb-secret", parameter="token")
        else:
            verify_webhook_id(delivery, signing, source=source, prefixes=("svix-",))

    def read(self, delivery: Delivery) -> Read:
        if delivery.binary:
            return sound(delivery, NAME)
        with reading(NAME):
            if delivery.body.lstrip().startswith(b"["):
                return speaking(delivery, NAME)
            whole = document(delivery, NAME)
            fetched = fetched_of(delivery)
            if fetched is not None:
                return Read(fetched.meeting, keyed(fetched.meeting, _transcript(whole)))
            if has(whole.value, "protocol_version", "bot_id"):
                return hello(whole)
            if whole["event"].text() is None:
                raise whole["event"].refuse("the kind of event")
            return _event(whole["event"].text() or "", whole, posted_id(delivery, "svix-id"))

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _event(kind: str, whole: Field, delivery_key: str | None) -> Read:
    """Nothing for calendars, and for what goes on with a session of transcription."""
    data = whole["data"]
    bot = id_of(whole["bot_id"]) or id_of(data["bot_id"])
    fetches: tuple[Fetch, ...] = ()
    events: Iterator[MeetingEvent] = iter(())
    if kind == "transcript.segment":
        events = _uttered(data, bot)
    elif kind == "bot.status_change":
        events = began(data["status"])
    elif kind == "bot.failed":
        events = iter([Ended(key="", failed=data.first_of("error_code", "error").text() or "failed")])
    elif kind == "bot.completed":
        url = data["transcription"].text()
        if url is None:
            events = iter([Ended(key="", duration=_duration(data))])
        elif bot is not None:
            fetches = (Fetch(what="transcription", meeting=bot, url=url),)
    keys = keyed(bot, events)
    if (keys or kind == "bot.completed") and bot is None:
        raise data["bot_id"].refuse("the id of the bot")
    metadata = mapping(data["extra"])
    return Read(bot if keys or fetches else None, keys, delivery_key=delivery_key, fetches=fetches, metadata=metadata)


def began(status: Field) -> Iterator[MeetingEvent]:
    """When the bot began to record, as v1 and v2 tell it."""
    if status["code"].text() == "in_call_recording":
        yield Began(key="", at=at_epoch(status["start_time"]) or at_iso(status["created_at"]))


def _duration(data: Field) -> float | None:
    seconds = within_meeting(data["duration_seconds"])
    if seconds is not None and seconds < 0:
        raise data["duration_seconds"].refuse("seconds")
    return seconds


def _uttered(data: Field, bot: str | None) -> Iterator[MeetingEvent]:
    """Of one stream of sound: a newer partial, or a final, takes the place of the partial before it, whoever spoke."""
    text = data["text"].text()
    if text is None:
        return
    final = data["isFinal"].value is not False
    words = [word for word in data["words"] if word.first_of("text", "word").text()]
    times = [times_of(word) for word in words]
    known = [time for time in times if time is not None]
    start, end = within_meeting(data["utteranceStart"]), within_meeting(data["utteranceEnd"])
    start = start if start is not None else known[0].start if known else None
    if start is None:
        raise data["utteranceStart"].refuse("utteranceStart in seconds, or words with times")
    whole = Segment(start, max(start, end if end is not None else known[-1].end if known else start))
    texts = [word.first_of("text", "word").text() or "" for word in words]
    filled = between(times, whole, [len(said) + 1 for said in texts])
    timed = [Word(said, time, word["confidence"].share()) for said, time, word in zip(texts, filled, words, strict=True)]
    labels = [word["speaker"].key() for word in words]
    confidence = data["confidence"].share() if data["confidence"].value is not None else None
    for part, speaker, said, own in _parts(text, timed, labels, speaker_of(data["speaker"]), whole):
        yield Uttered(
            key="",
            speaker=speaker,
            text=said,
            start=part.start,
            end=part.end,
            base=Base.MEETING,
            slot=hashed(bot, "segment"),
            final=final,
            words=tuple(own),
            language=data["language"].text(),
            confidence=confidence,
            source="diariser" if speaker.scope else "platform",
        )


def _parts(
    text: str, words: Sequence[Word], labels: Sequence[str | None], speaker: Speaker, whole: Segment
) -> Iterator[tuple[Segment, Speaker, str, Sequence[Word]]]:
    """Cut where the voice changes, as far as words tell it: the platform's mark is of whoever speaks most."""
    runs = [(label, list(run)) for label, run in groupby(range(len(words)), key=lambda index: labels[index])]
    lasting = [(label, run[0]) for label, run in runs if len(run) >= SHORTEST_RUN]
    changes = [(label, at) for place, (label, at) in enumerate(lasting) if place == 0 or lasting[place - 1][0] != label]
    if len(changes) < 2 or None in labels or _bare(text) != _bare("".join(word.text for word in words)):
        yield whole, speaker, text, words
        return
    most = max(sorted({label for label in labels if label}), key=labels.count)
    starts = [0, *(at for _, at in changes[1:]), len(words)]
    for (label, _), (first, last) in zip(changes, pairwise(starts), strict=True):
        own = words[first:last]
        whose = speaker if label == most else Speaker(label, scope=VOICES)
        yield _hull(own), whose, " ".join(word.text for word in own), own


def _bare(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _hull(words: Sequence[Word]) -> Segment:
    return Segment(min(word.segment.start for word in words), max(word.segment.end for word in words))


def _transcript(whole: Field) -> Iterator[MeetingEvent]:
    """The file that a finished bot points to, by names."""
    for utterance in whole["result"]["utterances"]:
        segment = times_of(utterance)
        if segment is None:
            raise utterance["start"].refuse("start and end, in seconds")
        yield from told(utterance, segment, utterance["speaker"])
    yield Ended(key="")


def told(utterance: Field, segment: Segment, speaker: Field) -> Iterator[MeetingEvent]:
    """An utterance of a finished transcript; v1's are alike."""
    words = tuple(
        Word(text, time, word["confidence"].share())
        for word in utterance["words"]
        if (text := word.first_of("word", "text").text()) and (time := times_of(word))
    )
    text = utterance["text"].text() or " ".join(word.text for word in words)
    if text:
        yield Uttered(
            key="",
            speaker=Speaker(None, name=speaker.label()),
            text=text,
            start=segment.start,
            end=segment.end,
            base=Base.MEETING,
            words=words,
            language=utterance["language"].text(),
            source="transcript",
        )


def times_of(item: Field) -> Segment | None:
    """None without both."""
    return span(within_meeting(item["start"]), within_meeting(item["end"]))


def speaker_of(speaker: Field) -> Speaker:
    """By id, which outlasts "Unknown"; by name where there is none."""
    return Speaker(id_of(speaker["id"]), name=speaker["name"].label())


# ---- streaming, which v1 has, too


def hello(whole: Field) -> Read:
    """Comes again after each reconnection."""
    rate = rate_of(whole["sample_rate"]) if whole["sample_rate"].value is not None else RATE
    return Read(None, (), carried={"meeting": need_id(whole["bot_id"]), "rate": str(rate)})


def sound(delivery: Delivery, provider: str) -> Read:
    """All speakers mixed; each message follows on the one before. Raises EventUnreadable."""
    with reading(provider):
        told_rate = (delivery.carried or {}).get("rate") or (delivery.query or {}).get("sample_rate")
        rate = RATE if told_rate is None else rate_of(Field(told_rate, "sample_rate", provider))
    data = binary_samples(delivery.body, 0, AudioEncoding.S16, provider=provider)
    heard = Heard(key="", data=data, encoding=AudioEncoding.S16, sample_rate=rate)
    return Read(_meeting(delivery, provider), (heard,))


def speaking(delivery: Delivery, provider: str) -> Read:
    """Who speaks and who does not, whenever that changes. Raises EventUnreadable, TranscriptUnreadable."""
    try:
        states = Field(json.loads(delivery.body), "", provider)
    except (ValueError, RecursionError) as problem:
        raise EventUnreadable(provider=provider, place="the message", what="it is no JSON") from problem
    events = []
    for state in states:
        at = _moment(state["timestamp"])
        end = None if state["isSpeaking"].value is True else at.timestamp()
        events.append(Spoke(key="", speaker=speaker_of(state), start=at.timestamp(), end=end, base=Base.EPOCH))
    meeting = _meeting(delivery, provider)
    return Read(meeting, keyed(meeting, events))


def _moment(field: Field) -> datetime:
    number = field.number()
    at = at_epoch(field, 1000 if number is not None and number > MILLISECONDS else 1)
    if at is None:
        raise field.refuse("a time since 1970")
    return at


def _meeting(delivery: Delivery, provider: str) -> str:
    meeting = (delivery.carried or {}).get("meeting") or meeting_of(delivery, "meeting", "bot_id")
    if meeting is None:
        what = "it came before the connection's hello, and the URL has no ?meeting=… that would say which bot it is of."
        raise EventUnreadable(provider=provider, place="the message", what=what)
    return meeting


CONNECTOR = MeetingBaas()
