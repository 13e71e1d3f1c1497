"""The plain data of a space, written as the service writes what it hears: voices folded, sessions settled, facts, entities and
feelings read. Beside it what happens around that: corrections, jobs, logins, webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from service.graph.access import public_audience
from service.graph.driver import Graph, Tx, changes, rows
from service.graph.jobs import JobStatus, NewJob, save_job
from service.graph.spaces import bump_revision, ensure_space, lock_space
from service.graph.write_accounts import bind_account
from service.graph.write_consents import save_consent
from service.graph.write_people import PersonWrite, VoiceWrite, name_person, save_people, save_voices
from service.graph.write_sessions import NewMessage, open_session
from service.identity.policies import policy
from service.identity.router import RouterConfig
from service.pipelines.closing import CallerKnows, close
from service.pipelines.folding import Folding
from service.pipelines.naming import name_session
from service.pipelines.revise_facts import revise_facts
from service.types.audio import EmbeddingSpace, Samples, Segment, SpeakerEmbedding
from service.types.events import EventKind
from service.types.ids import derived, fresh
from service.types.meeting import AccountKey
from service.types.memory import Attendance
from service.types.people import AccessPolicy, Consent, ConsentPurpose, Exemplar, PersonVoice, SpaceSettings, VoiceAccess
from service.types.told import Image, Told
from service.wiring import Services
from tests.api.tenancy_plain import BOT, GUESSED, NAMED, PEOPLE, SAME, WILLING, Meeting, Plain
from tests.builders import a_heard_turn, a_message, a_session, a_voice, evidence_of

STARTED = datetime(2026, 10, 1, 9, 0, tzinfo=UTC)
MAKE_BOT = "MATCH (p:Person {id: $person}) SET p.kind = 'bot'"
PUBLISH = """
MERGE (a:Audience {id: $public, space: $space})
SET a.public = true, a.num_readers = 0, a.created_at = datetime()
WITH a MATCH (m:Message {space: $space, session_id: $session})-[old:FOR]->(:Audience)
DELETE old
MERGE (m)-[:FOR]->(a)
SET m.audience = a.id, m.readers = 'public'
"""
SAVE_SOUND = """
MATCH (m:Message {space: $space})
WHERE m.speaker_id IN $people
CREATE (a:AudioMemory {id: m.id + '/laughs', space: m.space, created_at: datetime(), of: m.speaker_id, label: 'laughing',
  start: m.start, end: m.end, score: 0.8, expires_at: datetime() + duration('P1D')})-[:ATTACHED_TO]->(m)
"""
LOGINS = ("ana", "cleo")
"""Who has a login, jobs and corrections of their own."""


@dataclass(frozen=True)
class World:
    """A space that was written."""

    services: Services
    plain: Plain
    space: str
    webhook: str = ""
    known_by: Mapping[str, Samples] = field(default_factory=dict)

    def person(self, name: str) -> str:
        return derived("person", self.space, name)

    def session(self, name: str) -> str:
        return derived("session", self.space, name)

    def message(self, meeting: str, index: int) -> str:
        return derived("message", self.session(meeting), str(index))

    def track(self, meeting: str, label: str) -> str:
        return derived("local_speaker", self.session(meeting), label)

    def account(self, name: str) -> str:
        """Of somebody's token."""
        return derived("account", self.space, "local", name)


async def write(
    services: Services,
    plain: Plain,
    *,
    space: str | None = None,
    voices: VoiceAccess = VoiceAccess.NARROW,
    known_by: Mapping[str, Samples] | None = None,
) -> World:
    """Everything of `plain`, in a new space. `known_by`: embeddings of real voices, of who is to ask by voice; all other voices
    are made."""
    world = World(services, plain, space or f"test-{plain.name}-{fresh()}", known_by=known_by or {})
    graph, space = services.graph, world.space
    await graph.write(ensure_space, SpaceSettings(space, access=AccessPolicy(plain.access), voice_access=voices))
    encoder = (await services.encoder()).embedding_space
    await graph.write(_people, world, encoder)
    for number, meeting in enumerate(plain.meetings):
        await _meet(world, meeting, number, encoder)
    correct = await services.correct()
    for one, other in {**SAME, **GUESSED}.items():
        confirmed = one in SAME
        await correct.merge(
            space, world.person(one), world.person(other), actor=world.account("ana"), why=f"why {one}", confirmed=confirmed
        )
    await understand(world, [meeting.name for meeting in plain.meetings])
    await graph.write(changes, SAVE_SOUND, space=space, people=[world.person(name) for name in WILLING])
    return replace(world, webhook=await _around(world))


async def _people(tx: Tx, world: World, encoder: EmbeddingSpace) -> None:
    await lock_space(tx, world.space)
    voices = [_voice(world, name, encoder) for name in PEOPLE]
    await save_people(tx, world.space, [PersonWrite(v.person_id, 1, 4.0) for v in voices], await bump_revision(tx, world.space))
    await save_voices(tx, world.space, encoder, [VoiceWrite(v, v.exemplars) for v in voices])
    for name, called in NAMED.items():
        await name_person(tx, world.space, world.person(name), called, by="operator")
    await changes(tx, MAKE_BOT, person=world.person(BOT))
    for name in WILLING:
        for purpose in (ConsentPurpose.INFER_PERSONA, ConsentPurpose.KEEP_AUDIO):
            await save_consent(
                tx, world.space, world.person(name), Consent.GRANTED, text_version="1", channel="form", at=STARTED,
                purpose=purpose.value,
            )  # fmt: skip


def _voice(world: World, name: str, encoder: EmbeddingSpace) -> PersonVoice:
    id, vector = world.person(name), _sounds(world, name, "enrolled")
    known = PersonVoice(id, encoder, vector, (), 1, 4.0)
    clip = Exemplar(derived("exemplar", id), vector, 4.0, 25.0, "wideband", derived("enrolment", id))
    return policy("bounded").learn(known, clip)


def _sounds(world: World, name: str, mood: str) -> Samples:
    return world.known_by[name] if name in world.known_by else a_voice(name, mood=mood).vector


async def _meet(world: World, meeting: Meeting, day: int, encoder: EmbeddingSpace) -> None:
    graph, space, id = world.services.graph, world.space, world.session(meeting.name)
    embedder = await world.services.text_embedder()
    attended = [Attendance(world.person(who), (Segment(*when),), "caller") for who, when in meeting.there.items()]
    caller = CallerKnows(tuple(map(world.person, meeting.to_all)), tuple(attended))
    started = STARTED + timedelta(days=day)
    session = a_session(
        space, id=id, title=meeting.title, external_id=meeting.name, started_at=started, embedder=embedder.embedding_space.name,
        encoder=encoder.name,
    )  # fmt: skip
    opened = await graph.write(open_session, session)
    folding = Folding(
        graph, await world.services.gallery(), RouterConfig(), space=space, session_id=id, encoder=encoder,
        embedder=embedder.embedding_space.name, checkpoint=opened.checkpoint,
    )  # fmt: skip
    vectors = embedder.passages([line.text for line in meeting.lines])
    messages, evidence = [], []
    for index, line in enumerate(meeting.lines):
        shown = (Image(None, line.shows),) if line.shows else ()
        told = Told(said_to=tuple(f"track {who}" for who in line.to), images=shown)
        turn = replace(a_heard_turn(index, meeting.track(line), line.text), told=told, language="en")
        voice = SpeakerEmbedding(_sounds(world, line.by, f"{meeting.name}/{index}"), encoder) if line.by else None
        messages.append(_message(turn, id, started, vectors[index], embedder.passages([line.shows])[0] if line.shows else None))
        evidence.append(evidence_of(turn, id, voice))
    await folding.take(messages, evidence)
    await folding.settle()
    await name_session(graph, space, id)
    await close(graph, space, id, checkpoint=folding.stored, caller=caller, embedder=embedder)
    if meeting.public:
        await graph.write(changes, PUBLISH, public=public_audience(space), space=space, session=id)


def _message(turn: object, session: str, started: datetime, vector: Samples, shown: Samples | None) -> NewMessage:
    made = a_message(turn, session)  # type: ignore[arg-type]
    at = started + timedelta(seconds=made.turn.segment.start)
    return replace(made, said_at=at, vectors={"turn": vector}, caption_vectors=() if shown is None else (shown,))


async def say(world: World, plain: Plain) -> None:
    """More meetings of the same people."""
    encoder = (await world.services.encoder()).embedding_space
    for number, meeting in enumerate(plain.meetings):
        await _meet(world, meeting, 60 + number, encoder)
    await understand(world, [meeting.name for meeting in plain.meetings])


async def understand(world: World, meetings: Sequence[str]) -> None:
    """What follows from complete sessions."""
    facts, entities, personas = await world.services.facts(), await world.services.entities(), await world.services.personas()
    for meeting in meetings:
        await facts(world.space, world.session(meeting))
        await revise_facts(world.services.graph, world.space, world.session(meeting))
        await entities(world.space, world.session(meeting))
        await personas(world.space, world.session(meeting))


async def _around(world: World) -> str:
    """Jobs, logins and a webhook; the webhook's id."""
    graph, space = world.services.graph, world.space
    for name in LOGINS:
        await graph.write(
            save_job, NewJob(space, world.account(name), f"key of {name}", "ingest", "hash", "{}"), JobStatus.RUNNING, again=()
        )
        login = AccountKey("zoom", f"{name}-at-zoom")
        await graph.write(
            bind_account, space, login, world.person(name), actor="admin", why=f"why {name}", at=datetime.now(UTC)
        )
    made = await world.services.webhooks().add(
        space, "https://webhook.invalid/", tuple(EventKind), person=None, made_by=world.account("cleo")
    )
    return made.webhook.id


LIST_MADE = """
MATCH (n {space: $space})
RETURN labels(n)[0] AS label, n.id AS id,
  COLLECT { MATCH (n)-[:EVIDENCED_BY|MENTIONED_IN]->(m:Message) RETURN m.id } AS messages,
  COLLECT { MATCH (n)-[:MENTIONED_IN]->(f:Fact) RETURN f.id } AS facts,
  COLLECT { MATCH (n)-[:ATTACHED_TO]->(m:Message) RETURN m.id } AS beside,
  COLLECT { MATCH (n)<-[:HAS_PERSONA]-(p:Person) RETURN p.id } AS of,
  COLLECT { MATCH (n)<-[:GAVE]-(p:Person) RETURN p.id } AS given_by,
  COLLECT { MATCH (n)-[:LETS_ASK_FOR]->(p:Person) RETURN p.id } AS lets,
  head(COLLECT { MATCH (n)-[:IS]->(p:Person) WHERE n:Account RETURN p.id }) AS bound_to, n.account AS account, n.actor AS actor
"""


async def made(graph: Graph, space: str) -> list[dict[str, object]]:
    """Every node, with what it was made from: read past the gate."""
    return await graph.read(rows, LIST_MADE, space=space)
