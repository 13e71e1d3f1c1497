"""What may be kept of a voice, and what must go? Consent given and withdrawn, voices enrolled with it, and those whose time
has come; each change with what follows from it in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from graph_schema.schema import VOICE_SPACES
from service.errors import NotFound
from service.graph.cypher import for_space
from service.graph.driver import Tx, changes, rows
from service.graph.forget_inferred import INFER_PERSONA, forget_inferred_of
from service.graph.forget_sounds import KEEP_AUDIO, forget_sounds_of
from service.graph.spaces import bump_revision, lock_space
from service.graph.write_events import save_erased
from service.graph.write_people import PersonWrite, VoiceWrite, name_person, save_people, save_voices
from service.graph.write_sessions import RevisionMoved
from service.types.audio import EmbeddingSpace
from service.types.events import Erased
from service.types.ids import derived
from service.types.people import Consent

REMEMBER_VOICE = "remember_voice"
"""Consent.purpose that this module asks for and writes."""


@dataclass(frozen=True, slots=True)
class Enrolment:
    """A person's name, consent and voice, to be written together."""

    space: str
    read_revision: int
    name: str
    person: PersonWrite
    voice: VoiceWrite
    text_version: str
    channel: str
    at: datetime


FORGET_VOICE = """
MATCH (p:Person {space: $space, id: $person_id})-[:HAS_EXEMPLAR]->(e:Exemplar)
DETACH DELETE e
"""

FORGET_VOICEPRINT = """
MATCH (p:Person {space: $space})
WHERE p.id IN $ids AND NOT EXISTS { (p)-[:HAS_EXEMPLAR]->(:Exemplar {encoder: $encoder}) }
REMOVE p.voiceprint__<space>
"""

FIND_EXPIRED_EXEMPLAR = """
MATCH (e:Exemplar)
WHERE e.expires_at <= $now AND e.space = $space
RETURN e.id AS id LIMIT 1
"""

FORGET_EXPIRED_EXEMPLARS = """
MATCH (owner:Person|LocalSpeaker)-[:HAS_EXEMPLAR]->(e:Exemplar)
WHERE e.expires_at <= $now AND e.space = $space
WITH e, CASE WHEN owner:Person THEN owner.id END AS id
DETACH DELETE e
RETURN collect(DISTINCT id) AS ids, count(*) AS gone
"""

LIST_ENCODERS = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar)
WHERE p.id IN $ids
RETURN DISTINCT e.encoder AS name, e.encoder_version AS version
ORDER BY name, version
"""

TOUCH_PEOPLE = """
MATCH (named:Person WHERE named.id IN $ids AND named.space = $space) (()-[:MERGED_INTO]-()){0,} (p:Person)
SET p.revision = $revision
"""

KEEP_EXEMPLARS = """
MATCH (p:Person {space: $space, id: $person_id})-[:HAS_EXEMPLAR]->(e:Exemplar)
SET e.consent = 'granted'
REMOVE e.expires_at
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
    `granted` lifts the expiry of those there are. Of INFER_PERSONA they take away what was inferred, of KEEP_AUDIO every sound.
    Raises NotFound."""
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
        await _obey(tx, space, person_id, state, consent_id)
    elif purpose == INFER_PERSONA and state in (Consent.WITHDRAWN, Consent.OPTED_OUT):
        await forget_inferred_of(tx, space, [person_id])
        await save_erased(tx, space, Erased.INFERRED, people=[person_id], occasion=f"inferred {consent_id}")
    elif purpose == KEEP_AUDIO and state in (Consent.WITHDRAWN, Consent.OPTED_OUT):
        gone = await forget_sounds_of(tx, space, [person_id])
        await save_erased(tx, space, Erased.SOUNDS, people=[person_id], erased=gone, occasion=f"sounds {consent_id}")
    return consent_id


async def _obey(tx: Tx, space: str, person_id: str, state: Consent, consent_id: str) -> None:
    match state:
        case Consent.WITHDRAWN | Consent.OPTED_OUT:
            gone = (await changes(tx, FORGET_VOICE, space=space, person_id=person_id)).nodes_deleted
            await forget_voiceprints(tx, space, [person_id])
            await save_erased(tx, space, Erased.VOICES, people=[person_id], erased=gone, occasion=f"voices {consent_id}")
        case Consent.GRANTED:
            await tx.run(KEEP_EXEMPLARS, space=space, person_id=person_id)
        case Consent.UNKNOWN:
            return
    await tx.run(TOUCH_PEOPLE, space=space, ids=[person_id], revision=await bump_revision(tx, space))


async def forget_expired_exemplars(tx: Tx, space: str, now: datetime) -> list[str]:
    """Delete what had to be gone by `now`, if any, of people and of voices that are nobody's; ids of the people. Who has none
    left loses the voiceprint; the centroids of the others are to be made again by the caller, in this transaction."""
    if not await rows(tx, FIND_EXPIRED_EXEMPLAR, space=space, now=now):
        return []
    await lock_space(tx, space)
    (expired,) = await rows(tx, FORGET_EXPIRED_EXEMPLARS, space=space, now=now)
    ids = sorted(expired["ids"])
    await save_erased(
        tx, space, Erased.VOICES, people=ids, erased=expired["gone"], occasion=f"voices {now.astimezone(UTC).isoformat()}"
    )
    if ids:
        await forget_voiceprints(tx, space, ids)
        await tx.run(TOUCH_PEOPLE, space=space, ids=ids, revision=await bump_revision(tx, space))
    return ids


async def list_encoders(tx: Tx, space: str, ids: Sequence[str]) -> list[EmbeddingSpace]:
    """Embedding spaces in which the people `ids` have exemplars."""
    found = await rows(tx, LIST_ENCODERS, space=space, ids=ids)
    return [EmbeddingSpace(row["name"], row["version"], VOICE_SPACES[row["name"]]) for row in found]


async def forget_voiceprints(tx: Tx, space: str, ids: Sequence[str]) -> None:
    """Take away the centroids of those of `ids` that no exemplar is left of."""
    for encoder in VOICE_SPACES:
        await tx.run(for_space(FORGET_VOICEPRINT, encoder), space=space, ids=ids, encoder=encoder)


async def save_enrolment(tx: Tx, enrolment: Enrolment) -> RevisionMoved | None:
    """Write all of it; None when done. Nothing is written when people changed since `read_revision`."""
    space, person_id = enrolment.space, enrolment.person.id
    settings = await lock_space(tx, space)
    if settings.identity_revision != enrolment.read_revision:
        return RevisionMoved(settings.identity_revision)
    await save_people(tx, space, [enrolment.person], await bump_revision(tx, space))
    await name_person(tx, space, person_id, enrolment.name, by=person_id)
    await save_consent(
        tx, space, person_id, Consent.GRANTED, text_version=enrolment.text_version, channel=enrolment.channel, at=enrolment.at
    )
    await save_voices(tx, space, enrolment.voice.voice.space, [enrolment.voice])
    return None
