from datetime import datetime

import pytest

from tests.bench.locomo_id.conflicts import changed_text, conflicting
from tests.bench.locomo_id.corpus import Asked, Conversation, Said, Talk, conversations

PLACES = {"Rome": "Paris", "New York": "Rome", "NYC": "Rome"}


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("7 May 2023", "2 July 2023"),
        ("May 7, 2023", "July 2, 2023"),
        ("the 3rd of June", "the 29th of July"),
        ("on October 30, 2022", "on December 25, 2022"),
        ("The Friday before 23January, 2022", "The Friday before 20March, 2022"),
        ("December 2022", "February 2023"),
        ("in May we met", "in July we met"),
        ("I may go", "I may go"),
        ("May I go to Rome?", "May I go to Paris?"),
        ("NYC and New York", "Rome and Rome"),
        ("Romeo", "Romeo"),
        ("I have two dogs and 3 cats", "I have three dogs and 2 cats"),
        ("two weeks ago, 5 years", "two weeks ago, 5 years"),
        ("at 5:30, $5, 1.5 and 10%", "at 5:30, $5, 1.5 and 10%"),
        ("Witcher 3", "Witcher 3"),
        ("Last Friday", "Last Friday"),
    ],
)
def test_facts_change_within_their_type(text: str, changed: str):
    assert changed_text(text, PLACES) == changed


def a_conversation(*questions: Asked) -> Conversation:
    turns = (Said("D1:1", "Ana", "I saw three plays in Rome."), Said("D1:2", "Ben", "I was in Paris, alone."))
    return Conversation("c", ("Ana", "Ben"), (Talk(1, datetime(2023, 5, 8, 13, 0), turns),), questions)


def test_the_copy_has_the_same_turns_with_other_facts_and_later_dates():
    copy = conflicting(a_conversation()).copy
    assert [t.text for t in copy.turns.values()] == ["I saw two plays in Paris.", "I was in Rome, alone."]
    assert list(copy.turns) == ["D1:1", "D1:2"]
    assert copy.sessions[0].at == datetime(2023, 7, 3, 13, 0)
    assert copy.sessions[0].at.weekday() == a_conversation().sessions[0].at.weekday()


def test_a_question_is_marked_when_its_answer_changed():
    in_evidence = Asked("Where did Ana see plays?", "Rome", 4, ("D1:1",))
    dated = Asked("When was Ana in Rome?", "7 May 2023", 2, ("D1:1",))
    kept = Asked("Who was alone?", "Ben", 4, ("D1:2",))
    conflict = conflicting(a_conversation(in_evidence, dated, kept))
    assert conflict.changed == {0, 1}
    assert [q.answer for q in conflict.copy.questions] == ["Paris", "2 July 2023", "Ben"]
    assert conflict.copy.questions[1].question == "When was Ana in Paris?"


def test_an_inferred_count_stays():
    inferred = Asked("How many cities were named?", "two", 1, ("D1:1", "D1:2"))
    told = Asked("How many plays did Ana see?", "3", 1, ("D1:1",))
    conflict = conflicting(a_conversation(inferred, told))
    assert [q.answer for q in conflict.copy.questions] == ["two", "2"]


@pytest.mark.needs_shared
def test_more_than_a_hundred_questions_have_another_answer(shared):
    told = conversations(shared / "data" / "locomo10.json")
    assert sum(len(conflicting(c).changed) for c in told) >= 250
