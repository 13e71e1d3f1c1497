"""Are these the same words? A recogniser that hears a stretch again moves commas and capitals, and means nothing by it."""

from __future__ import annotations

import re

from service.types.names import folded, normal

_EDGES = re.compile(r"^[^\w]+|[^\w]+$")
_WORD = re.compile(r"\w+(?:['’]\w+)*")


def words_of(text: str) -> tuple[str, ...]:
    """In order, without case and punctuation."""
    return tuple(_WORD.findall(folded(text)))


def phrases_of(text: str, longest: int, last: int = 40) -> tuple[str, ...]:
    """What may be a name among the `last` words of `text`, in the form names are compared in: stretches of one to `longest` of
    them, as they stand, without hyphens and possessives within, and without a plural's s."""
    as_said = [word for piece in folded(text).split() if (word := _EDGES.sub("", piece))][-last:]
    plain = [word.removesuffix("'s") for word in words_of(text)][-last:]
    found = [
        normal(" ".join(words[i : i + n]))
        for n in range(longest, 0, -1)
        for words in (as_said, plain)
        for i in range(len(words) - n + 1)
    ]
    return tuple(dict.fromkeys(form for phrase in found for form in (phrase, phrase.removesuffix("s")) if form))


def same_words(one: str, other: str) -> bool:
    """Also of two texts without any word: they must be equal."""
    words = words_of(one)
    return words == words_of(other) and (bool(words) or one == other)
