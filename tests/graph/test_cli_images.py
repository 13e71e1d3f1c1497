"""The commands about images, over a real graph: as far as the asker may see."""

from __future__ import annotations

from pathlib import Path

from service.graph.driver import Graph
from service.graph.images import Shown, save_images
from service.types.told import Image
from tests import models
from tests.graph.cli_builders import Typed
from tests.graph.graph_builders import Said, seed

BOAT, CAKE = Image("boat.jpg", "a red rowing boat"), Image("cake.jpg", "a birthday cake with candles")


async def test_images_are_found_as_whoever_asks_may_see_them(graph: Graph, space: str, typed: Typed, tmp_path: Path) -> None:
    world = await seed(graph, space, ("ana", "ben"), [Said("ana", "Look.", ("ana", "ben")), Said("ana", "And this.", ("ana",))])
    vectors = list(models.e5().passages([BOAT.caption or "", CAKE.caption or ""]))
    shown = {world.message(i): Shown([image], [vectors[i]]) for i, image in enumerate((BOAT, CAKE))}
    await graph.write(save_images, space, shown, "e5_small_v2_q")

    found = await typed("images", "find", "something sweet with candles", "--as", world.person("ana"), "--json")
    assert [(hit["found"]["image"]["reference"], hit["found"]["message_id"]) for hit in found["hits"]] == [
        ("cake.jpg", world.message(1)),
        ("boat.jpg", world.message(0)),
    ]
    cake = found["hits"][0]["found"]["id"]
    like = await typed("images", "find", "--like", cake, "--as", world.person("ana"), "--json")
    assert [hit["found"]["image"]["reference"] for hit in like["hits"]] == ["boat.jpg"]
    told = await typed("images", "find", "candles", "--as", world.person("ana"), "--until", "1999-01-01T00:00Z", "--explain")
    assert "No image" in told and "Of 2 images" in told
    as_ben = await typed("images", "find", "something sweet with candles", "--as", world.person("ben"))
    assert "boat.jpg" in as_ben and "cake.jpg" not in as_ben
    assert "fits" in await typed("images", "find", "--like", cake, "--as", world.person("ben"))
    assert "invalid_input" in await typed("images", "find", code=1)
    assert (await typed("images", "embed", str(tmp_path), "--json"))["embedded"] == 0
