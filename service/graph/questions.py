"""What did an asker ask before, and what did it touch? Kept only as long as told, read by whoever asked alone. What a question
touched that the asker may not read any more is not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from service.graph.driver import changes, rows
from service.types.ids import fresh

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """One question of the asker's own."""

    id: str
    text: str
    asked_at: datetime
    entities: frozenset[str]
    """What it touched, as far as the scope holds it, by its own ids: aliases are not looked at."""


SAVE_QUESTION = """
CREATE (q:Query {id: $id, space: $space, created_at: $now, text: $text, asked_by: $asked_by, expires_at: $expires_at})
WITH q
UNWIND $messages AS message
MATCH (m:Message {id: message, space: $space})<-[:MENTIONED_IN]-(e:Entity)
WHERE EXISTS { (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
MERGE (q)-[:ACTIVATED]->(e)
"""

FORGET_EXPIRED_QUESTIONS = """
MATCH (q:Query) WHERE q.expires_at < $now AND q.space = $space
DETACH DELETE q
"""


FORGET_QUESTIONS = """
MATCH (q:Query) WHERE q.space IN $spaces AND (q.expires_at < $now OR q.created_at < $since)
WITH q LIMIT $limit
DETACH DELETE q
"""


async def forget_questions(tx: Tx, spaces: Sequence[str], *, now: datetime, keep: timedelta, limit: int) -> int:
    """Delete those that have expired, and those that would have if they had been asked with `keep`: what is kept may have been
    shortened since. At most `limit`; how many."""
    deleted = await changes(tx, FORGET_QUESTIONS, spaces=list(spaces), now=now, since=now - keep, limit=limit)
    return deleted.nodes_deleted


async def save_question(
    tx: Tx, scope: ReadScope, text: str, messages: Sequence[str], *, now: datetime, keep: timedelta
) -> None:
    """Keep a question of who asks, with what the visible ones among `messages` speak of; expired ones of the space go. Of
    nobody in particular none is kept, nor of who asks in somebody's name."""
    await tx.run(FORGET_EXPIRED_QUESTIONS, space=scope.space, now=now)
    if not scope.own:
        return
    await tx.run(
        SAVE_QUESTION,
        id=fresh(),
        space=scope.space,
        audiences=scope.audiences,
        text=text,
        asked_by=scope.own[0],
        messages=list(messages),
        now=now,
        expires_at=now + keep,
    )


LIST_ASKED_BEFORE = """
MATCH (q:Query {space: $space}) WHERE q.asked_by IN $asker AND q.created_at IS NOT NULL AND q.expires_at >= $now
WITH q ORDER BY q.created_at DESC, q.id LIMIT $limit
RETURN q.id AS id, q.text AS text, q.created_at AS asked_at, COLLECT {
  MATCH (q)-[:ACTIVATED]->(named:Entity)
  WHERE EXISTS { (named)-[:MENTIONED_IN]->()-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
  RETURN named.id
} AS entities
"""


async def list_asked_before(tx: Tx, scope: ReadScope, *, now: datetime, limit: int) -> list[AskedBefore]:
    """The asker's own questions that have not expired, newest first, at most `limit`. None where anybody else hears the answer
    or asks in their name: what somebody asked is theirs."""
    if not scope.own or scope.public_only or len(scope.hearers) != 1:
        return []
    found = await rows(
        tx, LIST_ASKED_BEFORE, space=scope.space, audiences=scope.audiences, asker=scope.own, now=now, limit=limit
    )  # fmt: skip
    return [AskedBefore(row["id"], row["text"], row["asked_at"], frozenset(row["entities"])) for row in found]


LIST_ENTITIES_OF_MESSAGES = """
UNWIND $messages AS message
MATCH (m:Message {id: message, space: $space})<-[:MENTIONED_IN]-(e:Entity)
WHERE EXISTS { (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
RETURN m.id AS message, collect(e.id) AS entities
"""


async def list_entities_of_messages(tx: Tx, scope: ReadScope, messages: Sequence[str]) -> dict[str, frozenset[str]]:
    """What each of the visible messages speaks of, by its own ids: aliases are not looked at."""
    found = await rows(
        tx, LIST_ENTITIES_OF_MESSAGES, space=scope.space, audiences=scope.audiences, messages=list(messages)
    )  # fmt: skip
    return {row["message"]: frozenset(row["entities"]) for row in found}
