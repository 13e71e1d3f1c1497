"""What may be a name in what is being said, and when two hearings of it are the same words."""

from __future__ import annotations

from service.streaming.words import phrases_of, same_words


def test_what_may_be_a_name_are_stretches_of_words() -> None:
    assert set(phrases_of("Nora's telescopes")) == {
        "nora telescopes", "nora telescope", "nora", "telescopes", "telescope"}  # fmt: skip
    assert phrases_of("") == () and len(phrases_of("word " * 500)) <= 6


def test_commas_and_capitals_make_no_other_words() -> None:
    assert same_words("Where is it, Nora?", "where is it nora") and not same_words("where is it", "where was it")
    assert same_words("?", "?") and not same_words("?", "!")
