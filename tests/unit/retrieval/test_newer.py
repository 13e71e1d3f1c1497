"""Which questions ask how things stand, and what is put above what for them?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.newer import NEWER, asks_what_holds, newest_above
from service.retrieval.ranking import Candidate

AT = datetime(2026, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "question",
    [
        "When is the dentist?",
        "Where is the spare key?",
        "Does Ana still work at the bakery?",
        "Which colour are we painting the hall?",
        "What did they decide on in the end?",
        "Who has the key now?",
        "Is Bo coming?",
        "On which day do we leave?",
    ],
)
def test_how_things_stand_is_asked(question: str) -> None:
    assert asks_what_holds(question)


@pytest.mark.parametrize(
    "question",
    [
        "When was the dentist?",
        "Where did we want to go at first?",
        "Which day was it before it was moved?",
        "What does Ana do?",
        "Which books has Ana read?",
        "Why is the key with Bo?",
        "Who told Bo about the trip?",
        "What do Ana and Bo have in common?",
        "Would she like it?",
    ],
)
def test_something_else_is_asked(question: str) -> None:
    assert not asks_what_holds(question)


def test_what_was_said_later_of_the_same_goes_right_above() -> None:
    ranked = [Candidate("a", 0.6, ()), Candidate("old", 0.4, ()), Candidate("b", 0.3, ()), Candidate("new", 0.2, ())]
    said_at = {id: AT + timedelta(days=day) for id, day in (("a", 0), ("old", 1), ("b", 2), ("new", 3))}
    found = newest_above(ranked, said_at, {("new", "old")})
    assert [one.id for one in found] == ["a", "new", "old", "b"]
    assert found[1].score == 0.4
    ((reason, gain),) = found[1].because
    assert (reason, gain) == (NEWER, 0.981)


def test_what_hardly_answers_stays_where_it_is() -> None:
    ranked = [Candidate("old", 0.6, ()), Candidate("new", 0.05, ())]
    said_at = {"old": AT, "new": AT + timedelta(days=1)}
    assert newest_above(ranked, said_at, {("new", "old")}) == tuple(ranked)
    assert newest_above(ranked, said_at, ()) == tuple(ranked)


@given(st.lists(st.floats(0, 1), max_size=8), st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20))
def test_nothing_is_lost_and_scores_go_down(scores: list[float], pairs: set[tuple[int, int]]) -> None:
    ranked = [Candidate(str(i), score, ()) for i, score in enumerate(sorted(scores, reverse=True))]
    said_at = {one.id: AT + timedelta(days=(int(one.id) * 5) % 8) for one in ranked}
    alike = {(str(a), str(b)) for a, b in pairs if (a * 5) % 8 > (b * 5) % 8}
    found = newest_above(ranked, said_at, alike)
    assert sorted(one.id for one in found) == sorted(one.id for one in ranked)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
