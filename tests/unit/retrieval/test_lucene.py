from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.graph.search import _ESCAPED
from service.retrieval.lucene import MAX_TERMS, escaped, lucene_query


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Where is the key?", r"where is the key\?"),
        ("what? (AND [x:", r"what\? \(and \[x\:"),
        ("this AND that OR NOT those", "this and that or not those"),
        ("readers:public", r"readers\:public"),
        ("tb- a/b c && d || !e", r"tb\- a\/b c d \!e"),
        ('"exact" fuzzy~ wild* ca^2 {x} back\\slash +must', r"\"exact\" fuzzy\~ wild\* ca\^2 \{x\} back\\slash \+must"),
        ("again again Again", "again"),
        ("鍵はどこ", "鍵はどこ"),
        ("🔑 key", "🔑 key"),
    ],
)
def test_a_question_becomes_escaped_words(text: str, query: str) -> None:
    assert escaped(text) == query


@pytest.mark.parametrize("text", ["", "  ", "?!", "-- (( ))", "\x00\u200b", "\ud800", "+ - && || ! \\ /", "\u3000"])
def test_what_has_no_word_in_it_is_empty(text: str) -> None:
    assert escaped(text) == ""


def test_a_long_question_keeps_as_many_terms_as_lucene_takes() -> None:
    assert len(escaped(" ".join(f"word{i}" for i in range(5_000))).split()) == MAX_TERMS
    assert len(escaped("鍵 " * 10 + " ".join(chr(0x4E00 + i) for i in range(2_000))).split()) <= MAX_TERMS


@given(st.text())
def test_no_operator_survives_in_any_text(text: str) -> None:
    query = escaped(text)
    assert _ESCAPED.fullmatch(query)
    assert not re.search(r"(?<!\S)(AND|OR|NOT|TO)(?!\S)", query)
    query.encode()


@given(st.text(), st.text())
def test_a_query_of_words_and_names_is_one_that_the_graph_takes(words: str, names: str) -> None:
    assert _ESCAPED.fullmatch(lucene_query(words, names))


def test_names_count_for_little() -> None:
    assert lucene_query("red bicycle", "Ana O'Hara-Li") == r"red bicycle ana^0.3 o'hara\-li^0.3"
    assert lucene_query("", "") == ""


@pytest.mark.parametrize("query", ["a^2", "x) OR y", "a^0.3b", "readers:x", "wild*", "end\\"])
def test_an_operator_is_told_from_an_escaped_character(query: str) -> None:
    assert not _ESCAPED.fullmatch(query)
