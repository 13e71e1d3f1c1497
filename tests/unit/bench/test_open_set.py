"""The open set: nobody is judged by their own threshold, or by the sound that enrolled them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from service.identity.thresholds import CAMPPLUS
from service.types.audio import Samples
from tests.bench.open_set import Setting, Trial, _interval, _outcome, _tell, _trials
from tests.bench.open_set_voices import SPACE, Clip, Speaker, halves, person
from tests.bench.report import Report


def direction(index: int, other: int = 0, cosine: float = 1.0) -> Samples:
    """The unit vector at `cosine` from the axis `index`, towards the axis `other`."""
    vector = np.zeros(SPACE.dimension, np.float32)
    vector[other] = np.sqrt(1 - cosine**2)
    vector[index] = cosine
    return vector


def a_speaker(index: int, clips: int = 4) -> Speaker:
    own = tuple(Clip(f"s{index}/{n}", 4.0, direction(index)) for n in range(clips))
    return Speaker(f"s{index}", own, {None: own})


PEOPLE = [a_speaker(i) for i in range(1, 11)]


def test_halves_share_nobody_and_leave_nobody_out() -> None:
    names = {s.name for s in PEOPLE}
    one, other = halves(names)
    assert not one & other
    assert one | other == names
    assert halves(names) == (one, other)


@pytest.mark.parametrize("turns", [1, 3])
def test_a_trial_never_hears_the_sound_that_enrolled(turns: int) -> None:
    trials = list(_trials(Setting("x", None, turns, 5), PEOPLE, PEOPLE, 2))
    assert len(trials) == 2 * 2 * len(PEOPLE)
    for trial in trials:
        enrolled = {e.message_id.removeprefix("m-") for voice in trial.gallery.values() for e in voice.exemplars}
        assert len(trial.probes) == len({clip.id for clip in trial.probes}) == turns
        assert not enrolled & {clip.id for clip in trial.probes}


def test_a_strangers_gallery_is_as_large_and_without_them() -> None:
    trials = list(_trials(Setting("x", None, 1, 5), PEOPLE, PEOPLE, 1))
    assert {trial.enrolled for trial in trials} == {True, False}
    for trial in trials:
        assert len(trial.gallery) == 5
        assert (trial.speaker in trial.gallery) == trial.enrolled


def test_who_has_too_few_clips_is_tried_only_as_a_stranger() -> None:
    trials = list(_trials(Setting("x", None, 3, 5), [a_speaker(1, clips=3)], PEOPLE, 1))
    assert [trial.enrolled for trial in trials] == [False]


def a_trial(vector: Samples, *, enrolled: bool) -> Trial:
    known = {s.name: person(s.name, s.enrolling[0]) for s in PEOPLE[1:]}
    if enrolled:
        known["s1"] = person("s1", PEOPLE[0].enrolling[0])
    return Trial("s1", enrolled, (Clip("probe", 4.0, vector),), known, {})


def test_each_outcome_has_its_name() -> None:
    own, twos, between = direction(1), direction(2), direction(1, 0, 0.45)
    assert list(_outcome(a_trial(own, enrolled=True), CAMPPLUS)) == ["known", "known/right", "known/let_in"]
    assert list(_outcome(a_trial(twos, enrolled=True), CAMPPLUS)) == ["known", "known/linked_wrong", "known/wrongly_let_in"]
    assert list(_outcome(a_trial(between, enrolled=True), CAMPPLUS)) == ["known", "known/unresolved", "known/refused"]
    assert list(_outcome(a_trial(direction(100), enrolled=True), CAMPPLUS)) == ["known", "known/created", "known/refused"]
    assert list(_outcome(a_trial(own, enrolled=False), CAMPPLUS)) == ["stranger", "stranger/created", "stranger/refused"]
    wrong = ["stranger", "stranger/linked_wrong", "stranger/wrongly_let_in"]
    assert list(_outcome(a_trial(twos, enrolled=False), CAMPPLUS)) == wrong


def test_rows_count_what_happened() -> None:
    report = Report("x")
    trials = [a_trial(direction(1), enrolled=True), a_trial(direction(2), enrolled=False)]
    _tell(report, "c", {str(i): Counter(_outcome(t, CAMPPLUS)) for i, t in enumerate(trials)})
    rows = {row.metric: (row.value, row.n) for row in report.rows}
    assert rows["strangers_linked"] == (1.0, 1)
    assert rows["people_missed"] == (0.0, 1)
    assert rows["newcomers_not_created"] == (1.0, 1)
    assert rows["unresolved"] == (0.0, 2)
    assert rows["wrong_authorisations"] == (1.0, 2)
    assert rows["rightful_refused"] == (0.0, 1)


def test_the_interval_knows_that_one_speakers_trials_go_together() -> None:
    alone, together = np.array([1, 0] * 50), np.array([10, 0] * 5)
    narrow, wide = (_interval(parts, np.full(len(parts), parts.max())) for parts in (alone, together))
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])
    assert _interval(np.zeros(10, int), np.full(10, 30))[1] == pytest.approx(3 / 300, rel=0.3)
