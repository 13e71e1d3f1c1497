"""What does a Pipecat pipeline send? Its frames, as a processor passes them on (shapes: see the connector)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from service.connectors.live.playing import Played, iso
from service.connectors.live.playing.generic import PLAYER as OURS
from service.types.meeting import Began, Ended, Joined, Left, MeetingEvent, Speaker, Uttered

FRAMES: dict[type[MeetingEvent], str] = {
    Began: "StartFrame",
    Ended: "EndFrame",
    Joined: "ParticipantJoined",
    Left: "ParticipantLeft",
}


class PipecatPlayer:
    """Words when they had been said, partials, the bot's own, who came and went; no chat, no sound."""

    provider = "pipecat"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        told = _told(meeting, event)
        return () if told is None else (json.dumps({"meeting": meeting.id, **told}, ensure_ascii=False).encode(),)

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        return OURS.headers(body, secret, at=at, id=id)


def _told(meeting: Played, event: MeetingEvent) -> dict[str, Any] | None:
    match event:
        case Began(title=title):
            return {"frame": FRAMES[Began], "timestamp": iso(meeting.at(event)), "title": title}
        case Ended():
            return {"frame": FRAMES[Ended], "timestamp": iso(meeting.at(event))}
        case Joined(speaker=speaker) | Left(speaker=speaker):
            return {"frame": FRAMES[type(event)], "timestamp": iso(meeting.at(event)), **_user(speaker)}
        case Uttered(source=source) if source != "chat":
            frame = "TranscriptionFrame" if event.final else "InterimTranscriptionFrame"
            if event.speaker.is_bot:
                frame = "AggregatedTextFrame"
            if event.speaker.is_bot and not event.final:
                return None
            at = iso(meeting.moment(event.end, event.base))
            return {"frame": frame, "text": event.text, "timestamp": at, "language": event.language, **_user(event.speaker)}
    return None


def _user(speaker: Speaker) -> dict[str, Any]:
    return {"user_id": speaker.handle, "name": speaker.name}


PLAYER = PipecatPlayer()
