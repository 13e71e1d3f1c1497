"""What was erased of a meeting does not come back from its inbox, whatever is delivered late, to whichever worker."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from service.graph.driver import Graph, rows
from service.graph.dump import dump_space
from service.graph.erase_turns import erase_turns
from service.types.erasure import Erasure, Subject, SubjectKind
from tests.graph.erase_builders import Household
from tests.graph.graph_builders import HashedWords
from tests.graph.meeting_builders import (
    ANA,
    BO,
    a_worker,
    began,
    deliver,
    ended,
    inbox,
    meetings,
    said,
    sessions,
    turns,
    writes_with,
)

PATIENCE = 60.0
LETTERS = "MATCH (d:Delivery {space: $space, status: 'dead'}) RETURN d.error AS error, d.body AS body, d.body_sha256 AS hash"


async def test_what_was_erased_of_a_meeting_is_not_written_again(graph: Graph, space: str, tmp_path: Path) -> None:
    household = Household(graph, space, tmp_path, dana="", ben="", cleo="")

    async def delivered(*events: object, at: float) -> None:
        """To a worker who knows nothing yet, and folds the meeting anew."""
        await deliver(graph, space, *events, at=at)  # type: ignore[arg-type]
        async with a_worker(graph, space, tmp_path, using=writes_with(graph, embedder=HashedWords())) as worker:
            await worker.settle(PATIENCE)

    async def holds(word: str, *, inbox: bool = True) -> bool:
        dump = await graph.read(dump_space, space)
        nodes = [node for node in dump["nodes"] if inbox or node["labels"] != ["Delivery"]]
        return word in json.dumps(nodes).lower()

    first = said(ANA, "The sapphire is in the teapot.", 1.0)
    whole = (began(), first, said(BO, "A zeppelin carries it.", 4.0), said(BO, "Let us go.", 6.0), ended())
    await delivered(*whole, at=60.0)
    hers, his, _ = [turn["id"] for turn in await turns(graph, space)]
    (session,) = [found["id"] for found in await sessions(graph, space)]

    erasure = Erasure(
        id="x",
        space=space,
        subject=Subject(SubjectKind.MESSAGE, hers),
        asked_by="a",
        why="",
        at=datetime.now(UTC),
        messages=(hers,),
    )
    await graph.write(erase_turns, erasure, 10, half_life_days=1.0)
    await delivered(said(BO, "And the tickets.", 8.0), at=600.0)
    after = await turns(graph, space)
    assert [turn["text"] for turn in after] == [None, "A zeppelin carries it.", "Let us go.", "And the tickets."]
    assert after[0]["vector"] is None and after[0]["label"] == "erased" and not await holds("sapphire", inbox=False)

    erase = household.eraser()
    assert (await erase(space, Subject(SubjectKind.MESSAGE, his), asked_by="a")).complete
    assert not await holds("zeppelin"), "nor does the inbox keep its words"
    await delivered(said(ANA, "By zeppelin, then.", 9.0), at=700.0)
    assert await inbox(graph, space) == {"dead": 1} and not await holds("zeppelin")

    assert (await erase(space, Subject(SubjectKind.SESSION, session), asked_by="a")).complete
    await delivered(*whole, at=800.0)
    letters = await graph.read(rows, LETTERS, space=space)
    assert {(row["error"].split(":")[0], row["body"], len(row["hash"])) for row in letters} == {("meeting_too_late", None, 64)}
    assert await turns(graph, space) == [] and not await holds("sapphire") and not await holds("zeppelin")
    assert {meeting["status"] for meeting in await meetings(graph, space)} == {"closed"}
