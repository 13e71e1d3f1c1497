"""Until when is a voice kept that was remembered? As many days after it was last heard as its space says (`voice_days`), of who
agreed, and of people never asked where the space keeps those."""

from __future__ import annotations

from collections.abc import Sequence

from service.graph.driver import Tx

RENEW_VOICES = """
MATCH (s:Space {id: $space}) WHERE s.voice_days IS NOT NULL
MATCH (heard:Person {space: $space}) WHERE heard.id IN $people
MATCH (heard) (()-[:MERGED_INTO]-()){0,12} (p:Person)-[:HAS_EXEMPLAR]->(e:Exemplar)
WHERE (e.consent = 'granted' OR s.anonymous_voices = 'keep') AND (e.expires_at IS NULL OR e.expires_at > datetime())
SET e.expires_at = datetime() + duration({days: s.voice_days})
"""

# what was written of a session counts when it was written: an old recording's voice is not gone as it comes
SETTLE_VOICE_DAYS = """
MATCH (s:Space {id: $space})
MATCH (owner:Person|LocalSpeaker {space: $space})-[:HAS_EXEMPLAR]->(:Exemplar) WHERE $owners IS NULL OR owner.id IN $owners
WITH DISTINCT s, owner
CALL (owner) {
  MATCH (owner) (()-[:MERGED_INTO]-()){0,12} (same)-[:SPEAKS|HAS_EXEMPLAR]->(one:Message|Exemplar)
  RETURN max(one.created_at) AS heard
}
MATCH (owner)-[:HAS_EXEMPLAR]->(e:Exemplar)
WITH s, e, CASE WHEN s.voice_days IS NOT NULL THEN heard + duration({days: s.voice_days}) END AS until
WHERE e.consent = 'granted' OR (s.anonymous_voices = 'keep' AND (e.expires_at IS NULL OR e.expires_at > until))
SET e.expires_at = until
"""


async def renew_voices(tx: Tx, space: str, people: Sequence[str]) -> None:
    """`people` were heard just now: what is kept of their voices, and of whoever is merged with them, is kept from now on. The
    caller holds the lock."""
    await tx.run(RENEW_VOICES, space=space, people=list(people))


async def settle_voice_days(tx: Tx, space: str, owners: Sequence[str] | None = None) -> None:
    """Let the voices of `owners` (people and voices of sessions; None: of all) go when the space says, counted from when they
    were last heard. Of people never asked that is never later than it was to be. The caller holds the lock."""
    await tx.run(SETTLE_VOICE_DAYS, space=space, owners=None if owners is None else list(owners))
