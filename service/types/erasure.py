"""What is erased, and what proves that it was? Ids and counts: no words, no names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class SubjectKind(StrEnum):
    PERSON = "person"
    SESSION = "session"
    MESSAGE = "message"
    FACT = "fact"


@dataclass(frozen=True, slots=True)
class Subject:
    kind: SubjectKind
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """One that has begun: nobody is shown its subject any more, and the sweep takes it out of every store. Its names stand in
    the graph until then, since they are looked for; with the receipt they go."""

    id: str
    """Also that of its receipt."""
    space: str
    subject: Subject
    asked_by: str
    """Account or person; or `voicegraph` of what a schedule or the ledger asks for."""
    why: str
    at: datetime
    """When it was hidden, UTC."""
    people: tuple[str, ...] = ()
    """Of a person, all ids that they have by merges; of a session, whoever spoke in it."""
    names: tuple[str, ...] = ()
    """Theirs alone."""
    words: tuple[str, ...] = ()
    """Theirs, and words as well, or only typed into a meeting platform: looked for only where they were, as names."""
    shared_names: tuple[str, ...] = ()
    """Theirs, and of somebody who stays: as `words`, and in facts only."""
    although: bool = False
    """An administrator knows that `names` stand in many places where they were not, and has what is there mended, too."""
    sessions: tuple[str, ...] = ()
    """Ids of those that it was in."""
    messages: tuple[str, ...] = ()
    """Of a message: its id."""
    facts: tuple[str, ...] = ()
    """Ids of the facts that go."""
    accounts: tuple[str, ...] = ()
    """Ids of the logins bound to the person."""
    meetings: tuple[str, ...] = ()
    """Ids of the meetings that its sessions are of."""
    uploads: tuple[str, ...] = ()
    """SHA-256 of the recordings and transcripts that its sessions are of."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Kind of what is gone → how many of it, so far."""


@dataclass(frozen=True, slots=True)
class Left:
    """A string of the graph that still tells of what was erased: where it stands, never what it says."""

    label: str
    property: str
    node: str


OWN_VECTORS, OWN_TEXTS = "vectors of its own", "texts of its own"
"""Of Probe.asked: what it held itself, as far as the process that hid it was not ended before it was looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What was looked for after it, and how often something was found: a receipt is given for nothing found at all."""

    by_id: int
    """Nodes that have its id and say more than a tombstone or time and length."""
    by_text: int
    """Messages and facts that the full-text index still gives out for its ids, its names, or the first words that it said."""
    by_vector: int
    """Voices and embeddings that a vector index still gives out, for what it held itself and for directions at random."""
    by_scan: int
    """Strings of the space, of every node and edge, that hold its ids or names where nobody else wrote them."""
    asked: Mapping[str, int]
    """How much each of these looked at."""

    @property
    def found(self) -> int:
        return self.by_id + self.by_text + self.by_vector + self.by_scan


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What is signed is `document`, as it stands there; the rest is read from it."""

    id: str
    space: str
    subject: Subject
    asked_by: str
    asked_at: datetime
    completed_at: datetime
    counts: Mapping[str, int]
    document: str
    """JSON with sorted keys."""
    signature: str
    """Ed25519, base64."""
    key: str
    """Public key, base64 of its 32 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing:
    """What came of asking for it."""

    id: str
    subject: Subject
    complete: bool
    """False: hidden from everybody, and the sweep is not through yet."""
    waits_for: tuple[str, ...] = ()
    """Ids of sessions that are still written, and of jobs of a person's own that are still worked on: they go when these are
    complete."""
    named_elsewhere: int = 0
    """Places where its names stand and it was not, if they are so many that an administrator has to look: nothing is done
    there before."""
    receipt: Receipt | None = None
    preview: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FactSeen:
    """A fact that may have to go."""

    id: str
    statement: str
    value: str | None
    source_erased: bool
    erased_texts: tuple[str, ...] = ()
    """Of its evidence that goes."""
    kept_texts: tuple[str, ...] = ()
    """Of its evidence that stays."""
    told_them: bool = False
    """Its source was said to nobody but who is erased."""
    where_they_were: bool = False
    """Its session is one that they were in."""
    people: tuple[str, ...] = ()
    """Folded names of the people that its entities say are spoken of."""


@dataclass(frozen=True, slots=True)
class Needles:
    """What nothing may hold any more."""

    ids: tuple[str, ...]
    names: tuple[str, ...] = ()
    """Theirs alone, folded."""
    words: tuple[str, ...] = ()
    """Of their names those that are looked for only where they were, and as names."""
    sessions: tuple[str, ...] = ()
    """Where they were."""

    @property
    def forms(self) -> tuple[str, ...]:
        """Of the ids, also as the full-text index has them."""
        return (*self.ids, *dict.fromkeys(id.replace("-", "") for id in self.ids if "-" in id))


@dataclass(frozen=True, slots=True)
class Held:
    """A string, or list of strings, of a node or an edge."""

    node: str
    """As the database names it now."""
    label: str
    property: str
    value: Any = field(repr=False)
    is_edge: bool = False
    there: bool = False
    """Of a session that they were in, or of nothing that is of another."""
    people: tuple[str, ...] = ()
    """As of FactSeen."""
