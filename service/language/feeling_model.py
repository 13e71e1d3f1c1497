"""How does somebody feel in what they say? As a language model reads it; what it gives is checked, or dropped. It is shown
turns of one speaker at a time, and is not told who that is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from service.language.prompts import FEELINGS, fenced, one_line
from service.language.windows import Window, answered, windows
from service.types.affect import Aspect, Emotion, FeltTurn, Mark, SaidFeelings
from service.types.chat import ChatModel, Prompt
from service.types.facts import ADDRESSEE
from service.types.names import folded

TargetCheck = Callable[[str], bool]
"""Whether words tell whom or what a feeling is about, and do not only point to it: Ben, the sea; not everybody, not it."""

_ARTICLES = re.compile(r"^(?:(?:the|a|an|some|any|all|this|that|these|those)\s+)+|[\s.,!?;:]+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GivenMark:
    """As the model writes it."""

    aspect: Aspect
    emotion: Emotion | None
    polarity: float
    intensity: float
    target: str | None
    to_addressee: bool
    cause: str | None
    changed: bool


@dataclass(frozen=True, slots=True)
class GivenTurn:
    turn: int
    valence: float
    arousal: float
    marks: tuple[GivenMark, ...]


@dataclass(frozen=True, slots=True)
class GivenFeelings:
    turns: tuple[GivenTurn, ...]


@dataclass(frozen=True, slots=True)
class FeelingModelConfig:
    batch: int = 20  # turns a request: the instructions are about 500 tokens, twenty turns 600
    max_tokens: int = 2_000  # of a reply: few turns show anything, and each mark takes about 70
    at_once: int = 4  # batches; the rest waits, and is not begun once one has failed
    max_unread: float = 0.05  # of a session's turns, but one at least, may get no fit answer; more: it is the wrong model
    everyday: float = 0.4  # arousal of talk that tells nothing, as by the lexicon
    max_marks: int = 8  # of one turn: nobody shows more in one breath
    max_target: int = 6  # words, as by the lexicon
    max_cause: int = 12  # words, as by the lexicon


class FeelingModel:
    """A FeelingReader. The model never sees a turn beside one of somebody else, or one that some readers of it may not read."""

    def __init__(self, chat: ChatModel, check: TargetCheck, config: FeelingModelConfig | None = None) -> None:
        self._chat, self._check, self._config = chat, check, config or FeelingModelConfig()

    @property
    def name(self) -> str:
        return f"model:{self._chat.name}"

    async def __call__(self, turns: Sequence[FeltTurn], dropped: Counter[str] | None = None) -> Mapping[str, SaidFeelings]:
        """Raises what the model raises. Its answers are not kept: nothing of them may outlive the consent of whose they are. A
        turn that got no fit answer among many tells nothing, and counts as read: `dropped` says how many."""
        dropped = Counter() if dropped is None else dropped
        config, rows = self._config, sorted(turns, key=lambda turn: turn.audience or "")

        async def ask(window: Window) -> GivenFeelings:
            shown = [{"n": n, "text": turn.text} for n, turn in enumerate(rows[window.first : window.end], 1)]
            prompt = Prompt(FEELINGS, fenced({"turns": shown}), GivenFeelings, config.max_tokens)
            return await self._chat(prompt)

        wanted = windows(rows, config.batch)
        answers = await answered(rows, wanted, ask, at_once=config.at_once, max_unread=config.max_unread, dropped=dropped)
        silent = SaidFeelings(0.0, config.everyday, ())
        said = dict.fromkeys((turn.message_id for turn in rows), silent)
        for window, given in answers:
            for one in given.turns:
                row = window.first + one.turn - 1
                if not window.first <= row < window.end:
                    dropped["of no turn that was shown"] += 1
                elif not (-1 <= one.valence <= 1 and 0 <= one.arousal <= 1):
                    dropped["out of range"] += 1
                else:
                    marks = self._marks(rows[row].text, one, dropped)
                    said[rows[row].message_id] = SaidFeelings(one.valence, one.arousal, marks)
        return {turn.message_id: said[turn.message_id] for turn in turns}

    def _marks(self, text: str, given: GivenTurn, dropped: Counter[str]) -> tuple[Mark, ...]:
        """Each once, the strongest first."""
        found: dict[tuple[object, ...], Mark] = {}
        for one in given.marks:
            made = self._made(text, one)
            if isinstance(made, str):
                dropped[made] += 1
                continue
            key = (made.aspect, made.emotion, (made.target or "").casefold())
            if key not in found or made.intensity > found[key].intensity:
                found[key] = made
        return tuple(sorted(found.values(), key=lambda mark: -mark.intensity)[: self._config.max_marks])

    def _made(self, text: str, given: GivenMark) -> Mark | str:
        """The mark, or why there is none."""
        target = ADDRESSEE if given.to_addressee else self._target(given)
        if not (0 < given.intensity <= 1 and -1 <= given.polarity <= 1):
            return "out of range"
        if (given.aspect is Aspect.FEELING) != (given.emotion is not None):
            return "a feeling without emotion, or an emotion of none"
        if given.aspect is not Aspect.FEELING and target is None:
            return "liked or said to be nothing"
        if given.aspect is Aspect.SELF and given.to_addressee:
            return "liked or said to be nothing"
        if given.polarity == 0 and not given.changed:
            return "neither for nor against"
        if target not in (None, ADDRESSEE) and not _said(text, target or "", self._config.max_target):
            return "words that nobody said"
        cause = one_line(given.cause or "")
        kept = cause if _said(text, cause, self._config.max_cause) else None
        return Mark(given.aspect, given.intensity, given.polarity, given.emotion, target, kept, given.changed)

    def _target(self, given: GivenMark) -> str | None:
        """None also for what only points to something."""
        bare = _ARTICLES.sub("", _ARTICLES.sub("", one_line(given.target or "")))
        return bare if bare and self._check(bare) else None


def _said(text: str, words: str, most: int) -> bool:
    """Whether they stand in the turn, whole, in any case, and are not too many."""
    whole = re.search(rf"(?<!\w){re.escape(' '.join(folded(words).split()))}(?!\w)", " ".join(folded(text).split()))
    return 0 < len(words.split()) <= most and bool(re.search(r"\w", words)) and whole is not None
