"""Are the figures of the spoken set those that a reader would count by hand?"""

from __future__ import annotations

from tests.bench.report import Report
from tests.bench.spoken import interactions
from tests.bench.spoken.format import Kind, Question, Session, Turn, Who, load_all
from tests.bench.spoken.interactions import Inferred, heard
from tests.bench.spoken.measure import Outcome, add, add_gain, leaked, named_rightly, newest_first, turns_of

ONE = load_all()[0]


def asked(kind: Kind = Kind.ATTRIBUTION, evidence: tuple[str, ...] = ("s1t01",), **given: object) -> Question:
    return Question("q1", kind, "Who?", "Ann", "Bo.", evidence, **given)  # type: ignore[arg-type]


def value(report: Report, metric: str, condition: str, system: str = "ours") -> float:
    (found,) = (r.value for r in report.rows if (r.metric, r.condition, r.system) == (metric, condition, system))
    return found


def test_turns_come_in_the_order_of_the_messages_that_hold_them_each_once() -> None:
    assert turns_of([("s1t02",), ("s1t01", "s1t02"), (), ("s1t03",)]) == ("s1t02", "s1t01", "s1t03")


def test_what_the_asker_must_not_see_counts_wherever_it_is_shown() -> None:
    question = asked(forbidden=("s1t09",))
    assert leaked(Outcome(question, ("s1t01", "s1t09")))
    assert not leaked(Outcome(question, ("s1t01",)))


def test_a_person_named_beside_the_right_one_is_wrong_and_so_is_nobody() -> None:
    question = asked(who=Who("speaker", ("Bo",)))
    assert named_rightly(Outcome(question, (), frozenset({"Bo"}))) is True
    assert named_rightly(Outcome(question, (), frozenset({"Bo", "Cy"}))) is False
    assert named_rightly(Outcome(question, (), frozenset())) is False
    assert named_rightly(Outcome(question, ())) is None
    assert named_rightly(Outcome(asked(), (), frozenset({"Bo"}))) is None


def test_what_holds_now_must_stand_above_all_that_held() -> None:
    question = asked(Kind.MEMORY_EVOLUTION, ("s2t01",), outdated=("s1t01", "s1t05"))
    assert newest_first(Outcome(question, ("s2t01", "s1t01"))) is True
    assert newest_first(Outcome(question, ("s1t05", "s2t01"))) is False
    assert newest_first(Outcome(question, ("s1t07",))) is False
    assert newest_first(Outcome(asked(), ("s1t01",))) is None


def test_rows_are_by_kind_and_of_all_and_leave_out_what_has_no_answer() -> None:
    outcomes = [
        Outcome(asked(evidence=("s1t01", "s1t02")), ("s1t01",)),
        Outcome(asked(Kind.PERSONALISATION, (), forbidden=("s1t09",)), ("s1t09",)),
        Outcome(asked(Kind.REASONING), ("s1t05", "s1t01")),
    ]
    report = Report("spoken")
    add(report, outcomes, "spoken", "ours")
    assert value(report, "recall_at_15", "spoken/attribution") == 0.5
    assert value(report, "recall_at_15", "spoken/all") == 0.75
    assert value(report, "mrr", "spoken/reasoning") == 0.5
    assert value(report, "forbidden_shown", "spoken/personalisation") == 1
    assert not any(r.condition == "spoken/personalisation" and r.metric == "recall_at_15" for r in report.rows)


def test_what_is_lost_without_something_is_counted_question_by_question() -> None:
    one, other = asked(), asked(Kind.REASONING)
    report = Report("spoken")
    ours = [Outcome(one, ("s1t01",)), Outcome(other, ("s1t01",))]
    add_gain(report, ours, [Outcome(other, ()), Outcome(one, ("s1t01",))], "spoken", "ours_no_edges")
    assert value(report, "recall_at_15_lost", "spoken/all", "ours_no_edges") == 0.5
    assert value(report, "recall_at_15_lost", "spoken/attribution", "ours_no_edges") == 0.0


# ---- to whom, and what it answers


def test_perfect_guesses_are_perfect_and_the_addressees_are_not_given_away() -> None:
    every = [heard(ONE, session) for session in ONE.sessions]
    assert not any(spoken.addressed_to for one in every for spoken in one.turns)
    report = Report("spoken")
    interactions._add(report, every, [_gold(one) for one in every], "gold")
    for metric in ("reply_precision", "reply_recall", "reply_f1", "addressee_accuracy"):
        assert value(report, metric, "spoken/all", "gold") == 1.0


def test_everybody_there_is_the_same_as_nobody_in_particular() -> None:
    turns = (Turn("s1t01", "Marta", ("Jonah",), None, "You."), Turn("s1t02", "Jonah", (), "s1t01", "All of you."))
    one = heard(ONE, Session("s1", "", ONE.asked_at, {"Marta": (), "Jonah": ()}, turns))
    guess = Inferred({"s1t01": frozenset(), "s1t02": frozenset({one.ids["Marta"]})}, {"s1t02": "s1t01"})
    report = Report("spoken")
    interactions._add(report, [one], [guess], "ours")
    assert value(report, "addressee_accuracy", "spoken/all") == 1.0
    assert value(report, "reply_f1", "spoken/all") == 1.0


def test_the_simple_rules_do_what_their_names_say() -> None:
    turns = (
        Turn("s1t01", "Marta", (), None, "Iris, are you there?"),
        Turn("s1t02", "Marta", (), None, "Hello?"),
        Turn("s1t03", "Iris", (), None, "Yes."),
    )
    one = heard(ONE, Session("s1", "", ONE.asked_at, {"Marta": (), "Iris": (), "Jonah": ()}, turns))
    assert interactions.previous_speaker(one).replies == {"s1t03": "s1t02"}
    assert interactions.named_one(one).to == {"s1t01": frozenset({one.ids["Iris"]}), "s1t02": frozenset(), "s1t03": frozenset()}


def _gold(one: interactions.Heard) -> Inferred:
    to = {turn.id: frozenset(one.ids[name] for name in turn.addressees) for turn in one.session.turns}
    return Inferred(to, {turn.id: turn.reply_to for turn in one.session.turns if turn.reply_to})
