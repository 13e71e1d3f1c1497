import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.retrieval.metrics import Resamples, full, judge, ndcg, recall, reciprocal_rank

RANKED = ("a", "b", "c", "d")


def test_recall_is_the_share_of_gold_among_the_first():
    assert recall(RANKED, ("b", "d", "z"), 2) == pytest.approx(1 / 3)
    assert recall(RANKED, ("b", "d", "z"), 4) == pytest.approx(2 / 3)


def test_full_evidence_wants_all_of_it():
    assert full(RANKED, ("a", "b"), 2) == 1.0
    assert full(RANKED, ("a", "c"), 2) == 0.0


def test_the_reciprocal_rank_is_of_the_first_gold_turn():
    assert reciprocal_rank(RANKED, ("d", "c")) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKED, ("z",)) == 0.0


def test_ndcg_discounts_by_rank():
    assert ndcg(RANKED, ("b",), 10) == pytest.approx(1 / np.log2(3))
    assert ndcg(RANKED, ("a", "b"), 10) == pytest.approx(1.0)
    assert ndcg(RANKED, ("a", "b", "z"), 2) == pytest.approx(1.0)


def test_a_turn_named_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        judge(("a", "a"), ("a",))


@given(st.permutations([str(i) for i in range(20)]), st.sets(st.sampled_from([str(i) for i in range(25)]), min_size=1))
def test_metrics_agree_with_one_another(ranked: list[str], gold: set[str]):
    scores = judge(ranked, sorted(gold))
    assert all(0.0 <= value <= 1.0 for value in scores.values())
    assert scores["recall_at_5"] <= scores["recall_at_10"] <= scores["recall_at_15"] <= scores["recall_at_50"]
    assert (scores["full_evidence_at_15"] == 1.0) == (scores["recall_at_15"] == 1.0)
    assert (scores["mrr"] > 0.0) == (scores["recall_at_50"] > 0.0)


def test_an_interval_holds_the_mean_and_is_the_same_again():
    values = np.random.default_rng(3).random(400)
    low, high = Resamples(400).interval(values)
    assert low < values.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.15)
    assert Resamples(400).interval(values) == (low, high)


def test_a_gain_that_is_the_same_everywhere_is_certain():
    values = np.random.default_rng(3).random(50)
    assert Resamples(50).interval((values + 0.1) - values) == pytest.approx((0.1, 0.1), abs=1e-6)


def test_questions_of_one_meeting_are_drawn_together():
    meetings = np.repeat(np.arange(20), 20)
    values = np.random.default_rng(1).random(20)[meetings]
    alone = Resamples(400).interval(values)
    together = Resamples(400, [str(m) for m in meetings]).interval(values)
    assert together[1] - together[0] > 3 * (alone[1] - alone[0])
