"""What does the transcript beside a recording say: who, when, which words?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from service import registry
from service.connectors.files.source import TranscriptUnreadable, text_of
from service.connectors.files.words import words_of
from service.errors import VoicegraphError
from service.types.audio import Segment, Transcript, TranscriptSegment

__all__ = ["FORMATS", "FitConfig", "TranscriptDoesNotFit", "TranscriptUnreadable", "fits", "read_transcript", "words_of"]

FORMATS = {
    "vtt": "service.connectors.files.vtt:parse",
    "srt": "service.connectors.files.srt:parse",
    "rttm": "service.connectors.files.rttm:parse",
    "json": "service.connectors.files.json_segments:parse",
}
"""format → `parse(text, source) -> Transcript`; `source` is the file's name, for errors and to pick a recording in RTTM."""


class TranscriptDoesNotFit(VoicegraphError):
    code = "transcript_does_not_fit"
    says = (
        "The transcript speaks from {start:.2f} s to {end:.2f} s, the audio lasts {duration:.2f} s (allowed beyond it: "
        "{tolerance:.2f} s). {hint}"
    )
    http_status = 422


@dataclass(frozen=True, slots=True)
class FitConfig:
    tolerance: float = 2.0
    """Seconds a transcript may reach beyond the audio: recognisers round up their last window (30.02 of 30.00 s), caption
    tools write whole seconds and leave the last line to be read for a moment."""
    drift: float = 0.005
    """… and this share of the duration, for two clocks: 18 s in an hour."""


def read_transcript(path: Path | str, *, format: str | None = None) -> Transcript:
    """The transcript in `path`, its format found by its content unless named: vtt, srt, rttm, json.

    JSON: of whisper, faster-whisper, WhisperX, or a list of {start, end, speaker, text}; all times in seconds.
    Raises TranscriptUnreadable with the place in the file, UnknownPlugIn for a format that is not known."""
    path = Path(path)
    text = text_of(path)
    parse = registry.load(FORMATS, format or detect(text, path.name), kind="transcript format")
    transcript: Transcript = parse(text, path.name)
    return transcript


def detect(text: str, source: str) -> str:
    """The name of the format `text` is written in, whatever the file is called. Raises TranscriptUnreadable."""
    from service.connectors.files import rttm
    from service.connectors.files.cues import TIMING

    begin = text.lstrip()
    if begin.startswith("WEBVTT"):
        return "vtt"
    if begin.startswith(("{", "[{")) or re.match(r"\[\s*[\]{]", begin):
        return "json"
    lines = begin.splitlines()
    if any(rttm.is_record(line) for line in lines[:200]):
        return "rttm"
    if any(TIMING.match(line) for line in lines):
        return "srt"
    what = "the file is empty." if not begin else "this is neither WebVTT, SRT, RTTM nor JSON segments."
    raise TranscriptUnreadable(source=source, place="line 1", what=what)


def fits(transcript: Transcript, duration: float, config: FitConfig | None = None) -> Transcript:
    """The transcript cut to the audio's `duration` in seconds. Raises TranscriptDoesNotFit when more than rounding is cut."""
    config = config or FitConfig()
    if not transcript.segments:
        return transcript
    tolerance = config.tolerance + config.drift * duration
    start = min(part.segment.start for part in transcript.segments)
    end = max(part.segment.end for part in transcript.segments)
    if start < -tolerance or end > duration + tolerance:
        hint = "Is it another recording's?"
        if abs(end / 1000 - duration) <= max(tolerance, 0.1 * duration):
            hint = "Its times look like milliseconds; seconds are needed."
        raise TranscriptDoesNotFit(start=start, end=end, duration=duration, tolerance=tolerance, hint=hint)
    return replace(transcript, segments=tuple(_cut(part, duration) for part in transcript.segments))


def _cut(part: TranscriptSegment, duration: float) -> TranscriptSegment:
    words = tuple(replace(word, segment=_until(word.segment, duration)) for word in part.words)
    return replace(part, segment=_until(part.segment, duration), words=words)


def _until(segment: Segment, duration: float) -> Segment:
    return Segment(min(max(segment.start, 0.0), duration), min(max(segment.end, 0.0), duration))
