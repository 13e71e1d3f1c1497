"""What does MeetingBaas v2 send? Webhooks of the bot and of live transcripts (shapes: see the connector)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from service.connectors.live.playing import Played, iso
from service.connectors.live.signatures import webhook_id_headers
from service.types.meeting import Began, Ended, MeetingEvent, Uttered


class MeetingBaasPlayer:
    """Words with times, partials, beginning and end; no participants, no chat, no speech marks, no sound, and no file after the
    meeting, which it would be fetched from."""

    provider = "meetingbaas"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        told = _told(meeting, event)
        return () if told is None else (json.dumps(told, ensure_ascii=False).encode(),)

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        return webhook_id_headers(secret, id=id, at=at, body=body, prefix="svix-")


def _told(meeting: Played, event: MeetingEvent) -> dict[str, Any] | None:
    match event:
        case Began(at=at):
            at = at or meeting.began_at
            status = {"code": "in_call_recording", "created_at": iso(at), "start_time": round(at.timestamp(), 3)}
            return {"event": "bot.status_change", "data": {"bot_id": meeting.id, "status": status}}
        case Ended(failed=None, duration=duration):
            return {"event": "bot.completed", "data": {"bot_id": meeting.id, "duration_seconds": duration}}
        case Ended(failed=failed):
            return {"event": "bot.failed", "data": {"bot_id": meeting.id, "error_code": failed}}
        case Uttered(source=source) if source != "chat":
            return {"event": "transcript.segment", "bot_id": meeting.id, "data": _segment(meeting, event)}
    return None


def _segment(meeting: Played, event: Uttered) -> dict[str, Any]:
    def since(seconds: float) -> float:
        return round(meeting.since(seconds, event.base), 3)

    words = [
        {"text": w.text, "start": since(w.segment.start), "end": since(w.segment.end), "confidence": w.confidence}
        for w in event.words
    ]
    return {
        "text": event.text,
        "isFinal": event.final,
        "utteranceStart": since(event.start),
        "utteranceEnd": since(event.end),
        "language": event.language,
        "confidence": event.confidence,
        "speaker": {"id": event.speaker.handle, "name": event.speaker.name},
        "words": words,
    }


PLAYER = MeetingBaasPlayer()
