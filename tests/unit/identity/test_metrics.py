"""Figures worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from service.errors import InvalidInput
from service.identity import metrics
from service.types.people import Assigned, Create, Decision, Link, Scores, Unresolved

SCORES = Scores(None, None, 0.5, "bounded", "campplus")


def test_b_cubed_of_the_classic_example() -> None:
    # clusters {a a a a a b}, {b b c c c}: Amigó et al. 2009 style, worked by hand
    clusters = [1] * 6 + [2] * 5
    gold = ["a"] * 5 + ["b"] + ["b"] * 2 + ["c"] * 3
    found = metrics.b_cubed(clusters, gold)
    assert found.precision == pytest.approx((5 * 5 / 6 + 1 / 6 + 2 * 2 / 5 + 3 * 3 / 5) / 11)
    assert found.recall == pytest.approx((5 * 1.0 + 1 / 3 + 2 * 2 / 3 + 3 * 1.0) / 11)


def test_b_cubed_takes_an_undecided_item_for_a_cluster_of_its_own() -> None:
    found = metrics.b_cubed([1, None, None], ["a", "a", "a"])
    assert found.precision == 1.0
    assert found.recall == pytest.approx(1 / 3)


def test_b_cubed_by_seconds_lets_long_turns_count_more() -> None:
    by_item = metrics.b_cubed([1, 1], ["a", "b"])
    by_second = metrics.b_cubed([1, 1], ["a", "b"], [9.0, 1.0])
    assert by_item.precision == pytest.approx(0.5)
    assert by_second.precision == pytest.approx(0.9 * 0.9 + 0.1 * 0.1)


def test_attribution_maps_each_speaker_to_one_cluster_only() -> None:
    right = metrics.attributed([1, 1, 2, 3, None], ["a", "a", "a", "b", "b"])
    assert right == [True, True, False, True, False]


def test_the_papers_figures_on_a_short_stream() -> None:
    gold = ["a", "b", "a", "b", "a", "b"]
    decisions: list[Decision] = [
        Create("0", "", "p0", SCORES),
        Create("1", "", "p1", SCORES),
        Link("2", "", "p0", SCORES, True),
        Link("3", "", "p0", SCORES, True),
        Create("4", "", "p4", SCORES),
        Unresolved("5", "", SCORES, "too_short"),
    ]
    found = metrics.routing_figures(decisions, gold)
    assert (found.create.precision, found.create.recall) == (pytest.approx(2 / 3), 1.0)
    assert found.link_precision == 0.5
    assert found.known_user_resolution_recall == 0.25
    assert found.fnur == 0.25
    assert found.unresolved == pytest.approx(1 / 6)
    assert found.clusters_per_gold == 1.5


def test_a_link_to_a_later_duplicate_is_not_a_right_one() -> None:
    gold = ["a", "a", "a"]
    decisions: list[Decision] = [
        Create("0", "", "p0", SCORES),
        Create("1", "", "p1", SCORES),
        Assigned("2", "", "p1", SCORES, "too_short"),
    ]
    found = metrics.routing_figures(decisions, gold)
    assert found.link_precision == 0.0 and found.known_user_resolution_recall == 0.0


def test_whoever_is_enrolled_before_counts_as_known() -> None:
    found = metrics.routing_figures([Link("0", "", "ana", SCORES, True)], ["a"], enrolled={"ana": "a"})
    assert found.known_user_resolution_recall == 1.0 and math.isnan(found.create.precision)


def test_wrong_authorisations_count_only_who_was_let_in() -> None:
    assert metrics.wrong_authorisations(["ana", None, "ana"], {"ana": "a"}, ["a", "b", "b"]) == 1


def test_the_equal_error_rate_of_overlapping_scores() -> None:
    genuine, impostor = np.array([0.4, 0.6, 0.7, 0.8]), np.array([0.1, 0.2, 0.3, 0.5])
    assert metrics.equal_error_rate(genuine, impostor) == pytest.approx(0.25)
    assert metrics.equal_error_rate(genuine, np.array([0.1, 0.2])) == 0.0


def test_an_operating_point_never_exceeds_its_rate() -> None:
    impostor = np.linspace(0, 1, 1000)
    point = metrics.at_false_accepts(np.array([0.95, 0.995]), impostor, 0.01)
    assert point.false_accepts <= 0.01 and point.false_rejects == 0.5


def test_min_dcf_is_one_when_scores_say_nothing_and_zero_when_they_say_all() -> None:
    same = np.linspace(0, 1, 100)
    assert metrics.min_dcf(same, same) == pytest.approx(1.0, abs=0.05)
    assert metrics.min_dcf(same + 2, same) == 0.0


def test_zero_of_n_has_an_upper_bound_of_about_three_over_n() -> None:
    low, high = metrics.share_interval(0, 300)
    assert low == 0.0 and 2.5 / 300 < high < 4.5 / 300


def test_the_bootstrap_over_groups_is_wider_than_over_items() -> None:
    hits = np.array([1.0] * 50 + [0.0] * 50)
    items = metrics.bootstrap(hits, lambda i: float(hits[i].mean()))
    groups = metrics.bootstrap(hits, lambda i: float(hits[i].mean()), groups=["x"] * 50 + ["y"] * 50)
    assert items[0] < 0.5 < items[1]
    assert groups[1] - groups[0] > items[1] - items[0]


def test_sequences_of_unequal_length_are_refused() -> None:
    with pytest.raises(InvalidInput):
        metrics.b_cubed([1], ["a", "b"])


def test_who_was_heard_but_never_decided_is_new_until_somebody_is_made_of_them() -> None:
    decisions: list[Decision] = [
        Unresolved("1", "", SCORES, "too_short"),
        Unresolved("2", "", SCORES, "noisy"),
        Create("3", "", "p1", SCORES),
        Assigned("2", "", "p1", SCORES, "noisy"),
    ]
    num = metrics.routing_counts(decisions, ["a", "a", "a", "a"])
    assert (num["new"], num["right_create"], num["false_new"]) == (1, 1, 0)
    assert (num["returning"], num["resolved"], num["speakers"]) == (1, 1, 1)
