"""Which voices are known? Reads for the router and for asking by voice: vectors, no names, nothing that was said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from service.errors import NotFound
from service.graph.cypher import for_space, holding
from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.types.audio import EmbeddingSpace, Samples
from service.types.people import Consent, Exemplar, PersonVoice

BEAM = 100
"""Candidates asked of the vector index: its LIMIT is the search beam, and 100 finds the best one in 100 % of queries,
1 in 65 %."""

REFUSALS = frozenset({Consent.WITHDRAWN.value, Consent.OPTED_OUT.value})

LIST_VOICES = holding("""
CALL () {
  MATCH (changed:Person WHERE changed.space = $space AND changed.revision > $since) RETURN changed AS met
  UNION
  MATCH (named:Person WHERE named.id IN $ids AND named.space = $space) RETURN named AS met
}
MATCH (met) (()-[:MERGED_INTO]-()){0,} (p:Person)
WITH DISTINCT p
RETURN p.id AS id, p.voiceprint__<space> AS centroid, p.num_turns AS num_turns, p.net_speech AS net_speech,
       coalesce(p.tombstone, false) AS erased,
       COLLECT { MATCH (p)-[:MERGED_INTO]->+(root:Person) WHERE NOT EXISTS { (root)-[:MERGED_INTO]->(:Person) }
                 RETURN root.id LIMIT 1 } AS same_as,
       COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: 'remember_voice'})
                 <holds> } AS consent,
       COLLECT { MATCH (p)-[:MERGED_INTO]-+(member:Person)
                 WITH DISTINCT member WHERE member <> p
                 RETURN COLLECT { MATCH (member)-[:GAVE]->(c:Consent {purpose: 'remember_voice'})
                                  <holds>
                                }[0] } AS consents_of_set,
       COLLECT { MATCH (p)-[:HAS_EXEMPLAR]->(e:Exemplar {encoder: $encoder, encoder_version: $version})
                 WHERE e.expires_at IS NULL OR e.expires_at > datetime()
                 RETURN e {.id, .net_speech, .snr_db, .channel, .message_id, .twin_of, vector: e.vector__<space>}
                 ORDER BY e.id } AS exemplars
ORDER BY id
""")

GET_REVISION = """
MATCH (s:Space {id: $space})
RETURN s.identity_revision AS revision
"""

GET_FORGOTTEN = """
MATCH (s:Space {id: $space})
RETURN coalesce(s.forgotten_revision, 0) AS revision
"""

NEVER = 2**62
"""A revision after which nobody changed: reads only whom `ids` name."""

LIST_VOICED = """
MATCH (p:Person {space: $space})
WHERE p.voiceprint__<space> IS NOT NULL
RETURN p.id AS id ORDER BY id
"""

COUNT_VOICES = """
MATCH (p:Person {space: $space})
WHERE p.voiceprint__<space> IS NOT NULL
OPTIONAL MATCH (p)-[:MERGED_INTO]->+(root:Person) WHERE NOT EXISTS { (root)-[:MERGED_INTO]->(:Person) }
RETURN count(DISTINCT coalesce(root, p)) AS count
"""

NEAREST_VOICES = """
CYPHER 25
UNWIND $vectors AS vector
CALL (vector) {
  MATCH (p:Person)
  SEARCH p IN (VECTOR INDEX person_voiceprint__<space> FOR vector WHERE p.space = $space LIMIT 100)
  RETURN p.id AS id
}
RETURN DISTINCT id
"""


async def list_voices(tx: Tx, space: str, encoder: EmbeddingSpace) -> dict[str, PersonVoice]:
    """Everybody with a live voice in exactly this embedding space, by person id."""
    changed = await changed_voices(tx, space, encoder, since=-1)
    return {person: voice for person, voice in changed.items() if voice is not None}


async def changed_voices(
    tx: Tx, space: str, encoder: EmbeddingSpace, *, since: int, ids: Iterable[str] = ()
) -> dict[str, PersonVoice | None]:
    """People whose voice changed after revision `since` or named in `ids`, all with everybody merged with them; None for who
    has no live voice (any more). Whole up to the settled_revision that was asked before."""
    found = await rows(
        tx,
        for_space(LIST_VOICES, encoder.name),
        space=space,
        since=since,
        ids=sorted(ids),
        encoder=encoder.name,
        version=encoder.version,
    )
    return {voice["id"]: _voice(voice, encoder) for voice in found}


async def get_revision(tx: Tx, space: str) -> int:
    """The identity_revision, of which not everything may be there to read yet (see settled_revision). Raises NotFound for a
    space that nobody made."""
    found = await rows(tx, GET_REVISION, space=space)
    if not found:
        raise NotFound(kind="space", id=space)
    return int(found[0]["revision"])


async def settled_revision(tx: Tx, space: str) -> int:
    """The identity_revision up to which every change can be read, in a write transaction: it waits for whoever writes just now.

    Neo4j lets others see what a commit wrote piece by piece, the new revision before the index has the people of it: read
    without waiting, the revision once in some thousand times tells of people that are not found yet, and what is decided
    without them would be written as if it had known them. Raises NotFound for a space that nobody made."""
    return (await lock_space(tx, space)).identity_revision


async def get_forgotten(tx: Tx, space: str) -> int:
    """The identity_revision at which a person was last deleted, whom no later read of what changed can tell; 0: never. To be
    read after what changed, so that a deletion in between is seen."""
    found = await rows(tx, GET_FORGOTTEN, space=space)
    return int(found[0]["revision"]) if found else 0


async def list_voiced(tx: Tx, space: str, encoder: EmbeddingSpace) -> list[str]:
    """Ids of everybody with a voiceprint of this encoder, of any version of it."""
    return [row["id"] for row in await rows(tx, for_space(LIST_VOICED, encoder.name), space=space)]


async def count_voices(tx: Tx, space: str, encoder: EmbeddingSpace) -> int:
    """People with a voiceprint of this encoder, of any version of it; all merged into one are counted once, also where only a
    fragment has a voice."""
    (row,) = await rows(tx, for_space(COUNT_VOICES, encoder.name), space=space)
    return int(row["count"])


async def nearest_voices(tx: Tx, space: str, encoder: EmbeddingSpace, vectors: Sequence[Samples]) -> set[str]:
    """Ids of the BEAM people nearest to each of `vectors`, by the index: candidates, to be scored exactly."""
    if not vectors:
        return set()
    found = await rows(tx, for_space(NEAREST_VOICES, encoder.name), space=space, vectors=[v.tolist() for v in vectors])
    return {row["id"] for row in found}


def _voice(row: dict[str, Any], encoder: EmbeddingSpace) -> PersonVoice | None:
    """A voice lives by its exemplars: none of this version, or a centroid taken away, is no voice."""
    if row["erased"] or row["centroid"] is None or not row["exemplars"]:
        return None
    return PersonVoice(
        person_id=row["id"],
        space=encoder,
        centroid=_vector(row["centroid"]),
        exemplars=tuple(Exemplar(**{**e, "vector": _vector(e["vector"])}) for e in row["exemplars"]),
        num_turns=row["num_turns"] or 0,
        net_speech=row["net_speech"] or 0.0,
        consent=consent_of(row["consent"], row["consents_of_set"]),
        same_as=row["same_as"][0] if row["same_as"] else None,
    )


def consent_of(own: list[str], of_set: list[str | None]) -> Consent:
    """The person's own; a refusal of anybody they are merged with is one of this voice, whose own may be gone."""
    refused = sorted(REFUSALS.intersection(of_set))
    return Consent(refused[0]) if refused else Consent(own[0]) if own else Consent.UNKNOWN


def _vector(numbers: list[float]) -> Samples:
    return np.asarray(numbers, dtype=np.float32)
