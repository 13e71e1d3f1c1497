"""What does Vexa send? Its live bundles, forwarded, and the webhook of a meeting's end (shapes: see the connector)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from service.connectors.live.playing import Played, iso
from service.connectors.live.signatures import timestamp_body_headers
from service.types.audio import Word
from service.types.meeting import Base, Began, Ended, MeetingEvent, Uttered

SOURCES = {"platform": "glow-bound", "caption": "caption", "diariser": "provisional-cluster-id", "chat": "chat"}


class VexaPlayer:
    """Words with names, partials, chat; no participants, no speech marks, no sound."""

    provider = "vexa"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        told = _told(meeting, event, id)
        return () if told is None else (json.dumps(told, ensure_ascii=False).encode(),)

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        """With the secret beside its signature, as Vexa does."""
        return {**timestamp_body_headers(secret, at=at, body=body), "authorization": f"Bearer {secret}"}


def _told(meeting: Played, event: MeetingEvent, id: str) -> dict[str, Any] | None:
    match event:
        case Began():
            started = iso(event.at or meeting.began_at)
            return {
                "type": "session_start",
                "session_uid": session_of(meeting),
                "meeting_id": meeting.id,
                "platform": event.platform,
                "start_time": started,
            }
        case Ended(failed=failed):
            kind = "meeting.completed" if failed is None else "bot.failed"
            at = iso(event.at) if event.at else None
            of = {"id": meeting.id, "status": "completed" if failed is None else "failed", "completion_reason": failed}
            data: dict[str, Any] = {"meeting": {**of, "start_time": iso(meeting.began_at), "end_time": at, "data": {}}}
            return {"event_id": f"evt_{id}", "event_type": kind, "api_version": "2026-03-01", "created_at": at, "data": data}
        case Uttered():
            segment = _segment(meeting, event)
            listed: dict[str, list[Any]] = {"confirmed": [], "pending": []}
            listed["confirmed" if event.final else "pending"].append(segment)
            # as often as it is told anew, the later holds
            ts = meeting.moment(event.end, event.base).timestamp() + event.revision
            told_at = iso(datetime.fromtimestamp(ts, meeting.began_at.tzinfo))
            whole = {"type": "transcript", "meeting": {"id": meeting.id}, "speaker": event.speaker.name}
            return {**whole, **listed, "ts": told_at}
    return None


def session_of(meeting: Played) -> str:
    return f"session-{meeting.id}"


def turn_of(event: Uttered) -> str:
    """`speaker_key`: a channel and a turn on it, the same from pending to confirmed."""
    channel = zlib.crc32(f"{event.speaker.scope}/{event.speaker.handle}".encode()) % 1_000
    return f"ch-{channel}:{zlib.crc32((event.id or event.slot or repr(event.start)).encode())}"


def _segment(meeting: Played, event: Uttered) -> dict[str, Any]:
    turn = turn_of(event)
    last = f"{round(meeting.since(event.start, event.base) * 1000)}" if event.final else "pending"
    is_chat = event.source == "chat"
    segment: dict[str, Any] = {
        "segment_id": f"{session_of(meeting)}:{turn}:{last}",
        "speaker": event.speaker.name,
        "speaker_key": turn,
        "text": event.text,
        "completed": event.final,
        "language": event.language,
        "source": SOURCES[event.source],
    }
    if is_chat:
        at = round(meeting.epoch(event.start, event.base), 3)
        return {**segment, "start": at, "end": at}
    if event.speaker.confidence is not None:
        segment["confidence"] = event.speaker.confidence
    return {
        **segment,
        "start": round(meeting.since(event.start, event.base), 3),
        "end": round(meeting.since(event.end, event.base), 3),
        "absolute_start_time": iso(meeting.moment(event.start, event.base)),
        "absolute_end_time": iso(meeting.moment(event.end, event.base)),
        "words": [_word(meeting, word, event.base) for word in event.words],
    }


def _word(meeting: Played, word: Word, base: Base) -> dict[str, Any]:
    start, end = (round(meeting.since(seconds, base), 3) for seconds in (word.segment.start, word.segment.end))
    return {"word": word.text, "start": start, "end": end, "probability": word.confidence}


PLAYER = VexaPlayer()
