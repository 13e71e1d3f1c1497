"""What a turn speaks of: names and nouns, their types, and what is none."""

from __future__ import annotations

import pytest

from service.language.parser import SpacyParser
from service.memory.left_brain.mentions import SpokenTurn, mentions_of, told_in
from service.memory.left_brain.themes import theme_of
from service.types.entities import EntityType, Mention, MentionKind
from service.types.names import normal
from service.types.parsing import Parser


@pytest.fixture(scope="module")
def parser() -> Parser:
    return SpacyParser.load()


def said(text: str, parser: Parser, language: str | None = "en") -> set[tuple[str, str]]:
    """(type, name) of each mention."""
    found = mentions_of([SpokenTurn("m", text, language, "all")], parser).get("m", ())
    return {(m.type.value, m.name) for m in found}


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("The surprise for Ruth is a trip to Cork.", {("person", "ruth"), ("place", "cork"), ("event", "trip")}),
        ("I broke the blue teapot that Nora got from her mother.", {("thing", "teapot"), ("person", "nora")}),
        ("We met Dr. Maria Huber at Siemens in Graz.", {("person", "maria huber"), ("place", "graz")}),
        ("My sister works for the city council.", {("organisation", "city council")}),
        ("He photographed two telescopes and the kitchens.", {("thing", "telescope"), ("place", "kitchen")}),
        ("The meditation did me good.", {("topic", "meditation")}),
    ],
)
def test_names_and_nouns_are_found_with_their_types(text: str, there: set[tuple[str, str]], parser: Parser) -> None:
    assert there <= said(text, parser)


@pytest.mark.parametrize(
    "text",
    [
        "My sister and your mother are here.",  # whose, changes with who speaks
        "It was a good thing, on the whole, for some people.",
        "See you on Tuesday at half past nine, or next week!",
        "Okay. Yes, of course. Thanks!",
        "",
    ],
)
def test_what_says_nothing_is_no_entity(text: str, parser: Parser) -> None:
    assert said(text, parser) == set()


def test_the_same_name_is_the_same_entity_however_it_is_written() -> None:
    assert normal("  Café   Rosé’s ") == normal("Cafe\u0301 ROSÉ") == "café rosé"


def test_a_name_has_the_type_that_it_mostly_has_among_turns_of_the_same_readers() -> None:
    class Fickle:
        """Takes Cork for a company once."""

        name, languages = "fickle", frozenset({"en"})

        def __call__(self, texts: list[str]) -> list[tuple[object, ...]]:
            from service.types.parsing import Sentence, Token

            return [
                (Sentence((Token("Cork", 0, "Cork", "PROPN", "NNP", "ROOT", 0, "ORG" if "odd" in t else "GPE"),)),)
                for t in texts
            ]

    turns = [SpokenTurn(str(i), text, "en", "all") for i, text in enumerate(["odd", "even", "even"])]
    alone = SpokenTurn("secret", "odd", "en", "few")
    found = mentions_of([*turns, alone], Fickle())  # type: ignore[arg-type]
    assert {m.type for id, each in found.items() for m in each if id != "secret"} == {EntityType.PLACE}
    assert found["secret"][0].type is EntityType.ORGANISATION, "who reads only this must not learn from what they may not read"


def test_other_languages_have_names_by_their_capitals(parser: Parser) -> None:
    assert said("Ayer María fue a Madrid.", parser, "es") == {("topic", "maría"), ("topic", "madrid")}
    assert said("Gestern war Anna Huber da. Der Hund mag das Haus.", parser, "de") == {("topic", "anna huber")}


def test_a_fact_tells_what_its_own_turn_only_points_to() -> None:
    cork = Mention(EntityType.PLACE, "cork", "Cork", MentionKind.NAME)
    boat = Mention(EntityType.THING, "boat", "boats", MentionKind.NOUN)
    assert told_in("{speaker} loves Cork.", [cork, boat]) == (cork,)
    assert told_in("{speaker} corks bottles.", [cork, boat]) == ()


def test_every_entity_has_one_theme_by_its_name_and_type_alone() -> None:
    assert theme_of(EntityType.THING, "piano") == "leisure"
    assert theme_of(EntityType.EVENT, "dentist appointment") == "health", "the last word that speaks of a theme"
    assert theme_of(EntityType.PERSON, "rose") == "people"
    assert theme_of(EntityType.PLACE, "graz") == "places"
    assert theme_of(EntityType.THING, "gizmo") == "other"


def test_a_turn_read_aloud_does_not_link_all_with_all(parser: Parser) -> None:
    text = " ".join(f"I saw the {word}." for word in ("lamp", "table", "chair", "piano", "teapot", "wardrobe", "carpet") * 1)
    words = " ".join(f"The number {i} machine{chr(97 + i % 26)}{chr(97 + i // 26)} works." for i in range(60))
    assert len(said(text, parser)) == 7
    assert len(said(words, parser)) <= 24
