"""With which logins did people take part in a session? Written as the platform tells it, bound or not, so that a binding made
later counts for meetings that were before; read with whose they are, by who attributes turns. Nothing here opens anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.graph.accounts import account_id, canonical
from service.graph.driver import Tx, rows
from service.types.accounts import HeardAs, Owner, Presence, SignedIn, Track
from service.types.audio import Segment

BY_ACCOUNT = "account"
"""`by` and `reason` of what follows from a login alone."""

WHYS = ("account", "contradicts_account", "several_accounts")
"""`why` of the MAY_BE edges that this module writes."""


@dataclass(frozen=True, slots=True)
class LoginsOf:
    """Of one session: what its logins, and the voices beside them, say."""

    tracks: tuple[Track, ...]
    """Those that came with an account, and those with a turn that an account attributed before."""
    num_turns: Mapping[str, int]
    """By track."""
    presences: tuple[Presence, ...]
    owners: Mapping[str, Owner]
    """Account → whose it is, of those that are bound."""
    status: str
    """Of the session."""
    checkpoint: str | None
    """Of the session while it is open."""


SAVE_ACCOUNTS = """
UNWIND $accounts AS row
MERGE (a:Account {id: row.id})
ON CREATE SET a.space = $space, a.created_at = datetime(), a.issuer = row.issuer, a.subject = row.subject
SET a.name = coalesce(row.name, a.name)
"""

FORGET_USED = """
MATCH (:Session {space: $space, id: $session_id})<-[:HEARD_IN]-(:LocalSpeaker)-[u:USES]->(:Account)
DELETE u
"""

SAVE_USED = """
UNWIND $used AS row
MATCH (l:LocalSpeaker {space: $space, id: row.local_speaker, session_id: $session_id})
MATCH (a:Account {space: $space, id: row.account})
MERGE (l)-[u:USES]->(a)
SET u.is_bot = row.is_bot, u.several = row.several
"""

FORGET_PRESENCES = """
MATCH (:Account)-[at:ATTENDED]->(:Session {space: $space, id: $session_id})
DELETE at
"""

SAVE_PRESENCES = """
MATCH (s:Session {space: $space, id: $session_id})
UNWIND $presences AS row
MATCH (a:Account {space: $space, id: row.account})
MERGE (a)-[at:ATTENDED]->(s)
SET at = row.properties
"""

LIST_TRACKS = """
MATCH (s:Session {space: $space, id: $session_id})<-[:HEARD_IN]-(l:LocalSpeaker)
WHERE EXISTS { (l)-[:USES]->(:Account) } OR EXISTS { (l)-[:UTTERED]->(:Message)<-[:SPEAKS {by: 'account'}]-(:Person) }
RETURN l.id AS id,
  COLLECT { MATCH (l)-[u:USES]->(a:Account) RETURN a {.id, .issuer, u_bot: u.is_bot, u_several: u.several} } AS accounts,
  COUNT { (l)-[:UTTERED]->(:Message) } AS num_turns,
  COLLECT {
    MATCH (l)-[:UTTERED]->(:Message)<-[r:SPEAKS]-(p:Person)
    WHERE r.by <> 'account'
    RETURN DISTINCT p {.id, is_settled: p.kind IN ['named', 'bot'] OR EXISTS { (:Account)-[:IS]->(p) }}
  } AS heard
ORDER BY id
"""

LIST_DIFFERING = """
UNWIND $tracks AS row
MATCH (l:LocalSpeaker {space: $space, id: row.track})-[:UTTERED]->(m:Message)
OPTIONAL MATCH (p:Person)-[r:SPEAKS]->(m)
WITH row, m, p, r
WHERE (r IS NULL AND row.owner IS NOT NULL AND m.reason IN row.reasons)
   OR (r.by = 'account' AND (row.owner IS NULL OR p.id <> row.owner))
RETURN m.id AS id
ORDER BY id
"""

LIST_PRESENCES = """
MATCH (a:Account)-[at:ATTENDED]->(:Session {space: $space, id: $session_id})
RETURN a.id AS account_id, at.starts AS starts, at.ends AS ends, at.beside AS beside
ORDER BY account_id
"""

LIST_OWNERS = """
MATCH (a:Account {space: $space})-[:IS]->(p:Person)
WHERE a.id IN $ids AND NOT coalesce(a.shared, false) AND coalesce(p.tombstone, false) = false
RETURN a.id AS account_id, p.id AS person_id, coalesce(p.kind, '') = 'bot' AS is_bot,
       EXISTS { (p)-[:HAS_EXEMPLAR]->(:Exemplar) } AS has_voice,
       COLLECT {
         MATCH (p) (()-[m:MERGED_INTO WHERE m.confirmed]-()){0,12} (one:Person) RETURN DISTINCT one.id
       } AS same
"""

GET_STATUS = """
MATCH (s:Session {space: $space, id: $session_id})
RETURN s.status AS status, s.checkpoint AS checkpoint
"""

FORGET_HELD = """
MATCH (:Session {space: $space, id: $session_id})<-[:HEARD_IN]-(l:LocalSpeaker)
MATCH (l) (()-[:IS]->()){0,1} (subject)-[b:MAY_BE]->(:Person)
WHERE b.why IN $whys
DELETE b
"""

SAVE_HELD = """
UNWIND $held AS row
MATCH (subject:LocalSpeaker|Person {space: $space, id: row.subject})
MATCH (p:Person {space: $space, id: row.person_id})
WHERE NOT EXISTS { (subject)-[:NOT_SAME_AS]-(p) }
MERGE (subject)-[b:MAY_BE]->(p)
ON CREATE SET b.why = row.why, b.num_turns = row.num_turns
"""

LIST_SESSIONS_OF_ACCOUNT = """
MATCH (a:Account {space: $space, id: $account_id})
CALL (a) {
  MATCH (a)-[:ATTENDED]->(s:Session) RETURN s
  UNION
  MATCH (a)<-[:USES]-(:LocalSpeaker)-[:HEARD_IN]->(s:Session) RETURN s
}
RETURN s.id AS id
ORDER BY id
"""


async def save_logins(
    tx: Tx, space: str, session_id: str, participants: Sequence[SignedIn], presences: Sequence[Presence]
) -> None:
    """In place of what there is of the session; `presences` follow from `participants`. Accounts heard of for the first time
    are made, and are nobody's. The caller holds the lock of the space."""
    accounts = {}
    for one in participants:
        for key in one.accounts:
            kept = canonical(key)
            id = account_id(space, kept)
            accounts[id] = {"id": id, "issuer": kept.issuer, "subject": kept.subject, "name": one.name}
    await tx.run(SAVE_ACCOUNTS, space=space, accounts=[accounts[id] for id in sorted(accounts)])
    session: dict[str, Any] = {"space": space, "session_id": session_id}
    await tx.run(FORGET_USED, session)
    used = [
        {"local_speaker": p.local_speaker, "account": account_id(space, key), "is_bot": p.is_bot, "several": p.several}
        for p in participants
        for key in p.accounts
        if p.local_speaker is not None
    ]
    await tx.run(SAVE_USED, **session, used=used)
    await tx.run(FORGET_PRESENCES, session)
    await tx.run(SAVE_PRESENCES, **session, presences=[_presence(p) for p in presences])


async def logins_of(tx: Tx, space: str, session_id: str) -> LoginsOf | None:
    """None for a session that is not there."""
    session: dict[str, Any] = {"space": space, "session_id": session_id}
    status = await rows(tx, GET_STATUS, **session)
    if not status:
        return None
    found = await rows(tx, LIST_TRACKS, **session)
    there = [_present(row) for row in await rows(tx, LIST_PRESENCES, **session)]
    ids = {a["id"] for row in found for a in row["accounts"]} | {p.account_id for p in there}
    owners = await list_owners(tx, space, ids)
    return LoginsOf(
        tracks=tuple(_track(row, owners) for row in found),
        num_turns={row["id"]: row["num_turns"] for row in found},
        presences=tuple(there),
        owners=owners,
        status=status[0]["status"],
        checkpoint=status[0]["checkpoint"],
    )


async def list_differing(tx: Tx, space: str, owners: Mapping[str, tuple[str | None, Collection[str]]]) -> list[str]:
    """Ids of the turns that are not as their track's login says: by track, whose they are (None: nobody's by it), and for which
    reasons a turn that is nobody's may become theirs. Of meetings of hours it is few of thousands."""
    wanted = [{"track": track, "owner": owner, "reasons": sorted(reasons)} for track, (owner, reasons) in owners.items()]
    return [row["id"] for row in await rows(tx, LIST_DIFFERING, space=space, tracks=wanted)]


async def list_owners(tx: Tx, space: str, accounts: Collection[str]) -> dict[str, Owner]:
    """Whose each of `accounts` (ids) is; those that are nobody's, or several people's, are left out."""
    found = await rows(tx, LIST_OWNERS, space=space, ids=sorted(accounts))
    return {row["account_id"]: Owner(**{**row, "same": frozenset((row["person_id"], *row["same"]))}) for row in found}


async def save_held(tx: Tx, space: str, session_id: str, held: Sequence[tuple[str, str, str, int]]) -> None:
    """Proposals that the session's logins leave, each (subject, person, why, number of turns), in place of those there are.
    The caller holds the lock of the space."""
    await tx.run(FORGET_HELD, space=space, session_id=session_id, whys=list(WHYS))
    names = ("subject", "person_id", "why", "num_turns")
    await tx.run(SAVE_HELD, space=space, held=[dict(zip(names, one, strict=True)) for one in held])


async def list_sessions_of_account(tx: Tx, space: str, account: str) -> list[str]:
    """Ids of the sessions that somebody with this login took part in."""
    return [row["id"] for row in await rows(tx, LIST_SESSIONS_OF_ACCOUNT, space=space, account_id=account)]


def _track(row: Mapping[str, Any], owners: Mapping[str, Owner]) -> Track:
    accounts = sorted(row["accounts"], key=lambda a: (a["issuer"] == "mailto", a["id"]))
    return Track(
        id=row["id"],
        is_bot=any(a["u_bot"] for a in accounts),
        several=any(a["u_several"] for a in accounts),
        owners=tuple(owners[a["id"]] for a in accounts if a["id"] in owners),
        heard=tuple(HeardAs(h["id"], bool(h["is_settled"])) for h in sorted(row["heard"], key=lambda h: str(h["id"]))),
    )


def _present(row: Mapping[str, Any]) -> Presence:
    intervals = tuple(Segment(start, end) for start, end in zip(row["starts"], row["ends"], strict=True))
    return Presence(row["account_id"], intervals, tuple(row["beside"]))


def _presence(presence: Presence) -> dict[str, Any]:
    properties = {
        "starts": [interval.start for interval in presence.intervals],
        "ends": [interval.end for interval in presence.intervals],
        "source": "platform",
        "beside": list(presence.beside),
    }
    return {"account": presence.account_id, "properties": properties}
