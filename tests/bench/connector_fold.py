"""How long does it take to fold a meeting of eight hours, and does ten times the meeting take ten times as long?

Six people, lines of two to twelve words about every half a second; each with two partials before its final, one in ten
delivered twice, one in twenty echoed on another track, and delivered out of order by up to a second. CPU of this process, one
step a delivery; turns are counted against the lines that were made."""

from __future__ import annotations

import gc
import hashlib
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from service.memory.meeting import Given, Gone, MeetingState, advance, step
from service.types.meeting import Base, Began, Ended, MeetingEvent, Speaker, Uttered
from tests.bench.report import Report

LINES, TIMES = 5_000, 10
PACE = 8 * 3600 / (LINES * TIMES)
"""Seconds from one line to the next."""
START = datetime(2026, 3, 27, 8, 0, tzinfo=UTC)
WORDS = "we should send the budget on friday maybe not so sure about that number yes no please think of it again".split()  # noqa: SIM905
PEOPLE = [Speaker(str(number), name=f"Person {number}") for number in range(6)]
Sent = tuple[float, MeetingEvent]
"""When it comes, seconds from the start; and what."""


def run(report: Report, *, quick: bool) -> None:
    small = LINES // 10 if quick else LINES
    seconds, wrong, deliveries = [], 0, 0
    for lines in (small, small * TIMES):
        sent = sorted(meeting(lines), key=lambda delivery: delivery[0])
        took, turns = _folded(sent)
        seconds.append(took)
        wrong += abs(turns - lines)
        deliveries = len(sent)
    condition = f"{small * TIMES:,} utterances, {small * TIMES * PACE / 3600:.1f} h"
    report.add("fold_cpu_s", condition, "ours", seconds[1], "s", deliveries)
    report.add("fold_linear_ratio", condition, "ours", seconds[1] / seconds[0] / TIMES, "1 = linear", 1)
    report.add("turns_lost_or_doubled", condition, "ours", wrong, "turns", small * (1 + TIMES))


def meeting(lines: int, seed: int = 1) -> Iterator[Sent]:
    rng = random.Random(seed)
    yield 0.0, Began(key="began", at=START)
    for number in range(lines):
        start = round(number * PACE + rng.uniform(0.0, 0.3), 2)
        end = round(start + rng.uniform(0.5, 2.5), 2)
        words = [f"line{number}", *rng.choices(WORDS, k=rng.randint(4, 12))]
        speaker = rng.choice(PEOPLE)
        for part in (1, 2):
            yield start + part * 0.2, _said(speaker, words[: part * 2], start, end, id=f"u{number}", final=False)
        final = _said(speaker, words, start, end, id=f"u{number}", final=True)
        for _ in range(2 if rng.random() < 0.1 else 1):
            yield end + rng.uniform(0.0, 1.0), final
        if rng.random() < 0.05:
            other = PEOPLE[(PEOPLE.index(speaker) + 1) % len(PEOPLE)]
            yield end + rng.uniform(0.0, 1.0), _said(other, words, start + 0.3, end + 0.3, id=f"e{number}", final=True)
    yield lines * PACE + 60.0, Ended(key="ended")


def _said(speaker: Speaker, words: list[str], start: float, end: float, *, id: str, final: bool) -> Uttered:
    text = " ".join(words)
    key = hashlib.sha256(f"{id} {final} {text}".encode()).hexdigest()
    return Uttered(key=key, speaker=speaker, text=text, start=start, end=end, base=Base.MEETING, id=id, final=final)


def _folded(sent: list[Sent]) -> tuple[float, int]:
    """CPU seconds, and turns that there are in the end."""
    gc.collect()
    state, turns = MeetingState(), 0
    began = time.process_time()
    for at, event in sent:
        state, outcomes = step(state, [event], START + timedelta(seconds=at))
        turns += sum(isinstance(o, Given) - isinstance(o, Gone) for o in outcomes)
    _, outcomes = advance(state, START + timedelta(days=2))
    turns += sum(isinstance(o, Given) - isinstance(o, Gone) for o in outcomes)
    return time.process_time() - began, turns
