"""Is a voice read with whom it is merged into, and found among many?"""

from __future__ import annotations

import asyncio

import pytest

from service.graph.driver import Graph, changes
from service.graph.spaces import bump_revision, lock_space
from service.graph.voices import count_voices, list_voices
from service.graph.write_people import PersonWrite, VoiceWrite, save_people, save_voices
from service.pipelines.correct import Correct
from service.pipelines.gallery import GalleryConfig, GalleryReader
from tests.builders import VOICE
from tests.graph.voice_builders import a_voice_of, axis, person, save

ERASE_VOICE = """
MATCH (p:Person {space: $space, id: $person})-[:HAS_EXEMPLAR]->(e:Exemplar)
DETACH DELETE e
"""


FORGET_CENTROID = """
MATCH (p:Person {space: $space, id: $person})
REMOVE p.voiceprint__campplus
"""


async def merge(graph: Graph, space: str, name: str, into: str) -> str:
    done = await Correct(graph).merge(
        space, person(space, name), person(space, into), actor="test", why="test", confirmed=False
    )
    return done.correction_id


async def same_as(graph: Graph, space: str) -> dict[str, str | None]:
    names = {person(space, name): name for name in ("ana", "ann", "anna", "ben")}
    voices = await graph.read(list_voices, space, VOICE)
    return {names[p]: None if v.same_as is None else names[v.same_as] for p, v in voices.items()}


async def people(graph: Graph, space: str) -> None:
    await save(graph, space, *(a_voice_of(space, name, [axis(i)]) for i, name in enumerate(("ana", "ann", "anna", "ben"))))


async def test_everybody_of_a_chain_stands_for_its_end(graph: Graph, space: str) -> None:
    await people(graph, space)
    assert set((await same_as(graph, space)).values()) == {None}
    first = await merge(graph, space, "anna", "ann")
    await merge(graph, space, "ann", "ana")
    assert await same_as(graph, space) == {"ana": None, "ann": "ana", "anna": "ana", "ben": None}
    await Correct(graph).undo(space, first, actor="test")
    assert await same_as(graph, space) == {"ana": None, "ann": "ana", "anna": None, "ben": None}


async def test_who_stands_for_others_may_have_no_voice(graph: Graph, space: str) -> None:
    await people(graph, space)
    await merge(graph, space, "ann", "ana")
    await graph.write(changes, ERASE_VOICE, space=space, person=person(space, "ana"))
    assert await same_as(graph, space) == {"ann": "ana", "anna": None, "ben": None}


async def test_people_merged_into_one_are_counted_once(graph: Graph, space: str) -> None:
    await people(graph, space)
    await merge(graph, space, "ann", "ana")
    assert await graph.read(count_voices, space, VOICE) == 3


async def test_a_set_is_counted_that_only_a_fragment_has_a_voice_of(graph: Graph, space: str) -> None:
    await people(graph, space)
    await merge(graph, space, "ann", "ana")
    await merge(graph, space, "anna", "ana")
    await graph.write(changes, FORGET_CENTROID, space=space, person=person(space, "ana"))
    assert await graph.read(count_voices, space, VOICE) == 2


async def test_a_merge_reaches_a_gallery_that_is_held_in_memory(graph: Graph, space: str) -> None:
    await people(graph, space)
    gallery = GalleryReader(graph, VOICE)
    await gallery(space, [])
    await merge(graph, space, "anna", "ann")
    await merge(graph, space, "ann", "ana")  # anna changes hands without an edge of hers changing
    voices = (await gallery(space, [])).voices
    assert voices[person(space, "anna")].same_as == voices[person(space, "ann")].same_as == person(space, "ana")


async def test_a_gallery_is_the_same_in_pages_of_any_size(graph: Graph, space: str) -> None:
    await people(graph, space)
    await merge(graph, space, "anna", "ana")
    whole = await graph.read(list_voices, space, VOICE)
    for page in (1, 3, 100):
        read = (await GalleryReader(graph, VOICE, GalleryConfig(page=page))(space, [])).voices
        assert {p: (v.same_as, len(v.exemplars)) for p, v in read.items()} == {
            p: (v.same_as, len(v.exemplars)) for p, v in whole.items()
        }


async def test_with_a_candidate_comes_everybody_merged_with_them(graph: Graph, space: str) -> None:
    await people(graph, space)
    await merge(graph, space, "ann", "ana")
    shortlist = GalleryReader(graph, VOICE, GalleryConfig(max_exact=1, recent=0))
    found = (await shortlist(space, [], near=[person(space, "ann")])).voices
    assert set(found) >= {person(space, "ana"), person(space, "ann")}


async def test_with_who_changed_of_late_comes_everybody_merged_with_them(graph: Graph, space: str) -> None:
    """Else the member left out would be missing from their set's rows, and the other stand alone."""
    await people(graph, space)
    await merge(graph, space, "ann", "ana")
    await save(graph, space, a_voice_of(space, "ann", [axis(1), axis(1)]))
    shortlist = GalleryReader(graph, VOICE, GalleryConfig(max_exact=1, recent=1))
    candidates = await shortlist(space, [])
    assert set(candidates.voices) == {person(space, "ana"), person(space, "ann")}
    assert candidates.population == 3


@pytest.mark.parametrize("held", [True, False], ids=["all are held", "some are asked for"])
@pytest.mark.parametrize("before", [True, False], ids=["read before", "not read before"])
async def test_who_is_of_a_revision_that_can_be_read_is_known(graph: Graph, space: str, held: bool, before: bool) -> None:
    """Others see what a commit wrote piece by piece: its revision, and a moment later its people. Here that moment is long."""
    await people(graph, space)
    gallery = GalleryReader(graph, VOICE, GalleryConfig() if held else GalleryConfig(max_exact=1))
    if before:
        await gallery(space, [])
    revision = await graph.write(bump_revision, space)
    eve = a_voice_of(space, "eve", [axis(4)])
    async with graph.session() as session, await session.begin_transaction() as writing:
        await lock_space(writing, space)
        reading = asyncio.create_task(gallery(space, []))
        await asyncio.sleep(0.2)
        await save_people(writing, space, [PersonWrite(eve.person_id, 1, 4.0)], revision)
        await save_voices(writing, space, VOICE, [VoiceWrite(eve, eve.exemplars)])
        await writing.commit()
    candidates = await reading
    assert candidates.revision == revision and eve.person_id in candidates.voices


@pytest.mark.parametrize("held", [True, False], ids=["all are held", "some are asked for"])
async def test_a_question_waits_for_nobody_who_writes(graph: Graph, space: str, held: bool) -> None:
    await people(graph, space)
    gallery = GalleryReader(graph, VOICE, GalleryConfig() if held else GalleryConfig(max_exact=1))
    await gallery(space, [])
    await save(graph, space, a_voice_of(space, "eve", [axis(4)]))
    async with graph.session() as session, await session.begin_transaction() as writing:
        await lock_space(writing, space)
        asked = await asyncio.wait_for(gallery.asked(space, []), 10)
        await writing.rollback()
    assert person(space, "eve") in asked.voices
    assert (await gallery(space, [])).voices.keys() == asked.voices.keys() or not held
