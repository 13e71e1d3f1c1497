"""What every EntityReader keeps to, by nouns or by a language model: call these with it and a session's turns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from service.memory.left_brain.mentions import names_something
from service.types.entities import EntityReader, Mention, MentionKind
from service.types.facts import FactTurn
from service.types.names import normal

EMPTY_TALK = (
    "Mhm.",
    "Yeah.",
    "Thanks a lot!",
    "It is what it is.",
    "I told her that they had seen it.",
    "At nine on Friday.",
    "",
)
"""Turns that speak of nothing."""


async def keeps_the_contract(reader: EntityReader, turns: tuple[FactTurn, ...]) -> Mapping[str, tuple[Mention, ...]]:
    """Raises AssertionError with the rule that is broken; gives the mentions."""
    found = await reader(turns)
    assert await reader(turns) == found, "the same turns give the same"
    assert re.fullmatch(r"[\w:./-]+", reader.name), "a name and version that can be kept"
    texts = {turn.message_id: normal(turn.text) for turn in turns}
    assert [id for id in texts if id in found] == list(found), "of these turns, in spoken order"
    for id, mentions in found.items():
        assert mentions, "messages that mention nothing are missing"
        assert len({(m.type, m.name) for m in mentions}) == len(mentions), "each once a turn"
        for mention in mentions:
            assert re.search(rf"(?<!\w){re.escape(normal(mention.surface))}(?!\w)", texts[id]), f"{mention} was not said"
            assert mention.name == normal(mention.name) and names_something(mention)
            assert mention.kind is MentionKind.NOUN or mention.name == normal(mention.surface)
    return found


async def reads_nothing_into_empty_talk(reader: EntityReader, turn: FactTurn) -> None:
    turns = tuple(replace(turn, message_id=f"empty{n}", text=text) for n, text in enumerate(EMPTY_TALK))
    assert await reader(turns) == {} and await reader(()) == {}


async def tells_nothing_of_what_others_read(reader: EntityReader, turns: tuple[FactTurn, ...]) -> None:
    """Of turns that have different readers, each gives what it gives alone."""
    apart = tuple(replace(turn, audience=f"readers {n}") for n, turn in enumerate(turns))
    together = await reader(apart)
    assert dict(together) == {id: m for turn in apart for id, m in (await reader((turn,))).items()}
