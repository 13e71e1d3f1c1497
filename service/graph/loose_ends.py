"""Does anything in a space hang in the air? What no write of ours leaves behind, and an erasure, or a hand in the database, may
have: found, named by id, never mended here. For who has the shell: no gate."""

from __future__ import annotations

from collections.abc import Mapping

from service.graph.driver import Tx, rows

SHOWN = 20
"""Ids of each kind that are named; all are counted."""

MESSAGES_OF_NO_SESSION = """
MATCH (m:Message {space: $space}) WHERE m.said_at IS NOT NULL AND NOT EXISTS { (m)-[:IN_SESSION]->(:Session) }
RETURN count(m) AS n, collect(m.id)[..$shown] AS ids
"""

MESSAGES_OF_NO_VOICE = """
MATCH (m:Message {space: $space}) WHERE m.said_at IS NOT NULL AND NOT EXISTS { (:LocalSpeaker)-[:UTTERED]->(m) }
RETURN count(m) AS n, collect(m.id)[..$shown] AS ids
"""

VOICES_OF_NO_SESSION = """
MATCH (v:LocalSpeaker {space: $space}) WHERE v.created_at IS NOT NULL AND NOT EXISTS { (v)-[:HEARD_IN]->(:Session) }
RETURN count(v) AS n, collect(v.id)[..$shown] AS ids
"""

MESSAGES_FOR_NOBODY = """
MATCH (m:Message {space: $space})
WHERE m.said_at IS NOT NULL AND m.erased_at IS NULL AND NOT EXISTS { (m)-[:FOR]->(:Audience) }
  AND NOT EXISTS { (m)<-[:SPEAKS]-(p:Person) WHERE p.tombstone }
RETURN count(m) AS n, collect(m.id)[..$shown] AS ids
"""

FACTS_WITHOUT_SOURCE = """
MATCH (f:Fact {space: $space})
WHERE f.statement IS NOT NULL AND NOT EXISTS { (f)-[:EVIDENCED_BY {role: 'source'}]->(m:Message) WHERE m.erased_at IS NULL }
RETURN count(f) AS n, collect(f.id)[..$shown] AS ids
"""

ENTITIES_NOT_MENTIONED = """
MATCH (e:Entity {space: $space})
WHERE e.type IS NOT NULL AND e.normal_name IS NOT NULL AND NOT EXISTS { (e)-[:MENTIONED_IN]->() }
  AND NOT EXISTS { (e)-[:ALIAS_OF]-() }
RETURN count(e) AS n, collect(e.id)[..$shown] AS ids
"""

NAMES_WITHOUT_EVIDENCE = """
MATCH (n:NameProposal {space: $space})
WHERE n.status IS NOT NULL AND n.status = 'open' AND NOT EXISTS { (n)-[:EVIDENCED_BY]->(:Message) }
RETURN count(n) AS n, collect(n.id)[..$shown] AS ids
"""

AUDIENCES_FOR_NOTHING = """
MATCH (a:Audience {space: $space}) WHERE a.num_readers IS NOT NULL AND NOT EXISTS { ()-[:FOR]->(a) }
RETURN count(a) AS n, collect(a.id)[..$shown] AS ids
"""

VOICES_OF_NOBODY = """
MATCH (e:Exemplar {space: $space}) WHERE e.encoder IS NOT NULL AND NOT EXISTS { (:Person|LocalSpeaker)-[:HAS_EXEMPLAR]->(e) }
RETURN count(e) AS n, collect(e.id)[..$shown] AS ids
"""

SOUNDS_OF_NOTHING = """
MATCH (a:AudioMemory {space: $space}) WHERE a.created_at IS NOT NULL AND NOT EXISTS { (a)-[:ATTACHED_TO]->(:Message|Entity) }
RETURN count(a) AS n, collect(a.id)[..$shown] AS ids
"""

PERSONAS_OF_NOBODY = """
MATCH (n:PersonaNode {space: $space}) WHERE n.created_at IS NOT NULL AND NOT EXISTS { (n)<-[:HAS_PERSONA]-(:Person) }
RETURN count(n) AS n, collect(n.id)[..$shown] AS ids
"""

CONSENTS_OF_NOBODY = """
MATCH (c:Consent {space: $space}) WHERE c.state IS NOT NULL AND NOT EXISTS { (c)<-[:GAVE]-(:Person) }
RETURN count(c) AS n, collect(c.id)[..$shown] AS ids
"""

TOMBSTONES_WITH_MORE = """
MATCH (p:Person {space: $space})
WHERE p.tombstone AND (p.display_name IS NOT NULL OR EXISTS { (p)-[:HAS_EXEMPLAR|SPEAKS|MAY_READ|HAS_PERSONA|ATTENDED]->() })
  AND NOT EXISTS { MATCH (e:Erasure {space: $space}) WHERE p.id IN e.people }
RETURN count(p) AS n, collect(p.id)[..$shown] AS ids
"""

FRAGMENTS = """
MATCH (p:Person {space: $space})
WHERE coalesce(p.tombstone, false) = false AND p.display_name IS NULL AND coalesce(p.kind, '') <> 'bot'
  AND NOT EXISTS { (p)-[:MERGED_INTO]-(:Person) } AND COUNT { (p)-[:SPEAKS]->(:Message) } < 2
RETURN count(p) AS n, collect(p.id)[..$shown] AS ids
"""

BROKEN_OFF = """
MATCH (e:Erasure {space: $space})
RETURN count(e) AS n, collect(e.id)[..$shown] AS ids
"""

LOOKS: Mapping[str, str] = {
    "messages of no session": MESSAGES_OF_NO_SESSION,
    "messages of no voice": MESSAGES_OF_NO_VOICE,
    "voices of no session": VOICES_OF_NO_SESSION,
    "messages that nobody may read": MESSAGES_FOR_NOBODY,
    "facts without a source": FACTS_WITHOUT_SOURCE,
    "entities that nothing mentions": ENTITIES_NOT_MENTIONED,
    "names proposed for no reason": NAMES_WITHOUT_EVIDENCE,
    "audiences of nothing": AUDIENCES_FOR_NOTHING,
    "pieces of voice of nobody": VOICES_OF_NOBODY,
    "sounds of nothing": SOUNDS_OF_NOTHING,
    "personas of nobody": PERSONAS_OF_NOBODY,
    "consents of nobody": CONSENTS_OF_NOBODY,
    "erased people with something left": TOMBSTONES_WITH_MORE,
    "erasures that are not through": BROKEN_OFF,
    "people of one turn or none": FRAGMENTS,
}
"""What is looked for, each by a read of its own; the last is no fault: a fragment of somebody's voice, or somebody who said
one thing."""


async def list_loose_ends(tx: Tx, space: str, what: str) -> tuple[int, tuple[str, ...]]:
    """Of one of LOOKS how many there are, and ids of some of them."""
    (row,) = await rows(tx, LOOKS[what], space=space, shown=SHOWN)
    return int(row["n"]), tuple(sorted(row["ids"]))
