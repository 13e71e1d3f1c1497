"""How do turns change hands? Speakers, exemplars, tracks and counts moved and moved back, by a caller that holds the lock of
the space and knows what consent allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from service.graph.cypher import for_space, holding
from service.graph.driver import Tx, rows
from service.graph.forget_sounds import obey_unheard_turns
from service.graph.merges import list_merges
from service.graph.refusals import list_refused
from service.graph.write_consents import ATTRIBUTE, REFUSED, REMEMBER_VOICE, list_one_voice
from service.types.audio import EmbeddingSpace
from service.types.people import Consent, Exemplar


@dataclass(frozen=True, slots=True)
class TurnHeld:
    """A turn and whose it is."""

    message_id: str
    session_id: str
    status: str
    """of its session"""
    track: str
    speaker_id: str | None
    decision: str | None
    reason: str | None
    net_speech: float
    speaks: Mapping[str, Any] | None
    """Properties of its SPEAKS edge."""
    uttered: Mapping[str, Any]
    """Properties of its UTTERED edge."""


@dataclass(frozen=True, slots=True)
class ExemplarHeld:
    """A piece of voice and whose it is; never its vector."""

    id: str
    message_id: str
    owner: str
    """id of a Person, or of a LocalSpeaker"""
    consent: str
    expires_at: datetime | None
    encoder: str
    encoder_version: str


@dataclass(frozen=True, slots=True)
class ExemplarMove:
    id: str
    owner: str
    """id of a Person, or of a LocalSpeaker"""
    consent: Consent
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class TrackHeld:
    id: str
    person_id: str | None
    properties: Mapping[str, Any] | None
    """of its IS edge"""
    messages: tuple[str, ...]
    speakers: frozenset[str | None]
    """Of its turns; None among them: some are nobody's."""


LIST_TURNS_HELD = """
UNWIND $ids AS wanted
MATCH (m:Message {id: wanted, space: $space})-[:IN_SESSION]->(s:Session)
MATCH (l:LocalSpeaker)-[u:UTTERED]->(m)
OPTIONAL MATCH (p:Person)-[r:SPEAKS]->(m)
RETURN m.id AS message_id, s.id AS session_id, s.status AS status, l.id AS track, p.id AS speaker_id,
       m.decision AS decision, m.reason AS reason, coalesce(m.net_speech, 0.0) AS net_speech,
       properties(r) AS speaks, properties(u) AS uttered
"""

LIST_EXEMPLARS_HELD = """
MATCH (e:Exemplar {space: $space}) WHERE e.message_id IN $messages
MATCH (owner:Person|LocalSpeaker)-[:HAS_EXEMPLAR]->(e)
RETURN e.id AS id, e.message_id AS message_id, owner.id AS owner, e.consent AS consent, e.expires_at AS expires_at,
       e.encoder AS encoder, e.encoder_version AS encoder_version
ORDER BY id
"""

LIST_TRACKS_HELD = """
MATCH (l:LocalSpeaker {space: $space}) WHERE l.id IN $ids
OPTIONAL MATCH (l)-[r:IS]->(p:Person)
RETURN l.id AS id, p.id AS person_id, properties(r) AS properties,
       COLLECT { MATCH (l)-[:UTTERED]->(m:Message) RETURN {id: m.id, speaker: m.speaker_id} ORDER BY m.index } AS turns
ORDER BY id
"""

LIST_TURNS_OF_TRACKS = """
MATCH (l:LocalSpeaker {space: $space})-[:UTTERED]->(m:Message) WHERE l.id IN $tracks
MATCH (p:Person)-[:SPEAKS]->(m) WHERE p.id IN $people
RETURN m.id AS id
ORDER BY id
"""

COUNT_HOLDINGS = """
MATCH (p:Person {space: $space, id: $person_id})
RETURN COUNT { (p)-[:SPEAKS]->(:Message) } AS turns, COUNT { (p)-[:HAS_EXEMPLAR]->(:Exemplar) } AS exemplars
"""

GIVE_TURNS = """
UNWIND $turns AS row
MATCH (p:Person {space: $space, id: row.speaker_id})
MATCH (m:Message {space: $space, id: row.message_id})
OPTIONAL MATCH (:Person)-[old:SPEAKS]->(m)
DELETE old
CREATE (p)-[r:SPEAKS]->(m)
SET r = row.speaks, m.speaker_id = p.id, m.decision = row.decision, m.reason = row.reason
"""

TAKE_TURNS = """
UNWIND $turns AS row
MATCH (m:Message {space: $space, id: row.message_id})
OPTIONAL MATCH (:Person)-[old:SPEAKS]->(m)
DELETE old
SET m.speaker_id = null, m.decision = row.decision, m.reason = row.reason
"""

SAVE_UTTERED = """
UNWIND $turns AS row
MATCH (:LocalSpeaker)-[u:UTTERED]->(:Message {space: $space, id: row.message_id})
SET u = row.uttered
"""

MOVE_EXEMPLARS = """
UNWIND $moves AS row
MATCH (e:Exemplar {space: $space, id: row.id})
MATCH (owner:Person|LocalSpeaker {space: $space, id: row.owner})
MATCH (:Person|LocalSpeaker)-[old:HAS_EXEMPLAR]->(e)
DELETE old
CREATE (owner)-[:HAS_EXEMPLAR]->(e)
SET e.consent = row.consent, e.expires_at = row.expires_at
"""

DELETE_EXEMPLARS = """
MATCH (e:Exemplar {space: $space}) WHERE e.id IN $ids
DETACH DELETE e
"""

LIST_VOICE_CONSENTS = holding("""
MATCH (p:Person {space: $space}) WHERE p.id IN $ids
RETURN p.id AS id, COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: 'remember_voice'})
                             <holds>
                           } AS consent,
       COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: 'attribute'})
                 <holds> } AS attribute
""")

LIST_EXEMPLARS_OF_PEOPLE = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar {encoder: $encoder, encoder_version: $version})
WHERE p.id IN $ids AND (e.expires_at IS NULL OR e.expires_at > datetime())
RETURN p.id AS person_id, e {.id, .net_speech, .snr_db, .channel, .message_id, .twin_of, vector: e.vector__<space>} AS exemplar
ORDER BY person_id, e.id
"""

FORGET_IDENTITIES = """
MATCH (l:LocalSpeaker {space: $space})-[r:IS]->(:Person) WHERE l.id IN $tracks
DELETE r
"""

LIST_COUNTS = """
MATCH (p:Person {space: $space}) WHERE p.id IN $ids
RETURN p.id AS id, coalesce(p.num_turns, 0) AS num_turns, coalesce(p.net_speech, 0.0) AS net_speech
"""

SAVE_SPLIT_PERSON = """
CREATE (p:Person {id: $person_id, space: $space, created_at: datetime(), num_turns: 0, net_speech: 0.0, aliases: []})
SET p.kind = $kind, p.display_name = $name, p.named_by = $named_by
"""

FORGET_BARE_PERSON = """
MATCH (p:Person {space: $space, id: $person_id})
WHERE NOT EXISTS { (p)--() } AND coalesce(p.display_name, '') = $name AND p.aliases = [] AND p.num_turns = 0
DELETE p
RETURN 1 AS gone
"""

NOTE_FORGOTTEN = """
MATCH (s:Space {id: $space})
SET s.forgotten_revision = s.identity_revision
"""


async def list_turns_held(tx: Tx, space: str, ids: Sequence[str]) -> dict[str, TurnHeld]:
    """Those of `ids` there are, by id; whose voice and speaker they are told by the edges."""
    found = await rows(tx, LIST_TURNS_HELD, space=space, ids=list(ids))
    return {row["message_id"]: TurnHeld(**row) for row in found}


async def list_exemplars_held(tx: Tx, space: str, messages: Sequence[str]) -> list[ExemplarHeld]:
    """Taken from these turns, telephone twins too."""
    return [ExemplarHeld(**row) for row in await rows(tx, LIST_EXEMPLARS_HELD, space=space, messages=list(messages))]


async def list_tracks_held(tx: Tx, space: str, ids: Sequence[str]) -> list[TrackHeld]:
    return [
        TrackHeld(
            row["id"],
            row["person_id"],
            row["properties"],
            tuple(turn["id"] for turn in row["turns"]),
            frozenset(turn["speaker"] for turn in row["turns"]),
        )
        for row in await rows(tx, LIST_TRACKS_HELD, space=space, ids=sorted(ids))
    ]


async def list_turns_of_tracks(tx: Tx, space: str, tracks: Sequence[str], people: Sequence[str]) -> list[str]:
    """Ids of the turns of these voices that one of `people` speaks."""
    found = await rows(tx, LIST_TURNS_OF_TRACKS, space=space, tracks=list(tracks), people=list(people))
    return [row["id"] for row in found]


async def count_holdings(tx: Tx, space: str, person_id: str) -> tuple[int, int]:
    """Turns and exemplars of one person."""
    (row,) = await rows(tx, COUNT_HOLDINGS, space=space, person_id=person_id)
    return row["turns"], row["exemplars"]


async def save_turns(tx: Tx, space: str, turns: Sequence[TurnHeld]) -> None:
    """Let each turn be held as it says: with `speaks` by its speaker, without by nobody. Of those who refused that it be kept
    how they sound, what was kept of these turns goes. The caller holds the lock."""
    given = [turn for turn in turns if turn.speaks is not None]
    taken = [turn for turn in turns if turn.speaks is None]
    for query, some in ((GIVE_TURNS, given), (TAKE_TURNS, taken), (SAVE_UTTERED, turns)):
        if some:
            await tx.run(query, space=space, turns=[_turn(turn) for turn in some])
    await obey_unheard_turns(tx, space, [turn.message_id for turn in given])


def _turn(turn: TurnHeld) -> dict[str, Any]:
    names = ("message_id", "speaker_id", "decision", "reason", "speaks", "uttered")
    return {name: getattr(turn, name) for name in names}


async def move_exemplars(tx: Tx, space: str, moves: Sequence[ExemplarMove], gone: Sequence[str]) -> None:
    """Let each exemplar be its new owner's, in the consent state given; delete those in `gone`."""
    if moves:
        await tx.run(MOVE_EXEMPLARS, space=space, moves=[_move(move) for move in moves])
    if gone:
        await tx.run(DELETE_EXEMPLARS, space=space, ids=list(gone))


def _move(move: ExemplarMove) -> dict[str, Any]:
    return {"id": move.id, "owner": move.owner, "consent": move.consent.value, "expires_at": move.expires_at}


async def list_voice_consents(tx: Tx, space: str, ids: Sequence[str]) -> dict[str, Consent]:
    """State of the consent to keep the voice, of each of `ids` there is; of who refused that turns be told by it, that; and
    `withdrawn` of those whose voice goes with that of another who refused."""
    found = await rows(tx, LIST_VOICE_CONSENTS, space=space, ids=list(ids))
    states = {row["id"]: [Consent(state) for state in (*row["attribute"], *row["consent"])] for row in found}
    told = {
        row["id"]: next((s for s in states[row["id"]] if s in REFUSED), Consent((*row["consent"], Consent.UNKNOWN)[0]))
        for row in found
    }
    sets = await list_merges(tx, space, ids)
    same = sorted(frozenset[str]().union(*(sets.members(id) for id in ids)))
    for one in await list_refused(tx, space, same, (REMEMBER_VOICE, ATTRIBUTE)):
        along = [id for id in await list_one_voice(tx, space, one) if id in told and told[id] not in REFUSED]
        told |= dict.fromkeys(along, Consent.WITHDRAWN)
    return told


async def list_exemplars_of_people(
    tx: Tx, space: str, encoder: EmbeddingSpace, ids: Sequence[str]
) -> dict[str, tuple[Exemplar, ...]]:
    """Live exemplars with their vectors, by person; people without any are left out."""
    found: dict[str, tuple[Exemplar, ...]] = {}
    query = for_space(LIST_EXEMPLARS_OF_PEOPLE, encoder.name)
    for row in await rows(tx, query, space=space, ids=list(ids), encoder=encoder.name, version=encoder.version):
        vector = np.asarray(row["exemplar"]["vector"], dtype=np.float32)
        exemplar = Exemplar(**{**row["exemplar"], "vector": vector})
        found[row["person_id"]] = (*found.get(row["person_id"], ()), exemplar)
    return found


async def forget_identities(tx: Tx, space: str, tracks: Sequence[str]) -> None:
    """These voices of sessions are nobody's in particular."""
    await tx.run(FORGET_IDENTITIES, space=space, tracks=list(tracks))


async def list_counts(tx: Tx, space: str, ids: Sequence[str]) -> dict[str, tuple[int, float]]:
    """Turns and seconds of net speech counted of each person."""
    found = await rows(tx, LIST_COUNTS, space=space, ids=list(ids))
    return {row["id"]: (row["num_turns"], row["net_speech"]) for row in found}


async def save_split_person(tx: Tx, space: str, person_id: str, *, name: str | None, actor: str) -> None:
    await tx.run(
        SAVE_SPLIT_PERSON,
        space=space,
        person_id=person_id,
        kind="named" if name else "anonymous",
        name=name,
        named_by=actor if name else None,
    )


async def forget_bare_person(tx: Tx, space: str, person_id: str, *, name: str | None) -> bool:
    """Delete a person that nothing is known of any more but the `name` they were made with; whether that was so. The caller
    has made this transaction's identity_revision."""
    gone = bool(await rows(tx, FORGET_BARE_PERSON, space=space, person_id=person_id, name=name or ""))
    if gone:
        await tx.run(NOTE_FORGOTTEN, space=space)
    return gone
