"""How does somebody feel in what they say, by a lexicon and parsed English? A FeelingReader that asks nobody."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

from service.memory.right_brain.affect import by_words
from service.memory.right_brain.feelings import marks
from service.types.affect import FeltTurn, SaidFeelings
from service.types.parsing import Parser, Sentence

READER = "affect-1"
"""Name and version of this reading, kept with each turn that was read by it."""
LANGUAGES = frozenset({"en"})
"""Of the lexicon; turns that tell no language count as English. In others nothing is found."""


class LexiconReader:
    """`parser`: made when somebody's turns are first to be read; most spaces never need it."""

    name = READER

    def __init__(self, parser: Callable[[], Awaitable[Parser]]) -> None:
        self._parser = parser

    async def __call__(self, turns: Sequence[FeltTurn], dropped: Counter[str] | None = None) -> Mapping[str, SaidFeelings]:
        return await asyncio.to_thread(_read, turns, await self._parser()) if turns else {}


def _read(turns: Sequence[FeltTurn], parser: Parser) -> dict[str, SaidFeelings]:
    read = [turn for turn in turns if (turn.language or "en").split("-")[0].lower() in LANGUAGES]
    sentences: dict[str, tuple[Sentence, ...]] = dict(
        zip((turn.message_id for turn in read), parser([turn.text for turn in read]), strict=True)
    )
    said = {turn.message_id: sentences.get(turn.message_id, ()) for turn in turns}
    return {id: by_words(each, marks(each)) for id, each in said.items()}
