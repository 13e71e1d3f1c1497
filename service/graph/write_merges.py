"""What does the graph know for and against two people being one, and how is it written what a session's end made of it?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from service.graph.channels import save_channels
from service.graph.driver import Tx, rows
from service.graph.merges import MergeSets, list_merges
from service.graph.write_corrections import VOICEGRAPH, CorrectionConflict, merge_people
from service.graph.write_sessions import RevisionMoved, hold_session
from service.types.audio import EmbeddingSpace
from service.types.ids import derived
from service.types.people import ChannelMean, MayBe

Pair = frozenset[str]

ALIKE, EXCLUSIVE = "alike", "exclusive"
"""`why` of the MAY_BE edges that this module writes; those of names are not its own."""

REPEATED = "repeated voice"
"""`why` of a confirmation that no human gave."""


@dataclass(frozen=True, slots=True)
class MergeEvidence:
    """What but the voice speaks about who may be whom."""

    not_same: frozenset[Pair]
    """Pairs of people that a human rejected."""
    apart: frozenset[Pair]
    """Pairs that were two tracks of one session."""
    settled: frozenset[str]
    """People with a name or an account, and who is one with such by confirmed merges: somebody by more than their voice."""
    sessions: Mapping[str, str] = field(default_factory=dict)
    """Turn that somebody's exemplar was taken from → its session; of a revision that one whose place it takes: they are of
    one recording. This and what follows is read of spaces only in which a voice alone opens."""
    unconfirmed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Automatic merges to be looked at again, (person, into) → id of the Correction that would confirm it."""
    confirmed_as: Mapping[str, str] = field(default_factory=dict)
    """Person → whom they end at by confirmed merges; themselves where left out."""


@dataclass(frozen=True, slots=True)
class NewMerge:
    person_id: str
    into: str
    cosine: float
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Merging:
    """All that the end of one session changes about who is who."""

    space: str
    session_id: str
    encoder: EmbeddingSpace
    read_revision: int
    checkpoint_before: str | None
    checkpoint: str
    people: Collection[str]
    """Who was heard: what was proposed of them before is replaced."""
    merges: Sequence[NewMerge]
    confirmations: Mapping[tuple[str, str], str]
    """Of MergeEvidence.unconfirmed those that are sure by now."""
    proposals: Sequence[MayBe]
    channels: Mapping[str, ChannelMean]


@dataclass(frozen=True, slots=True)
class Merged:
    corrections: tuple[str, ...]
    """Ids, one for each merge made or confirmed."""
    num_proposals: int
    exemplars_lost: tuple[str, ...] = ()
    """Ids: of who turned out to be somebody that refused. The caller makes the channel means again."""


LIST_NOT_SAME = """
MATCH (p:Person {space: $space})-[:NOT_SAME_AS]->(q:Person)
RETURN p.id AS one, q.id AS other
"""

LIST_APART = """
MATCH (p:Person {space: $space})<-[:IS]-(l:LocalSpeaker)-[:HEARD_IN]->(:Session)<-[:HEARD_IN]-(k:LocalSpeaker)-[:IS]->(q:Person)
WHERE p.id IN $ids AND l.id <> k.id AND p.id <> q.id
RETURN DISTINCT p.id AS one, q.id AS other
"""

LIST_SETTLED = """
MATCH (p:Person {space: $space})
WHERE p.kind IN ['named', 'bot'] OR EXISTS { (:Account)-[:IS]->(p) }
MATCH (p) (()-[m:MERGED_INTO WHERE m.confirmed]-()){0,12} (same:Person)
RETURN DISTINCT same.id AS id
"""

LIST_SESSIONS_OF_EXEMPLARS = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar)
WHERE p.id IN $ids
MATCH (m:Message {id: e.message_id})
RETURN DISTINCT m.id AS message, m.session_id AS session
"""

LIST_REPLACED = """
MATCH (s:Session {space: $space}) WHERE s.replaces IS NOT NULL
RETURN s.id AS session, s.replaces AS replaces
"""

LIST_UNCONFIRMED = """
MATCH (p:Person {space: $space})-[m:MERGED_INTO {by: 'voicegraph', confirmed: false}]->(q:Person)
WHERE p.id IN $ids
RETURN p.id AS person, q.id AS into, m.correction AS correction
ORDER BY person
"""

LIST_MADE = """
MATCH (c:Correction {space: $space})
WHERE c.id IN $ids
RETURN c.id AS id
"""

LIST_AT_ONCE = """
UNWIND $pairs AS pair
MATCH (p:Person {space: $space, id: pair[0]})
MATCH (q:Person {space: $space, id: pair[1]})
WHERE EXISTS {
  MATCH (p)-[:SPEAKS]->(m:Message)-[:IN_SESSION]->(:Session)<-[:IN_SESSION]-(n:Message)<-[:SPEAKS]-(q)
  WHERE m.start <= n.end - $seconds AND n.start <= m.end - $seconds
}
RETURN p.id AS one, q.id AS other
"""

FORGET_PROPOSALS = """
MATCH (s:Session {space: $space, id: $session_id})
CALL (s) {
  MATCH (s)<-[:HEARD_IN]-(l:LocalSpeaker)-[b:MAY_BE]->(:Person) RETURN b
  UNION
  MATCH (p:Person {space: $space})-[b:MAY_BE]-(:Person) WHERE p.id IN $people RETURN b
}
WITH b WHERE b.why IN ['alike', 'exclusive']
DELETE b
"""

SAVE_PROPOSALS_OF_PEOPLE = """
UNWIND $proposals AS row
MATCH (subject:Person {space: $space, id: row.subject})
MATCH (p:Person {space: $space, id: row.person_id})
MERGE (subject)-[b:MAY_BE]->(p)
SET b = row.properties
"""

SAVE_PROPOSALS_OF_VOICES = """
UNWIND $proposals AS row
MATCH (subject:LocalSpeaker {space: $space, id: row.subject})
MATCH (p:Person {space: $space, id: row.person_id})
MERGE (subject)-[b:MAY_BE]->(p)
SET b = row.properties
"""

SAVE_CHECKPOINT = """
MATCH (s:Session {space: $space, id: $session_id})
SET s.checkpoint = $checkpoint
REMOVE s.thinned_of
"""


async def read_merge_evidence(tx: Tx, space: str, ids: Collection[str], *, confirm: bool) -> MergeEvidence:
    """Of the people `ids` (those heard) against everybody; with `confirm` also what confirms merges of theirs."""
    sets = await list_merges(tx, space, sorted(ids)) if confirm else MergeSets(())
    concerned = sorted(frozenset(ids).union(*(sets.members(person) for person in ids)))
    not_same = await rows(tx, LIST_NOT_SAME, space=space)
    apart = await rows(tx, LIST_APART, space=space, ids=concerned)
    settled = await rows(tx, LIST_SETTLED, space=space)
    evidence = MergeEvidence(
        frozenset(frozenset((row["one"], row["other"])) for row in not_same),
        frozenset(frozenset((row["one"], row["other"])) for row in apart),
        frozenset(row["id"] for row in settled),
    )
    if not confirm:
        return evidence
    sessions = await rows(tx, LIST_SESSIONS_OF_EXEMPLARS, space=space, ids=concerned)
    replaced = {row["session"]: row["replaces"] for row in await rows(tx, LIST_REPLACED, space=space)}
    return replace(
        evidence,
        sessions={row["message"]: _first(row["session"], replaced) for row in sessions},
        unconfirmed=await _unconfirmed(tx, space, concerned),
        confirmed_as={person: top for person in concerned if (top := sets.top(person)) != person},
    )


def _first(session: str, replaced: Mapping[str, str]) -> str:
    """Of the revisions of its recording that are there."""
    while session in replaced:
        session = replaced[session]
    return session


async def _unconfirmed(tx: Tx, space: str, ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """Without those confirmed by themselves once: if that holds no more, a human took it back."""
    found = await rows(tx, LIST_UNCONFIRMED, space=space, ids=ids)
    edges = {(row["person"], row["into"]): derived("confirmation", row["correction"] or row["person"]) for row in found}
    made = {row["id"] for row in await rows(tx, LIST_MADE, space=space, ids=sorted(edges.values()))}
    return {edge: correction for edge, correction in edges.items() if correction not in made}


async def list_at_once(tx: Tx, space: str, pairs: Sequence[tuple[str, str]], *, seconds: float) -> frozenset[Pair]:
    """Those of `pairs` of people who somewhere spoke at the same time, for `seconds` or longer."""
    found = await rows(tx, LIST_AT_ONCE, space=space, pairs=[list(pair) for pair in pairs], seconds=seconds)
    return frozenset(frozenset((row["one"], row["other"])) for row in found)


async def save_merging(tx: Tx, merging: Merging) -> Merged | RevisionMoved:
    """Write all of it, each merge with the record that undoes it. Nothing is written when people changed since
    `read_revision`. Raises SessionBusy as save_batch does.

    A merge that the graph does not take (its chain would be too long to read) becomes a proposal."""
    space, session_id = merging.space, merging.session_id
    revision = await hold_session(tx, space, session_id, merging.checkpoint_before)
    if revision != merging.read_revision:
        return RevisionMoved(revision)
    corrections: list[str] = []
    lost: list[str] = []
    proposals = list(merging.proposals)
    for new in merging.merges:
        correction = derived("merge", session_id, new.person_id, new.into)
        try:
            done = await merge_people(
                tx,
                space,
                new.person_id,
                new.into,
                actor=VOICEGRAPH,
                why=ALIKE,
                confirmed=new.confirmed,
                cosine=new.cosine,
                correction_id=correction,
            )
            corrections.append(correction)
            lost += done.exemplars_lost
        except CorrectionConflict:
            proposals.append(MayBe(new.person_id, new.into, new.cosine, None, new.cosine, 0, ALIKE))
    for (person, into), correction in sorted(merging.confirmations.items()):
        why = REPEATED
        done = await merge_people(tx, space, person, into, actor=VOICEGRAPH, why=why, confirmed=True, correction_id=correction)
        corrections.append(correction)
        lost += done.exemplars_lost
    await tx.run(FORGET_PROPOSALS, space=space, session_id=session_id, people=sorted(merging.people))
    written = [_row(proposal) for proposal in proposals]
    await tx.run(SAVE_PROPOSALS_OF_PEOPLE, space=space, proposals=written)
    await tx.run(SAVE_PROPOSALS_OF_VOICES, space=space, proposals=written)
    await save_channels(tx, space, merging.encoder, merging.channels)
    await tx.run(SAVE_CHECKPOINT, space=space, session_id=session_id, checkpoint=merging.checkpoint)
    return Merged(tuple(corrections), len(proposals), tuple(lost))


def _row(proposal: MayBe) -> dict[str, object]:
    properties = asdict(proposal)
    return {"subject": properties.pop("subject"), "person_id": properties.pop("person_id"), "properties": properties}
