"""When was somebody laughing about the trip? Asked plainly, and of the sounds themselves; each of what they may know."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.errors import InvalidInput
from service.graph.driver import Graph
from service.graph.spaces import ensure_space
from service.pipelines.answer import Answerer
from service.pipelines.clusters import remember_question
from service.pipelines.found_before import FoundBefore
from service.pipelines.search import Search
from service.pipelines.sound_search import SoundSearch
from service.retrieval.found_before import FoundBeforeConfig
from service.types.ids import fresh
from service.types.people import SpaceSettings
from service.types.search import AnswerStatus, Filters, SearchResult, Tool
from service.types.sounds import SoundLabel, SoundsAsked
from tests.graph.graph_builders import HashedWords, World
from tests.graph.searching import differing
from tests.graph.sound_builders import agree, evening, listen, told

LAUGHS = (SoundLabel.LAUGHING,)


@pytest.fixture(scope="module")
async def world(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Ana laughs in the second line, about the trip, and Ben in the fifth, about the dentist; only read."""
    space = f"test-{fresh()}"
    await graph.write(ensure_space, SpaceSettings(space))
    world = await told(graph, space)
    for name in ("ana", "ben"):
        await agree(world, name)
    await listen(world, evening(tmp_path_factory.mktemp("sound")))
    yield world


async def plainly(world: World, question: str, *hearers: str) -> SearchResult:
    return await Search(world.graph, HashedWords())(await world.scope(*hearers), question)


def by_sound(result: SearchResult) -> list[int]:
    return [hit.message.index for hit in result.hits if any(found.tool is Tool.SOUND for found in hit.found)]


async def test_a_plain_question_finds_where_somebody_laughs_about_it_first(world: World) -> None:
    found = await plainly(world, "When was someone laughing about the trip?", "ana")
    assert found.hits[0].message.index == 1 and by_sound(found)[0] == 1
    assert ("sound", 2.0) in found.hits[0].because and "sound:2" in found.legs
    other = await plainly(world, "When was someone laughing about the bill of the dentist?", "ana")
    assert other.hits[0].message.index == 4
    hers = await plainly(world, "When did Ana laugh?", "ben")
    assert by_sound(hers) == [1] and hers.hits[0].message.index == 1


async def test_asked_again_and_again_it_scores_as_it_did_the_first_time(world: World) -> None:
    ana, texts = await world.scope("ana"), HashedWords()
    before = FoundBefore(world.graph, texts, FoundBeforeConfig(alike={texts.embedding_space.name: 0.3}, better=-10.0))
    search = Search(world.graph, texts, found_before=before)
    results: list[SearchResult] = []
    for question in ("When was someone laughing about the trip?", "the trip?") * 3:
        found = await search(ana, question)
        again = await before.again(ana, question, found.hits)
        await remember_question(world.graph, ana, question, [], 1, again)
        results.append(found)
    for first, again in ((2, 4), (1, 3), (3, 5)):
        assert differing(results[again], results[first]) == set()


async def test_the_answer_is_what_was_said_laughing(world: World) -> None:
    answer = await Answerer(world.graph, Search(world.graph, HashedWords()))(
        await world.scope("ben"), "When was someone laughing about the trip?"
    )
    assert answer.status is AnswerStatus.ANSWERED and "You forgot the tent again." in answer.text.split("\n")[0]


async def test_without_a_sound_in_the_question_or_in_what_may_be_known_nothing_is_listened_for(world: World) -> None:
    for question, hearers in (
        ("What about the trip?", ("ana",)),
        ("When was someone laughing about the trip?", ("cleo",)),
        ("When was someone laughing about the trip?", ("ana", "cleo")),
        ("When was someone coughing about the trip?", ("ana",)),
    ):
        found = await plainly(world, question, *hearers)
        assert by_sound(found) == [] and not any(leg.startswith("sound") for leg in found.legs)


async def test_sounds_are_found_by_label_person_and_what_they_are_about(world: World) -> None:
    async def search() -> Search:
        return Search(world.graph, HashedWords())

    find = SoundSearch(world.graph, search)
    ana = await world.scope("ana")

    async def places(asked: SoundsAsked, **filters: tuple[str, ...]) -> list[tuple[int, str]]:
        return [(h.message.index, h.sound.label.value) for h in await find(ana, asked, Filters(**filters))]

    assert await places(SoundsAsked()) == [(4, "laughing"), (3, "ringing"), (1, "laughing")], "the newest first"
    assert await places(SoundsAsked(LAUGHS)) == [(4, "laughing"), (1, "laughing")]
    assert (await places(SoundsAsked(LAUGHS, "the trip")))[0] == (1, "laughing")
    assert (await places(SoundsAsked(LAUGHS, "the dentist's bill")))[0] == (4, "laughing")
    assert await places(SoundsAsked(LAUGHS, "the trip"), speakers=(world.person("ben"),)) == [(4, "laughing")]
    hits = await find(ana, SoundsAsked(LAUGHS, "the trip"))
    assert hits[0].visible_because == "said_it" and 0.0 < hits[-1].score <= hits[0].score <= 1.0
    assert await find(await world.scope("cleo"), SoundsAsked(LAUGHS, "the trip")) == ()
    with pytest.raises(InvalidInput):
        await find(ana, SoundsAsked(), first=51)
