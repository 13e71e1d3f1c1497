"""How are names written? What a session says for a name, what comes of it together with what other sessions say, and the name
shown. One session's evidence is replaced as a whole, so that naming it again changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.errors import NotFound
from service.graph.driver import Tx, rows
from service.types.audio import Segment
from service.types.ids import derived

BY_ITSELF = "voicegraph"
"""`decided_by` of a proposal that was sure enough, and `actor` of what follows."""
OPEN, APPLIED, REJECTED = "open", "applied", "rejected"
CONTRADICTING_LABEL = "contradicting_label"


@dataclass(frozen=True, slots=True)
class NamingTurn:
    """A turn as naming looks at it; for the writer only: no gate stands before it."""

    message_id: str
    segment: Segment
    track: str
    label: str | None
    speaker_id: str | None
    text: str | None
    is_stranger: bool
    """Unresolved, for its voice was heard not to be the track's."""


@dataclass(frozen=True, slots=True)
class NamedPerson:
    id: str
    display_name: str | None
    named_by: str | None
    by_itself: bool
    """The name shown is a proposal's that was sure enough; else it is a human's."""
    aliases: tuple[str, ...]
    is_bot: bool
    same: frozenset[str]
    """The person and whom they are merged with."""


@dataclass(frozen=True, slots=True)
class Evidence:
    message_id: str
    session_id: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredProposal:
    id: str
    subject: str
    name: str
    normal_name: str
    status: str
    decided_by: str | None
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class NewEvidence:
    """One turn's claims of one name for one subject."""

    subject: str
    name: str
    normal_name: str
    message_id: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedProposal:
    id: str
    sources: tuple[str, ...]
    num_claims: int
    confidence: float
    held: str | None
    status: str
    decided_by: str | None


def proposal_id(subject: str, normal_name: str) -> str:
    return derived("name_proposal", subject, normal_name)


LIST_NAMING_TURNS = """
MATCH (m:Message)-[:IN_SESSION]->(:Session {space: $space, id: $session_id})
WHERE NOT 'bot' IN coalesce(m.doubts, [])
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m.id AS message_id, m.start AS start, m.end AS end, l.id AS track,
       CASE l.label WHEN 'erased' THEN null ELSE l.label END AS label, m.speaker_id AS speaker_id, m.text AS text,
       m.speaker_id IS NULL AND coalesce(m.reason, '') = 'contradicting' AS is_stranger
ORDER BY m.index
"""

FIND_SESSION = """
MATCH (s:Session {space: $space, id: $session_id})
RETURN s.id AS id
"""

LIST_NAMED_PEOPLE = """
MATCH (p:Person {space: $space})
WHERE p.id IN $ids AND coalesce(p.tombstone, false) = false
RETURN p.id AS id, p.display_name AS display_name, p.named_by AS named_by, coalesce(p.aliases, []) AS aliases,
       p.kind = 'bot' AS is_bot, EXISTS { MATCH (n:NameProposal) WHERE n.id = p.named_by } AS by_itself,
       COLLECT { MATCH (p) (()-[:MERGED_INTO]-()){0,12} (same:Person) RETURN DISTINCT same.id } AS same
ORDER BY id
"""

LIST_CALLED = """
MATCH (p:Person {space: $space})
WHERE p.display_name IN $names AND coalesce(p.tombstone, false) = false
RETURN p.display_name AS name, p.id AS id,
       COLLECT { MATCH (p) (()-[:MERGED_INTO]-()){0,12} (same:Person) RETURN DISTINCT same.id } AS same
ORDER BY id
"""

LIST_PROPOSALS = """
UNWIND $ids AS subject_id
MATCH (subject:Person|LocalSpeaker {id: subject_id, space: $space})<-[:ABOUT]-(n:NameProposal)
RETURN n.id AS id, subject_id AS subject, n.name AS name, n.normal_name AS normal_name, n.status AS status,
       n.decided_by AS decided_by,
       COLLECT {
         MATCH (n)-[e:EVIDENCED_BY]->(m:Message)
         RETURN {message_id: m.id, session_id: m.session_id, sources: e.sources} ORDER BY m.session_id, m.index
       } AS evidence
ORDER BY subject, normal_name
"""

FORGET_EVIDENCE = """
MATCH (:Session {space: $space, id: $session_id})<-[:IN_SESSION]-(m:Message)<-[e:EVIDENCED_BY]-(n:NameProposal)
MATCH (n)-[:ABOUT]->(subject:Person|LocalSpeaker)
WHERE NOT subject.id IN $kept
DELETE e
RETURN DISTINCT subject.id AS id
"""

SAVE_EVIDENCE = """
UNWIND $evidence AS row
MATCH (m:Message {space: $space, id: row.message_id})
MATCH (subject:Person|LocalSpeaker {space: $space, id: row.subject})
MERGE (n:NameProposal {id: row.id})
ON CREATE SET n.space = $space, n.created_at = datetime(), n.name = row.name, n.normal_name = row.normal_name,
              n.status = 'open', n.sources = [], n.num_claims = 0, n.confidence = 0.0
MERGE (n)-[:ABOUT]->(subject)
MERGE (n)-[e:EVIDENCED_BY]->(m)
SET e.sources = row.sources
"""

SAVE_JUDGED = """
UNWIND $judged AS row
MATCH (n:NameProposal {space: $space, id: row.id})
SET n.sources = row.sources, n.num_claims = row.num_claims, n.confidence = row.confidence, n.held = row.held,
    n.status = row.status, n.decided_by = row.decided_by
"""

FORGET_PROPOSALS = """
MATCH (n:NameProposal {space: $space})
WHERE n.id IN $ids
DETACH DELETE n
"""

SHOW_NAME = """
MATCH (p:Person {space: $space, id: $person_id})
WHERE coalesce(p.tombstone, false) = false
SET p.display_name = $name, p.named_by = $by, p.kind = CASE p.kind WHEN 'bot' THEN 'bot' ELSE 'named' END,
    p.aliases = [alias IN coalesce(p.aliases, []) + $kept WHERE alias <> $name]
"""

HIDE_NAME = """
MATCH (p:Person {space: $space, id: $person_id})
SET p.kind = CASE p.kind WHEN 'bot' THEN 'bot' ELSE 'anonymous' END
REMOVE p.display_name, p.named_by
"""

GET_PROPOSAL = """
MATCH (n:NameProposal {space: $space, id: $proposal_id})-[:ABOUT]->(subject:Person|LocalSpeaker)
RETURN n.name AS name, n.status AS status, n.decided_by AS decided_by, subject.id AS subject,
       CASE WHEN subject:Person THEN subject.id
            ELSE head(COLLECT { MATCH (subject)-[:IS]->(p:Person) RETURN p.id ORDER BY p.id }) END AS person_id,
       CASE WHEN subject:LocalSpeaker THEN subject.session_id END AS session_id
"""

DECIDE_PROPOSAL = """
MATCH (n:NameProposal {space: $space, id: $proposal_id})
SET n.status = $status, n.decided_by = $actor
"""

SAVE_CONTRADICTED_LABELS = """
UNWIND $labels AS row
MATCH (l:LocalSpeaker {space: $space, id: row.track})
MATCH (p:Person {space: $space, id: row.person_id})
MERGE (l)-[r:MAY_BE {why: $why}]->(p)
SET r.num_turns = row.num_turns
"""

FORGET_CONTRADICTED_LABELS = """
MATCH (:Session {space: $space, id: $session_id})<-[:HEARD_IN]-(:LocalSpeaker)-[r:MAY_BE {why: $why}]->(:Person)
DELETE r
"""


async def list_naming_turns(tx: Tx, space: str, session_id: str) -> list[NamingTurn]:
    """All turns of the session in spoken order. Raises NotFound."""
    if not await rows(tx, FIND_SESSION, space=space, session_id=session_id):
        raise NotFound(kind="session", id=session_id)
    return [
        NamingTurn(segment=Segment(row.pop("start"), row.pop("end")), **row)
        for row in await rows(tx, LIST_NAMING_TURNS, space=space, session_id=session_id)
    ]


async def list_named_people(tx: Tx, space: str, ids: Collection[str]) -> dict[str, NamedPerson]:
    """What `ids` are called, by id; ids that are nobody's are left out."""
    found = await rows(tx, LIST_NAMED_PEOPLE, space=space, ids=sorted(ids))
    return {
        row["id"]: NamedPerson(**{**row, "aliases": tuple(row["aliases"]), "same": frozenset((row["id"], *row["same"]))})
        for row in found
    }


@dataclass(frozen=True, slots=True)
class Called:
    name: str
    person_id: str
    same: frozenset[str]
    """The person and whom they are merged with."""


async def list_called(tx: Tx, space: str, names: Collection[str]) -> list[Called]:
    """Everybody shown under one of `names`, in the same writing or in one of the usual ones."""
    written = {form for name in names for form in (name, name.casefold(), name.title(), name.upper())}
    found = await rows(tx, LIST_CALLED, space=space, names=sorted(written))
    return [Called(row["name"], row["id"], frozenset((row["id"], *row["same"]))) for row in found]


async def list_proposals(tx: Tx, space: str, subjects: Collection[str]) -> list[StoredProposal]:
    """All proposals about people and local speakers, with their evidence of all sessions."""
    return [
        StoredProposal(evidence=tuple(_evidence(e) for e in row.pop("evidence")), **row)
        for row in await rows(tx, LIST_PROPOSALS, space=space, ids=sorted(subjects))
    ]


async def replace_evidence(
    tx: Tx, space: str, session_id: str, evidence: Sequence[NewEvidence], kept: Collection[str] = ()
) -> frozenset[str]:
    """Let the session say exactly this, of everybody but those in `kept`; ids of the subjects that it said something about
    before or does now.

    The caller holds the lock of the space and judges these subjects anew."""
    before = [row["id"] for row in await rows(tx, FORGET_EVIDENCE, space=space, session_id=session_id, kept=sorted(kept))]
    saved = [
        {
            "id": proposal_id(e.subject, e.normal_name),
            "subject": e.subject,
            "name": e.name,
            "normal_name": e.normal_name,
            "message_id": e.message_id,
            "sources": list(e.sources),
        }
        for e in evidence
    ]
    if saved:
        await tx.run(SAVE_EVIDENCE, space=space, evidence=saved)
    return frozenset((*before, *(e.subject for e in evidence)))


async def save_judged(tx: Tx, space: str, judged: Sequence[JudgedProposal], gone: Sequence[str]) -> None:
    """What proposals came to; `gone` (ids) have no evidence left and nobody decided about them."""
    rows_ = [
        {
            "id": j.id,
            "sources": list(j.sources),
            "num_claims": j.num_claims,
            "confidence": j.confidence,
            "held": j.held,
            "status": j.status,
            "decided_by": j.decided_by,
        }
        for j in judged
    ]
    if rows_:
        await tx.run(SAVE_JUDGED, space=space, judged=rows_)
    if gone:
        await tx.run(FORGET_PROPOSALS, space=space, ids=list(gone))


async def show_name(tx: Tx, space: str, person_id: str, name: str, *, by: str, kept: str | None = None) -> None:
    """`by`: as in Person.named_by; `kept`: the name before, where it stays as an alias."""
    await tx.run(SHOW_NAME, space=space, person_id=person_id, name=name, by=by, kept=[kept] if kept else [])


async def hide_name(tx: Tx, space: str, person_id: str) -> None:
    """Nobody knows the name any more; aliases stay."""
    await tx.run(HIDE_NAME, space=space, person_id=person_id)


@dataclass(frozen=True, slots=True)
class AboutName:
    name: str
    status: str
    decided_by: str | None
    subject: str
    person_id: str | None
    """The subject, or whose voice it is; None for a voice that is nobody's yet."""
    session_id: str | None
    """Of the LocalSpeaker, where it is about one."""


async def get_proposal(tx: Tx, space: str, proposal_id: str) -> AboutName:
    """Raises NotFound."""
    found = await rows(tx, GET_PROPOSAL, space=space, proposal_id=proposal_id)
    if not found:
        raise NotFound(kind="name proposal", id=proposal_id)
    return AboutName(**found[0])


async def decide_proposal(tx: Tx, space: str, proposal_id: str, *, status: str, actor: str) -> None:
    await tx.run(DECIDE_PROPOSAL, space=space, proposal_id=proposal_id, status=status, actor=actor)


async def replace_contradicted_labels(tx: Tx, space: str, session_id: str, labels: Mapping[tuple[str, str], int]) -> None:
    """(track, person whose name its label is) → turns of the track: proposals for somebody to decide."""
    await tx.run(FORGET_CONTRADICTED_LABELS, space=space, session_id=session_id, why=CONTRADICTING_LABEL)
    if labels:
        saved = [{"track": t, "person_id": p, "num_turns": n} for (t, p), n in sorted(labels.items())]
        await tx.run(SAVE_CONTRADICTED_LABELS, space=space, labels=saved, why=CONTRADICTING_LABEL)


def _evidence(row: dict[str, Any]) -> Evidence:
    return Evidence(row["message_id"], row["session_id"], tuple(row["sources"] or ()))
