"""Does the product hear to whom something is said, and what it answers? Its rules on the set's own words and gold speakers,
beside two that are simpler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.memory.interactions import Spoken, interactions
from service.memory.vocatives import normal_name, vocatives
from service.types.audio import Segment
from service.types.memory import How
from tests.bench.report import Report
from tests.bench.retrieval.metrics import interval
from tests.bench.spoken.format import Scenario, Session, laid_out, load_all
from tests.bench.spoken.gold import person_id, spoken_turns
from tests.bench.spoken.render import Studio


@dataclass(frozen=True, slots=True)
class Inferred:
    """Of each turn: to whom (empty: to all), and the turn it answers, by id."""

    to: Mapping[str, frozenset[str]]
    replies: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Heard:
    """A session with its speakers as they are, and nothing of addressees."""

    session: Session
    turns: tuple[Spoken, ...]
    names: Mapping[str, tuple[str, ...]]
    """person id → names and aliases"""
    ids: Mapping[str, str]
    """name → person id"""


Infer = Callable[[Heard], Inferred]


def run(report: Report, scenarios: Sequence[Scenario] | None = None, studio: Studio | None = None) -> None:
    """Rows of reply links and addressees. With a `studio` the times are those of the sound where it is rendered, else those of
    people who talk at an ordinary pace."""
    every = [heard(scenario, s, studio) for scenario in scenarios or load_all() for s in scenario.sessions]
    for system, infer in SYSTEMS.items():
        _add(report, every, [infer(one) for one in every], system)


def heard(scenario: Scenario, session: Session, studio: Studio | None = None) -> Heard:
    known = studio is not None and session.id not in studio.missing(scenario, [session])
    times: Sequence[Segment] = studio.recording(scenario, session).times if studio and known else laid_out(session.turns)
    turns = tuple(replace(turn, addressed_to=()) for turn in spoken_turns("spoken", session, times))
    people = {person_id("spoken", p.name): (p.name, *p.aliases) for p in scenario.people if p.name in session.attends}
    return Heard(session, turns, people, {names[0]: id for id, names in people.items()})


def ours(one: Heard) -> Inferred:
    told = interactions(one.turns, one.names, list(one.names))
    id_of = {spoken.message_id: turn.id for turn, spoken in zip(one.session.turns, one.turns, strict=True)}
    to = {id_of[m]: frozenset(a.person_id for a in people if a.how is not How.ALL) for m, people in told.addressees.items()}
    return Inferred(to, {id_of[m]: id_of[other] for m, other in told.replies.items()})


def previous_speaker(one: Heard) -> Inferred:
    """Everybody answers whoever spoke last before them."""
    to, answered = {}, {}
    for i, (turn, spoken) in enumerate(zip(one.session.turns, one.turns, strict=True)):
        before = next((j for j in range(i - 1, -1, -1) if one.turns[j].speaker_id != spoken.speaker_id), None)
        to[turn.id] = frozenset[str]() if before is None else frozenset({one.turns[before].speaker_id or ""})
        if before is not None:
            answered[turn.id] = one.session.turns[before].id
    return Inferred(to, answered)


def named_one(one: Heard) -> Inferred:
    """To whoever is called by name, else to all; answers nothing."""
    called = {normal_name(name): id for id, names in one.names.items() for name in names}
    to = {
        turn.id: frozenset(called[name] for name, _ in vocatives(turn.text, called)) - {one.ids[turn.speaker]}
        for turn in one.session.turns
    }
    return Inferred(to, {})


SYSTEMS: Mapping[str, Infer] = {"ours": ours, "previous_speaker": previous_speaker, "named_one": named_one}


def _add(report: Report, every: Sequence[Heard], inferred: Sequence[Inferred], system: str) -> None:
    pairs = [(one, guess, turn) for one, guess in zip(every, inferred, strict=True) for turn in one.session.turns]
    answering = sum(turn.reply_to is not None for _, _, turn in pairs)
    given = [(guess.replies[turn.id], turn.reply_to) for _, guess, turn in pairs if turn.id in guess.replies]
    right = sum(answered == gold for answered, gold in given)
    if given:
        precision, recall = right / len(given), right / answering
        report.add("reply_precision", "spoken/all", system, precision, "share", len(given))
        report.add("reply_recall", "spoken/all", system, recall, "share", answering)
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        report.add("reply_f1", "spoken/all", system, f1, "share", answering)
    directed, whole = [], []
    for one, guess, turn in pairs:
        to = frozenset(one.ids[name] for name in turn.addressees)
        there = frozenset(one.ids[name] for name in one.session.present(turn.id) - {turn.speaker})
        hit = (guess.to[turn.id] or there) == (to or there)
        whole.append(float(hit))
        if to:
            directed.append(float(hit))
    for condition, values in (("spoken/all", whole), ("spoken/directed", directed)):
        report.add(
            "addressee_accuracy", condition, system, float(np.mean(values)), "share", len(values), interval(np.array(values))
        )
