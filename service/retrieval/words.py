"""How near in meaning does a text come to each word of a question? "Vehicle" to "car", where no letters tell it.

The table holds English words, the most frequent first, with vectors of 64 dimensions: what the text model e5-small-v2 (MIT)
knows of a word by itself, made by tests/bench/retrieval/words.py. A word that is not in it is near to itself alone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import chain

import numpy as np
import numpy.typing as npt

WORD = re.compile(r"\w+(?:['’]\w+)*")
_BLANKS = {ord(sign): " " for sign in map(chr, range(128)) if not (sign.isalnum() or sign in "_'")}
"""Of ASCII, what is no part of a word: a third of the time that the expression takes."""
_EMPTY_WORDS = """
    a an the of to in on at for with and or but is are was were be been being am do does did has have had having what when where
    who whom whose why how which that this these those it its his her he she they them their you your i my me we our us as by
    from about into would could should will can may might must shall there some any all not no so if than then also just very
    too i'm it's don't did didn't"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
"""Words of a question that say nothing of what it is about."""
_SAID = 0.99
"""Of nearness: the word itself; two words of the table are never that near."""


@dataclass(frozen=True, slots=True)
class Table:
    row: Mapping[str, int]
    """Word → row, from 0, the most frequent first."""
    vectors: npt.NDArray[np.float32]
    """Shape (words, 64), of unit length."""


@lru_cache(maxsize=1)
def shipped() -> Table:
    """The table that comes with the service; 1.5 MB, read in about 20 ms."""
    with np.load(io.BytesIO(files("service.retrieval").joinpath("words.npz").read_bytes())) as kept:
        vectors = kept["vectors"].astype(np.float32)
        words = kept["words"].tobytes().decode().split("\n")
    return Table({word: row for row, word in enumerate(words)}, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case, in order."""
    text = text.lower().replace("’", "'")
    if not text.isascii():
        return WORD.findall(text)
    if "'" not in (text := text.translate(_BLANKS)):
        return text.split()
    return [word for run in text.split() for word in ((run,) if "'" not in run else WORD.findall(run))]


def spoken(text: str, words: list[str] | None = None) -> list[str]:
    """The words of `text` (`words`, where they are known) as the table has them: lower case, without 's."""
    words = words_of(text) if words is None else words
    return [word.removesuffix("'s") for word in words] if "'" in text or "’" in text else words


def asked(question: str) -> tuple[str, ...]:
    """The words of `question` that say what it is about, each once."""
    return tuple(dict.fromkeys(word for word in spoken(question) if word not in _EMPTY))


class Nearness:
    """How near any word comes to each word of one question."""

    def __init__(self, question: Sequence[str], table: Table | None = None) -> None:
        self._table = table = table or shipped()
        new = dict.fromkeys(word for word in question if word not in table.row)
        self._new = {word: len(table.vectors) + place for place, word in enumerate(new)}
        self._near = np.zeros((len(table.vectors) + len(new) + 1, len(question)), dtype=np.float32)
        """Of each word of the table, then of words of the question that it has not, then of any other."""
        if known := [at for at, word in enumerate(question) if word in table.row]:
            wanted = table.vectors[[table.row[question[at]] for at in known]]
            self._near[: len(table.vectors), known] = np.maximum(table.vectors @ wanted.T, 0.0)
        for at, word in enumerate(question):
            self._near[table.row.get(word, self._new.get(word, -1)), at] = 1.0

    def rows(self, words: Sequence[str]) -> list[int]:
        """For `best`: where each word stands."""
        row, new = self._table.row, self._new
        if not new:
            return [row.get(word, -1) for word in words]
        return [row[word] if word in row else new.get(word, -1) for word in words]

    def best(self, texts: Sequence[Sequence[int]]) -> npt.NDArray[np.float32]:
        """Shape (texts, words of the question), in [0, 1]: the cosine of each to the nearest of each text, of which the rows
        are given; 1 where it was said."""
        best = np.zeros((len(texts), self._near.shape[1]), dtype=np.float32)
        said = [place for place, text in enumerate(texts) if text]
        if said and best.shape[1]:
            words = self._near[np.fromiter(chain.from_iterable(texts), dtype=np.intp)]
            starts = np.cumsum([0, *(len(texts[place]) for place in said[:-1])])
            best[said] = np.maximum.reduceat(words, starts, axis=0)
        return best


def nearness(question: Sequence[str], texts: Sequence[Sequence[str]], table: Table | None = None) -> npt.NDArray[np.float32]:
    """Shape (texts, words of the question): `Nearness.best` of texts as words."""
    near = Nearness(question, table)
    return near.best([near.rows(text) for text in texts])


def rarity(near: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Shape (words of the question,), adding up to 1: the fewer texts say a word itself, the more it tells them apart."""
    weights = np.log1p(len(near) / (0.5 + (near > _SAID).sum(axis=0)))
    return np.asarray(weights / (weights.sum() or 1.0))
