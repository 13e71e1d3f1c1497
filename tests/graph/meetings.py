"""Meetings for tests of names: who speaks, under which label, what; through the fold, naming and closing of an ingest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.graph.driver import Graph, rows
from service.graph.write_people import save_person
from service.graph.write_sessions import NewSession, open_session
from service.identity.router import RouterConfig
from service.memory.names import DEFAULT, NameConfig
from service.pipelines.closing import CallerKnows, close
from service.pipelines.folding import Folding
from service.pipelines.gallery import GalleryReader
from service.pipelines.naming import NamedSession, name_session
from service.types.ids import derived
from tests.builders import VOICE, a_heard_turn, a_message, a_session, a_voice, evidence_of

PEOPLE = """
MATCH (p:Person {space: $space})
RETURN p.id AS id, p.display_name AS name, p.named_by AS named_by, p.kind AS kind, coalesce(p.aliases, []) AS aliases
ORDER BY p.created_at, p.id
"""
SPEAKERS = """
MATCH (m:Message {space: $space, session_id: $session_id})
RETURN m.index AS index, m.speaker_id AS person, m.id AS id, m.reason AS reason ORDER BY index
"""
PROPOSALS = """
MATCH (n:NameProposal {space: $space})-[:ABOUT]->(subject)
RETURN n.id AS id, n.name AS name, subject.id AS about, n.sources AS sources, n.num_claims AS num_claims,
       n.confidence AS confidence, n.held AS held, n.status AS status, n.decided_by AS decided_by,
       COLLECT { MATCH (n)-[:EVIDENCED_BY]->(m:Message) RETURN m.id ORDER BY m.id } AS evidence
ORDER BY name, about
"""
AUDITS = """
MATCH (e:AuditEvent {space: $space})
RETURN e.actor AS actor, e.action AS action, e.target AS target ORDER BY e.created_at
"""
MISTAKEN = """
MATCH (l:LocalSpeaker {space: $space})-[r:MAY_BE]->(p:Person)
RETURN l.label AS label, p.id AS person, r.why AS why ORDER BY label, person
"""


@dataclass(frozen=True, slots=True)
class Line:
    voice: str
    """Whose voice it is: the same in all meetings."""
    label: str
    """What the platform calls the track."""
    text: str | None


@dataclass(frozen=True, slots=True)
class Meetings:
    """One space in which meetings are held one after the other."""

    graph: Graph
    space: str

    async def hold(
        self, name: str, *lines: tuple[str, str, str | None], config: NameConfig = DEFAULT, closed: bool = True
    ) -> NamedSession:
        """Turns of 4 s, one every 5 s: (voice, label, text)."""
        session = self.session(name)
        await self.graph.write(open_session, session)
        folding = Folding(
            self.graph,
            GalleryReader(self.graph, VOICE),
            RouterConfig(),
            space=self.space,
            session_id=session.id,
            encoder=VOICE,
            embedder=None,
            checkpoint=None,
        )
        said = [Line(*line) for line in lines]
        turns = [a_heard_turn(i, line.label, line.text) for i, line in enumerate(said)]
        voices = [a_voice(line.voice, mood=f"{name}{i}") for i, line in enumerate(said)]
        await folding.take(
            [a_message(turn, session.id) for turn in turns],
            [evidence_of(turn, session.id, voice) for turn, voice in zip(turns, voices, strict=True)],
        )
        await folding.settle()
        named = await name_session(self.graph, self.space, session.id, config)
        if closed:
            caller = CallerKnows()
            await close(self.graph, self.space, session.id, checkpoint=folding.stored, caller=caller, embedder=None)
        return named

    def session(self, name: str) -> NewSession:
        return a_session(self.space, id=derived("session", self.space, name), external_id=name)

    async def know(self, voice: str, name: str) -> str:
        """A human named this voice's person, met in a meeting of its own."""
        await self.hold(f"enrolment of {voice}", (voice, "voice_1", None), (voice, "voice_1", None))
        person = await self.speaker(f"enrolment of {voice}", 0)
        await self.graph.write(save_person, self.space, person, name)
        return person

    async def speaker(self, name: str, index: int) -> str:
        """Person of a turn."""
        found = await self.graph.read(rows, SPEAKERS, space=self.space, session_id=self.session(name).id)
        return str(found[index]["person"])

    async def speakers(self, name: str) -> list[str | None]:
        found = await self.graph.read(rows, SPEAKERS, space=self.space, session_id=self.session(name).id)
        return [row["person"] for row in found]

    async def people(self) -> dict[str, dict[str, Any]]:
        return {row["id"]: row for row in await self.graph.read(rows, PEOPLE, space=self.space)}

    async def shown(self, person: str) -> str | None:
        name = (await self.people())[person]["name"]
        return None if name is None else str(name)

    async def proposals(self) -> list[dict[str, Any]]:
        return await self.graph.read(rows, PROPOSALS, space=self.space)

    async def proposal(self, name: str, about: str | None = None) -> dict[str, Any]:
        (found,) = [p for p in await self.proposals() if p["name"] == name and about in (None, p["about"])]
        return found

    async def audits(self) -> list[dict[str, Any]]:
        return await self.graph.read(rows, AUDITS, space=self.space)

    async def mistaken(self) -> set[tuple[str, str, str]]:
        found: Sequence[dict[str, Any]] = await self.graph.read(rows, MISTAKEN, space=self.space)
        return {(row["label"], row["person"], row["why"]) for row in found}
