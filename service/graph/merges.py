"""Who is merged with whom? The trees that MERGED_INTO makes, and the pairs that a human keeps apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from service.graph.driver import Tx, rows

MAX_HOPS = 12
"""Edges between any two people of one set: as far as the reads look (`{0,12}` in access.py, people.py and messages.py)."""


@dataclass(frozen=True, slots=True)
class MergeEdge:
    person: str
    into: str
    confirmed: bool
    correction: str | None


LIST_MERGES = """
MATCH (p:Person {space: $space}) WHERE p.id IN $ids
MATCH (p) (()-[:MERGED_INTO]-())* (q:Person)
MATCH (q)-[m:MERGED_INTO]->(r:Person)
RETURN DISTINCT q.id AS person, r.id AS into, coalesce(m.confirmed, false) AS confirmed, m.correction AS correction
ORDER BY person
"""

FIND_VERDICT = """
MATCH (a:Person {space: $space})-[:NOT_SAME_AS]-(b:Person)
WHERE a.id IN $ids AND b.id IN $others
RETURN a.id AS person, b.id AS other, COLLECT {
  MATCH (c:Correction {space: $space})
  WHERE c.kind IN ['not_same', 'split'] AND c.undone_at IS NULL AND a.id IN c.people AND b.id IN c.people
  RETURN c.id ORDER BY c.created_at LIMIT 1
} AS corrections
ORDER BY person, other LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A pair that a human said is two people, and the correction to undo if that was wrong."""

    person: str
    other: str
    correction: str | None


class MergeSets:
    """Identity sets of some people: trees of MERGED_INTO edges, each person with at most one of their own."""

    def __init__(self, edges: Iterable[MergeEdge]) -> None:
        self.up = {edge.person: edge for edge in edges}

    def root(self, person: str) -> str:
        """At the end of the chain: whom the person is shown as."""
        while person in self.up:
            person = self.up[person].into
        return person

    def top(self, person: str) -> str:
        """At the end of the chain of confirmed merges."""
        while (edge := self.up.get(person)) is not None and edge.confirmed:
            person = edge.into
        return person

    def members(self, person: str) -> frozenset[str]:
        """Everybody of the person's set."""
        root = self.root(person)
        return frozenset((root, *(p for p in self.up if self.root(p) == root)))

    def path(self, one: str, other: str) -> tuple[MergeEdge, ...] | None:
        """The merges by which two people are one; None when they are not."""
        mine, theirs = self._chain(one), self._chain(other)
        if self.root(one) != self.root(other):
            return None
        shared = {edge.person for edge in mine} & {edge.person for edge in theirs}
        return tuple(edge for edge in (*mine, *theirs) if edge.person not in shared)

    def longest_path(self, person: str) -> int:
        """Edges between the two members of the person's set that are farthest apart."""
        members = sorted(self.members(person))
        return max(len(self.path(one, other) or ()) for one in members for other in members)

    def with_edge(self, edge: MergeEdge) -> MergeSets:
        return MergeSets((*self.up.values(), edge))

    def _chain(self, person: str) -> tuple[MergeEdge, ...]:
        chain = []
        while person in self.up:
            chain.append(self.up[person])
            person = self.up[person].into
        return tuple(chain)


async def list_merges(tx: Tx, space: str, ids: Sequence[str]) -> MergeSets:
    """The whole identity sets of `ids`."""
    found = await rows(tx, LIST_MERGES, space=space, ids=list(ids))
    return MergeSets(MergeEdge(**row) for row in found)


async def find_verdict(tx: Tx, space: str, ids: Collection[str], others: Collection[str]) -> Verdict | None:
    """A pair of one of `ids` and one of `others` that a human said is not the same; None without one."""
    found = await rows(tx, FIND_VERDICT, space=space, ids=sorted(ids), others=sorted(others))
    return Verdict(found[0]["person"], found[0]["other"], next(iter(found[0]["corrections"]), None)) if found else None
