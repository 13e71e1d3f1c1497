"""Who may ask for whom now? A Grant lets one account ask for one person until it ends or is taken back; looked up for each
question, so that what was taken back opens nothing any more. It opens what that person may know, and nothing that is theirs
alone (service/graph/access.py)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from service.graph.accounts import own_alone
from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class Grant:
    """For who reads everything; and for the person whom it is for."""

    id: str
    issuer: str
    subject: str
    """Who may ask, as `issuer` names them."""
    created_at: datetime
    until: datetime
    revoked_at: datetime | None
    used_at: datetime | None
    """When it last opened something, to ten minutes; None: it has not."""
    person_id: str
    """Whom they may ask for."""
    shown_id: str | None
    """Whom that person is shown as, by merges."""
    by: str | None
    """Account that gave it; None for who does not read everything, unless it was they themselves."""
    why: str

    def holds(self, now: datetime) -> bool:
        return self.revoked_at is None and now < self.until


LIST_LEAVE = """
MATCH (g:Grant {space: $space, account: $account})-[:LETS_ASK_FOR]->(p:Person {space: $space})
WHERE g.revoked_at IS NULL AND g.until > $now
MATCH (p) (()-[m:MERGED_INTO WHERE m.confirmed]-()){0,12}
  (same:Person {space: $space} WHERE coalesce(same.tombstone, false) = false)
RETURN same.id AS person, collect(DISTINCT g.id) AS grants
"""

LIST_GRANTS = """
MATCH (g:Grant {space: $space})-[:LETS_ASK_FOR]->(p:Person)
WHERE ($reads_all OR p.id IN $own) AND (NOT $holding OR (g.revoked_at IS NULL AND g.until > $now))
WITH g, p, [g.created_at.epochSeconds * 1000000000 + g.created_at.nanosecond, g.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
WITH g, p, place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
RETURN place, g {.id, .issuer, .subject, .created_at, .until, .revoked_at, .used_at, .by, .why, person_id: p.id,
  shown_id: head(COLLECT {
    MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() } RETURN shown.id
  })} AS grant
"""

FIND_OWN_GRANT = """
MATCH (g:Grant {space: $space, id: $grant_id})-[:LETS_ASK_FOR]->(p:Person)
WHERE p.id IN $own
RETURN g.id AS id
"""


async def list_leave(tx: Tx, space: str, account: str, now: datetime) -> dict[str, tuple[str, ...]]:
    """Whom the account may ask for now → ids of the grants that let it; whoever is the same person by confirmed merges, too.
    For making a Viewer, before there is anybody to gate for."""
    found = await rows(tx, LIST_LEAVE, space=space, account=account, now=now)
    return {row["person"]: tuple(sorted(row["grants"])) for row in found}


async def list_grants(
    tx: Tx, scope: ReadScope, *, page: Page, now: datetime, account: str | None, holding: bool = False
) -> Paged[Grant]:
    """In the order in which they were given: all of the space for who reads everything, else those that are for the asker, with
    nobody listening. `account`: the asker's own, whose giving is shown to them; `holding`: those alone that hold now."""
    found = await rows(
        tx,
        LIST_GRANTS,
        space=scope.space,
        reads_all=scope.reads_all,
        own=own_alone(scope),
        holding=holding,
        now=now,
        **parameters(page),
    )
    grants = {row["grant"]["id"]: _grant(row["grant"], scope.reads_all, account) for row in found}
    return paged(page, [row["place"] for row in found], grants)


async def is_own_grant(tx: Tx, scope: ReadScope, grant_id: str) -> bool:
    """Whether it is for the asker, and they themselves ask, with nobody listening."""
    return bool(await rows(tx, FIND_OWN_GRANT, space=scope.space, grant_id=grant_id, own=own_alone(scope)))


def _grant(row: dict[str, object], reads_all: bool, account: str | None) -> Grant:
    shown = reads_all or row["by"] == account
    return Grant(**{**row, "by": row["by"] if shown else None, "why": row["why"] if shown else ""})  # type: ignore[arg-type]
