"""Does the benchmark say which single way of asking tells most by its time?"""

from __future__ import annotations

from tests.bench.trust_walk import ENOUGH, auc, worst


def test_one_way_that_leaks_is_told_whatever_the_others_come_to() -> None:
    quiet, leaks, few = ("Message", "message(id: {})"), ("Session", "session(id: {})"), ("Job", "job(id: {})")
    each = {quiet: (0.49, 1_000), leaks: (0.2, ENOUGH), few: (1.0, ENOUGH - 1)}
    assert worst(each) == (leaks, (0.2, ENOUGH))
    assert worst({few: (1.0, 4)}) == (few, (1.0, 4)), "where none has enough, the worst of what there is"
    assert auc([1.0, 2.0], [3.0, 4.0]) == 1.0 and auc([1.0, 2.0], [1.0, 2.0]) == 0.5
