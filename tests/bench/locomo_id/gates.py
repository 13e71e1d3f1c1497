"""What is shown to whom? Each question is answered from what its asker, as recognised by voice, may read; truth says what they
should have been shown.

Who may read a turn is settled by the product's own rules, once with the people as decided and once with the true voices:
`own` (what I said) and `attended` (and what was said while I was there). The ranking behind all gates is the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from service.memory.attendance import attendances
from service.memory.audience import readers
from service.memory.interactions import Spoken
from service.types.audio import Segment
from service.types.people import AccessPolicy
from tests.bench.locomo_id.collections import Collection, Query
from tests.bench.locomo_id.evaluate import Heard, System, Voices, ask
from tests.bench.locomo_id.ranking import Library, Positions

GATES: Mapping[str, AccessPolicy] = {"own_gate": AccessPolicy.OWN, "attended_gate": AccessPolicy.ATTENDED}
ALL_MEMORY = "all_memory"
ORACLE = "oracle_"
"""With a gate's name behind: everybody recognised, every turn put down to its speaker."""
KEPT = 15


def may_read(collection: Collection, speakers: Sequence[str | None], policy: AccessPolicy) -> dict[str, Positions]:
    """Person → indices of the turns they may read, when turn i was said by speakers[i]."""
    visible: dict[str, list[int]] = {}
    first = 0
    for session in collection.sessions:
        said = [
            Spoken(turn.id, Segment(turn.start, turn.end), turn.id, speaker)
            for turn, speaker in zip(session.turns, speakers[first : first + len(session.turns)], strict=True)
        ]
        attended = attendances(said) if policy is not AccessPolicy.OWN else ()
        for number, turn in enumerate(said):
            for person in readers(turn, policy=policy, attendance=attended):
                visible.setdefault(person, []).append(first + number)
        first += len(session.turns)
    return {person: np.array(indices, dtype=np.intp) for person, indices in visible.items()}


@dataclass
class Shelf:
    """A collection's turns in the library, and what is true of them; made once for all systems."""

    collection: Collection
    library: Library
    docs: Positions = field(init=False)
    """Shape (turns,); -1 for a turn whose words do not matter."""
    truth: dict[str, dict[str, Positions]] = field(init=False)
    """gate → voice → turns it may read"""
    spoken: frozenset[str] = field(init=False)
    """Voices heard at all: only they can be recognised."""
    _index: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        turns = self.collection.turns
        self.docs = np.array([-1 if t.doc is None else self.library.position[t.doc] for t in turns], dtype=np.intp)
        voices = [t.voice for t in turns]
        self.truth = {gate: may_read(self.collection, voices, policy) for gate, policy in GATES.items()}
        self.spoken = frozenset(voices)
        self._index = {t.id: i for i, t in enumerate(turns)}

    def hits(self, query: Query, visible: Positions, *, own: bool) -> Positions:
        """Indices of the turns shown of those visible: the best KEPT, or all for a query without words."""
        if not query.text:
            return visible
        readable = visible[self.docs[visible] >= 0]
        best = self.library.best(query.text, query.names, self.docs[readable], own=own, k=KEPT)
        return readable[list(best)]

    def recall(self, query: Query, hits: Positions) -> dict[str, float]:
        """`recall`: share of the gold turns among `hits`, and `with_gold`: 1; nothing for a query without gold."""
        gold = {self._index[e] for e in query.evidence}
        return {"recall": len(gold & set(hits.tolist())) / len(gold), "with_gold": 1} if gold else {}


def through(heard: Heard, gate: str) -> Callable[[str | None], Positions]:
    """Whoever is let in as a person → indices of the turns they may read; None: nobody, and nothing."""
    visible = may_read(heard.collection, [p and heard.identity(p) for p in heard.speakers()], GATES[gate])
    nothing = np.zeros(0, dtype=np.intp)
    return lambda person: nothing if person is None else visible.get(heard.identity(person), nothing)


def authorise(heard: Heard, queries: Iterable[Query], system: System, voices: Voices) -> list[str | None]:
    """Of each query the person let in; None: nobody."""
    return [ask(heard, query, system, voices).person_id for query in queries]


def asking_tally(
    shelf: Shelf, heard: Heard, queries: Sequence[Query], accepted: Sequence[str | None], group: Callable[[str], str]
) -> dict[str, Counter[str]]:
    """By group of askers: `asked`, of them `known` (the voice was heard before), `wrong` (let in as somebody else, or as
    anybody though never heard), `refused` (known and not let in as themselves)."""
    owners = heard.owners()
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for query, person in zip(queries, accepted, strict=True):
        known, right = query.asker in shelf.spoken, person is not None and owners.get(person) == query.asker
        tallies[group(query.asker)].update(
            asked=1, known=known, wrong=person is not None and not right, refused=known and not right
        )
    return dict(tallies)


def gate_tally(
    shelf: Shelf,
    heard: Heard,
    queries: Sequence[Query],
    accepted: Sequence[str | None],
    gate: str,
    group: Callable[[str], str],
) -> dict[str, Counter[str]]:
    """What came through `gate`, by group of askers: `hits`; `foreign` of them that truth forbids the asker; of askers let in
    as themselves the turns `owned` and those of them `missing` from what they may read; `recall` over `with_gold`."""
    theirs_of, owners, nothing = through(heard, gate), heard.owners(), np.zeros(0, dtype=np.intp)
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    missing: dict[tuple[str, str], int] = {}
    for query, person in zip(queries, accepted, strict=True):
        num = tallies[group(query.asker)]
        theirs = theirs_of(person)
        allowed = shelf.truth[gate].get(query.asker, nothing)
        hits = shelf.hits(query, theirs, own=gate == "own_gate")
        num.update(hits=len(hits), foreign=int(np.isin(hits, allowed, invert=True).sum()))
        if person is not None and owners.get(person) == query.asker:
            key = (query.asker, heard.identity(person))
            if key not in missing:
                missing[key] = int(np.isin(allowed, theirs, invert=True).sum())
            num.update(owned=len(allowed), missing=missing[key])
        num.update(shelf.recall(query, hits))
    return dict(tallies)


def plain_tally(shelf: Shelf, queries: Sequence[Query], gate: str, group: Callable[[str], str]) -> dict[str, Counter[str]]:
    """Recall without a gate (ALL_MEMORY), or with one that never errs (ORACLE and its name)."""
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    everything = np.arange(len(shelf.docs))
    for query in queries:
        if not query.text:
            continue
        visible = everything if gate == ALL_MEMORY else shelf.truth[gate.removeprefix(ORACLE)].get(query.asker, everything[:0])
        hits = shelf.hits(query, visible, own=gate == f"{ORACLE}own_gate")
        tallies[group(query.asker)].update(shelf.recall(query, hits))
    return dict(tallies)
