"""Does the end of a session join fragments, and never two people? Kept embeddings of real speakers, folded in sessions.

`python -m tests.bench.merging [--quick] [--json PATH]`
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from service.identity.merging import Merge, MergeConfig, Pair, SessionEvidence, merges, overlaid
from service.identity.metrics import share_interval
from service.identity.router import NO_TRACK, FoldState, RouterConfig, settle, step
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.people import PersonVoice, TurnEvidence, Unresolved
from tests.bench.report import Report, alone

SPACE = EmbeddingSpace("campplus", "kept", 192)
SAME_READER = "L8226"
"""Looks like the same reader as L4267: left out."""
SHIFTS = ("clean", "opus12k", "babble10", "babble5", "reverb", "reverb_babble15")
"""conditions of core_conditions.npz; each utterance is heard in three of them"""
POOLS: Mapping[str, tuple[str, ...]] = {"emotion": ("emodb",), "mixed": ("emodb", "ami", "core_conditions")}
SPEAKERS, TURNS = 3, 3
"""of a session; turns of each speaker"""
HALVES = {"set_on": 0, "tried_on": 1}
"""speakers that the threshold was set on, and others"""

Pool = dict[str, list[tuple[Samples, float]]]
"""speaker → (unit vector, seconds) of each utterance"""


@dataclass
class Outcome:
    """What became of the turns of one space."""

    voices: dict[str, PersonVoice] = field(default_factory=dict)
    spoke: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """person → speakers of the turns put down to them"""
    right: int = 0
    wrong: int = 0
    apart: set[Pair] = field(default_factory=set)

    def fragments(self) -> int:
        """People beyond the first for each speaker, each counted for whom most of its turns are."""
        merged: dict[str, Counter[str]] = defaultdict(Counter)
        for person, speakers in self.spoke.items():
            merged[self._root(person)] += speakers
        mostly = Counter(speakers.most_common(1)[0][0] for speakers in merged.values())
        return sum(people - 1 for people in mostly.values())

    def join(self, made: tuple[Merge, ...]) -> None:
        for merge in made:
            one, two = self._mostly(merge.person_id), self._mostly(merge.into)
            self.right += one == two
            self.wrong += one != two
            self.voices = overlaid(self.voices, [merge])

    def _mostly(self, root: str) -> str:
        speakers = sum((c for p, c in self.spoke.items() if self._root(p) == root), Counter[str]())
        return speakers.most_common(1)[0][0]

    def _root(self, person: str) -> str:
        voice = self.voices.get(person)
        return (voice.same_as if voice else None) or person


def run(report: Report, quick: bool, shared: Path) -> None:
    for half, number in HALVES.items():
        for name, files in POOLS.items():
            before, right, wrong = 0, 0, 0
            for seed in range(1 if quick else 3):
                pool = _pool(shared, files, number, np.random.default_rng(seed))
                for tracks in (False, True):
                    before += _fold(pool, seed, tracks, None).fragments()
                    outcome = _fold(pool, seed, tracks, MergeConfig())
                    right, wrong = right + outcome.right, wrong + outcome.wrong
            condition, made = f"{half}/{name}", right + wrong
            if made:
                report.add("merge_precision", condition, "ours", right / made, "share", made, share_interval(right, made))
            report.add("wrong_merges", condition, "ours", wrong, "count", made)
            report.add("fragments_joined", condition, "ours", right / max(before, 1), "share", before)


def _fold(pool: Pool, seed: int, tracks: bool, config: MergeConfig | None) -> Outcome:
    """All utterances in sessions, with a track for each speaker or none; fragments joined after each, or never."""
    outcome, router = Outcome(), RouterConfig()
    for number, session in enumerate(_sessions(pool, np.random.default_rng(seed))):
        turns = [_turn(number, i, speaker if tracks else None, *heard) for i, (speaker, heard) in enumerate(session)]
        state, decisions = step(FoldState().with_gallery(outcome.voices), turns, router)
        state, settled = settle(state, router)
        final = {d.message_id: d for d in (*decisions, *settled)}
        for turn, (speaker, _) in zip(turns, session, strict=True):
            decision = final[turn.message_id]
            if not isinstance(decision, Unresolved):
                outcome.spoke[decision.person_id][speaker] += 1
        outcome.voices = dict(state.gallery)
        if config is not None:
            evidence = SessionEvidence.of(state)
            outcome.apart |= evidence.apart
            outcome.join(merges(outcome.voices, evidence, config=config, apart=frozenset(outcome.apart)).merges)
    return outcome


def _turn(session: int, index: int, speaker: str | None, vector: Samples, seconds: float) -> TurnEvidence:
    track, start = NO_TRACK if speaker is None else f"{session}/{speaker}", 30.0 * index
    voice = SpeakerEmbedding(vector, SPACE)
    return TurnEvidence(f"{session}/{index}", track, start, start + seconds, seconds, 0.0, 25.0, "wideband", voice)


def _sessions(pool: Pool, rng: np.random.Generator) -> Iterator[list[tuple[str, tuple[Samples, float]]]]:
    """No utterance twice; until fewer than two speakers have any left."""
    left = {speaker: [int(i) for i in rng.permutation(len(heard))] for speaker, heard in pool.items()}
    while len(alive := [s for s in left if left[s]]) >= 2:
        present = [str(s) for s in rng.choice(alive, min(SPEAKERS, len(alive)), replace=False)]
        session = [(s, pool[s][left[s].pop()]) for s in present for _ in range(min(TURNS, len(left[s])))]
        yield [session[i] for i in rng.permutation(len(session))]


def _pool(shared: Path, files: tuple[str, ...], half: int, rng: np.random.Generator) -> Pool:
    pool: Pool = defaultdict(list)
    for file in files:
        data = np.load(shared / "embeddings" / f"{file}.npz")
        for i, speaker in enumerate(data["speaker"]):
            if speaker == SAME_READER or zlib.crc32(str(speaker).encode()) % 2 != half:
                continue
            shifts = rng.choice(SHIFTS, 3, replace=False) if file == "core_conditions" else ("clean",)
            for shift in shifts:
                vector = data[str(shift)][i].astype(np.float32)
                unit = (vector / np.linalg.norm(vector)).astype(np.float32)
                pool[str(speaker)].append((unit, max(2.0, float(data["seconds"][i]))))
    return pool


if __name__ == "__main__":
    alone("merging", __doc__, run)
