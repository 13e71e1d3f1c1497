"""What every FactExtractor keeps to, by rules or by a language model: call these with it and a session's turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from service.memory.facts.words import check_words
from service.types.facts import ADDRESSEE, SPEAKER, Fact, FactExtractor, FactTurn

EMPTY_TALK = ("Mhm.", "Yeah.", "Hi!", "Good morning, everyone.", "Thanks!", "Okay.", "Uh-huh.", "Oh no.", "Ha ha.", "Bye!", "")
"""Turns that no fact comes from."""
MOST_CONTEXT = 3
LEAST_COVERED = 0.99
"""Share of content words that are from the evidence, resolved dates or names."""


async def keeps_the_contract(extractor: FactExtractor, turns: tuple[FactTurn, ...]) -> tuple[Fact, ...]:
    """Raises AssertionError with the rule that is broken; gives the facts."""
    facts = await extractor(turns)
    assert await extractor(turns) == facts, "the same turns give the same facts"
    assert re.fullmatch(r"[\w:./-]+", extractor.name), "a name and version that can be kept"
    places = {turn.message_id: place for place, turn in enumerate(turns)}
    for fact in facts:
        has_evidence_it_may_use(fact, turns, places)
        is_a_whole_statement(fact)
    order = [places[fact.source] for fact in facts]
    assert order == sorted(order), "in spoken order"
    said = [(fact.source, fact.statement) for fact in facts]
    assert len(set(said)) == len(said), "no fact twice"
    words_are_from_the_evidence(facts, turns)
    return facts


def has_evidence_it_may_use(fact: Fact, turns: Sequence[FactTurn], places: dict[str, int]) -> None:
    assert fact.source in places, "no fact without a source turn"
    place = places[fact.source]
    allowed = {turn.message_id for turn in turns[max(0, place - turns[place].may_use) : place]}
    assert set(fact.context) <= allowed, "context is from the turns right before that may be used"
    assert len(set(fact.evidence)) == len(fact.evidence) <= 1 + MOST_CONTEXT


def is_a_whole_statement(fact: Fact) -> None:
    bare = fact.statement.replace(SPEAKER, "").replace(ADDRESSEE, "")
    assert not re.search(r"[{}]", bare), "no brace but the slots"
    assert re.search(r"\w", bare) and fact.statement == " ".join(fact.statement.split()), "words, single blanks"
    unquoted = re.sub(r"[\"“„][^\"”]*[\"”“]", "", bare)
    assert not re.search(r"(?<![\w'’])(?:I|I'm|I've|I'll|me|my|myself)(?![\w'’])", unquoted), "I is {speaker}"
    assert fact.about is None or (fact.about.start < fact.about.end and fact.about.start.tzinfo is not None)
    assert (fact.attribute is None) == (fact.value is None), "an attribute has a value"
    assert 0 <= fact.confidence <= 1


def words_are_from_the_evidence(facts: Sequence[Fact], turns: Sequence[FactTurn]) -> None:
    by_id = {turn.message_id: turn for turn in turns}
    checks = [check_words(fact, [by_id[id] for id in fact.evidence]) for fact in facts]
    words, strange = sum(check.words for check in checks), [word for check in checks for word in check.strange]
    assert len(strange) <= (1 - LEAST_COVERED) * words, f"not from the evidence: {strange}"


async def reads_nothing_into_empty_talk(extractor: FactExtractor, turn: FactTurn) -> None:
    turns = tuple(replace(turn, message_id=f"empty{n}", voice="ab"[n % 2], text=text) for n, text in enumerate(EMPTY_TALK))
    assert await extractor(turns) == ()
    assert await extractor(()) == ()


async def does_not_know_the_voices(extractor: FactExtractor, turns: tuple[FactTurn, ...]) -> None:
    """Who a voice is may be corrected at any time: nothing but which are the same plays a part."""
    others = tuple(replace(turn, voice=f"{turn.voice}-another") for turn in turns)
    assert await extractor(others) == await extractor(turns)


async def uses_only_what_it_may(extractor: FactExtractor, turns: tuple[FactTurn, ...]) -> None:
    """With nothing before it that may be used, a turn gives what it gives alone."""
    alone = tuple(replace(turn, may_use=0) for turn in turns)
    together = await extractor(alone)
    assert all(fact.context == () for fact in together)
    apart = [fact for turn in alone for fact in await extractor((turn,))]
    assert list(together) == apart
