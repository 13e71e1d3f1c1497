"""How is it written whose a login is? Bound by somebody who says so, with when and why, to one Person; and taken back."""

from __future__ import annotations

from datetime import UTC, datetime

from service.errors import NotFound, VoicegraphError
from service.graph.accounts import account_id, canonical
from service.graph.audit import save_audit_event
from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.graph.write_corrections import living, touch
from service.types.meeting import AccountKey
from service.types.plain import short

BOUND = "assigned"
"""`decision` of an account's IS edge: no voice had a part in it."""


class AccountBound(VoicegraphError):
    code = "account_bound"
    says = "The account {account} is bound to person {person} already. Unbind it first, if it is somebody else's."
    http_status = 409


class AccountShared(VoicegraphError):
    code = "account_shared"
    says = "The account {account} is said to be used by several people, so it is nobody's. Say that it is not, then bind it."
    http_status = 409


SAVE_ACCOUNT = """
MERGE (a:Account {id: $account_id})
ON CREATE SET a.space = $space, a.created_at = datetime(), a.issuer = $issuer, a.subject = $subject
WITH a
OPTIONAL MATCH (a)-[:IS]->(p:Person)
RETURN p.id AS person_id, coalesce(a.shared, false) AS shared
"""

FIND_BINDING = """
MATCH (a:Account {space: $space, id: $account_id})
OPTIONAL MATCH (a)-[:IS]->(p:Person)
RETURN p.id AS person_id
"""

BIND_ACCOUNT = """
MATCH (a:Account {space: $space, id: $account_id})
MATCH (p:Person {space: $space, id: $person_id})
MERGE (a)-[r:IS]->(p)
SET r = {decision: $decision, by: $actor, reason: $why, at: $at}, a.follows_since = $at
"""

UNBIND_ACCOUNT = """
MATCH (a:Account {space: $space, id: $account_id})-[r:IS]->(:Person)
SET a.follows_since = $at
DELETE r
"""

SHARE_ACCOUNT = """
MATCH (a:Account {space: $space, id: $account_id})
SET a.shared = $shared
"""


# Neo4j takes two times in differently written zones for different ones
DONE = """
MATCH (a:Account {space: $space, id: $account_id})
WHERE a.follows_since.epochSeconds = $since.epochSeconds AND a.follows_since.nanosecond = $since.nanosecond
REMOVE a.follows_since
"""


async def bind_account(tx: Tx, space: str, key: AccountKey, person_id: str, *, actor: str, why: str, at: datetime) -> str:
    """From now on the account is this person's; its id. Bound to them already, nothing is changed.

    Raises NotFound for the person, AccountBound (to somebody else), AccountShared, InvalidInput (an empty or overlong name)."""
    await lock_space(tx, space)
    await living(tx, space, [person_id])
    one, id = _named(key), account_id(space, key)
    (there,) = await rows(tx, SAVE_ACCOUNT, space=space, account_id=id, issuer=one.issuer, subject=one.subject)
    if there["person_id"] == person_id:
        return id
    if there["person_id"] is not None:
        raise AccountBound(account=id, person=there["person_id"])
    if there["shared"]:
        raise AccountShared(account=id)
    at = at.astimezone(UTC)
    await tx.run(BIND_ACCOUNT, space=space, account_id=id, person_id=person_id, decision=BOUND, actor=actor, why=why, at=at)
    await touch(tx, space, [person_id])
    await save_audit_event(tx, space, actor=actor, action="bind_account", target=id, why=why, occasion=at.isoformat())
    return id


async def unbind_account(tx: Tx, space: str, account_id: str, *, actor: str, why: str, at: datetime) -> str | None:
    """The account is nobody's again; whose it was, None for nobody's. What it may open ends with this transaction. Raises
    NotFound for an account that was never heard of."""
    await lock_space(tx, space)
    found = await rows(tx, FIND_BINDING, space=space, account_id=account_id)
    if not found:
        raise NotFound(kind="account", id=account_id)
    person: str | None = found[0]["person_id"]
    if person is None:
        return None
    await tx.run(UNBIND_ACCOUNT, space=space, account_id=account_id, at=at.astimezone(UTC))
    await touch(tx, space, [person])
    occasion = at.astimezone(UTC).isoformat()
    await save_audit_event(tx, space, actor=actor, action="unbind_account", target=account_id, why=why, occasion=occasion)
    return person


async def share_account(tx: Tx, space: str, account_id: str, shared: bool, *, actor: str, why: str, at: datetime) -> str | None:
    """Say that several people use it: then it is nobody's; or that they do not. Whose it was, None for nobody's. Raises
    NotFound."""
    person = await unbind_account(tx, space, account_id, actor=actor, why=why, at=at) if shared else None
    if not shared:
        await lock_space(tx, space)
        if not await rows(tx, FIND_BINDING, space=space, account_id=account_id):
            raise NotFound(kind="account", id=account_id)
    await tx.run(SHARE_ACCOUNT, space=space, account_id=account_id, shared=shared)
    action, occasion = "share_account" if shared else "unshare_account", at.astimezone(UTC).isoformat()
    await save_audit_event(tx, space, actor=actor, action=action, target=account_id, why=why, occasion=occasion)
    return person


async def followed(tx: Tx, space: str, account_id: str, since: datetime) -> None:
    """What followed from the change of then is written, in all meetings; not from one that came meanwhile."""
    await tx.run(DONE, space=space, account_id=account_id, since=since)


def _named(key: AccountKey) -> AccountKey:
    one = canonical(key)
    return AccountKey(short("the issuer", one.issuer), short("the subject", one.subject))
