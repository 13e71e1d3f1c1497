"""Feelings and traits in the graph: of people who agreed and nobody else, as their turns are now, for themselves alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.graph.driver import Graph, changes, rows
from service.graph.dump import Dump, dump_space
from service.graph.forget_inferred import INFER_PERSONA
from service.graph.forget_sounds import KEEP_AUDIO
from service.graph.paging import Page
from service.graph.personas import find_subject, list_felt, list_shown
from service.graph.spaces import get_space, save_space
from service.graph.write_consents import save_consent
from service.graph.write_corrections import merge_people
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.language.parser import SpacyParser
from service.memory.left_brain.mentions import NounReader
from service.pipelines.entities import RememberEntities
from service.pipelines.ingest import Ingest, IngestRequest
from service.pipelines.personas import find_personas
from service.types.affect import Persona
from service.types.audio import SAMPLE_RATE, Waveform
from service.types.people import Consent
from service.types.sounds import SoundLabel, Tagged
from tests import models
from tests.builders import write_wav
from tests.graph.graph_builders import STARTED, Said, World
from tests.graph.persona_builders import EVERYBODY, SOON, agree, read_all, remember, told
from tests.graph.sound_builders import listening
from tests.unit.audio.speech import a_clip

NODES = """
MATCH (p:Person {space: $space})-[:HAS_PERSONA]->(n:PersonaNode)
RETURN p.display_name AS whose, n.description AS description, n.support AS support, n.num_sessions AS num_sessions,
       COUNT { (n)-[:EVIDENCED_BY]->(:Message) } AS evidence,
       COLLECT { MATCH (n)-[:CROSS_BRAIN]->(q:Person) RETURN q.display_name } AS concerns
ORDER BY description
"""
FELT = """
MATCH (m:Message {space: $space}) WHERE m.affect_of IS NOT NULL OR m.valence IS NOT NULL OR m.marks IS NOT NULL
RETURN m.speaker_id AS speaker, m.affect_of AS of, m.emotion AS emotion, m.pitch AS pitch, m.arousal AS arousal
ORDER BY m.said_at
"""
UNREAD = "MATCH (m:Message {session_id: $session, affect_of: $person}) REMOVE m.affect_by"
MOVE = """
MATCH (p:Person {id: $from})-[r:SPEAKS]->(m:Message {id: $message})
MATCH (q:Person {id: $to})
DELETE r
CREATE (q)-[:SPEAKS {decision: 'corrected'}]->(m)
SET m.speaker_id = q.id
"""
CONCERNS = """
MATCH (n:PersonaNode {space: $space})
RETURN n.description AS description, COLLECT { MATCH (n)-[:CROSS_BRAIN]->(e:Entity) RETURN e.normal_name } AS entities
"""


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    return models.parser()


async def nodes(world: World) -> list[dict[str, Any]]:
    return await world.graph.read(rows, NODES, space=world.space)


async def felt(world: World) -> list[dict[str, Any]]:
    return await world.graph.read(rows, FELT, space=world.space)


async def dumped(world: World) -> Dump:
    return await world.graph.read(dump_space, world.space)


async def seen(world: World, *hearers: str, of: str | None = None, **viewer: Any) -> tuple[Persona, ...] | None:
    scope = await world.scope(*hearers, **viewer)
    return await world.graph.read(find_personas, scope, world.person(of) if of else None, SOON)


def words(personas: Sequence[Persona] | None) -> set[tuple[str | None, int]]:
    return {(one.words if ":" not in (one.target or "") else one.target, one.support) for one in personas or ()}


async def test_nothing_is_inferred_of_who_did_not_agree(graph: Graph, space: str, parser: SpacyParser) -> None:
    world = await told(graph, space)
    before = await dumped(world)
    for day in ("monday", "tuesday", "wednesday"):
        assert (await remember(graph, parser)(space, world.session(day))).num_read == 0
    assert await dumped(world) == before
    await agree(world, "ana", Consent.OPTED_OUT)
    assert await read_all(world, parser) == 0
    assert await felt(world) == []


async def test_of_who_agreed_turns_are_read_and_what_lasts_becomes_nodes(graph: Graph, space: str, parser: SpacyParser) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    assert await read_all(world, parser) == 9
    found = await felt(world)
    assert {(row["speaker"], row["of"]) for row in found} == {(world.person("ana"), world.person("ana"))}
    assert [row["emotion"] for row in found] == [None, "anger", None] * 3
    assert await nodes(world) == [
        {"whose": "Ana", "description": "is angry with {target}", "support": 3, "num_sessions": 3, "evidence": 3,
         "concerns": ["Ben"]},
        {"whose": "Ana", "description": "loves hiking", "support": 3, "num_sessions": 3, "evidence": 3, "concerns": []},
    ]  # fmt: skip
    after = await dumped(world)
    assert await read_all(world, parser) == 0
    for day in ("monday", "tuesday", "wednesday"):
        await remember(graph, parser)(space, world.session(day), again=True)
    assert await dumped(world) == after, "a second run changes nothing"


async def test_a_node_points_to_the_entity_that_its_own_turns_speak_of(graph: Graph, space: str, parser: SpacyParser) -> None:
    said = [
        Said("ana", text, EVERYBODY, session=day)
        for day in ("monday", "tuesday", "wednesday")
        for text in ("I love dogs.", "I'm so angry at Ben.", "The cat is here.")
    ]
    world = await told(graph, space, said)
    await agree(world, "ana")
    for day in ("monday", "tuesday", "wednesday"):
        await RememberEntities(graph, NounReader(parser))(space, world.session(day))
    await read_all(world, parser)
    found = await graph.read(rows, CONCERNS, space=space)
    assert {(row["description"], *row["entities"]) for row in found} == {("loves dogs", "dog"), ("is angry with Ben", "ben")}


class Breaking:
    """A parser that does something after its first text, and breaks off if asked to."""

    name, languages = "breaking", frozenset({"en"})

    def __init__(self, parser: SpacyParser) -> None:
        self.parser, self.calls = parser, 0

    def __call__(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        if self.calls == 2:
            raise RuntimeError("broken off")
        return self.parser(texts)


async def test_broken_off_it_goes_on_and_ends_the_same(graph: Graph, space: str, parser: SpacyParser) -> None:
    world = await told(graph, space)
    await agree(world, "ana", at=STARTED)
    with pytest.raises(RuntimeError):
        await read_all(world, Breaking(parser))
    assert len(await felt(world)) == 2, "what was read by then, of a session that was not read whole"
    assert await read_all(world, parser) == 7
    resumed = await dumped(world)
    await graph.write(changes, "MATCH (m:Message {space: $space}) REMOVE m.affect_by", space=space)
    await graph.write(changes, "MATCH (n:PersonaNode {space: $space}) DETACH DELETE n", space=space)
    assert await read_all(world, parser) == 9
    assert await dumped(world) == resumed


async def test_what_was_inferred_goes_with_the_consent(graph: Graph, space: str, parser: SpacyParser) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await agree(world, "ben")
    await read_all(world, parser)
    assert {row["whose"] for row in await nodes(world)} == {"Ana", "Ben"}
    await agree(world, "ana", Consent.WITHDRAWN)
    assert {row["whose"] for row in await nodes(world)} == {"Ben"}
    assert {row["of"] for row in await felt(world)} == {world.person("ben")}
    assert await read_all(world, parser) == 0
    assert await seen(world, "ana") == ()


class Withdrawing(Breaking):
    """While it parses, somebody else has taken the consent back."""

    def __init__(self, parser: SpacyParser, taken: Callable[[], Coroutine[Any, Any, None]]) -> None:
        super().__init__(parser)
        self.taken, self.loop = taken, asyncio.get_running_loop()

    def __call__(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        asyncio.run_coroutine_threadsafe(self.taken(), self.loop).result(60)
        return self.parser(texts)


@pytest.mark.parametrize("how", ["withdrawn", "workplace"])
async def test_after_consent_was_taken_back_no_more_words_are_shown_to_what_reads(
    graph: Graph, space: str, parser: SpacyParser, how: str
) -> None:
    """Those of others are."""
    world = await told(graph, space, [Said(who, "I love tea.", EVERYBODY) for who in ("ana", "ana", "ben", "ana")])
    await agree(world, "ana")
    await agree(world, "ben")

    async def taken() -> None:
        await (agree(world, "ana", Consent.WITHDRAWN) if how == "withdrawn" else make_workplace(world))

    reading = Withdrawing(parser, taken)
    await remember(graph, reading, batch=1)(space, world.session("monday"))
    others = {"withdrawn": 1, "workplace": 0}[how]
    assert reading.calls == 1 + others and len(await felt(world)) == others


@pytest.mark.parametrize("how", ["withdrawn", "workplace"])
async def test_consent_taken_back_while_it_reads_is_seen_by_the_transaction_that_writes(
    graph: Graph, space: str, parser: SpacyParser, how: str
) -> None:
    world = await told(graph, space)
    await agree(world, "ana")

    async def taken() -> None:
        if how == "withdrawn":
            await agree(world, "ana", Consent.WITHDRAWN)
        else:
            await make_workplace(world)

    await remember(graph, Withdrawing(parser, taken))(space, world.session("monday"))
    assert await felt(world) == [] and await nodes(world) == []


async def make_workplace(world: World) -> None:
    settings = await world.graph.read(get_space, world.space)
    await world.graph.write(save_space, replace(settings, workplace=True))


async def test_a_workplace_infers_nothing_and_keeps_nothing(graph: Graph, space: str, parser: SpacyParser) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await read_all(world, parser)
    await make_workplace(world)
    assert await felt(world) == [] and await nodes(world) == []
    assert await read_all(world, parser) == 0


async def test_only_the_person_themselves_sees_it_and_only_alone(graph: Graph, space: str, parser: SpacyParser) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await read_all(world, parser)
    ben = f"person:{world.person('ben')}"
    assert words(await seen(world, "ana")) == {("hiking", 3), (ben, 3)}
    assert words(await seen(world, "ana", of="ana")) == {("hiking", 3), (ben, 3)}
    assert await seen(world, "ben", of="ana") is None
    assert await seen(world, "ana", of="ben") is None
    assert await seen(world, "ana", "ben") is None
    assert await seen(world, "ana", unknown_hearer=True) is None
    assert await seen(world, reads_all=True, of="ana") is None
    assert await seen(world) is None


async def test_a_turn_that_was_somebody_elses_after_all_is_no_evidence_until_it_is_given_back(
    graph: Graph, space: str, parser: SpacyParser
) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await agree(world, "ben")
    await read_all(world, parser)
    ana, ben = world.person("ana"), world.person("ben")
    moved = world.message(1)
    await graph.write(changes, MOVE, **{"from": ana, "to": ben, "message": moved})
    assert words(await seen(world, "ana")) == {("hiking", 3)}, "two quarrels are not several"
    assert words(await seen(world, "ben")) == {("hiking", 3)}, "nor are they Ben's feelings"
    await graph.write(changes, MOVE, **{"from": ben, "to": ana, "message": moved})
    assert words(await seen(world, "ana")) == {("hiking", 3), (f"person:{ben}", 3)}


async def test_a_merge_joins_what_two_were_only_once_it_is_confirmed(graph: Graph, space: str, parser: SpacyParser) -> None:
    said = [Said(who, "I love hiking.", [who], session=day) for who, day in (("ana", "monday"), ("cleo", "tuesday"))]
    world = await told(graph, space, said)
    await agree(world, "ana")
    await agree(world, "cleo")
    await read_all(world, parser)
    assert await seen(world, "ana") == ()
    await world.merge("cleo", "ana", confirmed=False)
    assert await seen(world, "ana") == ()
    await graph.write(changes, "MATCH (:Person {id: $id})-[r:MERGED_INTO]->() SET r.confirmed = true", id=world.person("cleo"))
    assert words(await seen(world, "ana")) == {("hiking", 2)}
    assert await nodes(world) == [], "and no node moved"


async def test_a_voice_that_nobody_was_asked_about_takes_no_consent_away(graph: Graph, space: str, parser: SpacyParser) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await world.merge("cleo", "ana", confirmed=False)
    assert await read_all(world, parser) == 9
    assert {row["whose"] for row in await nodes(world)} == {"Ana"}


@pytest.mark.parametrize("state", [Consent.WITHDRAWN, Consent.OPTED_OUT, Consent.GRANTED, None])
async def test_who_turns_out_to_be_somebody_that_refused_loses_what_was_inferred(
    graph: Graph, space: str, parser: SpacyParser, state: Consent | None
) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await agree(world, "ben")
    if state is not None:
        await agree(world, "cleo", Consent.GRANTED, at=STARTED)
        await agree(world, "cleo", state)
    await read_all(world, parser)
    assert {row["whose"] for row in await nodes(world)} == {"Ana", "Ben"}
    cleo, ana = world.person("cleo"), world.person("ana")
    await graph.write(merge_people, space, cleo, ana, actor="test", why="", confirmed=False)
    left = {"Ben"} if state in (Consent.WITHDRAWN, Consent.OPTED_OUT) else {"Ana", "Ben"}
    assert {row["whose"] for row in await nodes(world)} == left
    assert {row["of"] for row in await felt(world)} == {world.person(name.lower()) for name in left}


async def test_broken_off_before_nodes_were_made_they_are_made_at_the_next(
    graph: Graph, space: str, parser: SpacyParser
) -> None:
    """Also of those whose turns had all been read by then."""
    world = await told(graph, space)
    await agree(world, "ana", at=STARTED)
    await agree(world, "ben", at=STARTED)
    await read_all(world, parser)
    whole = await dumped(world)
    for unread in ("", world.person("ben")):
        await graph.write(changes, "MATCH (n:PersonaNode {space: $space}) DETACH DELETE n", space=space)
        await graph.write(changes, UNREAD, session=world.session("monday"), person=unread)
        await remember(graph, parser)(space, world.session("monday"))
        assert await dumped(world) == whole


async def test_how_it_was_spoken_is_measured_against_the_speakers_usual(
    graph: Graph, space: str, parser: SpacyParser, tmp_path: Path
) -> None:
    lines = ["The train leaves at nine."] * 8
    world = await told(graph, space, [Said("ana", text, EVERYBODY, session="monday") for text in lines])
    await agree(world, "ana")
    pitches = [150.0, 152.0, 148.0, 151.0, 149.0, 150.0, 153.0, 240.0]
    time = np.arange(3 * SAMPLE_RATE) / SAMPLE_RATE
    silence = np.zeros(SAMPLE_RATE, np.float32)
    turns = [0.1 * sum(np.sin(2 * np.pi * k * hertz * time) / k for k in range(1, 6)) for hertz in pitches]
    sound = np.concatenate([part for turn in turns for part in (np.asarray(turn, np.float32), silence)])
    read = remember(graph, parser)
    await read(space, world.session("monday"), sound=write_wav(tmp_path / "a.wav", sound))
    found = await felt(world)
    assert [row["pitch"] for row in found] == pytest.approx(pitches, rel=0.01)
    assert all(abs(row["arousal"] - 0.4) < 0.15 for row in found[:7]) and found[7]["arousal"] > 0.7
    measured = await dumped(world)
    await read(space, world.session("monday"), again=True)
    assert await dumped(world) == measured, "what was measured is kept where the sound is not at hand"


async def test_an_ingest_reads_who_agreed_and_measures_their_sound(
    graph: Graph, space: str, parser: SpacyParser, tmp_path: Path
) -> None:
    sound = write_wav(tmp_path / "nora.wav", a_clip("Nora").samples)
    words = tmp_path / "nora.vtt"
    words.write_text("WEBVTT\n\n00:00.000 --> 00:02.500\n<v Nora>I am so happy about the garden.\n")
    request = IngestRequest(sound, space, transcript=words, started_at=STARTED)
    router = RouterConfig(thresholds=thresholds_for("campplus"))
    sounds = listening(graph, Everything())
    ingest = Ingest(
        graph, models.segmenter(), models.campplus(), router=router, personas=remember(graph, parser), sounds=sounds
    )  # fmt: skip
    await ingest(request)
    world = World(graph, space, ())
    assert await felt(world) == []
    (nora,) = await graph.read(rows, "MATCH (p:Person {space: $space}) RETURN p.id AS id", space=space)
    await graph.write(
        save_consent, space, nora["id"], Consent.GRANTED, text_version="1", channel="form", at=STARTED, purpose=INFER_PERSONA
    )
    assert (await ingest(request)).already_complete
    (turn,) = await felt(world)
    assert (turn["of"], turn["emotion"]) == (nora["id"], "joy") and 80 < turn["pitch"] < 400
    assert await graph.read(rows, "MATCH (a:AudioMemory {space: $space}) RETURN a", space=space) == []
    await graph.write(
        save_consent, space, nora["id"], Consent.GRANTED, text_version="1", channel="form", at=STARTED, purpose=KEEP_AUDIO
    )
    assert (await ingest(request)).already_complete
    (sound,) = await graph.read(rows, "MATCH (a:AudioMemory {space: $space}) RETURN a.of AS of, a.label AS label", space=space)
    assert (sound["of"], sound["label"]) == (nora["id"], "music")


class Everything:
    """A tagger that hears music everywhere."""

    name = "everything-1"

    def __call__(self, waveform: Waveform) -> list[Tagged]:
        return [Tagged(SoundLabel.MUSIC, waveform.segment, 1.0)]


async def test_turns_that_were_read_are_listed_newest_first_for_their_speaker_alone(
    graph: Graph, space: str, parser: SpacyParser
) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await read_all(world, parser)
    scope = await world.scope("ana")
    subject = await graph.read(find_subject, scope, None)
    first = await graph.read(list_felt, scope, subject, page=Page(first=4))
    assert [one.message_id for one in first.items] == [world.message(i) for i in (11, 9, 8, 7)]
    assert first.has_next and first.items[1].affect.emotion == "anger" and first.items[1].affect.valence < -0.5
    rest = await graph.read(list_felt, scope, subject, page=Page(first=9, after=first.cursors[-1]))
    assert [one.message_id for one in rest.items] == [world.message(i) for i in (5, 4, 3, 1, 0)]
    assert await graph.read(find_subject, await world.scope("ben"), world.person("ana")) == ()
    early, late = rest.items[-1].said_at, first.items[0].said_at
    windows = [await graph.read(list_shown, scope, subject, since) for since in (early, late, late + timedelta(days=1))]
    assert len(windows[0][0]) > len(windows[1][0])
    assert windows[2] == ([], {}), "what is long ago is not even read"
