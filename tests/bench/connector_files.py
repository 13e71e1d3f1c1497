"""What would a meeting of any length look like in each format? Eight words a turn, four speakers, one turn after another."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

WORDS = ["the", "boiler", "man", "comes", "at", "ten", "on", "Tuesday"]
TURN = 4.0  # seconds, of eight words
STEP = TURN / len(WORDS)


@dataclass(frozen=True, slots=True)
class Turn:
    number: int

    @property
    def start(self) -> float:
        return self.number * TURN

    @property
    def end(self) -> float:
        return self.start + TURN

    @property
    def speaker(self) -> int:
        return self.number % 4

    @property
    def text(self) -> str:
        return " ".join(WORDS)

    @property
    def words(self) -> list[tuple[str, float, float]]:
        return [(word, self.start + i * STEP, self.start + (i + 1) * STEP) for i, word in enumerate(WORDS)]


def clock(seconds: float, comma: str = ".") -> str:
    whole = round(seconds * 1000)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}{comma}{whole % 1000:03}"


def _vtt(turns: Sequence[Turn]) -> str:
    cues = (f"{t.number}\n{clock(t.start)} --> {clock(t.end)}\n<v Name {t.speaker}>{t.text}</v>\n\n" for t in turns)
    return "WEBVTT\n\n" + "".join(cues)


def _zoom(turns: Sequence[Turn]) -> str:
    cues = (f"{t.number}\n{clock(t.start)} --> {clock(t.end)}\nName {t.speaker}: {t.text}\n\n" for t in turns)
    return "WEBVTT\n\n" + "".join(cues)


def _youtube(turns: Sequence[Turn]) -> str:
    cues, before = [], " "
    for t in turns:
        rolling = WORDS[0] + "".join(f"<{clock(start)}><c> {word}</c>" for word, start, _ in t.words[1:])
        cues.append(f"{clock(t.start)} --> {clock(t.end - 0.01)}\n{before}\n{rolling}\n\n")
        cues.append(f"{clock(t.end - 0.01)} --> {clock(t.end)}\n{t.text}\n \n\n")
        before = t.text
    return "WEBVTT\nKind: captions\nLanguage: en\n\n" + "".join(cues)


def _srt(turns: Sequence[Turn]) -> str:
    return "".join(f"{t.number}\n{clock(t.start, ',')} --> {clock(t.end, ',')}\nName {t.speaker}: {t.text}\n\n" for t in turns)


def _rttm(turns: Sequence[Turn]) -> str:
    return "".join(f"SPEAKER day 1 {t.start:.3f} {TURN:.3f} <NA> <NA> voice_{t.speaker} <NA> <NA>\n" for t in turns)


def _ctm(turns: Sequence[Turn]) -> str:
    return "".join(f"day {'AB'[t.speaker % 2]} {s:.3f} {e - s:.3f} {w} 0.9\n" for t in turns for w, s, e in t.words)


def _stm(turns: Sequence[Turn]) -> str:
    return "".join(f"day 1 voice_{t.speaker} {t.start:.3f} {t.end:.3f} <O,F0,F> {t.text}\n" for t in turns)


def _elan(turns: Sequence[Turn]) -> str:
    slots = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="s{t.number}{side}" TIME_VALUE="{round(at * 1000)}"/>\n'
        for t in turns
        for side, at in (("a", t.start), ("b", t.end))
    )
    notes = "".join(
        f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a{t.number}" TIME_SLOT_REF1="s{t.number}a" '
        f'TIME_SLOT_REF2="s{t.number}b"><ANNOTATION_VALUE>{t.text}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>\n'
        for t in turns
    )
    tier = f'<TIER TIER_ID="text@ana" PARTICIPANT="Ana">\n{notes}</TIER>'
    return f"<ANNOTATION_DOCUMENT>\n<TIME_ORDER>\n{slots}</TIME_ORDER>\n{tier}\n</ANNOTATION_DOCUMENT>\n"


def _otter(turns: Sequence[Turn]) -> str:
    return "".join(f"Name {t.speaker}  {clock(t.start)[:-4]}\n{t.text}\n\n" for t in turns)


def _csv(turns: Sequence[Turn]) -> str:
    return "start,end,speaker,text\n" + "".join(f'{t.start},{t.end},Name {t.speaker},"{t.text}"\n' for t in turns)


def _whisper_segment(t: Turn) -> dict[str, Any]:
    words = [{"word": f" {w}", "start": s, "end": e, "probability": 0.9} for w, s, e in t.words]
    return {"id": t.number, "seek": 0, "start": t.start, "end": t.end, "text": t.text, "avg_logprob": -0.2, "words": words}


def _whisperx_segment(t: Turn) -> dict[str, Any]:
    label = f"SPEAKER_0{t.speaker}"
    words = [{"word": w, "start": s, "end": e, "score": 0.9, "speaker": label} for w, s, e in t.words]
    return {"start": t.start, "end": t.end, "text": t.text, "speaker": label, "words": words}


def _assemblyai_words(t: Turn) -> list[dict[str, Any]]:
    speaker = "ABCD"[t.speaker]
    return [
        {"text": w, "start": round(s * 1000), "end": round(e * 1000), "confidence": 0.9, "speaker": speaker}
        for w, s, e in t.words
    ]


def _aws_items(t: Turn) -> list[dict[str, Any]]:
    return [
        {
            "type": "pronunciation",
            "start_time": f"{s:.3f}",
            "end_time": f"{e:.3f}",
            "alternatives": [{"content": w, "confidence": "0.9"}],
            "speaker_label": f"spk_{t.speaker}",
        }
        for w, s, e in t.words
    ]


def _call_turn(t: Turn) -> dict[str, Any]:
    items = [
        {
            "Type": "pronunciation",
            "Content": w,
            "Confidence": 0.9,
            "BeginOffsetMillis": round(s * 1000),
            "EndOffsetMillis": round(e * 1000),
        }
        for w, s, e in t.words
    ]
    span = {"BeginOffsetMillis": round(t.start * 1000), "EndOffsetMillis": round(t.end * 1000)}
    return {
        "Id": str(t.number),
        "ParticipantRole": ("AGENT", "CUSTOMER")[t.number % 2],
        "Content": t.text,
        "Items": items,
        **span,
    }


def _azure_phrase(t: Turn) -> dict[str, Any]:
    def ticks(s: float, e: float) -> dict[str, float]:
        return {"offsetInTicks": round(s * 1e7), "durationInTicks": round((e - s) * 1e7)}

    words = [{"word": w, "confidence": 0.9, **ticks(s, e)} for w, s, e in t.words]
    best = {"confidence": 0.9, "display": t.text, "words": words}
    return {"recognitionStatus": "Success", "speaker": t.speaker, "channel": 0, "nBest": [best], **ticks(t.start, t.end)}


def _speechmatics_words(t: Turn) -> list[dict[str, Any]]:
    return [
        {
            "type": "word",
            "start_time": s,
            "end_time": e,
            "alternatives": [{"content": w, "confidence": 0.9, "speaker": f"S{t.speaker}"}],
        }
        for w, s, e in t.words
    ]


def _all(turns: Sequence[Turn], make: Callable[[Turn], Sequence[Any]]) -> list[Any]:
    return [one for t in turns for one in make(t)]


def _google(turns: Sequence[Turn]) -> Any:
    words = [
        {"word": w, "startTime": f"{s:.3f}s", "endTime": f"{e:.3f}s", "speakerTag": t.speaker + 1}
        for t in turns
        for w, s, e in t.words
    ]
    return {"results": [{"alternatives": [{"transcript": t.text}]} for t in turns] + [{"alternatives": [{"words": words}]}]}


def _deepgram(turns: Sequence[Turn]) -> Any:
    words = [{"word": w, "start": s, "end": e, "confidence": 0.9, "speaker": t.speaker} for t in turns for w, s, e in t.words]
    return {"metadata": {}, "results": {"channels": [{"alternatives": [{"words": words}]}]}}


def _recall_part(t: Turn) -> dict[str, Any]:
    words = [{"text": w, "start_timestamp": {"relative": s}, "end_timestamp": {"relative": e}} for w, s, e in t.words]
    return {"participant": {"id": t.speaker, "name": f"Name {t.speaker}"}, "words": words}


def _meetingbaas(t: Turn) -> dict[str, Any]:
    words = [{"word": w, "start": s, "end": e, "confidence": 0.9} for w, s, e in t.words]
    return {"text": t.text, "start": t.start, "end": t.end, "speaker": f"Name {t.speaker}", "words": words}


def _jitsi_event(t: Turn) -> dict[str, Any]:
    return {
        "event": "SPEECH",
        "timestamp": 1_768_000_000_000 + round(t.start * 1000),
        "participant": {"id": str(t.speaker), "name": f"Name {t.speaker}"},
        "transcript": [{"text": t.text}],
        "message_id": str(t.number),
    }


def _flat(t: Turn) -> dict[str, Any]:
    return {"start": t.start, "end": t.end, "speaker": f"Name {t.speaker}", "text": t.text}


MAKE: dict[str, Callable[[Sequence[Turn]], Any]] = {
    "vtt": _vtt,
    "vtt/zoom": _zoom,
    "vtt/youtube": _youtube,
    "srt": _srt,
    "rttm": _rttm,
    "ctm": _ctm,
    "stm": _stm,
    "elan": _elan,
    "otter": _otter,
    "csv": _csv,
    "whisper": lambda turns: {"text": "", "segments": [_whisper_segment(t) for t in turns]},
    "faster-whisper": lambda turns: [_whisper_segment(t) for t in turns],
    "whisperx": lambda turns: {"segments": [_whisperx_segment(t) for t in turns], "word_segments": []},
    "openai-diarized": lambda turns: {"segments": [{"type": "transcript.text.segment", **_flat(t)} for t in turns]},
    "deepgram": _deepgram,
    "assemblyai": lambda turns: {"audio_url": "", "status": "completed", "text": "", "words": _all(turns, _assemblyai_words)},
    "aws-transcribe": lambda turns: {"results": {"items": _all(turns, _aws_items)}},
    "aws-call-analytics": lambda turns: {"JobStatus": "COMPLETED", "Transcript": [_call_turn(t) for t in turns]},
    "azure": lambda turns: {"recognizedPhrases": [_azure_phrase(t) for t in turns]},
    "google": _google,
    "speechmatics": lambda turns: {"format": "2.9", "metadata": {}, "results": _all(turns, _speechmatics_words)},
    "fireflies": lambda turns: {
        "sentences": [
            {
                "speaker_id": t.speaker,
                "speaker_name": f"Name {t.speaker}",
                "text": t.text,
                "start_time": t.start,
                "end_time": t.end,
            }
            for t in turns
        ]
    },
    "tldv": lambda turns: {
        "meetingId": "m",
        "data": [{"speaker": f"Name {t.speaker}", "text": t.text, "startTime": t.start, "endTime": t.end} for t in turns],
    },
    "vexa": lambda turns: {"segments": [{"segment_id": str(t.number), "completed": True, **_flat(t)} for t in turns]},
    "recall": lambda turns: [_recall_part(t) for t in turns],
    "meetingbaas": lambda turns: {"bot_id": "b", "result": {"utterances": [_meetingbaas(t) for t in turns]}},
    "jitsi": lambda turns: {"room_name": "r", "events": [_jitsi_event(t) for t in turns]},
    "json": lambda turns: [_flat(t) for t in turns],
}
"""format, with the flavour → a meeting as it would write it"""


def made(kind: str, size: int) -> tuple[str, int]:
    """A file of about `size` bytes, and of how many turns it is."""
    per_turn = len(written(kind, range(100, 1100))) / 1000
    turns = max(1, round(size / per_turn))
    return written(kind, range(turns)), turns


def written(kind: str, numbers: range) -> str:
    document = MAKE[kind]([Turn(number) for number in numbers])
    return document if isinstance(document, str) else json.dumps(document)
