"""What does Daily send? Its webhooks, and transcription messages as a bot passes them on (shapes: see the connector)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from service.connectors.live.playing import Played, iso
from service.connectors.live.signatures import decoded, timestamp_body_headers
from service.types.meeting import Began, Ended, Joined, Left, MeetingEvent, Speaker, Uttered


class DailyPlayer:
    """Words when they had been said, partials, who came and went; nothing of who has no id, no chat. Known by its room."""

    provider = "daily"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        told = _told(meeting, event)
        if told is None:
            return ()
        kind, payload = told
        at = meeting.milliseconds(event) / 1000
        whole = {"version": "1.0.0", "type": kind, "id": id, "payload": {"room": meeting.id, **payload}, "event_ts": at}
        return (json.dumps(whole, ensure_ascii=False).encode(),)

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        return timestamp_body_headers(secret, at=at, body=body, prefix="", encoded=base64.b64encode, key=decoded)


def _told(meeting: Played, event: MeetingEvent) -> tuple[str, dict[str, Any]] | None:
    at = meeting.milliseconds(event) / 1000
    match event:
        case Began():
            return "meeting.started", {"start_ts": at}
        case Ended():
            return "meeting.ended", {"start_ts": round(meeting.began_at.timestamp(), 3), "end_ts": at}
        case Joined(speaker=Speaker(handle=str())):
            return "participant.joined", {**_participant(event.speaker), "joined_at": at}
        case Left(speaker=Speaker(handle=str())):
            return "participant.left", _participant(event.speaker)
        case Uttered(source=source) if source != "chat":
            moment = iso(meeting.moment(event.end, event.base))
            told = {"participantId": event.speaker.handle, "text": event.text, "timestamp": moment}
            return "transcription-message", {**told, "rawResponse": {"is_final": event.final}}
    return None


def _participant(speaker: Speaker) -> dict[str, Any]:
    return {
        "session_id": speaker.handle,
        "user_id": speaker.handle if speaker.account is None else speaker.account.subject,
        "user_name": speaker.name,
        "owner": speaker.is_host,
    }


PLAYER = DailyPlayer()
