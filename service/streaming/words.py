"""Are these the same words? A recogniser that hears a stretch again moves commas and capitals, and means nothing by it."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def words_of(text: str) -> tuple[str, ...]:
    """In order, without case and punctuation."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'")))


def same_words(one: str, other: str) -> bool:
    """Also of two texts without any word: they must be equal."""
    words = words_of(one)
    return words == words_of(other) and (bool(words) or one == other)
