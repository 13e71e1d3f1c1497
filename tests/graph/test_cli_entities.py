"""The commands about what is spoken of, over a real graph and with the parser that ships."""

from __future__ import annotations

from service.graph.driver import Graph
from service.graph.write_entities import entity_id
from service.types.entities import EntityType
from tests.graph.cli_builders import Typed
from tests.graph.graph_builders import Said, seed

SAID = [
    Said("ana", "The telescope is in the attic.", ("ana", "ben"), to=("ben",)),
    Said("ana", "The spyglass is old.", ("ana",)),
]


async def test_what_is_spoken_of_is_read_shown_joined_and_separated(graph: Graph, space: str, typed: Typed) -> None:
    await seed(graph, space, ("ana", "ben"), SAID)
    (done,) = await typed("entities", "read", "--json")
    assert (done["reader"], done["num_entities"]) == ("nouns-1", 3)
    assert "is read" in await typed("entities", "read")
    assert {one["name"] for one in await typed("entities", "list", "--as", "Ben", "--json")} == {"telescope", "attic"}
    themes = {one["label"]: [r["label"] for r in one["related"]] for one in await typed("entities", "themes", "--json")}
    assert themes["home"] == ["leisure"] and themes["leisure"] == ["home"]
    assert "home" in await typed("entities", "themes", "--as", "Ben")
    spyglass, telescope = (entity_id(space, EntityType.THING, name) for name in ("spyglass", "telescope"))
    await typed("entities", "same", spyglass, telescope, "--why", "the same glass")
    about = await typed("entities", "about", telescope, "--as", "Ana", "--json")
    assert [(one["name"], one["id"], one["why"]) for one in about["joined"]] == [("spyglass", spyglass, None)]
    assert (await typed("entities", "about", telescope, "--json"))["joined"][0]["why"] == "the same glass"
    assert (await typed("entities", "about", telescope, "--as", "Ben", "--json"))["joined"] == []
    assert "entities apart" in await typed("entities", "about", telescope, "--as", "Ana")
    await typed("entities", "apart", spyglass)
    assert (await typed("entities", "about", telescope, "--json"))["joined"] == []
    assert "not_found" in await typed("entities", "about", spyglass, "--as", "Ben", code=1)
