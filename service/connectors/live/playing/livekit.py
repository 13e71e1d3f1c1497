"""What does a LiveKit room send? Its webhooks, and transcriptions as an agent passes them on (shapes: see the connector)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from service.connectors.live.playing import Played
from service.connectors.live.signatures import jwt_headers
from service.types.meeting import Began, Ended, Joined, Left, MeetingEvent, Speaker, Uttered


class LiveKitPlayer:
    """Words with times, partials, who came and went, to the second; nothing of who has no identity, no chat, no sound."""

    provider = "livekit"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        told = _told(meeting, event)
        if told is None:
            return ()
        whole = {"id": f"EV_{id}", "room": {"sid": meeting.id, "name": meeting.id}, **told}
        return (json.dumps(whole, ensure_ascii=False).encode(),)

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        return jwt_headers(secret, at=at, body=body)


def _told(meeting: Played, event: MeetingEvent) -> dict[str, Any] | None:
    created = {"createdAt": meeting.milliseconds(event) // 1000}
    match event:
        case Began():
            return {"event": "room_started", **created}
        case Ended():
            return {"event": "room_finished", **created}
        case Joined(speaker=Speaker(handle=str())) | Left(speaker=Speaker(handle=str())):
            kind = "participant_joined" if isinstance(event, Joined) else "participant_left"
            return {"event": kind, **created, "participant": _participant(event.speaker)}
        case Uttered(source=source) if source != "chat":
            start, end = (round(meeting.epoch(seconds, event.base) * 1000) for seconds in (event.start, event.end))
            segment = {
                "id": event.id,
                "text": event.text,
                "startTime": 1,  # counted from anywhere: they give a length
                "endTime": 1 + end - start,
                "startedAt": start,
                "final": event.final,
                "language": event.language,
            }
            told = {"transcribedParticipantIdentity": event.speaker.handle, "segments": [segment]}
            return {"event": "transcription", "at": end, "transcription": told}
    return None


def _participant(speaker: Speaker) -> dict[str, Any]:
    return {"identity": speaker.handle, "name": speaker.name, "kind": "AGENT" if speaker.is_bot else "STANDARD"}


PLAYER = LiveKitPlayer()
