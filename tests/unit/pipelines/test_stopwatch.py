"""A stage inside another is counted once."""

from __future__ import annotations

from itertools import count

from service.pipelines.stopwatch import Stopwatch


def test_time_inside_an_inner_stage_is_not_the_outers() -> None:
    ticks = count()
    watch = Stopwatch(clock=lambda: float(next(ticks)))
    with watch.stage("outer"):
        with watch.stage("inner"):
            pass
        with watch.stage("inner"):
            pass
    assert watch.seconds == {"outer": 3.0, "inner": 2.0}


def test_making_each_item_is_counted_and_using_it_is_not() -> None:
    now = [0.0]

    def made() -> object:
        for item in range(3):
            now[0] += 1.0
            yield item

    watch = Stopwatch(clock=lambda: now[0])
    for _ in watch.each("make", made()):  # type: ignore[arg-type]
        now[0] += 10.0
    assert watch.seconds == {"make": 3.0}
