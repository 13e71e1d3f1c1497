"""What came of an ingest? Counts of what was written, and what it took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from service.graph.close_sessions import count_decisions, get_lost
from service.graph.driver import Graph
from service.graph.write_facts import count_facts_of_session
from service.graph.write_sessions import NewSession
from service.pipelines.stopwatch import Stopwatch


@dataclass(frozen=True, slots=True)
class IngestReport:
    session_id: str
    already_complete: bool
    """The same recording was ingested before; nothing was written."""
    duration: float
    num_messages: int
    num_facts: int
    people_created: int
    people_linked: int
    """Known before this session."""
    decisions: Mapping[str, int]
    """Messages by link | create | assigned | unresolved."""
    words_left_out: int
    """Heard or written, and in no message: where nobody speaks, beyond the sound, or doubted by the recogniser itself."""
    captions_mended: int
    """Places where the transcript broke its format and was read anyway."""
    seconds: float
    """Wall time of this run."""
    cpu: Mapping[str, float] = field(default_factory=dict)
    """CPU seconds by stage: probe, decode, diarise, voice, recognise, text, graph, facts, entities, …, sounds, mirror."""
    facts_dropped: Mapping[str, int] = field(default_factory=dict)
    """Why what might have been a fact is none, and how often; empty where the facts were read before."""
    revision: int = 1
    """From 2 on, it took the place of what was there of the recording."""


async def report_of(
    graph: Graph, session: NewSession, already_complete: bool, seconds: float, watch: Stopwatch
) -> IngestReport:
    """Of a session that is complete."""
    decided = await graph.read(count_decisions, session.space, session.id)
    lost = await graph.read(get_lost, session.space, session.id)
    num_facts = await graph.read(count_facts_of_session, session.space, session.id)
    outcomes: Counter[str] = Counter()
    for row in decided:
        outcomes[row.decision] += row.num_messages
    created = {row.person_id for row in decided if row.decision == "create" and not row.known}
    people = {row.person_id for row in decided if row.person_id}
    return IngestReport(
        session.id,
        already_complete,
        session.duration,
        outcomes.total(),
        num_facts,
        len(created),
        len(people - created),
        dict(outcomes),
        lost.words,
        lost.captions_mended,
        seconds,
        dict(watch.seconds),
        revision=session.revision,
    )
