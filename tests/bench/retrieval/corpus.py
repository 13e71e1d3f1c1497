"""How does a corpus come into the graph? One space each, as the ingest writes it: two views, captions, edges, one who may read.

Written directly: the gold labels say who speaks, and what the ingest does with voices is measured elsewhere. Every session
has an audience of its own, so that a store of many has as many, as a real one would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from service.graph.access import ReadScope, read_scope
from service.graph.driver import Graph, changes, rows
from service.types.audio import TextEmbedder
from service.types.candidates import Place
from service.types.ids import derived
from service.types.people import Assurance, Viewer
from tests.bench.retrieval.gold import Corpus, Turn
from tests.conftest import CREATE_SPACE
from tests.graph.graph_builders import SAVE_ADDRESSEES, SAVE_AUDIENCES, SAVE_MESSAGES, SAVE_PEOPLE, SAVE_SESSIONS, SAVE_SPEAKERS

UNDATED = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)  # for meetings of which nobody tells when they were
SECONDS = 4.0  # a turn
CONTEXT = 3  # turns before, as in service.memory.audience
LISTENER = "listener"
"""Who asks: somebody who was there and said nothing."""
BATCH = 2_000  # messages a transaction

FORGET_SPACE = "MATCH (n {space: $space}) WITH n LIMIT 2000 DETACH DELETE n"
FORGET_SPACE_NODE = "MATCH (s:Space {id: $space}) DETACH DELETE s"
COUNT = "MATCH (m:Message {space: $space}) RETURN count(m) AS n"


@dataclass(frozen=True, slots=True)
class Stored:
    """A corpus in the graph."""

    graph: Graph
    corpus: Corpus
    space: str

    def person(self, name: str) -> str:
        return derived("person", self.space, name)

    def message(self, turn_id: str) -> str:
        return derived("message", self.space, turn_id)

    def place(self, turn: Turn) -> Place:
        """Where it stands in the graph."""
        return _session(self, turn.session), turn.index

    async def scope(self, asker: str | None = None) -> ReadScope:
        id = self.person(asker or LISTENER)
        viewer = Viewer(self.space, None, id, (id,), False, Assurance.TOKEN, False)
        return await self.graph.read(read_scope, viewer)


def shown(turn: Turn) -> str:
    """The turn as its views are made of it."""
    return f"{turn.text} [shows: {turn.caption}]" if turn.caption else turn.text


def context(turns: Sequence[Turn], place: int) -> str:
    """The turn with up to CONTEXT before it in its session."""
    session = turns[place].session
    near = (turn for turn in turns[max(0, place - CONTEXT) : place + 1] if turn.session == session)
    return "\n".join(shown(turn) for turn in near if shown(turn).strip())


async def store(graph: Graph, corpus: Corpus, embedder: TextEmbedder, space: str) -> Stored:
    """`corpus` as the space `space`, written if it is not there yet with all its messages."""
    stored = Stored(graph, corpus, space)
    there = await graph.read(rows, COUNT, space=space)
    if there[0]["n"] == len(corpus.turns):
        return stored
    await forget(graph, space)
    await graph.write(changes, CREATE_SPACE, space=space)
    names = (*corpus.speakers, LISTENER)
    await graph.write(
        changes, SAVE_PEOPLE, started=UNDATED,
        people=[{"id": stored.person(n), "space": space, "display_name": n, "number": i} for i, n in enumerate(names)],
    )  # fmt: skip
    started = {turn.session: _started(turn) for turn in reversed(corpus.turns)}
    await graph.write(
        changes, SAVE_SESSIONS, space=space, started=UNDATED,
        sessions=[{"id": _session(stored, s), "title": s, "started_at": at} for s, at in started.items()],
    )  # fmt: skip
    present: dict[str, dict[str, None]] = {}
    for turn in corpus.turns:
        present.setdefault(turn.session, {})[turn.speaker] = None
    await graph.write(
        changes, SAVE_AUDIENCES, space=space, started=UNDATED,
        audiences=[{"id": _audience(stored, s), "public": False, "readers": [stored.person(n) for n in (*there, LISTENER)]}
                   for s, there in present.items()],
    )  # fmt: skip
    for start in range(0, len(corpus.turns), BATCH):
        places = range(start, min(start + BATCH, len(corpus.turns)))
        messages = [_message(stored, place, started, tuple(present[corpus.turns[place].session])) for place in places]
        _embed(messages, corpus, places, embedder)
        await graph.write(changes, SAVE_MESSAGES, messages=messages, started=UNDATED)
        await graph.write(changes, SAVE_SPEAKERS, messages=messages)
        await graph.write(changes, SAVE_ADDRESSEES, messages=[m for m in messages if m["to"]])
    return stored


async def forget(graph: Graph, space: str) -> None:
    while (await graph.write(changes, FORGET_SPACE, space=space)).nodes_deleted:
        pass
    await graph.write(changes, FORGET_SPACE_NODE, space=space)


def _message(stored: Stored, place: int, started: dict[str, datetime], present: Sequence[str]) -> dict[str, Any]:
    turn = stored.corpus.turns[place]
    others = [name for name in present if name != turn.speaker]
    props: dict[str, object] = {
        "id": stored.message(turn.id), "space": stored.space, "session_id": _session(stored, turn.session),
        "index": turn.index, "text": turn.text, "captions": turn.caption or None, "language": "en",
        "start": SECONDS * turn.index, "end": SECONDS * turn.index + 3.0,
        "said_at": started[turn.session] + timedelta(seconds=SECONDS * turn.index), "net_speech": 2.5,
        "speaker_id": stored.person(turn.speaker), "decision": "link", "audience": _audience(stored, turn.session),
        "readers": " ".join(stored.person(name).replace("-", "") for name in (*present, LISTENER)),
    }  # fmt: skip
    return {"props": props, "to": [stored.person(name) for name in others] if len(others) == 1 else []}


def _embed(messages: list[dict[str, Any]], corpus: Corpus, places: Sequence[int], embedder: TextEmbedder) -> None:
    for view, texts in (
        ("turn", [shown(corpus.turns[place]) for place in places]),
        ("context", [context(corpus.turns, place) for place in places]),
    ):
        said = [i for i, place in enumerate(places) if shown(corpus.turns[place]).strip()]
        vectors = embedder.passages([texts[i] for i in said])
        for i, vector in zip(said, vectors, strict=True):
            messages[i]["props"][f"embedding__{embedder.embedding_space.name}__{view}"] = vector.tolist()


def _started(turn: Turn) -> datetime:
    return turn.at.replace(tzinfo=UTC) if turn.at else UNDATED


def _session(stored: Stored, session: str) -> str:
    return derived("session", stored.space, session)


def _audience(stored: Stored, session: str) -> str:
    return derived("audience", stored.space, session)
