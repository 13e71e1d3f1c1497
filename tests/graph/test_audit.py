"""What hangs in the air is found and named, and in a space that was written as it should be there is nothing."""

from __future__ import annotations

from service.graph.driver import Graph, changes
from service.pipelines.audit import audit
from tests.graph.correction_builders import ingest, message

BREAK = """
MATCH (m:Message {id: $loose, space: $space})-[r:IN_SESSION|FOR]->() DELETE r
WITH DISTINCT m
MATCH (p:Person {id: $person, space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar) WITH p, head(collect(e)) AS one
SET p.voiceprint__campplus = reverse(p.voiceprint__campplus)
CREATE (:Fact {id: $space + '/fact', space: $space, created_at: datetime(), statement: 'So it is'}),
       (:Entity {id: $space + '/entity', space: $space, created_at: datetime(), type: 'thing', normal_name: 'melon'}),
       (:Audience {id: $space + '/nothing', space: $space, created_at: datetime(), num_readers: 0, public: false}),
       (:Exemplar {id: $space + '/voice', space: $space, created_at: datetime(), encoder: 'campplus', message_id: 'x'}),
       (:Person {id: $space + '/gone', space: $space, created_at: datetime(), tombstone: true, display_name: 'Dana'})
"""


async def test_a_space_is_whole_until_somebody_breaks_it(graph: Graph, space: str) -> None:
    people = await ingest(graph, space, "monday", [("ana", "Shall we?"), ("ben", "We shall."), ("ana", "Then on we go.")])
    await ingest(graph, space, "tuesday", [("ben", "So we did."), ("ana", "And how.")])
    assert not [end for end in await audit(graph, space) if end.is_fault]

    loose = message(space, "monday", 1)
    await graph.write(changes, BREAK, space=space, loose=loose, person=people[0])
    found = {end.what: end.ids for end in await audit(graph, space) if end.is_fault}
    assert found == {
        "messages of no session": (loose,),
        "messages that nobody may read": (loose,),
        "facts without a source": (f"{space}/fact",),
        "entities that nothing mentions": (f"{space}/entity",),
        "audiences of nothing": found["audiences of nothing"],
        "pieces of voice of nobody": (f"{space}/voice",),
        "erased people with something left": (f"{space}/gone",),
        "voiceprints that are out of date": (people[0],),
    }
    assert f"{space}/nothing" in found["audiences of nothing"]
