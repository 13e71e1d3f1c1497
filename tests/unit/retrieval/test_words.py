from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.words import WORD, asked, nearness, rarity, shipped, spoken, words_of
from tests.unit.retrieval.signal_builders import a_read, signals
from tests.unit.retrieval.test_features import column


def test_a_word_is_nearer_to_one_of_like_meaning_than_to_another() -> None:
    texts = [spoken("We took the vehicle."), spoken("We took the table."), spoken("We took the car.")]
    vehicle, table, car = nearness(["car"], texts)[:, 0]
    assert car == 1.0 > vehicle > 0.3 > table


def test_a_word_that_the_table_does_not_have_is_near_to_itself_alone() -> None:
    near = nearness(["zxqy", "自行车"], [["zxqy"], ["zxqz", "car"], ["自行车"]])
    assert near.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]


def test_what_a_question_is_about_is_neither_its_auxiliaries_nor_said_twice() -> None:
    assert asked("What did Ana's sister say that the sister’s boat is?") == ("ana", "sister", "say", "boat")


def test_a_word_that_few_say_weighs_more() -> None:
    said_by_all, said_by_one = rarity(np.array([[1.0, 1.0], [1.0, 0.2], [1.0, 0.4]]))
    assert said_by_one > said_by_all > 0
    assert said_by_one + said_by_all == pytest.approx(1.0)
    assert rarity(np.zeros((0, 0))).tolist() == []


def test_the_table_is_of_unit_length_and_names_each_word_once() -> None:
    table = shipped()
    assert len(table.row) == len(table.vectors) > 20_000
    assert np.allclose(np.linalg.norm(table.vectors, axis=1), 1.0, atol=1e-5)


@given(st.lists(st.text(max_size=12), max_size=4), st.lists(st.lists(st.text(max_size=12), max_size=5), max_size=5))
def test_nearness_is_between_nothing_and_sameness(question: list[str], texts: list[list[str]]) -> None:
    near = nearness(question, texts)
    assert near.shape == (len(texts), len(question))
    assert ((near >= 0) & (near <= 1 + 1e-5)).all()
    for row, text in enumerate(texts):
        assert all(near[row, at] == 1.0 for at, word in enumerate(question) if word in text)


def test_a_turn_counts_by_what_it_says_in_other_words_and_by_what_was_said_before_it() -> None:
    read = [a_read(0, "They took the car."), a_read(1, "Yes, gladly."), a_read(5, "They took the train.")]
    made = signals(*read, question="Which vehicle was it?")
    car, after, train = column(made, "alike")
    assert car > after
    assert train > after
    context = column(made, "alike_context_z")
    assert context[0] > context[1] > 0 > min(context)
    assert column(made, "alike_before")[1] == max(column(made, "alike_before"))


def test_a_question_without_words_of_its_own_tells_nothing_apart() -> None:
    assert column(signals(a_read(0, "Hello."), a_read(1), question="What was it?"), "alike") == [0.0, 0.0]


@given(st.text(max_size=60) | st.text(alphabet="aB1_'’s- .?!\n\x1f", max_size=60))
def test_words_are_those_of_the_expression(text: str) -> None:
    assert words_of(text) == WORD.findall(text.lower().replace("’", "'"))
