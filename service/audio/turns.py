"""When does whose turn begin and end, and what of it may be embedded?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from service.audio.quality import FLOOR_DBFS, QualityConfig, measure, noise_dbfs
from service.audio.runs import Mask, Stretch, stretches
from service.audio.segmentation import FRAME_OFFSET, FRAME_SECONDS
from service.types.audio import Samples, Segment, SignalQuality, SpeakerEmbedding, SpeakerEncoder, SpeakerTurn, Waveform


@dataclass(frozen=True, slots=True)
class TurnsConfig:
    pause: float = 0.5
    """Seconds of silence of one speaker that end a turn; under it the reference of AMI marks one contribution."""
    longest: float = 60.0
    """Seconds after which a turn is split at its widest pause: what a reader takes in as one message."""
    embedded_from: float = 0.5
    """Seconds of speech alone from which a turn is embedded; whether it may count is the router's choice."""
    embedded_to: float = 20.0
    """Seconds of speech alone that are embedded; more changes the vector little and costs 14 ms of CPU a second."""
    quality: QualityConfig = field(default_factory=QualityConfig)


@dataclass(frozen=True)
class DiarisedBlock:
    """A piece of the session, complete: no turn reaches over its borders."""

    waveform: Waveform
    turns: tuple[SpeakerTurn, ...]
    """In order of `segment.start`; `index` goes on from the block before."""
    embeddings: tuple[SpeakerEmbedding | None, ...]
    """One a turn, None where too little speech is this speaker's alone."""
    speech: tuple[Segment, ...] = ()
    """Where anybody speaks."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A turn before it is numbered and measured: session seconds."""

    segment: Segment
    track: str
    speech: tuple[Segment, ...]
    overlapped: float


def drafts(active: Mask, tracks: Sequence[str], start: float, end: float, config: TurnsConfig) -> list[Draft]:
    """Turns from frames: `active` (tracks, frames) says who speaks; frame 0 lies at `start`, nothing reaches beyond `end`."""
    alone = active.sum(axis=0) == 1
    found = []
    for track, row in zip(tracks, active, strict=True):
        for first, last in _turns(row, config):
            speech = [(first + a, first + b) for a, b in stretches(row[first:last] & alone[first:last])]
            overlapped = int((row[first:last] & ~alone[first:last]).sum()) * FRAME_SECONDS
            pieces = tuple(_seconds(place, start, end) for place in speech)
            found.append(Draft(_seconds((first, last), start, end), track, pieces, overlapped))
    return found


def _seconds(place: Stretch, start: float, end: float) -> Segment:
    """Frames → session seconds; a frame stands for the time around its middle."""
    first, last = (min(end, start + max(0.0, edge * FRAME_SECONDS + FRAME_OFFSET - FRAME_SECONDS / 2)) for edge in place)
    return Segment(start if place[0] == 0 else first, last)


def _turns(row: Mask, config: TurnsConfig) -> Iterable[Stretch]:
    group: list[Stretch] = []
    for stretch in stretches(row):
        if group and (stretch[0] - group[-1][1]) * FRAME_SECONDS >= config.pause:
            yield from _split(group, config)
            group = []
        group.append(stretch)
    if group:
        yield from _split(group, config)


def _split(group: Sequence[Stretch], config: TurnsConfig) -> Iterable[Stretch]:
    """One turn, or several of at most `longest` (or of one stretch) each."""
    first, last = group[0][0], group[-1][1]
    if len(group) == 1 or (last - first) * FRAME_SECONDS <= config.longest:
        yield first, last
        return
    middle = (first + last) / 2
    widest = max(range(1, len(group)), key=lambda i: (group[i][0] - group[i - 1][1], -abs(group[i][0] - middle)))
    yield from _split(group[:widest], config)
    yield from _split(group[widest:], config)


def finished(
    waveform: Waveform,
    found: Iterable[Draft],
    speech: Sequence[Segment],
    encoder: SpeakerEncoder,
    config: TurnsConfig,
    *,
    first_index: int,
) -> DiarisedBlock:
    """Turns in order of time, numbered from `first_index`, measured and embedded; all lie within `waveform`."""
    ordered = sorted(found, key=lambda draft: (draft.segment, draft.track))
    noise = noise_dbfs(waveform, speech, config.quality)
    turns, sounds = [], []
    for index, draft in enumerate(ordered, start=first_index):
        sound = spoken(waveform, draft.speech or (draft.segment,))
        quality = measure(sound.samples, noise, config.quality)
        channel = "telephone" if quality.is_telephone else "wideband"
        turns.append(SpeakerTurn(index, draft.segment, draft.track, draft.speech, draft.overlapped, quality, channel))
        longest = Segment(sound.start, sound.start + config.embedded_to)
        sounds.append(sound.crop(longest) if turns[-1].net_speech >= config.embedded_from else None)
    vectors = iter(encoder([sound for sound in sounds if sound is not None]))
    embeddings = tuple(None if sound is None else next(vectors) for sound in sounds)
    return DiarisedBlock(waveform, tuple(turns), embeddings, tuple(speech))


def spoken(waveform: Waveform, segments: Sequence[Segment]) -> Waveform:
    """The sound of `segments` one after the other; its `start` is the first one's, later times do not hold."""
    parts: list[Samples] = [waveform.crop(segment).samples for segment in segments]
    return Waveform(np.concatenate(parts) if parts else np.zeros(0, np.float32), segments[0].start if segments else 0.0)


def joined(held: Sequence[Waveform]) -> Waveform:
    """Waveforms that follow each other without a gap, as one; at least one."""
    return held[0] if len(held) == 1 else Waveform(np.concatenate([waveform.samples for waveform in held]), held[0].start)


def is_telephone(bandwidths: Sequence[float]) -> bool:
    """Whether most of a block's speech is narrowband; Hz."""
    return bool(bandwidths) and SignalQuality(FLOOR_DBFS, 0.0, float(np.median(bandwidths)), 0.0).is_telephone
