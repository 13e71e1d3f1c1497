"""What a transcript tells beside its words: images stay with their message, under its gate; whom and what a turn answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.errors import InvalidInput
from service.graph.access import read_scope
from service.graph.driver import Graph, rows
from service.graph.dump import dump_space
from service.graph.forget_space import forget_space
from service.graph.images import list_images
from service.language.images import CaptionEmbedder
from service.pipelines.images import Embedded, Images, LookedFor, NothingToGoBy
from service.pipelines.ingest import IngestRequest
from service.pipelines.search import Search
from service.types.audio import SAMPLE_RATE, EmbeddingSpace, Samples
from service.types.images import Picture
from service.types.people import Assurance, Viewer
from service.types.search import Filters, Layer, Tool
from service.types.told import Image
from tests import models
from tests.builders import write_wav
from tests.graph.ingest_process import an_ingest
from tests.unit.audio.speech import a_clip

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
STARTED = datetime(2026, 3, 1, 18, 0, tzinfo=UTC)
Recording = tuple[Path, list[dict[str, Any]]]
"""The sound, and the segments of its transcript."""
BOAT, OARS = Image("boat.jpg", "a red rowing boat on the shore"), Image("https://example.org/oars.png", None)


SAID = (
    ("Nora", 0, "Ben, did you call the plumber?"),
    ("Ben", 0, "Not yet, look at this."),
    ("Ruth", 0, "Good evening, everybody."),
    ("Nora", 1, "I will call him myself."),
)
"""Speaker, which of their clips is heard, and what the transcript says that they said."""


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """Three voices in turn, and the segments of a transcript."""
    pause, sounds, segments, clock = np.zeros(SAMPLE_RATE // 2, np.float32), [], [], 0.0
    for speaker, number, text in SAID:
        sound = a_clip(speaker, number).samples
        end = clock + len(sound) / SAMPLE_RATE
        segments.append({"id": len(segments), "start": clock, "end": end, "speaker": speaker, "text": text})
        sounds += [sound, pause]
        clock = end + 0.5
    path = write_wav(tmp_path_factory.mktemp("recordings") / "kitchen.wav", np.concatenate(sounds))
    return path, segments


def shown(image: Image) -> dict[str, str | None]:
    return {"url": image.reference, "caption": image.caption}


def viewer(space: str, person: str) -> Viewer:
    return Viewer(space, None, person, (person,), False, Assurance.TOKEN)


async def ingested(graph: Graph, space: str, recording: Recording, told: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """The recording with its transcript, and what is `told` of some of its segments beside the words."""
    path, segments = recording
    transcript = path.with_name(f"{space}.json")
    transcript.write_text(json.dumps([{**segment, **told.get(i, {})} for i, segment in enumerate(segments)]))
    await an_ingest(graph, words=True)(IngestRequest(path, space, transcript=transcript, started_at=STARTED))
    return [row["message"] for row in await graph.read(rows, MESSAGES, space=space)]


async def test_images_are_written_found_by_caption_read_under_the_gate_and_gone_with_the_space(
    graph: Graph, space: str, recording: Recording, tmp_path: Path
) -> None:
    plain = await ingested(graph, f"{space}-plain", recording, {})
    told = {1: {"images": [shown(BOAT), shown(OARS)]}}
    found = await ingested(graph, space, recording, told)
    assert [m["captions"] for m in found] == [None, "a red rowing boat on the shore", *[None] * (len(found) - 2)]
    (best,) = await graph.read(rows, FOUND, words="rowing", space=space)
    assert best["id"] == found[1]["id"], "full text is over captions, too"
    assert found[1]["turn"] != plain[1]["turn"] and found[2]["turn"] == plain[2]["turn"], "and so are the dense views"

    speaker, ids = found[1]["speaker_id"], [m["id"] for m in found]
    assert speaker is not None
    mine = await graph.read(read_scope, viewer(space, speaker))
    listed = await graph.read(list_images, mine, ids)
    assert {id: [known.image for known in shown] for id, shown in listed.items()} == {found[1]["id"]: [BOAT, OARS]}
    stranger = await graph.read(read_scope, viewer(space, "nobody"))
    assert await graph.read(list_images, stranger, ids) == {}

    before = await graph.read(dump_space, space)
    await ingested(graph, space, recording, told)
    assert await graph.read(dump_space, space) == before
    assert [row["image"]["position"] for row in await graph.read(rows, IMAGES, space=space)] == [0, 1]
    for each in (space, f"{space}-plain"):
        await forget_space(graph, each)
    assert await graph.read(rows, IMAGES, space=space) == []


async def test_the_transcript_says_what_a_turn_answers_and_to_whom_it_is_said(
    graph: Graph, space: str, recording: Recording
) -> None:
    told = {3: {"reply_to": "0", "addressed_to": ["Ruth"]}, 2: {"reply_to": "nothing of that id", "addressed_to": "Mara"}}
    found = await ingested(graph, space, recording, told)
    ruth = found[2]["speaker_id"]
    assert found[3]["reply_to"] == found[0]["id"]
    assert [ruth, "caller"] in found[3]["to"] and ruth in found[3]["readers"]
    assert all(how != "caller" for m in found if m is not found[3] for _, how in m["to"])


async def test_images_are_found_by_words_and_by_another_image_within_the_scope(
    graph: Graph, space: str, recording: Recording, tmp_path: Path
) -> None:
    cake, ship = (
        Image("cake.jpg", "a birthday cake with eighty candles"),
        Image("../ship.jpg", "a ship with white sails at sea"),
    )
    told = {0: {"images": [shown(cake)]}, 1: {"images": [shown(ship), shown(BOAT), shown(OARS)]}}
    found = await ingested(graph, space, recording, told)
    first, second = found[0]["speaker_id"], found[1]["speaker_id"]
    assert first and second and first != second
    scope = await graph.read(read_scope, viewer(space, second))
    images = Images(graph, CaptionEmbedder(models.e5()))
    (best, *others) = await images.find(scope, LookedFor("the boat that one rows"))
    assert (best.image, best.message_id) == (BOAT, found[1]["id"]) and -1 <= best.score <= 1
    assert OARS not in [other.image for other in others], "without a caption there is nothing to go by"
    like = await images.find(scope, LookedFor(like=best.id))
    assert like[0].image == ship and best.id not in [one.id for one in like]

    whole = await images(scope, LookedFor("the boat that one rows"), Filters(speakers=(second,)))
    assert [hit.found.image for hit in whole.hits] == [BOAT, ship], "the cake was shown before they were there"
    assert (whole.hits[0].message.speaker_id, whole.visible, whole.model) == (second, 2, "e5_small_v2_q")
    by_first = await images(scope, LookedFor("the boat that one rows"), Filters(speakers=(first,)))
    assert by_first.hits == (), "a filter is asked of the message it was shown with"

    stranger = await graph.read(read_scope, viewer(space, "nobody"))
    assert await images.find(stranger, LookedFor("a boat")) == () == await images.find(stranger, LookedFor(like=best.id))
    assert (await images(stranger, LookedFor("a boat"))).visible == 0
    with pytest.raises(InvalidInput):
        await images.find(scope, LookedFor("a boat"), first=0)
    for wrong in ({}, {"words": "a boat", "like": best.id}, {"words": " "}):
        with pytest.raises(InvalidInput):
            LookedFor(**wrong)
    with pytest.raises(NothingToGoBy):
        await images.find(scope, LookedFor(picture=b"red"))

    async def wanted() -> Images:
        return images

    search = Search(graph, models.e5(), images=wanted)
    asked = await search(scope, "What was in the photo with the rowing boat?")
    (boat,) = [hit for hit in asked.hits if Tool.IMAGE in {one.tool for one in hit.found}][:1]
    assert boat.message.id == found[1]["id"] and Layer.IMAGES in boat.layers
    assert any(leg.startswith("image:e5_small_v2_q") for leg in asked.legs)
    assert not any(leg.startswith("image:") for leg in (await search(scope, "Did you call the plumber?")).legs)
    only = await search(scope, "rowing boat", Filters(layers=(Layer.IMAGES,)))
    assert [hit.message.id for hit in only.hits] == [found[1]["id"]]
    assert (await search(stranger, "the photo of the boat", Filters(layers=(Layer.IMAGES,)))).hits == ()


class ByColour:
    """An ImageEmbedder that knows an image by its first bytes."""

    embedding_space = EmbeddingSpace("clip_vit_b32", "test", 512)

    def pictures(self, given: Sequence[Picture]) -> list[Samples | None]:
        return [None if p.content is None else self.words([p.content.decode()])[0] for p in given]

    def words(self, texts: Sequence[str]) -> Samples:
        return np.array([np.eye(512)[ord(text[0])] for text in texts], dtype=np.float32)


async def test_an_embedder_of_images_is_shown_the_files_of_one_folder_and_nothing_else(
    graph: Graph, space: str, recording: Recording, tmp_path: Path
) -> None:
    outside = Image("../secret.jpg", "not in the folder")
    found = await ingested(graph, space, recording, {1: {"images": [shown(BOAT), shown(OARS), shown(outside)]}})
    folder = tmp_path / "album"
    folder.mkdir()
    (folder / "boat.jpg").write_text("red")
    (tmp_path / "secret.jpg").write_text("secret")
    images = Images(graph, ByColour())
    assert await images.embed(space, folder) == Embedded(1, 2)
    assert await images.embed(space, folder) == Embedded(0, 2), "once"
    scope = await graph.read(read_scope, viewer(space, found[1]["speaker_id"]))
    assert [(one.image, round(one.score, 3)) for one in await images.find(scope, LookedFor("red"))] == [(BOAT, 1.0)]
    assert [one.image for one in await images.find(scope, LookedFor(picture=b"red"))] == [BOAT], "by a picture of one's own"
