"""Who speaks with whose voice in which collection, and which utterance is heard in which turn?

People come out of the stream, as in the paper: nobody is enrolled. What asks is never what was said: each collection keeps
some of a voice's utterances for its questions alone. Voices are given out by lot, whatever the sex of the LoCoMo speaker:
half of the pairs are of one sex, and nothing that routes knows names.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tests.bench.locomo_id.shifts import SHIFTS
from tests.bench.locomo_id.voices import Bank, Utterance

SEED = 4
"""Of every lot below."""
ASSIGNMENTS = 3
"""Of voices to each conversation, as in LoCoMo-ID: 30 collections."""
ASKING_SHARE = 0.25
"""Of a voice's utterances are kept for questions: 18 of about 73 in the bank, 2 of 10 of a real speaker."""
LEAST_TO_ASK = 3
"""Utterances a voice must have to ask too: with fewer, all are needed for the history."""
RECORDINGS = SHIFTS[1:]
"""What a shifted collection sounds like: each voice of each session one of them, by lot."""

TOO_ALIKE = (
    ("am_fenrir", "am_puck"),
    ("af_heart", "af_bella"),
    ("bm_fable", "am_echo"),
    ("af_nova", "af_heart"),
    ("L4267", "L8226"),
)
"""Pairs that ../shared/data/README.md forbids together, and two LibriSpeech numbers that seem to be one reader."""
LEFT_OUT = ("am_puck", "af_heart", "am_echo", "L8226")
"""One of each such pair, everywhere: so all collections can also be one space."""


@dataclass(frozen=True, slots=True)
class Cast:
    """The voices of one collection."""

    name: str
    """"conv-26/0": conversation and number of the assignment, or "conv-26/four"."""
    conversation: str
    voices: Mapping[tuple[int, str], str]
    """(story, speaker's name) → voice. Story 0 is LoCoMo's, 1 its parallel copy in the collections of four."""


def usable(bank: Bank, corpus: str = "synthetic") -> list[str]:
    """Voices of which no two are too alike."""
    return [voice for voice in bank.voices(corpus) if voice not in LEFT_OUT]


def two_voices(speakers: Mapping[str, tuple[str, str]], voices: Sequence[str], *, seed: int = SEED) -> list[Cast]:
    """`speakers`: conversation → its two names. Three assignments of all conversations; within one assignment no voice serves
    twice, and the six voices of a conversation are six. Needs two voices a conversation."""
    rng = np.random.default_rng(seed)
    had: dict[str, set[str]] = {conversation: set() for conversation in speakers}
    casts: list[Cast] = []
    for number in range(ASSIGNMENTS):
        lot = _lot(rng, list(speakers), list(voices), had)
        for conversation, pair in lot.items():
            had[conversation] |= set(pair)
            names = speakers[conversation]
            casts.append(Cast(f"{conversation}/{number}", conversation, {(0, n): v for n, v in zip(names, pair, strict=True)}))
    return casts


def _lot(
    rng: np.random.Generator, conversations: list[str], voices: list[str], had: Mapping[str, set[str]]
) -> dict[str, tuple[str, str]]:
    """Two voices for each conversation, all different, none that it has had; drawn again until that holds."""
    while True:
        drawn = rng.permutation(voices)[: 2 * len(conversations)].reshape(-1, 2).tolist()
        lot = {c: (one, other) for c, (one, other) in zip(conversations, drawn, strict=True)}
        if not any(had[c] & set(pair) for c, pair in lot.items()):
            return lot


def four_voices(speakers: Mapping[str, tuple[str, str]], voices: Sequence[str], *, seed: int = SEED) -> list[Cast]:
    """A collection for each conversation with its parallel copy: four voices, those used least so far first."""
    rng = np.random.default_rng([seed, 4])
    used: Counter[str] = Counter()
    casts = []
    for conversation, names in speakers.items():
        order = sorted(rng.permutation(voices).tolist(), key=lambda voice: used[voice])[:4]
        used.update(order)
        roles = [(story, name) for story in (0, 1) for name in names]
        casts.append(Cast(f"{conversation}/four", conversation, dict(zip(roles, order, strict=True))))
    return casts


def recording(collection: str, session: str, voice: str, recordings: Sequence[str] = RECORDINGS, *, seed: int = SEED) -> str:
    """What `voice` is recorded with throughout a session: people change their microphone between calls, not within one."""
    return recordings[zlib.crc32(f"{seed} {collection} {session} {voice}".encode()) % len(recordings)]


class Supply:
    """Deals out the utterances of one collection: none serves twice while others of its voice are left, and those that ask
    are never heard in the history."""

    def __init__(self, bank: Bank, voices: Iterable[str], *, seed: int = SEED, asking: float = ASKING_SHARE) -> None:
        self._rng = np.random.default_rng(seed)
        self._said: dict[str, list[Utterance]] = {}
        self._asked: dict[str, list[Utterance]] = {}
        for voice in sorted(set(voices)):
            of_voice = bank.utterances(voice)
            shuffled = [of_voice[i] for i in self._rng.permutation(len(of_voice)).tolist()]
            num_asking = max(1, math.floor(len(of_voice) * asking)) if asking and len(of_voice) >= LEAST_TO_ASK else 0
            self._asked[voice], self._said[voice] = shuffled[:num_asking], shuffled[num_asking:]
        self._used: Counter[str] = Counter()
        self._used_under: Counter[tuple[str, str]] = Counter()

    def said(self, voice: str, shift: str = "clean") -> Utterance:
        """For the next turn of `voice`. What serves again does so under another shift as long as there is one."""
        return self._next(self._said[voice], shift)

    def asked(self, voice: str, shift: str = "clean") -> Utterance:
        """For the next question of `voice`; see `may_ask`."""
        return self._next(self._asked[voice], shift)

    def may_ask(self, voice: str) -> bool:
        return bool(self._asked[voice])

    def num_said(self, voice: str) -> int:
        """Utterances of `voice` for the history: turns beyond that hear some again."""
        return len(self._said[voice])

    def _next(self, pool: Sequence[Utterance], shift: str) -> Utterance:
        draws = self._rng.random(len(pool)).tolist()
        counts = [(self._used[u.id], self._used_under[u.id, shift], draw) for u, draw in zip(pool, draws, strict=True)]
        chosen = pool[min(range(len(pool)), key=counts.__getitem__)]
        self._used[chosen.id] += 1
        self._used_under[chosen.id, shift] += 1
        return chosen


@dataclass(frozen=True, slots=True)
class Meeting:
    """One session of real speakers: whose utterances are heard in which order, and as what."""

    name: str
    turns: tuple[tuple[Utterance, str], ...]
    """(utterance, shift)"""


def meetings(
    bank: Bank, recordings: Sequence[str] = ("clean",), *, speakers: int = 4, seed: int = SEED
) -> tuple[list[Meeting], list[tuple[Utterance, str]]]:
    """All usable real speakers in sessions of about `speakers`, each speaker in as many sessions as may be (two at least who
    has two utterances), and the questions they ask afterwards. Every utterance serves once.

    `recordings`: ("clean",), or RECORDINGS for the shifted space."""
    rng = np.random.default_rng([seed, speakers])
    supply = Supply(bank, voices := usable(bank, "real"), seed=seed)
    left = {voice: supply.num_said(voice) for voice in voices}
    asked = [(supply.asked(v, s), s) for v in voices for i in range(_num_asks(bank, v)) for s in [_one(rng, recordings)]]
    held: list[Meeting] = []
    while any(left.values()):
        here = sorted(rng.permutation([v for v in voices if left[v]]).tolist(), key=lambda v: -left[v])[: speakers * 4]
        for group in np.array_split(np.array(here), max(1, len(here) // speakers)):
            held.append(_meeting(f"real/{len(held)}", group.tolist(), left, supply, rng, recordings, seed))
    return held, asked


def _meeting(
    name: str,
    here: Sequence[str],
    left: dict[str, int],
    supply: Supply,
    rng: np.random.Generator,
    recordings: Sequence[str],
    seed: int,
) -> Meeting:
    """Each of `here` says up to three things, half of what they have left; spoken in any order."""
    says = [voice for voice in here for _ in range(min(3, math.ceil(left[voice] / 2)))]
    turns = []
    for voice in rng.permutation(says).tolist():
        left[voice] -= 1
        shift = recording("real", name, voice, recordings, seed=seed)
        turns.append((supply.said(voice, shift), shift))
    return Meeting(name, tuple(turns))


def _num_asks(bank: Bank, voice: str) -> int:
    count = len(bank.utterances(voice))
    return max(1, math.floor(count * ASKING_SHARE)) if count >= LEAST_TO_ASK else 0


def _one(rng: np.random.Generator, recordings: Sequence[str]) -> str:
    return recordings[int(rng.integers(len(recordings)))]


def alike(bank: Bank, voices: Iterable[str], cosine: float = 0.65) -> list[tuple[str, str, float]]:
    """Pairs of voices whose mean clean embeddings reach `cosine`, most alike first: what TOO_ALIKE is checked against."""
    means = {}
    for voice in voices:
        mean = np.mean([bank.embedding(u) for u in bank.utterances(voice)], axis=0)
        means[voice] = mean / np.linalg.norm(mean)
    pairs = [(one, other, float(means[one] @ means[other])) for one, other in combinations(sorted(means), 2)]
    return sorted((p for p in pairs if p[2] >= cosine), key=lambda p: -p[2])
