"""Which words of what is being said may be a name?"""

from __future__ import annotations

import pytest

from service.memory.left_brain.mentions import MentionConfig
from service.streaming.words import phrases_of
from service.types.names import normal


def test_what_may_be_a_name_are_stretches_of_words() -> None:
    assert set(phrases_of("Nora's telescopes", 3)) == {
        "nora's telescopes", "nora's telescope", "nora telescopes", "nora telescope", "nora", "telescopes", "telescope",
    }  # fmt: skip
    assert phrases_of("", 3) == () and len(phrases_of("word " * 500, 3)) <= 6


@pytest.mark.parametrize("name", ["Coca-Cola", "Rosé’s", "O’Brien", "The Lord of the Rings", "Jail Museum and Gift Shop"])
def test_a_name_is_found_in_the_form_that_it_is_kept_in(name: str) -> None:
    assert normal(name) in phrases_of(f"Well, it was about {name}, wasn't it?", MentionConfig().max_words)
