"""Which pieces of speech are one voice, and which voices of a new block were heard before?

Average linkage with a threshold calibrated on the block itself: the segmentation knows that two voices of one window are two
people and that one voice is mostly one, whatever the microphone does to embeddings. Between what different people score and
what one person scores, `rise` of the way up is where one voice begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linear_sum_assignment

from service.audio.pieces import Piece
from service.audio.segmentation import WINDOW_FRAMES, Activity
from service.types.audio import Samples

Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClusteringConfig:
    """Cosines are CAM++'s, of pieces of 1–2 s; other encoders calibrate themselves on blocks with several voices."""

    different: float = 0.08
    """Different people in one wideband recording, before anything is seen: means were 0.07 in read speech, 0.10 in meetings."""
    different_telephone: float = 0.35
    """The same on a telephone line (0.31 for real 8 kHz speech, 0.42 for GSM)."""
    same: float = 0.55
    """One person, before anything is seen (0.54 in meetings and for 1 s against 1 s of read speech)."""
    prior_pairs: int = 10
    """How many pairs of pieces the values before count for."""
    same_percentile: float = 75.0
    """Of the pairs the segmentation holds for one voice; it is often wrong there, so the upper ones are believed."""
    rise: float = 0.33
    """Chosen on AMI excerpts and made conversations (wideband, telephone, synthetic), flat from 0.3 to 0.37."""
    lowest: float = 0.15
    highest: float = 0.6
    """Limits of the threshold."""
    trusted: float = 1.0
    """Seconds a piece must have to decide which voices there are; shorter ones only join one."""
    smallest: float = 1.5
    """Seconds of trusted pieces a voice must have, else its pieces join others; unless it is the only one."""
    rounds: int = 2
    """Of moving each piece to its nearest voice and taking the means again."""
    parted: float = 0.62
    """Cosine between the two halves of a voice, over that within them, under which they are two people. Two alike voices that
    the threshold took for one: 0.44–0.58 in ten made conversations, 0.60 in a meeting; halves of one person: 0.75 and more."""
    parted_by: float = 2.5
    """Pooled standard deviations of these cosines that they must lie apart besides: 3.0–5.2 for two people, 0.7–2.6 for one."""
    parted_least: float = 3.0
    """Seconds of trusted pieces each half must have: fewer are an outlier, or a cough, as often as somebody."""


@dataclass(frozen=True, slots=True)
class Voice:
    """The pieces of one voice, summed up: of two voices the product of `mean` is the mean cosine between their pieces."""

    mean: Samples
    """Shape (dimension,), weighted by duration, not normalised."""
    duration: float

    @property
    def direction(self) -> Samples:
        unit: Samples = self.mean / max(float(np.linalg.norm(self.mean)), 1e-9)
        return unit

    def with_(self, other: Voice) -> Voice:
        total = self.duration + other.duration
        mean = (self.mean * self.duration + other.mean * other.duration) / total
        return Voice(mean.astype(np.float32), total)


def threshold(pieces: Sequence[Piece], activity: Activity, config: ClusteringConfig, *, telephone: bool) -> float:
    """Mean cosine between two groups of pieces from which they are one voice in this block."""
    same, different = _known_pairs([piece for piece in pieces if not piece.mixed], activity)
    return _limit(same, different, config, telephone)


def prior_threshold(config: ClusteringConfig, *, telephone: bool) -> float:
    """`threshold` where no segmentation tells which pieces are one voice's."""
    nothing = np.zeros(0, np.float32)
    return _limit(nothing, nothing, config, telephone)


def _limit(same: Samples, different: Samples, config: ClusteringConfig, telephone: bool) -> float:
    prior = config.different_telephone if telephone else config.different
    low = _with_prior(different, 50.0, prior, config)
    high = _with_prior(same, config.same_percentile, max(config.same, prior + 0.25), config)
    return float(np.clip(low + config.rise * (high - low), config.lowest, config.highest))


def voices(pieces: Sequence[Piece], limit: float, config: ClusteringConfig) -> list[Voice]:
    """The voices that `pieces` hold, in the order in which they are first heard; none for no pieces."""
    single = [piece for piece in pieces if not piece.mixed] or list(pieces)
    trusted = [piece for piece in single if piece.duration >= config.trusted] or single
    if not trusted:
        return []
    found = _grouped(trusted, _parted(trusted, _linked(trusted, limit), config))
    kept = [voice for voice in found if voice.duration >= config.smallest] or [max(found, key=lambda voice: voice.duration)]
    for _ in range(config.rounds):
        nearest = np.argmax(_vectors(single) @ np.stack([voice.direction for voice in kept]).T, axis=1)
        moved = [voice for voice in _grouped(single, nearest) if voice.duration >= config.smallest]
        kept = moved or kept
    return kept


def recognised(found: Sequence[Voice], known: Sequence[Voice], limit: float) -> list[int | None]:
    """For each found voice the place of the known one that it is, None for a new one; nobody is taken twice."""
    if not found or not known:
        return [None] * len(found)
    cosines = np.stack([voice.mean for voice in found]) @ np.stack([voice.mean for voice in known]).T
    places: list[int | None] = [None] * len(found)
    for row, column in zip(*linear_sum_assignment(-np.where(cosines >= limit, cosines, -1.0)), strict=True):
        if cosines[row, column] >= limit:
            places[int(row)] = int(column)
    return places


def numbered(found: Sequence[Voice], tracks: list[Voice], limit: float) -> list[int]:
    """The place of each voice among the session's `tracks`, which learn it, or are joined by it when it is new."""
    numbers = []
    for voice, place in zip(found, recognised(found, tracks, limit), strict=True):
        if place is None:
            tracks.append(voice)
            place = len(tracks) - 1
        else:
            tracks[place] = tracks[place].with_(voice)
        numbers.append(place)
    return numbers


def nearest(piece: Piece, among: Sequence[Voice]) -> int:
    """The place of the voice that `piece` is most like."""
    return int(np.argmax([float(voice.direction @ piece.vector) for voice in among]))


def _known_pairs(pieces: Sequence[Piece], activity: Activity) -> tuple[Samples, Samples]:
    """Cosines of the pairs that nearly all windows seeing both give to one voice, and of those they give to two."""
    count = len(pieces)
    together, alike = np.zeros((count, count)), np.zeros((count, count))
    firsts = np.array([piece.first for piece in pieces], int)
    lasts = np.array([piece.last for piece in pieces], int)
    for start, window in zip(activity.starts, activity.voices, strict=True):
        seen = np.flatnonzero((firsts >= start) & (lasts <= start + WINDOW_FRAMES))
        shares = [(int(i), window[:, firsts[i] - start : lasts[i] - start].mean(axis=1)) for i in seen]
        clear = [(i, int(share.argmax())) for i, share in shares if share.max() > 0.5]
        places = np.array([i for i, _ in clear], int)
        owners = np.array([owner for _, owner in clear], int)
        together[np.ix_(places, places)] += 1
        alike[np.ix_(places, places)] += owners[:, None] == owners[None]
    rows, columns = np.nonzero(np.triu(together >= 2, k=1))
    if not len(rows):
        return np.zeros(0, np.float32), np.zeros(0, np.float32)
    vectors = _vectors(pieces)
    cosines: Samples = np.einsum("nd,nd->n", vectors[rows], vectors[columns])
    share = alike[rows, columns] / together[rows, columns]
    return cosines[share >= 0.8], cosines[share <= 0.2]


def _with_prior(seen: Samples, percentile: float, prior: float, config: ClusteringConfig) -> float:
    value = float(np.percentile(seen, percentile)) if len(seen) else 0.0
    return (len(seen) * value + config.prior_pairs * prior) / (len(seen) + config.prior_pairs)


def _linked(pieces: Sequence[Piece], limit: float) -> Labels:
    if len(pieces) == 1:
        return np.zeros(1, np.int64)
    tree = linkage(_vectors(pieces), method="average", metric="cosine")
    labels: Labels = fcluster(np.maximum(tree, 0.0), 1.0 - limit, criterion="distance").astype(np.int64)
    return labels


def _parted(pieces: Sequence[Piece], labels: Labels, config: ClusteringConfig) -> Labels:
    """Labels with each group that is plainly two voices (or more) made two: a threshold between what most people score and what
    one does takes two sisters for one."""
    parted = labels.copy()
    for label in dict.fromkeys(labels.tolist()):
        for halves in _halves(pieces, np.flatnonzero(labels == label), config)[1:]:
            parted[halves] = parted.max() + 1
    return parted


def _halves(pieces: Sequence[Piece], places: Labels, config: ClusteringConfig) -> list[Labels]:
    """`places` as the voices they hold, the earliest first."""
    if len(places) < 4:
        return [places]
    vectors = _vectors([pieces[i] for i in places])
    half = fcluster(np.maximum(linkage(vectors, method="average", metric="cosine"), 0.0), 2, criterion="maxclust") == 1
    if half.all():  # no two of them differ: a sound that is repeated exactly
        return [places]
    seconds = [sum(pieces[i].duration for i in places[side]) for side in (half, ~half)]
    if min(seconds) < config.parted_least:
        larger = half if seconds[0] >= seconds[1] else ~half
        first, *others = _halves(pieces, places[larger], config)
        return [np.sort(np.concatenate([first, places[~larger]])), *others]
    cosines, pairs = vectors @ vectors.T, np.triu(np.ones((len(places), len(places)), bool), 1)
    across = half[:, None] != half[None]
    within, between = cosines[pairs & ~across], cosines[pairs & across]
    spread = float(np.sqrt((within.var() + between.var()) / 2))
    if between.mean() >= config.parted * within.mean() or within.mean() - between.mean() < config.parted_by * spread:
        return [places]
    return sorted((part for side in (half, ~half) for part in _halves(pieces, places[side], config)), key=lambda p: int(p[0]))


def _grouped(pieces: Sequence[Piece], labels: Labels) -> list[Voice]:
    """One Voice a label, in order of first appearance."""
    order = list(dict.fromkeys(int(label) for label in labels))
    return [_voice([piece for piece, own in zip(pieces, labels, strict=True) if own == label]) for label in order]


def _voice(pieces: Sequence[Piece]) -> Voice:
    durations = np.array([piece.duration for piece in pieces], np.float32)
    mean = (_vectors(pieces) * durations[:, None]).sum(axis=0) / durations.sum()
    return Voice(mean.astype(np.float32), float(durations.sum()))


def _vectors(pieces: Sequence[Piece]) -> Samples:
    return np.stack([piece.vector for piece in pieces])
