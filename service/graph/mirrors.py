"""What does an engine's mirror of the messages lack, and which of what it finds may be seen?

A message remembers for each engine under which audience it stands there: whoever moved it since, the difference is what is left
to do, so a mirror broken off anywhere goes on, and nothing else keeps count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from service.graph.cypher import for_space
from service.graph.driver import only, rows
from service.graph.search import (
    NEAREST_EXACT,
    NEAREST_IN_AUDIENCE,
    NEAREST_IN_SPACE,
    SearchConfig,
    Ways,
    count_candidates,
    narrowed,
    nearest,
)
from service.types.audio import Samples
from service.types.candidates import Place
from service.types.search import Filters
from service.types.told import with_captions

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class Unmirrored:
    """A message that an engine does not have, or has under another audience."""

    id: str
    audience: str
    text: str
    """What its turn view is made of."""
    vector: Samples = field(repr=False)
    said_at: datetime
    session_id: str
    local_speaker: str


LIST_UNMIRRORED = """
MATCH (m:Message {space: $space})
WHERE m.said_at IS NOT NULL AND m.id IS NOT NULL
MATCH (m)-[:FOR]->(a:Audience)
WHERE m.embedding__<space>__turn IS NOT NULL AND NOT $engine + '/<space>/' + a.id IN coalesce(m.mirrored, [])
WITH m, a ORDER BY m.said_at, m.id LIMIT $limit
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m {.id, .text, .captions, .said_at, .session_id} AS message, m.embedding__<space>__turn AS vector, a.id AS audience,
       l.id AS local_speaker
"""

LIST_UNMIRRORED_OF_SESSION = """
MATCH (:Session {space: $space, id: $session_id})<-[:IN_SESSION]-(m:Message)-[:FOR]->(a:Audience)
WHERE m.embedding__<space>__turn IS NOT NULL AND NOT $engine + '/<space>/' + a.id IN coalesce(m.mirrored, [])
WITH m, a ORDER BY m.said_at, m.id LIMIT $limit
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m {.id, .text, .captions, .said_at, .session_id} AS message, m.embedding__<space>__turn AS vector, a.id AS audience,
       l.id AS local_speaker
"""

COUNT_UNMIRRORED = """
MATCH (m:Message {space: $space})
WHERE m.said_at IS NOT NULL AND m.id IS NOT NULL
MATCH (m)-[:FOR]->(a:Audience)
WHERE m.embedding__<space>__turn IS NOT NULL AND NOT $engine + '/<space>/' + a.id IN coalesce(m.mirrored, [])
RETURN count(m) AS n
"""

SAVE_MIRRORED = """
UNWIND $messages AS row
OPTIONAL MATCH (m:Message {space: $space, id: row.id}) WHERE EXISTS { (m)-[:FOR]->(:Audience) }
CALL (m, row) {
  WITH m, row WHERE m IS NOT NULL
  SET m.mirrored = [mark IN coalesce(m.mirrored, []) WHERE NOT mark STARTS WITH $engine + '/']
                 + ($engine + '/<space>/' + row.audience)
}
WITH m, row WHERE m IS NULL
RETURN row.id AS id
"""

FORGET_MARKS = """
MATCH (m:Message {space: $space})
WHERE m.said_at IS NOT NULL AND m.id IS NOT NULL AND m.mirrored IS NOT NULL
WITH m LIMIT $limit
REMOVE m.mirrored
RETURN count(m) AS gone
"""


async def list_unmirrored(
    tx: Tx, space: str, engine: str, text_space: str, session_id: str | None, limit: int
) -> list[Unmirrored]:
    """At most `limit` messages (of one session, or of the space) that `engine` has not as they are now, in spoken order.

    For who mirrors them: no gate stands before it."""
    query = for_space(LIST_UNMIRRORED if session_id is None else LIST_UNMIRRORED_OF_SESSION, text_space)
    found = await rows(tx, query, space=space, engine=engine, session_id=session_id, limit=limit)
    return [
        Unmirrored(
            row["message"]["id"],
            row["audience"],
            with_captions(row["message"]["text"], row["message"]["captions"]) or "",
            np.asarray(row["vector"], dtype=np.float32),
            row["message"]["said_at"],
            row["message"]["session_id"],
            row["local_speaker"],
        )
        for row in found
    ]


async def count_unmirrored(tx: Tx, space: str, engine: str, text_space: str) -> int:
    """How far behind the mirror of a space is, in messages."""
    return int((await rows(tx, for_space(COUNT_UNMIRRORED, text_space), space=space, engine=engine))[0]["n"])


async def save_mirrored(tx: Tx, space: str, engine: str, text_space: str, messages: Mapping[str, str]) -> list[str]:
    """Message id → the audience under which `engine` has it now. Messages that moved meanwhile are listed again. Ids of those
    that are nobody's to read any more, since somebody was erased: the engine must not keep them."""
    given = [{"id": id, "audience": audience} for id, audience in messages.items()]
    found = await rows(tx, for_space(SAVE_MIRRORED, text_space), space=space, engine=engine, messages=given)
    return [row["id"] for row in found]


async def forget_marks(tx: Tx, space: str, limit: int) -> int:
    """Take note that no engine has anything of at most so many messages; of how many."""
    return int((await rows(tx, FORGET_MARKS, space=space, limit=limit))[0]["gone"])


FIND_PLACES = """
UNWIND $ids AS id
MATCH (m:Message {id: id, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND m.embedding__<space>__turn IS NOT NULL
RETURN collect([m.session_id, m.index, vector.similarity.cosine(m.embedding__<space>__turn, $vector)]) AS found
"""

LIST_CANDIDATES = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(m:Message {space: $space})
WHERE ($speakers IS NULL OR m.speaker_id IN $speakers)
  AND ($addressees IS NULL OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $addressees })
  AND ($by_or_to IS NULL OR m.speaker_id IN $by_or_to
       OR EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $by_or_to })
  AND ($sessions IS NULL OR m.session_id IN $sessions)
  AND ($since IS NULL OR m.said_at >= $since) AND ($until IS NULL OR m.said_at < $until)
RETURN collect(m.id) AS ids
"""

NEAREST_IN_POOL = """
UNWIND $pool AS id
MATCH (m:Message {id: id, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences AND m.embedding__<space>__turn IS NOT NULL
WITH DISTINCT m, vector.similarity.cosine(m.embedding__<space>__turn, $vector) AS score
ORDER BY score DESC, m.id LIMIT $k
RETURN collect([m.id, score]) AS ranked
"""


async def find_places(tx: Tx, scope: ReadScope, text_space: str, ids: Sequence[str], vector: Samples) -> dict[Place, float]:
    """Those of `ids` that the scope holds: where they stand, and their raw cosines (turn view) to `vector`."""
    (found,) = await only(
        tx, for_space(FIND_PLACES, text_space), ids=list(ids), vector=vector.tolist(), space=scope.space,
        audiences=scope.audiences,
    )  # fmt: skip
    return {(session, index): 2.0 * score - 1.0 for session, index, score in found}


async def list_candidates(tx: Tx, scope: ReadScope, filters: Filters) -> list[str]:
    """Ids of the messages of the scope that the filters let through: the pool for an engine that knows no people or times."""
    (ids,) = await only(tx, LIST_CANDIDATES, **await narrowed(tx, scope, filters))
    return list(ids)


async def nearest_of_pool(
    tx: Tx, scope: ReadScope, text_space: str, vector: Samples, k: int, pool: Sequence[str] | None
) -> list[tuple[str, float]]:
    """The `k` visible messages nearest to `vector`, as (id, raw cosine), best first; exactly, where a `pool` is given."""
    if not scope.audiences:
        return []
    if pool is None:
        queries = (for_space(query, text_space, "turn") for query in (NEAREST_EXACT, NEAREST_IN_SPACE, NEAREST_IN_AUDIENCE))
        visible = await count_candidates(tx, scope, Filters())
        found, _ = await nearest(tx, scope, Ways(*queries), vector, Filters(), k, SearchConfig(), candidates=visible)
        return [(id, cosine) for id, cosine, *_ in found]
    (ranked,) = await only(
        tx, for_space(NEAREST_IN_POOL, text_space), pool=list(pool), vector=vector.tolist(), k=k, space=scope.space,
        audiences=scope.audiences,
    )  # fmt: skip
    return [(id, 2.0 * score - 1.0) for id, score in ranked]
