"""What does Attendee send? Webhooks of what was said, who came and went, chat and the bot's state (shapes: see the
connector)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from service.connectors.live.playing import Played, iso
from service.connectors.live.signatures import canonical_json_headers
from service.types.meeting import Base, Began, Ended, Joined, Left, MeetingEvent, Renamed, Speaker, Spoke, Uttered

PARTICIPANTS = {Joined: "join", Left: "leave", Renamed: "update"}


class AttendeePlayer:
    """Finals without words, participants, speech marks, chat; no partials, no sound, nothing withdrawn."""

    provider = "attendee"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        """Written as `requests` does, which is not what is signed."""
        return tuple(
            json.dumps(
                {
                    "idempotency_key": f"{id}-{part}",
                    "bot_id": meeting.id,
                    "bot_metadata": {},
                    "trigger": trigger,
                    "data": data,
                }
            ).encode()
            for part, (trigger, data) in enumerate(_told(meeting, event))
        )

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        return canonical_json_headers(secret, body=body)


def _told(meeting: Played, event: MeetingEvent) -> Iterator[tuple[str, dict[str, Any]]]:
    match event:
        case Began():
            at = iso(event.at or meeting.began_at)
            yield "bot.state_change", {"new_state": "joined_recording", "old_state": "joining", "created_at": at}
        case Ended(failed=failed):
            ended = iso(event.at) if event.at else None
            state = {"new_state": "ended"} if failed is None else {"new_state": "fatal_error", "event_sub_type": failed}
            yield "bot.state_change", {**state, "created_at": ended}
        case Joined(speaker=speaker) | Left(speaker=speaker) | Renamed(speaker=speaker):
            ms = round(event.at.timestamp() * 1000) if event.at else None
            kind = PARTICIPANTS[type(event)]
            yield "participant_events.join_leave", {**_of(speaker, "participant"), "event_type": kind, "timestamp_ms": ms}
        case Spoke():
            moments = [("start", event.start)] if event.end != event.start else []
            moments += [("stop", event.end)] if event.end is not None else []
            for what, seconds in moments:
                told = {"event_type": f"speech_{what}", "timestamp_ms": _ms(meeting, seconds, event.base)}
                yield "participant_events.speech_start_stop", {**_of(event.speaker, "participant"), **told}
        case Uttered(final=True, source="chat"):
            told = {"id": event.id, "to": "everyone", "text": event.text, "timestamp_ms": _ms(meeting, event.start, event.base)}
            yield "chat_messages.update", {**_of(event.speaker, "sender"), **told}
        case Uttered(final=True):
            start = _ms(meeting, event.start, event.base)
            times = {"timestamp_ms": start, "duration_ms": _ms(meeting, event.end, event.base) - start}
            yield "transcript.update", {**_of(event.speaker, "speaker"), **times, "transcription": {"transcript": event.text}}


def _of(speaker: Speaker, whose: str) -> dict[str, Any]:
    return {
        f"{whose}_name": speaker.name,
        f"{whose}_uuid": speaker.handle,
        f"{whose}_user_uuid": None if speaker.account is None else speaker.account.subject,
        f"{whose}_is_host": speaker.is_host,
    }


def _ms(meeting: Played, seconds: float, base: Base) -> int:
    return round(meeting.epoch(seconds, base) * 1000)


PLAYER = AttendeePlayer()
