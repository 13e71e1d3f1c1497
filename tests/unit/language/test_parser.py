"""The English parser from its package: sentences, heads and words where they stand, each text on its own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.language.parser import SpacyParser


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    return SpacyParser.load()


def test_a_sentence_has_its_verb_its_subject_and_its_entities(parser: SpacyParser) -> None:
    ((first, second),) = parser(["I'll send Ana the draft by Friday. Thanks!"])
    verb = next(token for token in first.tokens if token.dep == "ROOT")
    assert verb.lemma == "send"
    assert {token.text for token in first.tokens if token.dep == "nsubj"} == {"I"}
    assert {token.entity for token in first.tokens if token.text == "Friday"} == {"DATE"}
    assert second.tokens[0].text == "Thanks"


def test_what_else_is_parsed_changes_nothing(parser: SpacyParser) -> None:
    alone = parser(["My sister moved to Leeds."])
    assert parser(["Something else.", "My sister moved to Leeds.", "", "  \n "])[1:2] == alone
    assert parser([]) == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=3))
def test_tokens_stand_where_they_say_and_heads_stay_inside(parser: SpacyParser, texts: list[str]) -> None:
    parsed = parser(texts)
    assert len(parsed) == len(texts)
    for text, sentences in zip(texts, parsed, strict=True):
        for sentence in sentences:
            for token in sentence.tokens:
                assert text[token.begin : token.end] == token.text
                assert 0 <= token.head < len(sentence.tokens)


def test_the_parser_is_loaded_by_nobody_who_does_not_ask() -> None:
    script = "import sys, service.language.parser; print('spacy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
