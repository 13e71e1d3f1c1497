"""Are channel means what the live exemplars make them, and nothing else?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from service.graph.channels import list_channels
from service.graph.driver import Graph, changes
from service.graph.spaces import get_space
from service.graph.voices import list_voices
from service.identity.channels import channel_means
from service.pipelines.channel_means import MAX_PEOPLE, means_of
from service.pipelines.consents import record_consent
from service.pipelines.correct import Correct
from service.pipelines.expire import expire_voices
from service.pipelines.gallery import GalleryReader
from service.types.audio import Samples
from service.types.ids import derived
from service.types.people import Consent, PersonVoice
from tests.builders import VOICE
from tests.graph.voice_builders import Line, Session, a_voice_of, axis, person, save

EXPIRE_ONE = """
MATCH (p:Person {id: $person})-[:HAS_EXEMPLAR]->(e:Exemplar) SET e.expires_at = datetime() - duration({days: 1})
"""
LINE = 180
"""axis of what all have in common on the line"""


def on_the_line(index: int) -> Samples:
    return (0.6 * axis(index) + 0.8 * axis(LINE)).astype(np.float32)


def crowd(space: str, people: int = 10, channel: str = "telephone") -> list[PersonVoice]:
    """Two utterances each."""
    return [a_voice_of(space, f"p{i}", [on_the_line(2 * i), on_the_line(2 * i + 1)], channel=channel) for i in range(people)]


async def close_one(graph: Graph, space: str, name: str = "monday") -> None:
    await Session(graph, space, name).whole([Line("a", axis(170))])


async def test_enough_people_make_a_mean_when_a_session_closes(graph: Graph, space: str) -> None:
    voices = crowd(space)
    await save(graph, space, *voices)
    assert await graph.read(list_channels, space, VOICE) == {}
    await close_one(graph, space)
    made = await graph.read(list_channels, space, VOICE)
    expected = channel_means({v.person_id: v.exemplars for v in voices})
    assert made.keys() == expected.keys() == {"telephone"}
    mean = made["telephone"]
    assert (mean.num_utterances, mean.num_people, mean.version) == (20, 10, 1)
    assert np.allclose(mean.vector, expected["telephone"].vector, atol=1e-6)


async def test_the_gallery_hands_the_means_on_to_the_router(graph: Graph, space: str) -> None:
    await save(graph, space, *crowd(space))
    await close_one(graph, space)
    session = Session(graph, space, "tuesday")
    candidates = await session.gallery(space, [])
    assert candidates.channels.keys() == {"telephone"}
    folding = await session.fold()
    await session.say(folding, [Line("a", on_the_line(0), channel="telephone")])
    assert folding.checkpoint.fold.channels.keys() == {"telephone"}


async def test_the_same_exemplars_change_neither_version_nor_revision(graph: Graph, space: str) -> None:
    await save(graph, space, *crowd(space))
    await close_one(graph, space)
    revision = (await graph.read(get_space, space)).identity_revision
    await Session(graph, space, "silence").whole([Line("a", None, seconds=0.3)])
    assert (await graph.read(list_channels, space, VOICE))["telephone"].version == 1
    assert (await graph.read(get_space, space)).identity_revision == revision


async def test_another_persons_voice_makes_the_next_version(graph: Graph, space: str) -> None:
    await save(graph, space, *crowd(space))
    await close_one(graph, space)
    await save(graph, space, *crowd(space, 11)[10:])
    await close_one(graph, space, "tuesday")
    mean = (await graph.read(list_channels, space, VOICE))["telephone"]
    assert (mean.num_utterances, mean.num_people, mean.version) == (22, 11, 2)


async def test_a_withdrawn_voice_is_in_no_mean_when_the_answer_comes(graph: Graph, space: str) -> None:
    voices = crowd(space, 11)
    await save(graph, space, *voices)
    await close_one(graph, space)
    gone = person(space, "p3")
    await record_consent(
        graph, space=space, person_id=gone, state=Consent.WITHDRAWN, text_version="1", channel="form", at=datetime.now(UTC)
    )
    mean = (await graph.read(list_channels, space, VOICE))["telephone"]
    left = channel_means({v.person_id: v.exemplars for v in voices if v.person_id != gone})["telephone"]
    assert mean.num_people == 10 and np.allclose(mean.vector, left.vector, atol=1e-6)
    await record_consent(
        graph, space=space, person_id=person(space, "p4"), state=Consent.OPTED_OUT, text_version="1", channel="form"
    )
    assert await graph.read(list_channels, space, VOICE) == {}  # nine are too few


async def test_a_voice_that_turns_out_to_be_one_who_refused_is_in_no_mean(graph: Graph, space: str) -> None:
    await save(graph, space, *crowd(space, 12))
    await close_one(graph, space)
    gone, other = person(space, "p3"), person(space, "p4")
    await record_consent(graph, space=space, person_id=gone, state=Consent.WITHDRAWN, text_version="1", channel="form")
    await Correct(graph).merge(space, other, gone, actor="admin", why="heard it")
    assert (await graph.read(list_channels, space, VOICE))["telephone"].num_people == 10


async def test_an_expired_voice_is_in_no_mean(graph: Graph, space: str) -> None:
    await save(graph, space, *crowd(space, 11))
    await close_one(graph, space)
    await graph.write(changes, EXPIRE_ONE, person=person(space, "p3"))
    await expire_voices(graph, await graph.read(get_space, space))
    assert (await graph.read(list_channels, space, VOICE))["telephone"].num_people == 10


@pytest.mark.parametrize("to", ["p1", None])
async def test_a_voice_that_changes_hands_changes_the_mean_and_undone_gives_it_back(
    graph: Graph, space: str, to: str | None
) -> None:
    await save(graph, space, *crowd(space))
    monday = Session(graph, space, "monday")
    await monday.whole([Line("a", on_the_line(0), channel="telephone"), Line("a", axis(170))])
    before = (await graph.read(list_channels, space, VOICE))["telephone"]
    whose, turn = (person(space, to) if to else None), derived("message", monday.id, "0")
    assert before.num_utterances == 21
    done = await Correct(graph).reassign(space, [turn], whose, actor="admin", why="heard it")
    moved = (await graph.read(list_channels, space, VOICE))["telephone"]
    live = {p: v.exemplars for p, v in (await graph.read(list_voices, space, VOICE)).items()}
    assert moved.num_utterances == (21 if to else 20)
    assert np.allclose(moved.vector, channel_means(live)["telephone"].vector, atol=1e-6)
    assert not np.allclose(moved.vector, before.vector, atol=1e-4)
    await Correct(graph).undo(space, done.correction_id, actor="admin")
    after = (await graph.read(list_channels, space, VOICE))["telephone"]
    assert np.allclose(after.vector, before.vector, atol=1e-6) and after.num_utterances == 21


async def test_a_twin_keeps_whose_sound_it_is_and_sets_no_mean(graph: Graph, space: str) -> None:
    voices = crowd(space, channel="wideband")
    twin = replace(
        voices[0].exemplars[0], id=voices[0].exemplars[0].id + "/twin", channel="telephone", twin_of=voices[0].exemplars[0].id
    )
    voices[0] = replace(voices[0], exemplars=(*voices[0].exemplars, twin))
    await save(graph, space, *voices)
    await close_one(graph, space)
    assert (await graph.read(list_channels, space, VOICE)).keys() == {"wideband"}
    read = (await GalleryReader(graph, VOICE)(space, [])).voices[person(space, "p0")]
    assert {e.id: e.twin_of for e in read.exemplars} == {e.id: e.twin_of for e in voices[0].exemplars}


def test_of_a_great_many_the_first_by_id_make_the_mean() -> None:
    voices = {v.person_id: v for v in (a_voice_of("s", f"p{i}", [axis(i % 100)]) for i in range(MAX_PEOPLE + 20))}
    assert means_of(voices)["wideband"].num_people == MAX_PEOPLE
    few = dict(sorted(voices.items())[:MAX_PEOPLE])
    assert np.array_equal(means_of(voices)["wideband"].vector, means_of(few)["wideband"].vector)
