"""A small talk about a telescope and a piano, and what is spoken of in it."""

from __future__ import annotations

from service.language.parser import SpacyParser
from service.memory.left_brain.mentions import NounReader
from service.pipelines.entities import EntitiesConfig, RememberEntities
from tests.graph.fact_builders import Told
from tests.graph.graph_builders import Said, World

SAID = [
    Said("ana", "Ruth, I bought the telescope.", ["ana", "ruth"], to=["ruth"]),
    Said("ruth", "Hide the telescope in the attic!", ["ana", "ruth"], to=["ana"]),
    Said("ben", "I want a telescope.", ["*"], session="tuesday"),
    Said("ben", "My piano stands in the attic.", ["ben"], session="tuesday"),
    Said("ana", "It stands there.", ["ana", "ruth"], session="tuesday"),
]
TOLD = [Told("The telescope stands there", [1, 0]), Told("The piano stands in the attic", [4, 3])]


async def remembered(world: World, parser: SpacyParser, *, again: bool = False, batch: int = 1_000) -> list[bool]:
    remember = RememberEntities(world.graph, NounReader(parser), EntitiesConfig(batch=batch, pairs=batch))
    done = [await remember(world.space, world.session(name), again=again) for name in ("monday", "tuesday")]
    return [each.known_before for each in done]
