from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.policy import Rules, RulesConfig
from service.types.search import Asked, Done, Enough, Evidence, QuestionType, Step, Tool

AT = datetime(2026, 5, 3, tzinfo=UTC)
ASKED = Asked("Where is the key?", QuestionType.LOOKUP, AT)
CONFIG = RulesConfig()


def evidence(*scores: float) -> tuple[Evidence, ...]:
    return tuple(Evidence(f"m{i}", "Ana", (), AT, "words", score) for i, score in enumerate(scores))


def decided(asked: Asked, *rounds: tuple[Evidence, ...], narrow: bool = False) -> Step | Enough:
    done = tuple(Done(Step(asked.question, "", narrow=narrow), found) for found in rounds)
    return asyncio.run(Rules()(asked, done))


def test_the_first_round_looks_for_the_question_as_it_was_asked() -> None:
    step = decided(ASKED)
    assert isinstance(step, Step)
    assert (step.query, step.extend, step.narrow) == (ASKED.question, (), False)
    directed = decided(replace(ASKED, directed=True))
    assert isinstance(directed, Step) and directed.narrow


def test_one_good_hit_is_enough_for_one_thing_and_not_for_several() -> None:
    good = evidence(CONFIG.sure + 0.01)
    assert isinstance(decided(ASKED, good), Enough)
    several = decided(replace(ASKED, type=QuestionType.LIST), good)
    assert isinstance(several, Step)
    assert several.extend == ("m0",) and Tool.REPLIES in several.expand


def test_what_fits_badly_is_looked_for_once_more_with_the_best_hit() -> None:
    step = decided(ASKED, evidence(CONFIG.sure - 0.01))
    assert isinstance(step, Step)
    assert (step.query, step.extend) == (ASKED.question, ("m0",))


def test_a_second_round_that_changes_nothing_is_the_last() -> None:
    assert isinstance(decided(ASKED, evidence(0.1), evidence(0.1)), Enough)


def test_a_question_for_the_edges_is_answered_by_them_or_not_at_all() -> None:
    by_edges = replace(ASKED, directed=True, contentless=True)
    assert isinstance(decided(by_edges, evidence(0.1), narrow=True), Enough)
    assert isinstance(decided(by_edges, (), narrow=True), Enough)
    wide = decided(replace(by_edges, contentless=False), (), narrow=True)
    assert isinstance(wide, Step) and not wide.narrow


def test_nothing_found_is_no_reason_to_look_again() -> None:
    assert isinstance(decided(ASKED, ()), Enough)


@given(
    st.sampled_from(QuestionType),
    st.booleans(),
    st.booleans(),
    st.lists(st.lists(st.floats(0, 1), max_size=3), max_size=5),
)
def test_at_most_three_rounds_and_only_from_what_was_given(
    type: QuestionType, directed: bool, contentless: bool, scores: list[list[float]]
) -> None:
    asked = replace(ASKED, type=type, directed=directed, contentless=contentless)
    done: tuple[Done, ...] = ()
    for given_scores in (*scores, *([[0.0]] * 5)):
        step = asyncio.run(Rules()(asked, done))
        if isinstance(step, Enough):
            break
        assert set(step.extend) <= {one.id for made in done for one in made.evidence}
        done = (*done, Done(step, evidence(*sorted(given_scores, reverse=True))))
    assert 1 <= len(done) <= 3
