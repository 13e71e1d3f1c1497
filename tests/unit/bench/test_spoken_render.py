"""Is a scenario laid into a recording as its pauses say, and only what changed made anew? With noise in place of speech."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from service.audio import decode
from tests.bench.spoken.format import Scenario, Session, load_all
from tests.bench.spoken.render import READING, Studio

FIRST = load_all()[0]
SHORT = replace(FIRST.sessions[0], turns=FIRST.sessions[0].turns[:5])
ONE = replace(FIRST, sessions=(SHORT,))


def spoken(studio: Studio, scenario: Scenario, seconds: float = 1.5) -> None:
    """Every turn as if it had been said already: noise of that length."""
    people = {person.name: person for person in scenario.people}
    lines = [(people[t.speaker], t.text) for s in scenario.sessions for t in s.turns]
    lines += [(person, text) for person in scenario.people for text in READING]
    for person, text in lines:
        samples = np.random.default_rng(len(text)).normal(0, 3_000, round(seconds * 16_000))
        np.save(studio._turn(person, text), samples.astype(np.int16))


def test_turns_lie_as_far_apart_as_their_pauses_say(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    spoken(studio, ONE)
    studio.render(ONE, ONE.sessions)
    assert studio.missing(ONE, ONE.sessions) == []
    rendered = studio.recording(ONE, SHORT)
    gaps = [after.start - before.end for before, after in zip(rendered.times, rendered.times[1:], strict=False)]
    assert gaps == pytest.approx([turn.pause for turn in SHORT.turns[1:]], abs=0.02)
    assert [segment.duration for segment in rendered.times] == pytest.approx([1.5] * 5, abs=0.02)
    assert decode.probe(rendered.path).duration == pytest.approx(rendered.times[-1].end + 0.6, abs=0.1)


def test_what_is_there_is_not_made_again_and_what_changed_is_missing(tmp_path: Path) -> None:
    studio = Studio(tmp_path)
    spoken(studio, ONE)
    studio.render(ONE, ONE.sessions)
    made = studio.recording(ONE, SHORT).path
    before = made.stat().st_mtime_ns
    studio.render(ONE, ONE.sessions)
    assert made.stat().st_mtime_ns == before
    assert studio.missing(ONE, [_paused(SHORT)]) == ["s1"]
    voices = tuple(replace(p, speed=1.2) if p.name == SHORT.turns[0].speaker else p for p in ONE.people)
    assert studio.missing(replace(ONE, people=voices), [SHORT]) == ["s1", SHORT.turns[0].speaker]


def _paused(session: Session) -> Session:
    first, second, *rest = session.turns
    return replace(session, turns=(first, replace(second, pause=second.pause + 1.0), *rest))
