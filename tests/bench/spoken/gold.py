"""How does a scenario get into the graph with nothing wrong in it? Its text through the product's writes, with the gold labels
in place of what is heard and inferred: who speaks, to whom, what answers what, who is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from service.graph.close_sessions import Closing, Contexts, Relations, close_session
from service.graph.driver import Graph
from service.graph.spaces import get_space, save_space
from service.graph.write_people import add_alias, save_person
from service.graph.write_sessions import Batch, NewMessage, NewSession, RevisionMoved, open_session, save_batch
from service.memory.attendance import attendances
from service.memory.audience import Readers, readers
from service.memory.interactions import Spoken
from service.pipelines.closing import context_texts
from service.types.audio import EmbeddingSpace, Samples, Segment, SignalQuality, SpeakerTurn, TextEmbedder
from service.types.ids import derived
from service.types.memory import Addressee, Attendance, How
from service.types.people import AccessPolicy, AnonymousVoices, Assigned, Scores, SpaceSettings
from tests.bench.spoken.format import Scenario, Session, laid_out

Remember = Callable[[str, str], Awaitable[object]]
"""Writes the facts of a session, of a space and by its id: a RememberFacts."""
NO_VOICE = EmbeddingSpace("campplus", "gold labels", 192)
"""Named as the encoder of these sessions; no voice is kept."""
UNHEARD = SignalQuality(level_dbfs=-23.0, snr_db=40.0, bandwidth_hz=8000.0, clipped=0.0)
TO_ALL = 0.3
"""Confidence of what is said to everybody, as the product gives it."""


@dataclass(frozen=True, slots=True)
class Written:
    """A scenario in the graph: which person and which message is whom and what of it."""

    space: str
    people: Mapping[str, str]
    """name → person id"""
    messages: Mapping[str, tuple[str, ...]]
    """message id → the turns it holds: one with gold labels, from audio none or several"""


def person_id(space: str, name: str) -> str:
    return derived("person", space, name)


def gold_session_id(space: str, session: Session) -> str:
    return derived("session", space, session.id)


def spoken_turns(space: str, session: Session, times: Sequence[Segment]) -> list[Spoken]:
    """The session's turns as the interaction layer reads them, with gold speakers and, where given, gold addressees."""
    return [
        Spoken(
            derived("message", gold_session_id(space, session), str(i)),
            segment,
            derived("local_speaker", gold_session_id(space, session), turn.speaker),
            person_id(space, turn.speaker),
            turn.text,
            tuple(person_id(space, name) for name in turn.addressees),
        )
        for i, (turn, segment) in enumerate(zip(session.turns, times, strict=True))
    ]


def attendance_of(space: str, session: Session, times: Sequence[Segment], until: float) -> tuple[Attendance, ...]:
    """Who is there from when to when, as a platform would tell. `until`: the session's last second."""
    at = {turn.id: segment for turn, segment in zip(session.turns, times, strict=True)}
    whole = (Segment(0.0, until),)
    return tuple(
        Attendance(
            person_id(space, name),
            tuple(Segment(at[first].start, at[last].end) for first, last in stretches) or whole,
            "platform",
        )
        for name, stretches in sorted(session.attends.items())
    )


def relations_of(space: str, session: Session, times: Sequence[Segment], *, edges: bool = True) -> Relations:
    """The gold relations; without `edges` nobody is addressed and nothing answers anything. Who may read a turn is the
    product's to say, under `attended`."""
    turns = spoken_turns(space, session, times)
    by_turn = {turn.id: spoken for turn, spoken in zip(session.turns, turns, strict=True)}
    attendance = attendances(turns, attendance_of(space, session, times, _until(times)))
    to = {by_turn[turn.id].message_id: _addressees(space, session, turn.id) if edges else () for turn in session.turns}
    may_read = {
        spoken.message_id: readers(
            spoken, policy=AccessPolicy.ATTENDED, addressees=to[spoken.message_id], attendance=attendance
        )
        for spoken in turns
    }
    replies = {by_turn[t.id].message_id: by_turn[t.reply_to].message_id for t in session.turns if t.reply_to}
    return Relations(attendance, to, replies if edges else {}, may_read)


async def write(
    graph: Graph,
    scenario: Scenario,
    space: str,
    embedder: TextEmbedder,
    *,
    edges: bool = True,
    remember: Remember | None = None,
) -> Written:
    """All sessions of `scenario`, into a new space of that name. `remember` reads the facts of each; None: there are none."""
    await graph.write(save_space, SpaceSettings(space, anonymous_voices=AnonymousVoices.KEEP))
    for person in scenario.people:
        await graph.write(save_person, space, person_id(space, person.name), person.name)
        for alias in person.aliases:
            await graph.write(add_alias, space, person_id(space, person.name), alias)
    messages: dict[str, tuple[str, ...]] = {}
    for session in scenario.sessions:
        messages |= await _write_session(graph, scenario, session, space, embedder, edges)
        if remember is not None:
            await remember(space, gold_session_id(space, session))
    return Written(space, {p.name: person_id(space, p.name) for p in scenario.people}, messages)


async def _write_session(
    graph: Graph, scenario: Scenario, session: Session, space: str, embedder: TextEmbedder, edges: bool
) -> dict[str, tuple[str, ...]]:
    times = laid_out(session.turns)
    turns = spoken_turns(space, session, times)
    new = _new_session(scenario, session, space, _until(times), embedder)
    await graph.write(open_session, new)
    vectors = embedder.passages([turn.text for turn in session.turns])
    revision = (await graph.read(get_space, space)).identity_revision
    saved = await graph.write(save_batch, _batch(new, session, turns, vectors, revision))
    assert not isinstance(saved, RevisionMoved)
    relations = relations_of(space, session, times, edges=edges)
    contexts = _contexts(embedder, turns, relations.readers)
    closing = partial(Closing, relations=relations, contexts=contexts, access=AccessPolicy.ATTENDED, addressed_to=())
    moved = await graph.write(
        close_session,
        closing(space=space, session_id=new.id, checkpoint="gold", read_revision=saved.revision),
    )
    assert moved is None
    return {spoken.message_id: (turn.id,) for turn, spoken in zip(session.turns, turns, strict=True)}


def _new_session(scenario: Scenario, session: Session, space: str, until: float, embedder: TextEmbedder) -> NewSession:
    return NewSession(
        id=gold_session_id(space, session),
        space=space,
        title=session.title,
        started_at=session.started_at,
        zone=scenario.zone,
        source="file",
        external_id=f"{space}/{session.id}",
        content_hash=f"{space}/{session.id}",
        roster=(),
        duration=until,
        encoder=NO_VOICE.name,
        embedder=embedder.embedding_space.name,
    )


def _batch(new: NewSession, session: Session, turns: Sequence[Spoken], vectors: Sequence[Samples], revision: int) -> Batch:
    """All turns of a session as one step, each its gold speaker's."""
    scores = Scores(None, None, 0.0, "bounded", NO_VOICE.name)
    messages = [
        NewMessage(
            id=spoken.message_id,
            local_speaker=spoken.track,
            turn=SpeakerTurn(i, spoken.segment, turn.speaker, (spoken.segment,), 0.0, UNHEARD, "wideband", turn.text, "en"),
            said_at=new.started_at + timedelta(seconds=spoken.segment.start),
            provenance="transcript",
            vectors={"turn": vector},
        )
        for i, (turn, spoken, vector) in enumerate(zip(session.turns, turns, vectors, strict=True))
    ]
    decisions = [Assigned(t.message_id, t.track, t.speaker_id, scores, "gold") for t in turns if t.speaker_id]
    return Batch(
        space=new.space,
        session_id=new.id,
        encoder=NO_VOICE,
        embedder=new.embedder,
        read_revision=revision,
        checkpoint_before=None,
        checkpoint="gold",
        messages=messages,
        decisions=decisions,
        by="settlement",
        bound={decision.track: decision for decision in decisions},
        people=(),
        voices=(),
    )


def _contexts(embedder: TextEmbedder, turns: Sequence[Spoken], may_read: Mapping[str, Readers]) -> Contexts:
    texts = context_texts(turns, may_read)
    vectors = dict(zip(texts, embedder.passages(list(texts.values())), strict=True)) if texts else {}
    return Contexts(embedder.embedding_space.name, vectors, [t.message_id for t in turns if t.message_id not in texts])


def _addressees(space: str, session: Session, turn_id: str) -> tuple[Addressee, ...]:
    turn = next(turn for turn in session.turns if turn.id == turn_id)
    if turn.addressees:
        return tuple(Addressee(person_id(space, name), 1.0, How.CALLER) for name in sorted(turn.addressees))
    others = sorted(session.present(turn_id) - {turn.speaker})
    return tuple(Addressee(person_id(space, name), TO_ALL, How.ALL) for name in others)


def _until(times: Sequence[Segment]) -> float:
    return max(segment.end for segment in times) + 0.6
