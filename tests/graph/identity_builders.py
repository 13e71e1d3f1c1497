"""What is known and guessed of who is who, added to a seeded graph: nameless people, proposals, decisions, exemplars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.graph.driver import changes
from service.types.ids import derived
from tests.graph.graph_builders import World

UNNAME = """
MATCH (p:Person {id: $person})
SET p.kind = 'anonymous', p.display_name = null
"""

NAME = """
MATCH (p:Person {id: $person})
SET p.kind = 'named', p.display_name = $name, p.named_by = $by
"""

SAVE_MAY_BE_OF_VOICE = """
MATCH (l:LocalSpeaker {id: $subject}), (p:Person {id: $person})
MERGE (l)-[b:MAY_BE]->(p) SET b = $numbers
"""

SAVE_MAY_BE_OF_PERSON = """
MATCH (q:Person {id: $subject}), (p:Person {id: $person})
MERGE (q)-[b:MAY_BE]->(p) SET b = $numbers
"""

SAVE_NOT_SAME = """
MATCH (p:Person {id: $person}), (q:Person {id: $other})
MERGE (p)-[:NOT_SAME_AS {by: 'test', why: 'test'}]->(q)
"""

SAVE_BOUND = """
MATCH (l:LocalSpeaker {id: $local_speaker}), (p:Person {id: $person})
MERGE (l)-[i:IS]->(p) SET i = $decision
"""

SAVE_DECISION = """
MATCH (p:Person)-[s:SPEAKS]->(m:Message {id: $message})
SET s = $decision, m.decision = $decision.decision, m.reason = $decision.reason
"""

SAVE_FOUND = """
MATCH (:LocalSpeaker)-[u:UTTERED]->(m:Message {id: $message})
SET u = $decision, m.decision = 'unresolved', m.reason = $decision.reason
"""

SAVE_EXEMPLAR = """
MATCH (p:Person {id: $person})
MERGE (e:Exemplar {id: $id})
SET e.space = $space, e.message_id = $message, e.encoder = $encoder, e.net_speech = 2.5, e.snr_db = 20.0, e.channel = $channel,
    e.twin_of = $twin_of, e.consent = 'unknown', e.created_at = datetime()
MERGE (p)-[:HAS_EXEMPLAR]->(e)
"""

SAVE_NAME = """
MERGE (n:NameProposal {id: $id})
SET n.space = $space, n.name = $name, n.normal_name = toLower($name), n.sources = $sources, n.num_claims = size($evidence),
    n.confidence = $confidence, n.status = $status, n.created_at = datetime()
WITH n
CALL (n) {
  MATCH (p:Person {id: $about}) MERGE (n)-[:ABOUT]->(p)
  UNION
  MATCH (l:LocalSpeaker {id: $about}) MERGE (n)-[:ABOUT]->(l)
}
WITH n
UNWIND $evidence AS evidence
MATCH (m:Message {id: evidence})
MERGE (n)-[:EVIDENCED_BY]->(m)
"""

SAVE_CORRECTION = """
MERGE (c:Correction {id: $id})
SET c.space = $space, c.kind = 'reassign', c.actor = $actor, c.why = $why, c.people = $people, c.messages = $messages,
    c.record = '{}', c.created_at = datetime()
"""

DECISION: dict[str, Any] = {
    "decision": "link", "cosine": 0.61, "runner_up": 0.4, "runner_up_id": None, "margin": 0.21, "threshold": 0.52,
    "channels": "wideband", "policy": "bounded", "encoder": "campplus", "by": "router", "reason": None,
}  # fmt: skip


def voice_of(world: World, session: str) -> str:
    """Id of the one LocalSpeaker that a seeded session has."""
    return f"{world.session(session)}/voice"


async def unname(world: World, *people: str) -> None:
    for name in people:
        await world.graph.write(changes, UNNAME, person=world.person(name))


async def named_by(world: World, person: str, name: str, by: str) -> None:
    """`by`: who gave the name, or the id of the proposal that did."""
    await world.graph.write(changes, NAME, person=world.person(person), name=name, by=by)


async def may_be(
    world: World, who: str, person: str, cosine: float | None = 0.45, margin: float = 0.1, why: str = "alike"
) -> None:
    """`who` is a person, or a session whose voice is meant."""
    numbers = {"cosine": cosine, "margin": margin, "threshold": 0.55, "num_turns": 3, "why": why}
    query, subject = SAVE_MAY_BE_OF_PERSON, world.person(who)
    if any(s.session == who for s in world.said):
        query, subject = SAVE_MAY_BE_OF_VOICE, voice_of(world, who)
    await world.graph.write(changes, query, subject=subject, person=world.person(person), numbers=numbers)


async def not_same(world: World, person: str, other: str) -> None:
    await world.graph.write(changes, SAVE_NOT_SAME, person=world.person(person), other=world.person(other))


async def bound(world: World, session: str, person: str, **decision: Any) -> None:
    """The session's voice is this person."""
    await world.graph.write(
        changes,
        SAVE_BOUND,
        local_speaker=voice_of(world, session),
        person=world.person(person),
        decision={**DECISION, **decision},
    )


async def decided(world: World, index: int, **decision: Any) -> None:
    """How the message came to its speaker; for one without, what was found and not believed."""
    query = SAVE_DECISION if world.said[index].by else SAVE_FOUND
    await world.graph.write(changes, query, message=world.message(index), decision={**DECISION, **decision})


async def exemplar(
    world: World, person: str, message: int | str, *, encoder: str = "campplus", channel: str = "wideband", twin: bool = False
) -> None:
    """The person's voice is known by this message (a number), or by a clip of that name."""
    id = world.message(message) if isinstance(message, int) else message
    of = derived("exemplar", id, encoder)
    await world.graph.write(
        changes, SAVE_EXEMPLAR, space=world.space, person=world.person(person), id=f"{of}/twin" if twin else of, message=id,
        encoder=encoder, channel=channel, twin_of=of if twin else None,
    )  # fmt: skip


async def proposed(
    world: World,
    about: str,
    name: str,
    evidence: Sequence[int],
    *,
    confidence: float = 0.6,
    status: str = "open",
    sources: Sequence[str] = ("self_introduction",),
) -> str:
    """Id of a proposal that the person `about` (or the voice of that session) is called `name`."""
    is_session = any(s.session == about for s in world.said)
    subject = voice_of(world, about) if is_session else world.person(about)
    id = derived("name_proposal", subject, name.lower())
    await world.graph.write(
        changes, SAVE_NAME, space=world.space, id=id, name=name, sources=list(sources), confidence=confidence, status=status,
        about=subject, evidence=[world.message(i) for i in evidence],
    )  # fmt: skip
    return id


async def corrected(world: World, actor: str, people: Sequence[str], *, why: str = "", messages: Sequence[int] = ()) -> str:
    """Id of the record of a correction; nothing else is changed."""
    id = derived("correction", world.space, actor, why)
    await world.graph.write(
        changes, SAVE_CORRECTION, space=world.space, id=id, actor=actor, why=why,
        people=[world.person(name) for name in people], messages=[world.message(i) for i in messages],
    )  # fmt: skip
    return id
