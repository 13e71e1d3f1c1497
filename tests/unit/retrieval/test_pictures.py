"""Which questions ask for something shown."""

from __future__ import annotations

import pytest

from service.retrieval.pictures import asks_for_images


@pytest.mark.parametrize(
    "question", ["What was in the photo that Ana showed?", "What did the cake look like?", "Which Bilder?"]
)
def test_a_question_may_ask_for_what_was_shown(question: str) -> None:
    assert asks_for_images(question)


@pytest.mark.parametrize(
    "question", ["Did Ana look for the keys?", "Who builds the shed?", "Imagine we sold it: what then?", ""]
)
def test_other_questions_do_not(question: str) -> None:
    assert not asks_for_images(question)
