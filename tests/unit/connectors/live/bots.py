"""Small deliveries as Recall.ai, Vexa, Attendee and MeetingBaas make them: written here, nobody's words."""

from __future__ import annotations

import base64
import struct
from typing import Any

from tests.unit.connectors.live.told import SECOND

SAMPLES = struct.pack("<4h", 0, 1000, -1000, 32767)
FLOATS = struct.pack("<3f", 0.0, 0.5, -1.0)
MILLISECONDS = int(SECOND * 1000) + 123
ZOE = {"id": 200, "name": "Zoë Kovář", "is_host": True, "platform": "desktop", "extra_data": {}, "email": None}


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


# ---- Recall.ai


def stamp(seconds: float | None, at: str | None = None) -> dict[str, Any] | None:
    return None if seconds is None and at is None else {"relative": seconds, "absolute": at}


def recall_words(*words: tuple[str, float | None, float | None], at: str | None = None) -> list[dict[str, Any]]:
    """`at`: the moment of the first word."""
    return [
        {"text": text, "start_timestamp": stamp(start, at if place == 0 else None), "end_timestamp": stamp(end)}
        for place, (text, start, end) in enumerate(words)
    ]


HELLO = recall_words(("Hello", 12.34, 12.71), ("there", None, None), ("all.", 13.0, 13.4))


def recall(kind: str, inner: dict[str, Any], *, bot: str | None = "bot-1", recording: str = "rec-1") -> dict[str, Any]:
    told = {"data": inner, "recording": {"id": recording, "metadata": {}}, "realtime_endpoint": {"id": "re-1"}}
    return {"event": kind, "data": {**told, **({} if bot is None else {"bot": {"id": bot, "metadata": {}}})}}


def recall_line(words: list[dict[str, Any]] = HELLO, *, final: bool = True, **more: Any) -> dict[str, Any]:
    inner = {"participant": ZOE, "words": words, "language_code": "en", **more}
    return recall("transcript.data" if final else "transcript.partial_data", inner)


def recall_happened(what: str, participant: Any = ZOE, data: Any = None, **times: Any) -> dict[str, Any]:
    when = {"relative": 4.0, "absolute": "2026-11-30T09:00:04Z", **times}
    return recall(f"participant_events.{what}", {"participant": participant, "timestamp": when, "data": data})


# ---- Vexa


def vexa_segment(**more: Any) -> dict[str, Any]:
    return {
        "segment_id": "s1:ch-0:1:1500",
        "speaker": "Zoë",
        "speaker_key": "ch-0:1",
        "text": "hello world",
        "start": 1.5,
        "end": 2.5,
        "language": "en",
        "completed": True,
        "source": "glow-bound",
        "confidence": 1,
        "words": [
            {"word": "hello", "start": 1.5, "end": 2.0, "probability": 0.9},
            {"word": "world", "start": 2.0, "end": 2.5, "probability": 0.8},
        ],
        **more,
    }


ABSOLUTE = {"absolute_start_time": "2026-11-30T09:00:01.500Z", "absolute_end_time": "2026-11-30T09:00:02.500Z"}
PENDING = {"segment_id": "s1:ch-0:1:pending", "completed": False, "text": "hello wor", "words": []}


def vexa_bundle(*confirmed: dict[str, Any], pending: tuple[dict[str, Any], ...] = (), **more: Any) -> dict[str, Any]:
    whole = {"type": "transcript", "meeting": {"id": 42}, "speaker": "Zoë", "ts": "2026-11-30T09:00:03.400Z"}
    return {**whole, "confirmed": list(confirmed), "pending": list(pending), **more}


def vexa_webhook(status: str, kind: str = "meeting.status_change", **more: Any) -> dict[str, Any]:
    meeting = {
        "id": 42,
        "platform": "google_meet",
        "native_meeting_id": "abc-defg-hij",
        "status": status,
        "completion_reason": "stopped",
        "start_time": "2026-11-30T09:00:00Z",
        "end_time": "2026-11-30T09:30:00Z",
        "data": {"name": "Weekly"},
        **more,
    }
    at = {"api_version": "2026-03-01", "created_at": "2026-11-30T09:30:01Z"}
    return {"event_id": "evt_1", "event_type": kind, **at, "data": {"meeting": meeting}}


def vexa_frame(track: int, samples: bytes = FLOATS, name: str | None = None, at: float = MILLISECONDS) -> bytes:
    if name is None:
        return struct.pack("<Id", track, at) + samples
    said = name.encode()
    return struct.pack("<IdI", track | 0x80000000, at, len(said)) + said + b"\0" * (-len(said) % 4) + samples


# ---- Attendee


def attendee(trigger: str, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"idempotency_key": "k-1", "bot_id": "bot_1", "bot_metadata": {}, "trigger": trigger, "data": data, **more}


def attendee_line(text: str | None = "Grüße aus dem Büro", **more: Any) -> dict[str, Any]:
    return attendee(
        "transcript.update",
        {
            "speaker_name": "Zoë Müller",
            "speaker_uuid": "8:orgid:0001",
            "speaker_user_uuid": "user-7",
            "speaker_is_host": False,
            "timestamp_ms": MILLISECONDS,
            "duration_ms": 2140,
            "transcription": None if text is None else {"transcript": text},
            **more,
        },
    )


def attendee_happened(kind: str, **more: Any) -> dict[str, Any]:
    data = {"id": "pe_1", "participant_name": "Zoë", "participant_uuid": "p-1", "participant_user_uuid": None, **more}
    group = "speech_start_stop" if kind.startswith("speech") else "join_leave"
    return attendee(f"participant_events.{group}", {**data, "event_type": kind, "event_data": {}, "timestamp_ms": MILLISECONDS})


# ---- MeetingBaas


def baas(kind: str, **data: Any) -> dict[str, Any]:
    return {"event": kind, "data": {"bot_id": "b-1", "event_id": None, **data}}


def baas_word(text: str, start: float, **more: Any) -> dict[str, Any]:
    return {"text": text, "start": start, "end": start + 0.4, "confidence": 0.9, **more}


def baas_line(text: str = "Hello everyone, hi.", final: bool = True, **more: Any) -> dict[str, Any]:
    told = {"text": text, "isFinal": final, "utteranceStart": 12.3, "utteranceEnd": 15.0, "confidence": 0.97, "words": []}
    return {"event": "transcript.segment", "bot_id": "b-1", "data": {**told, "speaker": {"name": "John", "id": 1}, **more}}


BAAS_HELLO = {"protocol_version": 2, "bot_id": "b-1", "offset": 0.0, "sample_rate": 16000}
BAAS_FILE = {
    "bot_id": "b-1",
    "provider": "gladia",
    "result": {
        "utterances": [
            {
                "text": "Hello everyone",
                "language": "en",
                "start": 0.5,
                "end": 2.1,
                "speaker": "John",
                "words": [{"word": "Hello", "start": 0.5, "end": 0.8, "confidence": 0.98}],
            },
            {"text": "who is there?", "start": 3.0, "end": 4.0, "speaker": "Unknown", "words": []},
        ],
        "total_duration": 3600.5,
    },
}
V1_COMPLETE = {
    "event": "complete",
    "data": {
        "bot_id": "b-1",
        "event_uuid": None,
        "speakers": ["John"],
        "transcript": [
            {
                "speaker": "John",
                "offset": 1.5,
                "start_time": 1.5,
                "end_time": 2.4,
                "words": [{"start": 1.5, "end": 1.9, "word": "Hello"}, {"start": 2.0, "end": 2.4, "word": "everyone"}],
            }
        ],
    },
}
SPEAKING = [
    {"name": "John", "id": 1, "timestamp": SECOND + 0.5, "isSpeaking": True},
    {"name": "Unknown", "id": 2, "timestamp": (SECOND + 1) * 1000, "isSpeaking": False},
]

SEEDS: dict[str, list[Any]] = {
    "recall": [
        recall_line(),
        recall_line(final=False),
        recall_happened("join"),
        recall_happened("chat_message", data={"text": "see the link", "to": "everyone"}),
        recall("audio_separate_raw.data", {"buffer": base64_of(SAMPLES), "timestamp": stamp(1.0), "participant": ZOE}),
        recall("bot.fatal", {"code": "fatal", "sub_code": "meeting_not_found", "updated_at": "2026-11-30T09:00:00Z"}),
    ],
    "vexa": [
        vexa_bundle(vexa_segment(**ABSOLUTE), pending=(vexa_segment(**PENDING),)),
        vexa_webhook("completed", "meeting.completed"),
        {"type": "session_start", "session_uid": "s1", "meeting_id": "42", "start_time": "2026-11-30T09:00:00Z"},
        {"type": "retract", "segment_ids": ["s1:ch-0:1:1500"]},
        {"ts": MILLISECONDS, "speakerIndex": 999, "pcm": base64_of(FLOATS)},
    ],
    "attendee": [
        attendee_line(words=[]),
        attendee_line(transcription={"transcript": "hi there", "words": [{"word": "hi", "start": 0.1, "end": 0.3}]}),
        attendee_happened("join"),
        attendee("chat_messages.update", {"id": "c", "to": "everyone", "text": "see it", "timestamp": int(SECOND)}),
        attendee("bot.state_change", {"new_state": "ended", "created_at": "2026-11-30T09:00:00Z"}),
        attendee("realtime_audio.mixed", {"chunk": base64_of(SAMPLES), "sample_rate": 16000, "timestamp_ms": MILLISECONDS}),
    ],
    "meetingbaas": [
        baas_line(words=[baas_word("Hello", 12.3, speaker=0), baas_word("hi.", 14.0, speaker=1)]),
        baas("bot.completed", transcription="https://store.example.com/t.json", duration_seconds=3600),
        baas("bot.status_change", status={"code": "in_call_recording", "start_time": int(SECOND)}),
        BAAS_FILE,
        SPEAKING,
        BAAS_HELLO,
    ],
    "meetingbaas_v1": [V1_COMPLETE, SPEAKING, baas("failed", error="meeting_not_found")],
}
