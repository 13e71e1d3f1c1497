"""Is anything left of what was erased? Every string of the space is looked at, of nodes and edges, and the indexes are asked:
by id, by name, by vector. What a look finds is mended, then looked for again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, LiteralString

from graph_schema.schema import TEXT_SPACES, VOICE_SPACES
from service.graph.cypher import for_space
from service.graph.driver import Tx, rows
from service.graph.erase import add_counts
from service.graph.erase_names import FOREIGN, name_parts
from service.graph.spaces import lock_space
from service.graph.write_audiences import forget_unused
from service.types.audio import Samples
from service.types.erasure import Erasure, Held, Needles

MOST = 2_000
"""Strings that one look gives: what is mended of them is not found by the next."""

SCAN_NODES = """
MATCH (n) WHERE n.space = $space AND NOT n:Receipt AND NOT n:Erasure AND NOT (n:Job AND n.status IN ['queued', 'running'])
WITH n, n.session_id IN $sessions OR n:Session OR n:NameProposal OR n:Entity OR n:Image AS near
UNWIND [key IN keys(n) WHERE key <> 'space' AND key <> 'waveform' AND NOT key STARTS WITH 'embedding' AND key <> 'mean'
        AND NOT key STARTS WITH 'vector__' AND NOT key STARTS WITH 'voiceprint__'
        AND NOT (n:Message AND key IN ['text', 'captions']) AND NOT (n:Delivery AND key IN ['body', 'carried'])
        AND NOT (n:Session AND key = 'checkpoint' AND n.status = 'open')] AS key
WITH n, near, key, n[key] AS value
WITH n, near, key, value, CASE WHEN value IS :: STRING NOT NULL THEN [value]
                               WHEN value IS :: LIST<STRING NOT NULL> NOT NULL THEN value ELSE [] END AS items
WHERE any(item IN items WHERE any(id IN $ids WHERE item CONTAINS id)
  OR (key IN $tells
      AND (any(part IN $parts WHERE toLower(item) CONTAINS part) OR item =~ $foreign
           OR (near AND any(part IN $words WHERE toLower(item) CONTAINS part)))))
RETURN elementId(n) AS node, labels(n)[0] AS label, key AS property, value, CASE labels(n)[0]
    WHEN 'Session' THEN n.id IN $sessions
    WHEN 'Entity' THEN n.type = 'person' AND NOT EXISTS { MATCH (n)-[:MENTIONED_IN]->(m) WHERE NOT m.session_id IN $sessions }
    WHEN 'Image' THEN EXISTS { MATCH (n)-[:ATTACHED_TO]->(m:Message) WHERE m.session_id IN $sessions }
    WHEN 'NameProposal' THEN EXISTS { MATCH (n)-[:EVIDENCED_BY|ABOUT]->(m) WHERE m.session_id IN $sessions }
    ELSE coalesce(n.session_id IN $sessions, false) END AS there,
  CASE WHEN n:Fact THEN COLLECT { MATCH (e:Entity {type: 'person'})-[:MENTIONED_IN]->(n) RETURN e.normal_name } ELSE [] END
    AS people
"""
"""Of what others said nothing: they may have called the name. Nor how far an open session is written: its writer holds that."""

SCAN_EDGES = """
MATCH (n)-[r]->(m) WHERE n.space = $space
UNWIND keys(r) AS key
WITH n, r, m, key, r[key] AS value
WITH n, r, m, key, value, CASE WHEN value IS :: STRING NOT NULL THEN [value]
                               WHEN value IS :: LIST<STRING NOT NULL> NOT NULL THEN value ELSE [] END AS items
WHERE any(item IN items WHERE any(id IN $ids WHERE item CONTAINS id)
  OR (key IN $tells AND (any(part IN $parts WHERE toLower(item) CONTAINS part) OR item =~ $foreign)))
RETURN elementId(r) AS node, type(r) AS label, key AS property, value, true AS is_edge,
       coalesce(n.session_id IN $sessions, false) OR coalesce(m.session_id IN $sessions, false) AS there
"""

COUNT_SPACE = """
MATCH (n) WHERE n.space = $space
RETURN count(n) AS nodes
"""

SAVE_NODES = """
UNWIND $changed AS row
MATCH (n) WHERE elementId(n) = row.node AND n.space = $space
SET n += row.properties
"""

DELETE_NODES = """
UNWIND $nodes AS row
MATCH (n) WHERE elementId(n) = row.node AND n.space = $space
OPTIONAL MATCH (n)-[:FOR]->(a:Audience)
WITH n, a.id AS audience
DETACH DELETE n
RETURN DISTINCT audience
"""

SAVE_EDGES = """
UNWIND $changed AS row
MATCH ()-[r]->() WHERE elementId(r) = row.node
SET r += row.properties
"""

COUNT_OF_PEOPLE = """
MATCH (p:Person {space: $space}) WHERE p.id IN $people
RETURN p {.*} AS person, COUNT { (p)-[:SPEAKS|MAY_READ|ATTENDED|HAS_EXEMPLAR|HAS_PERSONA|SHARES]-() }
  + COUNT { (p)-[:MERGED_INTO|NOT_SAME_AS|MAY_BE]-() } + COUNT { (p)<-[:ADDRESSES|ABOUT|CROSS_BRAIN|IS]-() } AS edges
"""

COUNT_SESSION = """
MATCH (m:Message {session_id: $session_id}) WHERE m.index IS NOT NULL AND m.space = $space
RETURN count(m) AS n
UNION ALL
MATCH (l:LocalSpeaker {session_id: $session_id}) WHERE l.space = $space
RETURN count(l) AS n
UNION ALL
MATCH (f:Fact {session_id: $session_id}) WHERE f.space = $space
RETURN count(f) AS n
UNION ALL
MATCH (s:Session {id: $session_id, space: $space})
RETURN count(s) AS n
"""

COUNT_MESSAGES = """
UNWIND $ids AS id
MATCH (m:Message {id: id, space: $space}) WHERE m.text IS NOT NULL OR m.erased_at IS NULL OR EXISTS { (m)<-[:SPEAKS]-(:Person) }
RETURN count(m) AS n
"""

COUNT_FACTS = """
UNWIND $ids AS id
MATCH (f:Fact {id: id, space: $space})
RETURN count(f) AS n
"""

AWAIT_FULL_TEXT = "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()"

FOUND_IN_MESSAGES = """
CALL db.index.fulltext.queryNodes('message_text', $query) YIELD node
WITH node WHERE node.space = $space
RETURN count(node) AS n
"""

FOUND_IN_FACTS = """
CALL db.index.fulltext.queryNodes('fact_text', $query) YIELD node
WITH node WHERE node.space = $space
RETURN count(node) AS n
"""

LIST_FOUND_FACTS = """
CALL db.index.fulltext.queryNodes('fact_text', $query) YIELD node
WITH node WHERE node.space = $space
RETURN node.statement AS statement
"""

FOUND_IN_NAMES = """
CALL db.index.fulltext.queryNodes('person_name', $query) YIELD node
WITH node WHERE node.space = $space AND node.id IN $people
RETURN count(node) AS n
"""

FOUND_BY_VOICE = """
CYPHER 25
UNWIND $vectors AS vector
CALL (vector) {
  MATCH (p:Person)
  SEARCH p IN (VECTOR INDEX person_voiceprint__<space> FOR vector WHERE p.space = $space LIMIT 100)
  RETURN p.id AS id
}
WITH DISTINCT id WHERE id IN $people
RETURN count(id) AS n
"""

FOUND_BY_EMBEDDING = """
CYPHER 25
UNWIND $vectors AS vector
CALL (vector) {
  MATCH (m:Message)
  SEARCH m IN (VECTOR INDEX message_embedding__<space>__turn FOR vector WHERE m.space = $space LIMIT 100)
  RETURN m
}
WITH DISTINCT m WHERE m.erased_at IS NOT NULL OR m.session_id = $session_id
RETURN count(m) AS n
"""

TOMBSTONE = frozenset({"id", "space", "created_at", "tombstone", "revision", "aliases", "num_turns", "net_speech"})
"""All that a person has who was erased."""


async def scan(tx: Tx, space: str, needles: Needles, tells: Collection[str], wanted: Callable[[Held], bool]) -> list[Held]:
    """Strings of nodes and edges that may hold an id or, in the properties `tells`, a name, but for what others said, where
    they are `wanted`. At most MOST of each."""
    asked: dict[str, Any] = {
        "space": space,
        "ids": list(needles.forms),
        "tells": sorted(tells) if needles.names or needles.words else [],
        "parts": name_parts(needles.names),
        "words": name_parts(needles.words),
        "foreign": FOREIGN,
        "sessions": list(needles.sessions),
    }
    return [*await _wanted(tx, SCAN_NODES, asked, wanted), *await _wanted(tx, SCAN_EDGES, asked, wanted)]


async def _wanted(tx: Tx, query: LiteralString, asked: Mapping[str, Any], wanted: Callable[[Held], bool]) -> list[Held]:
    """Row by row: what the query gives is more than is wanted, and of a space that is not written in ASCII much more."""
    found: list[Held] = []
    async for row in await tx.run(query, dict(asked)):
        held = Held(**{**row.data(), "people": tuple(row.get("people") or ())})
        if len(found) < MOST and wanted(held):
            found.append(held)
    return found


async def save_redacted(
    tx: Tx,
    erasure: Erasure,
    nodes: Sequence[tuple[Held, Mapping[str, Any]]],
    edges: Sequence[tuple[Held, Mapping[str, Any]]],
    gone: Sequence[Held],
) -> None:
    """Let strings be as given, and delete the nodes `gone`."""
    await lock_space(tx, erasure.space)
    for query, changed in ((SAVE_NODES, nodes), (SAVE_EDGES, edges)):
        if changed:
            await tx.run(
                query,
                space=erasure.space,
                changed=[{"node": held.node, "label": held.label, "properties": dict(now)} for held, now in changed],
            )
    if gone:
        deleted = [{"node": held.node, "label": held.label} for held in gone]
        left = [row["audience"] for row in await rows(tx, DELETE_NODES, space=erasure.space, nodes=deleted)]
        await forget_unused(tx, erasure.space, [audience for audience in left if audience])
    kinds = [*(held.label for held, _ in nodes), *(f"{held.label} edges" for held, _ in edges), *(held.label for held in gone)]
    await add_counts(tx, erasure, {f"strings of {kind}": kinds.count(kind) for kind in set(kinds)})


async def count_space(tx: Tx, space: str) -> int:
    """Nodes of the space: what a scan looks at."""
    return int((await rows(tx, COUNT_SPACE, space=space))[0]["nodes"])


async def count_by_id(tx: Tx, erasure: Erasure) -> int:
    """Nodes that are named by its ids, and are more than may stay."""
    space = erasure.space
    people = [] if erasure.subject.kind.value != "person" else list(erasure.people)
    persons = await rows(tx, COUNT_OF_PEOPLE, space=space, people=people)
    more = sum(bool(set(row["person"]) - TOMBSTONE) or row["edges"] > 0 for row in persons)
    session = erasure.subject.id if erasure.subject.kind.value == "session" else ""
    for row in await rows(tx, COUNT_SESSION, space=space, session_id=session):
        more += row["n"]
    for query, ids in ((COUNT_MESSAGES, erasure.messages), (COUNT_FACTS, erasure.facts)):
        more += (await rows(tx, query, space=space, ids=list(ids)))[0]["n"]
    return int(more)


async def count_by_text(tx: Tx, erasure: Erasure, needles: Needles, tells: Callable[[str], bool]) -> int:
    """What the full-text indexes give out for ids of people (they stand among readers) and names; of messages for ids only:
    others may have called the name. `tells`: whether a statement that the index gives does tell of it; it knows no capitals."""
    await tx.run(AWAIT_FULL_TEXT)
    ids = " ".join(f'"{id.replace("-", "")}"' for id in needles.ids)
    names = " ".join(f'"{name}"' for name in needles.names if not set(name) & set('"\\'))
    people = list(erasure.people) if erasure.subject.kind.value == "person" else []
    looks: list[tuple[str, dict[str, Any]]] = [
        (query, {"query": f"readers:({ids})"}) for query in (FOUND_IN_MESSAGES, FOUND_IN_FACTS) if people
    ]
    if names:
        looks += [(FOUND_IN_NAMES, {"query": names, "people": people})]
    facts = await rows(tx, LIST_FOUND_FACTS, space=erasure.space, query=f"statement:({names})") if names else []
    counts = [(await rows(tx, query, space=erasure.space, **asked))[0]["n"] for query, asked in looks]
    return sum(map(int, counts)) + sum(tells(row["statement"]) for row in facts)


async def count_by_vector(tx: Tx, erasure: Erasure, voices: Sequence[Samples], texts: Mapping[str, Sequence[Samples]]) -> int:
    """What vector indexes give out near `voices` and, by the name of the embedding space, `texts`."""
    found, space = 0, erasure.space
    people = list(erasure.people) if erasure.subject.kind.value == "person" else []
    session = erasure.subject.id if erasure.subject.kind.value == "session" else ""
    for name, dimension in VOICE_SPACES.items():
        vectors = [list(map(float, vector)) for vector in voices if len(vector) == dimension]
        if vectors and people:
            query = for_space(FOUND_BY_VOICE, name)
            found += (await rows(tx, query, space=space, vectors=vectors, people=people))[0]["n"]
    for name in TEXT_SPACES:
        vectors = [list(map(float, vector)) for vector in texts.get(name, ())]
        if vectors:
            query = for_space(FOUND_BY_EMBEDDING, name)
            found += (await rows(tx, query, space=space, vectors=vectors, session_id=session))[0]["n"]
    return found
