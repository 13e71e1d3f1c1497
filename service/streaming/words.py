"""Are these the same words? A recogniser that hears a stretch again moves commas and capitals, and means nothing by it."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def words_of(text: str) -> tuple[str, ...]:
    """In order, without case and punctuation."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'")))


def phrases_of(text: str, longest: int = 3, last: int = 40) -> tuple[str, ...]:
    """What may be a name among the `last` words of `text`: stretches of one to `longest` of them, also without a plural's s and
    a possessive."""
    words = [word.removesuffix("'s") for word in words_of(text)][-last:]
    found = [" ".join(words[i : i + n]) for n in range(longest, 0, -1) for i in range(len(words) - n + 1)]
    return tuple(dict.fromkeys(form for phrase in found for form in (phrase, phrase.removesuffix("s")) if form))


def same_words(one: str, other: str) -> bool:
    """Also of two texts without any word: they must be equal."""
    words = words_of(one)
    return words == words_of(other) and (bool(words) or one == other)
