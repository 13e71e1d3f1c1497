"""What a question asks for, by its words alone: each line is a question somebody would ask aloud."""

from __future__ import annotations

import pytest

from service.retrieval.plan import Plan, plan
from service.retrieval.questions import parts, without_absence, without_lead
from service.types.search import QuestionType, Wants

PEOPLE = {"ana": ("Ana",), "bo": ("Bo",), "cy": ("Cy",), "will": ("Will",)}


def asked(question: str) -> Plan:
    return plan(question, PEOPLE, ("me",), hearers=("dee",))


@pytest.mark.parametrize(
    ("question", "speakers", "addressees"),
    [
        ("What did Ana tell Bo?", {"ana"}, {"bo"}),
        ("What did Ana say to Bo about the trip?", {"ana"}, {"bo"}),
        ("What has Cy told Ana and me about the car?", {"cy"}, {"ana", "me"}),
        ("Can you tell me what Ana said to Bo about the cake?", {"ana"}, {"bo"}),
        ("What was Bo told about the rent?", set(), {"bo"}),
        ("What was Bo told by Ana about the rent?", {"ana"}, {"bo"}),
        ("Has Bo been told about the leak?", set(), {"bo"}),
        ("Did anybody tell Bo about the leak?", set(), {"bo"}),
        ("What did Bo hear from Ana about the move?", {"ana"}, {"bo"}),
        ("What did Ana ask me?", {"ana"}, {"me"}),
        ("What did Ana say about Bo's dog?", {"ana"}, set()),
        ("What did Bo's sister tell Ana?", set(), {"ana"}),
        ("What did Ana and Bo talk about?", {"ana", "bo"}, {"ana", "bo"}),
        ("What did Ana talk about with Bo?", {"ana", "bo"}, {"ana", "bo"}),
        ("What did we tell Bo?", {"me", "dee"}, {"bo"}),
        ("What does Ana think of Bo?", set(), set()),
        ("Was hat Ana Bo gesagt?", {"ana"}, {"bo"}),
        ("Was hat Ana zu Bo gesagt?", {"ana"}, {"bo"}),
        ("¿Qué le dijo Ana a Bo?", {"ana"}, {"bo"}),
    ],
)
def test_who_is_to_have_said_it_to_whom(question: str, speakers: set[str], addressees: set[str]) -> None:
    planned = asked(question)
    assert (set(planned.speakers), set(planned.addressees)) == (speakers, addressees)


@pytest.mark.parametrize(
    ("question", "wants", "known"),
    [
        ("Who told Bo about the trip?", Wants.SPEAKER, {"bo"}),
        ("Who said that the bakery opens at seven?", Wants.SPEAKER, set()),
        ("Who suggested going to Rome?", Wants.SPEAKER, set()),
        ("Who promised Bo a lift?", Wants.SPEAKER, {"bo"}),
        ("Who did Bo hear about the trip from?", Wants.SPEAKER, {"bo"}),
        ("Who did Ana tell about the trip?", Wants.ADDRESSEE, {"ana"}),
        ("To whom did Ana say that?", Wants.ADDRESSEE, {"ana"}),
        ("Who was told about the party?", Wants.ADDRESSEE, set()),
        ("Wer hat Bo von der Reise erzählt?", Wants.SPEAKER, {"bo"}),
        ("Wem hat Ana von der Reise erzählt?", Wants.ADDRESSEE, {"ana"}),
        ("¿Quién le contó a Bo lo del viaje?", Wants.SPEAKER, {"bo"}),
        ("¿A quién le dijo Ana lo del viaje?", Wants.ADDRESSEE, {"ana"}),
        ("Who is coming to the party?", None, set()),
        ("Who is Ana's doctor?", None, set()),
    ],
)
def test_who_said_it_is_another_question_than_who_it_is(question: str, wants: Wants | None, known: set[str]) -> None:
    planned = asked(question)
    assert planned.wants is wants
    assert {*planned.speakers, *planned.addressees} == known
    assert (planned.type is QuestionType.WHO) == (wants is not None)


@pytest.mark.parametrize(
    ("question", "type"),
    [
        ("Where is Ana's key?", QuestionType.LOOKUP),
        ("When did Ana tell Bo that she moved?", QuestionType.TEMPORAL),
        ("What time is the dentist?", QuestionType.TEMPORAL),
        ("Which books has Ana read?", QuestionType.LIST),
        ("What do Ana and Bo have in common?", QuestionType.LIST),
        ("What is this bus called?", QuestionType.LOOKUP),
        ("Would Ana like the opera?", QuestionType.OPEN),
        ("What did I promise Bo?", QuestionType.COMMITMENT),
        ("What am I supposed to bring?", QuestionType.COMMITMENT),
        ("What was I promised?", QuestionType.COMMITMENT),
        ("What did Ana say she would do?", QuestionType.COMMITMENT),
        ("What did Ana say she would like to eat?", QuestionType.OPEN),
        ("Who promised to bring the cake?", QuestionType.WHO),
        ("What did Ana tell Bo?", QuestionType.DIRECTED),
        ("What was said to me while I was out?", QuestionType.DIRECTED),
        ("What happened while I was away?", QuestionType.DIRECTED),
        ("Wann kommt Ana?", QuestionType.TEMPORAL),
        ("", QuestionType.LOOKUP),
    ],
)
def test_the_type_of_a_question(question: str, type: QuestionType) -> None:
    assert asked(question).type is type


@pytest.mark.parametrize(
    "question",
    [
        "What was said to me while I was out?",
        "What did Ana tell Bo?",
        "What did I miss?",
        "What happened in my absence?",
        "Did Ana tell Bo anything?",
        "Was hat Ana Bo gesagt?",
        "¿Qué le dijo Ana a Bo?",
    ],
)
def test_some_questions_are_left_to_the_edges(question: str) -> None:
    planned = asked(question)
    assert (planned.subject, planned.directed) == ("", True)
    assert planned.words or planned.names


def test_what_it_was_about_is_looked_for_without_the_words_for_saying() -> None:
    planned = asked("Who told Bo about the trip to Rome?")
    assert (planned.words, planned.subject) == ("trip Rome", "trip Rome")


def test_being_away_is_no_content() -> None:
    planned = asked("What did Ana say about the roof while I was out?")
    assert (planned.absent, planned.words) == (True, "roof")
    assert without_absence("What did Bo say while I was at work?")[1] is True
    assert without_absence("When I was at school, what did I like?")[1] is False
    assert without_absence("When was I born?") == ("When was I born?", False)


def test_asking_to_be_told_is_not_about_the_asker() -> None:
    assert asked("Can you tell me where Bo's key is?").people == ("bo",)
    assert without_lead("Tell me what Ana said") == "what Ana said"
    assert without_lead("Tell Ana that I am late") == "Tell Ana that I am late"


def test_several_questions_in_one() -> None:
    assert parts("Where does Ana work and when did she start there?") == ("Where does Ana work", "when did she start there")
    assert parts("Where does Ana work?") == ()
    assert parts("Do they like salt and pepper?") == ()


def test_names_are_found_in_writing_without_blanks() -> None:
    planned = plan("安娜什么时候来？", {"p1": ("安娜",)}, ("me",))
    assert (planned.people, planned.type) == (("p1",), QuestionType.TEMPORAL)


def test_who_is_spoken_of_in_what_was_told_is_a_word_of_it() -> None:
    planned = asked("Who told Bo that Cy has moved?")
    assert (planned.words, planned.names, planned.subject) == ("moved Cy", "Bo", "moved Cy")
    assert asked("What did Ana tell Bo about Cy?").by_edges is False
    assert asked("Who said that I should ask Cy?").verbs == {"said"}


@pytest.mark.parametrize(
    "question", ["Whose idea was the blue chair?", "Who had the idea of a blue chair?", "Who came up with it?"]
)
def test_whose_idea_it_was_is_asked_without_a_word_for_saying(question: str) -> None:
    assert asked(question).wants is Wants.SPEAKER
