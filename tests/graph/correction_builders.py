"""Spaces to be corrected: sessions written with voices and texts as the ingest writes them, and what is compared of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from service.graph.driver import Graph, rows
from service.graph.dump import Dump, dump_space, without_history
from service.graph.write_sessions import NewMessage, open_session
from service.identity.router import RouterConfig
from service.pipelines.closing import CallerKnows, close
from service.pipelines.correct import Correct
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryReader
from service.pipelines.naming import name_session
from service.types.audio import SpeakerEmbedding, SpeakerTurn
from service.types.ids import derived
from tests.builders import VOICE, a_heard_turn, a_message, a_session, a_voice, evidence_of
from tests.graph.graph_builders import TEXT_SPACE, HashedWords

EMBEDDER = HashedWords()

SPEAKERS = """
MATCH (m:Message {space: $space, session_id: $session_id})
OPTIONAL MATCH (p:Person)-[:SPEAKS]->(m)
RETURN m.id AS id, p.id AS person ORDER BY m.index
"""

Line = tuple[str, str] | tuple[str, str, str]
"""Voice, text, and the track if another than the voice's own."""


def session_id(space: str, name: str) -> str:
    return derived("session", space, name)


def message(space: str, session: str, index: int) -> str:
    return derived("message", session_id(space, session), str(index))


def track(space: str, session: str, name: str) -> str:
    return derived("local_speaker", session_id(space, session), f"track {name}")


async def ingest(
    graph: Graph,
    space: str,
    name: str,
    lines: Sequence[Line],
    caller: CallerKnows | None = None,
    gallery: GalleryReader | None = None,
    policy: str = "bounded",
    before_close: Callable[[], Awaitable[None]] | None = None,
) -> list[str | None]:
    """Write a whole session; the person of each turn. `before_close`: what happens while it is still open."""
    caller = caller or CallerKnows()
    session = a_session(space, id=session_id(space, name), external_id=name, embedder=TEXT_SPACE, roster=caller.roster)
    opened = await graph.write(open_session, session)
    folding = Folding(
        graph,
        gallery or GalleryReader(graph, VOICE),
        RouterConfig(policy=policy),
        space=space,
        session_id=session.id,
        encoder=VOICE,
        embedder=TEXT_SPACE,
        checkpoint=opened.checkpoint,
    )
    heard = [_heard(i, *line, session=name) for i, line in enumerate(lines)]
    await folding.take([_message(t, session.id) for t, _ in heard], [evidence_of(t, session.id, e) for t, e in heard])
    await folding.settle()
    await name_session(graph, space, session.id)
    if before_close is not None:
        await before_close()
    await close(graph, space, session.id, checkpoint=folding.stored, caller=caller, embedder=EMBEDDER)
    return await speakers(graph, space, name)


def _heard(index: int, voice: str, text: str, label: str = "", *, session: str) -> tuple[SpeakerTurn, SpeakerEmbedding]:
    return a_heard_turn(index, f"track {label or voice}", text), a_voice(voice, mood=f"{session}/{index}")


def _message(turn: SpeakerTurn, session: str) -> NewMessage:
    return replace(a_message(turn, session), vectors={"turn": EMBEDDER.passages([turn.text or ""])[0]})


async def speakers(graph: Graph, space: str, name: str) -> list[str | None]:
    return [row["person"] for row in await graph.read(rows, SPEAKERS, space=space, session_id=session_id(space, name))]


async def state(graph: Graph, space: str) -> Dump:
    """All that holds, without how it came about."""
    return without_history(await graph.read(dump_space, space))


def correct(graph: Graph) -> Correct:
    return Correct(graph, EMBEDDER)


def nodes(dump: Dump, label: str) -> dict[str, dict[str, Any]]:
    return {node["id"]: node for node in dump["nodes"] if node["labels"] == [label]}


def edges(dump: Dump, type: str) -> set[tuple[str, str]]:
    return {(edge["from"][-1], edge["to"][-1]) for edge in dump["edges"] if edge["type"] == type}
