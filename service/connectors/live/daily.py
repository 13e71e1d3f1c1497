"""What does Daily tell: its webhooks, and the transcription messages that a bot in the call passes on?

Read (2026): the pages on webhooks (`{version, type, id, payload, event_ts}`) and on meeting.started, meeting.ended,
participant.joined and participant.left; Pipecat's Daily transport, for the transcription message (`participantId`, `text`,
`timestamp`, `rawResponse.is_final`); and, as four public receivers have it, the signature: `X-Webhook-Signature` is base64 of
HMAC-SHA256 over `X-Webhook-Timestamp`, a dot and the body, the key being the base64-decoded `hmac`.

Participants are told with the room only, so the meeting is the room, and what follows after its end is another: therefore
stored transcripts (transcript.ready-to-download), which come after the end and name no participant, are not fetched. A
`user_id` is what the meeting's token says; without one Daily writes an id of the moment, which names nobody. Transcription
messages come to who is in the call, so what passes them on is yours: as `{"type": "transcription-message", "id": …, "payload":
{"room": …, "participantId": …, "text": …, "timestamp": …, "rawResponse": {"is_final": …}}}`, signed as Daily does."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field
from service.connectors.live import Delivery, Read
from service.connectors.live.bodies import at_epoch, at_iso, document, ending, id_of, is_true, keyed, need_id, reading
from service.connectors.live.signatures import WINDOW, decoded, verify_timestamp_body
from service.types.meeting import NOBODY, AccountKey, Base, Began, Ended, Joined, Left, MeetingEvent, Speaker, Uttered

NAME = "daily"


@dataclass(frozen=True, slots=True)
class Daily:
    declared = DeclaredLive(
        NAME,
        "Daily: webhooks; transcription messages as a bot passes them on",
        ("webhook", "transcript", "partials", "participants"),
        TimeUnit.SECONDS,
        TimeBase.EPOCH,
        SpeakerScope.PARTICIPANT,
        utterance_ids=None,
        repeats="a webhook's id; partials of a participant until the final one",
        signing=Signing.TIMESTAMP_BODY,
        replay_seconds=WINDOW,
        accounts="user_id, where the meeting's token says it",
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        verify_timestamp_body(delivery, secrets, source=source, prefix="", encoded=base64.b64encode, key=decoded)

    def read(self, delivery: Delivery) -> Read:
        with reading(NAME):
            whole = document(delivery, NAME)
            told = whole["payload"]
            events = tuple(_events(whole["type"].value, told, whole))
            if not events:
                return Read(None, ())
            room = need_id(told["room"])
            return Read(room, keyed(room, events), delivery_key=id_of(whole["id"]), in_room=True)

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _events(kind: object, told: Field, whole: Field) -> Iterator[MeetingEvent]:
    match kind:
        case "meeting.started":
            yield Began(key="", at=at_epoch(told["start_ts"]), title=told["room"].text(), platform=NAME)
        case "meeting.ended":
            start, end = at_epoch(told["start_ts"]), at_epoch(told["end_ts"])
            lasted = (end - start).total_seconds() if start is not None and end is not None and end >= start else None
            yield Ended(key="", at=end, duration=lasted)
        case "participant.joined":
            yield Joined(key="", at=at_epoch(told["joined_at"]), speaker=_speaker(told))
        case "participant.left":
            joined, stayed = at_epoch(told["joined_at"]), told["duration"].number()
            left = (
                joined + timedelta(seconds=stayed) if joined is not None and stayed is not None and 0 <= stayed < 1e7 else None
            )
            yield Left(key="", at=left or at_epoch(whole["event_ts"]), speaker=_speaker(told))
        case "transcription-message":
            yield from _uttered(told, whole)
        case _:
            return


def _uttered(told: Field, whole: Field) -> Iterator[MeetingEvent]:
    text = told["text"].text()
    if text is None:
        return
    said_at = at_iso(told["timestamp"]) or at_epoch(whole["event_ts"])
    if said_at is None:
        raise told["timestamp"].refuse("when it was said, with a zone")
    handle, span = id_of(told["participantId"]), ending(said_at.timestamp(), text)
    final = told["rawResponse"]["is_final"]
    yield Uttered(
        key="",
        speaker=NOBODY if handle is None else Speaker(handle),
        text=text,
        start=span.start,
        end=span.end,
        base=Base.EPOCH,
        slot=handle,
        final=final.value is None or is_true(final),
    )


def _speaker(told: Field) -> Speaker:
    handle, user = need_id(told["session_id"]), id_of(told["user_id"])
    return Speaker(
        handle,
        name=told["user_name"].label(),
        account=None if user is None or user == handle else AccountKey(NAME, user),
        is_host=is_true(told["owner"]),
    )


CONNECTOR = Daily()
