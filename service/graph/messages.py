"""Which messages may this viewer read, by whom, to whom? Every read is gated by its scope, in the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from service.errors import InvalidInput, NotFound
from service.graph.driver import rows
from service.graph.paging import Page, Paged, paged, parameters
from service.types.memory import Addressee, How, Message

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

FIND_MESSAGES = """
UNWIND $ids AS wanted
MATCH (m:Message {id: wanted, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
RETURN m {.id, .session_id, .index, .text, .language, .start, .end, .said_at, .decision} AS message,
  head(COLLECT {
    MATCH (p:Person)-[s:SPEAKS]->(m)
    MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
    RETURN s {.cosine, .margin, .threshold, person: shown.id}
  }) AS spoken,
  head(COLLECT { MATCH (l:LocalSpeaker)-[:UTTERED]->(m) RETURN l.id }) AS local_speaker,
  COLLECT {
    MATCH (m)-[to:ADDRESSES]->(p:Person)
    MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
    RETURN to {.confidence, .how, person: shown.id} ORDER BY to.confidence DESC, shown.id
  } AS addressees,
  head(COLLECT {
    MATCH (m)-[:REPLIES_TO]->(r:Message)-[:FOR]->(b:Audience) WHERE b.id IN $audiences RETURN r.id
  }) AS reply_to
"""


async def find_messages(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, Message]:
    """Those of `ids` that the scope holds, by id; the others are missing, whether they exist or not.

    Speaker and addressees are named as merges say (confirmed or not); `local_speaker` is the LocalSpeaker's id."""
    found = await rows(tx, FIND_MESSAGES, space=scope.space, audiences=scope.audiences, ids=list(ids))
    return {row["message"]["id"]: _message(row) for row in found}


async def find_message(tx: Tx, scope: ReadScope, message_id: str) -> Message | None:
    return (await find_messages(tx, scope, [message_id])).get(message_id)


async def get_message(tx: Tx, scope: ReadScope, message_id: str) -> Message:
    """Raises NotFound, the same for what does not exist and for what lies outside the scope."""
    message = await find_message(tx, scope, message_id)
    if message is None:
        raise NotFound(kind="message", id=message_id)
    return message


LIST_MESSAGES = """
MATCH (a:Audience) WHERE a.id IN $audiences
MATCH (a)<-[:FOR]-(m:Message {space: $space})
WITH [m.said_at.epochSeconds * 1000000000 + m.said_at.nanosecond, m.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""

LIST_MESSAGES_OF_SESSION = """
MATCH (:Session {id: $session_id, space: $space})<-[:IN_SESSION]-(m:Message)-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
WITH [m.said_at.epochSeconds * 1000000000 + m.said_at.nanosecond, m.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""

LIST_MESSAGES_OF_SPEAKER = """
MATCH (:Person {id: $speaker_id, space: $space}) (()-[:MERGED_INTO]-()){0,12} (p:Person)
WITH DISTINCT p
MATCH (p)-[:SPEAKS]->(m:Message {space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
WITH [m.said_at.epochSeconds * 1000000000 + m.said_at.nanosecond, m.id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
"""


async def list_messages(
    tx: Tx, scope: ReadScope, *, page: Page, session_id: str | None = None, speaker_id: str | None = None
) -> Paged[Message]:
    """Messages in spoken order: of one session, of one speaker, or all that the scope holds."""
    if session_id is not None and speaker_id is not None:
        raise InvalidInput(what="the list of messages", given="of a session and of a speaker", needed="one of the two")
    query, subject = LIST_MESSAGES, {}
    if session_id is not None:
        query, subject = LIST_MESSAGES_OF_SESSION, {"session_id": session_id}
    elif speaker_id is not None:
        query, subject = LIST_MESSAGES_OF_SPEAKER, {"speaker_id": speaker_id}
    found = await rows(tx, query, space=scope.space, audiences=scope.audiences, **subject, **parameters(page))
    places = [row["place"] for row in found]
    return paged(page, places, await find_messages(tx, scope, [id for _, id in places]))


COUNT_HELD = """
MATCH (f:Fact) WHERE f.audience IN $audiences
WITH count(f) AS facts
OPTIONAL MATCH (a:Audience) WHERE a.id IN $audiences
RETURN sum(COUNT { (a)<-[:FOR]-() }) - facts AS messages, facts
"""


async def count_held(tx: Tx, scope: ReadScope) -> tuple[int, int]:
    """How many messages the scope holds at all, and how many facts. What is for an Audience is one or the other, and how many
    edges a node has it knows: of 20,000 messages in 200 audiences none is looked at."""
    (found,) = await rows(tx, COUNT_HELD, audiences=scope.audiences)
    return int(found["messages"]), int(found["facts"])


async def count_messages(tx: Tx, scope: ReadScope) -> int:
    """How many messages the scope holds at all."""
    return (await count_held(tx, scope))[0]


FIND_REASONS = """
UNWIND $ids AS wanted
MATCH (m:Message {id: wanted, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
RETURN collect([m.id, CASE
  WHEN $reads_all THEN 'reads_all'
  WHEN NOT $public_only AND EXISTS { MATCH (p:Person)-[:SPEAKS]->(m) WHERE p.id IN $asker } THEN 'said_it'
  WHEN coalesce(a.public, false) THEN 'public'
  WHEN EXISTS { MATCH (m)-[:ADDRESSES]->(p:Person) WHERE p.id IN $asker } THEN 'addressed'
  WHEN EXISTS { MATCH (p:Person)-[:ATTENDED]->(:Session)<-[:IN_SESSION]-(m) WHERE p.id IN $asker } THEN 'attended'
  ELSE 'shared' END]) AS reasons
"""


async def find_reasons(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, str]:
    """Why the asker sees each of `ids`: said_it | addressed | attended | shared | public | reads_all."""
    found = await rows(
        tx, FIND_REASONS, ids=list(ids), space=scope.space, audiences=scope.audiences,
        asker=scope.asker, public_only=scope.public_only, reads_all=scope.reads_all,
    )  # fmt: skip
    return {id: reason for id, reason in found[0]["reasons"]}


FIND_OWN = """
UNWIND $ids AS wanted
MATCH (p:Person {space: $space})-[:SPEAKS]->(m:Message {id: wanted, space: $space})-[:FOR]->(a:Audience)
WHERE p.id IN $themselves AND a.id IN $audiences
RETURN m.id AS id
"""


async def find_own(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> frozenset[str]:
    """Those of `ids` that are put down to the asker: what they may say "that was not me" of."""
    found = await rows(tx, FIND_OWN, space=scope.space, audiences=scope.audiences, themselves=scope.themselves, ids=list(ids))
    return frozenset(row["id"] for row in found)


def _message(row: Mapping[str, Any]) -> Message:
    spoken = row["spoken"] or {}
    return Message(
        **row["message"],
        speaker_id=spoken.get("person"),
        local_speaker=row["local_speaker"],
        addressees=tuple(Addressee(to["person"], to["confidence"], How(to["how"])) for to in row["addressees"]),
        reply_to=row["reply_to"],
        cosine=spoken.get("cosine"),
        margin=spoken.get("margin"),
        threshold=spoken.get("threshold"),
    )
