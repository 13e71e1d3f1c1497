"""How are people written: their voices, consents and names?

A voice is written only where its consent state allows it, and that is asked by the statement that writes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from graph_schema.schema import VOICE_SPACES
from service.errors import NotFound
from service.graph.cypher import for_space
from service.graph.driver import Tx, rows
from service.graph.spaces import bump_revision, lock_space
from service.types.audio import EmbeddingSpace
from service.types.ids import derived
from service.types.people import Consent, Exemplar, PersonVoice

REMEMBER_VOICE = "remember_voice"
"""Consent.purpose that this module asks for and writes."""


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

SAVE_VOICES = """
MATCH (s:Space {id: $space})
UNWIND $people AS row
MATCH (p:Person {id: row.id, space: $space})
WHERE coalesce(p.tombstone, false) = false
WITH s, p, row, coalesce(COLLECT {
       MATCH (p)-[:GAVE]->(c:Consent {purpose: 'remember_voice'}) RETURN c.state ORDER BY c.at DESC LIMIT 1
     }[0], 'unknown') AS consent
WHERE consent = 'granted' OR (consent = 'unknown' AND s.anonymous_voices <> 'ephemeral')
SET p.voiceprint__<space> = row.centroid
WITH p, row, consent, CASE WHEN consent = 'unknown' AND s.anonymous_voices = 'expire'
                           THEN datetime() + duration({days: s.anonymous_days}) END AS expires_at
FOREACH (exemplar IN row.added |
  MERGE (e:Exemplar {id: exemplar.id})
  ON CREATE SET e.space = $space, e.created_at = datetime()
  SET e += exemplar.properties, e.vector__<space> = exemplar.vector, e.consent = consent, e.expires_at = expires_at
  MERGE (p)-[:HAS_EXEMPLAR]->(e)
)
RETURN p.id AS id
"""

FORGET_EXEMPLARS = """
UNWIND $ids AS id
MATCH (:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar {id: id})
DETACH DELETE e
"""

FORGET_VOICE = """
MATCH (p:Person {space: $space, id: $person_id})-[:HAS_EXEMPLAR]->(e:Exemplar)
DETACH DELETE e
"""

FORGET_VOICEPRINT = """
MATCH (p:Person {space: $space})
WHERE p.id IN $ids AND NOT EXISTS { (p)-[:HAS_EXEMPLAR]->(:Exemplar {encoder: $encoder}) }
REMOVE p.voiceprint__<space>
"""

FORGET_EXPIRED_EXEMPLARS = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar)
WHERE e.expires_at <= $now
DETACH DELETE e
RETURN DISTINCT p.id AS id
"""

TOUCH_PEOPLE = """
MATCH (p:Person {space: $space})
WHERE p.id IN $ids
SET p.revision = $revision
"""

KEEP_EXEMPLARS = """
MATCH (p:Person {space: $space, id: $person_id})-[:HAS_EXEMPLAR]->(e:Exemplar)
SET e.consent = 'granted'
REMOVE e.expires_at
"""

SAVE_NAMED_PERSON = """
MERGE (p:Person {id: $person_id})
ON CREATE SET p.space = $space, p.created_at = datetime(), p.num_turns = 0, p.net_speech = 0.0, p.aliases = []
WITH p WHERE p.space = $space
SET p.display_name = $name, p.kind = $kind, p.revision = $revision
"""

SAVE_CONSENT = """
MATCH (p:Person {space: $space, id: $person_id})
WHERE coalesce(p.tombstone, false) = false
MERGE (c:Consent {id: $consent_id})
ON CREATE SET c.space = $space, c.created_at = datetime(), c.purpose = $purpose, c.state = $state,
              c.text_version = $text_version, c.channel = $channel, c.at = $at
MERGE (p)-[:GAVE]->(c)
RETURN p.id AS id
"""

RENAME_PERSON = """
MATCH (p:Person {space: $space, id: $person_id})
WHERE coalesce(p.tombstone, false) = false
SET p.aliases = [alias IN coalesce(p.aliases, []) + coalesce(p.display_name, []) WHERE alias <> $name],
    p.display_name = $name, p.kind = CASE p.kind WHEN 'bot' THEN 'bot' ELSE 'named' END
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
    saved = await rows(tx, for_space(SAVE_VOICES, encoder.name), space=space, people=[_row(v, encoder) for v in voices])
    return frozenset(row["id"] for row in saved)


async def save_person(tx: Tx, space: str, person_id: str, name: str, *, kind: str = "named") -> None:
    """A named person (or bot), with or without a voice."""
    await lock_space(tx, space)
    await tx.run(
        SAVE_NAMED_PERSON, space=space, person_id=person_id, name=name, kind=kind, revision=await bump_revision(tx, space)
    )


async def save_consent(
    tx: Tx,
    space: str,
    person_id: str,
    state: Consent,
    *,
    text_version: str,
    channel: str,
    at: datetime,
    purpose: str = REMEMBER_VOICE,
) -> str:
    """Id of the consent record. `withdrawn` and `opted_out` take exemplars and voiceprints away in this transaction;
    `granted` lifts the expiry of those there are. Raises NotFound."""
    await lock_space(tx, space)
    consent_id = derived("consent", space, person_id, purpose, state.value, at.astimezone(UTC).isoformat())
    saved = await rows(
        tx,
        SAVE_CONSENT,
        space=space,
        person_id=person_id,
        consent_id=consent_id,
        purpose=purpose,
        state=state.value,
        text_version=text_version,
        channel=channel,
        at=at,
    )
    if not saved:
        raise NotFound(kind="person", id=person_id)
    if purpose == REMEMBER_VOICE:
        await _obey(tx, space, person_id, state)
    return consent_id


async def _obey(tx: Tx, space: str, person_id: str, state: Consent) -> None:
    match state:
        case Consent.WITHDRAWN | Consent.OPTED_OUT:
            await tx.run(FORGET_VOICE, space=space, person_id=person_id)
            await _forget_voiceprints(tx, space, [person_id])
        case Consent.GRANTED:
            await tx.run(KEEP_EXEMPLARS, space=space, person_id=person_id)
        case Consent.UNKNOWN:
            return
    await tx.run(TOUCH_PEOPLE, space=space, ids=[person_id], revision=await bump_revision(tx, space))


async def forget_expired_exemplars(tx: Tx, space: str, now: datetime) -> list[str]:
    """Delete what had to be gone by `now`; ids of the people it was of. Who has none left loses the voiceprint; the others'
    centroids are to be made again by the caller, in this transaction."""
    await lock_space(tx, space)
    ids = sorted(row["id"] for row in await rows(tx, FORGET_EXPIRED_EXEMPLARS, space=space, now=now))
    if ids:
        await _forget_voiceprints(tx, space, ids)
        await tx.run(TOUCH_PEOPLE, space=space, ids=ids, revision=await bump_revision(tx, space))
    return ids


async def _forget_voiceprints(tx: Tx, space: str, ids: Sequence[str]) -> None:
    for encoder in VOICE_SPACES:
        await tx.run(for_space(FORGET_VOICEPRINT, encoder), space=space, ids=ids, encoder=encoder)


async def rename_person(tx: Tx, space: str, person_id: str, name: str) -> None:
    """The old name stays as an alias. Raises NotFound."""
    if not await rows(tx, RENAME_PERSON, space=space, person_id=person_id, name=name):
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
    }
