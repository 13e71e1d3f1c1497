"""Who speaks in each frame, given the voices of a block?

Where one person speaks, the piece's own embedding decides; where two do, the segmentation's voices, each of which is matched
to one of the block's voices by all that it says within its window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from service.audio.clustering import Voice
from service.audio.pieces import Piece
from service.audio.runs import Mask
from service.audio.segmentation import FRAME_SECONDS, WINDOW_FRAMES, Activity
from service.types.audio import Samples


@dataclass(frozen=True, slots=True)
class AssignmentConfig:
    speech: float = 0.35
    """As in PiecesConfig."""
    overlap: float = 0.15
    """Probability of two voices from which two are given the frame: overlap is what the model misses most; DER is flat from
    0.1 to 0.25."""
    temperature: float = 0.1
    """Of the softmax of a piece's cosines: 0.1 apart is 2.7 to 1."""
    mixed_weight: float = 0.3
    """Of the embedding of a piece with several voices, against 1 of a piece with one."""
    shortest: float = 0.1
    """Seconds a voice of a window must speak to be matched."""
    longest: float = 3.0
    """Seconds beyond which its speech does not add to its say in the matching."""
    lead: float = 0.1
    """Cosine by which an utterance between two pauses must be more like another voice than like the one it was given to; from
    0.1 to 0.2 as many turns come out right, within 1 in 100."""
    like: float = 0.2
    """And how alike at least: different people of one recording score 0.1 (ClusteringConfig.different)."""


def assign(pieces: Sequence[Piece], activity: Activity, voices: Sequence[Voice], config: AssignmentConfig) -> Mask:
    """Shape (voices, frames): at most two true a frame, as many as the segmentation counts there."""
    active = np.zeros((len(voices), activity.frames), bool)
    if not voices:
        return active
    directions = np.stack([voice.direction for voice in voices])
    scores = _from_windows(pieces, activity, directions, config) + _from_pieces(pieces, activity, directions, config)
    speech = activity.speech > config.speech
    order = np.argsort(-scores, axis=0, kind="stable")
    for rank, wanted in enumerate((speech, speech & (activity.overlap > config.overlap))[: len(voices)]):
        frames = np.flatnonzero(wanted & (np.take_along_axis(scores, order[rank][None], axis=0)[0] > 1e-3))
        active[order[rank, frames], frames] = True
    return active


def corrected(active: Mask, utterances: Sequence[Piece], voices: Sequence[Voice], config: AssignmentConfig) -> Mask:
    """`active` with what stands between two pauses given to the voice that it plainly is."""
    corrected = active.copy()
    directions = np.stack([voice.direction for voice in voices])
    for utterance in utterances:
        cosines, frames = directions @ utterance.vector, slice(utterance.first, utterance.last)
        given, best = int(active[:, frames].sum(axis=1).argmax()), int(cosines.argmax())
        if cosines[best] >= config.like and cosines[best] - cosines[given] >= config.lead:
            corrected[best, frames] |= active[given, frames]
            corrected[given, frames] = False
    return corrected


def _from_pieces(pieces: Sequence[Piece], activity: Activity, directions: Samples, config: AssignmentConfig) -> Samples:
    """Shape (voices, frames): the share of each voice in the piece that a frame lies in."""
    scores = np.zeros((len(directions), activity.frames), np.float32)
    for piece in pieces:
        likely = np.exp((cosines := directions @ piece.vector) / config.temperature - cosines.max() / config.temperature)
        weight = config.mixed_weight if piece.mixed else 1.0
        scores[:, piece.first : piece.last] = (weight * likely / likely.sum())[:, None]
    return scores


def _from_windows(pieces: Sequence[Piece], activity: Activity, directions: Samples, config: AssignmentConfig) -> Samples:
    """Shape (voices, frames): mean activity of the windows' voices, each given to the block's voice it is matched with.

    Two voices of a window are never matched with one."""
    size = max([activity.frames, *(start + WINDOW_FRAMES for start in activity.starts)])
    heard = np.full(size, len(pieces), int)
    for place, piece in enumerate(pieces):
        heard[piece.first : piece.last] = place
    weights = [config.mixed_weight if piece.mixed else 1.0 for piece in pieces]
    cosines = np.zeros((len(pieces) + 1, directions.shape[1]), np.float32)
    for place, piece in enumerate(pieces):
        cosines[place] = piece.vector * weights[place]
    scores, count = np.zeros((len(directions), size), np.float32), np.zeros(size, np.float32)
    for start, window in zip(activity.starts, activity.voices, strict=True):
        frames = slice(start, start + WINDOW_FRAMES)
        count[frames] += 1.0
        seconds = window.sum(axis=1) * FRAME_SECONDS
        speaking = np.flatnonzero(seconds >= config.shortest)
        said = window[speaking] @ cosines[heard[frames]]
        norms = np.maximum(np.linalg.norm(said, axis=1, keepdims=True), 1e-9)
        say = np.sqrt(np.minimum(seconds[speaking], config.longest))[:, None]
        for row, column in zip(*linear_sum_assignment(-say * (1.0 + said / norms @ directions.T)), strict=True):
            scores[column, frames] += window[speaking[row]]
    mean: Samples = (scores / np.maximum(count, 1.0))[:, : activity.frames].astype(np.float32)
    return mean
