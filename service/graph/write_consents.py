"""What may be kept of a voice, and what must go? Consent given and withdrawn, voices enrolled with it, and those whose time
has come; each change with what follows from it in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from graph_schema.schema import VOICE_SPACES
from service.errors import InvalidInput, NotFound
from service.graph.cypher import for_space, holding
from service.graph.driver import Tx, rows
from service.graph.forget_inferred import INFER_PERSONA, forget_inferred_of
from service.graph.forget_sounds import KEEP_AUDIO, forget_sounds_of
from service.graph.opt_outs import forget_opt_outs_of
from service.graph.refusals import list_refused
from service.graph.spaces import bump_revision, lock_space
from service.graph.thin_checkpoints import thin_checkpoints
from service.graph.voice_days import renew_voices, settle_voice_days
from service.graph.write_events import save_erased
from service.graph.write_people import PersonWrite, VoiceWrite, name_person, save_people, save_voices
from service.graph.write_sessions import RevisionMoved
from service.types.audio import EmbeddingSpace
from service.types.events import Erased
from service.types.ids import derived
from service.types.people import Consent, ConsentPurpose

REMEMBER_VOICE, ATTRIBUTE = ConsentPurpose.REMEMBER_VOICE.value, ConsentPurpose.ATTRIBUTE.value
"""Purposes without which no voice of somebody is kept: the first has to be granted (or the space keep voices of who was never
asked), the second not refused."""
REFUSED = (Consent.WITHDRAWN, Consent.OPTED_OUT)
AHEAD = timedelta(minutes=5)
"""A clock may be so far ahead of ours. It was said when it reached us: later, it would hold against what is said meanwhile."""


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
    evidence: str | None = None
    recorded_by: str | None = None


LIST_ONE_VOICE = holding("""
MATCH (named:Person {space: $space, id: $person_id})
RETURN COLLECT {
  MATCH (named) (()-[m:MERGED_INTO]-()){0,12} (p:Person)
  WITH DISTINCT p, all(one IN m WHERE one.confirmed) AS confirmed
  WHERE confirmed OR COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: 'remember_voice'})
                               <holds>
                             } <> ['granted']
  RETURN DISTINCT p.id
} AS ids
""")

FORGET_VOICES = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar) WHERE p.id IN $ids
WITH e, e.id AS id
DETACH DELETE e
RETURN id ORDER BY id
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
              c.text_version = $text_version, c.channel = $channel, c.at = $at, c.evidence = $evidence,
              c.recorded_by = $recorded_by
MERGE (p)-[:GAVE]->(c)
RETURN p.id AS id
"""

FIND_STATE = holding("""
UNWIND COLLECT {
  MATCH (:Person {space: $space, id: $person_id})-[:GAVE]->(c:Consent) WHERE c.purpose = $purpose <holds>
} AS state
RETURN state
""")

FIND_SAID_AT = """
MATCH (:Person {space: $space, id: $person_id})-[:GAVE]->(c:Consent) WHERE c.purpose = $purpose AND c.at = $at
RETURN c.id AS id, c.state AS state ORDER BY c.created_at DESC, c.state <> 'granted' DESC LIMIT 1
"""


async def save_consent(
    tx: Tx,
    space: str,
    person_id: str,
    state: Consent,
    *,
    text_version: str,
    channel: str,
    at: datetime | None = None,
    purpose: str = REMEMBER_VOICE,
    evidence: str | None = None,
    recorded_by: str | None = None,
) -> str:
    """Id of the consent record; what the person said last to this purpose, by `at` (now unless told), is obeyed in this
    transaction, and that may be another than `state`: find_state tells. `withdrawn` and `opted_out` take exemplars and
    voiceprints away, also of whoever is one with them, and what open sessions keep of the voice; `granted` keeps the exemplars
    there are, as long as the space keeps any. Of INFER_PERSONA they take away what was inferred, of KEEP_AUDIO every sound. Of
    what was said at one time, often a day, what was recorded last is the last. Raises NotFound, InvalidInput (a time to
    come)."""
    await lock_space(tx, space)
    at = _said_at(at, datetime.now(UTC))
    consent_id = await _consent_id(tx, space, person_id, state, purpose, at)
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
        evidence=evidence,
        recorded_by=recorded_by,
    )
    if not saved:
        raise NotFound(kind="person", id=person_id)
    now = await find_state(tx, space, person_id, purpose)
    if purpose in (REMEMBER_VOICE, ATTRIBUTE):
        await _obey(tx, space, person_id, purpose, now, consent_id)
    elif purpose == INFER_PERSONA and now in REFUSED:
        await forget_inferred_of(tx, space, [person_id])
        await save_erased(tx, space, Erased.INFERRED, people=[person_id], occasion=f"inferred {consent_id}")
    elif purpose == KEEP_AUDIO and now in REFUSED:
        gone = await forget_sounds_of(tx, space, [person_id])
        await save_erased(tx, space, Erased.SOUNDS, people=[person_id], erased=gone, occasion=f"sounds {consent_id}")
    return consent_id


def _said_at(at: datetime | None, now: datetime) -> datetime:
    """In UTC: Neo4j takes two times in differently written zones for different ones."""
    said = (at or now).astimezone(UTC)
    if said > now + AHEAD:
        raise InvalidInput(what="when they said it", given=said.isoformat(), needed="a time that has come")
    return min(said, now)


async def _consent_id(tx: Tx, space: str, person_id: str, state: Consent, purpose: str, at: datetime) -> str:
    """The same for the same said again; another where something else was said at that time meanwhile."""
    before = await rows(tx, FIND_SAID_AT, space=space, person_id=person_id, purpose=purpose, at=at)
    if before and before[0]["state"] == state.value:
        return str(before[0]["id"])
    after = [before[0]["id"]] if before else []
    return derived("consent", space, person_id, purpose, state.value, at.isoformat(), *after)


async def find_state(tx: Tx, space: str, person_id: str, purpose: str) -> Consent:
    """What the person said last, by when they said it."""
    found = await rows(tx, FIND_STATE, space=space, person_id=person_id, purpose=purpose)
    return Consent(found[0]["state"]) if found else Consent.UNKNOWN


async def list_one_voice(tx: Tx, space: str, person_id: str) -> list[str]:
    """Ids of the person and of everybody whose voice goes with theirs: joined by confirmed merges, or by any to somebody who
    never agreed to be known."""
    found = await rows(tx, LIST_ONE_VOICE, space=space, person_id=person_id)
    return sorted(found[0]["ids"]) if found else []


async def _obey(tx: Tx, space: str, person_id: str, purpose: str, now: Consent, consent_id: str) -> None:
    if now in REFUSED:
        gone = await _forget_voice_of(tx, space, person_id)
        await save_erased(tx, space, Erased.VOICES, people=[person_id], erased=len(gone), occasion=f"voices {consent_id}")
    elif now is Consent.GRANTED:
        if purpose == REMEMBER_VOICE:
            await tx.run(KEEP_EXEMPLARS, space=space, person_id=person_id)
            await settle_voice_days(tx, space, [person_id])
        others = [await find_state(tx, space, person_id, one) for one in (REMEMBER_VOICE, ATTRIBUTE)]
        if not any(state in REFUSED for state in others):
            await forget_opt_outs_of(tx, space, person_id)
    else:
        return
    await tx.run(TOUCH_PEOPLE, space=space, ids=[person_id], revision=await bump_revision(tx, space))


async def _forget_voice_of(tx: Tx, space: str, person_id: str) -> list[str]:
    ids = await list_one_voice(tx, space, person_id)
    gone = [str(row["id"]) for row in await rows(tx, FORGET_VOICES, space=space, ids=ids)]
    await forget_voiceprints(tx, space, ids)
    await thin_checkpoints(tx, space, ids)
    return gone


async def obey_unknown(tx: Tx, space: str, people: Sequence[str], occasion: str) -> list[str]:
    """Of `people`, who are one from now on, no voice stays that goes with that of one who refused to be known; ids of the
    exemplars that went. The caller holds the lock and touches `people`; the channel means are to be made again."""
    lost: list[str] = []
    for one in await list_refused(tx, space, people, (REMEMBER_VOICE, ATTRIBUTE)):
        if gone := await _forget_voice_of(tx, space, one):
            await save_erased(tx, space, Erased.VOICES, people=[one], erased=len(gone), occasion=f"voices {occasion} {one}")
        lost += gone
    return lost


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
    """Write all of it; None when done. Nothing is written when people changed since `read_revision`. Raises InvalidInput when
    they refused later than they are said to have agreed."""
    space, person_id = enrolment.space, enrolment.person.id
    settings = await lock_space(tx, space)
    if settings.identity_revision != enrolment.read_revision:
        return RevisionMoved(settings.identity_revision)
    await save_people(tx, space, [enrolment.person], await bump_revision(tx, space))
    await name_person(tx, space, person_id, enrolment.name, by=person_id)
    agreed = {name: getattr(enrolment, name) for name in ("text_version", "channel", "at", "evidence", "recorded_by")}
    await save_consent(tx, space, person_id, Consent.GRANTED, **agreed)
    if await find_state(tx, space, person_id, ATTRIBUTE) in REFUSED:  # who lets their voice be known lets it be told, too
        await save_consent(tx, space, person_id, Consent.GRANTED, **agreed, purpose=ATTRIBUTE)
    if any([await find_state(tx, space, person_id, one) in REFUSED for one in (REMEMBER_VOICE, ATTRIBUTE)]):
        raise InvalidInput(what="when they agreed", given=enrolment.at.isoformat(), needed="a time after they refused")
    await save_voices(tx, space, enrolment.voice.voice.space, [enrolment.voice])
    await renew_voices(tx, space, [person_id])
    return None
