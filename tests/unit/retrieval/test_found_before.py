"""Of two scores of a message the better one stands: that of an earlier question, lowered by how far apart the two are."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.found_before import FOUND_BEFORE, FoundBeforeConfig, held_again
from service.retrieval.ranking import Candidate
from service.types.candidates import Earlier
from service.types.search import Found, Tool

LEAST = 0.88
IDS = st.sampled_from("abcdef")
SCORES = st.floats(0.001, 0.999)
RANKED = st.lists(st.builds(Candidate, IDS, SCORES, st.just(())), unique_by=lambda one: one.id).map(
    lambda every: tuple(sorted(every, key=lambda one: (-one.score, one.id)))
)
EARLIER = st.lists(st.builds(Earlier, IDS, st.just(("s", 0)), SCORES, SCORES, st.floats(LEAST, 1.0)))


def earlier(id: str, score: float, cosine: float, best: float | None = None) -> Earlier:
    return Earlier(id, ("monday", 0), score, best or score, cosine)


def test_what_the_better_wording_found_is_held_likely_again() -> None:
    now = (Candidate("weak", 0.1, ()), Candidate("meant", 0.05, ()))
    first, second = held_again(now, [earlier("meant", 0.6, 1.0)], LEAST)
    assert (first.id, second.id) == ("meant", "weak")
    assert math.isclose(first.score, 0.6) and first.because[0][0] == FOUND_BEFORE
    assert first.found == (Found(Tool.FOUND_BEFORE, 1, 1.0),) and second == now[0]


def test_a_question_that_is_only_just_alike_counts_for_less() -> None:
    (held,) = held_again([Candidate("a", 0.01, ())], [earlier("a", 0.5, LEAST)], LEAST, FoundBeforeConfig(apart=1.0))
    assert math.isclose(held.score, 1 / (1 + math.exp(1.0)))


def test_what_was_asked_no_better_before_counts_for_nothing_now() -> None:
    now = (Candidate("sure", 0.7, ()), Candidate("other", 0.1, ()))
    held = held_again(now, [earlier("other", 0.72, 1.0)], LEAST)
    assert [(one.id, one.score) for one in held] == [("sure", 0.7), ("other", 0.1)]
    assert [found.tool for found in held[1].found] == [Tool.FOUND_BEFORE], "it was found before, all the same"
    second = held_again(now, [earlier("other", 0.3, 1.0, best=0.9), earlier("sure", 0.9, 1.0)], LEAST)
    assert [round(one.score, 9) for one in second] == [0.9, 0.3], "not only the best of a better wording"


@given(RANKED, EARLIER)
def test_nothing_scores_less_than_now_nothing_comes_or_goes_and_twice_is_once(
    now: tuple[Candidate, ...], before: list[Earlier]
) -> None:
    held = held_again(now, before, LEAST)
    scores = {one.id: one.score for one in now}
    assert {one.id for one in held} == set(scores)
    assert all(one.score >= scores[one.id] - 1e-12 for one in held)
    assert [one.score for one in held] == sorted((one.score for one in held), reverse=True)
    best = max([one.score for one in (*now, *before)], default=0.0)
    assert all(one.score <= best + 1e-9 for one in held)
    again = held_again(held, before, LEAST)
    assert [(one.id, round(one.score, 9)) for one in again] == [(one.id, round(one.score, 9)) for one in held]


@given(RANKED)
def test_the_same_words_again_are_told_the_same(now: tuple[Candidate, ...]) -> None:
    held = held_again(now, [earlier(one.id, one.score, 1.0) for one in now], LEAST)
    assert {one.id: round(one.score, 9) for one in held} == {one.id: round(one.score, 9) for one in now}
