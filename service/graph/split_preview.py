"""Which turns are put down to this person, by which voice of which session? What can be split off, as a viewer may read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from service.errors import NotFound
from service.graph.driver import rows
from service.graph.merges import list_merges
from service.graph.write_consents import list_encoders
from service.graph.write_reassignments import list_exemplars_of_people
from service.types.audio import Segment
from service.types.people import Exemplar

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class TurnOfPerson:
    message_id: str
    session_id: str
    local_speaker: str
    label: str | None
    """What the recording's source calls that voice."""
    segment: Segment
    net_speech: float


LIST_TURNS_OF_PERSON = """
MATCH (p:Person {space: $space}) WHERE p.id IN $members
MATCH (p)-[:SPEAKS]->(m:Message {space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m.id AS message_id, m.session_id AS session_id, l.id AS local_speaker, l.label AS label, m.start AS start, m.end AS end,
       coalesce(m.net_speech, 0.0) AS net_speech
ORDER BY m.said_at, m.index, m.id
"""


async def list_turns_of_person(tx: Tx, scope: ReadScope, person_id: str) -> tuple[list[TurnOfPerson], tuple[Exemplar, ...]]:
    """Turns of the person and of everybody merged with them, in the order they were said, and all live exemplars of these
    people in the embedding space that most are of, visible or not: for comparing, not for showing. Raises NotFound without a
    visible turn."""
    members = sorted((await list_merges(tx, scope.space, [person_id])).members(person_id))
    found = await rows(tx, LIST_TURNS_OF_PERSON, space=scope.space, members=members, audiences=scope.audiences)
    if not found:
        raise NotFound(kind="person", id=person_id)
    turns = [TurnOfPerson(segment=Segment(row.pop("start"), row.pop("end")), **row) for row in found]
    return turns, await _exemplars(tx, scope.space, members)


async def _exemplars(tx: Tx, space: str, members: Sequence[str]) -> tuple[Exemplar, ...]:
    most: tuple[Exemplar, ...] = ()
    for encoder in await list_encoders(tx, space, members):
        live = await list_exemplars_of_people(tx, space, encoder, members)
        most = max(most, tuple(e for exemplars in live.values() for e in exemplars if e.twin_of is None), key=len)
    return most
