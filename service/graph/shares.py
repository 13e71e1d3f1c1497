"""Whom did somebody tell what they are like? An edge for each attitude or trait and each person, which its subject makes and
takes away. It holds no words: what is shared is read anew each time, and is gone where it does not stand any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from service.graph.driver import Tx, changes, rows

if TYPE_CHECKING:
    from service.graph.access import ReadScope


@dataclass(frozen=True, slots=True)
class Share:
    by: str
    """Id of the person whose attitude or trait it is."""
    by_shown: str
    """Id of the person that they are shown as, whoever they were merged into."""
    to: str
    """Id of whom they told."""
    to_shown: str
    """Id of the person that these are shown as."""
    trait: str
    """Persona.trait_of(by)."""
    against: bool
    """It was one against something when it was shared: turned into its opposite, it is another."""
    at: datetime
    """When, UTC."""


SAVE_SHARE = """
MATCH (p:Person {space: $space, id: $person})
MATCH (q:Person {space: $space, id: $to})
MERGE (p)-[s:SHARES {trait: $trait}]->(q)
ON CREATE SET s.at = datetime()
SET s.against = $against
"""

FORGET_SHARES = """
MATCH (p:Person {space: $space})-[s:SHARES]->(q:Person)
WHERE p.id IN $own AND q.id IN $to AND s.trait IN $traits
DELETE s
"""

LIST_SHARES = """
MATCH (p:Person {space: $space})-[s:SHARES]->(q:Person)
WHERE p.id IN $own
MATCH (p) (()-[:MERGED_INTO]->()){0,12} (by:Person) WHERE NOT EXISTS { (by)-[:MERGED_INTO]->() }
MATCH (q) (()-[:MERGED_INTO]->()){0,12} (to:Person) WHERE NOT EXISTS { (to)-[:MERGED_INTO]->() }
RETURN p.id AS by, by.id AS by_shown, q.id AS to, to.id AS to_shown, s.trait AS trait, s.against AS against, s.at AS at
ORDER BY at DESC, by, to, trait
"""

LIST_SHARED_WITH = """
MATCH (p:Person {space: $space})-[s:SHARES]->(q:Person)
WHERE q.id IN $own
MATCH (p) (()-[:MERGED_INTO]->()){0,12} (by:Person) WHERE NOT EXISTS { (by)-[:MERGED_INTO]->() }
MATCH (q) (()-[:MERGED_INTO]->()){0,12} (to:Person) WHERE NOT EXISTS { (to)-[:MERGED_INTO]->() }
RETURN p.id AS by, by.id AS by_shown, q.id AS to, to.id AS to_shown, s.trait AS trait, s.against AS against, s.at AS at
ORDER BY at DESC, by, to, trait
"""


async def save_share(tx: Tx, scope: ReadScope, to: str, trait: str, *, against: bool) -> None:
    """The asker (`scope.own`) shares the trait with `to`. The caller holds the lock and has seen that both are there."""
    await tx.run(SAVE_SHARE, space=scope.space, person=scope.own[0], to=to, trait=trait, against=against)


async def forget_shares(tx: Tx, scope: ReadScope, to: Sequence[str], traits: Sequence[str]) -> int:
    """The asker shares none of `traits` with any of `to` any more, whichever of their own ids shared it; how many shares
    went."""
    return (
        await changes(tx, FORGET_SHARES, space=scope.space, own=list(scope.own), to=list(to), traits=list(traits))
    ).relationships_deleted


async def list_shares(tx: Tx, scope: ReadScope) -> list[Share]:
    """What the asker themselves shares, newest first; nothing for anybody else."""
    return [Share(**row) for row in await rows(tx, LIST_SHARES, space=scope.space, own=list(scope.own))]


async def list_shared_with(tx: Tx, scope: ReadScope) -> list[Share]:
    """What others share with the asker themselves, newest first."""
    return [Share(**row) for row in await rows(tx, LIST_SHARED_WITH, space=scope.space, own=list(scope.own))]
