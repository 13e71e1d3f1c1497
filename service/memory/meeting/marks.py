"""Who was marked as speaking, and is that who is said to have said it?

The platform's mark is evidence beside the label: it says whose words nobody's were, cuts what a recogniser of all voices put
under one label, and casts doubt where the two contradict. It never moves words that came on a participant's own stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from service.types.audio import Segment, Word


@dataclass(frozen=True, slots=True)
class MarksConfig:
    """By hand: marks lag behind the voice, and stay for a moment after it, by some tenths of a second on all platforms."""

    open: float = 120.0  # seconds that a mark holds whose end is told by itself, or never: few speak longer without a break
    slack: float = 0.5  # seconds before and after an own mark in which another's alone casts no doubt
    most: float = 0.8  # of the time of the words, under the mark of one alone: theirs
    least: float = 0.2  # of it, under the mark of anybody else: not theirs alone
    crowd: int = 600  # marks of one minute that are kept: ten people who interrupt each other each second
    run_words: int = 3  # in a row under another's mark that are cut off as theirs
    run_seconds: float = 1.0  # … and how long they last at least


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    track: str
    start: float
    end: float | None
    """None: still speaking then. As long as `start`: stopped speaking."""


MINUTE = 60.0
LONGEST = 60
"""Minutes of one mark that are kept."""

Marked = Mapping[str, Sequence[Segment]]
"""Track → when it was marked, in order, apart."""


def minutes(start: float, end: float) -> range:
    first = int(start // MINUTE)
    return range(first, min(int(end // MINUTE), first + LONGEST) + 1)


def marked(marks: Iterable[Mark], span: Segment, config: MarksConfig) -> dict[str, list[Segment]]:
    """Within `span`. A mark that is not ended holds until the next thing told of its participant."""
    found: dict[str, list[Segment]] = {}
    begun = [mark for mark in marks if mark.start < span.end]
    holding = {mark.track for mark in begun if mark.end is None}
    there = {mark for mark in begun if mark.track in holding or (mark.end is not None and mark.end > span.start)}
    for track, group in groupby(sorted(there, key=lambda m: (m.track, m.start, m.end or m.start)), key=lambda m: m.track):
        own = list(group)
        moments = sorted({mark.start for mark in own} | {mark.end for mark in own if mark.end is not None})
        pieces = []
        for mark in own:
            end = mark.end
            if end is None:
                end = next((moment for moment in moments if moment > mark.start), mark.start + config.open)
                end = min(end, mark.start + config.open)
            pieces.append(Segment(max(mark.start, span.start), min(end, span.end)))
        joined = _joined(piece for piece in pieces if piece.start < piece.end)
        if joined:
            found[track] = joined
    return found


def share(segments: Iterable[Segment], span: Segment) -> float:
    """Of `span` that lies in `segments`, which are apart."""
    return sum(segment.overlap(span) for segment in segments) / span.duration if span.duration > 0 else 0.0


def only_one(marks: Marked, span: Segment, config: MarksConfig) -> str | None:
    """Who alone was marked while `span` was said."""
    shares = sorted(((share(segments, span), track) for track, segments in marks.items()), reverse=True)
    if not shares or shares[0][0] < config.most or (len(shares) > 1 and shares[1][0] > config.least):
        return None
    return shares[0][1]


def contradicts(marks: Marked, own: str, span: Segment, config: MarksConfig) -> bool:
    """Whether another was marked throughout, and `own` not at all."""
    widened = Segment(span.start - config.slack, span.end + config.slack)
    if any(segment.overlap(widened) > 0 for segment in marks.get(own, ())):
        return False
    return any(share(segments, span) >= config.most for track, segments in marks.items() if track != own)


def by_mark(words: Sequence[Word], own: str | None, marks: Marked, config: MarksConfig) -> list[tuple[str | None, list[Word]]]:
    """The words, cut where they pass to somebody else. A few under another's mark stay where they are."""
    owners = [_owner(word, own, marks) for word in words]
    runs: list[tuple[str | None, list[Word]]] = []
    for owner, group in groupby(zip(owners, words, strict=True), key=lambda pair: pair[0]):
        run = [word for _, word in group]
        long = len(run) >= config.run_words and run[-1].segment.end - run[0].segment.start >= config.run_seconds
        holder = owner if long else own
        if runs and (runs[-1][0] == holder or (not long and own is None)):
            runs[-1][1].extend(run)
        else:
            runs.append((holder, run))
    return runs


def _owner(word: Word, own: str | None, marks: Marked) -> str | None:
    middle = (word.segment.start + word.segment.end) / 2
    then = [track for track, segments in marks.items() if any(s.start <= middle <= s.end for s in segments)]
    return then[0] if len(then) == 1 else own


def _joined(pieces: Iterable[Segment]) -> list[Segment]:
    found: list[Segment] = []
    for piece in sorted(pieces):
        if found and piece.start <= found[-1].end:
            found[-1] = Segment(found[-1].start, max(found[-1].end, piece.end))
        else:
            found.append(piece)
    return found
