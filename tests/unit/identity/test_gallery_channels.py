"""Across a telephone: which of a person's rows a voice is compared with, and how much the session counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from service.identity.gallery import Gallery
from service.identity.policies import POLICIES, Bounded
from service.identity.router import NO_TRACK, FoldState, RouterConfig, settle, step
from service.identity.thresholds import CAMPPLUS, TELEPHONE, ChannelPair
from service.types.audio import SpeakerEmbedding
from service.types.people import Assigned, Create, Link, PersonVoice, Unresolved
from tests.unit.identity.voices import SPACE, a_person, a_turn, an_exemplar, axis, between, gallery


def twinned(name: str) -> PersonVoice:
    """Heard in a room along axis 0; made narrow, along axis 1: the twin row is the middle of the two."""
    learning = POLICIES["bounded"]
    assert isinstance(learning, Bounded)
    voice = a_person(name, axis(0))
    return learning.twin(voice, voice.exemplars[0], axis(1))


def likeness(voice: PersonVoice, policy: str, channel: str, *, narrow: bool = False) -> tuple[float, ChannelPair]:
    """Of a voice along axis 0, made narrow along axis 1."""
    known = Gallery([voice], POLICIES[policy], SPACE.dimension)
    found = known.likeness(axis(0), channel, lambda pair: CAMPPLUS.link(5, pair), axis(1) if narrow else None)
    return float(found.cosines[0]), found.pair(0)


def test_a_caller_is_compared_with_the_twin_and_not_with_the_voice_in_the_room() -> None:
    """Cosine 1 with the voice in the room would be far above any threshold across channels; the twin has 1/√2."""
    assert likeness(twinned("ana"), "bounded", TELEPHONE) == (pytest.approx(0.7071, abs=1e-3), ChannelPair.TWIN)


def test_in_a_room_nobody_is_compared_with_their_calls_who_was_heard_in_a_room() -> None:
    learning = POLICIES["bounded"]
    voice = learning.learn(a_person("ana", axis(2)), an_exemplar("call", axis(0), channel=TELEPHONE))
    assert likeness(voice, "bounded", "wideband") == (pytest.approx(0.0, abs=1e-6), ChannelPair.WIDEBAND)


def test_the_nearest_exemplar_counts_for_the_papers_knn_whatever_the_channel() -> None:
    voice = POLICIES["knn"].learn(a_person("ana", axis(2)), an_exemplar("call", axis(0), channel=TELEPHONE))
    assert likeness(voice, "knn", "wideband") == (pytest.approx(1.0), ChannelPair.CROSS)


def test_who_only_ever_called_is_compared_with_a_voice_in_a_room_as_a_telephone_would_carry_it() -> None:
    caller = a_person("ana", axis(1), channel=TELEPHONE)
    assert likeness(caller, "bounded", "wideband") == (pytest.approx(0.0, abs=1e-6), ChannelPair.CROSS)
    assert likeness(caller, "bounded", "wideband", narrow=True) == (pytest.approx(0.7071, abs=1e-3), ChannelPair.TWIN)


def test_a_caller_met_in_a_room_is_the_same_person() -> None:
    call, room = a_turn("m0", axis(1), channel=TELEPHONE), a_turn("m1", axis(0), at=10.0)
    _, (met, alone) = step(FoldState(), [call, room], RouterConfig())
    assert isinstance(met, Create) and isinstance(alone, Create)
    _, (_, known) = step(FoldState(), [call, replace(room, narrow=SpeakerEmbedding(axis(1), SPACE))], RouterConfig())
    assert isinstance(known, Link) and known.person_id == met.person_id


def test_having_been_heard_in_the_session_makes_nobody_likelier_across_channels() -> None:
    """A cosine between what is asked of people of the session on one channel and what is asked of anybody across channels."""
    cross = CAMPPLUS.session_link(5, ChannelPair.CROSS)
    cosine = (cross + CAMPPLUS.link(5, ChannelPair.CROSS)) / 2
    first, call = a_turn("m0", axis(0)), a_turn("m1", between(cosine), at=10.0, channel=TELEPHONE)
    _, (_, decision) = step(FoldState(), [first, call], RouterConfig())
    assert cross < cosine and not isinstance(decision, Link)


def test_what_sounds_like_two_who_are_both_there_stays_open_at_the_sessions_end() -> None:
    """A loose turn as near to the one as to the other, and one that is nearer to ana."""
    known = gallery(a_person("ana", axis(0)), a_person("ben", axis(1)))
    middle = (axis(0) + axis(1)) / np.sqrt(2)
    nearer = 0.63 * axis(0) + 0.57 * axis(1) + np.sqrt(1 - 0.63**2 - 0.57**2) * axis(2)
    turns = [
        a_turn("m0", axis(0)),
        a_turn("m1", axis(1), at=5.0),
        a_turn("m2", middle, at=10.0, track=NO_TRACK),
        a_turn("m3", nearer, at=15.0, seconds=1.5, track=NO_TRACK),
    ]
    state, decisions = step(FoldState(gallery=known), turns, RouterConfig())
    assert [type(d) for d in decisions] == [Link, Link, Unresolved, Unresolved]
    assert {d.reason for d in decisions[2:] if isinstance(d, Unresolved)} == {"ambiguous"}
    settled = {d.message_id: d for d in settle(state, RouterConfig())[1]}
    assert "m2" not in settled
    assert isinstance(settled["m3"], Assigned) and settled["m3"].person_id == "ana"
