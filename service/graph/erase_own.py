"""What did it hold itself, that it would be found by? Read before it is gone, kept in memory alone, and asked for afterwards:
an index is asked with the very vectors and words, since what is far from a question at random is not found by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from graph_schema.schema import VECTOR_INDEXES
from service.graph.driver import Tx, rows
from service.types.audio import Samples
from service.types.erasure import Erasure, SubjectKind

PHRASE = 8
"""Words of a text that are asked for together, at most."""

_OF: dict[str, LiteralString] = {
    "Person": """
UNWIND $people AS id
MATCH (n:Person {id: id, space: $space})
WITH n, n[$property] AS vector LIMIT $limit
RETURN n.id AS id, vector
""",
    "Exemplar": """
CALL () {
  UNWIND $people AS id
  MATCH (:Person {id: id, space: $space})-[:HAS_EXEMPLAR]->(n:Exemplar)
  RETURN n
  UNION
  UNWIND $turns AS id
  MATCH (n:Exemplar {message_id: id}) WHERE n.space = $space
  RETURN n
}
WITH n, n[$property] AS vector WHERE vector IS NOT NULL
RETURN n.id AS id, vector LIMIT $limit
""",
    "Message": """
UNWIND $turns AS id
MATCH (n:Message {id: id, space: $space})
WITH n, n[$property] AS vector WHERE vector IS NOT NULL
RETURN n.id AS id, vector LIMIT $limit
""",
    "Fact": """
UNWIND $facts AS id
MATCH (n:Fact {id: id, space: $space})
WITH n, n[$property] AS vector WHERE vector IS NOT NULL
RETURN n.id AS id, vector LIMIT $limit
""",
    "Image": """
UNWIND $turns AS id
MATCH (n:Image)-[:ATTACHED_TO]->(:Message {id: id, space: $space})
WITH n, n[$property] AS vector WHERE vector IS NOT NULL
RETURN n.id AS id, vector LIMIT $limit
""",
}
"""By the label that a vector index is on."""

LIST_TEXTS = """
UNWIND $turns AS id
MATCH (m:Message {id: id, space: $space}) WHERE m.text IS NOT NULL
RETURN m.id AS id, m.text AS text ORDER BY size(m.text) DESC, id LIMIT $limit
"""

LIST_STATEMENTS = """
UNWIND $facts AS id
MATCH (f:Fact {id: id, space: $space})
RETURN f.id AS id, f.statement AS text ORDER BY size(f.statement) DESC, id LIMIT $limit
"""

FOUND_BY_VECTOR = """
CALL db.index.vector.queryNodes($index, 100, $vector) YIELD node
WITH node WHERE node.id = $id AND node.space = $space
RETURN count(node) AS n
"""

FOUND_BY_WORDS = """
CALL db.index.fulltext.queryNodes($index, $query) YIELD node
WITH node WHERE node.id = $id AND node.space = $space
RETURN count(node) AS n
"""


@dataclass(frozen=True, slots=True)
class Own:
    """Some of it: (index, id of the node, what it is found by)."""

    vectors: tuple[tuple[str, str, Samples], ...] = ()
    phrases: tuple[tuple[str, str, str], ...] = ()


async def list_own(tx: Tx, erasure: Erasure, turns: Sequence[str], limit: int) -> Own:
    """At most `limit` of each index, of what is still there: `turns` are the ids of its turns."""
    people = list(erasure.people) if erasure.subject.kind is SubjectKind.PERSON else []
    asked = {"space": erasure.space, "turns": list(turns), "facts": list(erasure.facts), "limit": limit}
    vectors = []
    for index in VECTOR_INDEXES:
        found = await rows(tx, _OF[index.label], property=index.property, people=people, **asked)
        vectors += [(index.name, row["id"], row["vector"]) for row in found if row["vector"] is not None]
    texts = [("message_text", "text", row) for row in await rows(tx, LIST_TEXTS, **asked)]
    texts += [("fact_text", "statement", row) for row in await rows(tx, LIST_STATEMENTS, **asked)]
    phrases = [(index, row["id"], f'{field}:"{said}"') for index, field, row in texts if (said := phrase_of(row["text"]))]
    return Own(tuple(vectors), tuple(phrases))


def phrase_of(text: str) -> str:
    """The first words of it, with nothing that a query takes for more than words; empty where there are none."""
    words = text.replace('"', " ").replace("\\", " ").split()
    return " ".join(words[:PHRASE]) if any(letter.isalnum() for word in words[:PHRASE] for letter in word) else ""


async def count_own_vectors(tx: Tx, space: str, own: Own) -> int:
    """How many of the nodes the vector indexes still give out for what they held."""
    asked = [{"index": index, "id": id, "vector": list(map(float, vector))} for index, id, vector in own.vectors]
    return sum([(await rows(tx, FOUND_BY_VECTOR, space=space, **one))[0]["n"] for one in asked])


async def count_own_words(tx: Tx, space: str, own: Own) -> int:
    """How many of the nodes the full-text indexes still give out for what they said. Ask when these are up to date."""
    asked = [{"index": index, "id": id, "query": phrase} for index, id, phrase in own.phrases]
    return sum([(await rows(tx, FOUND_BY_WORDS, space=space, **one))[0]["n"] for one in asked])
