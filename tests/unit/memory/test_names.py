"""How claims add up to names, and where labels, voices and words contradict each other."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.memory.interactions import Spoken
from service.memory.introductions import introductions
from service.memory.name_claims import NamesHeard, claims
from service.memory.names import (
    AGAINST,
    Known,
    NameClaim,
    NameProposal,
    Source,
    chosen,
    contradict,
    part_of,
    proposals,
)
from service.types.audio import Segment
from tests.builders import a_conversation, a_turn


def a_claim(name: str, source: Source, *, of: str = "ana", session: str = "s1", message: str = "m1") -> NameClaim:
    return NameClaim(of, name, source, message, session)


def judged(
    *claimed: NameClaim, known: Known | None = None, taken: dict[str, list[frozenset[str]]] | None = None
) -> NameProposal:
    """The first proposal."""
    return proposals(claimed, {"ana": known} if known else {}, taken or {})[0]


def sure(*claimed: NameClaim) -> bool:
    return chosen(proposals(claimed, {}, {})) is not None


def heard(*turns: Spoken, labels: dict[str, str] | None = None, known: dict[str, tuple[str, ...]] | None = None) -> NamesHeard:
    return claims(turns, labels or {}, known or {})


def told(names: NamesHeard) -> set[tuple[str, str, str]]:
    return {(claim.subject, claim.name, claim.source.value) for claim in names.claims}


# ---- claims of a session


def test_an_introduction_speaks_for_the_voice_that_says_it() -> None:
    assert told(heard(*a_conversation(("ana", "Hi, I'm Dana."), ("ben", "Hi.")))) == {("ana", "Dana", "self_introduction")}


def test_an_unresolved_voice_is_named_by_its_track() -> None:
    assert told(heard(a_turn(None, 0, 2, "My name is Dana.", track="t1"))) == {("t1", "Dana", "self_introduction")}


def test_who_is_called_and_answers_may_be_called_so_and_the_caller_is_not() -> None:
    turns = a_conversation(("ben", "Hey Dana!"), ("ana", "Hi."), ("ben", "Thanks, Dana."), ("ana", "Sure."))
    assert told(heard(*turns)) == {
        ("ana", "Dana", "addressed"),
        ("ben", "Dana", "calls"),
    }


def test_a_name_hailed_once_by_nobody_known_is_no_name_yet() -> None:
    assert told(heard(*a_conversation(("ben", "Hey Nonsense!"), ("ana", "Hi.")))) == set()


def test_whoever_answers_to_a_known_person_is_not_proposed_as_them() -> None:
    turns = a_conversation(("ben", "Dana, are you there?"), ("ana", "Yes."), ("dana", "Yes."))
    assert told(heard(*turns, known={"dana": ("Dana",)})) == {("ben", "Dana", "calls")}


def test_an_answer_after_a_long_silence_answers_nothing() -> None:
    turns = [a_turn("ben", 0, 2, "Hey Dana! Thanks, Dana."), a_turn("ana", 20, 22, "Hello.")]
    assert ("ana", "Dana", "addressed") not in told(heard(*turns))


def test_a_label_is_one_claim_however_often_it_stands_there() -> None:
    turns = [a_turn("ana", 5.0 * i, 5.0 * i + 4, "Hm.", track="t1", id=f"m{i}") for i in range(5)]
    found = heard(*turns, labels={"t1": "Dana (Guest)"})
    assert [(c.name, c.source, c.message_id) for c in found.claims] == [("Dana", Source.PLATFORM_LABEL, "m0")]
    assert found.labels == {"t1": "Dana"}


def test_a_label_of_several_voices_is_a_place() -> None:
    turns = [a_turn(who, 5.0 * i, 5.0 * i + 4, track="t1") for i, who in enumerate(("ana", "ben", "ana", "cem"))]
    assert told(heard(*turns, labels={"t1": "Dana"})) == {(who, "Dana", "shared_label") for who in ("ana", "ben", "cem")}


def test_a_stray_turn_of_another_voice_leaves_the_label_to_its_owner() -> None:
    turns = [a_turn("ana", 5.0 * i, 5.0 * i + 4, track="t1") for i in range(6)]
    stray = a_turn(None, 40, 44, track="t1", id="stray")
    found = claims([*turns, stray], {"t1": "Dana"}, strangers={"stray"})
    assert told(found) == {("ana", "Dana", "platform_label")}


def test_generic_labels_say_nothing() -> None:
    assert heard(a_turn("ana", 0, 4, track="t1"), labels={"t1": "Speaker 1"}).claims == ()


@pytest.mark.parametrize(
    ("said_by_ana", "known"),
    [
        ("Hi, I'm Ana.", {}),
        ("I'm not Dana.", {}),
        ("Dana, can you hear me?", {}),
        ("Hm.", {"ana": ("Ana",)}),
    ],
    ids=["introduces herself", "denies", "calls her own label", "is known by voice"],
)
def test_a_label_that_voice_or_words_contradict_is_doubted_and_so_is_the_other_of_two(
    said_by_ana: str, known: dict[str, tuple[str, ...]]
) -> None:
    turns = [a_turn("ana", 0, 4, said_by_ana, track="t1"), a_turn("ben", 5, 9, "Yes.", track="t2")]
    found = heard(*turns, labels={"t1": "Dana", "t2": "Ana Ray"}, known=known)
    assert found.contradicted == {"t1", "t2"}
    assert {("ana", "Dana", "doubted_label"), ("ben", "Ana Ray", "doubted_label")} <= told(found)


def test_among_many_only_the_labels_concerned_are_doubted() -> None:
    turns = [
        a_turn("ana", 0, 4, "Hi, I'm Ana.", track="t1"),
        a_turn("ben", 5, 9, "Yes.", track="t2"),
        a_turn("cem", 10, 14, "Well.", track="t3"),
    ]
    found = heard(*turns, labels={"t1": "Dana", "t2": "Ana Ray", "t3": "Cem"})
    assert found.contradicted == {"t1", "t2"} and ("cem", "Cem", "platform_label") in told(found)


# ---- how they add up


@pytest.mark.parametrize("source", [s for s in Source if s not in AGAINST])
def test_no_single_claim_names_anybody(source: Source) -> None:
    assert not sure(a_claim("Dana", source))


def test_a_session_full_of_addresses_names_nobody() -> None:
    assert not sure(*(a_claim("Dana", Source.ADDRESSED, message=f"m{i}") for i in range(20)))


@pytest.mark.parametrize(
    "second",
    [
        a_claim("Dana", Source.SELF_INTRODUCTION, message="m2"),
        a_claim("Dana", Source.ADDRESSED, message="m2"),
        a_claim("Dana", Source.PLATFORM_LABEL, session="s2", message="m2"),
        a_claim("Dana Smith", Source.SELF_INTRODUCTION, message="m2"),
    ],
)
def test_two_consistent_claims_are_enough_where_one_of_them_is_strong(second: NameClaim) -> None:
    assert sure(a_claim("Dana", Source.SELF_INTRODUCTION), second)


def test_one_claim_told_twice_is_one() -> None:
    assert not sure(a_claim("Dana", Source.SELF_INTRODUCTION), a_claim("Dana", Source.SELF_INTRODUCTION))


def test_the_full_name_is_shown_where_it_is_as_sure_as_the_short_one() -> None:
    found = proposals([a_claim("Dana Smith", Source.PLATFORM_LABEL), a_claim("Dana", Source.ADDRESSED, message="m2")], {}, {})
    best = chosen(found)
    assert best is not None and best.name == "Dana Smith"


@pytest.mark.parametrize("source", sorted(AGAINST))
def test_what_is_said_against_a_name_holds_it_back(source: Source) -> None:
    twice = [a_claim("Dana", Source.SELF_INTRODUCTION, message=f"m{i}") for i in range(2)]
    assert judged(*twice, a_claim("Dana", source, message="m3")).held == "contradicted"


def test_another_name_holds_both_back_until_it_is_outweighed() -> None:
    tom = a_claim("Tom", Source.SELF_INTRODUCTION, session="s0")
    danas = [a_claim("Dana", Source.SELF_INTRODUCTION, session=f"s{i}", message=f"m{i}") for i in range(1, 7)]
    assert not sure(tom, *danas[:2])
    best = chosen(proposals([tom, *danas], {}, {}))
    assert best is not None and best.name == "Dana"


def test_a_rejected_name_is_neither_used_nor_a_rival() -> None:
    claimed = [
        *(a_claim("Tom", Source.SELF_INTRODUCTION, message=f"t{i}") for i in range(3)),
        *(a_claim("Dana", Source.SELF_INTRODUCTION, message=f"d{i}") for i in range(3)),
    ]
    best = chosen(proposals(claimed, {"ana": Known(rejected=frozenset({"tom"}))}, {}))
    assert best is not None and best.name == "Dana"


def test_a_name_that_a_human_gave_outweighs_a_few_claims() -> None:
    twice = [a_claim("Dana", Source.SELF_INTRODUCTION, message=f"m{i}") for i in range(2)]
    assert judged(*twice, known=Known(given=("Anastasia",))).held == "contradicted"
    assert judged(*twice, known=Known(given=("Dana Smith",))).held is None


def test_a_name_taken_by_somebody_else_is_held_and_by_somebody_merged_is_not() -> None:
    twice = [a_claim("Dana", Source.SELF_INTRODUCTION, message=f"m{i}") for i in range(2)]
    assert judged(*twice, taken={"dana": [frozenset({"other"})]}).held == "taken"
    assert judged(*twice, taken={"dana": [frozenset({"other", "ana"})]}).held is None


SOURCES = st.sampled_from(list(Source))
CLAIMS = st.lists(
    st.builds(
        NameClaim,
        st.sampled_from(["ana", "ben"]),
        st.sampled_from(["Dana", "Dana Smith", "Tom", "王伟", "Mel"]),
        SOURCES,
        st.sampled_from(["m1", "m2", "m3", "m4"]),
        st.sampled_from(["s1", "s2"]),
    ),
    max_size=30,
)


@given(CLAIMS, st.randoms())
def test_the_order_of_claims_changes_nothing_and_confidences_are_shares(claimed: list[NameClaim], random: object) -> None:
    shuffled = list(claimed)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    found, again = proposals(claimed, {}, {}), proposals(shuffled, {}, {})
    assert [(p.subject, p.normal_name, p.held) for p in found] == [(p.subject, p.normal_name, p.held) for p in again]
    assert [p.confidence for p in found] == pytest.approx([p.confidence for p in again])
    assert all(0.0 <= p.confidence < 1.0 for p in found)


@given(CLAIMS)
def test_whoever_is_named_has_two_claims_and_no_equal_rival(claimed: list[NameClaim]) -> None:
    for subject in ("ana", "ben"):
        best = chosen([p for p in proposals(claimed, {}, {}) if p.subject == subject])
        if best is not None:
            pro = {c for c in claimed if c.subject == subject and c.source not in AGAINST}
            assert len([c for c in pro if not contradict(c.name, best.name)]) >= 2


@given(st.lists(st.text(max_size=60), max_size=6), st.text(max_size=40))
def test_any_words_and_labels_are_weighed(texts: list[str], label: str) -> None:
    turns = [a_turn("ana" if i % 2 else "ben", 5.0 * i, 5.0 * i + 4, text, track=f"t{i % 2}") for i, text in enumerate(texts)]
    proposals(claims(turns, {"t0": label, "t1": label}).claims, {}, {})


# ---- one name or two


@pytest.mark.parametrize(
    ("one", "other", "two"),
    [
        ("Dana", "Dana Smith", False),
        ("Smith, Dana", "Dana Smith", False),
        ("Amr E.", "Amr Elsayed", False),
        ("D. Smith", "Dana Smith", False),
        ("Mel", "Melanie", False),
        ("佳琪", "王佳琪", False),
        ("DANA", "dana", False),
        ("Dana", "Tom", True),
        ("Dana Smith", "Dana Jones", True),
        ("Mel Ray", "Melanie Stone", True),
        ("王伟", "李娜", True),
        ("Jo", "Joanna", True),
    ],
)
def test_when_two_names_are_hardly_one_persons(one: str, other: str, two: bool) -> None:
    assert contradict(one, other) is two and contradict(other, one) is two


@given(st.text(max_size=30), st.text(max_size=30))
def test_comparing_names_never_fails_and_goes_both_ways(one: str, other: str) -> None:
    assert contradict(one, other) == contradict(other, one)
    part_of(one, other)


# ---- real talk


@pytest.mark.needs_shared
def test_in_locomo_nobody_is_named_wrongly_and_nearly_everybody_rightly(shared: Path) -> None:
    """5,882 turns of 20 speakers who never introduce themselves and often call each other."""
    by_kind: Counter[tuple[Source, bool]] = Counter()
    named: Counter[bool] = Counter()
    num_turns = num_introductions = 0
    for number, sample in enumerate(json.loads((shared / "data" / "locomo10.json").read_text())):
        claimed: list[NameClaim] = []
        for key, said in sample["conversation"].items():
            if not isinstance(said, list):
                continue
            turns = [
                Spoken(f"{number}/{t['dia_id']}", Segment(5.0 * i, 5.0 * i + 4.5), t["speaker"], t["speaker"], t["text"])
                for i, t in enumerate(said)
            ]
            num_turns += len(turns)
            num_introductions += sum(len(introductions(turn.text)) for turn in turns)
            claimed += claims(turns, {}, session_id=key).claims
        by_kind.update((claim.source, not contradict(claim.name, claim.subject)) for claim in claimed)
        found = proposals(claimed, {}, {})
        for speaker in sorted({p.subject for p in found}):
            best = chosen([p for p in found if p.subject == speaker])
            if best is not None:
                named[not contradict(best.name, speaker)] += 1
    assert num_turns == 5_882 and num_introductions == 0
    assert by_kind[Source.ADDRESSED, True] > 1_000 and by_kind[Source.ADDRESSED, False] <= 5
    assert by_kind[Source.CALLS, True] <= 3  # calling one's own name
    assert named[False] == 0 and named[True] >= 16
