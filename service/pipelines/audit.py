"""Is a space whole? What hangs in the air in its graph, and voiceprints that are not what their pieces of voice make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_schema.schema import VOICE_SPACES
from service.graph.driver import Graph, Tx
from service.graph.loose_ends import SHOWN, list_loose_ends
from service.graph.spaces import get_space
from service.graph.voices import list_voiced, list_voices
from service.graph.write_consents import list_encoders
from service.identity.policies import recomputed
from service.types.audio import EmbeddingSpace

SAME = 1e-5
"""Largest difference of a number of two voiceprints that are one: sums of float32 in another order."""
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
    """What there is of each; nothing is changed. Walks through the whole space. Raises NotFound."""
    return await graph.patient(600.0).read(_audit, space)


async def _audit(tx: Tx, space: str) -> tuple[LooseEnd, ...]:
    found = await list_loose_ends(tx, space)
    found["voiceprints that are out of date"] = await _stale(tx, space)
    return tuple(LooseEnd(what, count, ids, count > 0 and what != HARMLESS) for what, (count, ids) in found.items())


async def _stale(tx: Tx, space: str) -> tuple[int, tuple[str, ...]]:
    """People whose voiceprint is another than their live pieces of voice make, by the space's policy, or who have one without
    any; of `gated`, whose centers keep a trace of turns without a piece, only the latter."""
    settings = await get_space(tx, space)
    stale: set[str] = set()
    for name, dimension in VOICE_SPACES.items():
        voiced = await list_voiced(tx, space, EmbeddingSpace(name, "", dimension))
        live: set[str] = set()
        for encoder in await list_encoders(tx, space, voiced):
            voices = await list_voices(tx, space, encoder) if encoder.name == name else {}
            live |= voices.keys()
            if settings.routing != "gated":
                made = {person: recomputed(voice, settings.routing).centroid for person, voice in voices.items()}
                stale |= {p for p, voice in voices.items() if np.abs(voice.centroid - made[p]).max() > SAME}
        stale |= set(voiced) - live
    return len(stale), tuple(sorted(stale))[:SHOWN]
