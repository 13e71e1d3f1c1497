from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.inflections import forms


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("buy", "bought"), ("bought", "buying"), ("research", "researching"), ("researched", "research"), ("hiking", "hike"),
        ("stopped", "stop"), ("study", "studied"), ("studies", "study"), ("paintings", "painted"), ("activities", "activity"),
        ("child", "children"), ("went", "go"), ("books", "book"), ("run", "ran"), ("running", "run"), ("wishes", "wish"),
    ],
)  # fmt: skip
def test_a_word_is_looked_for_in_its_other_forms(asked: str, said: str) -> None:
    assert said in forms(asked)


@pytest.mark.parametrize("word", ["学习", "café", "2023", "us", "is", "f-7"])
def test_what_has_no_english_endings_stands_for_itself(word: str) -> None:
    assert forms(word) == (word,)


def test_a_name_that_owns_something_is_looked_for_alone_too() -> None:
    assert forms("Caroline’s")[:2] == ("caroline’s", "caroline")


@given(st.text(min_size=1))
def test_any_text_has_forms_the_text_itself_first(word: str) -> None:
    found = forms(word)
    assert found[0] == word.casefold() and len(set(found)) == len(found) < 40
