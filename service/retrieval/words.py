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

import numpy as np
import numpy.typing as npt

WORD = re.compile(r"\w+(?:['’]\w+)*")
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


def spoken(text: str) -> list[str]:
    """The words of `text` as the table has them: lower case, without 's."""
    text = text.lower().replace("’", "'")
    words: list[str] = WORD.findall(text)
    return [word.removesuffix("'s") for word in words] if "'s" in text else words


def asked(question: str) -> tuple[str, ...]:
    """The words of `question` that say what it is about, each once."""
    return tuple(dict.fromkeys(word for word in spoken(question) if word not in _EMPTY))


def nearness(question: Sequence[str], texts: Sequence[Sequence[str]], table: Table | None = None) -> npt.NDArray[np.float32]:
    """Shape (texts, words of the question), in [0, 1]: the cosine of each to the nearest of each text; 1 where it was said."""
    table = table or shipped()
    near = np.zeros((len(texts), len(question)), dtype=np.float32)
    column = {word: place for place, word in enumerate(dict.fromkeys(word for text in texts for word in text))}
    if not column or not question:
        return near
    said = np.zeros((len(column), len(question)), dtype=np.float32)
    known, wanted = _known(list(column), table), _known(question, table)
    if known and wanted:
        cosines = table.vectors[[row for _, row in known]] @ table.vectors[[row for _, row in wanted]].T
        said[np.ix_([at for at, _ in known], [at for at, _ in wanted])] = np.maximum(cosines, 0.0)
    for at, word in enumerate(question):
        if word in column:
            said[column[word], at] = 1.0
    rows = [row for row, text in enumerate(texts) if text]
    lengths = [len(texts[row]) for row in rows]
    words = said[[column[word] for row in rows for word in texts[row]]]
    near[rows] = np.maximum.reduceat(words, np.cumsum([0, *lengths[:-1]]), axis=0)
    return near


def rarity(near: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Shape (words of the question,), adding up to 1: the fewer texts say a word itself, the more it tells them apart."""
    weights = np.log1p(len(near) / (0.5 + (near > _SAID).sum(axis=0)))
    return np.asarray(weights / (weights.sum() or 1.0))


def _known(words: Sequence[str], table: Table) -> list[tuple[int, int]]:
    """Place among `words` and row in the table of those that it has."""
    return [(place, table.row[word]) for place, word in enumerate(words) if word in table.row]
