"""What did an asker ask before, what did it touch, and what did it find? Kept as long as told, read by whoever asked alone.
What a question touched or found that the asker may not read any more is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from service.graph.cypher import for_space
from service.graph.driver import changes, only, rows
from service.types.candidates import Earlier
from service.types.ids import fresh

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx
    from service.types.audio import Samples


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """One question of the asker's own."""

    id: str
    text: str
    asked_at: datetime
    entities: frozenset[str]
    """What it touched, as far as the scope holds it, by its own ids: aliases are not looked at."""


@dataclass(frozen=True, slots=True)
class Again:
    """By what a question is known when much the same is asked again, and what it found."""

    text_space: str
    vector: Samples
    """L2-normalised, of the question without names."""
    about: tuple[str, ...]
    """Ids of the people that it names, in order."""
    scores: Mapping[str, float]
    """By message id: [0, 1], how likely it was held to answer."""


SAVE_QUESTION = """
MATCH (p:Person {id: $asked_by, space: $space}) WHERE NOT coalesce(p.tombstone, false)
CREATE (q:Query {id: $id, space: $space, created_at: $now, text: $text, asked_by: $asked_by, expires_at: $expires_at})
WITH q
UNWIND $messages AS message
MATCH (m:Message {id: message, space: $space})<-[:MENTIONED_IN]-(e:Entity)
WHERE EXISTS { (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
MERGE (q)-[:ACTIVATED]->(e)
"""

SAVE_FOUND = """
MATCH (q:Query {id: $id, space: $space})
SET q.about = $about, q.embedding__<space> = $vector
WITH q
UNWIND $found AS one
MATCH (m:Message {id: one[0], space: $space})
WHERE EXISTS { (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
MERGE (q)-[found:FOUND]->(m)
SET found.score = one[1]
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
    tx: Tx,
    scope: ReadScope,
    text: str,
    messages: Sequence[str],
    *,
    now: datetime,
    keep: timedelta,
    again: Again | None = None,
) -> None:
    """Keep a question of who asks, with what the visible ones among `messages` speak of, and how to find it `again`; expired
    ones of the space go. Of nobody in particular none is kept, nor of who asks in somebody's name, nor of who is erased."""
    await tx.run(FORGET_EXPIRED_QUESTIONS, space=scope.space, now=now)
    if not scope.own:
        return
    id = fresh()
    await tx.run(
        SAVE_QUESTION,
        id=id,
        space=scope.space,
        audiences=scope.audiences,
        text=text,
        asked_by=scope.own[0],
        messages=list(messages),
        now=now,
        expires_at=now + keep,
    )
    if again is not None:
        await tx.run(
            for_space(SAVE_FOUND, again.text_space),
            id=id,
            space=scope.space,
            audiences=scope.audiences,
            about=list(again.about),
            vector=again.vector.tolist(),
            found=[list(one) for one in again.scores.items()],
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
    if not _alone(scope):
        return []
    found = await rows(
        tx, LIST_ASKED_BEFORE, space=scope.space, audiences=scope.audiences, asker=scope.own, now=now, limit=limit
    )  # fmt: skip
    return [AskedBefore(row["id"], row["text"], row["asked_at"], frozenset(row["entities"])) for row in found]


LIST_FOUND_BEFORE = """
MATCH (q:Query {space: $space}) WHERE q.asked_by IN $asker AND q.created_at IS NOT NULL AND q.expires_at >= $now
WITH q ORDER BY q.created_at DESC, q.id LIMIT $limit
WHERE q.embedding__<space> IS NOT NULL AND q.about = $about
WITH q, vector.similarity.cosine(q.embedding__<space>, $vector) AS score
WHERE score >= $least
MATCH (q)-[found:FOUND]->(m:Message {space: $space})
WHERE EXISTS { (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH q, score, max(found.score) AS best, collect([m.id, m.session_id, m.index, found.score]) AS hits
UNWIND hits AS hit
RETURN collect([hit[0], hit[1], hit[2], hit[3], best, score]) AS found
"""


async def list_found_before(
    tx: Tx,
    scope: ReadScope,
    text_space: str,
    vector: Samples,
    about: Sequence[str],
    *,
    now: datetime,
    least: float,
    limit: int,
) -> tuple[Earlier, ...]:
    """What those of the asker's own newest `limit` questions found that are about the same people and have a raw cosine of
    `least` or more to `vector`, as far as it may be read now. None where anybody else hears the answer or asks for them."""
    if not _alone(scope):
        return ()
    (found,) = await only(
        tx, for_space(LIST_FOUND_BEFORE, text_space), space=scope.space, audiences=scope.audiences, asker=scope.own, now=now,
        limit=limit, vector=vector.tolist(), about=list(about), least=(1.0 + least) / 2.0,
    )  # fmt: skip
    return tuple(
        Earlier(id, (session, index), then, best, 2.0 * score - 1.0) for id, session, index, then, best, score in found
    )


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


def _alone(scope: ReadScope) -> bool:
    """Whether who asks does so themselves, and nobody else hears the answer."""
    return bool(scope.own) and not scope.public_only and len(scope.hearers) == 1
