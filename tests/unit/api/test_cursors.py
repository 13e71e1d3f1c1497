from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.cursors import DEFAULT_FIRST, decode, encode, page
from service.errors import InvalidInput


@given(st.integers(-(2**63) + 1, 2**63 - 1), st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_a_cursor_says_where_it_was_taken(key: int, id: str) -> None:
    assert decode(encode((key, id)), "after") == (key, id)


@given(st.text(max_size=80))
def test_anything_else_is_refused_or_a_key(text: str) -> None:
    try:
        key, id = decode(text, "after")
    except InvalidInput:
        return
    assert type(key) is int and isinstance(id, str)


@pytest.mark.parametrize(
    "raw", ["[1]", '["1", "a"]', "[1, 2]", '[true, "a"]', '[1.5, "a"]', f'[{2**63}, "a"]', "{}", "null", "[" * 400]
)
def test_a_forged_cursor_is_refused(raw: str) -> None:
    with pytest.raises(InvalidInput, match="after"):
        decode(base64.urlsafe_b64encode(raw.encode()).decode(), "after")


def test_a_page_has_a_default_size_and_a_cap() -> None:
    assert page(None, None).first == DEFAULT_FIRST
    assert page(100, None).first == 100
    for first in (101, -1):
        with pytest.raises(InvalidInput):
            page(first, None)
    with pytest.raises(InvalidInput):
        page(1, None, last=1)
