"""What the fold decides, and what must hold whatever it is fed."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from service.identity.opt_outs import Refusals
from service.identity.policies import BadVoiceVector, VoiceSpacesDiffer
from service.identity.router import NO_TRACK, FoldState, RouterConfig, settle, step
from service.identity.thresholds import TELEPHONE, WIDEBAND, ChannelPair
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.people import (
    Assigned,
    ChannelMean,
    Consent,
    Create,
    Decision,
    Former,
    Link,
    PersonVoice,
    TurnEvidence,
    Unresolved,
)
from tests.unit.identity.voices import SPACE, a_person, a_turn, axis, between, gallery, one_after_another, turned

CONFIG = RouterConfig()


def decide(
    *turns: TurnEvidence, known: dict[str, PersonVoice] | None = None, config: RouterConfig = CONFIG
) -> tuple[FoldState, tuple[Decision, ...]]:
    return step(FoldState(gallery=known or {}), turns, config)


def only(decisions: tuple[Decision, ...]) -> Decision:
    (decision,) = decisions
    return decision


def test_a_known_voice_is_linked_with_its_scores() -> None:
    known = gallery(a_person("ana", axis(0)), a_person("ben", axis(2)))
    decision = only(decide(a_turn("m", between(0.9)), known=known)[1])
    assert isinstance(decision, Link)
    assert decision.person_id == "ana" and decision.learned
    assert decision.scores.cosine == pytest.approx(0.9, abs=1e-6)
    assert decision.scores.margin == pytest.approx(0.9, abs=1e-6)


def test_case_36_a_clipped_turn_of_a_known_voice_is_linked_and_teaches_nothing() -> None:
    known = gallery(a_person("ana", axis(0)))
    for clipped, learned in ((0.02, True), (0.04, False)):
        decision = only(decide(a_turn("m", between(0.9), clipped=clipped), known=known)[1])
        assert isinstance(decision, Link) and (decision.person_id, decision.learned) == ("ana", learned)


def test_a_new_voice_makes_a_person_named_by_its_message_alone() -> None:
    one = only(decide(a_turn("m", axis(1)))[1])
    other = only(decide(a_turn("m", axis(1)), known=gallery(a_person("ana", axis(0))))[1])
    assert isinstance(one, Create) and isinstance(other, Create)
    assert one.person_id == other.person_id


FORMER = Former("ana", num_turns=7, net_speech=21.0, consent=Consent.UNKNOWN, same_as=None)


def again(*turns: TurnEvidence, known: dict[str, PersonVoice] | None = None, **changed: object) -> list[str | None]:
    """Whose turns are in a recording that is processed again, where Ana was held to speak."""
    state = FoldState(gallery=known or {}, former={"ana": replace(FORMER, **changed)})
    return [None if isinstance(d, Unresolved) else d.person_id for d in step(state, turns, CONFIG)[1]]


def test_a_voice_that_nobody_has_is_of_who_was_held_to_speak_then_and_of_nobody_else() -> None:
    first, other = (replace(a_turn(f"m{i}", axis(i), at=5.0 * i, track=f"t{i}"), before="ana") for i in (0, 1))
    stranger = only(decide(other)[1])
    assert isinstance(stranger, Create)
    assert again(first) == ["ana"]
    assert again(first, other) == ["ana", stranger.person_id], "she speaks on a track of her own"
    assert again(replace(first, before="gone")) != ["ana"]
    known = gallery(a_person("ana", axis(2)), a_person("ben", axis(0)))
    assert again(first, other, known=known) == ["ben", stranger.person_id], "voices that are known decide"


def test_who_refused_to_be_known_by_voice_keeps_their_turns_and_nothing_is_learnt_of_them() -> None:
    turns = [replace(a_turn(f"m{i}", axis(0), at=5.0 * i, track=("t", "t", "other")[i]), before="ana") for i in range(3)]
    withdrawn = {"ana": replace(FORMER, consent=Consent.WITHDRAWN)}
    for refusals, whose in (
        (Refusals(), ["ana", "ana", None]),
        (Refusals(voices=frozenset({"ana"})), ["ana", "ana", None]),
        (Refusals(voices=frozenset({"ana"}), attribution=frozenset({"ana"})), [None, None, None]),
    ):
        state, decisions = step(FoldState(former=withdrawn, refusals=refusals), turns, CONFIG)
        assert [None if isinstance(d, Unresolved) else d.person_id for d in decisions] == whose
        assert not state.candidates and all(pending.evidence.embedding is None for pending in state.pending)
        left = [decision for decision in decisions if isinstance(decision, Unresolved)]
        assert {decision.reason for decision in left} == {"opted_out"}
    loose = [replace(turn, track=NO_TRACK) for turn in turns]
    state, decisions = step(FoldState(former=withdrawn), loose, CONFIG)
    assert [d.person_id for d in decisions if isinstance(d, Create)] == ["ana"] * 3 and not state.candidates


def test_two_who_are_merged_keep_each_their_track_when_their_recording_is_processed_again() -> None:
    turns = [replace(a_turn(f"m{i}", axis(i), at=5.0 * i, track=f"t{i}"), before=("ana", "bea")[i]) for i in (0, 1)]
    former = {"ana": FORMER, "bea": replace(FORMER, person_id="bea", same_as="ana")}
    _, decisions = step(FoldState(former=former), turns, CONFIG)
    assert [d.person_id for d in decisions if isinstance(d, Create)] == ["ana", "bea"]


def test_who_is_known_by_when_they_spoke_keeps_their_counts_and_is_so_after_a_checkpoint() -> None:
    weak, turn = (
        replace(a_turn(f"m{i}", axis(0), at=5.0 * i, seconds=s, track="t"), before="ana") for i, s in ((0, 1.0), (1, 4.0))
    )
    state, _ = step(FoldState(former={"ana": FORMER}), [weak], CONFIG)
    kept = FoldState.from_checkpoint(json.loads(json.dumps(state.to_checkpoint())))
    assert [pending.evidence.before for pending in kept.pending] == ["ana"]
    after, _ = step(kept.with_gallery({}, former={"ana": FORMER}), [turn], CONFIG)
    assert (after.gallery["ana"].num_turns, after.gallery["ana"].net_speech) == (8, 25.0)


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        (a_turn("m", None, net_speech=0.0), "no_speech"),
        (a_turn("m", None, net_speech=0.4), "too_short"),
        (a_turn("m", axis(1), net_speech=0.5), "too_short"),
        (a_turn("m", axis(1), net_speech=1.5), "too_short"),
        (a_turn("m", axis(1), snr_db=0.0), "noisy"),
        (a_turn("m", axis(1), clipped=0.05), "clipped"),
        (a_turn("m", axis(1), seconds=6.0, overlapped=3.5), "overlapped"),
        (a_turn("m", between(0.45)), "between_thresholds"),
    ],
)
def test_a_weak_turn_is_left_unresolved_and_makes_nobody(turn: TurnEvidence, reason: str) -> None:
    known = gallery(a_person("ana", axis(0)))
    state, decisions = decide(turn, known=known)
    decision = only(decisions)
    assert isinstance(decision, Unresolved) and decision.reason == reason
    assert set(state.gallery) == {"ana"}
    assert [p.evidence.message_id for p in state.pending] == ["m"]


def test_a_thousand_clicks_make_nobody() -> None:
    turns = [a_turn(f"m{i}", axis(i % 8), at=i, seconds=0.1) for i in range(1000)]
    state, _ = decide(*turns)
    assert not state.gallery


def test_two_sisters_too_alike_are_ambiguous() -> None:
    known = gallery(a_person("ana", between(0.99, 0, 1)), a_person("bea", between(0.99, 0, 2)))
    decision = only(decide(a_turn("m", axis(0)), known=known)[1])
    assert isinstance(decision, Unresolved) and decision.reason == "ambiguous"


def test_a_bound_track_keeps_what_is_too_short_to_tell() -> None:
    _, decisions = decide(a_turn("m0", axis(0), track="t"), a_turn("m1", None, at=5, seconds=0.3, track="t"))
    first, second = decisions
    assert isinstance(first, Create) and isinstance(second, Assigned)
    assert second.person_id == first.person_id


def test_a_bound_track_with_another_voice_is_not_believed() -> None:
    known = gallery(a_person("ana", axis(0)), a_person("ben", axis(1)))
    turns = (a_turn("m0", axis(0), track="t"), a_turn("m1", axis(1), at=5, track="t"), a_turn("m2", axis(2), at=10, track="t"))
    _, decisions = decide(*turns, known=known)
    assert [getattr(d, "reason", None) for d in decisions] == [None, "contradicting", "contradicting"]


def test_a_second_track_never_binds_the_same_person_and_makes_nobody_new() -> None:
    turns = (
        a_turn("m0", axis(0), track="t1"),
        a_turn("m1", axis(0), at=5, track="t2"),
        a_turn("m2", between(0.2), at=10, track="t2"),
    )
    state, decisions = decide(*turns)
    assert [getattr(d, "reason", None) for d in decisions] == [None, "exclusive", "exclusive"]
    assert len(state.gallery) == 1
    settled, more = settle(state, CONFIG)
    assert more == () and len(settled.gallery) == 1
    (proposal,) = settled.proposals.values()
    assert (proposal.track, proposal.person_id) == ("t2", next(iter(state.gallery)))


def test_turns_without_a_track_may_share_a_person() -> None:
    state, decisions = decide(*one_after_another([axis(0), axis(1), axis(0)]))
    assert [type(d).__name__ for d in decisions] == ["Create", "Create", "Link"]
    assert not state.bound


def test_nobody_speaks_over_themselves() -> None:
    turns = (a_turn("m0", axis(0), seconds=6), a_turn("m1", axis(0), at=2, seconds=3, overlapped=1.0))
    _, decisions = decide(*turns)
    assert isinstance(decisions[0], Create)
    assert isinstance(decisions[1], Unresolved)


def test_people_heard_in_the_session_need_less_than_the_whole_gallery() -> None:
    crowd = gallery(*(a_person(f"p{i}", axis(2)) for i in range(200)), a_person("ana", axis(0)))
    alone = only(decide(a_turn("m", between(0.5)), known=crowd)[1])
    after = decide(*one_after_another([axis(0), between(0.5)]), known=crowd)[1][1]
    assert isinstance(alone, Unresolved) and isinstance(after, Link)
    assert not after.learned


def test_on_the_telephone_the_same_cosine_means_less() -> None:
    known = gallery(a_person("ana", axis(0), channel="telephone"))
    decision = only(decide(a_turn("m", between(0.6), channel="telephone"), known=known)[1])
    assert isinstance(decision, Create)


def test_a_shortlist_is_judged_as_the_whole_space() -> None:
    known = gallery(a_person("ana", axis(0)))
    state = FoldState().with_gallery(known, population=10_000)
    assert isinstance(step(FoldState(gallery=known), [a_turn("m", between(0.6))], CONFIG)[1][0], Link)
    assert isinstance(step(state, [a_turn("m", between(0.6))], CONFIG)[1][0], Unresolved)


@pytest.mark.parametrize("consent", [Consent.WITHDRAWN, Consent.OPTED_OUT])
def test_who_opted_out_is_neither_linked_nor_made_anew_nor_learnt(consent: Consent) -> None:
    known = gallery(a_person("ana", axis(0), consent=consent))
    state, decisions = decide(a_turn("m", axis(0)), known=known)
    decision = only(decisions)
    assert isinstance(decision, Unresolved) and decision.reason == "opted_out"
    settled, more = settle(state, CONFIG)
    assert more == () and settled.gallery == known


def test_a_voice_that_may_not_be_kept_is_known_for_its_session_only() -> None:
    config = RouterConfig(keep_voices=False)
    state, decisions = decide(*one_after_another([axis(0)]), config=config)
    created = only(decisions)
    assert isinstance(created, Create) and not state.gallery and set(state.passing) == {created.person_id}
    resumed = FoldState.from_checkpoint(json.loads(json.dumps(state.to_checkpoint()))).with_gallery({})
    _, again = step(resumed, [a_turn("m1", axis(0), at=9)], config)
    link = only(again)
    assert isinstance(link, Link) and link.person_id == created.person_id and not link.learned
    assert isinstance(only(decide(a_turn("m2", axis(0)), config=config)[1]), Create)


def test_whoever_consented_is_learnt_in_an_ephemeral_space_and_others_are_not() -> None:
    known = gallery(a_person("ana", axis(0), consent=Consent.GRANTED), a_person("ben", axis(1)))
    turns = one_after_another([axis(0), axis(1)])
    _, decisions = decide(*turns, known=known, config=RouterConfig(keep_voices=False))
    assert [d.learned for d in decisions if isinstance(d, Link)] == [True, False]


def test_another_encoder_is_refused_even_of_equal_size() -> None:
    turn = a_turn("m", axis(0), space=EmbeddingSpace("ecapa", "test", SPACE.dimension))
    with pytest.raises(VoiceSpacesDiffer):
        decide(turn, known=gallery(a_person("ana", axis(0))))


@pytest.mark.parametrize("bad", [np.zeros(8, dtype=np.float32), np.full(8, np.nan, dtype=np.float32)])
def test_no_nan_or_zero_vector_enters(bad: np.ndarray) -> None:
    with pytest.raises(BadVoiceVector):
        decide(a_turn("m", bad))
    with pytest.raises(BadVoiceVector):
        decide(a_turn("m", axis(0)), known=gallery(a_person("ana", bad)))


def test_settling_assigns_the_turns_before_their_track_was_known() -> None:
    state, _ = decide(a_turn("m0", axis(0), seconds=1.0, track="t"), a_turn("m1", axis(0), at=5, track="t"))
    settled, decisions = settle(state, CONFIG)
    decision = only(decisions)
    assert isinstance(decision, Assigned) and decision.message_id == "m0"
    assert not settled.pending


def test_short_turns_of_a_track_are_enough_together_and_the_earlier_ones_follow() -> None:
    turns = [a_turn(f"m{i}", axis(0), at=5 * i, seconds=1.0 + 0.1 * i, track="t") for i in range(3)]
    state, decisions = decide(*turns)
    assert [type(d).__name__ for d in decisions] == ["Unresolved", "Create", "Link"]
    settled, more = settle(state, CONFIG)
    created = only(tuple(d for d in decisions if isinstance(d, Create)))
    assert [(d.message_id, d.person_id) for d in more if isinstance(d, Assigned)] == [("m0", created.person_id)]
    assert settled.bound == {"t": created.person_id}


def test_a_track_that_might_be_somebody_known_waits_for_its_next_turn() -> None:
    """0.45 is too far for LINK and too near for CREATE; the mean of two such turns is nearer to her."""
    known = gallery(a_person("ana", axis(0)))
    turns = [a_turn("m0", turned(0.45, 0.4, 1), track="t"), a_turn("m1", turned(0.45, 0.4, 2), at=5, track="t")]
    apart = [decide(turn, known=known)[1][0] for turn in turns]
    assert [getattr(d, "reason", None) for d in apart] == ["between_thresholds", "between_thresholds"]
    _, (first, second) = decide(*turns, known=known)
    assert isinstance(first, Unresolved) and isinstance(second, Link)
    assert second.person_id == "ana" and not second.learned
    assert second.scores.cosine == pytest.approx(0.545, abs=0.001)


def test_turns_of_a_track_that_sound_like_two_people_are_not_counted_together() -> None:
    known = gallery(a_person("ana", axis(0)))
    turns = [a_turn("m0", between(0.45, 0, 1), track="t"), a_turn("m1", -between(-0.45, 0, 1), at=5, track="t")]
    assert all(isinstance(d, Unresolved) for d in decide(*turns, known=known)[1])


def test_a_newcomer_somewhat_like_somebody_is_made_by_two_turns_not_by_one() -> None:
    known = gallery(a_person("ana", axis(0)))
    turns = [a_turn("m0", between(0.30), track="t"), a_turn("m1", between(0.30), at=5, track="t")]
    assert [type(d).__name__ for d in decide(*turns, known=known)[1]] == ["Unresolved", "Create"]


def test_a_sessions_only_turn_is_decided_at_its_end() -> None:
    state, _ = decide(a_turn("m0", between(0.30), track="t"), known=gallery(a_person("ana", axis(0))))
    assert isinstance(only(settle(state, CONFIG)[1]), Create)


def test_whom_the_roster_expects_needs_less_than_anybody() -> None:
    crowd = gallery(*(a_person(f"p{i}", axis(2)) for i in range(200)), a_person("ana", axis(0)))
    turn = a_turn("m", between(0.5))
    assert isinstance(only(decide(turn, known=crowd)[1]), Unresolved)
    expected = only(decide(turn, known=crowd, config=RouterConfig(roster=frozenset({"ana", "ben"})))[1])
    assert isinstance(expected, Link) and expected.person_id == "ana" and not expected.learned
    everybody = RouterConfig(roster=frozenset(crowd))
    assert isinstance(only(decide(turn, known=crowd, config=everybody)[1]), Unresolved)


def test_channels_with_a_mean_are_compared_without_it_and_others_raw() -> None:
    """On her telephone ana is nearer to everybody on one than to herself; without what telephones share she is herself."""
    means = {TELEPHONE: ChannelMean(TELEPHONE, 0.7 * axis(7), 40, 20), WIDEBAND: ChannelMean(WIDEBAND, 0.1 * axis(6), 40, 20)}
    known = gallery(a_person("ana", axis(0)), a_person("ben", between(0.5, 1, 7), channel=TELEPHONE))
    turn = a_turn("m", between(0.45, 0, 7), channel=TELEPHONE)
    raw = only(decide(turn, known=known)[1])
    state = FoldState().with_gallery(known, channels=means)
    after, decisions = step(state, [turn], CONFIG)
    compensated = only(decisions)
    assert isinstance(raw, Unresolved) or raw.person_id != "ana" or raw.scores.channels == ChannelPair.CROSS
    assert isinstance(compensated, Link) and compensated.person_id == "ana"
    assert compensated.scores.channels == ChannelPair.COMPENSATED_CROSS
    assert after.channels == means
    assert only(step(state, [turn], RouterConfig(compensate=False))[1]).scores == raw.scores
    alone = FoldState().with_gallery(known, channels={TELEPHONE: means[TELEPHONE]})
    assert only(step(alone, [turn], CONFIG)[1]).scores.channels != ChannelPair.COMPENSATED_CROSS


def test_the_scores_say_who_came_second_and_on_which_channels() -> None:
    known = gallery(a_person("ana", axis(0)), a_person("ben", axis(2)))
    scores = only(decide(a_turn("m", between(0.9, 0, 2)), known=known)[1]).scores
    assert (scores.runner_up_id, scores.channels) == ("ben", ChannelPair.WIDEBAND)
    assert scores.runner_up == pytest.approx(0.436, abs=0.001)
    nobody = only(decide(a_turn("m", axis(0)))[1]).scores
    assert (nobody.runner_up_id, nobody.channels) == (None, None)


def test_ten_thousand_people_are_scored_in_a_few_milliseconds_a_turn() -> None:
    space = EmbeddingSpace("campplus", "test", 192)
    rng = np.random.default_rng(0)
    matrix = rng.standard_normal((10_000, 192)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    known = {f"p{i:05d}": PersonVoice(f"p{i:05d}", space, row) for i, row in enumerate(matrix)}
    turns = [a_turn(f"m{i}", matrix[7 * i], at=5.0 * i, space=space) for i in range(50)]
    began = time.process_time()
    _, decisions = step(FoldState(gallery=known), turns, CONFIG)
    assert [d.person_id for d in decisions if isinstance(d, Link)] == [f"p{7 * i:05d}" for i in range(50)]
    assert time.process_time() - began < 2.0


def narrowed(turn: TurnEvidence, vector: Samples) -> TurnEvidence:
    return replace(turn, narrow=SpeakerEmbedding(vector, SPACE))


def test_who_was_met_in_a_room_is_known_when_they_call() -> None:
    """A call at 0.2 from the voice in the room, but at 0.9 from that voice made narrow: twin row (axis 0 + axis 1) / √2."""
    room, call = a_turn("m0", axis(0)), a_turn("m1", turned(0.2, 0.0, 1), at=10.0, channel=TELEPHONE)
    without = decide(room, call)[1]
    assert isinstance(without[1], Create), "as somebody else"
    state, (met, heard) = decide(narrowed(room, axis(1)), call)
    assert isinstance(met, Create) and isinstance(heard, Link) and heard.person_id == met.person_id
    assert heard.scores.channels == ChannelPair.TWIN
    assert [e.twin_of is not None for e in state.gallery[met.person_id].exemplars].count(True) <= 1


@pytest.mark.parametrize("policy", ["fixed", "update", "gated", "knn"])
def test_the_papers_policies_keep_no_twins(policy: str) -> None:
    state, _ = decide(narrowed(a_turn("m0", axis(0)), axis(1)), config=replace(CONFIG, policy=policy))
    (voice,) = state.gallery.values()
    assert len(voice.exemplars) == 1


def test_a_turn_that_waits_keeps_its_narrow_voice_in_the_checkpoint() -> None:
    waiting = narrowed(a_turn("m0", between(0.45)), axis(1))
    state, _ = decide(waiting, known=gallery(a_person("ana", axis(0))))
    again = FoldState.from_checkpoint(json.loads(json.dumps(state.to_checkpoint())))
    (pending,) = again.pending
    assert pending.evidence.narrow is not None and np.array_equal(pending.evidence.narrow.vector, axis(1))
