"""Meetings of which only the platform's words are known, as the worker writes them: nobody's turns, and logins beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.graph.driver import Graph, rows
from service.graph.write_sessions import open_session
from service.identity.router import RouterConfig
from service.pipelines.accounts import Accounts
from service.pipelines.attribute import note_logins, platform_attendance
from service.pipelines.closing import CallerKnows, close
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryReader
from service.pipelines.naming import name_session
from service.pipelines.written import UNHEARD, unheard
from service.types.accounts import SignedIn
from service.types.audio import Segment, SpeakerTurn
from service.types.meeting import AccountKey
from tests.builders import VOICE, a_message, a_session
from tests.graph.correction_builders import EMBEDDER, message, session_id, track
from tests.graph.graph_builders import TEXT_SPACE

WHOLE = (Segment(0.0, 60.0),)

READERS = """
MATCH (m:Message {space: $space, session_id: $session_id})
RETURN COLLECT { MATCH (m)-[:FOR]->(:Audience)<-[:MAY_READ]-(p:Person) RETURN p.id ORDER BY p.id } AS readers
ORDER BY m.index
"""
MAY_BE = """
MATCH (subject {space: $space})-[b:MAY_BE]->(p:Person)
RETURN subject.id AS subject, p.id AS person, b.why AS why ORDER BY subject, person
"""


def signed_in(
    space: str,
    meeting: str,
    label: str,
    *accounts: AccountKey,
    attends: Sequence[Segment] = WHOLE,
    bot: bool = False,
    several: bool = False,
) -> SignedIn:
    return SignedIn(accounts, track(space, meeting, label), label.title(), bot, several, tuple(attends))


async def a_meeting(
    graph: Graph,
    space: str,
    name: str,
    lines: Sequence[tuple[str, str]],
    logins: Sequence[SignedIn],
    *,
    open_still: bool = False,
) -> str:
    """Turns of 4 s, one every 5 s, each by its label's track; its id."""
    session = a_session(space, id=session_id(space, name), external_id=name, embedder=TEXT_SPACE)
    opened = await graph.write(open_session, session)
    router = RouterConfig()
    folding = Folding(
        graph,
        GalleryReader(graph, VOICE),
        router,
        space=space,
        session_id=session.id,
        encoder=VOICE,
        embedder=TEXT_SPACE,
        checkpoint=opened.checkpoint,
    )
    turns = [
        SpeakerTurn(i, Segment(5.0 * i, 5.0 * i + 4.0), f"track {label}", (), 0.0, None, UNHEARD, text)
        for i, (label, text) in enumerate(lines)
    ]
    texts = [EMBEDDER.passages([turn.text or ""])[0] for turn in turns]
    messages = [replace(a_message(t, session.id), vectors={"turn": v}) for t, v in zip(turns, texts, strict=True)]
    await folding.note(messages, unheard(messages, router))
    await graph.write(note_logins, space, session.id, logins)
    await Accounts(graph).attribute(space, session.id)
    if not open_still:
        await folding.settle()
        await name_session(graph, space, session.id)
        caller = CallerKnows(attendance=await graph.read(platform_attendance, space, session.id))
        await close(graph, space, session.id, checkpoint=folding.stored, caller=caller, embedder=EMBEDDER)
    return session.id


async def readers_of(graph: Graph, space: str, name: str) -> list[set[str]]:
    found = await graph.read(rows, READERS, space=space, session_id=session_id(space, name))
    return [set(row["readers"]) for row in found]


async def may_be(graph: Graph, space: str) -> set[tuple[str, str, str]]:
    return {(row["subject"], row["person"], row["why"]) for row in await graph.read(rows, MAY_BE, space=space)}


__all__ = ["EMBEDDER", "WHOLE", "a_meeting", "may_be", "message", "readers_of", "session_id", "signed_in", "track"]
