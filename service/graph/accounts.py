"""Whose login is this? An Account (issuer and subject) is bound to one Person by somebody's word, and to nobody else.

A merge moves no binding: the account stays bound to the very person that it was bound to, and who else that is by merges is
told by whoever reads, as for turns: shown by all merges, and may read by confirmed ones only (service/graph/access.py)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.ids import derived
from service.types.meeting import AccountKey

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

MAILTO = "mailto"
"""Issuer of an e-mail address that a platform verified."""


def canonical(key: AccountKey) -> AccountKey:
    """The form that accounts are kept by: issuers and e-mail addresses in lower case, no blanks around."""
    issuer, subject = key.issuer.strip().lower(), key.subject.strip()
    return AccountKey(issuer, subject.lower() if issuer == MAILTO else subject)


def account_id(space: str, key: AccountKey) -> str:
    one = canonical(key)
    return derived("account", space, one.issuer, one.subject)


RESOLVE_ACCOUNTS = """
MATCH (a:Account {space: $space})-[:IS]->(p:Person {space: $space})
WHERE a.id IN $ids AND NOT coalesce(a.shared, false) AND coalesce(p.tombstone, false) = false
RETURN a.id AS account, p.id AS person_id
"""


async def resolve_accounts(tx: Tx, space: str, keys: Collection[AccountKey]) -> dict[AccountKey, str]:
    """Each of `keys` (as given) that is bound → id of its Person. Left out: accounts nobody bound, those that several people
    use, and those of whom was erased. For writers of what follows from it, who decide before there is anybody to gate for."""
    ids = {key: account_id(space, key) for key in keys}
    found = await rows(tx, RESOLVE_ACCOUNTS, space=space, ids=sorted(set(ids.values())))
    bound = {row["account"]: row["person_id"] for row in found}
    return {key: bound[id] for key, id in ids.items() if id in bound}


async def find_owner(tx: Tx, space: str, account: str) -> str | None:
    """Whose the account with this id is, by the same rules. For making a Viewer, before there is anybody to gate for."""
    found = await rows(tx, RESOLVE_ACCOUNTS, space=space, ids=[account])
    return found[0]["person_id"] if found else None


LIST_OWNED = """
MATCH (a:Account {space: $space})-[:IS]->(p:Person)
WHERE p.id IN $people
RETURN a.id AS id
ORDER BY id
"""


async def list_owned(tx: Tx, space: str, people: Collection[str]) -> list[str]:
    """Ids of all accounts of these, shared or not. For who puts right what follows from them, without a gate."""
    return [row["id"] for row in await rows(tx, LIST_OWNED, space=space, people=sorted(people))]


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """An account whose owner changed, and not all that follows is written."""

    space: str
    id: str
    since: datetime


LIST_UNFOLLOWED = """
MATCH (a:Account)
WHERE a.follows_since < $before
RETURN a.space AS space, a.id AS id, a.follows_since AS since
ORDER BY since, id
"""

FIND_UNFOLLOWED = """
MATCH (a:Account {space: $space, id: $account_id})
WHERE a.follows_since IS NOT NULL
RETURN a.space AS space, a.id AS id, a.follows_since AS since
"""


async def list_unfollowed(tx: Tx, before: datetime) -> list[Unfollowed]:
    """Those that changed before, of all spaces, the first first. For who puts it right, for nobody to see."""
    return [Unfollowed(**row) for row in await rows(tx, LIST_UNFOLLOWED, before=before)]


async def find_unfollowed(tx: Tx, space: str, account: str) -> Unfollowed | None:
    """None: all that follows is written. For who puts it right."""
    found = await rows(tx, FIND_UNFOLLOWED, space=space, account_id=account)
    return Unfollowed(**found[0]) if found else None


@dataclass(frozen=True, slots=True)
class Account:
    """A login, for who reads everything; or their own, for whom it is bound to."""

    id: str
    issuer: str
    subject: str
    name: str | None
    """Display name that its platform gave last."""
    shared: bool
    """Several people use it."""
    num_sessions: int
    """In which somebody with it took part."""
    num_several: int
    """Of these, in which several people were behind it: perhaps it is a room's."""
    created_at: datetime
    person_id: str | None
    """Whose it is; None: nobody's yet."""
    shown_id: str | None
    """Whom that person is shown as, by merges."""
    by: str | None
    """Who said so; None for who does not read everything."""
    why: str | None
    at: datetime | None


LIST_ACCOUNTS = """
MATCH (a:Account {space: $space})
OPTIONAL MATCH (a)-[r:IS]->(p:Person)
WITH a, r, p
WHERE ($reads_all OR p.id IN $own) AND ($bound IS NULL OR $bound = (p IS NOT NULL))
WITH a, r, p, [a.created_at.epochSeconds * 1000000000 + a.created_at.nanosecond, a.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
WITH a, r, p, place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
RETURN place, a {.id, .issuer, .subject, .name, .created_at, shared: coalesce(a.shared, false), person_id: p.id, by: r.by,
  why: r.reason, at: r.at,
  num_sessions: COUNT {
    MATCH (a)-[:ATTENDED]->(s:Session) RETURN s
    UNION
    MATCH (a)<-[:USES]-(:LocalSpeaker)-[:HEARD_IN]->(s:Session) RETURN s
  },
  num_several: COUNT {
    MATCH (a)<-[:USES {several: true}]-(:LocalSpeaker)-[:HEARD_IN]->(s:Session) RETURN DISTINCT s
  },
  shown_id: head(COLLECT {
    MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() } RETURN shown.id
  })} AS account
"""

LIST_CALLED = """
UNWIND $names AS name
MATCH (p:Person {space: $space, display_name: name})
MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person)
WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() } AND coalesce(shown.tombstone, false) = false
RETURN DISTINCT name, shown.id AS id
ORDER BY name, id
"""


async def list_accounts(tx: Tx, scope: ReadScope, *, page: Page, bound: bool | None = None) -> Paged[Account]:
    """In the order in which they were heard of: all of the space for who reads everything, else those that are bound to the
    asker, with nobody listening. `bound`: only those that are, or are not, somebody's."""
    found = await rows(
        tx, LIST_ACCOUNTS, space=scope.space, reads_all=scope.reads_all, own=own_alone(scope), bound=bound, **parameters(page)
    )
    hidden = {} if scope.reads_all else {"by": None, "why": None}
    accounts = {row["account"]["id"]: Account(**{**row["account"], **hidden}) for row in found}
    return paged(page, [row["place"] for row in found], accounts)


async def list_called(tx: Tx, scope: ReadScope, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Ids of people who are called exactly so, as merges show them, by name; whether the viewer may know of them is asked of
    find_people."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in await rows(tx, LIST_CALLED, space=scope.space, names=sorted(names)):
        found[row["name"]].append(row["id"])
    return {name: tuple(ids) for name, ids in found.items()}


FIND_OWN = """
MATCH (a:Account {space: $space, id: $account_id})-[:IS]->(p:Person)
WHERE p.id IN $own
RETURN a.id AS id
"""


async def is_own(tx: Tx, scope: ReadScope, account_id: str) -> bool:
    """Whether it is bound to the asker, and they themselves ask."""
    return bool(await rows(tx, FIND_OWN, space=scope.space, account_id=account_id, own=own_alone(scope)))


def own_alone(scope: ReadScope) -> list[str]:
    """Ids of the asker, where they themselves ask and nobody else hears it: with which logins somebody joins is theirs."""
    alone = not scope.public_only and all(set(hearer) & set(scope.own) for hearer in scope.hearers)
    return list(scope.own) if alone else []
