"""What do frames of a Pipecat pipeline tell, as deploy/examples/pipecat_bot.py passes them on, or as RTVI messages?

Read in source, and run (Pipecat 1.14): its frames (TranscriptionFrame `text, user_id, timestamp, language, finalized`;
InterimTranscriptionFrame; UserAudioRawFrame `audio, sample_rate, num_channels, user_id`) and its RTVI messages (`{"label":
"rtvi-ai", "type": "user-transcription", "data": {text, user_id, timestamp, final}}`, `bot-transcription`). Frames live in the
bot's process: nothing of Pipecat posts them, so what passes them on is yours. It names the meeting in each message
(`"meeting"`) or in the URL (`?meeting=…`), and the frame by its class (`"frame": "TranscriptionFrame"`); it signs as our own
webhooks do, or sends a secret `token:…` of the source (`Authorization: Bearer …`), or a token of ours as there.

A frame's timestamp is when it was recognised, which is taken for when it had just been said. What has none (the bot's words) is
of when it came; so that the bot's second "Okay." is not taken for the first told again, nor the first told again for a second,
such a message has a webhook-id, or an `id` in itself. `user_id` is the transport's id of the participant. What the bot says
itself is told as the bot's, a sentence at a time: an AggregatedTextFrame that will be spoken."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field
from service.connectors.live import Delivery, EventUnreadable, Read
from service.connectors.live.bodies import (
    at_iso,
    document,
    ending,
    hashed,
    id_of,
    is_true,
    keyed,
    meeting_of,
    posted_id,
    reading,
)
from service.connectors.live.frames import base64_samples, rate_of
from service.connectors.live.generic import verify_ours
from service.connectors.live.signatures import WINDOW
from service.types.meeting import (
    NOBODY,
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

NAME = "pipecat"
BOT = Speaker("bot", is_bot=True)
FRAMES = {
    "TranscriptionFrame": "final",
    "InterimTranscriptionFrame": "partial",
    "user-transcription": "user",
    "bot-transcription": "bot",
    "AggregatedTextFrame": "bot",
    "UserAudioRawFrame": "sound",
    "InputAudioRawFrame": "sound",
    "StartFrame": "began",
    "EndFrame": "ended",
    "CancelFrame": "ended",
    "ParticipantJoined": "joined",
    "ParticipantLeft": "left",
}
"""A frame's class or an RTVI message's type → what it tells. ParticipantJoined and ParticipantLeft are no frames but what the
transport's handlers of these names are told."""


@dataclass(frozen=True, slots=True)
class Pipecat:
    declared = DeclaredLive(
        NAME,
        "Pipecat: frames and RTVI messages as a processor passes them on",
        ("webhook", "websocket", "transcript", "partials", "participants", "mixed audio", "audio per participant"),
        TimeUnit.SECONDS,
        TimeBase.EPOCH,
        SpeakerScope.PARTICIPANT,
        utterance_ids=None,
        repeats="webhook-id of a delivery, or a message's id; partials of a participant until the final one",
        signing=Signing.WEBHOOK_ID,
        replay_seconds=WINDOW,
        also=(Signing.TOKEN,),
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        verify_ours(delivery, secrets, source=source)

    def read(self, delivery: Delivery) -> Read:
        with reading(NAME):
            whole = document(delivery, NAME)
            posted, id = posted_id(delivery, "webhook-id"), id_of(whole["id"])
            same = hashed(id or posted, hashlib.sha256(delivery.body).hexdigest())
            events = tuple(_events(whole, delivery, same, is_named=(id or posted) is not None))
            meeting = id_of(whole["meeting"]) or meeting_of(delivery, "meeting")
            if not events:
                return Read(None, ())
            if meeting is None:
                raise EventUnreadable(provider=NAME, place="meeting", what="missing; also no ?meeting=… in the URL")
            return Read(meeting, keyed(meeting, events), delivery_key=posted or (same if id else None))

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _events(whole: Field, delivery: Delivery, same: str, *, is_named: bool) -> Iterator[MeetingEvent]:
    """`same`: what tells a message from others that say as much; `is_named`: it does, also where they say the same."""
    is_rtvi = whole["label"].value == "rtvi-ai"
    kind, told = (whole["type"].value, whole["data"]) if is_rtvi else (whole["frame"].value, whole)
    what = FRAMES.get(kind) if isinstance(kind, str) else None
    timed = at_iso(told["timestamp"])
    for event in _told(what, told, timed or delivery.received_at):
        if timed is not None or isinstance(event, Heard):
            yield event
            continue
        if not is_named and told["timestamp"].text() is None and _may_come_again(event):
            raise told["timestamp"].refuse(
                "a time with a zone, or an `id` of the message, the same when it is sent again: "
                "without either nobody knows whether it was said twice, or told twice"
            )
        yield replace(event, key=same)  # for when it came is another time whenever it comes


def _may_come_again(event: MeetingEvent) -> bool:
    """Whether the same may happen twice in a meeting, with as much to say of it."""
    return isinstance(event, Joined | Left) or (isinstance(event, Uttered) and event.final)


def _told(what: str | None, told: Field, at: datetime) -> Iterator[MeetingEvent]:
    match what:
        case "final":
            yield from _said(told, at.timestamp(), final=True)
        case "partial":
            yield from _said(told, at.timestamp(), final=False)
        case "user":
            yield from _said(told, at.timestamp(), final=is_true(told["final"]))
        case "bot":
            yield from _said(told, at.timestamp(), final=True, speaker=BOT)
        case "sound":
            yield _heard(told)
        case "began":
            yield Began(key="", at=at, title=told["title"].text(), platform=NAME)
        case "ended":
            yield Ended(key="", at=at)
        case "joined":
            yield Joined(key="", at=at, speaker=_speaker(told))
        case "left":
            yield Left(key="", at=at, speaker=_speaker(told))
        case _:
            return


def _said(told: Field, at: float, *, final: bool, speaker: Speaker | None = None) -> Iterator[MeetingEvent]:
    text = told["text"].text()
    if text is None:
        return
    who, span = speaker or _speaker(told), ending(at, text)
    yield Uttered(
        key="",
        speaker=who,
        text=text,
        start=span.start,
        end=span.end,
        base=Base.EPOCH,
        slot=who.handle,
        final=final,
        language=told["language"].text(),
    )


def _speaker(told: Field) -> Speaker:
    handle = id_of(told["user_id"])
    return NOBODY if handle is None else Speaker(handle, name=told["name"].label())


def _heard(told: Field) -> Heard:
    rate, channels = rate_of(told["sample_rate"]), told["num_channels"].number() or 1.0
    if channels not in (1.0, 2.0):
        raise told["num_channels"].refuse("1 or 2")
    data = base64_samples(told["audio"])
    if len(data) % (2 * int(channels)):
        raise told["audio"].refuse("as many samples of each channel")
    who = _speaker(told)
    # no time of its own: frames follow each other, and a frame's timestamp is text's alone
    return Heard(
        key="",
        data=data,
        encoding=AudioEncoding.S16,
        sample_rate=rate,
        channels=int(channels),
        speaker=None if who.handle is None else who,
    )


CONNECTOR = Pipecat()
