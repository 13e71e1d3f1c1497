"""Equal content gives equal dumps, and any difference shows."""

from __future__ import annotations

import json

from service.graph.driver import Graph, changes
from service.graph.dump import dump_space, without_history
from service.pipelines.correct import Correct
from tests.builders import a_session
from tests.graph.test_folding import talk, write

TOUCH = "MATCH (m:Message {space: $space, index: 0}) SET m.created_at = datetime('2001-01-01T00:00:00Z')"
CHANGE = "MATCH (m:Message {space: $space, index: 0}) SET m.text = 'another'"
TURN = "MATCH (p:Person {space: $space}) SET p.voiceprint__campplus = [x IN p.voiceprint__campplus | x + 0.001]"
NUDGE = "MATCH (p:Person {space: $space}) SET p.voiceprint__campplus = [x IN p.voiceprint__campplus | x + 0.0000001]"
CUT = "MATCH (:Person {space: $space})-[r:MAY_READ]->() WITH r LIMIT 1 DELETE r"


async def test_a_dump_is_json_without_times_of_writing_and_without_vectors(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"))])
    dump = await graph.read(dump_space, space)
    text = json.dumps(dump)
    assert "created_at" not in text and "192 numbers, sha256" in text
    assert {tuple(node["labels"]) for node in dump["nodes"]} >= {("Space",), ("Person",), ("Message",), ("Exemplar",)}
    (exemplar, *_) = (node for node in dump["nodes"] if node["labels"] == ["Exemplar"])
    assert exemplar["expires_at"] is True


async def test_when_something_was_written_makes_no_difference(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    before = await graph.read(dump_space, space)
    for unimportant in (TOUCH, NUDGE):
        await graph.write(changes, unimportant, space=space)
    assert await graph.read(dump_space, space) == before


async def test_a_changed_text_vector_or_edge_shows(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"))])
    seen = [await graph.read(dump_space, space)]
    for change in (CHANGE, TURN, CUT):
        await graph.write(changes, change, space=space)
        seen.append(await graph.read(dump_space, space))
        assert seen[-1] != seen[-2]


async def test_without_its_history_a_dump_tells_what_holds_and_not_how_it_came_about(graph: Graph, space: str) -> None:
    await write(graph, a_session(space), [talk(("ana", "a"), ("ben", "b"))])
    before = without_history(await graph.read(dump_space, space))
    assert before != await graph.read(dump_space, space)
    one, other = (node["id"] for node in before["nodes"] if node["labels"] == ["Person"])
    said = await Correct(graph).not_same(space, one, other, actor="admin", why="heard it")
    assert without_history(await graph.read(dump_space, space)) != before
    await Correct(graph).undo(space, said.correction_id, actor="admin")
    after = await graph.read(dump_space, space)
    assert {"AuditEvent", "Correction"} <= {label for node in after["nodes"] for label in node["labels"]}
    assert without_history(after) == before
