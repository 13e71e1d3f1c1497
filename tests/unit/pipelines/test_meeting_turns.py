"""What is written of a meeting is the difference between what is told and what is there: applied, it makes them the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from service.graph.write_meetings import TurnThere
from service.memory.meeting import Doubt, Participant, Turn
from service.pipelines.meeting_turns import Plan, in_order, local_speaker_id, message_id, plan, reason, signed_in
from service.types.audio import Segment
from service.types.meeting import AccountKey

SESSION = "s1"
STARTED = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PEOPLE = {track: Participant(track, track, name=name) for track, name in (("a", "Ana"), ("b", None))}

_turns = st.builds(
    Turn,
    key=st.just(""),
    track=st.sampled_from(["a", "b", "?/x"]),
    segment=st.integers(0, 5).map(lambda second: Segment(float(second), second + 1.0)),
    text=st.sampled_from(["At nine?", "At ten."]),
    by_bot=st.booleans(),
    doubts=st.sets(st.sampled_from(Doubt)).map(lambda doubts: tuple(sorted(doubts))),
)
_told = st.dictionaries(st.sampled_from(["u1", "u2", "u3", "u4"]), st.none() | _turns)


def told_of(turns: dict[str, Turn | None]) -> dict[str, Turn | None]:
    return {key: turn and replace(turn, key=key) for key, turn in turns.items()}


def planned(
    told: dict[str, Turn | None], there: dict[str, TurnThere], labels: dict[str, str] | None = None, **given: object
) -> Plan:
    next_index = max((turn.index for turn in there.values()), default=-1) + 1
    labels = {turn.local_speaker: turn.label for turn in there.values()} if labels is None else labels
    return plan(told, there, PEOPLE, labels, session_id=SESSION, started_at=STARTED, next_index=next_index, **given)  # type: ignore[arg-type]


def applied(found: Plan, there: dict[str, TurnThere]) -> dict[str, TurnThere]:
    after = {**there, **{turn.message_id: turn for turn in found.turns}}
    return {id: turn for id, turn in after.items() if id not in found.changes.withdrawn}


def content(turn: TurnThere) -> tuple[object, ...]:
    return turn.text, turn.start, turn.end, turn.local_speaker, turn.doubts


@given(_told, _told)
def test_what_is_told_last_is_what_is_there_and_nothing_is_written_for_nothing(
    first: dict[str, Turn | None], second: dict[str, Turn | None]
) -> None:
    there = applied(planned(told_of(first), {}), {})
    found = planned(told_of(second), there)
    after = applied(found, there)
    alone = applied(planned({**told_of(first), **told_of(second)}, {}), {})
    assert {id: content(turn) for id, turn in after.items()} == {id: content(turn) for id, turn in alone.items()}
    assert not planned(told_of(second), after), "told again, it is there"
    assert len({turn.index for turn in after.values()}) == len(after), "no two have one place"
    assert all(after[id].index == there[id].index for id in after if id in there), "who is there keeps their place"


@given(_told)
def test_of_what_is_there_and_was_not_told_nothing_stays(turns: dict[str, Turn | None]) -> None:
    there = applied(planned(told_of(turns), {}), {})
    found = planned({}, there, beside=list(there))
    assert applied(found, there) == {}


def test_a_turn_that_somebody_gave_to_somebody_stays_theirs_when_its_label_changes() -> None:
    told = told_of({"u1": Turn("", "a", Segment(0.0, 1.0), "At nine?"), "u2": Turn("", "a", Segment(1.0, 2.0), "At ten.")})
    there = applied(planned(told, {}), {})
    mine = message_id(SESSION, "u1")
    there[mine] = replace(there[mine], decision="corrected", speaker_id="ana")
    found = planned({key: turn and replace(turn, track="b") for key, turn in told.items()}, there)
    assert set(found.changes.moved.values()) == {local_speaker_id(SESSION, "b")}
    assert set(found.changes.undecided) == {message_id(SESSION, "u2")}
    assert mine not in found.undecided


def test_a_voice_is_called_what_its_participant_is_called_last() -> None:
    told = told_of({"u1": Turn("", "a", Segment(0.0, 1.0), "At nine?")})
    there = applied(planned(told, {}), {})
    assert [turn.label for turn in there.values()] == ["Ana"]
    found = planned({}, there, labels={local_speaker_id(SESSION, "a"): "Anna"})
    assert found.changes.labels == {local_speaker_id(SESSION, "a"): "Ana"}
    assert not planned({}, there)


def test_turns_of_nobody_are_not_of_one() -> None:
    told = told_of(
        {"u1": Turn("", "?/u1", Segment(0.0, 1.0), "At nine?"), "u2": Turn("", "?/u2", Segment(0.0, 1.0), "At ten.")}
    )
    there = applied(planned(told, {}), {})
    assert len({turn.local_speaker for turn in there.values()}) == 2


def test_why_a_turn_is_nobodys_says_what_a_login_may_not_decide() -> None:
    turn = Turn("u1", "a", Segment(0.0, 1.0), "At nine?")
    said = {
        "no_sound": turn,
        "bot": replace(turn, by_bot=True),
        "doubted": replace(turn, doubts=(Doubt.MARKED,)),
    }
    for why, told in said.items():
        (there,) = planned({"u1": told}, {}).turns
        assert reason(there) == why
    (named_provisionally,) = planned({"u1": replace(turn, speaker_confidence=0.0)}, {}).turns
    assert reason(named_provisionally) == "doubted"


def test_turns_stand_in_the_order_in_which_they_were_said() -> None:
    told = told_of({"late": Turn("", "a", Segment(5.0, 6.0), "At ten."), "soon": Turn("", "b", Segment(1.0, 2.0), "At nine?")})
    there = applied(planned(told, {}), {})
    assert [turn.text for turn in in_order(there)] == ["At nine?", "At ten."]


def test_who_came_and_did_not_go_is_there_until_now() -> None:
    here = Participant("a", "a", accounts=(AccountKey("zoom", "7"),), attends=(Segment(0.0, 5.0),), here_since=8.0)
    gone = replace(here, track="b", here_since=None)
    nameless = Participant("c", "c", here_since=0.0)
    found = signed_in({p.track: p for p in (here, gone, nameless)}, SESSION, 20.0)
    assert [one.attends for one in found] == [(Segment(0.0, 5.0), Segment(8.0, 20.0)), (Segment(0.0, 5.0),)]


@given(st.sampled_from(["decision", "reason"]), _told, _told)
def test_what_somebody_said_of_a_turn_no_label_undoes(
    what: str, first: dict[str, Turn | None], second: dict[str, Turn | None]
) -> None:
    there = applied(planned(told_of(first), {}), {})
    there = {id: replace(turn, **{what: "corrected"}) for id, turn in there.items()}  # type: ignore[arg-type]
    found = planned(told_of(second), there)
    assert not found.changes.undecided
    after = applied(found, there)
    assert all(after[id].is_corrected for id in there if id in after)


@given(st.sampled_from(["decision", "reason"]), _told)
def test_what_somebody_put_right_goes_only_where_it_is_told_gone(what: str, first: dict[str, Turn | None]) -> None:
    there = applied(planned(told_of(first), {}), {})
    assert planned({}, there, beside=list(there)).changes.withdrawn == list(there)
    there = {id: replace(turn, **{what: "corrected"}) for id, turn in there.items()}  # type: ignore[arg-type]
    assert not planned({}, there, beside=list(there))
    assert planned(dict.fromkeys(first), there).changes.withdrawn == list(there)
