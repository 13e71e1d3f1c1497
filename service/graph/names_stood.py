"""How do the names of some people and voices stand, so that they can be put back exactly? For writers, without a gate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from service.graph.driver import Tx, rows
from service.graph.write_names import CONTRADICTING_LABEL, FORGET_PROPOSALS, replace_contradicted_labels

Stood = Mapping[str, Any]
"""JSON-ready, one of: `proposals` about a person or local speaker, with their evidence; `person`, the name shown and where it
is from; of a session `labels`, [track, person, turns] of the labels that contradict a voice."""

SHOWN = "/shown"
"""Behind a person's id: of the name shown, which changes without the proposals when a human names somebody."""

LIST_SUBJECTS = """
MATCH (m:Message)-[:IN_SESSION]->(s:Session {space: $space}) WHERE s.id IN $sessions
CALL (m) {
  MATCH (l:LocalSpeaker)-[:UTTERED]->(m) RETURN l.id AS id
  UNION
  MATCH (p:Person)-[:SPEAKS]->(m) RETURN p.id AS id
  UNION
  MATCH (m)<-[:EVIDENCED_BY]-(:NameProposal)-[:ABOUT]->(subject:Person|LocalSpeaker) RETURN subject.id AS id
}
RETURN DISTINCT id
ORDER BY id
"""

LIST_STOOD = """
UNWIND $ids AS subject_id
MATCH (subject:Person|LocalSpeaker {id: subject_id, space: $space})
RETURN subject_id AS id,
       CASE WHEN subject:Person THEN subject {.display_name, .named_by, .kind, aliases: coalesce(subject.aliases, [])} END
         AS person,
       COLLECT {
         MATCH (subject)<-[:ABOUT]-(n:NameProposal)
         RETURN n {.id, .name, .normal_name, .sources, .num_claims, .confidence, .held, .status, .decided_by,
                   evidence: COLLECT { MATCH (n)-[e:EVIDENCED_BY]->(m:Message)
                                       RETURN {message_id: m.id, sources: e.sources} ORDER BY m.id }}
         ORDER BY n.id
       } AS proposals
"""

LIST_STOOD_LABELS = """
MATCH (s:Session {space: $space})<-[:HEARD_IN]-(l:LocalSpeaker)-[r:MAY_BE {why: $why}]->(p:Person)
WHERE s.id IN $sessions
RETURN s.id AS session_id, l.id AS track, p.id AS person, r.num_turns AS num_turns
ORDER BY track, person
"""

LIST_OTHER_PROPOSALS = """
MATCH (:Person|LocalSpeaker {id: $subject, space: $space})<-[:ABOUT]-(n:NameProposal)
WHERE NOT n.id IN $ids
RETURN n.id AS id
"""

PUT_BACK_PROPOSALS = """
UNWIND $proposals AS row
MATCH (subject:Person|LocalSpeaker {id: $subject, space: $space})
MERGE (n:NameProposal {id: row.id})
ON CREATE SET n.space = $space, n.created_at = datetime()
SET n.name = row.name, n.normal_name = row.normal_name, n.sources = row.sources, n.num_claims = row.num_claims,
    n.confidence = row.confidence, n.held = row.held, n.status = row.status, n.decided_by = row.decided_by
MERGE (n)-[:ABOUT]->(subject)
WITH n
MATCH (n)-[old:EVIDENCED_BY]->(:Message)
DELETE old
"""

PUT_BACK_EVIDENCE = """
UNWIND $proposals AS row
MATCH (n:NameProposal {id: row.id, space: $space})
UNWIND row.evidence AS said
MATCH (m:Message {id: said.message_id, space: $space})
MERGE (n)-[e:EVIDENCED_BY]->(m)
SET e.sources = said.sources
"""

PUT_BACK_NAME = """
MATCH (p:Person {space: $space, id: $person_id})
SET p.display_name = $person.display_name, p.named_by = $person.named_by, p.kind = $person.kind, p.aliases = $person.aliases
"""


async def list_subjects(tx: Tx, space: str, sessions: Collection[str]) -> list[str]:
    """Ids of all people and local speakers that naming one of `sessions` can say anything about."""
    return [row["id"] for row in await rows(tx, LIST_SUBJECTS, space=space, sessions=sorted(sessions))]


async def names_stood(tx: Tx, space: str, subjects: Collection[str], sessions: Collection[str]) -> dict[str, Stood]:
    """By id of a subject, of a person with SHOWN behind it, and of a session."""
    labels: dict[str, list[list[Any]]] = {session: [] for session in sorted(sessions)}
    for row in await rows(tx, LIST_STOOD_LABELS, space=space, sessions=sorted(sessions), why=CONTRADICTING_LABEL):
        labels[row["session_id"]].append([row["track"], row["person"], row["num_turns"]])
    found = await rows(tx, LIST_STOOD, space=space, ids=sorted(subjects))
    return {
        **{row["id"]: {"proposals": row["proposals"]} for row in found},
        **{row["id"] + SHOWN: {"person": row["person"]} for row in found if row["person"] is not None},
        **{session: {"labels": contradicting} for session, contradicting in labels.items()},
    }


async def put_back_names(tx: Tx, space: str, stood: Mapping[str, Stood]) -> None:
    """Let names be as they stood, of those in `stood` and nobody else."""
    for id, was in sorted(stood.items()):
        if "proposals" in was:
            await _put_back_proposals(tx, space, id, was["proposals"])
        elif "person" in was:
            await tx.run(PUT_BACK_NAME, space=space, person_id=id.removesuffix(SHOWN), person=was["person"])
        else:
            labels = {(track, person): num_turns for track, person, num_turns in was["labels"]}
            await replace_contradicted_labels(tx, space, id, labels)


async def _put_back_proposals(tx: Tx, space: str, subject: str, proposals: Sequence[Mapping[str, Any]]) -> None:
    ids = [proposal["id"] for proposal in proposals]
    gone = [row["id"] for row in await rows(tx, LIST_OTHER_PROPOSALS, space=space, subject=subject, ids=ids)]
    await tx.run(FORGET_PROPOSALS, space=space, ids=gone)
    await tx.run(PUT_BACK_PROPOSALS, space=space, subject=subject, proposals=proposals)
    await tx.run(PUT_BACK_EVIDENCE, space=space, proposals=proposals)
