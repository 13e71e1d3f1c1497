"""How is one thing asked for again? A log in which what is wanted comes back in other words, made by rule from any questions.

People who ask a second time ask shorter, or say it differently; nobody's log was at hand. Three wordings of each question: as
it was asked; in few words (names, and half of what else it says); in other words (one word exchanged for the nearest that
shares no stem with it, after a phrase of politeness). They are laid in one order by lot, so that the wordings of one question
are as far apart as chance has them, among everything else that is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from service.retrieval.words import Table, asked, shipped

POLITE = ("Can you tell me: ", "Do you remember, ", "I forgot: ", "Once more, ", "Could you look up ")
STEM = 3  # letters that two words of one stem have in common, as far as it matters here
NEAR = (0.55, 0.95)  # cosine of a word that may stand for another: below it is another matter, above it a form of the same
_WORD = re.compile(r"[\w’']+")


class Wording(StrEnum):
    AS_ASKED = "as_asked"
    FEW_WORDS = "few_words"
    OTHER_WORDS = "other_words"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a log."""

    question: str
    """Id of the question that this is a wording of."""
    text: str
    wording: Wording
    last: bool
    """The third time that it is asked for: what is judged. What stands before it is history."""


def log_of(questions: Sequence[tuple[str, str]], seed: int = 0) -> tuple[Entry, ...]:
    """`questions`: (id, text). Each comes three times, in each wording once, in an order by lot."""
    rng = np.random.default_rng(seed)
    worded = [(id, wording, text) for id, question in questions for wording, text in wordings(question, rng).items()]
    order = rng.permutation(len(worded))
    last = {worded[place][0]: place for place in order}
    return tuple(
        Entry(worded[place][0], worded[place][2], worded[place][1], last=last[worded[place][0]] == place) for place in order
    )


def wordings(question: str, rng: np.random.Generator) -> dict[Wording, str]:
    """Each once; where a question has too few words to leave any out, two may be the same."""
    return {
        Wording.AS_ASKED: question,
        Wording.FEW_WORDS: few_words(question, rng),
        Wording.OTHER_WORDS: other_words(question, rng),
    }


def few_words(question: str, rng: np.random.Generator) -> str:
    """Names and half of the other words that say what it is about, at least two, in their order."""
    said = [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(question)]
    tells = frozenset(asked(question))
    rest = [place for place, word in enumerate(said) if word.lower() in tells and not _name(place, word)]
    kept = set(rng.choice(rest, min(len(rest), max(2, len(rest) // 2)), replace=False).tolist()) if rest else set()
    words = [word for place, word in enumerate(said) if place in kept or _name(place, word)]
    return " ".join(words) + "?" if words else question


def other_words(question: str, rng: np.random.Generator, table: Table | None = None) -> str:
    """With one word exchanged, if the table has any that may stand for it."""
    table = table or shipped()
    said, exchanged = _WORD.findall(question), question
    tells = [word for place, word in enumerate(said) if word in asked(question) and not _name(place, word)]
    for word in rng.permutation(tells).tolist() if tells else []:
        if other := _near(word, table):
            exchanged = re.sub(rf"\b{re.escape(word)}\b", other, question, count=1)
            break
    return str(rng.choice(POLITE)) + exchanged[:1].lower() + exchanged[1:]


def _name(place: int, word: str) -> bool:
    """By its capital; the first word of a question has one anyway."""
    return place > 0 and word[:1].isupper()


def _near(word: str, table: Table) -> str | None:
    row = table.row.get(word)
    if row is None:
        return None
    cosines = table.vectors @ table.vectors[row]
    words = list(table.row)
    for place in map(int, (-cosines).argsort(kind="stable")[:20]):
        if NEAR[0] <= cosines[place] <= NEAR[1] and words[place][:STEM] != word[:STEM]:
            return words[place]
    return None
