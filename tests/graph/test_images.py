"""What a transcript tells beside its words: images stay with their message, under its gate; whom and what a turn answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from service.connectors.files import read_transcript
from service.graph.access import read_scope
from service.graph.driver import Graph, rows
from service.graph.dump import dump_space
from service.graph.forget_space import forget_space
from service.graph.images import list_images
from service.pipelines.ingest import IngestRequest
from service.types.people import Assurance, Viewer
from service.types.told import Image
from tests.graph.ingest_process import an_ingest
from tests.unit.audio.speech import HOUSEHOLD

MESSAGES = """
MATCH (m:Message {space: $space})-[:IN_SESSION]->()
RETURN m {.id, .text, .captions, .speaker_id, to: COLLECT { MATCH (m)-[a:ADDRESSES]->(p) RETURN [p.id, a.how] },
  reply_to: head(COLLECT { MATCH (m)-[:REPLIES_TO]->(r) RETURN r.id }),
  turn: m.embedding__e5_small_v2_q__turn, readers: COLLECT { MATCH (m)-[:FOR]->()<-[:MAY_READ]-(p) RETURN p.id }} AS message
ORDER BY m.index
"""
FOUND = """
CALL db.index.fulltext.queryNodes('message_text', $words) YIELD node, score
WHERE node.space = $space RETURN node.id AS id ORDER BY score DESC
"""
IMAGES = "MATCH (i:Image {space: $space}) RETURN i {.*} AS image ORDER BY i.position"
BOAT, OARS = Image("boat.jpg", "a red rowing boat on the shore"), Image("https://example.org/oars.png", None)


def a_transcript(folder: Path, told: dict[int, dict[str, Any]]) -> Path:
    """The household's first day as JSON segments, with what is `told` of some of them."""
    parts = read_transcript(HOUSEHOLD / "day1.vtt").segments
    segments = [
        {"start": p.segment.start, "end": p.segment.end, "speaker": p.label, "text": p.text, "id": i, **told.get(i, {})}
        for i, p in enumerate(parts)
    ]
    path = folder / "day1.json"
    path.write_text(json.dumps(segments))
    return path


def shown(image: Image) -> dict[str, str | None]:
    return {"url": image.reference, "caption": image.caption}


def viewer(space: str, person: str) -> Viewer:
    return Viewer(space, None, person, (person,), False, Assurance.TOKEN)


async def ingested(graph: Graph, space: str, transcript: Path) -> list[dict[str, Any]]:
    await an_ingest(graph, words=True)(IngestRequest(HOUSEHOLD / "day1.ogg", space, transcript=transcript))
    return [row["message"] for row in await graph.read(rows, MESSAGES, space=space)]


async def test_images_are_written_found_by_caption_read_under_the_gate_and_gone_with_the_space(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    plain = await ingested(graph, f"{space}-plain", a_transcript(tmp_path, {}))
    transcript = a_transcript(tmp_path, {1: {"images": [shown(BOAT), shown(OARS)]}})
    found = await ingested(graph, space, transcript)
    assert [m["captions"] for m in found] == [None, "a red rowing boat on the shore", *[None] * (len(found) - 2)]
    (best,) = await graph.read(rows, FOUND, words="rowing", space=space)
    assert best["id"] == found[1]["id"], "full text is over captions, too"
    assert found[1]["turn"] != plain[1]["turn"] and found[2]["turn"] == plain[2]["turn"], "and so are the dense views"

    speaker, ids = found[1]["speaker_id"], [m["id"] for m in found]
    assert speaker is not None
    mine = await graph.read(read_scope, viewer(space, speaker))
    assert await graph.read(list_images, mine, ids) == {found[1]["id"]: [BOAT, OARS]}
    stranger = await graph.read(read_scope, viewer(space, "nobody"))
    assert await graph.read(list_images, stranger, ids) == {}

    before = await graph.read(dump_space, space)
    await an_ingest(graph, words=True)(IngestRequest(HOUSEHOLD / "day1.ogg", space, transcript=transcript))
    assert await graph.read(dump_space, space) == before
    assert [row["image"]["position"] for row in await graph.read(rows, IMAGES, space=space)] == [0, 1]
    await forget_space(graph, space)
    assert await graph.read(rows, IMAGES, space=space) == []


async def test_the_transcript_says_what_a_turn_answers_and_to_whom_it_is_said(graph: Graph, space: str, tmp_path: Path) -> None:
    told = {3: {"reply_to": "0", "addressed_to": ["Ruth"]}, 4: {"reply_to": "nothing of that id", "addressed_to": "Mara"}}
    found = await ingested(graph, space, a_transcript(tmp_path, told))
    labels = [part.label for part in read_transcript(HOUSEHOLD / "day1.vtt").segments]
    ruth = found[labels.index("Ruth")]["speaker_id"]
    assert found[3]["reply_to"] == found[0]["id"]
    assert [ruth, "caller"] in found[3]["to"] and ruth in found[3]["readers"]
    assert all(how != "caller" for m in found if m is not found[3] for _, how in m["to"])
