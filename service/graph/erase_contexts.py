"""Which turns lost what they were seen beside? Their context views held words that are erased, and are made anew from what is
left of the session."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from service.graph.close_sessions import SAVE_CONTEXTS, SAVE_PLAIN_CONTEXTS
from service.graph.cypher import for_space
from service.graph.driver import Tx, rows
from service.graph.spaces import lock_space
from service.graph.write_sessions import embedding_property
from service.types.audio import Samples

LIST_BARE = """
MATCH (s:Session {space: $space, id: $session_id})<-[:IN_SESSION]-(m:Message)
WHERE m.embedding__<space>__turn IS NOT NULL AND m.embedding__<space>__context IS NULL
RETURN m.id AS id ORDER BY m.index
"""

LIST_NAMED_IN = """
UNWIND $sessions AS session
MATCH (s:Session {space: $space, id: session, status: 'complete'})
WHERE EXISTS { MATCH (s)<-[:IN_SESSION]-(m:Message)<-[:EVIDENCED_BY]-(:NameProposal) }
RETURN s.id AS id ORDER BY id
"""

LIST_EMBEDDERS = """
UNWIND $sessions AS session
MATCH (s:Session {space: $space, id: session, status: 'complete'}) WHERE s.embedder IS NOT NULL
RETURN s.id AS id, s.embedder AS embedder ORDER BY id
"""


async def list_bare(tx: Tx, space: str, session_id: str, embedder: str) -> list[str]:
    """Ids of the session's turns that have no context view."""
    found = await rows(tx, for_space(LIST_BARE, embedder), space=space, session_id=session_id)
    return [row["id"] for row in found]


async def list_embedders(tx: Tx, space: str, sessions: Collection[str]) -> dict[str, str]:
    """Complete sessions with embeddings → by which embedder."""
    found = await rows(tx, LIST_EMBEDDERS, space=space, sessions=sorted(sessions))
    return {row["id"]: row["embedder"] for row in found}


async def list_named_in(tx: Tx, space: str, sessions: Collection[str]) -> list[str]:
    """Those of `sessions` in which something speaks for somebody's name."""
    return [row["id"] for row in await rows(tx, LIST_NAMED_IN, space=space, sessions=sorted(sessions))]


async def save_bare(
    tx: Tx, space: str, session_id: str, embedder: str, vectors: Mapping[str, Samples], plain: Collection[str]
) -> None:
    """Context views of the turns in `vectors`; of those in `plain` it is the turn itself."""
    await lock_space(tx, space)
    name = embedding_property(embedder, "context")
    contexts = [{"message_id": message, "properties": {name: vector.tolist()}} for message, vector in vectors.items()]
    await tx.run(for_space(SAVE_PLAIN_CONTEXTS, embedder), space=space, session_id=session_id, ids=sorted(plain))
    await tx.run(SAVE_CONTEXTS, space=space, contexts=contexts)
