"""Sound, speech and voices as they cross packages. Times are seconds from the start of the session; audio is 16 kHz mono."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
import numpy.typing as npt

from service.errors import VoicegraphError
from service.types.told import NOTHING_TOLD, Told

SAMPLE_RATE = 16_000
"""Hz, of every Waveform: what all encoders, the segmentation and the recogniser take."""

WITHOUT_SPACES = frozenset({"zh", "yue", "ja", "th", "lo", "my", "km", "bo"})
"""Languages (ISO 639-1, as Whisper names them) whose words are written together."""

Samples = npt.NDArray[np.float32]
Progress = Callable[[float, str], None]
"""Called with the share done in [0, 1] and the name of the stage."""


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """A stretch of time, `start` <= `end`."""

    start: float
    end: float

    @property
    def duration(self) -> float:
        return self.end - self.start

    def overlap(self, other: Segment) -> float:
        """Seconds shared with `other`, never negative."""
        return max(0.0, min(self.end, other.end) - max(self.start, other.start))


@dataclass(frozen=True, slots=True)
class Waveform:
    """Mono float32 samples in [-1, 1] at SAMPLE_RATE, beginning `start` seconds into the session."""

    samples: Samples
    start: float = 0.0

    @property
    def duration(self) -> float:
        return len(self.samples) / SAMPLE_RATE

    @property
    def segment(self) -> Segment:
        return Segment(self.start, self.start + self.duration)

    def crop(self, segment: Segment) -> Waveform:
        """The part inside `segment` (session seconds); what lies outside this waveform is left out."""
        first = max(0, round((segment.start - self.start) * SAMPLE_RATE))
        last = max(first, round((segment.end - self.start) * SAMPLE_RATE))
        return Waveform(self.samples[first:last], self.start + first / SAMPLE_RATE)


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """What a file is, as found by decoding it, not by its header."""

    path: str
    sha256: str
    duration: float
    channels: int
    sample_rate: int
    codec: str


@dataclass(frozen=True, slots=True)
class SignalQuality:
    level_dbfs: float
    """RMS of the speech, dB relative to full scale, <= 0."""
    snr_db: float
    """Speech level over the level of the block's non-speech, dB; a rough figure."""
    bandwidth_hz: float
    """Frequency under which 99 % of the pre-emphasised speech energy lies: service.audio.quality."""
    clipped: float
    """Share of samples at full scale, [0, 1]."""

    @property
    def is_telephone(self) -> bool:
        """Narrowband: nothing above the 4 kHz of 8 kHz sound (with the slope of real resamplers); wideband has over 4.7."""
        return self.bandwidth_hz <= 4_400.0


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    segment: Segment
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class SpeakerTurn:
    """One speaker's uninterrupted contribution, as heard."""

    index: int
    """Position in the session, from 0, in order of `segment.start`."""
    segment: Segment
    track: str
    """The local speaker within the session: a diarisation label, a channel or a platform participant."""
    speech: tuple[Segment, ...]
    """Where this speaker alone speaks: what may be embedded."""
    overlapped: float
    """Seconds of this turn in which somebody else speaks too."""
    quality: SignalQuality | None
    """None where nothing was heard: a transcript without its recording."""
    channel: str
    """Acoustic channel tag, for channel means: "wideband", "telephone", the feed's name, or "none" without a sound."""
    text: str | None = None
    language: str | None = None
    words: tuple[Word, ...] = ()
    told: Told = NOTHING_TOLD

    @property
    def net_speech(self) -> float:
        """Seconds of speech of this speaker alone (not the clip's length)."""
        return sum(s.duration for s in self.speech)


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Which vectors may be compared with which: equal dimensions protect nothing."""

    name: str
    """snake_case, part of property names: `voiceprint__<name>`."""
    version: str
    """Short hash of weights and pre-processing."""
    dimension: int


@dataclass(frozen=True, slots=True)
class SpeakerEmbedding:
    vector: Samples
    """Shape (dimension,), float32, L2-normalised, finite."""
    space: EmbeddingSpace


class EmbeddingSpaceMismatch(VoicegraphError):
    code = "embedding_space_mismatch"
    says = (
        "Embeddings of {left} and {right} cannot be compared: a cosine between them means nothing. "
        "Use one encoder with the same weights for both, or enrol again."
    )
    http_status = 409


def check_same_space(left: EmbeddingSpace, right: EmbeddingSpace) -> None:
    """Refuse to compare vectors of different encoders, weights or pre-processing."""
    if left != right:
        raise EmbeddingSpaceMismatch(left=f"{left.name} {left.version}", right=f"{right.name} {right.version}")


def cosine(left: SpeakerEmbedding, right: SpeakerEmbedding) -> float:
    """Raw cosine, [-1, 1]; raises EmbeddingSpaceMismatch."""
    check_same_space(left.space, right.space)
    return float(np.clip(left.vector @ right.vector, -1.0, 1.0))


class SpeakerEncoder(Protocol):
    """Waveforms of one speaker each → embeddings, in batches. Numbers: ENCODERS in service.audio.encoders."""

    @property
    def embedding_space(self) -> EmbeddingSpace: ...

    def __call__(self, waveforms: Sequence[Waveform]) -> list[SpeakerEmbedding]:
        """Raises AudioTooShort below the encoder's minimum; never returns NaN or a zero vector."""
        ...


class SpoofScorer(Protocol):
    """Tells a voice that speaks here and now from one that is played or made by a machine. None is shipped: SCORERS in
    service.audio.spoofing says why."""

    name: str

    def __call__(self, waveform: Waveform) -> float:
        """0: spoken; 1: played or made; a half where its errors of both kinds are as many. Of one voice's clip."""
        ...


class Recogniser(Protocol):
    """Speech → words with times. Text never influences identity."""

    name: str

    def __call__(self, waveform: Waveform, *, language: str | None = None) -> Recognised: ...

    def quick(self, waveform: Waveform, *, language: str | None = None) -> str:
        """The words of one utterance, soon: while it is being said."""
        ...


@dataclass(frozen=True, slots=True)
class Recognised:
    words: tuple[Word, ...]
    language: str | None
    dropped: int = 0
    """Words heard where the model itself doubts that anybody spoke, or in a loop; not among `words`."""


@dataclass(frozen=True, slots=True)
class TranscriptSegment:
    """What a transcript file says of one stretch of speech."""

    segment: Segment
    label: str | None
    """The speaker as the file names them: a name, "SPEAKER_00", "A"; None when it names nobody. Data, never trusted."""
    text: str | None
    """None: the format has no text (RTTM)."""
    words: tuple[Word, ...] = ()
    """Empty when the file does not time words."""
    language: str | None = None
    told: Told = NOTHING_TOLD


@dataclass(frozen=True, slots=True)
class Transcript:
    format: str
    """One of FORMATS in service.connectors.files."""
    segments: tuple[TranscriptSegment, ...]
    """In order of `segment.start`."""
    language: str | None = None
    recovered: int = 0
    """Places where the file broke its format and was read anyway (text after a blank line, an end before its start)."""
    started_at: datetime | None = None
    """Of second 0, with its zone, where the file says so itself."""


class TextEmbedder(Protocol):
    """Texts → L2-normalised float32 rows, shape (n, dimension)."""

    @property
    def embedding_space(self) -> EmbeddingSpace: ...

    def queries(self, texts: Sequence[str]) -> Samples: ...

    def passages(self, texts: Sequence[str]) -> Samples: ...
