"""Which people are fragments of one person?"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.identity.merging import MayBe, Merge, MergeConfig, SessionEvidence, confirmations, merges, overlaid
from service.identity.policies import policy
from service.identity.state import FoldState, Pending, Proposal
from service.identity.thresholds import CAMPPLUS
from service.types.audio import EmbeddingSpace, Samples
from service.types.people import ChannelMean, Consent, Exemplar, PersonVoice
from tests.unit.identity.voices import SPACE, a_turn, an_exemplar, axis, between, gallery

LINK = CAMPPLUS.link(MergeConfig().least_size)
"""what two sides' turns have to reach in a gallery of a few people: 0.527"""


def known(
    name: str,
    vectors: Sequence[Samples],
    *,
    turns: int | None = None,
    consent: Consent = Consent.UNKNOWN,
    channel: str = "wideband",
    same_as: str | None = None,
) -> PersonVoice:
    """Somebody known by these utterances of 4 s."""
    num = len(vectors) if turns is None else turns
    voice = PersonVoice(name, SPACE, vectors[0], (), num, 4.0 * num, consent, same_as)
    for i, vector in enumerate(vectors):
        voice = policy("bounded").learn(voice, an_exemplar(f"{name}-{i}", vector, channel=channel))
    return voice


def around(index: int, *others: int, likeness: float = 0.95) -> list[Samples]:
    """Utterances of one voice."""
    return [between(likeness, index, other) for other in others]


ANA = known("ana", around(0, 1, 2, 3), turns=9)
FRAGMENT = known("fragment", [between(0.8, 0, 4)])
BEN = known("ben", around(5, 6, 7), turns=5)
HEARD = SessionEvidence(frozenset({"fragment"}))


def joined(voices: dict[str, PersonVoice], session: SessionEvidence = HEARD, **kept: object) -> set[tuple[str, str]]:
    return {(m.person_id, m.into) for m in merges(voices, session, **kept).merges}  # type: ignore[arg-type]


def proposed(voices: dict[str, PersonVoice], session: SessionEvidence = HEARD, **kept: object) -> set[tuple[str, str]]:
    return {(p.subject, p.person_id) for p in merges(voices, session, **kept).proposals}  # type: ignore[arg-type]


def test_a_fragment_is_joined_to_whom_its_turns_resemble() -> None:
    (merge,) = merges(gallery(ANA, FRAGMENT, BEN), HEARD).merges
    assert (merge.person_id, merge.into, merge.num_turns) == ("fragment", "ana", 1)
    assert merge.threshold == pytest.approx(LINK, abs=1e-6) and merge.cosine > merge.threshold


def test_nobody_known_nothing_to_join() -> None:
    assert merges({}, HEARD) == merges(gallery(ANA), HEARD) == merges({}, SessionEvidence(frozenset()))


def test_only_who_was_heard_can_be_joined_or_joined_to() -> None:
    assert joined(gallery(ANA, FRAGMENT, BEN), SessionEvidence(frozenset({"ben"}))) == set()
    assert joined(gallery(ANA, FRAGMENT, BEN), SessionEvidence(frozenset({"ana"}))) == {("fragment", "ana")}


@pytest.mark.parametrize(("cosine", "outcome"), [(LINK + 0.02, "joined"), (LINK - 0.02, "proposed"), (LINK - 0.12, "nothing")])
def test_below_the_threshold_of_a_link_it_is_proposed_and_far_below_not_even_that(cosine: float, outcome: str) -> None:
    voices = gallery(known("ana", [axis(0)], turns=9), known("fragment", [between(cosine, 0, 4)]))
    result = merges(voices, HEARD)
    assert (len(result.merges), len(result.proposals)) == {"joined": (1, 0), "proposed": (0, 1), "nothing": (0, 0)}[outcome]


def test_the_threshold_rises_with_the_gallery() -> None:
    cosine = LINK + 0.01
    voices = gallery(known("ana", [axis(0)], turns=9), known("fragment", [between(cosine, 0, 4)]))
    assert joined(voices) and not joined(voices, population=10_000)


def test_who_is_known_by_the_center_only_is_not_joined_for_it() -> None:
    mixed = known("mixed", [*around(0, 1, 2), *around(4, 5, 6)], turns=12)  # two people under one name
    voices = gallery(mixed, known("fragment", around(0, 3)))
    assert float(mixed.centroid @ voices["fragment"].centroid) > LINK
    assert joined(voices) == set()


def test_a_fragment_of_two_voices_is_not_joined_to_either() -> None:
    voices = gallery(ANA, known("fragment", [*around(0, 4, 5), axis(6)]))  # the third is another's, 0.36 from their center
    assert joined(voices, config=MergeConfig(cohesion=0.5)) == set() != joined(voices, config=MergeConfig(cohesion=0.0))


def test_two_people_too_close_leave_a_fragment_for_somebody_to_decide() -> None:
    sisters = [known("ana", [between(0.9, 0, 1)], turns=9), known("eva", [between(0.9, 0, 2)], turns=9)]
    sisters = [replace(s, exemplars=s.exemplars) for s in sisters]
    voices = gallery(*sisters, known("fragment", [axis(0)]))
    kept = {"apart": {frozenset({"ana", "eva"})}, "config": MergeConfig(excess=0.35)}
    assert joined(voices, **kept) == set()
    assert proposed(voices, **kept) >= {("fragment", "ana"), ("fragment", "eva")}


def test_two_fragments_of_one_person_do_not_stand_in_each_others_way() -> None:
    voices = gallery(ANA, known("f1", [between(0.85, 0, 4)]), known("f2", [between(0.85, 0, 5)]))
    found = joined(voices, SessionEvidence(frozenset({"f1", "f2"})))
    assert {one for one, _ in found} == {"f1", "f2"} and {into for _, into in found} <= {"ana", "f1", "f2"}


def test_the_smaller_proposes_and_a_tie_is_always_broken_alike() -> None:
    one, two = known("one", [between(0.9, 0, 1)]), known("two", [between(0.9, 0, 2)])
    both = SessionEvidence(frozenset({"one", "two"}))
    assert joined(gallery(one, two), both) == joined(gallery(two, one), both) == {("one", "two")}
    assert joined(gallery(replace(one, num_turns=2), two), both) == {("two", "one")}


def test_two_tracks_of_one_session_are_proposed_and_never_joined() -> None:
    session = SessionEvidence(frozenset({"ana", "fragment"}), {"left": "ana", "right": "fragment"})
    assert joined(gallery(ANA, FRAGMENT), session) == set()
    assert proposed(gallery(ANA, FRAGMENT), session) == {("fragment", "ana")}


def test_who_was_apart_in_another_session_is_proposed_and_never_joined() -> None:
    apart = {frozenset({"ana", "fragment"})}
    assert joined(gallery(ANA, FRAGMENT), apart=apart) == set()
    assert proposed(gallery(ANA, FRAGMENT), apart=apart) == {("fragment", "ana")}


def test_what_a_human_rejected_is_neither_joined_nor_proposed_again() -> None:
    not_same = {frozenset({"ana", "fragment"})}
    assert joined(gallery(ANA, FRAGMENT), not_same=not_same) == proposed(gallery(ANA, FRAGMENT), not_same=not_same) == set()


def test_a_rejection_holds_for_everybody_merged_with_the_two() -> None:
    ann = known("ann", around(0, 5, 6), turns=3, same_as="ana")
    voices = gallery(ANA, ann, FRAGMENT)
    assert joined(voices) == {("fragment", "ana")}
    assert joined(voices, not_same={frozenset({"ann", "fragment"})}) == set()


def test_who_is_merged_into_somebody_without_a_voice_keeps_to_what_was_said_of_them() -> None:
    ann = known("ann", around(0, 5, 6), turns=9, same_as="ana")  # ana's own voice is gone
    assert joined(gallery(ann, FRAGMENT)) == {("fragment", "ana")}
    assert joined(gallery(ann, FRAGMENT), not_same={frozenset({"ana", "fragment"})}) == set()


def test_two_who_agreed_to_be_known_are_never_joined_by_voice_alone() -> None:
    voices = gallery(replace(ANA, consent=Consent.GRANTED), replace(FRAGMENT, consent=Consent.GRANTED))
    assert joined(voices) == set() and proposed(voices) == {("fragment", "ana")}


def test_two_with_names_are_never_joined_by_voice_alone() -> None:
    assert joined(gallery(ANA, FRAGMENT), settled={"ana", "fragment"}) == set()


def test_somebody_anonymous_is_joined_to_who_is_enrolled_however_often_they_were_heard() -> None:
    enrolled = known("fragment", [between(0.8, 0, 4)], turns=1, consent=Consent.GRANTED)
    assert joined(gallery(ANA, enrolled)) == {("ana", "fragment")}


@pytest.mark.parametrize("refused", [Consent.WITHDRAWN, Consent.OPTED_OUT])
@pytest.mark.parametrize("who", ["ana", "fragment"])
def test_a_voice_that_may_not_be_used_is_neither_joined_nor_proposed(refused: Consent, who: str) -> None:
    voices = gallery(ANA, FRAGMENT)
    voices[who] = replace(voices[who], consent=refused)
    assert joined(voices) == proposed(voices) == set()


def test_somebody_heard_often_is_no_fragment_unless_of_somebody_heard_much_more_often() -> None:
    often = replace(FRAGMENT, num_turns=25)
    assert joined(gallery(replace(ANA, num_turns=60), often)) == set()
    assert joined(gallery(replace(ANA, num_turns=75), often)) == {("fragment", "ana")}


def test_a_set_counts_as_one_person_and_is_joined_as_one() -> None:
    other = known("other", around(0, 6, 7), turns=2, same_as="fragment")
    (merge,) = merges(gallery(ANA, FRAGMENT, other), HEARD).merges
    assert (merge.person_id, merge.into, merge.num_turns) == ("fragment", "ana", 3)


def test_joined_people_stand_for_whom_they_were_joined_to_and_the_rest_is_as_it_was() -> None:
    other = known("other", around(0, 6), same_as="fragment")
    voices = gallery(ANA, FRAGMENT, other, BEN)
    after = overlaid(voices, [Merge("fragment", "ana", 0.7, None, 0.5, 2)])
    assert {p: v.same_as for p, v in after.items()} == {"ana": None, "ben": None, "fragment": "ana", "other": "ana"}
    assert after["ana"] is voices["ana"] and after["fragment"].exemplars == FRAGMENT.exemplars


def test_what_was_joined_is_not_proposed_and_joining_again_changes_nothing() -> None:
    voices = gallery(ANA, FRAGMENT, BEN)
    result = merges(voices, HEARD)
    again = merges(overlaid(voices, result.merges), HEARD)
    assert result.proposals == again.proposals == () and again.merges == ()


def test_telephone_and_wideband_are_compared_by_what_means_leave() -> None:
    line = axis(7)
    heard = (0.6 * axis(0) + 0.8 * line).astype(np.float32)
    voices = gallery(ANA, known("fragment", [heard], channel="telephone"))
    means = {
        "telephone": ChannelMean("telephone", (0.8 * line).astype(np.float32), 40, 20),
        "wideband": ChannelMean("wideband", np.zeros(SPACE.dimension, dtype=np.float32), 40, 20),
    }
    assert joined(voices, channels=means) == {("fragment", "ana")}


def test_a_telephone_twin_is_no_further_turn() -> None:
    twin = Exemplar("twin", axis(4), 4.0, 25.0, "wideband", "m", twin_of="fragment-0")
    voices = gallery(ANA, replace(FRAGMENT, exemplars=(*FRAGMENT.exemplars, twin)))
    assert joined(voices, config=MergeConfig(cohesion=0.75)) == {("fragment", "ana")}


def of_sessions(person: str, *sessions: str) -> dict[str, str]:
    """Message of each of the person's exemplars → its session."""
    messages = [an_exemplar(f"{person}-{i}", axis(0)).message_id for i in range(len(sessions))]
    return dict(zip(messages, sessions, strict=True))


OFTEN = known("fragment", around(0, 4, 5, 6), turns=3)
MON_TUE = of_sessions("fragment", "monday", "monday", "tuesday")


MERGED = ("fragment", "ana")


def confirmed(voices: dict[str, PersonVoice], **kept: object) -> bool:
    given: dict[str, object] = {"config": MergeConfig(confirm=True), "sessions": MON_TUE, "confirmed_as": {}, **kept}
    found = confirmations(voices, HEARD, [MERGED], **given)  # type: ignore[arg-type]
    assert found in ((), (MERGED,))
    return bool(found)


def test_repeated_voice_confirms_only_where_a_voice_opens() -> None:
    voices = gallery(ANA, replace(OFTEN, same_as="ana"), BEN)
    assert confirmed(voices)
    assert confirmed(gallery(ANA, OFTEN, BEN))  # joined in the same breath
    assert not confirmed(voices, config=MergeConfig())
    assert not confirmed(voices, sessions=dict.fromkeys(MON_TUE, "monday"))
    assert not confirmed(voices, sessions={})  # clips of an enrolment are turns of no session
    assert not confirmed(gallery(ANA, replace(known("fragment", around(0, 4, 5)), same_as="ana")))
    unsure = known("fragment", around(0, 4, 5, 6, likeness=0.55), turns=3)
    assert not confirmed(gallery(ANA, replace(unsure, same_as="ana")))


def test_a_session_whose_turns_are_not_sure_is_none_that_confirms() -> None:
    voice = known("fragment", [*around(0, 4, 5, 6), between(0.55, 0, 7)], turns=4)
    sessions = of_sessions("fragment", "monday", "monday", "monday", "tuesday")
    assert not confirmed(gallery(ANA, replace(voice, same_as="ana")), sessions=sessions)


def test_being_like_somebody_whom_nobody_confirmed_confirms_nothing() -> None:
    """Else the one would open what is ana's by sounding like a fragment that may not be hers."""
    voice = known("fragment", around(4, 5, 6, 7), turns=3)
    second = replace(known("second", around(4, 1, 2, 3), turns=3), same_as="ana")
    voices = gallery(ANA, replace(voice, same_as="ana"), second)
    assert not confirmed(voices)
    assert confirmed(voices, confirmed_as={"second": "ana"})


@pytest.mark.parametrize("reason", ["not the same", "two tracks", "two names", "refused"])
def test_what_forbids_a_merge_forbids_to_confirm_it(reason: str) -> None:
    pair = frozenset({frozenset({"ana", "fragment"})})
    kept: dict[str, dict[str, object]] = {
        "not the same": {"not_same": pair},
        "two tracks": {"apart": pair},
        "two names": {"settled": {"ana", "fragment"}},
        "refused": {},
    }
    consent = Consent.WITHDRAWN if reason == "refused" else Consent.UNKNOWN
    assert not confirmed(gallery(ANA, replace(OFTEN, same_as="ana", consent=consent)), **kept[reason])


def test_a_voice_that_stayed_nobodys_is_proposed_by_all_it_said() -> None:
    turns = tuple(a_turn(f"m{i}", between(LINK - 0.04, 0, 4), at=5.0 * i, track="left") for i in range(2))
    (found,) = merges(gallery(ANA, BEN), SessionEvidence(frozenset(), unresolved=turns)).proposals
    assert (found.subject, found.person_id, found.num_turns, found.why) == ("left", "ana", 2, "alike")


def test_a_track_that_sounded_like_another_tracks_person_is_proposed_as_that() -> None:
    state = FoldState(
        bound={"left": "ana"},
        heard={"ana": 3},
        pending=(Pending(a_turn("m9", axis(0), track="right"), "exclusive"),),
        proposals={"right": Proposal("right", "ana", 0.9, 1)},
    )
    found = merges(gallery(ANA, BEN), SessionEvidence.of(state)).proposals
    assert [(p.subject, p.person_id, p.why) for p in found] == [("right", "ana", "exclusive")]


def test_turns_without_a_track_or_a_voice_are_proposed_to_nobody() -> None:
    turns = (a_turn("m1", axis(0)), a_turn("m2", None, track="left"))
    assert merges(gallery(ANA), SessionEvidence(frozenset(), unresolved=turns)).proposals == ()


def test_no_more_proposals_than_somebody_reads() -> None:
    crowd = [known(f"p{i}", [between(0.5, 0, i)], turns=4) for i in range(1, 7)]
    found = merges(gallery(*crowd, known("fragment", [axis(0)])), HEARD).proposals
    assert len(found) == MergeConfig().proposals and all(p.subject == "fragment" for p in found)


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_voices_does_not_matter(order: random.Random) -> None:
    names = [("f1", [between(0.85, 0, 4)]), ("f2", [between(0.85, 0, 5)]), ("f3", [between(0.5, 0, 6)])]
    voices = [ANA, BEN, *(known(name, vectors) for name, vectors in names)]
    shuffled = list(voices)
    order.shuffle(shuffled)
    session = SessionEvidence(frozenset({"f1", "f2", "f3"}))
    assert merges(gallery(*shuffled), session) == merges(gallery(*voices), session)


@settings(max_examples=30)
@given(st.lists(st.lists(st.floats(-1, 1), min_size=8, max_size=8), min_size=2, max_size=6), st.integers(0, 5))
def test_nobody_is_joined_twice_to_themselves_or_in_a_circle(numbers: list[list[float]], heard: int) -> None:
    vectors = [np.array(n, dtype=np.float32) for n in numbers]
    vectors = [v / np.linalg.norm(v) for v in vectors if np.linalg.norm(v) > 1e-3]
    voices = gallery(*(known(f"p{i}", [v], turns=i + 1) for i, v in enumerate(vectors)))
    result = merges(voices, SessionEvidence(frozenset({f"p{heard}"})))
    assert len({m.person_id for m in result.merges}) == len(result.merges)
    after = overlaid(voices, result.merges)
    assert all(v.same_as != p and (v.same_as is None or after[v.same_as].same_as is None) for p, v in after.items())
    one = {frozenset((p, v.same_as or p)) for p, v in after.items()}
    assert not any(isinstance(p, MayBe) and frozenset((p.subject, p.person_id)) in one for p in result.proposals)


@pytest.mark.needs_shared
def test_no_two_real_people_are_joined_and_their_own_halves_are(shared: Path) -> None:
    """AMI and read speech, clean: everybody as two fragments that never met."""
    space = EmbeddingSpace("campplus", "kept", 192)
    voices: dict[str, PersonVoice] = {}
    for name in ("ami", "libri_other", "vctk"):
        data = np.load(shared / "data" / "embeddings" / f"{name}.npz")
        vectors = data["clean"].astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        for speaker in np.unique(data["speaker"]):
            own = vectors[data["speaker"] == speaker]
            for half in (own[::2], own[1::2]):
                if len(half) < 2 or speaker == "L8226":
                    continue
                person = f"{speaker}/{len(voices)}"
                voice = PersonVoice(person, space, half[0], (), len(half), 4.0 * len(half))
                for i, vector in enumerate(half):
                    voice = policy("bounded").learn(voice, an_exemplar(f"{person}/{i}", vector))
                voices[person] = voice
    result = merges(voices, SessionEvidence(frozenset(voices)))
    names = [(m.person_id.split("/")[0], m.into.split("/")[0]) for m in result.merges]
    assert len(names) >= 15 and all(one == other for one, other in names)
