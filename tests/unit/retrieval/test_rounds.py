from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.ranking import Candidate
from service.retrieval.rounds import Gathered, RoundsConfig, by_edges_alone, raised, with_edges
from service.types.search import Found, Ranked, Tool


def a_candidate(id: str, score: float, *tools: Tool, rank: int = 1) -> Candidate:
    return Candidate(id, score, tuple(Found(tool, rank, 1.0) for tool in tools))


def order(candidates: tuple[Candidate, ...]) -> list[str]:
    return [candidate.id for candidate in candidates]


def test_a_further_round_for_the_same_question_knows_better() -> None:
    first = Gathered().and_then(1, [a_candidate("a", 0.6), a_candidate("b", 0.5)], same_question=True)
    second = first.and_then(2, [a_candidate("a", 0.2), a_candidate("c", 0.9)], same_question=True)
    assert order(second.candidates) == ["c", "b", "a"]
    assert second.since == {"a": 1, "b": 1, "c": 2}


def test_of_two_questions_the_better_score_stands() -> None:
    first = Gathered().and_then(1, [a_candidate("a", 0.6), a_candidate("b", 0.5)], same_question=True)
    second = first.and_then(2, [a_candidate("a", 0.2), a_candidate("b", 0.7)], same_question=False)
    assert [(c.id, c.score) for c in second.candidates] == [("b", 0.7), ("a", 0.6)]


def test_a_tool_is_told_once_with_its_better_rank() -> None:
    first = Gathered().and_then(1, [a_candidate("a", 0.6, Tool.BM25, Tool.DENSE, rank=4)], same_question=True)
    found = first.and_then(2, [a_candidate("a", 0.5, Tool.BM25, rank=2)], same_question=True).candidates[0].found
    assert {(f.tool, f.rank) for f in found} == {(Tool.BM25, 2), (Tool.DENSE, 4)}


def test_what_the_edges_confirm_gains_and_nothing_else_is_lost() -> None:
    wide = [a_candidate("a", 0.3, Tool.BM25), a_candidate("b", 0.2, Tool.BM25), a_candidate("c", 0.01, Tool.DENSE)]
    ranked = with_edges(wide, [a_candidate("b", 0.2, Tool.BM25), a_candidate("d", 0.001, Tool.DENSE)])
    assert order(ranked) == ["b", "a", "c", "d"]
    assert {f.tool for f in ranked[0].found} == {Tool.BM25, Tool.PEOPLE}
    assert ranked[0].because[0] == ("edges", RoundsConfig().edges)
    assert {f.tool for f in ranked[1].found} == {Tool.BM25}


def test_the_edges_alone_keep_their_order() -> None:
    ranked = by_edges_alone((Ranked("new", 0.3), Ranked("old", 0.95)))
    assert order(ranked) == ["new", "old"]
    assert all(0.5 <= candidate.score <= 1 for candidate in ranked)
    assert by_edges_alone(()) == ()


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.1, 5))
def test_raising_keeps_the_order_and_stays_a_probability(one: float, other: float, by: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= raised(low, by) <= raised(high, by) <= 1
    assert raised(low, by) >= min(low, 1 - 1e-9) - 1e-12


def test_raising_adds_to_the_log_odds() -> None:
    assert raised(0.5, 0.0) == pytest.approx(0.5)
    assert raised(0.5, 2.0) == pytest.approx(0.8808, abs=1e-4)
