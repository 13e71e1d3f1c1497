"""Is every word of a fact somebody's, a resolved date or a known name?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from service.memory.facts.dates import said
from service.memory.facts.english import FUNCTION_WORDS, third_person
from service.timewords import Leaning, ZoneUnknown, times, zone_of
from service.types.facts import ADDRESSEE, SPEAKER, Fact, FactTurn

ADDED = frozenset({"asks", "others", "suggests"})
"""The exceptions: what statements are built with. {speaker} asks: …; {speaker} and others."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SLOT = re.compile(rf"(?:{re.escape(SPEAKER)}|{re.escape(ADDRESSEE)})(?:'s)?")
_ENDINGS = re.compile(r"(?<=\w\w\w)(?:'s|’s|ing|ied|ies|ed|es|s|e|y)$")


@dataclass(frozen=True, slots=True)
class WordCheck:
    words: int
    """Content words of the statement."""
    strange: tuple[str, ...]
    """Those that nothing explains."""

    @property
    def share(self) -> float:
        """Of content words that are from the evidence, from a resolved date or known names, [0, 1]."""
        return 1.0 if not self.words else 1 - len(self.strange) / self.words


def check_words(fact: Fact, evidence: Sequence[FactTurn], names: Collection[str] = ()) -> WordCheck:
    """`evidence`: the turns of `fact.evidence`; `names`: known names and aliases. Inflection is forgiven, nothing else."""
    known = set(_forms(turn.text for turn in evidence)) | set(_forms(names)) | _dated(fact, evidence)
    stems = {_stem(word) for word in known}
    content = [word for word in _words(fact.statement) if word not in FUNCTION_WORDS and word not in ADDED]
    strange = [word for word in content if word not in known and _stem(word) not in stems]
    return WordCheck(len(content), tuple(strange))


def _words(text: str) -> list[str]:
    bare = _SLOT.sub(" ", text)
    found = _WORD.findall(unicodedata.normalize("NFKC", bare).lower().replace("’", "'"))
    return [word for word in (raw.removesuffix("'s").removesuffix("n't") for raw in found) if word]


def _forms(texts: Iterable[str]) -> Iterable[str]:
    for text in texts:
        for word in _words(text):
            yield word
            yield third_person(word)


def _stem(word: str) -> str:
    """Doubled letters at its end count once: plan, planning."""
    bare = _ENDINGS.sub("", word)
    bare = bare[:-1] if len(bare) > 3 and bare.endswith("y") else bare  # carrying, carried
    return bare[:-1] if len(bare) > 3 and bare[-1] == bare[-2] else bare


def _dated(fact: Fact, evidence: Sequence[FactTurn]) -> set[str]:
    """The words of what the times in the evidence were resolved to, as the fact's zone writes them."""
    found: set[str] = set()
    spans = [(fact.about, turn.zone) for turn in evidence[:1] if fact.about is not None]
    for turn in evidence:
        try:
            spans += [
                (word.span, turn.zone)
                for leaning in Leaning
                for word in times(turn.text, turn.said_at, zone=turn.zone, language=turn.language, leaning=leaning)
            ]
        except ZoneUnknown:  # then nothing was resolved either
            continue
    for span, zone in spans:
        if span is not None:
            found.update(word for part in said(span, zone_of(zone)) for word in _words(part))
    return found
