"""How are people written: their names and voices?

A voice is written only where its consent state allows it, and that is asked by the statement that writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from service.errors import NotFound
from service.graph.cypher import for_space, holding
from service.graph.driver import Tx, rows
from service.graph.spaces import bump_revision, lock_space
from service.types.audio import EmbeddingSpace
from service.types.people import Exemplar, PersonVoice


@dataclass(frozen=True, slots=True)
class PersonWrite:
    """What is counted of a person, voice kept or not."""

    id: str
    num_turns: int
    net_speech: float


@dataclass(frozen=True, slots=True)
class VoiceWrite:
    """A changed voice: the centroid as it is now, exemplars that came and ids of those that went."""

    voice: PersonVoice
    added: tuple[Exemplar, ...] = ()
    dropped: tuple[str, ...] = ()


SAVE_PEOPLE = """
UNWIND $people AS row
MERGE (p:Person {id: row.id})
ON CREATE SET p.space = $space, p.created_at = datetime(), p.kind = 'anonymous', p.aliases = []
WITH p, row
WHERE p.space = $space AND coalesce(p.tombstone, false) = false
SET p.num_turns = row.num_turns, p.net_speech = row.net_speech, p.revision = $revision
"""

SAVE_VOICES = holding("""
MATCH (s:Space {id: $space})
UNWIND $people AS row
MATCH (p:Person {id: row.id, space: $space})
WHERE coalesce(p.tombstone, false) = false
WITH s, p, row, coalesce(COLLECT {
       MATCH (p)-[:GAVE]->(c:Consent {purpose: 'remember_voice'})
       <holds>
     }[0], 'unknown') AS consent
WHERE NOT coalesce(COLLECT {
       MATCH (p)-[:GAVE]->(c:Consent {purpose: 'attribute'})
       <holds>
     }[0], 'unknown') IN ['withdrawn', 'opted_out']
  AND (consent = 'granted' OR (consent = 'unknown' AND s.anonymous_voices <> 'ephemeral'))
SET p.voiceprint__<space> = row.centroid
WITH p, row, consent, CASE WHEN consent = 'unknown' AND s.anonymous_voices = 'expire'
                           THEN datetime() + duration({days: s.anonymous_days})
                           WHEN s.voice_days IS NOT NULL
                           THEN datetime() + duration({days: s.voice_days}) END AS expires_at
FOREACH (exemplar IN row.added |
  MERGE (e:Exemplar {id: exemplar.id})
  ON CREATE SET e.space = $space, e.created_at = datetime()
  SET e += exemplar.properties, e.vector__<space> = exemplar.vector, e.consent = consent, e.expires_at = expires_at
  MERGE (p)-[:HAS_EXEMPLAR]->(e)
)
RETURN p.id AS id
""")

FORGET_EXEMPLARS = """
UNWIND $ids AS id
MATCH (:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar {id: id})
DETACH DELETE e
"""

SAVE_NAMED_PERSON = """
MERGE (p:Person {id: $person_id})
ON CREATE SET p.space = $space, p.created_at = datetime(), p.num_turns = 0, p.net_speech = 0.0, p.aliases = []
WITH p WHERE p.space = $space
SET p.display_name = $name, p.kind = $kind, p.revision = $revision
REMOVE p.named_by
"""

NAME_PERSON = """
MATCH (p:Person {space: $space, id: $person_id})
WHERE coalesce(p.tombstone, false) = false
WITH p, EXISTS { MATCH (n:NameProposal) WHERE n.id = p.named_by } AS by_itself
WITH p, CASE WHEN by_itself THEN [] ELSE coalesce(p.display_name, []) END AS given
SET p.aliases = [alias IN coalesce(p.aliases, []) + given WHERE alias <> $name],
    p.display_name = $name, p.named_by = $by, p.kind = CASE p.kind WHEN 'bot' THEN 'bot' ELSE 'named' END
RETURN p.id AS id
"""

ADD_ALIAS = """
MATCH (p:Person {space: $space, id: $person_id})
WHERE coalesce(p.tombstone, false) = false
SET p.aliases = [alias IN coalesce(p.aliases, []) WHERE alias <> $alias] + $alias
RETURN p.id AS id
"""


async def save_people(tx: Tx, space: str, people: Sequence[PersonWrite], revision: int) -> None:
    """The caller holds the lock of the space and made `revision` for this write. New people are anonymous; one that was
    erased stays as it is."""
    await tx.run(SAVE_PEOPLE, space=space, people=[asdict(person) for person in people], revision=revision)


async def save_voices(tx: Tx, space: str, encoder: EmbeddingSpace, voices: Sequence[VoiceWrite]) -> frozenset[str]:
    """Write voices of people there are, where consent allows it; ids of those it was allowed for."""
    dropped = [id for voice in voices for id in voice.dropped]
    if dropped:
        await tx.run(FORGET_EXEMPLARS, space=space, ids=dropped)
    if not voices:
        return frozenset()
    saved = await rows(tx, for_space(SAVE_VOICES, encoder.name), space=space, people=[_row(v, encoder) for v in voices])
    return frozenset(row["id"] for row in saved)


async def save_person(tx: Tx, space: str, person_id: str, name: str, *, kind: str = "named") -> None:
    """A named person (or bot), with or without a voice."""
    await lock_space(tx, space)
    await tx.run(
        SAVE_NAMED_PERSON, space=space, person_id=person_id, name=name, kind=kind, revision=await bump_revision(tx, space)
    )


async def name_person(tx: Tx, space: str, person_id: str, name: str, *, by: str) -> None:
    """A human says so: no proposal changes it, nor one that is being applied at this moment. The old name stays as an alias
    if it was a human's too. `by`: who says it, an account's or person's id. Raises NotFound."""
    await lock_space(tx, space)
    if not await rows(tx, NAME_PERSON, space=space, person_id=person_id, name=name, by=by):
        raise NotFound(kind="person", id=person_id)


async def add_alias(tx: Tx, space: str, person_id: str, alias: str) -> None:
    """Raises NotFound."""
    if not await rows(tx, ADD_ALIAS, space=space, person_id=person_id, alias=alias):
        raise NotFound(kind="person", id=person_id)


def _row(write: VoiceWrite, encoder: EmbeddingSpace) -> dict[str, Any]:
    return {
        "id": write.voice.person_id,
        "centroid": write.voice.centroid.tolist(),
        "added": [{"id": e.id, "vector": e.vector.tolist(), "properties": _properties(e, encoder)} for e in write.added],
    }


def _properties(exemplar: Exemplar, encoder: EmbeddingSpace) -> dict[str, Any]:
    return {
        "message_id": exemplar.message_id,
        "encoder": encoder.name,
        "encoder_version": encoder.version,
        "net_speech": exemplar.net_speech,
        "snr_db": exemplar.snr_db,
        "channel": exemplar.channel,
        "twin_of": exemplar.twin_of,
    }
