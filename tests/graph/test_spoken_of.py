"""Words that name an entity, while they are being said: of what may be read, and of nothing else."""

from __future__ import annotations

from service.graph.driver import Graph
from service.graph.entities import find_named_entities
from service.graph.write_entities import entity_id, save_alias
from service.streaming.words import phrases_of
from service.types.entities import EntityType
from tests import models
from tests.graph.entity_builders import SAID, TOLD, remembered
from tests.graph.fact_builders import tell
from tests.graph.graph_builders import seed


async def test_words_name_what_the_viewer_may_know_to_be_spoken_of(graph: Graph, space: str) -> None:
    world = await seed(graph, space, ["ana", "ruth", "ben"], SAID)
    await tell(world, TOLD)
    await remembered(world, models.parser())
    names = phrases_of("Are the telescopes in the attic, or the piano?", 3)

    async def named(*hearers: str, **viewer: bool) -> list[str]:
        scope = await world.scope(*hearers, **viewer)
        return [one.name for one in await graph.read(find_named_entities, scope, names, 5)]

    assert set(await named("ana")) == {"telescope", "attic"} and (await named("ana"))[0] == "telescope"
    assert set(await named("ben")) == {"telescope", "attic", "piano"}
    assert await named("ana", "ben") == await named(unknown_hearer=True) == ["telescope"]
    piano, telescope = (entity_id(space, EntityType.THING, name) for name in ("piano", "telescope"))
    await graph.write(save_alias, space, piano, telescope, by="admin", why="a joke")
    assert len(await named("ben")) == 2 and await named(unknown_hearer=True) == ["telescope"]
