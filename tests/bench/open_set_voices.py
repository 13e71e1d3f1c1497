"""Whose voices meet an open set of people: real speakers with their clips, whole and cut, and which of them never meet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.identity.channels import channel_means, compensated
from service.identity.thresholds import CAMPPLUS, TELEPHONE, ChannelPair, FalseAccepts, Thresholds
from service.types.audio import EmbeddingSpace, Samples
from service.types.people import Exemplar, PersonVoice
from tests.bench.locomo_id.assign import LEFT_OUT
from tests.bench.locomo_id.voices import Bank

SPACE = EmbeddingSpace("campplus", "kept", 192)
WIDEBAND = "wideband"
READ = ("libri_other", "libri_chap", "libri_tc100", "vctk")
"""Sets of read speech, clean: those that CAM++'s thresholds were set on."""
LEAST_TO_ENROL = 3.0
"""Seconds, as the service's enrolment demands (EnrolConfig.min_speech); who has no such clip gives their longest."""
WIDE_SHIFTS = ("opus12k", "babble10", "reverb")
"""Conditions of core_conditions.npz that are heard as wideband, besides clean."""


@dataclass(frozen=True, slots=True)
class Clip:
    """One utterance as the router hears it."""

    id: str
    """The sound it was cut from: clips that share it never meet."""
    seconds: float
    vector: Samples
    channel: str = WIDEBAND
    twin: Samples | None = None
    """The same sound made narrow, for an enrolment that keeps a telephone twin."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """One person's clips from one source: some may enrol them, some are heard later (by seconds cut to; None: whole)."""

    name: str
    enrolling: tuple[Clip, ...]
    heard: Mapping[float | None, tuple[Clip, ...]]


def kept_whole(shared: Path) -> list[Speaker]:
    """267 people reading, 1,103 clips of 1.6 to 8 s: the embeddings of speech.md."""
    clips: dict[str, list[Clip]] = defaultdict(list)
    for name in READ:
        with np.load(shared / "embeddings" / f"{name}.npz") as data:
            rows = zip(
                data["speaker"].tolist(), data["utt"].tolist(), data["seconds"].tolist(), _unit(data["clean"]), strict=True
            )
            for speaker, utterance, seconds, vector in rows:
                clips[speaker].append(Clip(utterance, min(seconds, 8.0), vector))
    return [_speaker(name, of, {None: of}) for name, of in sorted(clips.items()) if name not in LEFT_OUT]


def kept_lengths(shared: Path) -> list[Speaker]:
    """84 of them, 295 longer clips, each cut to 1, 2, 3 and 5 s."""
    enrolling: dict[str, list[Clip]] = defaultdict(list)
    heard: dict[str, dict[float | None, list[Clip]]] = defaultdict(lambda: defaultdict(list))
    with np.load(shared / "embeddings" / "core_lengths.npz") as data:
        cuts = {seconds: _unit(data[f"len{seconds}"]) for seconds in (1, 2, 3, 5)}
        for row, name in enumerate(data["speaker"].tolist()):
            enrolling[name].append(Clip(f"lengths/{row}", 5.0, cuts[5][row]))
            for seconds, vectors in cuts.items():
                heard[name][float(seconds)].append(Clip(f"lengths/{row}", float(seconds), vectors[row]))
    return [_speaker(name, of, heard[name]) for name, of in sorted(enrolling.items()) if name not in LEFT_OUT]


def recorded(bank: Bank, sources: Iterable[str], lengths: Sequence[float | None], shift: str = "clean") -> list[Speaker]:
    """Real speakers of `sources`, enrolled by a clean whole clip and heard under `shift`, cut to each of `lengths`."""
    speakers = []
    for voice in (v for source in sources for v in bank.voices("real", source) if v not in LEFT_OUT):
        every = bank.utterances(voice)
        whole = [Clip(u.id, u.seconds, bank.embedding(u), bank.channel(u)) for u in every]
        heard = {
            length: [
                Clip(u.id, length or u.seconds, bank.embedding(u, shift, length), bank.channel(u, shift, length))
                for u in every
                if length is None or u.seconds >= length
            ]
            for length in lengths
        }
        speakers.append(_speaker(voice, whole, heard))
    return speakers


def kept_conditions(shared: Path, heard: str, channel: str) -> list[Speaker]:
    """262 people with 684 clips, enrolled clean (with the band-limited sound as a twin) and heard under `heard`."""
    enrolling: dict[str, list[Clip]] = defaultdict(list)
    later: dict[str, list[Clip]] = defaultdict(list)
    with np.load(shared / "embeddings" / "core_conditions.npz") as data:
        clean, narrow, probe = (_unit(data[condition]) for condition in ("clean", "band", heard))
        seconds = np.minimum(data["seconds"].astype(float), 8.0)
        for row, name in enumerate(data["speaker"].tolist()):
            enrolling[name].append(Clip(f"core/{row}", float(seconds[row]), clean[row], twin=narrow[row]))
            later[name].append(Clip(f"core/{row}", float(seconds[row]), probe[row], channel))
    return [_speaker(name, of, {None: later[name]}) for name, of in sorted(enrolling.items()) if name not in LEFT_OUT]


def _speaker(name: str, clips: Sequence[Clip], heard: Mapping[float | None, Sequence[Clip]]) -> Speaker:
    long = [clip for clip in clips if clip.seconds >= LEAST_TO_ENROL] or [max(clips, key=lambda c: c.seconds)]
    return Speaker(name, tuple(long), {length: tuple(of) for length, of in heard.items()})


def halves(names: Iterable[str], seed: int = 7) -> tuple[frozenset[str], frozenset[str]]:
    """Two halves of the people by lot."""
    order = np.random.default_rng(seed).permutation(sorted(set(names))).tolist()
    return frozenset(order[: len(order) // 2]), frozenset(order[len(order) // 2 :])


def person(name: str, clip: Clip, *, twin: bool = False, also: Clip | None = None) -> PersonVoice:
    """Somebody enrolled by one clip, with its telephone twin where asked, and `also` heard another time."""
    exemplars = [_exemplar(clip)]
    if twin and clip.twin is not None:
        narrow = Exemplar(f"twin-{clip.id}", clip.twin, clip.seconds, 30.0, TELEPHONE, f"m-{clip.id}", f"e-{clip.id}")
        exemplars.append(narrow)
    if also is not None:
        exemplars.append(_exemplar(also))
    return PersonVoice(name, SPACE, clip.vector, tuple(exemplars), 1, clip.seconds)


def _exemplar(clip: Clip) -> Exemplar:
    return Exemplar(f"e-{clip.channel}-{clip.id}", clip.vector, clip.seconds, 30.0, clip.channel, f"m-{clip.id}")


def fitted(shared: Path, names: frozenset[str], base: Thresholds = CAMPPLUS) -> Thresholds:
    """`base` with what pairs of different people among `names` reach, measured as for CAMPPLUS, raw and without the means of
    the channels. The rest of `base` stays: τ_update, the caps of τ_create, the slope beyond the table."""
    with np.load(shared / "embeddings" / "core_conditions.npz") as data:
        rows = np.flatnonzero(np.isin(data["speaker"], sorted(names)))
        speakers, vectors = data["speaker"][rows], {c: _unit(data[c][rows]) for c in ("clean", *WIDE_SHIFTS, "tel_gsm")}
        twins = _unit(vectors["clean"] + _unit(data["band"][rows]))
    found: dict[ChannelPair, list[npt.NDArray[np.float64]]] = defaultdict(list)
    _note(found, vectors, speakers, (ChannelPair.WIDEBAND, ChannelPair.CROSS, ChannelPair.TELEPHONE))
    some, rest = (np.isin(speakers, sorted(quarter)) for quarter in halves(names, seed=11))
    for meaning, paired in ((some, rest), (rest, some)):  # a mean knows its own people: theirs are not the pairs
        left = {c: _without_mean(of, c, vectors, speakers, meaning)[paired] for c, of in vectors.items()}
        kinds = (ChannelPair.COMPENSATED, ChannelPair.COMPENSATED_CROSS, ChannelPair.COMPENSATED_TELEPHONE)
        _note(found, left, speakers[paired], kinds, WIDE_SHIFTS)
    measured = {pair: FalseAccepts.measured(np.concatenate(cosines)) for pair, cosines in found.items()}
    twin = FalseAccepts.measured(_impostors(twins, vectors["tel_gsm"], speakers))
    halved = replace(twin, cosines=tuple(twin.threshold(rate / 2) for rate in twin.rates))  # a second chance beside CROSS
    return replace(
        base, pairs={**base.pairs, **measured, ChannelPair.TWIN: halved}, origin="fitted on the other half of the speakers"
    )


def _note(
    found: dict[ChannelPair, list[npt.NDArray[np.float64]]],
    vectors: Mapping[str, Samples],
    speakers: npt.NDArray[np.str_],
    kinds: tuple[ChannelPair, ChannelPair, ChannelPair],
    shifts: Sequence[str] = (),
) -> None:
    """Add cosines of different people to `found`, for (wideband, across, telephone); `shifts` alone and with clean."""
    clean, narrow = vectors["clean"], vectors["tel_gsm"]
    found[kinds[0]].append(_impostors(clean, clean, speakers))
    for shift in shifts:
        found[kinds[0]] += [_impostors(clean, vectors[shift], speakers), _impostors(vectors[shift], vectors[shift], speakers)]
    found[kinds[1]].append(_impostors(clean, narrow, speakers))
    found[kinds[2]].append(_impostors(narrow, narrow, speakers))


def _without_mean(
    of: Samples, condition: str, vectors: Mapping[str, Samples], speakers: npt.NDArray[np.str_], meaning: npt.NDArray[np.bool_]
) -> Samples:
    """`of` without the mean that the people in `meaning` gave its channel: clean speech the wideband one."""
    channel, source = (TELEPHONE, "tel_gsm") if condition == "tel_gsm" else (WIDEBAND, "clean")
    said: dict[str, list[Exemplar]] = defaultdict(list)
    for row in np.flatnonzero(meaning).tolist():
        said[str(speakers[row])].append(_exemplar(Clip(str(row), 3.0, vectors[source][row], channel)))
    means = channel_means(said)
    return np.stack([v if (rest := compensated(v, channel, means)) is None else rest for v in of])


def _impostors(one: Samples, other: Samples, speakers: npt.NDArray[np.str_]) -> npt.NDArray[np.float64]:
    """Cosines of pairs of different people, each once."""
    different = speakers[:, None] != speakers[None]
    chosen = np.triu(different, 1) if one is other else different
    cosines: npt.NDArray[np.float64] = (one @ other.T)[chosen].astype(np.float64)
    return cosines


def _unit(vectors: np.ndarray) -> Samples:
    wide = vectors.astype(np.float32)
    unit: Samples = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return unit
