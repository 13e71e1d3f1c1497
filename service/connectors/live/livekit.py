"""What does a LiveKit room tell: its webhooks, and the transcription that an agent of yours passes on?

Read (2026): livekit/protocol livekit_webhook.proto and livekit_models.proto; the webhook pages and receivers (JWT in
`Authorization`, HS256, claim `sha256` of the body); the attributes `lk.segment_id`, `lk.transcription_final` and
`lk.transcribed_track_id` of text streams on the topic `lk.transcription` (client SDKs). No transcription comes by webhook: what
passes it on is yours, and signs as LiveKit does (`AccessToken(key, secret).with_sha256(…)`);
deploy/examples/livekit_listener.py shows it. General knowledge, not read: that what is final of a segment is not said
otherwise later (agents have published another segment's text under its id: livekit/agents-js#1759); that a webhook sent again
has the same `id`; that
`start_time` and `end_time` of segments are often 0 or count from the track's start: they give a length here, and when something
was said is `startedAt` or `at`.

The meeting is the room's `sid`, for names of rooms are used again. An identity is the app's word for whoever has the token: it
holds within the meeting and is no account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.connectors.declared import DeclaredLive, Signing, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.fields import Field
from service.connectors.live import Delivery, EventUnreadable, Read
from service.connectors.live.bodies import at_epoch, document, epoch, id_of, is_true, keyed, lasting, need_id, reading
from service.connectors.live.signatures import WINDOW, verify_jwt
from service.types.meeting import NOBODY, Base, Began, Ended, Joined, Left, MeetingEvent, Speaker, Uttered

NAME = "livekit"
BOTS = ("AGENT", 4, "EGRESS", 2)
"""`kind` of a participant that is no person, by name and by number of ParticipantInfo.Kind."""
LONGEST = 600.0
"""Seconds that a segment lasts at most; longer ones have times of something else. By hand."""


@dataclass(frozen=True, slots=True)
class LiveKit:
    declared = DeclaredLive(
        NAME,
        "LiveKit: webhooks; Transcription and text streams as an agent passes them on",
        ("webhook", "transcript", "partials", "participants"),
        TimeUnit.MILLISECONDS,
        TimeBase.EPOCH,
        SpeakerScope.PARTICIPANT,
        utterance_ids="segments[].id, lk.segment_id",
        repeats="a webhook's id; the same segment with other text, until it is final",
        signing=Signing.JWT,
        replay_seconds=WINDOW,
        finals_hold=True,
    )

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        verify_jwt(delivery, secrets, source=source)

    def read(self, delivery: Delivery) -> Read:
        with reading(NAME):
            whole = document(delivery, NAME)
            room = whole["room"]
            meeting = id_of(room["sid"]) or id_of(room["name"])
            events = tuple(_events(whole, delivery))
            if events and meeting is None:
                raise EventUnreadable(provider=NAME, place="room.sid", what="missing; needed: the room's sid")
            return Read(
                meeting if events else None,
                keyed(meeting, events),
                delivery_key=id_of(whole["id"]),
                in_room=meeting is not None and id_of(room["sid"]) is None,
            )

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        return None


def _events(whole: Field, delivery: Delivery) -> Iterator[MeetingEvent]:
    at = at_epoch(whole.first_of("createdAt", "created_at"))
    match whole["event"].value:
        case "room_started":
            room = whole["room"]
            began = at_epoch(room.first_of("creationTime", "creation_time")) or at
            yield Began(key="", at=began, title=room["name"].text(), platform=NAME)
        case "room_finished":
            yield Ended(key="", at=at)
        case "participant_joined":
            joined = at_epoch(whole["participant"].first_of("joinedAt", "joined_at")) or at
            yield Joined(key="", at=joined, speaker=_speaker(whole["participant"]))
        case "participant_left" | "participant_connection_aborted":
            yield Left(key="", at=at, speaker=_speaker(whole["participant"]))
        case "transcription":
            told = whole["transcription"]
            identity = id_of(told.first_of("transcribedParticipantIdentity", "transcribed_participant_identity"))
            for segment in told["segments"]:
                length = _length(segment)
                yield from _said(
                    whole, delivery, segment, identity, id_of(segment["id"]), is_true(segment["final"]), length=length
                )
        case "text_stream":
            attributes = whole["attributes"]
            identity = id_of(whole["participant"]["identity"])
            id, final = id_of(attributes["lk.segment_id"]), is_true(attributes["lk.transcription_final"])
            yield from _said(whole, delivery, whole, identity, id, final)
        case _:
            return


def _said(
    whole: Field,
    delivery: Delivery,
    segment: Field,
    identity: str | None,
    id: str | None,
    final: bool,
    *,
    length: float | None = None,
) -> Iterator[MeetingEvent]:
    text = segment["text"].text()
    if text is None:
        return
    started, told_at = epoch(segment["startedAt"], 1000), epoch(whole["at"], 1000)
    if final and id is None and started is None and told_at is None:
        raise whole["at"].refuse("when it was told, in milliseconds since 1970; without an id the same may be said twice")
    at = told_at or delivery.received_at.timestamp()
    lasts = lasting(text) if length is None else length
    start = at - lasts if started is None or started > at else started
    end = at if started is None or length is None else min(at, start + length)
    yield Uttered(
        key="",
        speaker=NOBODY if identity is None else Speaker(identity),
        text=text,
        start=start,
        end=end,
        base=Base.EPOCH,
        id=id,
        slot=identity if id is None else None,
        final=final,
        language=segment["language"].text(),
    )


def _length(segment: Field) -> float | None:
    """Seconds; None where the times say nothing."""
    times = [segment.first_of(*names).seconds(1000) for names in (("startTime", "start_time"), ("endTime", "end_time"))]
    start, end = (time or 0.0 for time in times)
    return end - start if 0 < end - start <= LONGEST else None


def _speaker(participant: Field) -> Speaker:
    return Speaker(
        need_id(participant["identity"]),
        name=participant["name"].label(),
        is_bot=participant["kind"].value in BOTS and participant["kind"].value is not True,
    )


CONNECTOR = LiveKit()
