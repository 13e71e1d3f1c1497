"""Is a space whole? What hangs in the air in its graph, and voiceprints that are not what their pieces of voice make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_schema.schema import VOICE_SPACES
from service.graph.driver import Graph, Tx
from service.graph.loose_ends import LOOKS, SHOWN, list_loose_ends
from service.graph.spaces import get_space
from service.graph.voices import changed_voices, list_voiced
from service.graph.write_consents import list_encoders
from service.identity.policies import recomputed
from service.types.audio import EmbeddingSpace
from service.types.people import PersonVoice, SpaceSettings

SAME = 1e-5
"""Largest difference of a number of two voiceprints that are one: sums of float32 in another order."""
BATCH = 200
"""People whose voices are compared at once; each has some thirty vectors."""
PATIENCE = 600.0
"""Seconds for one read: of a million messages, each with its session, some ten."""
NEVER = 2**62
"""A revision after which nothing has changed: who is read is named."""
HARMLESS = "people of one turn or none"


@dataclass(frozen=True, slots=True)
class LooseEnd:
    what: str
    count: int
    ids: tuple[str, ...]
    """Of the first of them."""
    is_fault: bool
    """False: worth a look, and nothing is broken."""


async def audit(graph: Graph, space: str) -> tuple[LooseEnd, ...]:
    """What there is of each; nothing is changed. Walks through the whole space in many reads: what is written meanwhile may be
    seen half. Raises NotFound."""
    patient = graph.patient(PATIENCE)
    settings = await patient.read(get_space, space)
    found = {what: await patient.read(list_loose_ends, space, what) for what in LOOKS}
    stale: set[str] = set()
    for name, dimension in VOICE_SPACES.items():
        voiced = await patient.read(list_voiced, space, EmbeddingSpace(name, "", dimension))
        for start in range(0, len(voiced), BATCH):
            stale |= await patient.read(_stale, settings, name, voiced[start : start + BATCH])
    found["voiceprints that are out of date"] = (len(stale), tuple(sorted(stale))[:SHOWN])
    return tuple(LooseEnd(what, count, ids, count > 0 and what != HARMLESS) for what, (count, ids) in found.items())


async def _stale(tx: Tx, settings: SpaceSettings, name: str, ids: Sequence[str]) -> set[str]:
    """Those of `ids` whose voiceprint is another than their live pieces of voice make, by the space's policy, or who have one
    without any; of `gated`, whose centers keep a trace of turns without a piece, only the latter."""
    stale = set(ids)
    for encoder in await list_encoders(tx, settings.id, ids):
        if encoder.name != name:
            continue
        voices = await changed_voices(tx, settings.id, encoder, since=NEVER, ids=ids)
        stale -= {person for person, voice in voices.items() if voice is not None and _is_whole(voice, settings.routing)}
    return stale


def _is_whole(voice: PersonVoice, routing: str) -> bool:
    return routing == "gated" or bool(np.abs(voice.centroid - recomputed(voice, routing).centroid).max() <= SAME)
