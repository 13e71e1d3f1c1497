"""Voices of chosen likeness in a graph: directions along axes, people written directly, sessions folded as the ingest does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.graph.driver import Graph, Tx, changes
from service.graph.spaces import bump_revision, get_space, lock_space
from service.graph.write_merges import Merged
from service.graph.write_people import PersonWrite, VoiceWrite, save_people, save_voices
from service.graph.write_sessions import open_session
from service.identity.policies import policy
from service.identity.router import NO_TRACK, RouterConfig
from service.pipelines.closing import CallerKnows, close
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryReader
from service.pipelines.merging import merge_session
from service.types.audio import Samples, SpeakerEmbedding
from service.types.ids import derived
from service.types.people import Exemplar, PersonVoice
from tests.builders import VOICE, a_heard_turn, a_message, a_session, evidence_of

ROUTER = RouterConfig()

GET_MERGES = """
MATCH (p:Person {space: $space})-[m:MERGED_INTO]->(q:Person)
RETURN p.id AS person, q.id AS into, m.by AS by, m.confirmed AS confirmed, m.correction AS correction
"""

GET_PROPOSALS = """
MATCH (subject {space: $space})-[b:MAY_BE]->(p:Person)
RETURN labels(subject)[0] AS label, subject.id AS subject, p.id AS person, b.why AS why
"""


def axis(index: int) -> Samples:
    vector = np.zeros(VOICE.dimension, dtype=np.float32)
    vector[index] = 1.0
    return vector


def between(cosine: float, one: int = 0, other: int = 1) -> Samples:
    """The unit vector at `cosine` from axis(one), towards axis(other)."""
    return (cosine * axis(one) + math.sqrt(1 - cosine**2) * axis(other)).astype(np.float32)


def person(space: str, name: str) -> str:
    return derived("person", space, name)


def a_voice_of(
    space: str, name: str, vectors: Sequence[Samples], *, channel: str = "wideband", turns: int | None = None
) -> PersonVoice:
    """Known by utterances of 4 s."""
    id, num = person(space, name), len(vectors) if turns is None else turns
    voice = PersonVoice(id, VOICE, vectors[0], (), num, 4.0 * num)
    for i, vector in enumerate(vectors):
        exemplar = Exemplar(
            derived("exemplar", id, channel, str(i)), vector, 4.0, 25.0, channel, derived("enrolment", id, str(i))
        )
        voice = policy("bounded").learn(voice, exemplar)
    return voice


async def save(graph: Graph, space: str, *voices: PersonVoice) -> None:
    """As a batch of the fold writes them."""

    async def write(tx: Tx) -> None:
        await lock_space(tx, space)
        counted = [PersonWrite(v.person_id, v.num_turns, v.net_speech) for v in voices]
        await save_people(tx, space, counted, await bump_revision(tx, space))
        await save_voices(tx, space, VOICE, [VoiceWrite(v, v.exemplars) for v in voices])

    await graph.write(write)


async def changed(graph: Graph, query: str, **parameters: object) -> None:
    await graph.write(changes, query, **parameters)


@dataclass
class Line:
    """One turn of 4 s."""

    track: str
    """empty: says nothing of who speaks"""
    vector: Samples | None
    start: float | None = None
    channel: str = "wideband"
    seconds: float = 4.0


class Session:
    """One session of made voices, stepwise."""

    def __init__(self, graph: Graph, space: str, name: str, *, gallery: GalleryReader | None = None) -> None:
        self.graph, self.space, self.id = graph, space, derived("session", space, name)
        self.gallery = gallery or GalleryReader(graph, VOICE)
        self.new = a_session(space, id=self.id, external_id=name)

    async def fold(self, router: RouterConfig = ROUTER) -> Folding:
        """Open it, or go on with it in a new process."""
        opened = await self.graph.write(open_session, self.new)
        return Folding(
            self.graph,
            self.gallery,
            router,
            space=self.space,
            session_id=self.id,
            encoder=VOICE,
            embedder=None,
            checkpoint=opened.checkpoint,
        )

    async def say(self, folding: Folding, lines: Sequence[Line]) -> None:
        first = folding.checkpoint.next_index
        turns = [
            replace(a_heard_turn(first + i, line.track, start=line.start, seconds=line.seconds), channel=line.channel)
            for i, line in enumerate(lines)
        ]
        voices = [None if line.vector is None else SpeakerEmbedding(line.vector, VOICE) for line in lines]
        evidence = [
            replace(evidence_of(turn, self.id, voice), track=self.track(turn.track) if turn.track else NO_TRACK)
            for turn, voice in zip(turns, voices, strict=True)
        ]
        await folding.take([a_message(turn, self.id) for turn in turns], evidence)

    async def merge(self, folding: Folding) -> Merged | None:
        settings = await self.graph.read(get_space, self.space)
        return await merge_session(self.graph, self.gallery, folding, settings, ROUTER)

    async def close(self, folding: Folding) -> None:
        await close(self.graph, self.space, self.id, checkpoint=folding.stored, caller=CallerKnows(), embedder=None)

    async def whole(self, lines: Sequence[Line]) -> Mapping[str, str]:
        """Everything; track → the person it was bound to."""
        folding = await self.fold()
        await self.say(folding, lines)
        await folding.settle()
        await self.merge(folding)
        await self.close(folding)
        return {line.track: p for line in lines if (p := folding.checkpoint.fold.bound.get(self.track(line.track)))}

    def track(self, label: str) -> str:
        return derived("local_speaker", self.id, label)
