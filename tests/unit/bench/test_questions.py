import pytest

from tests.bench.locomo_id.corpus import Asked, conversations
from tests.bench.locomo_id.questions import Kind, asker_of, counts, first_person, first_person_plural, rewritten

CALVIN_AND_DAVE = ("Calvin", "Dave")


@pytest.mark.parametrize(
    ("name", "question", "mine"),
    [
        ("Maria", "What did Maria buy?", "What did I buy?"),
        ("Nate", "How many pets does Nate have?", "How many pets do I have?"),
        ("Gina", "Where is Gina's store?", "Where is my store?"),
        ("James", "What are James' favorite games?", "What are my favorite games?"),
        ("Evan", "When is Evan planning a reunion?", "When am I planning a reunion?"),
        ("Melanie", "What do Melanie's family give her?", "What do my family give me?"),
        ("Jolene", "When did Jolene lose her notes?", "When did I lose my notes?"),
        ("Dave", "What does Dave do when he feels low?", "What do I do when I feel low?"),
        ("John", "What did John and his girlfriend choose?", "What did my girlfriend and I choose?"),
        ("James", "What did James and Samantha decide?", "What did Samantha and I decide?"),
        ("Tim", "What is a good hobby for Tim?", "What is a good hobby for me?"),
        ("Gina", "What made Gina choose the chairs?", "What made me choose the chairs?"),
        ("Andrew", "What is it that Andrew really misses?", "What is it that I really miss?"),
        ("Nate", "How has Nate tried it?", "How have I tried it?"),
        ("Sam", "What dream does Sam have of himself?", "What dream do I have of myself?"),
    ],
)
def test_a_question_about_somebody_becomes_their_own(name: str, question: str, mine: str):
    assert first_person(question, name) == mine


def test_a_pronoun_of_the_other_kind_is_somebody_elses():
    assert first_person("What did Evan tell her about his car?", "Evan") == "What did I tell her about my car?"


@pytest.mark.parametrize(
    ("question", "ours"),
    [
        ("Where did Calvin and Dave meet?", "Where did we meet?"),
        ("What do both Dave and Calvin like?", "What do we both like?"),
        ("What are Calvin and Dave's plans?", "What are our plans?"),
        ("What is fun for Calvin and Dave?", "What is fun for us?"),
        ("What do Calvin and Dave do to reach their goals?", "What do we do to reach our goals?"),
    ],
)
def test_a_question_about_both_becomes_plural(question: str, ours: str):
    assert first_person_plural(question, CALVIN_AND_DAVE) == ours


@pytest.mark.parametrize(
    "question",
    ["What does Dave tell Calvin?", "What do Calvin and Dave do when Calvin visits?", "When did James, Calvin and Dave play?"],
)
def test_two_people_who_are_not_one_subject_stay_two(question: str):
    assert first_person_plural(question, CALVIN_AND_DAVE) is None


def test_an_adversarial_question_stays_as_it_is():
    asked = Asked("What did Dave buy?", "", 5, ("D1:1",))
    assert rewritten(asked, CALVIN_AND_DAVE).text == "What did Dave buy?"
    assert rewritten(asked, CALVIN_AND_DAVE).kind is Kind.VERBATIM


def test_who_asks_is_whom_it_is_about_else_who_said_most_of_it():
    speakers = {"D1:1": "Calvin", "D1:2": "Dave", "D1:3": "Dave"}
    mine = Asked("What did Calvin buy?", "a car", 4, ("D1:2", "D1:3"))
    nobodys = Asked("What did the poster say?", "hi", 4, ("D1:1", "D1:2", "D1:3"))
    asked_by = [asker_of(rewritten(a, CALVIN_AND_DAVE), a, speakers, CALVIN_AND_DAVE) for a in (mine, nobodys)]
    assert asked_by == ["Calvin", "Dave"]


@pytest.mark.needs_shared
def test_as_many_questions_become_single_as_in_the_paper(shared):
    told = conversations(shared / "data" / "locomo10.json")
    assert sum(len(c.turns) for c in told) == 5_882
    assert sum(len(q.evidence) for c in told for q in c.questions) == 2_820
    found = counts(told)
    assert found["single"] == 1_371
    assert sum(found.values()) == 1_986
    assert found["shared"] == 55
