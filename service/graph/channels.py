"""What have all voices of one channel in common? Mean embeddings, made from the live exemplars and kept with a version."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graph_schema.schema import VOICE_SPACES
from service.graph.cypher import for_space
from service.graph.driver import Tx, rows
from service.graph.spaces import bump_revision
from service.types.audio import EmbeddingSpace
from service.types.ids import derived
from service.types.people import ChannelMean, Exemplar

SAME = 1e-6
"""Largest difference of two means that are one: they are made of float32 numbers in the same order, or have changed."""

LIST_CHANNELS = """
MATCH (c:Channel {space: $space, encoder: $encoder, encoder_version: $version})
RETURN c.tag AS channel, c.mean AS vector, c.num_utterances AS num_utterances, c.num_people AS num_people,
       c.version AS version
ORDER BY channel
"""

LIST_LIVE_EXEMPLARS = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar {encoder: $encoder, encoder_version: $version})
WHERE e.twin_of IS NULL AND (e.expires_at IS NULL OR e.expires_at > datetime())
WITH p.id AS person_id, e.channel AS channel, collect(e) AS exemplars
ORDER BY person_id
WITH channel, collect({person_id: person_id, exemplars: exemplars})[..$people] AS heard
UNWIND heard AS person
UNWIND person.exemplars AS e
RETURN person.person_id AS person_id,
       e {.id, .net_speech, .snr_db, .channel, .message_id, vector: e.vector__<space>} AS exemplar
ORDER BY person_id, exemplar.id
"""

LIST_CHANNEL_SPACES = """
MATCH (c:Channel {space: $space})
RETURN DISTINCT c.encoder AS name, c.encoder_version AS version
ORDER BY name, version
"""

SAVE_CHANNELS = """
UNWIND $channels AS row
MERGE (c:Channel {space: $space, tag: row.tag, encoder: $encoder})
ON CREATE SET c.id = row.id, c.created_at = datetime()
SET c.encoder_version = $version, c.mean = row.mean, c.num_utterances = row.num_utterances, c.num_people = row.num_people,
    c.version = coalesce(c.version, 0) + 1
"""

FORGET_CHANNELS = """
MATCH (c:Channel {space: $space, encoder: $encoder})
WHERE NOT c.tag IN $tags
DETACH DELETE c
"""


async def list_channels(tx: Tx, space: str, encoder: EmbeddingSpace) -> dict[str, ChannelMean]:
    """Means of exactly this embedding space, by channel tag."""
    found = await rows(tx, LIST_CHANNELS, space=space, encoder=encoder.name, version=encoder.version)
    return {row["channel"]: ChannelMean(**{**row, "vector": np.asarray(row["vector"], dtype=np.float32)}) for row in found}


async def list_channel_spaces(tx: Tx, space: str) -> list[EmbeddingSpace]:
    """Embedding spaces in which channels of `space` have a mean."""
    found = await rows(tx, LIST_CHANNEL_SPACES, space=space)
    return [EmbeddingSpace(row["name"], row["version"], VOICE_SPACES[row["name"]]) for row in found]


async def list_live_exemplars(tx: Tx, space: str, encoder: EmbeddingSpace, people: int) -> dict[str, list[Exemplar]]:
    """By person id, without telephone twins: what channel means are a function of. Of each channel only the `people` first
    by id."""
    found: dict[str, list[Exemplar]] = {}
    for row in await rows(
        tx,
        for_space(LIST_LIVE_EXEMPLARS, encoder.name),
        space=space,
        encoder=encoder.name,
        version=encoder.version,
        people=people,
    ):
        exemplar = {**row["exemplar"], "vector": np.asarray(row["exemplar"]["vector"], dtype=np.float32)}
        found.setdefault(row["person_id"], []).append(Exemplar(**exemplar))
    return found


async def save_channels(tx: Tx, space: str, encoder: EmbeddingSpace, means: Mapping[str, ChannelMean]) -> int | None:
    """Let the space have exactly these means; the new identity_revision, None when they were these already. `version` is
    counted here, whatever is given. The caller holds the lock of the space."""
    known = await list_channels(tx, space, encoder)
    changed = [mean for tag, mean in sorted(means.items()) if tag not in known or _differs(mean, known[tag])]
    if not changed and known.keys() <= means.keys():
        return None
    await tx.run(FORGET_CHANNELS, space=space, encoder=encoder.name, tags=sorted(means))
    await tx.run(
        SAVE_CHANNELS,
        space=space,
        encoder=encoder.name,
        version=encoder.version,
        channels=[
            {
                "id": derived("channel", space, mean.channel, encoder.name),
                "tag": mean.channel,
                "mean": mean.vector.tolist(),
                "num_utterances": mean.num_utterances,
                "num_people": mean.num_people,
            }
            for mean in changed
        ],
    )
    return await bump_revision(tx, space)


def _differs(one: ChannelMean, other: ChannelMean) -> bool:
    counts = (one.num_utterances, one.num_people) != (other.num_utterances, other.num_people)
    return counts or float(np.abs(one.vector - other.vector).max()) > SAME
