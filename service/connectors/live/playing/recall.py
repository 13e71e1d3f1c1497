"""What does Recall.ai send? Real-time events of participants and words, and the bot's status (shapes: see the connector)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from service.connectors.live.playing import Played, iso, number_of, worded
from service.connectors.live.signatures import webhook_id_headers
from service.types.audio import WITHOUT_SPACES, Segment, Word
from service.types.meeting import Base, Ended, Joined, Left, MeetingEvent, Renamed, Speaker, Spoke, Uttered

PARTICIPANTS = {Joined: "join", Left: "leave", Renamed: "update"}


class RecallPlayer:
    """Chat, speech marks, words with times, partials; no beginning (each stamp tells it), no sound, nothing withdrawn."""

    provider = "recall"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        return tuple(json.dumps(_whole(meeting, *told), ensure_ascii=False).encode() for told in _told(meeting, event))

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        return webhook_id_headers(secret, id=id, at=at, body=body)


def _told(meeting: Played, event: MeetingEvent) -> Iterator[tuple[str, dict[str, Any]]]:
    match event:
        case Ended(failed=failed):
            code = {"code": "done", "sub_code": None} if failed is None else {"code": "fatal", "sub_code": failed}
            yield f"bot.{code['code']}", {**code, "updated_at": None if event.at is None else iso(event.at)}
        case Joined(speaker=speaker) | Left(speaker=speaker) | Renamed(speaker=speaker):
            stamp = (
                {"absolute": None, "relative": None} if event.at is None else _stamp(meeting, event.at.timestamp(), Base.EPOCH)
            )
            yield f"participant_events.{PARTICIPANTS[type(event)]}", {"participant": _participant(speaker), "timestamp": stamp}
        case Spoke():
            moments = [("on", event.start)] if event.end != event.start else []
            moments += [("off", event.end)] if event.end is not None else []
            for what, seconds in moments:
                told = {"participant": _participant(event.speaker), "timestamp": _stamp(meeting, seconds, event.base)}
                yield f"participant_events.speech_{what}", told
        case Uttered(source="chat") if event.final:
            told = {"participant": _participant(event.speaker), "timestamp": _stamp(meeting, event.start, event.base)}
            yield "participant_events.chat_message", {**told, "data": {"text": event.text, "to": "everyone"}}
        case Uttered(source=source) if source != "chat":
            words = [_word(meeting, word, event.base) for word in words_told(event)]
            said = {"participant": _participant(event.speaker), "words": words, "language_code": event.language}
            yield ("transcript.data" if event.final else "transcript.partial_data"), said


def words_told(event: Uttered) -> tuple[Word, ...]:
    """Of a language without blanks one, for they would be lost."""
    if event.language is not None and event.language.partition("-")[0].lower() in WITHOUT_SPACES:
        return (Word(event.text, Segment(event.start, event.end)),)
    return worded(event)


def _whole(meeting: Played, kind: str, inner: dict[str, Any]) -> dict[str, Any]:
    ids = {name: {"id": f"{meeting.id}-{name}", "metadata": {}} for name in ("realtime_endpoint", "recording")}
    return {"event": kind, "data": {"data": inner, **ids, "bot": {"id": meeting.id, "metadata": {}}}}


def _participant(speaker: Speaker) -> dict[str, Any]:
    extra = {} if speaker.account is None else {"zoom": {"conf_user_id": speaker.account.subject}}
    return {
        "id": number_of(speaker),
        "name": speaker.name,
        "is_host": speaker.is_host,
        "platform": "desktop",
        "extra_data": extra,
        "email": None,
    }


def _stamp(meeting: Played, seconds: float, base: Base) -> dict[str, Any]:
    return {"relative": round(meeting.since(seconds, base), 3), "absolute": iso(meeting.moment(seconds, base))}


def _word(meeting: Played, word: Word, base: Base) -> dict[str, Any]:
    start, end = (_stamp(meeting, seconds, base) for seconds in (word.segment.start, word.segment.end))
    return {"text": word.text, "start_timestamp": start, "end_timestamp": end}


PLAYER = RecallPlayer()
