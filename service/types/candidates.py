"""What the ranker of retrieval reads: hits by place, candidates, and what was said around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Place = tuple[str, int]
"""A session's id and an index in it: next to what was said there may stand what answers."""

Words = Mapping[Place, float]
"""What one search found: scores by place, in its own scale (Lucene's, or raw cosines)."""


@dataclass(frozen=True, slots=True)
class Around:
    """A message near a candidate, which need not be one itself."""

    text: str
    speaker_id: str | None


@dataclass(frozen=True, slots=True)
class Earlier:
    """A message that an earlier question of the same asker's found, much like this one."""

    id: str
    place: Place
    score: float
    """[0, 1]: how likely it was then to answer."""
    best: float
    """The same of the best that the question found."""
    cosine: float
    """Raw, of the two questions."""


@dataclass(frozen=True, slots=True)
class Read:
    """A candidate as it stands in the graph."""

    id: str
    place: Place
    text: str
    captions: str
    said_at: int
    """Seconds since 1970, UTC."""
    speaker_id: str | None
    by: bool
    """Said by somebody that the question means."""
    to: bool
    """Said to them."""
    turn: tuple[float | None, ...]
    """Raw cosine of the turn view to each vector of the question; None without an embedding."""
    context: float | None
    """Of the context view, to the first of them."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A candidate, and what of it is not known yet."""

    place: Place
    vectors: tuple[int, ...]
    """Which of the question's vectors its turn view is to be compared with, by their numbers from 0."""
    context: bool
    """Whether its context view is, with the first of them."""
    words: bool = True
    """Whether it is to be read at all, apart from that."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A candidate as the graph has it now: it is there, and it is in the scope."""

    place: Place
    turn: tuple[float | None, ...]
    """Raw cosines as asked for."""
    context: float | None
    read: Read | None
    """Without cosines; None where it was not asked for."""
