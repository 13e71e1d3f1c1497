"""What a typed message answers, and to whom it is, where several talk at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.memory.interactions import Interactions, Spoken, interactions
from service.memory.talk_replies import TalkConfig, TalkTurn, answered
from service.memory.typed_chat import ChatConfig, TypedTurn, read
from service.types.audio import Segment
from service.types.memory import How

PEOPLE = ("ana", "ben", "cleo", "dan")


def typed(*said: tuple[str, str]) -> Interactions:
    """One message every 20 s, ids m0, m1, …"""
    turns = [Spoken(f"m{i}", Segment(20.0 * i, 20.0 * i), by, by, text) for i, (by, text) in enumerate(said)]
    return interactions(turns, {person: (person,) for person in PEOPLE}, PEOPLE)


TWO_AT_ONCE = (
    ("ana", "hi all, my printer prints blank pages since the upgrade, what can I do?"),
    ("ben", "how do I mount an sd card?"),
    ("cleo", "ana: which driver does the printer use?"),
    ("dan", "ben: sudo mount /dev/sdb1 /mnt"),
    ("ana", "cleo: the gutenprint driver"),
    ("ben", "dan: thanks, the card is there now"),
    ("cleo", "ana: try the driver of the vendor"),
)


def test_two_conversations_at_once_are_kept_apart() -> None:
    assert typed(*TWO_AT_ONCE).replies == {"m2": "m0", "m3": "m1", "m4": "m2", "m5": "m3", "m6": "m4"}


def test_whoever_a_message_opens_with_is_spoken_to() -> None:
    told = typed(*TWO_AT_ONCE)
    to = {message: [(a.person_id, a.how) for a in people] for message, people in told.addressees.items()}
    assert to["m2"] == [("ana", How.NAMED)] and to["m5"] == [("dan", How.NAMED)]
    assert {how for _, how in to["m0"]} == {How.ALL}


def test_without_a_name_the_answered_one_is_spoken_to_below_what_opens_a_message() -> None:
    told = typed(
        ("ben", "good morning"),
        ("ana", "ben: which printer do you have?"),
        ("ben", "a brother printer"),
    )
    (to,) = told.addressees["m2"]
    assert told.replies["m2"] == "m1"
    assert (to.person_id, to.how) == ("ana", How.REPLY) and to.confidence < 0.9


def test_going_on_from_an_own_message_is_no_reply_but_said_to_the_same() -> None:
    told = typed(*TWO_AT_ONCE, ("cleo", "and restart the spooler after the driver"))
    assert "m7" not in told.replies
    assert [a.person_id for a in told.addressees["m7"]] == ["ana"]


def test_a_name_that_is_a_word_of_the_language_is_not_a_mention() -> None:
    text = [("ana", "can you see the can?"), ("ben", "yes I can"), ("cleo", "nobody can"), ("ana", "can: hello")]
    messages = read([TypedTurn(by, i, words) for i, (by, words) in enumerate(text)], {"can": "can"}, ChatConfig())
    assert [message.mentioned for message in messages] == [frozenset()] * 4
    assert messages[3].called == {"can"}


@given(
    st.lists(
        st.tuples(st.sampled_from(PEOPLE), st.text(max_size=40) | st.sampled_from(["ana: yes?", "hi ben", "!x"])), max_size=14
    )
)
def test_whatever_is_typed_replies_look_back_to_others_and_nobody_speaks_to_themselves(said: list[tuple[str, str]]) -> None:
    told = typed(*said)
    for message, other in told.replies.items():
        assert int(other[1:]) < int(message[1:]) and said[int(other[1:])][0] != said[int(message[1:])][0]
    for message, people in told.addressees.items():
        assert all(0 <= a.confidence < 0.9 and a.person_id != said[int(message[1:])][0] for a in people)


def a_talk(*said: tuple[str, float, str]) -> list[TalkTurn]:
    """(voice, seconds of silence before, text); each lasts 2 s."""
    turns, clock = [], 0.0
    for voice, pause, text in said:
        asks = text.endswith("?")
        turns.append(TalkTurn(voice, clock + pause, clock + pause + 2, text, frozenset(), asks, False, 5.0 if asks else 2.0))
        clock += pause + 2
    return turns


def test_after_a_silence_with_right_or_anyway_something_begins() -> None:
    said = a_talk(
        ("ana", 0, "The tap in the bathroom is dripping again."),
        ("ben", 0.2, "I will have a look at the tap."),
        ("cleo", 1.2, "Right, the summer. I have found us a campsite in Brittany."),
        ("ana", 0.3, "Camping? It rained for six days."),
    )
    assert answered(said, TalkConfig()) == [None, 0, None, 2]
