from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.types.search import Found, Ranked, Ranking, Tool
from tests.bench.locomo_id.fusion import FusionConfig, favour, fuse


def a_ranking(*ids: str) -> Ranking:
    return tuple(Ranked(id, 1.0 - 0.1 * i) for i, id in enumerate(ids))


def test_first_in_every_leg_is_the_best_a_hit_can_get() -> None:
    fused = fuse({Tool.BM25: a_ranking("a", "b"), Tool.DENSE: a_ranking("a", "c")})
    assert fused[0].id == "a" and fused[0].score == pytest.approx(1.0)
    assert fused[0].found == (Found(Tool.BM25, 1, 1.0), Found(Tool.DENSE, 1, 1.0))


def test_found_by_two_legs_beats_first_in_one() -> None:
    assert fuse({Tool.BM25: a_ranking("a", "b"), Tool.DENSE: a_ranking("c", "b")})[0].id == "b"


def test_a_leg_that_found_nothing_takes_nothing_from_the_others() -> None:
    assert fuse({Tool.BM25: (), Tool.DENSE: a_ranking("a")})[0].score == pytest.approx(1.0)
    assert fuse({Tool.BM25: ()}) == ()


def test_ties_keep_the_order_of_the_first_ranking() -> None:
    assert [f.id for f in fuse({Tool.BM25: a_ranking("a", "b"), Tool.DENSE: a_ranking("b", "a")})] == ["a", "b"]


def test_weights_decide_between_legs() -> None:
    config = FusionConfig(weights={Tool.BM25: 1.0, Tool.DENSE: 2.0, Tool.DENSE_CONTEXT: 1.0})
    assert fuse({Tool.BM25: a_ranking("a"), Tool.DENSE: a_ranking("b")}, config)[0].id == "b"


def test_favour_moves_up_softly() -> None:
    fused = fuse({Tool.BM25: a_ranking("a", "b", "c"), Tool.DENSE: a_ranking("a", "b", "c")})
    moved = favour(fused, {"b"}, num_legs=2)
    assert [hit.id for hit in moved] == ["b", "a", "c"]
    far = fuse({Tool.BM25: a_ranking("a", "b"), Tool.DENSE: a_ranking("a"), Tool.DENSE_CONTEXT: a_ranking("a")})
    assert favour(far, {"b"}, num_legs=3)[0].id == "a", "one leg and the favour do not beat three legs"


_rankings = st.dictionaries(
    st.sampled_from(Tool), st.lists(st.sampled_from("abcdefgh"), unique=True).map(lambda ids: a_ranking(*ids)), max_size=3
)


@given(_rankings, st.sets(st.sampled_from("abcdefgh")))
def test_scores_are_shares_best_first_and_nothing_is_lost_or_doubled(rankings: dict[Tool, Ranking], meant: set[str]) -> None:
    fused = fuse(rankings)
    for hits in (fused, favour(fused, meant, num_legs=max(1, sum(map(bool, rankings.values()))))):
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True) and all(0 < s <= 1 + 1e-9 for s in scores)
        assert sorted(hit.id for hit in hits) == sorted({r.id for ranking in rankings.values() for r in ranking})
