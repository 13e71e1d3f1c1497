from collections import Counter

import pytest

from tests.bench.locomo_id.figures import ASKING, RECALL, ROUTING, Figure, Tallies, add_b_cubed, add_figures
from tests.bench.report import Report


def rows(tallies: Tallies, figures: tuple[Figure, ...]) -> dict[str, tuple[float, int, tuple[float, float] | None]]:
    report = Report("test")
    add_figures(report, tallies, figures, "here", "ours")
    return {row.metric: (row.value, row.n, row.ci95) for row in report.rows}


def tallies(**by_group: dict[str, int]) -> Tallies:
    made = Tallies()
    for group, tally in by_group.items():
        made.add(group, Counter(tally))
    return made


def test_groups_are_added_up():
    made = tallies(a={"wrong": 1, "asked": 10, "known": 8, "refused": 2}, b={"asked": 30, "known": 12})
    found = rows(made, ASKING)
    assert found["wrong_authorisations"][:2] == (1, 40)
    assert found["rightful_refused"][:2] == (0.1, 20)


def test_what_was_never_seen_has_the_bound_of_three():
    found = rows(tallies(a={"asked": 600, "known": 600}, b={"asked": 0}), ASKING)
    assert found["wrong_authorisations"] == (0, 600, (0.0, 3.0))
    assert found["rightful_refused"] == (0, 600, (0.0, 0.005))


def test_a_share_that_is_whole_is_not_certain():
    found = rows(tallies(a={"right_link": 300, "link": 300}, b={"right_link": 0}), ROUTING)
    assert found["link_precision"] == (1.0, 300, (0.99, 1.0))


def test_the_interval_spans_the_groups():
    made = tallies(**{f"c{i}": {"recall": 50 + 10 * (i % 2), "with_gold": 100} for i in range(10)})
    value, _, interval = rows(made, RECALL)["evidence_recall_at_15"]
    assert interval is not None
    assert interval[0] < value < interval[1]
    assert value == pytest.approx(0.55)


def test_one_group_has_no_interval():
    assert rows(tallies(a={"recall": 5, "with_gold": 10}), RECALL)["evidence_recall_at_15"] == (0.5, 10, None)


def test_b_cubed_is_of_mean_precision_and_recall():
    report = Report("test")
    add_b_cubed(report, tallies(a={"b3_precision": 10, "b3_recall": 5, "turns": 10}, b={"turns": 0}), "here", "ours")
    assert report.rows[0].value == pytest.approx(2 / 3)


def test_only_some_groups_can_be_reported():
    made = tallies(a={"asked": 1}, b={"asked": 2})
    assert made.only("b".__eq__).total() == Counter(asked=2)
