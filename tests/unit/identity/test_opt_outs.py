"""A mark knows the voice it was made of, tells nothing without its key, and lets strangers be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.identity.fold import Fold
from service.identity.opt_outs import MarkConfig, Marker, OptedOut, Refusals
from service.identity.router import NO_TRACK, FoldState, RouterConfig, settle, step
from service.identity.thresholds import TELEPHONE, WIDEBAND
from service.types.consents import VoiceMark
from service.types.people import Consent, Exemplar, PersonVoice, Unresolved
from tests.builders import VOICE, a_heard_turn, a_voice, evidence_of

MARKER = Marker(b"k" * 32)


def known(name: str, channel: str = WIDEBAND) -> PersonVoice:
    vector = a_voice(name, likeness=1.0).vector
    return PersonVoice(name, VOICE, vector, (Exemplar(f"e-{name}", vector, 5.0, 20.0, channel, f"m-{name}"),), 1, 5.0)


def marks(*names: str, channel: str = WIDEBAND, marker: Marker = MARKER) -> list[VoiceMark]:
    return [mark for name in names for mark in marker.marks(known(name, channel), "bounded")]


def test_the_voice_itself_is_known_again_and_strangers_are_not() -> None:
    opted_out = OptedOut(MARKER, marks("ana"))
    assert opted_out.matches(a_voice("ana", mood="x").vector, WIDEBAND, VOICE)
    strangers = [opted_out.matches(a_voice(f"stranger {i}").vector, WIDEBAND, VOICE) for i in range(300)]
    assert np.mean(strangers) < 0.03
    assert not opted_out.matches(a_voice("ana").vector, TELEPHONE, VOICE), "nobody is known across channels"
    assert OptedOut(MARKER, marks("ana", channel=TELEPHONE)).matches(a_voice("ana", likeness=1.0).vector, TELEPHONE, VOICE)


def test_of_another_key_a_mark_is_worth_nothing() -> None:
    other = Marker(b"o" * 32)
    assert OptedOut(other, marks("ana")).size == 0 and OptedOut(None, marks("ana")).size == 0
    theirs, ours = marks("ana", marker=other)[0], marks("ana")[0]
    differ = np.unpackbits(np.frombuffer(theirs.signs, np.uint8) ^ np.frombuffer(ours.signs, np.uint8)).sum()
    assert 40 <= differ <= 88, "two keys' marks of one voice are as far apart as two strangers'"
    assert "k" * 8 not in repr(MARKER) and MARKER.account("s", "mailto", "a") != other.account("s", "mailto", "a")


@given(st.integers(1, 2_000), st.sampled_from([WIDEBAND, TELEPHONE, "twin"]))
def test_the_more_marks_the_nearer_a_voice_must_come(marks: int, channel: str) -> None:
    config = MarkConfig()
    assert config.nearest_stranger(channel, marks + 1) <= config.nearest_stranger(channel, marks) < config.strangers[channel][0]


@pytest.mark.parametrize("consent", [Consent.UNKNOWN, Consent.GRANTED])
def test_who_agreed_is_not_taken_for_who_refused(consent: Consent) -> None:
    """A turn that would be Ana's, who is known, while a mark matches it: hers only if she agreed to be known."""
    ana = replace(known("ana"), consent=consent)
    state = FoldState().with_gallery({"ana": ana}, refusals=Refusals(marks=OptedOut(MARKER, marks("ana"))))
    turn = evidence_of(a_heard_turn(0, NO_TRACK), "s", a_voice("ana", mood="y"))
    _, (decision,) = step(state, [turn], RouterConfig())
    if consent is Consent.GRANTED:
        assert not isinstance(decision, Unresolved) and decision.person_id == "ana"
    else:
        assert isinstance(decision, Unresolved) and decision.reason == "opted_out"
        assert decision.scores.runner_up_id is None and decision.scores.cosine is None, "whom it resembles is told nowhere"


def test_what_waits_for_the_sessions_end_forgets_the_voice_too() -> None:
    config = RouterConfig()
    short = evidence_of(a_heard_turn(0, NO_TRACK, seconds=1.0), "s", a_voice("ana", mood="z"))
    state, (waits,) = step(FoldState(), [short], config)
    assert isinstance(waits, Unresolved) and waits.reason == "too_short" and state.pending[0].evidence.embedding is not None
    obeying = state.with_gallery({}, refusals=Refusals(marks=OptedOut(MARKER, marks("ana"))))
    (pending,) = obeying.pending
    assert (pending.reason, pending.evidence.embedding) == ("opted_out", None)
    left, decided = settle(obeying, config)
    assert decided == () and left.pending == obeying.pending
    assert Fold(obeying, config).state().refusals is obeying.refusals
