"""How does what was inferred of people go: with their consent, with that of whoever turns out to be them, or where a space is
said to be a workplace?"""

from __future__ import annotations

from collections.abc import Sequence

from service.graph.driver import Tx, changes
from service.graph.refusals import any_refused

INFER_PERSONA = "infer_persona"
"""Consent.purpose without which nothing is inferred of a person."""

INFERRED = ("affect_of", "affect_by", "valence", "arousal", "emotion", "marks", "pitch", "pitch_range", "speech_rate")
"""What a Message has of its speaker's feelings, and of how it sounded for their sake."""
_NOTHING = dict.fromkeys(INFERRED)

FORGET_INFERRED_OF = """
MATCH (named:Person {space: $space}) WHERE named.id IN $people
MATCH (named) (()-[:MERGED_INTO]-()){0,12} (p:Person)
WITH DISTINCT p
CALL (p) {
  MATCH (p)-[:HAS_PERSONA]->(n:PersonaNode)
  DETACH DELETE n
}
CALL (p) {
  MATCH (p)-[told:SHARES]->(:Person)
  DELETE told
}
MATCH (m:Message {space: $space, affect_of: p.id})
SET m += $nothing
"""

FORGET_ALL_INFERRED = """
MATCH (p:Person {space: $space})
CALL (p) {
  MATCH (p)-[:HAS_PERSONA]->(n:PersonaNode)
  DETACH DELETE n
}
CALL (p) {
  MATCH (p)-[told:SHARES]->(:Person)
  DELETE told
}
MATCH (m:Message {space: $space, affect_of: p.id})
SET m += $nothing
"""


async def forget_inferred_of(tx: Tx, space: str, people: Sequence[str]) -> None:
    """Everything that was inferred of `people` and of whoever is merged with them. The caller holds the lock."""
    await tx.run(FORGET_INFERRED_OF, space=space, people=list(people), nothing=_NOTHING)


async def obey_unwilling(tx: Tx, space: str, people: Sequence[str]) -> None:
    """Of `people`, who are one from now on, nothing stays inferred if one of them refused. The caller holds the lock."""
    if await any_refused(tx, space, people, INFER_PERSONA):
        await forget_inferred_of(tx, space, people)


async def forget_all_inferred(tx: Tx, space: str) -> bool:
    """Of everybody in the space; whether there was anything. The caller holds the lock."""
    return (await changes(tx, FORGET_ALL_INFERRED, space=space, nothing=_NOTHING)).contains_updates
