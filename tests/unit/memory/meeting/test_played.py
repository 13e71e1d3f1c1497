"""Whoever sends a meeting, and however badly it is delivered, the same is said in it: player, connector and fold together."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from service.connectors.live import Delivery, connector
from service.connectors.live.playing import PLAYERS, Played, player
from service.connectors.live.playing.recorded import Manner, read_recorded, rehearsed, with_names
from service.memory.meeting import Kind, MeetingState, Outcome, Turn, advance, step
from service.types.meeting import Uttered
from tests.unit.memory.meeting.events import turns_of

EXAMPLE = with_names(read_recorded(Path(__file__).parents[4] / "deploy/examples/meeting.jsonl"))
FINALS = [
    step.event.text
    for step in EXAMPLE.steps
    if isinstance(step.event, Uttered) and step.event.final and step.event.source != "chat"
]
GOOD = Manner()
BAD = [Manner(shuffle=shuffle, duplicate=0.4, seed=seed) for shuffle in (1.5, 20.0) for seed in range(4)]


def turns(provider: str, manner: Manner) -> list[Turn]:
    """As they are at the end; deliveries come as they are rehearsed."""
    began, there, reader = EXAMPLE.began_at, player(provider), connector(provider)
    assert began is not None
    state, told, now = MeetingState(), list[Outcome](), began
    for sending in rehearsed(EXAMPLE, manner):
        for body in there.bodies(Played(EXAMPLE.meeting, began), sending.event, id=sending.id):
            now = began + timedelta(seconds=sending.after)
            state, outcomes = step(state, reader.read(Delivery({}, body, now)).events, now)
            told += outcomes
    _, outcomes = advance(state, now + timedelta(hours=2))
    return [turn for turn in turns_of([*told, *outcomes]) if turn.kind is Kind.SPEECH]


@pytest.mark.parametrize("provider", PLAYERS)
def test_played_well_each_final_is_a_turn_in_its_order(provider: str) -> None:
    found = turns(provider, GOOD)
    assert sorted(turn.text for turn in found if turn.is_final) == sorted(FINALS)
    assert all(turn.is_final for turn in found), [turn.text for turn in found if not turn.is_final]


@pytest.mark.parametrize("manner", BAD, ids=lambda manner: f"{manner.shuffle:g} s late, seed {manner.seed}")
@pytest.mark.parametrize("provider", PLAYERS)
def test_played_badly_it_is_the_same_meeting(provider: str, manner: Manner) -> None:
    def said(found: list[Turn]) -> list[tuple[str, float, float]]:
        """Counted from the first turn: where that is told before the meeting's start is, second 0 is its own."""
        zero = min(turn.segment.start for turn in found)
        return sorted((turn.text, round(turn.segment.start - zero, 2), round(turn.segment.end - zero, 2)) for turn in found)

    assert said(turns(provider, manner)) == said(turns(provider, GOOD))
