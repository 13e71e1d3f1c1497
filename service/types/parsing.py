"""Sentences as a parser sees them, and the protocol that gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    begin: int
    """Where it stands in the text: [`begin`, `begin` + its length)."""
    lemma: str
    """Lower case, names as they are written."""
    pos: str
    """Universal part of speech: NOUN, VERB, PRON …"""
    tag: str
    """Penn Treebank tag: VBP, PRP$ …"""
    dep: str
    """Relation to `head` in ClearNLP's set: nsubj, dobj, ROOT …"""
    head: int
    """Index in the sentence; its own for the root."""
    entity: str = ""
    """OntoNotes kind of the named entity that it is in: PERSON, DATE …; empty outside of one."""
    plural: bool = False

    @property
    def end(self) -> int:
        return self.begin + len(self.text)

    @property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens in order; heads stay inside."""

    tokens: tuple[Token, ...]


class Parser(Protocol):
    @property
    def name(self) -> str:
        """Model and version."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """Primary language subtags (BCP 47) that it reads."""
        ...

    def __call__(self, texts: Sequence[str]) -> list[tuple[Sentence, ...]]:
        """The sentences of each text, in order; a text's do not depend on the others. Heavy: not on an event loop."""
        ...
