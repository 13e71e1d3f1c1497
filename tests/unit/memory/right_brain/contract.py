"""What every FeelingReader keeps to, by a lexicon or by a language model: call these with it and turns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from service.memory.right_brain.feelings import tells_whom
from service.types.affect import Aspect, FeelingReader, FeltTurn, Mark, SaidFeelings
from service.types.facts import ADDRESSEE
from service.types.names import folded

EMPTY_TALK = ("Mhm.", "The train leaves at nine.", "Is it raining?", "")
"""Turns that show nothing of their speaker."""


async def keeps_the_contract(reader: FeelingReader, turns: tuple[FeltTurn, ...]) -> Mapping[str, SaidFeelings]:
    """Raises AssertionError with the rule that is broken; gives what was said."""
    found = await reader(turns)
    assert await reader(turns) == found, "the same turns give the same"
    assert re.fullmatch(r"[\w:./-]+", reader.name), "a name and version that can be kept"
    texts = {turn.message_id: " ".join(folded(turn.text).split()) for turn in turns}
    assert [id for id in texts if id in found] == list(found), "of these turns, in their order"
    for id, said in found.items():
        assert -1 <= said.valence <= 1 and 0 <= said.arousal <= 1
        for mark in said.marks:
            fits(mark, texts[id])
        keys = [(m.aspect, m.emotion, (m.target or "").casefold()) for m in said.marks]
        assert len(set(keys)) == len(keys), "each once a turn"
        assert [m.intensity for m in said.marks] == sorted((m.intensity for m in said.marks), reverse=True)
    return found


def fits(mark: Mark, text: str) -> None:
    assert 0 < mark.intensity <= 1 and -1 <= mark.polarity <= 1
    assert mark.polarity or mark.changed, "neither for nor against is only what holds no longer"
    assert (mark.aspect is Aspect.FEELING) == (mark.emotion is not None)
    assert mark.target is not None or mark.aspect is Aspect.FEELING
    assert mark.aspect is not Aspect.SELF or mark.target != ADDRESSEE
    words = [mark.cause] if mark.cause else []
    if mark.target not in (None, ADDRESSEE):
        assert tells_whom(mark.target or ""), "it tells whom or what"
        words += [mark.target] if mark.aspect is not Aspect.SELF and mark.target else []  # a trait by its usual word
    for said in words:
        assert folded(said) in text, f"{said} was not said"


async def reads_nothing_into_empty_talk(reader: FeelingReader) -> None:
    turns = tuple(FeltTurn(f"empty{n}", text, "en", "all") for n, text in enumerate(EMPTY_TALK))
    found = await reader(turns)
    assert all(not said.marks and abs(said.valence) < 0.2 for said in found.values())
    assert len(found) == len(turns), "that nothing shows is read, too"
    assert await reader(()) == {}


async def tells_nothing_of_what_others_say(reader: FeelingReader, turns: tuple[FeltTurn, ...]) -> None:
    """Of turns of others, or with other readers, each gives what it gives alone."""
    apart = tuple(replace(turn, audience=f"readers {n}") for n, turn in enumerate(turns))
    assert dict(await reader(apart)) == {id: said for turn in apart for id, said in (await reader((turn,))).items()}
