"""What does the ranker read of a candidate, and of what was said around it?

Every query gates on the FOR edge, so neither a candidate nor a neighbour lies outside the scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from service.graph.cypher import for_space
from service.graph.driver import only
from service.graph.search import narrowed
from service.types.candidates import Around, Compared, Place, Read, Unread

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx
    from service.types.audio import Samples
    from service.types.search import Filters

READ_CANDIDATES = """
UNWIND $unread AS one
MATCH (m:Message {session_id: one[0], index: one[1]})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND m.space = $space
  AND ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
RETURN collect([
  m.session_id, m.index,
  [i IN one[2] | vector.similarity.cosine(m.embedding__<space>__turn, $vectors[i])],
  CASE WHEN one[3] THEN vector.similarity.cosine(m.embedding__<space>__context, $vectors[0]) END,
  CASE WHEN one[4] THEN [
    m.id, m.text, m.captions, m.said_at.epochSeconds, m.speaker_id,
    CASE WHEN $people = [] THEN false ELSE EXISTS { MATCH (p:Person)-[:SPEAKS]->(m) WHERE p.id IN $people } END,
    CASE WHEN $people = [] THEN false ELSE EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $people } END
  ] END]) AS found
"""

ALIKE = """
MATCH (m:Message)-[:FOR]->(a:Audience)
WHERE m.id IN $ids AND a.id IN $audiences AND m.space = $space AND m.embedding__<space>__turn IS NOT NULL
WITH collect(DISTINCT m) AS found
UNWIND found AS later
UNWIND found AS earlier
WITH later, earlier
WHERE later.said_at > earlier.said_at AND later.session_id <> earlier.session_id
  AND vector.similarity.cosine(later.embedding__<space>__turn, earlier.embedding__<space>__turn) >= $least
RETURN collect([later.id, earlier.id]) AS pairs
"""

READ_AROUND = """
UNWIND $places AS place
MATCH (m:Message {session_id: place[0], index: place[1]})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND m.space = $space
RETURN collect([m.session_id, m.index, m.text, m.speaker_id]) AS read
"""


async def read_candidates(
    tx: Tx, scope: ReadScope, space_name: str, unread: Sequence[Unread], vectors: Sequence[Samples], people: Sequence[str],
    filters: Filters,
) -> tuple[Compared, ...]:  # fmt: skip
    """What stands at the places of `unread`, as far as the scope and the filters hold it. `people`: ids of whom the question
    means; `vectors`: the question's, the first for both views."""
    (found,) = await only(
        tx, for_space(READ_CANDIDATES, space_name),
        unread=[[*one.place, list(one.vectors), one.context, one.words] for one in unread],
        vectors=[vector.tolist() for vector in vectors], people=list(people), **await narrowed(tx, scope, filters),
    )  # fmt: skip
    return tuple(_compared(*row) for row in found)


async def read_around(tx: Tx, scope: ReadScope, places: Sequence[Place]) -> Mapping[Place, Around]:
    """What was said at `places`, as far as the scope holds it."""
    (read,) = await only(
        tx, READ_AROUND, space=scope.space, audiences=scope.audiences, places=[list(place) for place in places]
    )
    return {(session, index): Around(text or "", speaker) for session, index, text, speaker in read}


async def list_alike(tx: Tx, scope: ReadScope, space_name: str, ids: Sequence[str], least: float) -> frozenset[tuple[str, str]]:
    """Of the visible messages among `ids` the pairs of two sessions, the later first, with a raw cosine of `least` or more."""
    (pairs,) = await only(
        tx, for_space(ALIKE, space_name), space=scope.space, audiences=scope.audiences, ids=list(ids), least=(1.0 + least) / 2.0
    )
    return frozenset((later, earlier) for later, earlier in pairs)


def _compared(
    session: str, index: int, turn: Sequence[float | None], context: float | None, read: Sequence[Any] | None
) -> Compared:
    place = session, index
    return Compared(
        place, tuple(_raw(score) for score in turn), _raw(context), _read(place, *read) if read is not None else None
    )


def _raw(score: float | None) -> float | None:
    return None if score is None else 2.0 * score - 1.0


def _read(
    place: Place, id: str, text: str | None, captions: str | None, said_at: int, speaker: str | None, by: bool, to: bool
) -> Read:
    return Read(id, place, text or "", captions or "", said_at, speaker, by, to, (), None)
