"""How is leave to ask for somebody given and taken back? Each with who did it and why, and each in the audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from service.errors import InvalidInput, NotFound, VoicegraphError
from service.graph.accounts import account_id, canonical
from service.graph.audit import save_audit_event
from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.graph.write_corrections import living
from service.types.ids import derived
from service.types.meeting import AccountKey
from service.types.plain import short

LONGEST = timedelta(days=366)
"""Whoever lets somebody ask for them is asked again after a year."""
USUAL = timedelta(days=90)
"""Where nothing else is said; by hand."""
KEPT = timedelta(days=30)
"""After a grant has ended it is shown for so long; the audit keeps that it was."""


class TooManyGrants(VoicegraphError):
    code = "too_many_grants"
    says = "{holding} grants of this account hold already; at most {limit} may. Revoke some, or give the scope read_all."
    http_status = 409


@dataclass(frozen=True, slots=True)
class GrantsConfig:
    max_each: int = 200  # that hold for one account: a household or a team; each question of it looks them up


@dataclass(frozen=True, slots=True)
class NewGrant:
    id: str
    space: str
    account: AccountKey
    """Who may ask."""
    person_id: str
    """For whom."""
    until: datetime
    by: str
    """Id of the account that gives it."""
    why: str
    at: datetime


COUNT_HOLDING = """
MATCH (g:Grant {space: $space, account: $account})
WHERE g.revoked_at IS NULL AND g.until > $at AND g.id <> $grant_id
RETURN count(g) AS holding
"""

SAVE_GRANT = """
MATCH (p:Person {space: $space, id: $person_id})
MERGE (g:Grant {id: $grant_id})
ON CREATE SET g.space = $space, g.created_at = datetime(), g.account = $account, g.issuer = $issuer, g.subject = $subject,
              g.by = $by, g.why = $why, g.until = $until
MERGE (g)-[:LETS_ASK_FOR]->(p)
"""

REVOKE_GRANT = """
MATCH (g:Grant {space: $space, id: $grant_id})
WITH g, g.revoked_at IS NOT NULL AS before
SET g.revoked_at = coalesce(g.revoked_at, $at), g.revoked_by = coalesce(g.revoked_by, $actor)
RETURN before
"""

SAVE_USES = """
UNWIND $uses AS use
MATCH (g:Grant {id: use.id})
WHERE g.used_at IS NULL OR g.used_at < use.at
SET g.used_at = use.at
RETURN g.id AS id, g.space AS space, g.account AS account, use.at AS at
"""

SAVE_DAYS_OF_USE = """
UNWIND $days AS day
MERGE (e:AuditEvent {id: day.id})
ON CREATE SET e.space = day.space, e.created_at = datetime(), e.actor = day.account, e.action = 'ask_for',
              e.target = day.grant, e.why = ''
"""

FORGET_GRANTS = """
MATCH (g:Grant)
WHERE g.until < $before OR g.revoked_at < $before
WITH g LIMIT $limit
DETACH DELETE g
RETURN count(*) AS gone
"""


async def save_grant(tx: Tx, new: NewGrant, config: GrantsConfig = GrantsConfig()) -> str:
    """From now on the account may ask for the person; its id. Given again under the same id, it stands as it is.

    Raises NotFound for the person, InvalidInput (an empty name, no time with a zone, in the past, more than a year away),
    TooManyGrants."""
    if new.until.tzinfo is None or not new.at < new.until <= new.at + LONGEST:
        needed = f"a time with its zone, from now to {LONGEST.days} days away"
        raise InvalidInput(what="until when", given=new.until.isoformat(), needed=needed)
    await lock_space(tx, new.space)
    await living(tx, new.space, [new.person_id])
    key = canonical(AccountKey(short("issuer", new.account.issuer), short("subject", new.account.subject)))
    account = account_id(new.space, key)
    (found,) = await rows(tx, COUNT_HOLDING, space=new.space, account=account, at=new.at, grant_id=new.id)
    if found["holding"] >= config.max_each:
        raise TooManyGrants(holding=found["holding"], limit=config.max_each)
    await tx.run(
        SAVE_GRANT,
        space=new.space,
        grant_id=new.id,
        person_id=new.person_id,
        account=account,
        issuer=key.issuer,
        subject=key.subject,
        by=new.by,
        why=new.why,
        until=new.until,
    )
    await save_audit_event(tx, new.space, actor=new.by, action="grant", target=new.id, why=new.why)
    return new.id


async def revoke_grant(tx: Tx, space: str, grant_id: str, *, actor: str, why: str, at: datetime) -> bool:
    """It holds no more, from the next question on; whether that is new. Raises NotFound."""
    found = await rows(tx, REVOKE_GRANT, space=space, grant_id=grant_id, actor=actor, at=at)
    if not found:
        raise NotFound(kind="grant", id=grant_id)
    await save_audit_event(tx, space, actor=actor, action="revoke_grant", target=grant_id, why=why)
    return not found[0]["before"]


async def save_uses(tx: Tx, uses: Mapping[str, datetime]) -> None:
    """When each of these grants last opened something; never earlier than what is known. In the audit, once a day (UTC)."""
    used = await rows(tx, SAVE_USES, uses=[{"id": id, "at": at} for id, at in sorted(uses.items())])
    days = [
        {
            "id": derived("audit", one["space"], "ask_for", one["id"], one["at"].astimezone(UTC).date().isoformat()),
            "space": one["space"],
            "account": one["account"],
            "grant": one["id"],
        }
        for one in used
    ]
    await tx.run(SAVE_DAYS_OF_USE, days=days)


async def forget_grants(tx: Tx, now: datetime, limit: int) -> int:
    """Delete those that have ended long enough before, at most so many; how many."""
    return int((await rows(tx, FORGET_GRANTS, before=now - KEPT, limit=limit))[0]["gone"])
