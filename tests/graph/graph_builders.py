"""Small graphs for tests of the reads: people, sessions and messages with the readers that a test wants, written directly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zlib import crc32

import numpy as np

from service.graph.access import ReadScope, read_scope
from service.graph.driver import Graph, changes
from service.types.audio import EmbeddingSpace, Samples
from service.types.ids import derived
from service.types.people import Assurance, Viewer

STARTED = datetime(2026, 5, 3, 9, 0, tzinfo=UTC)
TEXT_SPACE = "e5_small_v2_q"
DIMENSION = 384
BATCH = 2_000  # messages a transaction

SAVE_PEOPLE = """
UNWIND $people AS row
MERGE (p:Person {id: row.id})
SET p += row, p.created_at = $started + duration({seconds: row.number}), p.kind = 'named', p.aliases = []
"""

SAVE_SESSIONS = """
UNWIND $sessions AS row
MERGE (s:Session {id: row.id})
SET s.space = $space, s.created_at = $started, s.started_at = row.started_at, s.title = row.title, s.source = 'file',
    s.external_id = row.id, s.status = 'complete', s.duration = 3600.0
MERGE (l:LocalSpeaker {id: row.id + '/voice'})
SET l.space = $space, l.session_id = row.id, l.created_at = $started, l.label = 'voice'
MERGE (l)-[:HEARD_IN]->(s)
"""

SAVE_AUDIENCES = """
UNWIND $audiences AS row
MERGE (a:Audience {id: row.id})
SET a.space = $space, a.created_at = $started, a.public = row.public, a.num_readers = size(row.readers)
WITH a, row
UNWIND row.readers AS reader
MATCH (p:Person {id: reader})
MERGE (p)-[:MAY_READ]->(a)
"""

SAVE_MESSAGES = """
UNWIND $messages AS row
MATCH (s:Session {id: row.props.session_id})
MATCH (a:Audience {id: row.props.audience})
MATCH (l:LocalSpeaker {id: row.props.session_id + '/voice'})
CREATE (m:Message)
SET m += row.props, m.created_at = $started
CREATE (m)-[:IN_SESSION]->(s), (m)-[:FOR]->(a), (l)-[:UTTERED]->(m)
"""

SAVE_SPEAKERS = """
UNWIND $messages AS row
MATCH (m:Message {id: row.props.id}), (p:Person {id: row.props.speaker_id})
CREATE (p)-[:SPEAKS {decision: 'link', cosine: 0.7, margin: 0.3, threshold: 0.5}]->(m)
"""

SAVE_ADDRESSEES = """
UNWIND $messages AS row
UNWIND row.to AS to
MATCH (m:Message {id: row.props.id}), (p:Person {id: to})
CREATE (m)-[:ADDRESSES {confidence: 1.0, how: 'caller'}]->(p)
"""

SAVE_MERGE = """
MATCH (a:Person {id: $person}), (b:Person {id: $into})
MERGE (a)-[:MERGED_INTO {by: 'test', why: 'test', confirmed: $confirmed}]->(b)
"""

SAVE_ATTENDANCE = """
MATCH (p:Person {id: $person}), (s:Session {id: $session})
MERGE (p)-[:ATTENDED {starts: [0.0], ends: [3600.0], source: 'caller'}]->(s)
"""

SAVE_REPLY = """
MATCH (a:Message {id: $message}), (b:Message {id: $to})
MERGE (a)-[:REPLIES_TO]->(b)
"""

AWAIT_INDEXES = "CALL db.awaitIndexes(60)"
AWAIT_FULL_TEXT = "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()"


@dataclass(frozen=True, slots=True)
class Said:
    """One message: by whom (a name; None: unresolved), to whom, and who may read it; "*" is everybody."""

    by: str | None
    text: str
    readers: Sequence[str]
    to: Sequence[str] = ()
    session: str = "monday"
    vector: Samples | None = field(default=None, repr=False)
    context: Samples | None = field(default=None, repr=False)
    """Of the context view; None: `vector`."""


@dataclass(frozen=True, slots=True)
class World:
    """What was seeded; names of the test → ids of the graph."""

    graph: Graph
    space: str
    said: tuple[Said, ...]

    def person(self, name: str) -> str:
        return derived("person", self.space, name)

    def session(self, name: str) -> str:
        return derived("session", self.space, name)

    def message(self, index: int) -> str:
        return derived("message", self.session(self.said[index].session), str(index))

    def audience(self, readers: Sequence[str]) -> str:
        return derived("audience", self.space, *("public" if r == "*" else self.person(r) for r in sorted(set(readers))))

    def viewer(self, *hearers: str, unknown_hearer: bool = False, reads_all: bool = False) -> Viewer:
        ids = tuple(self.person(name) for name in hearers)
        return Viewer(self.space, None, ids[0] if ids else None, ids, unknown_hearer, Assurance.TOKEN, reads_all)

    async def scope(self, *hearers: str, unknown_hearer: bool = False, reads_all: bool = False) -> ReadScope:
        return await self.graph.read(read_scope, self.viewer(*hearers, unknown_hearer=unknown_hearer, reads_all=reads_all))

    async def merge(self, person: str, into: str, *, confirmed: bool) -> None:
        await self.graph.write(changes, SAVE_MERGE, person=self.person(person), into=self.person(into), confirmed=confirmed)

    async def attended(self, person: str, session: str) -> None:
        await self.graph.write(changes, SAVE_ATTENDANCE, person=self.person(person), session=self.session(session))

    async def replies(self, index: int, to: int) -> None:
        await self.graph.write(changes, SAVE_REPLY, message=self.message(index), to=self.message(to))


async def seed(
    graph: Graph, space: str, people: Sequence[str], said: Sequence[Said], views: Sequence[str] = ("turn", "context")
) -> World:
    """Write the graph as the ingest would: audiences shared by equal reader sets, `readers` as the full text needs it."""
    world = World(graph, space, tuple(said))
    ids = [world.person(name) for name in people]
    await graph.write(
        changes, SAVE_PEOPLE, started=STARTED,
        people=[{"id": id, "space": space, "display_name": name.title(), "number": i}
                for i, (id, name) in enumerate(zip(ids, people, strict=True))],
    )  # fmt: skip
    names = list(dict.fromkeys(s.session for s in said))
    await graph.write(
        changes, SAVE_SESSIONS, space=space, started=STARTED,
        sessions=[{"id": world.session(name), "title": name, "started_at": STARTED + timedelta(days=i)}
                  for i, name in enumerate(names)],
    )  # fmt: skip
    audiences = {world.audience(s.readers): s.readers for s in said}
    await graph.write(
        changes, SAVE_AUDIENCES, space=space, started=STARTED,
        audiences=[{"id": id, "public": "*" in readers, "readers": [world.person(r) for r in set(readers) if r != "*"]}
                   for id, readers in audiences.items()],
    )  # fmt: skip
    for start in range(0, len(said), BATCH):
        rows = [
            _message(world, i, said[i], names.index(said[i].session), views)
            for i in range(start, min(start + BATCH, len(said)))
        ]
        await graph.write(changes, SAVE_MESSAGES, messages=rows, started=STARTED)
        await graph.write(changes, SAVE_SPEAKERS, messages=[m for m in rows if m["props"]["speaker_id"]])
        await graph.write(changes, SAVE_ADDRESSEES, messages=[m for m in rows if m["to"]])
    return world


def _message(world: World, index: int, said: Said, day: int, views: Sequence[str]) -> dict[str, Any]:
    start = 4.0 * index
    props: dict[str, object] = {
        "id": world.message(index),
        "space": world.space,
        "session_id": world.session(said.session),
        "index": index,
        "text": said.text,
        "language": "en",
        "start": start,
        "end": start + 3.0,
        "said_at": STARTED + timedelta(days=day, seconds=start),
        "net_speech": 2.5,
        "speaker_id": world.person(said.by) if said.by else None,
        "decision": "link" if said.by else "unresolved",
        "audience": world.audience(said.readers),
        "readers": " ".join("public" if r == "*" else world.person(r).replace("-", "") for r in said.readers),
    }
    for view in views if said.vector is not None else ():
        vector = said.context if view == "context" and said.context is not None else said.vector
        props[f"embedding__{TEXT_SPACE}__{view}"] = vector.tolist()
    return {"props": props, "to": [world.person(name) for name in said.to]}


def unit_vectors(n: int, seed: int = 0) -> Samples:
    """Random directions, shape (n, DIMENSION), L2-normalised."""
    drawn = np.random.default_rng(seed).standard_normal((n, DIMENSION)).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


class HashedWords:
    """A TextEmbedder for tests that needs no model: words in common are nearness. Its space is the declared one."""

    embedding_space = EmbeddingSpace(TEXT_SPACE, "hashed-words", DIMENSION)

    def queries(self, texts: Sequence[str]) -> Samples:
        return self.passages(texts)

    def passages(self, texts: Sequence[str]) -> Samples:
        vectors = np.full((len(texts), DIMENSION), 1e-3, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[crc32(word.encode()) % DIMENSION] += 1.0
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
