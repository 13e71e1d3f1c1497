"""What does Jitsi send? jigasi's events, as its remote publisher posts them (shapes: see the connector)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from service.connectors.live.playing import Played
from service.connectors.live.signatures import TOKEN
from service.types.meeting import Began, Ended, Joined, Left, MeetingEvent, Speaker, Uttered


class JitsiPlayer:
    """Words with their start, partials, who came and went; no chat, no speech marks, no sound. Known by the room alone."""

    provider = "jitsi"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        told = _told(meeting, event)
        return () if told is None else (json.dumps({"room_name": meeting.id, **told}, ensure_ascii=False).encode(),)

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        return {"authorization": f"Bearer {secret.removeprefix(TOKEN)}"}


def _told(meeting: Played, event: MeetingEvent) -> dict[str, Any] | None:
    match event:
        case Began() | Ended():
            kind = "START" if isinstance(event, Began) else "END"
            return {"event": kind, "timestamp": meeting.milliseconds(event)}
        case Joined(speaker=speaker) | Left(speaker=speaker):
            kind = "JOIN" if isinstance(event, Joined) else "LEAVE"
            return {"event": kind, "timestamp": meeting.milliseconds(event), "participant": _participant(speaker)}
        case Uttered(source=source) if source != "chat":
            return {
                "type": "transcription-result",
                "timestamp": round(meeting.epoch(event.start, event.base) * 1000),
                "participant": _participant(event.speaker),
                "transcript": [{"text": event.text, "confidence": event.confidence}],
                "language": event.language,
                "message_id": event.id,
                "is_interim": not event.final,
            }
    return None


def _participant(speaker: Speaker) -> dict[str, Any]:
    account = None if speaker.account is None else speaker.account.subject
    return {"id": speaker.handle, "name": speaker.name, "identity_id": account}


PLAYER = JitsiPlayer()
