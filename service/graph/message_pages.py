"""Which messages may this viewer read of many sessions, or by many people, at once? One query for a page of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from service.graph.driver import rows
from service.graph.messages import find_messages
from service.graph.paging import Page, Paged, paged, parameters
from service.types.memory import Message

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

LIST_PLACES_OF_SESSIONS = """
UNWIND $ids AS wanted
RETURN wanted, COLLECT {
  MATCH (:Session {id: wanted, space: $space})<-[:IN_SESSION]-(m:Message)-[:FOR]->(a:Audience)
  WHERE a.id IN $audiences
  WITH [m.said_at.epochSeconds * 1000000000 + m.said_at.nanosecond, m.id] AS place
  WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
  RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
} AS places
"""

LIST_PLACES_OF_SPEAKERS = """
UNWIND $ids AS wanted
RETURN wanted, COLLECT {
  MATCH (:Person {id: wanted, space: $space}) (()-[:MERGED_INTO]-()){0,12} (p:Person)
  WITH DISTINCT p
  MATCH (p)-[:SPEAKS]->(m:Message {space: $space})-[:FOR]->(a:Audience)
  WHERE a.id IN $audiences
  WITH [m.said_at.epochSeconds * 1000000000 + m.said_at.nanosecond, m.id] AS place
  WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
  RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
} AS places
"""


async def list_message_pages(
    tx: Tx, scope: ReadScope, of: Literal["session", "speaker"], ids: Sequence[str], *, page: Page
) -> dict[str, Paged[Message]]:
    """The same page, in spoken order, of each session or speaker in `ids`; empty for what the scope does not hold."""
    query = LIST_PLACES_OF_SESSIONS if of == "session" else LIST_PLACES_OF_SPEAKERS
    found = await rows(tx, query, space=scope.space, audiences=scope.audiences, ids=list(ids), **parameters(page))
    messages = await find_messages(tx, scope, [id for row in found for _, id in row["places"]])
    return {row["wanted"]: paged(page, row["places"], messages) for row in found}
