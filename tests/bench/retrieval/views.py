"""As which texts can a turn be searched? Alone, with what was said before it, or without any name; as in retrieval.md §3.1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from tests.bench.retrieval.gold import Corpus, Turn

_BLANKS = re.compile(r"\s+")


def raw(corpus: Corpus) -> list[str]:
    """The words alone."""
    return [turn.text for turn in corpus.turns]


def said(corpus: Corpus) -> list[str]:
    """`[8 May, 2023] Caroline: words [shares a photo: caption]`; no date where the set tells none."""
    return [_dated(turn, _line(turn)) for turn in corpus.turns]


def with_previous(count: int) -> Callable[[Corpus], list[str]]:
    """The same with up to `count` turns of its session before it."""

    def view(corpus: Corpus) -> list[str]:
        texts, before = [], list[Turn]()
        for turn in corpus.turns:
            before = before if before and before[-1].session == turn.session else []
            texts.append(_dated(turn, "\n".join(map(_line, (*before[-count:], turn)))))
            before.append(turn)
        return texts

    return view


def neutral(corpus: Corpus) -> list[str]:
    """Words and caption without speaker, date and anybody's name."""
    without = without_names(corpus.speakers)
    return [without(f"{turn.text}{_photo(turn)}") for turn in corpus.turns]


def without_names(names: Sequence[str]) -> Callable[[str], str]:
    """Takes `names`, with 's, out of a text; a text that is nothing but names stays."""
    pattern = _any_of(names)

    def without(text: str) -> str:
        return _BLANKS.sub(" ", pattern.sub(" ", text)).strip() or text

    return without


def names_in(text: str, names: Sequence[str]) -> frozenset[str]:
    """Which of `names` a text names."""
    found = {match.casefold() for match in _any_of(names).findall(text)}
    return frozenset(name for name in names if name.casefold() in found)


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, longest_first))})(?:['’]s)?(?!\w)", re.IGNORECASE)


def _line(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.text}{_photo(turn)}"


def _photo(turn: Turn) -> str:
    return f" [shares a photo: {turn.caption}]" if turn.caption else ""


def _dated(turn: Turn, text: str) -> str:
    return f"[{turn.at.day} {turn.at:%B, %Y}] {text}" if turn.at else text


VIEWS: Mapping[str, Callable[[Corpus], list[str]]] = {
    "raw": raw,
    "said": said,
    "after1": with_previous(1),
    "after3": with_previous(3),
    "neutral": neutral,
}
