"""What else was said, and who was marked, around one time? What a step needs to find without looking through a meeting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from service.memory.meeting.copies import TRANSCRIPT, CopiesConfig, Line, are_copies, are_twins, kept, together, unsaid
from service.memory.meeting.marks import Mark, Marked, MarksConfig, marked, minutes
from service.memory.meeting.shelf import Draft, Shelf
from service.types.audio import Segment

STRETCH = 8.0
"""Seconds; most things said lie in one or two of them."""
LONGEST = 64
"""Stretches of one thing said that are looked at."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    lines: Shelf[str, Line] = field(default_factory=Shelf)
    """What may have copies: uid → what decides it."""
    near: Shelf[int, tuple[str, ...]] = field(default_factory=Shelf)
    """Stretch of time → uids, in order of arrival."""
    links: Shelf[str, frozenset[str]] = field(default_factory=Shelf)
    """uid → its copies."""
    marks: Shelf[int, tuple[Mark, ...]] = field(default_factory=Shelf)
    """Minute → marks in it."""
    twins: Shelf[str, frozenset[tuple[str, str]]] = field(default_factory=Shelf)
    """Track → of the same participant, as other bots tell of them: (bot, track)."""


class Around:
    """The surroundings while one step changes them."""

    def __init__(self, surroundings: Surroundings, copies: CopiesConfig, marks: MarksConfig) -> None:
        self._lines = Draft(surroundings.lines)
        self._near = Draft(surroundings.near)
        self._links = Draft(surroundings.links)
        self._marks = Draft(surroundings.marks)
        self._twins = Draft(surroundings.twins)
        self.met: list[str] = []
        """Tracks of whom a twin was found."""
        self._copies = copies
        self._config = marks

    def done(self) -> Surroundings:
        marks, twins = self._marks.done(), self._twins.done()
        return Surroundings(self._lines.done(), self._near.done(), self._links.done(), marks, twins)

    def put(self, uid: str, line: Line | None) -> set[str]:
        """`uid` is `line` now; None: nothing any more. Returns whose turns may be others by that, beside its own."""
        before = self._lines.get(uid)
        if line == before:
            return set()
        touched = set(self._cluster(uid))
        if before is not None:
            touched |= self._begin_in(before)
            self._unlink(uid)
            for stretch in _stretches(before):
                self._near.put(stretch, tuple(other for other in self._near.get(stretch) or () if other != uid))
            self._lines.drop(uid)
        if line is not None:
            self._lines.put(uid, line)
            for stretch in _stretches(line):
                there = self._near.get(stretch) or ()
                if len(there) < self._copies.crowd:
                    self._near.put(stretch, (*there, uid))
            touched |= self._begin_in(line)
            self._link(uid, line)
            touched |= set(self._cluster(uid))
        return touched - {uid}

    def near(self, line: Line) -> set[str]:
        """What was said at about the same time."""
        return {uid for stretch in _stretches(line) for uid in self._near.get(stretch) or ()} - {line.uid}

    def _begin_in(self, line: Line) -> set[str]:
        """What of the same speaker begins while `line` goes on: it may begin with words that are this one's last."""
        if not line.timed:
            return set()
        others = [other for uid in self.near(line) if (other := self._lines.get(uid)) is not None]
        return {o.uid for o in others if o.timed and o.track == line.track and line.start < o.start < line.end}

    def within(self, span: Segment) -> set[str]:
        return {uid for stretch in _span(span.start, span.end) for uid in self._near.get(stretch) or ()}

    def line(self, uid: str) -> Line | None:
        return self._lines.get(uid)

    def stands_for(self, uid: str) -> tuple[str | None, list[str]]:
        """Who is told instead of `uid` (None: it is told itself), and whom it is told instead of."""
        if not self._links.get(uid):
            return None, []
        found = self._kept(uid)
        return found[uid], sorted(other for other, better in found.items() if better == uid)

    def unsaid(self, uid: str) -> list[tuple[int, int]] | None:
        """Of a transcript's line that is told: runs of its words (of `words_of`) that no better one has that is told, too.
        None: nobody told any of it."""
        line, links = self._lines.get(uid), self._links.get(uid)
        if line is None or not links or line.source != TRANSCRIPT:
            return None
        found = self._kept(uid)
        told = [other for name in sorted(links) if found[name] is None and (other := self._lines.get(name)) is not None]
        better = [other for other in told if other.rank > line.rank]
        return unsaid(line, better, self._copies) if better else None

    def _kept(self, uid: str) -> dict[str, str | None]:
        lines = [line for other in self._cluster(uid) if (line := self._lines.get(other)) is not None]
        return kept(lines, {line.uid: self._links.get(line.uid) or frozenset() for line in lines}, self._copies)

    def twins(self, track: str) -> frozenset[tuple[str, str]]:
        """Of the same participant, as other bots tell of them: (bot, track)."""
        return self._twins.get(track) or frozenset()

    def mark(self, mark: Mark) -> Segment:
        """Returns when somebody else may be marked by it: while it goes on, and where marks without an end end by it."""
        end = mark.start if mark.end is None else mark.end
        around = minutes(mark.start - self._config.open, end)
        held = [
            other.start
            for minute in around
            for other in self._marks.get(minute) or ()
            if other.track == mark.track and other.end is None and mark.start - self._config.open < other.start <= end
        ]
        if mark.end is None or held:
            end = max(end, *held, mark.start) + self._config.open
        for minute in minutes(mark.start, mark.start if mark.end is None else mark.end):
            there = self._marks.get(minute) or ()
            if len(there) < self._config.crowd:
                self._marks.put(minute, (*there, mark))
        return Segment(mark.start, end)

    def marked(self, span: Segment) -> Marked:
        around = minutes(span.start - self._config.open, span.end)
        return marked((mark for minute in around for mark in self._marks.get(minute) or ()), span, self._config)

    def _cluster(self, uid: str) -> Iterable[str]:
        return together(uid, lambda other: self._links.get(other) or frozenset())

    def _unlink(self, uid: str) -> None:
        for other in self._links.get(uid) or ():
            self._links.put(other, (self._links.get(other) or frozenset()) - {uid})
        self._links.drop(uid)

    def _link(self, uid: str, line: Line) -> None:
        others = [other for near in sorted(self.near(line)) if (other := self._lines.get(near)) is not None]
        copies = [other for other in others[-self._copies.most :] if are_copies(line, other, self._copies)]
        found = {copy.uid for copy in copies}
        for other in copies:
            if are_twins(line, other, self._copies):
                self._meet(line, other)
                self._meet(other, line)
        for copy in found:
            self._links.put(copy, (self._links.get(copy) or frozenset()) | {uid})
        if found:
            self._links.put(uid, frozenset(found))

    def _meet(self, line: Line, other: Line) -> None:
        assert line.track is not None and other.track is not None  # twins have one
        known, twin = self.twins(line.track), (other.told_by, other.track)
        if twin not in known:
            self._twins.put(line.track, known | {twin})
            self.met.append(line.track)


def _stretches(line: Line) -> range:
    return _span(line.start, line.end)


def _span(start: float, end: float) -> range:
    """With what begins or ends just before or after."""
    first = int((start - 2.0) // STRETCH)
    return range(first, min(int((end + 2.0) // STRETCH), first + LONGEST) + 1)
