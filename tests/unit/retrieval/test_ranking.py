from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.features import features
from service.retrieval.ranking import NUM_REASONS, Ranker
from service.retrieval.weights import Weights, shipped
from service.types.search import Found, Tool
from tests.unit.retrieval.signal_builders import MONDAY, a_read, signals


def test_what_has_the_words_and_is_near_comes_first() -> None:
    read = [
        a_read(i, "I bought a red bicycle." if i == 7 else "Well, it rained again.", turn=0.9 if i == 7 else 0.7)
        for i in range(12)
    ]
    ranked = Ranker()(signals(*read, terms=[{(MONDAY, 7): 5.0}, {(MONDAY, 7): 4.0}]))
    assert ranked[0].id == "monday/7"
    assert ranked[0].found == (Found(Tool.BM25, 1, 9.0), Found(Tool.DENSE, 1, 0.9))


def test_a_hit_says_what_spoke_for_it_the_weightiest_first() -> None:
    weights = Weights({"by": 2.0, "asks": -1.0, "length": 0.0}, 1.0, 0.0, "test")
    ranked = Ranker(weights)(signals(a_read(0, "Really?", by=True), a_read(1, "No."), named=True))
    assert ranked[0].because == (("by", 2.0), ("asks", -1.0))
    assert ranked[1].because == ()


def test_ties_are_broken_by_id_so_that_one_question_has_one_answer() -> None:
    weights = Weights({}, 1.0, 0.0, "test")
    assert [one.id for one in Ranker(weights)(signals(a_read(2), a_read(0), a_read(1)))] == ["monday/0", "monday/1", "monday/2"]


def test_a_message_found_by_a_fact_says_so() -> None:
    ranked = Ranker()(signals(a_read(0), fact_turn={"monday/0": 0.9}))
    assert Tool.FACT_DENSE in {found.tool for found in ranked[0].found}


def test_scores_are_probabilities_in_the_order_of_the_ranking() -> None:
    weights = Weights({"turn_z": 400.0}, 10.0, -4.0, "test")
    scores = [one.score for one in Ranker(weights)(signals(*(a_read(i, turn=0.5 + i / 20) for i in range(9))))]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)


def test_every_shipped_weight_is_of_a_feature_and_says_where_it_comes_from() -> None:
    _, names = features(signals(a_read(0)))
    weights = shipped()
    assert set(weights.by_feature) <= set(names)
    assert weights.scale > 0 and weights.source
    assert "locomo" not in weights.source.lower(), "fitted on what its licence lets anybody use"


def test_a_feature_without_a_weight_counts_for_nothing() -> None:
    assert Weights({"by": 1.0}, 1.0, 0.0, "test").of(("to", "by")) == pytest.approx([0.0, 1.0])


@given(st.lists(st.tuples(st.integers(0, 50), st.floats(-1, 1)), unique_by=lambda one: one[0], max_size=20))
def test_nothing_that_was_read_is_lost_or_doubled(read: list[tuple[int, float]]) -> None:
    ranked = Ranker()(signals(*(a_read(index, turn=cosine) for index, cosine in read)))
    assert sorted(one.id for one in ranked) == sorted(f"monday/{index}" for index, _ in read)
    assert all(len(one.because) <= NUM_REASONS for one in ranked)
