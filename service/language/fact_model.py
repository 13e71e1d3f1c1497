"""What do people say that is worth remembering? As a language model reads it; what it gives is checked, or dropped."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from service.language.fact_times import clock_of, span_of
from service.language.prompts import FACTS, fenced, one_line
from service.language.windows import Window, answered, start, windows
from service.types.chat import ChatModel, Prompt
from service.types.facts import ADDRESSEE, SPEAKER, Fact, FactKind, FactTurn, Precision, TimeSpan

log = logging.getLogger(__name__)

TIME = "{time}"
"""Stands in a model's statement for the time, which rules resolve and write: models are bad at calendars."""

WordsCheck = Callable[[Fact, Sequence[FactTurn]], float]
"""A fact and the turns of its evidence → share of its content words that are from these, a date or a name, [0, 1]."""
DateWords = Callable[[TimeSpan, tzinfo], tuple[str, str]]
"""A time → preposition and noun, in English: ("on", "12 May 2023")."""

_LEFT_OPEN = re.compile(
    r"\b(?:I|Us|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Oo]urs?|[Oo]urselves|us|[Yy]ou|[Yy]ours?|[Yy]ourself|[Yy]ourselves)\b"
)
"""English words for who speaks and who listens: they tell nobody who is meant."""
_VOICE = re.compile(r"\bV\d+\b")
"""The numbers that we gave the voices."""
_SLOTS = re.compile(f"(?:{'|'.join(map(re.escape, (SPEAKER, ADDRESSEE, TIME)))})(?:['’]s)?")


@dataclass(frozen=True, slots=True)
class GivenFact:
    """As the model writes it."""

    turn: int
    statement: str
    kind: FactKind
    context: tuple[int, ...]
    time: str | None
    starts: str | None
    precision: Precision | None
    past: bool
    attribute: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class GivenFacts:
    facts: tuple[GivenFact, ...]


@dataclass(frozen=True, slots=True)
class FactModelConfig:
    batch: int = 10  # turns a request: the instructions are about 650 tokens, ten turns 350
    max_tokens: int = 2_000  # of a reply: ten turns seldom hold as many facts, and each takes about 90
    at_once: int = 4  # batches; the rest waits, and is not begun once one has failed
    min_words: float = 1.0  # of a statement's content words from its evidence: one that nobody said is one too many
    max_statement: int = 400  # characters; a sentence
    max_attribute: int = 60  # characters; a few words
    max_unread: float = 0.05  # of a session's turns, but one at least, may get no fit answer; more: it is the wrong model


class FactModel:
    """A FactExtractor. The model never sees a turn beside one that some of its readers may not read."""

    def __init__(self, chat: ChatModel, check: WordsCheck, date: DateWords, config: FactModelConfig | None = None) -> None:
        self._chat = chat
        self._check = check
        self._date = date
        self._config = config or FactModelConfig()

    @property
    def name(self) -> str:
        return f"model:{self._chat.name}"

    async def __call__(self, turns: tuple[FactTurn, ...], dropped: Counter[str] | None = None) -> tuple[Fact, ...]:
        """`dropped`: why facts were, and turns not read. Raises what the model raises. What it had answered is kept under the
        turns' space: the same call then goes on."""
        dropped = Counter() if dropped is None else dropped
        config = self._config

        async def ask(window: Window) -> GivenFacts:
            return await self._chat(_prompt(turns, window, config), space=turns[window.first].space)

        shown = windows(turns, config.batch)
        answers = await answered(turns, shown, ask, at_once=config.at_once, max_unread=config.max_unread, dropped=dropped)
        facts = [fact for window, given in answers for fact in self._checked(turns, window, given, dropped)]
        if dropped:
            log.info("facts dropped: %s", ", ".join(f"{why}: {number}" for why, number in sorted(dropped.items())))
        return tuple(facts)

    def _checked(self, turns: Sequence[FactTurn], window: Window, given: GivenFacts, dropped: Counter[str]) -> list[Fact]:
        """In spoken order; each once."""
        facts: dict[tuple[str, str], Fact] = {}
        for one in sorted(given.facts, key=lambda one: one.turn):
            made = self._made(turns, window, one)
            if isinstance(made, Fact):
                facts.setdefault((made.source, made.statement), made)
            else:
                dropped[made] += 1
        return list(facts.values())

    def _made(self, turns: Sequence[FactTurn], window: Window, given: GivenFact) -> Fact | str:
        """The fact, or why there is none."""
        source, allowed = window.start + given.turn - 1, range(0)
        if window.first <= source < window.end:
            allowed = range(max(window.start, start(turns, source)), source)
        context = sorted({window.start + number - 1 for number in given.context} - {source})
        if not window.first <= source < window.end or not set(context) <= set(allowed):
            return "of no turn that it may rest on"
        evidence = [turns[source], *(turns[i] for i in context)]
        about = None
        if given.time and given.time.strip():
            about = span_of(given.time.strip(), given.starts, given.precision, evidence, past=given.past)
        statement = self._statement(given, about, turns[source])
        if not re.search(r"\w", _SLOTS.sub(" ", statement)) or len(statement) > self._config.max_statement:
            return "empty or long"
        if _VOICE.search(statement) or (_is_english(turns[source]) and _LEFT_OPEN.search(statement)):
            return "not to be understood alone"
        fact = Fact(
            statement,
            given.kind,
            turns[source].message_id,
            tuple(turns[i].message_id for i in context),
            about,
            *self._attribute(given, statement),
        )
        share = self._check(fact, evidence)
        return fact if share >= self._config.min_words else "words that nobody said"

    def _statement(self, given: GivenFact, about: TimeSpan | None, source: FactTurn) -> str:
        """With its two slots, the time written out, and no other brace."""
        said = one_line(given.statement)
        clock = clock_of(source)
        if about is not None and clock is not None:
            said = said.replace(TIME, self._written(about, clock, source))
        else:
            said = said.replace(TIME, without_braces(given.time or "").strip())
        return slotted(said).strip()

    def _written(self, about: TimeSpan, clock: tzinfo, source: FactTurn) -> str:
        """English dates in English; the date in figures (ISO 8601) in what is not."""
        if _is_english(source):
            return " ".join(self._date(about, clock))
        return f"{about.start.astimezone(clock):%Y-%m-%d}"

    def _attribute(self, given: GivenFact, statement: str) -> tuple[str | None, str | None]:
        """Both or none; the value stands in the statement, whose words were said."""
        name, value = (slotted(one_line(part or "")) for part in (given.attribute, given.value))
        if not (0 < len(name) <= self._config.max_attribute and value and value.casefold() in statement.casefold()):
            return None, None
        return name.lower(), value


def _prompt(turns: Sequence[FactTurn], window: Window, config: FactModelConfig) -> Prompt[GivenFacts]:
    """Turns and voices by numbers of their own: the same talk is the same prompt, and no id leaves the house."""
    shown = turns[window.start : window.end]
    voices = {voice: f"V{number}" for number, voice in enumerate(dict.fromkeys(turn.voice for turn in shown), 1)}
    data = [
        {
            "n": number,
            "read": number > window.first - window.start,
            "voice": voices[turn.voice],
            "time": f"{turn.said_at.astimezone(clock_of(turn) or UTC):%A %Y-%m-%d %H:%M}",
            "text": without_braces(turn.text),
        }
        for number, turn in enumerate(shown, 1)
    ]
    return Prompt(FACTS, fenced({"turns": data}), GivenFacts, config.max_tokens)


def _is_english(turn: FactTurn) -> bool:
    """Also where no language was given: recognition gives one, and transcripts without are mostly English."""
    return re.split("[-_]", (turn.language or "en").lower())[0] == "en"


def without_braces(text: str) -> str:
    """Braces of what people say are parentheses: slots are ours."""
    return text.replace("{", "(").replace("}", ")")


def slotted(text: str) -> str:
    """With the slots for speaker and addressee, and no other brace."""
    parts = re.split(f"({re.escape(SPEAKER)}|{re.escape(ADDRESSEE)})", text)
    return "".join(part if part in (SPEAKER, ADDRESSEE) else without_braces(part) for part in parts)
