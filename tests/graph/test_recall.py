"""What is remembered aloud: hits with names as the asker knows them, and what they are like where nobody else listens."""

from __future__ import annotations

from service.graph.driver import Graph
from service.graph.messages import find_messages
from service.pipelines.recall import recalled
from service.streaming.prompt import Brain, memory_prompt
from service.types.search import Hit
from tests import models
from tests.graph.persona_builders import SOON, agree, read_all, told


async def test_each_half_of_a_memory_has_its_sources_and_the_right_one_is_for_the_asker_alone(graph: Graph, space: str) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await read_all(world, models.parser())
    kept = {}
    for hearers in (("ana",), ("ana", "ben"), ("ben",)):
        scope = await world.scope(*hearers)
        messages = await graph.read(find_messages, scope, [world.message(3)])
        hits = [Hit(message, 0.9, (), "attended") for message in messages.values()]
        kept[hearers] = await graph.read(recalled, scope, hits, SOON)
    lines = {hearers: [(one.brain, one.text) for one in lines] for hearers, lines in kept.items()}
    train = (Brain.LEFT, "The train leaves at nine.")
    assert lines["ana", "ben"] == lines[("ben",)] == [train]
    assert set(lines[("ana",)]) == {train, (Brain.RIGHT, "Ana loves hiking"), (Brain.RIGHT, "Ana is angry with Ben")}
    hiking = next(one for one in kept[("ana",)] if one.text.endswith("hiking"))
    assert set(hiking.sources) == {world.message(i) for i in (0, 4, 8)}
    assert "[1] 3 May 2026, Ana to Ben: The train leaves at nine." in memory_prompt(kept[("ana",)]).text
