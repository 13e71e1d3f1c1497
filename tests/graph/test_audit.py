"""What hangs in the air is found and named, and in a space that was written as it should be there is nothing."""

from __future__ import annotations

from service.graph.driver import Graph, changes
from service.graph.loose_ends import LOOKS
from service.pipelines.audit import HARMLESS, audit
from tests.graph.cli_builders import Typed
from tests.graph.correction_builders import ingest, message

BREAK = """
MATCH (m:Message {id: $loose, space: $space})-[r:IN_SESSION|FOR]->() DELETE r
WITH DISTINCT m
MATCH (:LocalSpeaker)-[u:UTTERED]->(m) DELETE u
WITH DISTINCT m
MATCH (p:Person {id: $person, space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar) WITH p, head(collect(e)) AS one
SET p.voiceprint__campplus = reverse(p.voiceprint__campplus)
CREATE (:Fact {id: $space + '/fact', space: $space, created_at: datetime(), statement: 'So it is'}),
       (:Entity {id: $space + '/entity', space: $space, created_at: datetime(), type: 'thing', normal_name: 'melon'}),
       (:NameProposal {id: $space + '/name', space: $space, created_at: datetime(), status: 'open'}),
       (:Audience {id: $space + '/nothing', space: $space, created_at: datetime(), num_readers: 0, public: false}),
       (:Exemplar {id: $space + '/voice', space: $space, created_at: datetime(), encoder: 'campplus', message_id: 'x'}),
       (:LocalSpeaker {id: $space + '/local', space: $space, created_at: datetime()}),
       (:AudioMemory {id: $space + '/sound', space: $space, created_at: datetime()}),
       (:PersonaNode {id: $space + '/persona', space: $space, created_at: datetime()}),
       (:Consent {id: $space + '/consent', space: $space, created_at: datetime(), state: 'granted'}),
       (:Erasure {id: $space + '/erasure', space: $space, created_at: datetime(), touched_at: datetime(), kind: 'person',
                  subject: 'x', asked_by: 'a', why: '', key: 'of another', people: []}),
       (:Person {id: $space + '/gone', space: $space, created_at: datetime(), tombstone: true, display_name: 'Dana'}),
       (:Person {id: $space + '/once', space: $space, created_at: datetime()})
"""
NAMED = {
    "facts without a source": "fact", "entities that nothing mentions": "entity", "names proposed for no reason": "name",
    "pieces of voice of nobody": "voice", "voices of no session": "local", "sounds of nothing": "sound",
    "personas of nobody": "persona", "consents of nobody": "consent", "erasures that are not through": "erasure",
    "erased people with something left": "gone",
}  # fmt: skip


async def test_a_space_is_whole_until_somebody_breaks_it(graph: Graph, space: str, typed: Typed) -> None:
    people = await ingest(graph, space, "monday", [("ana", "Shall we?"), ("ben", "We shall."), ("ana", "Then on we go.")])
    await ingest(graph, space, "tuesday", [("ben", "So we did."), ("ana", "And how.")])
    assert not [end for end in await audit(graph, space) if end.count]
    assert {end["what"] for end in await typed("audit", "--json")} >= set(LOOKS)

    loose = message(space, "monday", 1)
    await graph.write(changes, BREAK, space=space, loose=loose, person=people[0])
    ends = {end.what: end for end in await audit(graph, space)}
    found = {what: end.ids for what, end in ends.items()}
    nothing = found.pop("audiences of nothing")
    assert f"{space}/nothing" in nothing, "and perhaps that of the turn which is for nobody now"
    assert found == {
        "messages of no session": (loose,),
        "messages of no voice": (loose,),
        "messages that nobody may read": (loose,),
        "voiceprints that are out of date": (people[0],),
        HARMLESS: (f"{space}/once",),
        **{what: (f"{space}/{name}",) for what, name in NAMED.items()},
    }
    assert set(LOOKS) <= set(ends) and [what for what, end in ends.items() if not end.is_fault] == [HARMLESS]
    await typed("audit", "--json", code=1)
