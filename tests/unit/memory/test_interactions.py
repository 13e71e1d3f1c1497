"""To whom was it said, and what does it answer?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.memory.interactions import InteractionConfig, Spoken, interactions, is_question, meant_by_answer, replies
from service.memory.vocatives import vocatives
from service.types.memory import Addressee, How
from tests.builders import a_conversation, a_turn

NAMES = {"mara": ("Mara",), "tom": ("Tom Baker", "Tommy"), "ben": ("Ben",)}
KNOWN = {"mara", "tom", "tom baker", "ben"}


def addressees(
    turns: Sequence[Spoken], names: Mapping[str, Collection[str]], participants: Collection[str]
) -> Mapping[str, tuple[Addressee, ...]]:
    return interactions(turns, names, participants).addressees


def called(text: str) -> set[str]:
    return {name for name, _ in vocatives(text, KNOWN)}


@pytest.mark.parametrize(
    "text",
    [
        "Mara, could you pass the salt?",
        "Could you pass the salt, Mara?",
        "And so, Mara, I went.",
        "Hey Mara can you hear me",
        "Mara?",
        "Mara!",
        "Right. Mara, could you?",
        "Okay Mara, go on.",
        "Thanks Mara.",
        "Good morning, Mara.",
        "Mara, did you ask Tom and Ben?",
        "MARA, listen",
        "Mara，你好",
    ],
)
def test_a_name_called_out_is_heard(text: str) -> None:
    assert called(text) == {"mara"}


@pytest.mark.parametrize(
    "text",
    [
        "Mara went home.",
        "I saw Mara, and then we left.",
        "Who did it? Mara.",
        "Tom, Mara and Ben went home.",
        "Tom, Mara, and Ben went home.",
        "My sister, Mara, said so.",
        "I met your old friend, Mara.",
        "Mara's car, it is red.",
        "Maran, could you?",
        "",
        None,
        "   ",
        "…",
        "It was Tom or Mara, I think.",
    ],
)
def test_a_name_spoken_of_is_not_called_out(text: str | None) -> None:
    assert vocatives(text, KNOWN) == []


def test_a_full_name_and_an_alias_mean_the_same_person() -> None:
    turns = a_conversation(
        ("mara", "Tom Baker, come here."), ("mara", "Tommy, come here."), ("mara", "Tom, come here."), ("ben", "No.")
    )
    found = addressees(turns, NAMES, ("mara", "tom", "ben"))
    assert [a.person_id for m in ("m0", "m1", "m2") for a in found[m]] == ["tom"] * 3


def test_a_name_of_two_people_says_nothing() -> None:
    turns = a_conversation(("ben", "Mara, come here."), ("mara", "Which of us?"), ("other", "Me?"))
    found = addressees(turns, {"mara": ("Mara",), "other": ("Mara Lind",), "ben": ()}, ("mara", "other", "ben"))
    assert {a.how for a in found["m0"]} == {How.ALL}


def test_the_caller_knows_best() -> None:
    turns = [a_turn("mara", 0, 1, "Tom, come here.", id="m0", to=("ben",)), a_turn("tom", 1, 2, "Yes.")]
    (only,) = addressees(turns, NAMES, NAMES)["m0"]
    assert (only.person_id, only.how, only.confidence) == ("ben", How.CALLER, 1.0)


def test_of_two_people_each_speaks_to_the_other() -> None:
    found = addressees(a_conversation(("mara", "Hello."), ("tom", "Hello.")), NAMES, ("mara", "tom"))
    assert [(a.person_id, a.how) for m in ("m0", "m1") for a in found[m]] == [("tom", How.ONLY_OTHER), ("mara", How.ONLY_OTHER)]


def test_a_third_voice_still_unresolved_is_somebody_too() -> None:
    found = addressees(a_conversation(("mara", "Hello."), ("tom", "Hello."), (None, "Mm hello there.")), NAMES, ("mara", "tom"))
    assert How.ONLY_OTHER not in {a.how for each in found.values() for a in each}


def test_a_silent_third_person_keeps_the_other_from_being_the_only_one() -> None:
    found = addressees(a_conversation(("mara", "Hello."), ("tom", "Hello.")), NAMES, ("mara", "tom", "ben"))
    assert {a.how for a in found["m0"]} == {How.ALL}


def test_an_answer_goes_to_who_asked_with_more_confidence_than_a_mere_next_turn() -> None:
    turns = a_conversation(("mara", "Who has the key?"), ("tom", "I left it there."), ("ben", "That is good."))
    found = addressees(turns, {}, ("mara", "tom", "ben"))
    answer, reply = found["m1"][0], found["m2"][0]
    assert (answer.person_id, answer.how, reply.person_id, reply.how) == ("mara", How.REPLY, "tom", How.REPLY)
    assert answer.confidence > reply.confidence


def test_replies_name_the_message_they_answer() -> None:
    assert replies(a_conversation(("mara", "a"), ("tom", "b"), ("tom", "c"), ("mara", "d"))) == {"m1": "m0", "m3": "m2"}


def test_after_a_long_silence_nothing_is_answered() -> None:
    assert replies([a_turn("mara", 0, 2, "So."), a_turn("tom", 4.5, 6, "New thing.")]) == {}


def test_a_question_waits_longer_for_its_answer() -> None:
    assert replies([a_turn("mara", 0, 2, "Why?", id="q"), a_turn("tom", 5.5, 6, "Because.", id="a")]) == {"a": "q"}


def test_a_speaker_goes_on_after_somebody_says_mm() -> None:
    turns = [
        a_turn("mara", 0, 3, "First", id="m0"),
        a_turn("tom", 3, 3.4, "mm", id="m1"),
        a_turn("mara", 3.5, 6, "second", id="m2"),
    ]
    assert replies(turns) == {"m1": "m0"}


def test_unresolved_voices_answer_each_other_without_an_addressee() -> None:
    turns = [a_turn(None, 0, 2, track="t0", id="m0"), a_turn(None, 2, 4, track="t1", id="m1")]
    assert replies(turns) == {"m1": "m0"}
    assert addressees(turns, {}, ()) == {"m0": (), "m1": ()}


def test_one_voice_alone_speaks_to_nobody() -> None:
    assert addressees(a_conversation(("mara", "Note to self.")), NAMES, ("mara",)) == {"m0": ()}


def test_in_a_large_room_all_is_left_out() -> None:
    people = tuple(f"p{i}" for i in range(20))
    assert addressees([a_turn("p0", 0, 2, "Welcome.", id="m0")], {}, people) == {"m0": ()}


def test_who_alone_answers_what_was_said_to_all_is_likelier_meant_than_the_rest() -> None:
    people = ("mara", "tom", "ben")
    said = (a_turn("mara", 0, 2, "I have sold the boat.", id="m0"), a_turn("tom", 2.2, 3.2, "To whom?", id="m1"))
    all_read = dict.fromkeys(("m0", "m1", "m2"), people)
    to = meant_by_answer(said, interactions(said, {}, people), all_read)["m0"]
    assert {one.person_id: one.how for one in to} == {"ben": How.ALL, "tom": How.ALL}
    assert max(to, key=lambda one: one.confidence).person_id == "tom"
    also = (*said, replace(a_turn("ben", 3.3, 4, "When?", id="m2"), answers="m0"))
    both = meant_by_answer(also, interactions(also, {}, people), all_read)["m0"]
    assert len({one.confidence for one in both}) == 1


def test_an_answer_that_a_reader_of_the_question_missed_tells_nothing_of_itself() -> None:
    said = (a_turn("mara", 0, 2, "Who locks up?", id="m0"), a_turn("tom", 2.2, 3.2, "I do.", id="m1"))
    told = interactions(said, {}, ("mara", "tom", "ben"))
    missed = {"m0": ("ben", "mara", "tom"), "m1": ("mara", "tom")}  # Ben had left
    assert meant_by_answer(said, told, missed) == told.addressees


def test_only_two_people_alone_reach_the_confidence_that_opens_a_message() -> None:
    c = InteractionConfig()
    assert max(c.called_first, c.called_within, c.answer, c.reply, c.everybody, c.answering) < 0.9 <= c.only_other


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Is it?", True),
        ("what time is it", True),
        ("so where were you", True),
        ("what a day", False),
        ("It is.", False),
        ("was the door open. yes.", False),
        (None, False),
        ("", False),
        ("你好吗？", True),
    ],
)
def test_questions(text: str | None, question: bool) -> None:
    assert is_question(text) is question


@given(st.lists(st.tuples(st.sampled_from(["mara", "tom", None]), st.text(max_size=40)), max_size=12))
def test_whatever_is_said_addressees_are_others_and_replies_look_back(said: list[tuple[str | None, str]]) -> None:
    turns = a_conversation(*said)
    order = {t.message_id: i for i, t in enumerate(turns)}
    speakers = {t.message_id: t.speaker_id for t in turns}
    for message, found in addressees(turns, NAMES, ("mara", "tom")).items():
        assert all(a.person_id != speakers[message] and 0 <= a.confidence <= 1 for a in found)
    assert all(order[answered] < order[message] for message, answered in replies(turns).items())
