"""How does a scenario get into the graph from its sound? Voices enrolled by a clip each, recordings ingested as they are: who
speaks is the product's to hear. The words are the script's, without speakers (as in VoxPolyBench), unless they are recognised.

Who is there when is told as a platform tells it, since somebody who only listens cannot be heard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from service.audio import decode
from service.graph.close_sessions import WrittenTurn, list_written_turns
from service.graph.driver import Graph
from service.graph.spaces import save_space
from service.graph.write_people import add_alias
from service.identity.ask import AskConfig
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.pipelines.enrol import Enrol
from service.pipelines.gallery import GalleryReader
from service.pipelines.ingest import Ingest, IngestRequest
from service.types.audio import Segment, TextEmbedder, Waveform
from service.types.ids import derived
from service.types.memory import Attendance
from service.types.people import AnonymousVoices, SpaceSettings
from tests.bench.spoken.format import Scenario, Session
from tests.bench.spoken.gold import Remember, Written, attendance_of, person_id
from tests.bench.spoken.render import Rendered, Studio
from tests.models import campplus, segmenter, tiny_whisper

COVERED = 0.5
"""Share of a turn inside a message from which the message holds it; else of a message inside a turn."""


async def write(
    graph: Graph,
    scenario: Scenario,
    space: str,
    embedder: TextEmbedder,
    studio: Studio,
    folder: Path,
    *,
    recognise: bool = False,
    remember: Remember | None = None,
) -> tuple[Written, list[bool]]:
    """All sessions of a rendered scenario, into a new space; and for each turn whether its speaker was heard rightly.

    `folder`: for transcripts. Raises FileNotFoundError where something is not rendered."""
    await graph.write(save_space, SpaceSettings(space, anonymous_voices=AnonymousVoices.KEEP))
    encoder, gallery = campplus(), GalleryReader(graph, campplus().embedding_space)
    thresholds = thresholds_for("campplus")
    enrol = Enrol(graph, segmenter(), encoder, gallery, ask=AskConfig(thresholds=thresholds))
    people = {}
    for person in scenario.people:
        clip = await asyncio.to_thread(_whole, studio.enrolment(person))
        people[person.name] = await enrol(space=space, name=person.name, waveform=clip, text_version="spoken-1", channel="clip")
        for alias in person.aliases:
            await graph.write(add_alias, space, people[person.name], alias)
    ingest = Ingest(
        graph,
        segmenter(),
        encoder,
        router=RouterConfig(thresholds=thresholds),
        recogniser=tiny_whisper() if recognise else None,
        text_embedder=embedder,
        gallery=gallery,
    )
    messages: dict[str, tuple[str, ...]] = {}
    right: list[bool] = []
    for session in scenario.sessions:
        rendered = studio.recording(scenario, session)
        request = _request(scenario, session, space, rendered, people, None if recognise else folder)
        report = await ingest(request)
        if remember is not None:
            await remember(space, report.session_id)
        written = await graph.read(list_written_turns, space, report.session_id)
        messages |= held(session, rendered.times, written)
        right += heard_rightly(session, rendered.times, written, people)
    return Written(space, people, messages), right


def held(session: Session, times: Sequence[Segment], written: Sequence[WrittenTurn]) -> dict[str, tuple[str, ...]]:
    """Message id → the turns that it holds most of; where it is only a part of one, that turn."""
    found = {}
    for message in written:
        overlaps = {turn.id: message.segment.overlap(s) for turn, s in zip(session.turns, times, strict=True)}
        whole = [t.id for t, s in zip(session.turns, times, strict=True) if overlaps[t.id] >= COVERED * s.duration]
        best = max(overlaps, key=lambda id: overlaps[id])
        part = [best] if overlaps[best] >= COVERED * message.segment.duration else []
        found[message.message_id] = tuple(whole or part)
    return found


def heard_rightly(
    session: Session, times: Sequence[Segment], written: Sequence[WrittenTurn], people: Mapping[str, str]
) -> list[bool]:
    """Of each turn, whether the message that has most of it is its speaker's."""
    right = []
    for turn, segment in zip(session.turns, times, strict=True):
        message = max(written, key=lambda m: m.segment.overlap(segment), default=None)
        heard = message is not None and message.segment.overlap(segment) > 0 and message.speaker_id == people[turn.speaker]
        right.append(heard)
    return right


def _request(
    scenario: Scenario, session: Session, space: str, rendered: Rendered, people: Mapping[str, str], folder: Path | None
) -> IngestRequest:
    until = rendered.times[-1].end + 0.6
    gold = attendance_of(space, session, rendered.times, until)
    names = {person_id(space, name): id for name, id in people.items()}
    return IngestRequest(
        rendered.path,
        space,
        session_id=derived("session", space, session.id),
        title=session.title,
        started_at=session.started_at,
        zone=scenario.zone,
        transcript=_transcript(session, rendered.times, folder / f"{scenario.id}-{session.id}.json") if folder else None,
        attendance=tuple(Attendance(names[a.person_id], a.intervals, a.source) for a in gold),
    )


def _transcript(session: Session, times: Sequence[Segment], path: Path) -> Path:
    """The words and when they are said, and nothing of by whom."""
    segments = [
        {"start": segment.start, "end": segment.end, "text": turn.text}
        for turn, segment in zip(session.turns, times, strict=True)
    ]
    path.write_text(json.dumps({"language": "en", "segments": segments}))
    return path


def _whole(path: Path) -> Waveform:
    return Waveform(np.concatenate([block.samples for block in decode.blocks(path, seconds=60.0)]))
