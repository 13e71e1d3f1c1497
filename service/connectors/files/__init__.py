"""What does the transcript beside a recording say: who, when, which words?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from service import registry
from service.connectors.declared import Declared
from service.connectors.files.source import SAMPLE, TranscriptUnreadable, Written, is_text, text_of
from service.connectors.files.transcript_format import TranscriptFormat
from service.connectors.files.words import words_of
from service.errors import VoicegraphError
from service.types.audio import Segment, Transcript, TranscriptSegment

__all__ = [
    "FORMATS",
    "FitConfig",
    "TranscriptDoesNotFit",
    "TranscriptUnreadable",
    "declared",
    "fits",
    "from_start",
    "is_transcript",
    "named",
    "read_transcript",
    "words_of",
]

FORMATS = {
    "vtt": "service.connectors.files.vtt:VTT",
    "srt": "service.connectors.files.srt:SRT",
    "rttm": "service.connectors.files.rttm:RTTM",
    "ctm": "service.connectors.files.ctm:CTM",
    "stm": "service.connectors.files.stm:STM",
    "elan": "service.connectors.files.elan:ELAN",
    "whisper": "service.connectors.files.whisper:WHISPER",
    "faster-whisper": "service.connectors.files.faster_whisper:FASTER_WHISPER",
    "whisperx": "service.connectors.files.whisperx:WHISPERX",
    "openai-diarized": "service.connectors.files.openai_diarized:OPENAI_DIARIZED",
    "deepgram": "service.connectors.files.deepgram:DEEPGRAM",
    "assemblyai": "service.connectors.files.assemblyai:ASSEMBLYAI",
    "aws-transcribe": "service.connectors.files.aws_transcribe:AWS_TRANSCRIBE",
    "aws-call-analytics": "service.connectors.files.aws_call_analytics:AWS_CALL_ANALYTICS",
    "azure": "service.connectors.files.azure:AZURE",
    "google": "service.connectors.files.google_stt:GOOGLE",
    "speechmatics": "service.connectors.files.speechmatics:SPEECHMATICS",
    "fireflies": "service.connectors.files.fireflies:FIREFLIES",
    "tldv": "service.connectors.files.tldv:TLDV",
    "vexa": "service.connectors.files.vexa:VEXA",
    "recall": "service.connectors.files.recall:RECALL",
    "meetingbaas": "service.connectors.files.meetingbaas:MEETINGBAAS",
    "jitsi": "service.connectors.files.jitsi:JITSI",
    "otter": "service.connectors.files.otter:OTTER",
    "csv": "service.connectors.files.tables:CSV",
    "json": "service.connectors.files.json_segments:JSON",
}
"""format → its TranscriptFormat, in the order in which they are asked whether they know a file."""

LONGEST = 31 * 86_400.0
"""Seconds from the start that a file may speak of; what is beyond is no time of a meeting, and no date can be made of it."""


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
    """The transcript in `path`, in one of FORMATS, found by its content unless named; all times in seconds.

    Raises TranscriptUnreadable with the line or the field, UnknownPlugIn for a format that is not known."""
    path = Path(path)
    written = Written(text_of(path), path.name)
    chosen = named(format) if format else detect(written)
    return _in_reason(chosen.read(written), path.name)


def named(format: str) -> TranscriptFormat:
    """Raises UnknownPlugIn."""
    found: TranscriptFormat = registry.load(FORMATS, format, kind="transcript format")
    return found


def declared() -> list[Declared]:
    """What each format states of itself, in the order of FORMATS."""
    return [named(format).declared for format in FORMATS]


def detect(written: Written) -> TranscriptFormat:
    """The format that `written` is in, whatever the file is called. Raises TranscriptUnreadable."""
    found = find_format(written)
    if found is None:
        what = "this is no transcript in a format that is known." if written.text.strip() else "the file is empty."
        raise written.refuse("line 1", what)
    return found


def find_format(written: Written) -> TranscriptFormat | None:
    """As `detect`; None when nothing knows it."""
    return next((known for format in FORMATS if (known := named(format)).recognises(written)), None)


def is_transcript(path: Path) -> bool:
    """Whether a file is a transcript rather than a recording: text, in a format that is known. False for what is not there."""
    try:
        with path.open("rb") as file:
            begin = file.read(SAMPLE)
    except OSError:
        return False
    return is_text(begin) and find_format(Written(text_of(path), path.name)) is not None


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


def from_start(transcript: Transcript) -> Transcript:
    """Where no recording tells better, what begins before second 0 begins there, counted as mended."""
    early = sum(part.segment.start < 0 for part in transcript.segments)
    if not early:
        return transcript
    segments = tuple(_cut(part, LONGEST) for part in transcript.segments)
    return replace(transcript, segments=segments, recovered=transcript.recovered + early)


def _in_reason(transcript: Transcript, source: str) -> Transcript:
    for index, part in enumerate(transcript.segments):
        for time in (part.segment, *(word.segment for word in part.words)):
            if not -LONGEST <= time.start <= time.end <= LONGEST:
                what = f"its time is {time.start:g} s to {time.end:g} s; needed: within {LONGEST:g} s of the start."
                raise TranscriptUnreadable(source=source, place=f"turn {index} (from 0)", what=what)
    return transcript


def _cut(part: TranscriptSegment, duration: float) -> TranscriptSegment:
    words = tuple(replace(word, segment=_until(word.segment, duration)) for word in part.words)
    return replace(part, segment=_until(part.segment, duration), words=words)


def _until(segment: Segment, duration: float) -> Segment:
    return Segment(min(max(segment.start, 0.0), duration), min(max(segment.end, 0.0), duration))
