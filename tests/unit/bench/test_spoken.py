"""Is the spoken set whole, and would its check notice if it were not?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from service.graph.close_sessions import WrittenTurn
from service.types.audio import Segment
from tests.bench.spoken.audio import heard_rightly, held
from tests.bench.spoken.format import SCENARIOS, Kind, Question, Scenario, Session, Turn, laid_out, load, load_all, written
from tests.bench.spoken.gold import person_id, relations_of, spoken_turns
from tests.bench.spoken.render import Studio
from tests.bench.spoken.validate import problems

SET = load_all()
ONE = SET[0]


@pytest.mark.parametrize("scenario", SET, ids=[s.id for s in SET])
def test_every_scenario_is_whole_and_fair(scenario: Scenario) -> None:
    assert problems(scenario) == []


def test_the_set_is_as_large_as_it_is_said_to_be() -> None:
    assert len(SET) >= 6
    assert sum(len(s.questions) for s in SET) >= 300
    assert all(sum(q.kind is kind for s in SET for q in s.questions) >= 60 for kind in Kind)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.json")), ids=lambda path: path.stem)
def test_a_scenario_lies_in_its_file_one_line_a_turn(path: Any) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == written(json.loads(text))
    assert load(path).id == path.stem


@pytest.mark.parametrize("scenario", SET, ids=[s.id for s in SET])
def test_the_product_lets_each_person_read_what_the_format_says_they_heard(scenario: Scenario) -> None:
    for session in scenario.sessions:
        times = laid_out(session.turns)
        may_read = relations_of("a space", session, times).readers
        for turn, spoken in zip(session.turns, spoken_turns("a space", session, times), strict=True):
            assert may_read[spoken.message_id] == {person_id("a space", name) for name in session.present(turn.id)}, turn.id


def test_without_edges_nobody_is_addressed_and_the_same_people_may_read() -> None:
    session = ONE.sessions[0]
    times = laid_out(session.turns)
    with_edges, without = relations_of("x", session, times), relations_of("x", session, times, edges=False)
    assert with_edges.replies and not without.replies
    assert not any(without.addressees.values())
    assert with_edges.readers == without.readers


# ---- what the check notices


def with_turn(scenario: Scenario, id: str, **changed: Any) -> Scenario:
    sessions = tuple(
        replace(s, turns=tuple(replace(t, **changed) if t.id == id else t for t in s.turns)) for s in scenario.sessions
    )
    return replace(scenario, sessions=sessions)


def with_question(scenario: Scenario, which: Callable[[Question], bool], **changed: Any) -> Scenario:
    at = next(i for i, q in enumerate(scenario.questions) if which(q))
    questions = list(scenario.questions)
    questions[at] = replace(questions[at], **changed)
    return replace(scenario, questions=tuple(questions))


def away(scenario: Scenario) -> tuple[Turn, str]:
    """A turn that somebody of the session did not hear."""
    for session in scenario.sessions:
        for turn in session.turns:
            for name in set(session.attends) - session.present(turn.id):
                return turn, name
    raise AssertionError("everybody hears everything")


def test_it_notices_somebody_who_speaks_while_away() -> None:
    turn, name = away(ONE)
    assert f"{ONE.id}: {turn.id}: {name} speaks and is away" in problems(with_turn(ONE, turn.id, speaker=name))


def test_it_notices_somebody_spoken_to_while_away() -> None:
    turn, name = away(ONE)
    assert any("is spoken to and away" in p for p in problems(with_turn(ONE, turn.id, addressees=(name,))))


def test_it_notices_an_answer_to_what_comes_later_and_to_oneself() -> None:
    assert any("cannot answer s1t09" in p for p in problems(with_turn(ONE, "s1t05", reply_to="s1t09")))
    first, *rest = ONE.sessions[0].turns
    again = next(t.id for t in rest if t.speaker == first.speaker)
    assert any(f"cannot answer {first.id}" in p for p in problems(with_turn(ONE, again, reply_to=first.id)))


def test_it_notices_gold_that_its_asker_did_not_hear() -> None:
    turn, name = away(ONE)
    found = problems(with_question(ONE, lambda q: q.asker == name, evidence=(turn.id,)))
    assert any(f"{name} was away at ['{turn.id}']" in p for p in found)


def test_it_notices_what_is_forbidden_and_was_heard() -> None:
    turn, _ = away(ONE)
    found = problems(with_question(ONE, lambda q: q.asker == turn.speaker, forbidden=(turn.id,)))
    assert any("which are forbidden" in p for p in found)


def test_it_notices_gold_that_says_something_else() -> None:
    found = problems(with_question(ONE, lambda q: q.id == "e01", answer="Penguins juggle violet umbrellas."))
    assert any("hardly says" in p for p in found)


def test_it_notices_the_wrong_person_in_an_attribution() -> None:
    asked = next(q for q in ONE.questions if q.who is not None and q.who.role == "speaker")
    assert asked.who is not None
    wrong = tuple(p.name for p in ONE.people if p.name not in asked.who.people)[:1]
    found = problems(with_question(ONE, lambda q: q is asked, who=replace(asked.who, people=wrong)))
    assert any("by the evidence" in p for p in found)


def test_it_notices_two_turns_from_one_template() -> None:
    text = next(t.text for t in ONE.turns.values() if len(t.text.split()) > 8)
    other = next(t.id for t in ONE.turns.values() if t.text != text)
    assert any("say nearly the same" in p for p in problems(with_turn(ONE, other, text=text)))


def test_it_notices_a_question_of_one_asker_that_calls_itself_personal() -> None:
    found = problems(with_question(ONE, lambda q: q.kind is Kind.PERSONALISATION, text="A question that only one asks?"))
    assert any("is not asked by two" in p for p in found)


# ---- from sound to turns

TURNS = (
    Turn("s1t01", "Ann", (), None, "One."),
    Turn("s1t02", "Bo", (), None, "Two."),
    Turn("s1t03", "Bo", (), None, "Three."),
)
TIMES = (Segment(0, 4), Segment(4.5, 6), Segment(6.2, 9))
IN_SOUND = Session("s1", "", ONE.asked_at, {"Ann": (), "Bo": ()}, TURNS)


def heard(id: str, start: float, end: float, by: str) -> WrittenTurn:
    return WrittenTurn(id, 0, Segment(start, end), "track", by, "words")


def test_a_message_holds_the_turns_that_lie_in_it() -> None:
    messages = [heard("a", 0.1, 3.9, "ann"), heard("b", 4.4, 9.1, "bo")]
    assert held(IN_SOUND, TIMES, messages) == {"a": ("s1t01",), "b": ("s1t02", "s1t03")}


def test_a_piece_of_a_turn_is_that_turn_and_a_stray_noise_is_none() -> None:
    messages = [heard("a", 0.0, 2.5, "ann"), heard("b", 2.6, 3.9, "ann"), heard("noise", 9.5, 10.0, "bo")]
    assert held(IN_SOUND, TIMES, messages) == {"a": ("s1t01",), "b": ("s1t01",), "noise": ()}


def test_a_turn_is_heard_rightly_by_the_message_that_has_most_of_it() -> None:
    messages = [heard("a", 0.0, 5.0, "ann"), heard("b", 5.1, 9.0, "bo")]
    assert heard_rightly(IN_SOUND, TIMES, messages, {"Ann": "ann", "Bo": "bo"}) == [True, True, True]
    assert heard_rightly(IN_SOUND, TIMES, messages[:1], {"Ann": "ann", "Bo": "bo"}) == [True, False, False]


def test_what_is_not_rendered_is_named(tmp_path: Any) -> None:
    studio = Studio(tmp_path)
    assert not studio.ready
    assert studio.missing(ONE, ONE.sessions[:2]) == ["s1", "s2", *(p.name for p in ONE.people)]
