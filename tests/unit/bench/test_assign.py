"""Who has whose voice: alike ones never together, nothing said twice before it must be, nothing said that also asks."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from tests.bench.locomo_id.assign import (
    RECORDINGS,
    TOO_ALIKE,
    Cast,
    Supply,
    four_voices,
    meetings,
    recording,
    two_voices,
    usable,
)
from tests.bench.locomo_id.voices import Bank
from tests.unit.bench.shared_folder import manifests

SYNTHETIC = [f"af_{i}" for i in range(20)] + [voice for pair in TOO_ALIKE[:4] for voice in pair]
REAL = {"r1": 1, "r2": 2, "r3": 4, "r4": 10, "r5": 12}
SPEAKERS = {f"conv-{i}": (f"Ana {i}", f"Bo {i}") for i in range(10)}


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    return Bank(tmp_path / "cache", manifests(tmp_path, dict.fromkeys(SYNTHETIC, 12), REAL))


def casts(bank: Bank) -> list[Cast]:
    return [*two_voices(SPEAKERS, usable(bank)), *four_voices(SPEAKERS, usable(bank))]


def test_voices_too_alike_are_never_in_one_collection(bank: Bank) -> None:
    forbidden = {frozenset(pair) for pair in TOO_ALIKE}
    assert len(casts(bank)) == 40 and {voice for pair in TOO_ALIKE[:4] for voice in pair} <= set(SYNTHETIC)
    for cast in casts(bank):
        assert not forbidden & {frozenset(pair) for pair in combinations(cast.voices.values(), 2)}, cast.name


def test_nor_anywhere_at_once_so_that_all_collections_can_be_one_space(bank: Bank) -> None:
    forbidden = {frozenset(pair) for pair in TOO_ALIKE}
    assert not forbidden & {frozenset(pair) for pair in combinations(usable(bank), 2)}


def test_a_conversation_has_six_voices_over_its_three_assignments(bank: Bank) -> None:
    of_all = two_voices(SPEAKERS, usable(bank))
    assert len(of_all) == 30
    for conversation in SPEAKERS:
        had = [v for cast in of_all if cast.conversation == conversation for v in cast.voices.values()]
        assert len(had) == len(set(had)) == 6


def test_within_an_assignment_nobody_lends_their_voice_twice(bank: Bank) -> None:
    for number in range(3):
        of_one = [cast for cast in two_voices(SPEAKERS, usable(bank)) if cast.name.endswith(f"/{number}")]
        voices = [v for cast in of_one for v in cast.voices.values()]
        assert len(voices) == len(set(voices)) == 20


def test_the_four_of_a_double_collection_differ_and_all_voices_serve_about_alike(bank: Bank) -> None:
    of_all = four_voices(SPEAKERS, usable(bank))
    assert all(len(set(cast.voices.values())) == 4 for cast in of_all)
    assert all({name for _, name in cast.voices} == set(SPEAKERS[cast.conversation]) for cast in of_all)
    used = Counter(v for cast in of_all for v in cast.voices.values())
    assert max(used.values()) - min(used.values()) <= 1


def test_lots_are_the_same_every_time(bank: Bank) -> None:
    assert casts(bank) == casts(bank)


def test_no_utterance_serves_twice_while_others_are_left(bank: Bank) -> None:
    supply = Supply(bank, ["af_0"])
    num = supply.num_said("af_0")
    first = [supply.said("af_0").id for _ in range(num)]
    assert len(set(first)) == num
    again = [supply.said("af_0").id for _ in range(num)]
    assert set(again) == set(first)


def test_what_serves_again_does_so_under_another_shift(bank: Bank) -> None:
    supply = Supply(bank, ["af_0"])
    rounds = [(shift, supply.said("af_0", shift).id) for shift in RECORDINGS for _ in range(supply.num_said("af_0"))]
    assert len(set(rounds)) == len(rounds)


def test_what_asks_was_never_said(bank: Bank) -> None:
    supply = Supply(bank, ["af_0", "r3"])
    for voice in ("af_0", "r3"):
        said = {supply.said(voice).id for _ in range(50)}
        asked = {supply.asked(voice).id for _ in range(50)}
        assert not said & asked
        assert said | asked == {u.id for u in bank.utterances(voice)}


def test_who_said_too_little_asks_nothing(bank: Bank) -> None:
    supply = Supply(bank, REAL)
    assert {voice for voice in REAL if supply.may_ask(voice)} == {"r3", "r4", "r5"}


def test_a_voice_keeps_its_microphone_within_a_session_and_changes_it_between() -> None:
    assert recording("c", "s1", "a") == recording("c", "s1", "a")
    assert {recording("c", f"s{i}", "a") for i in range(60)} == set(RECORDINGS)


def test_real_speakers_meet_with_every_utterance_heard_once(bank: Bank) -> None:
    held, asked = meetings(bank, RECORDINGS, speakers=2)
    ids = [u.id for meeting in held for u, _ in meeting.turns] + [u.id for u, _ in asked]
    assert sorted(ids) == sorted(u.id for voice in REAL for u in bank.utterances(voice))
    assert {u.voice for u, _ in asked} == {"r3", "r4", "r5"}


def test_who_has_two_utterances_left_comes_back_in_another_session(bank: Bank) -> None:
    held, _ = meetings(bank, speakers=2)
    sessions = Counter(voice for meeting in held for voice in {u.voice for u, _ in meeting.turns})
    assert {v for v, count in sessions.items() if count >= 2} == {"r2", "r3", "r4", "r5"}
