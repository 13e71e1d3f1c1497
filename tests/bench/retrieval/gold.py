"""What is a corpus with gold evidence? Records that loaders give, systems rank and metrics judge; ids are unique everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, as text."""

    id: str
    """`conv-26/D1:3`, `Bed003/17`."""
    session: str
    """Unique over all corpora too."""
    index: int
    """Place in its session, from 0."""
    speaker: str
    """Display name; two corpora may each have a John."""
    text: str
    """The words alone."""
    caption: str = ""
    """Of a photo shared with them."""
    at: datetime | None = None
    """When its session began; None where the set tells no time."""


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    category: str
    """Condition it is reported under besides `all`."""
    gold: tuple[str, ...]
    """Ids of the turns that answer it, at least one; as published."""
    corrected: tuple[str, ...] | None = None
    """The same after an audit; None for questions whose answer the audit holds to be wrong."""
    answer: str = ""
    asker: str | None = None
    """Name of who asks, where that matters."""


@dataclass(frozen=True)
class Corpus:
    """What lies in one store, and the questions asked of it."""

    id: str
    turns: tuple[Turn, ...]
    """In spoken order."""
    questions: tuple[Question, ...]
    domain: str = ""
    """Kind of meeting."""
    folds: Mapping[str, str] = field(default_factory=dict)
    """Session → fold: what must be left out together when something is fitted. Empty: the corpus is one fold."""

    @cached_property
    def by_id(self) -> Mapping[str, Turn]:
        return {turn.id: turn for turn in self.turns}

    @cached_property
    def speakers(self) -> tuple[str, ...]:
        """Display names, in order of appearance."""
        return tuple(dict.fromkeys(turn.speaker for turn in self.turns))


@dataclass(frozen=True, slots=True)
class Found:
    """What a system gave for one question."""

    ids: tuple[str, ...]
    """Turn ids, best first, no id twice."""
    seconds: float | None = None
    """Wall time; None where it was not taken one question at a time."""
    rounds: int = 1


Findings = Mapping[str, Found]
"""By question id."""


def pooled(corpora: Sequence[Corpus], id: str) -> Corpus:
    """All in one store; whom a name means has to be found out. Folds are the corpora of before."""
    return Corpus(
        id,
        tuple(turn for corpus in corpora for turn in corpus.turns),
        tuple(question for corpus in corpora for question in corpus.questions),
        folds={turn.session: corpus.id for corpus in corpora for turn in corpus.turns},
    )
