from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.retrieval.plan import content_words, linking_terms, plan

PEOPLE = {"p1": ("Ana",), "p2": ("Ben", "Benny"), "p3": ("Ben",), "p4": ("Ana Maria Lopez",), "p5": ("Will",)}


def test_names_leave_the_meaning_and_become_people() -> None:
    planned = plan("Where did Ana put Benny's bicycle?", PEOPLE)
    assert planned.meaning == "Where did put bicycle?"
    assert (planned.words, set(planned.names.split())) == ("put bicycle", {"Ana", "Benny"})
    assert set(planned.people) == {"p1", "p2"}


def test_words_that_say_nothing_leave_the_lexical_leg() -> None:
    assert plan("Where did Ana put the bicycle?", {}).words == "Ana put bicycle"


def test_two_people_with_one_name_are_both_meant() -> None:
    assert set(plan("What does Ben eat?", PEOPLE).people) == {"p2", "p3"}


def test_a_longer_name_is_not_taken_for_a_shorter_one() -> None:
    assert plan("When is ana maria lopez coming?", PEOPLE).people == ("p4",)


def test_a_name_within_a_word_is_not_a_name() -> None:
    assert plan("Is the banana from Bengal?", PEOPLE).people == ()


@pytest.mark.parametrize("question", ["Where did I put it?", "Where is my key?", "What's mine?", "Where I’ve been"])
def test_the_asker_is_meant_by_i_and_my(question: str) -> None:
    assert plan(question, PEOPLE, asker=("me", "me-too")).people == ("me", "me-too")


def test_nobody_is_meant_by_i_when_nobody_in_particular_asks() -> None:
    assert plan("Where is my key?", PEOPLE).people == ()


@pytest.mark.parametrize("question", ["Ana?", "who is it", "Ben's"])
def test_a_question_of_nothing_else_is_kept_as_it_is(question: str) -> None:
    planned = plan(question, PEOPLE)
    assert planned.meaning and (planned.words or planned.names)


def test_a_name_that_is_an_everyday_word_counts_only_as_a_name() -> None:
    assert plan("Will it rain, and will we go?", PEOPLE).people == ()
    assert plan("What did Will say?", PEOPLE).people == ("p5",)


@given(st.text(), st.lists(st.text(max_size=8), max_size=3))
def test_any_text_and_any_names_can_be_planned(question: str, names: list[str]) -> None:
    planned = plan(question, {"p": names}, asker=("me",))
    assert planned.people in ((), ("p",), ("me",), ("p", "me"))
    assert bool(planned.words or planned.names) == bool(question)


def test_content_words_are_folded_and_say_something() -> None:
    assert content_words("The KEY isn’t under the Straße") == {"key", "under", "strass"}
    assert content_words("She sleeps, baking cakes") == content_words("sleep baked cake")


def test_names_and_numbers_link_what_was_found_with_other_messages() -> None:
    found = linking_terms(["Then we met Doreen’s sister in Whitby, in 1987. Nice!", "We met Doreen again."], "Where is Whitby?")
    assert found == ("Doreen", "1987")
    assert linking_terms(["Nothing. Here."], "") == ()
