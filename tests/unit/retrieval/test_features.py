from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.features import Kept, features
from service.retrieval.signals import Hits, Signals, SignalsConfig, beside, term_queries, worth_reading
from service.types.facts import Precision, TimeSpan
from tests.unit.retrieval.signal_builders import MONDAY, NOON, a_read, signals


def column(made: Signals, name: str) -> list[float]:
    matrix, names = features(made)
    return [float(value) for value in matrix[:, names.index(name)]]


def test_what_a_turn_says_after_one_with_the_words_counts_in_its_context() -> None:
    made = signals(a_read(0, "Did you buy it?"), a_read(1, "Yes."), a_read(9), terms=[{(MONDAY, 0): 4.0}])
    assert column(made, "words") == [1.0, 0.0, 0.0]
    assert column(made, "words_context") == pytest.approx([1.0, 0.9, 0.0])


def test_a_passage_about_all_of_the_question_is_told_from_one_that_repeats_a_word() -> None:
    read = [a_read(0), a_read(40)]
    terms = [{(MONDAY, 1): 2.0, (MONDAY, 41): 2.0, (MONDAY, 42): 2.0}, {(MONDAY, 2): 2.0}]
    cover = column(signals(*read, terms=terms), "words_cover5")
    assert cover[0] > cover[1]


def test_a_turn_of_another_session_is_no_neighbour() -> None:
    read = [a_read(0, session="monday"), a_read(0, session="tuesday")]
    made = signals(*read, terms=[{("monday", 1): 3.0}])
    assert column(made, "words_within5")[0] > 0 > column(made, "words_within5")[1]


def test_an_answer_to_a_question_is_told_from_a_question() -> None:
    made = signals(a_read(0, "Where is it?"), a_read(1, "In the shed."), a_read(2, "Fine, thanks."))
    assert column(made, "asks") == [1.0, 0.0, 0.0]
    assert column(made, "asked_before") == [0.0, 1.0, 0.0]


def test_times_count_where_the_question_asks_when() -> None:
    read = [a_read(0, "I went there yesterday."), a_read(1, "I went there.")]
    assert column(signals(*read, question="When did they go?"), "when_told") == [1.0, 0.0]
    assert column(signals(*read, question="Where did they go?"), "when_told") == [0.0, 0.0]


def test_a_window_of_time_is_met_by_what_was_said_in_it_and_a_little_by_what_was_said_soon_after() -> None:
    start = datetime.fromtimestamp(NOON, tz=UTC)
    window = TimeSpan(start, start + timedelta(days=1), Precision.DAY, "on Monday")
    read = [
        a_read(0),
        a_read(1, said_at=NOON + 2 * 86_400),
        a_read(2, said_at=NOON + 300 * 86_400),
        a_read(3, said_at=NOON - 9),
    ]
    made = signals(*read, windows=[window])
    assert column(made, "in_window") == [1.0, 0.0, 0.0, 0.0]
    soon = column(made, "soon_after")
    assert soon[0] == 0 < soon[2] < 0.01 < soon[1] < 1 and soon[3] == 0


def test_nobody_is_neither_where_nobody_is_named() -> None:
    read = [a_read(0, by=True), a_read(1)]
    assert column(signals(*read, named=True), "neither") == [0.0, 1.0]
    assert column(signals(*read, named=False), "neither") == [0.0, 0.0]


def test_a_message_without_an_embedding_counts_as_the_least_near() -> None:
    near = column(signals(a_read(0, turn=0.9), a_read(1, turn=None), a_read(2, turn=0.7)), "turn_z")
    assert near[1] == near[2] < near[0]


def test_what_one_ranking_keeps_changes_nothing_for_the_next() -> None:
    first = signals(a_read(0, "Which car was it?"), a_read(1, "In 1999 my sister's van, because..."), question="Which vehicle?")
    other = signals(a_read(1, "Bo’s 2nd truck."), a_read(2, "In 1999 my sister's van."), question="Who has one zxqy?")
    kept = Kept()
    for made in (first, other, first, other):
        assert features(made, kept)[0].tolist() == features(made)[0].tolist()


def test_a_further_round_adds_what_is_near_to_what_was_found_before() -> None:
    first = signals(a_read(0), a_read(1))
    assert column(first, "further_z") == [0.0, 0.0]
    further = signals(a_read(0, further=(0.7,)), a_read(1, further=(0.9,)))
    assert column(further, "further_z")[1] > column(further, "further_z")[0]


def test_a_fact_speaks_for_the_message_it_was_taken_from() -> None:
    made = signals(a_read(0), a_read(1), a_read(2), fact_turn={"monday/1": 0.9, "monday/0": 0.8, "elsewhere": 0.95})
    near = column(made, "fact_turn_z")
    assert near[1] > near[0] > near[2], "what has no fact comes after what has one"
    assert column(signals(a_read(0), a_read(1)), "fact_turn_z") == [0.0, 0.0]


def test_without_candidates_there_are_no_rows() -> None:
    matrix, names = features(signals())
    assert matrix.shape == (0, len(names)) and len(set(names)) == len(names)


_places = st.tuples(st.sampled_from(["monday", "tuesday"]), st.integers(0, 60))
_words = st.dictionaries(_places, st.floats(0.01, 30.0), max_size=12)


@given(st.lists(_words, max_size=4), _words, _words, st.lists(_places, min_size=1, max_size=8, unique=True))
def test_features_are_finite_whatever_was_found(terms: list[dict], turn: dict, context: dict, places: list) -> None:  # type: ignore[type-arg]
    read = tuple(a_read(index, session=session, turn=turn.get((session, index))) for session, index in places)
    matrix, _ = features(Signals("What?", Hits(tuple(terms), (), turn, context), read, {}))
    assert matrix.shape[0] == len(places) and np.isfinite(matrix).all()


# --- what is read at all


def test_what_stands_after_a_hit_becomes_a_candidate_with_it() -> None:
    hits = Hits(({(MONDAY, 5): 3.0},), (), {}, {})
    assert worth_reading(hits)[0] == (MONDAY, 5)
    assert set(worth_reading(hits)) == {(MONDAY, i) for i in (4, 5, 6, 7, 8)}
    assert worth_reading(Hits((), (), {}, {})) == ()


@given(st.lists(_words, max_size=3), _words, _words, st.integers(1, 20))
def test_no_more_is_read_than_the_pool_holds(terms: list[dict], turn: dict, context: dict, pool: int) -> None:  # type: ignore[type-arg]
    places = worth_reading(Hits(tuple(terms), (), turn, context), SignalsConfig(pool=pool))
    assert len(places) <= pool and len(set(places)) == len(places) and all(index >= 0 for _, index in places)


def test_what_is_around_a_candidate_is_read_once_and_never_before_the_start() -> None:
    assert set(beside([(MONDAY, 0), (MONDAY, 1)])) == {(MONDAY, 0), (MONDAY, 1), (MONDAY, 2)}


def test_every_word_of_a_question_is_asked_for_in_its_forms_and_only_so_many() -> None:
    queries = term_queries("bought bicycle")
    assert len(queries) == 2 and "buy" in queries[0].split() and "bicycles" in queries[1].split()
    assert len(term_queries(" ".join(f"word{i}" for i in range(99)))) == SignalsConfig().max_terms
    assert term_queries("?! --") == ()
