"""What a sentence tells of its speaker that a later one may supersede, and what tells nothing of the kind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from service.language.parser import SpacyParser
from service.memory.facts.rules import RuleExtractor
from service.types.facts import Fact, FactTurn

SAID = datetime(2023, 5, 17, 10, 0, tzinfo=UTC)  # a Wednesday
TELLS = [
    ("I live in Porto.", "lives in", "Porto"),
    ("I've moved to Ghent.", "lives in", "Ghent"),
    ("I grew up in Wales.", "grew up in", "Wales"),
    ("I was born in Oslo.", "born", "Oslo"),
    ("I work for the city.", "works at", "the city"),
    ("I start at the library on the first of December, four days a week.", "starts at", "the library"),
    ("I'm a nurse.", "job", "nurse"),
    ("I study chemistry.", "studies", "chemistry"),
    ("I'm 34.", "age", "34"),
    ("I turn forty next week.", "age", "forty"),
    ("My birthday is on 3 July.", "birthday", "on 3 July 2023"),
    (
        "My dentist appointment is on Tuesday at half past nine.",
        "dentist appointment",
        "on Tuesday, 23 May 2023 at half past nine",
    ),
    ("My appointment was moved from Tuesday to Thursday.", "appointment", "Thursday, 18 May 2023"),
    ("My driving test is on 9 July.", "driving test", "on 9 July 2023"),
    ("I have two sisters.", "has sister", "two sisters"),
    ("I've got a son in Leeds.", "has son", "a son in Leeds"),
    ("I have a dog called Rex.", "has dog", "a dog called Rex"),
    ("I'm married to a baker.", "status", "married to a baker"),
    ("I'm retired now.", "status", "retired"),
    ("I'm a vegetarian.", "diet", "vegetarian"),
    ("I am allergic to walnuts.", "allergy to walnuts", "is"),
    ("I'm not allergic to nuts.", "allergy to nuts", "is not"),
    ("I'm afraid of heights.", "fear of heights", "is"),
    ("I don't eat pork.", "eating pork", "doesn't eat"),
    ("I've started eating fish again.", "eating fish", "started eating"),
    ("I've given up sugar.", "eating sugar", "given up"),
    ("I play the cello.", "playing cello", "plays"),
    ("I don't play tennis any more.", "playing tennis", "doesn't play"),
    ("I can't abide loud music.", "feeling about loud music", "can't abide"),
    ("I'm very fond of my garden.", "feeling about {speaker}'s garden", "is very fond of"),
    ("I like to swim.", "feeling about to swim", "likes"),
    ("My blood type is A.", "blood type", "A"),
]
TELLS_NOTHING = [
    "I have a headache.",
    "I have a question.",
    "I've got a match at two.",
    "I've given up hope.",
    "I'm from time to time a bit slow.",
    "My sister lives in Porto.",
    "My test is three pages long.",
    "I'm afraid I can't come.",
    "I would eat a horse.",
    "I ate fish yesterday.",
    "He is allergic to walnuts.",
    "I work with Paul.",
    "I lived in Porto.",
    "I play with the thought.",
    "I like tea and hate coffee.",
    "I'm single-minded.",
    "The party is on Friday.",
    "I would like a coffee.",
    "I am at the station.",
    "We had two dogs.",
]


@pytest.fixture(scope="module")
def extractor() -> RuleExtractor:
    return RuleExtractor(SpacyParser.load())


def facts(extractor: RuleExtractor, text: str) -> tuple[Fact, ...]:
    return extractor.extract([FactTurn("m0", "a", text, SAID, None, None, 0)])


@pytest.mark.parametrize(("text", "attribute", "value"), TELLS)
def test_what_a_later_one_may_supersede(extractor: RuleExtractor, text: str, attribute: str, value: str) -> None:
    assert (attribute, value) in [(fact.attribute, fact.value) for fact in facts(extractor, text)]


@pytest.mark.parametrize("text", TELLS_NOTHING)
def test_what_supersedes_nothing(extractor: RuleExtractor, text: str) -> None:
    assert [fact.attribute for fact in facts(extractor, text) if fact.attribute is not None] == []
