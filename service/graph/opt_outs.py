"""Who refused to be known, and by what are they known again? People by their consents as they stand, marks by no person at all
once they are erased."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from service.errors import VoicegraphError
from service.graph.cypher import holding
from service.graph.driver import Tx, changes, rows
from service.types.audio import EmbeddingSpace
from service.types.consents import KnownOptOut, VoiceMark
from service.types.ids import derived

if TYPE_CHECKING:
    from service.graph.access import ReadScope


class AccountOptedOut(VoicegraphError):
    code = "account_opted_out"
    says = (
        "Whose this login is opted out, and is not to be known again. If they changed their mind: "
        "`voicegraph consent opt-outs remove {id}`, then bind it."
    )
    http_status = 409


LIST_REFUSALS = holding("""
MATCH (c:Consent {space: $space}) WHERE c.state IN ['withdrawn', 'opted_out'] AND c.purpose IN ['remember_voice', 'attribute']
MATCH (p:Person)-[:GAVE]->(c)
WITH DISTINCT p
WITH p, [purpose IN ['remember_voice', 'attribute']
         WHERE COLLECT { MATCH (p)-[:GAVE]->(c:Consent) WHERE c.purpose = purpose
                         <holds> }[0]
               IN ['withdrawn', 'opted_out']] AS refused
WHERE size(refused) > 0
MATCH (p) (()-[:MERGED_INTO]-()){0,12} (same:Person {space: $space})
RETURN same.id AS id, 'attribute' IN refused AS attribution
""")

LIST_VOICE_MARKS = """
MATCH (o:OptOut {space: $space, kind: 'voice'})
WHERE o.encoder = $encoder AND o.encoder_version = $version
RETURN o.channel AS channel, o.mark AS mark, o.key AS key
ORDER BY o.id
"""

SAVE_OPT_OUTS = """
MATCH (p:Person {space: $space, id: $person_id})
UNWIND $marks AS row
MERGE (o:OptOut {id: row.id})
ON CREATE SET o.space = $space, o.created_at = datetime()
SET o += row.properties
MERGE (p)-[:REFUSED]->(o)
"""

LIST_MADE = """
MATCH (o:OptOut {space: $space}) WHERE o.id IN $ids AND o.correction IS NULL
RETURN o.id AS id
"""

FORGET_OPT_OUTS_BY = """
MATCH (o:OptOut {space: $space, kind: 'voice'}) WHERE o.correction = $correction
DETACH DELETE o
"""

FORGET_OPT_OUTS_OF = """
MATCH (:Person {space: $space, id: $person_id})-[:REFUSED]->(o:OptOut)
DETACH DELETE o
"""

# the id was made of the person's, and the time is that of their consent: both stay with the tombstone
LEAVE_OPT_OUTS_OF = """
MATCH (:Person {space: $space, id: $person_id})-[r:REFUSED]->(o:OptOut)
SET o.id = randomUUID(), o.created_at = datetime.truncate('month', o.created_at)
REMOVE o.correction
DELETE r
"""

FIND_ACCOUNT_MARK = """
MATCH (o:OptOut {space: $space, kind: 'account', mark: $mark}) WHERE NOT EXISTS { (:Person)-[:REFUSED]->(o) }
RETURN o.id AS id
LIMIT 1
"""

LIST_MARKED = """
MATCH (o:OptOut {space: $space, kind: 'account'})
WHERE o.mark IN $marks AND NOT EXISTS { (:Person)-[:REFUSED]->(o) }
RETURN DISTINCT o.mark AS mark
"""

LIST_LOGINS_OF = """
MATCH (a:Account {space: $space})-[:IS]->(p:Person {space: $space}) WHERE p.id IN $people
RETURN DISTINCT a.issuer AS issuer, a.subject AS subject
ORDER BY issuer, subject
"""

FIND_OPTED_OUT = holding("""
MATCH (p:Person {space: $space}) WHERE p.id IN $people AND any(purpose IN ['remember_voice', 'attribute']
  WHERE COLLECT { MATCH (p)-[:GAVE]->(c:Consent) WHERE c.purpose = purpose
                  <holds> } = ['opted_out'])
RETURN p.id AS id LIMIT 1
""")

LEAVE_ACCOUNT_MARKS = """
UNWIND $marks AS mark
CREATE (o:OptOut {id: randomUUID(), space: $space, created_at: datetime.truncate('month')})
SET o += {kind: 'account', mark: mark, key: $key}
"""

LIST_KNOWN_OPT_OUTS = """
MATCH (o:OptOut {space: $space}) WHERE $reads_all
RETURN o {.id, .kind, .channel, .key, .created_at, person_id: head(COLLECT { MATCH (p:Person)-[:REFUSED]->(o) RETURN p.id })}
       AS opt_out
ORDER BY o.created_at, o.id
"""

FORGET_OPT_OUT = """
MATCH (o:OptOut {space: $space, id: $id})
DETACH DELETE o
"""


COUNT_BY_KEY = """
MATCH (o:OptOut)
RETURN o.key AS key, count(*) AS marks
ORDER BY key
"""


async def count_by_key(tx: Tx) -> dict[str, int]:
    """How many marks there are in all spaces, by the key that they were made with. For who looks after the service."""
    return {row["key"]: row["marks"] for row in await rows(tx, COUNT_BY_KEY)}


async def list_refusals(tx: Tx, space: str) -> tuple[frozenset[str], frozenset[str]]:
    """Ids of who may not be known by voice, and of these who are not to be put down by their track either; each with everybody
    merged with them."""
    found = await rows(tx, LIST_REFUSALS, space=space)
    return frozenset(row["id"] for row in found), frozenset(row["id"] for row in found if row["attribution"])


async def list_voice_marks(tx: Tx, space: str, encoder: EmbeddingSpace) -> list[VoiceMark]:
    """Made in this embedding space, by any key."""
    found = await rows(tx, LIST_VOICE_MARKS, space=space, encoder=encoder.name, version=encoder.version)
    return [VoiceMark(row["channel"], bytes.fromhex(row["mark"]), row["key"]) for row in found]


async def save_voice_marks(
    tx: Tx, space: str, person_id: str, encoder: EmbeddingSpace, marks: Sequence[VoiceMark], *, correction: str | None = None
) -> None:
    """`correction`: id of the merge by which the voice is taken for theirs, which leaves a mark of its own that goes with it;
    where there is a mark of their own voice, that stays the only one. The caller holds the lock, and makes a new
    identity_revision in this transaction."""
    by = () if correction is None else (correction,)
    own = {mark: derived("opt_out", space, person_id, encoder.name, encoder.version, mark.channel) for mark in marks}
    found = await rows(tx, LIST_MADE, space=space, ids=list(own.values())) if by else []
    there = {row["id"] for row in found}
    made = [
        {
            "id": derived("opt_out", space, person_id, encoder.name, encoder.version, mark.channel, *by),
            "properties": {
                "kind": "voice",
                "mark": mark.signs.hex(),
                "key": mark.key,
                "encoder": encoder.name,
                "encoder_version": encoder.version,
                "channel": mark.channel,
                "correction": correction,
            },
        }
        for mark in marks
        if own[mark] not in there
    ]
    await tx.run(SAVE_OPT_OUTS, space=space, person_id=person_id, marks=made)


async def save_account_marks(tx: Tx, space: str, person_id: str, marks: Sequence[str], key: str) -> None:
    """Of logins that are bound to the person: of Marker.account."""
    made = [
        {"id": derived("opt_out", space, "account", mark), "properties": {"kind": "account", "mark": mark, "key": key}}
        for mark in marks
    ]
    await tx.run(SAVE_OPT_OUTS, space=space, person_id=person_id, marks=made)


async def forget_opt_outs_by(tx: Tx, space: str, correction: str) -> None:
    """The merge is undone: the voice was not theirs. The caller holds the lock."""
    await tx.run(FORGET_OPT_OUTS_BY, space=space, correction=correction)


async def forget_opt_outs_of(tx: Tx, space: str, person_id: str) -> None:
    """They agreed: nothing blocks them any more. The caller holds the lock."""
    await tx.run(FORGET_OPT_OUTS_OF, space=space, person_id=person_id)


async def leave_opt_outs_of(tx: Tx, space: str, person_id: str) -> None:
    """The person is erased and opted out: the marks stay, with nothing that tells whose they are but the month. The caller
    holds the lock."""
    await tx.run(LEAVE_OPT_OUTS_OF, space=space, person_id=person_id)


async def refuse_marked_account(tx: Tx, space: str, mark: str) -> None:
    """Raises AccountOptedOut where this login (of Marker.account) was somebody's who opted out and was erased."""
    if found := await rows(tx, FIND_ACCOUNT_MARK, space=space, mark=mark):
        raise AccountOptedOut(id=found[0]["id"])


async def list_marked(tx: Tx, space: str, marks: Sequence[str]) -> frozenset[str]:
    """Those of `marks` (of Marker.account) that are of logins of who opted out and was erased."""
    return frozenset(row["mark"] for row in await rows(tx, LIST_MARKED, space=space, marks=list(marks)))


async def list_logins_of(tx: Tx, space: str, people: Sequence[str]) -> list[tuple[str, str]]:
    """(issuer, subject) of the logins bound to these very people."""
    return [(row["issuer"], row["subject"]) for row in await rows(tx, LIST_LOGINS_OF, space=space, people=list(people))]


async def any_opted_out(tx: Tx, space: str, people: Sequence[str]) -> bool:
    """Whether one of these very people, also of those who were erased, opted out of being known."""
    return bool(await rows(tx, FIND_OPTED_OUT, space=space, people=list(people)))


async def leave_account_marks(tx: Tx, space: str, marks: Sequence[str], key: str) -> None:
    """Of the logins of somebody who opted out and is erased: bound to nobody. Safe to repeat; the caller holds the lock."""
    there = await list_marked(tx, space, marks)
    await tx.run(LEAVE_ACCOUNT_MARKS, space=space, marks=sorted(set(marks) - there), key=key)


async def list_known_opt_outs(tx: Tx, scope: ReadScope) -> list[KnownOptOut]:
    """All of the space, for who reads everything; else none."""
    found = await rows(tx, LIST_KNOWN_OPT_OUTS, space=scope.space, reads_all=scope.reads_all)
    return [KnownOptOut(**row["opt_out"]) for row in found]


async def forget_opt_out(tx: Tx, space: str, id: str) -> bool:
    """Take one mark away; whether it was there. The caller holds the lock."""
    return bool((await changes(tx, FORGET_OPT_OUT, space=space, id=id)).nodes_deleted)
