"""Who speaks when, over a recording of any length?

The sound is taken in blocks of minutes that end in a pause; each is segmented, cut into pieces, its voices found and looked
up among the tracks of the session. Memory is that of one block, whatever the length; the same sound gives the same turns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from service.audio import assignment, clustering
from service.audio.given import GivenSegment, given_turns
from service.audio.pieces import Piece, PiecesConfig, frame_powers, pieces, utterances
from service.audio.quality import bandwidth_hz
from service.audio.runs import Mask, smoothed, stretches
from service.audio.segmentation import FRAME_SAMPLES, FRAME_SECONDS, Activity, Segmenter
from service.audio.turns import DiarisedBlock, TurnsConfig, drafts, finished, is_telephone, joined
from service.types.audio import SAMPLE_RATE, SpeakerEncoder, Waveform

__all__ = ["DiarisedBlock", "Diariser", "DiariserConfig", "GivenSegment", "given_turns"]


@dataclass(frozen=True, slots=True)
class DiariserConfig:
    block: float = 600.0
    """Seconds of sound looked at together: 38 MB, at most some 600 pieces to cluster, far more than a voice needs to be
    told from others."""
    look_ahead: float = 60.0
    """Seconds after a block in which the pause is looked for that ends it, and the least that is left for the last block."""
    silence_dbfs: float = -70.0
    """Sound below this holds no speech, whatever the network makes of its noise: it is normalised away from level."""
    shortest: float = 0.1
    """Seconds a voice must be active; less is a flicker of the scores."""
    gap: float = 0.2
    """Seconds of silence within a word or between two, closed."""
    pieces: PiecesConfig = field(default_factory=PiecesConfig)
    clustering: clustering.ClusteringConfig = field(default_factory=clustering.ClusteringConfig)
    assignment: assignment.AssignmentConfig = field(default_factory=assignment.AssignmentConfig)
    turns: TurnsConfig = field(default_factory=TurnsConfig)


class Diariser:
    """Waveform blocks → blocks with turns. Holds no state between calls."""

    def __init__(self, segmenter: Segmenter, encoder: SpeakerEncoder, config: DiariserConfig | None = None) -> None:
        self._segmenter, self._encoder = segmenter, encoder
        self._config = config or DiariserConfig()

    def __call__(self, blocks: Iterable[Waveform], *, prefix: str = "", first_index: int = 0) -> Iterator[DiarisedBlock]:
        """Turns of one feed. `blocks` follow each other without a gap and may have any length.

        Tracks are called `<prefix>speaker_1`, … in order of first appearance, and mean the same person in every block."""
        tracks: list[clustering.Voice] = []
        for waveform, activity in self._cut_at_pauses(blocks):
            block = self._diarised(waveform, activity, tracks, prefix, first_index)
            first_index += len(block.turns)
            yield block

    def _cut_at_pauses(self, blocks: Iterable[Waveform]) -> Iterator[tuple[Waveform, Activity]]:
        enough = self._config.block + 2 * self._config.look_ahead
        held: list[Waveform] = []
        for block in blocks:
            held.append(block)
            while sum(waveform.duration for waveform in held) >= enough:
                whole = joined(held)
                activity = self._segmenter(whole)
                cut = self._pause(activity)
                yield _split(whole, cut)[0], activity.until(cut)
                held = [_split(whole, cut)[1]]
        if held and (rest := joined(held)).duration > 0:
            yield rest, self._segmenter(rest)

    def _pause(self, activity: Activity) -> int:
        """The middle of the widest pause in the look-ahead; where nobody ever pauses, the frame least like speech."""
        first = int(self._config.block / FRAME_SECONDS)
        ahead = activity.speech[first : first + int(self._config.look_ahead / FRAME_SECONDS)]
        pauses = stretches(ahead <= self._config.assignment.speech)
        if not pauses:
            return first + int(ahead.argmin())
        begin, end = max(pauses, key=lambda pause: pause[1] - pause[0])
        return first + (begin + end) // 2

    def _diarised(
        self, waveform: Waveform, activity: Activity, tracks: list[clustering.Voice], prefix: str, first_index: int
    ) -> DiarisedBlock:
        config = self._config
        activity = _without_silence(waveform, activity, config.silence_dbfs)
        found = pieces(waveform, activity, self._encoder, config.pieces)
        limit = clustering.threshold(found, activity, config.clustering, telephone=_is_telephone(waveform, found))
        voices = clustering.voices(found, limit, config.clustering)
        active = assignment.assign(found, activity, voices, config.assignment)
        if len(voices) > 1:
            short = utterances(waveform, activity, self._encoder, found, config.pieces)
            active = assignment.corrected(active, short, voices, config.assignment)
        active = self._smoothed(active)
        names = [f"{prefix}speaker_{number + 1}" for number in clustering.numbered(voices, tracks, limit)]
        end = waveform.segment.end
        speech = drafts(np.atleast_2d(active.any(axis=0)), ("",), waveform.start, end, replace(config.turns, pause=config.gap))
        turns = drafts(active, names, waveform.start, end, config.turns)
        return finished(
            waveform, turns, [draft.segment for draft in speech], self._encoder, config.turns, first_index=first_index
        )

    def _smoothed(self, active: Mask) -> Mask:
        fill, drop = (round(seconds / FRAME_SECONDS) for seconds in (self._config.gap, self._config.shortest))
        return np.stack([smoothed(row, fill=fill, drop=drop) for row in active]) if len(active) else active


def _without_silence(waveform: Waveform, activity: Activity, silence_dbfs: float) -> Activity:
    """No speech in frames whose surrounding 0.2 s are below `silence_dbfs`."""
    reach = 6
    frames = frame_powers(waveform, activity.frames)
    around = np.convolve(frames, np.ones(2 * reach + 1) / (2 * reach + 1), mode="same") if len(frames) else frames
    heard = around > 10.0 ** (silence_dbfs / 10.0)
    return replace(activity, speech=activity.speech * heard, overlap=activity.overlap * heard)


def _is_telephone(waveform: Waveform, found: Sequence[Piece]) -> bool:
    """By at most 50 pieces: the line does not change within a block."""
    places = [(piece.first * FRAME_SAMPLES, piece.last * FRAME_SAMPLES) for piece in found[:50]]
    return is_telephone([bandwidth_hz(waveform.samples[first:last]) for first, last in places])


def _split(whole: Waveform, frame: int) -> tuple[Waveform, Waveform]:
    sample = min(frame * FRAME_SAMPLES, len(whole.samples))
    after = Waveform(whole.samples[sample:].copy(), whole.start + sample / SAMPLE_RATE)
    return Waveform(whole.samples[:sample].copy(), whole.start), after
