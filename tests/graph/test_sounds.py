"""Which sounds are kept, of whom, for how long, and who gets to know of them?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.audio import decode
from service.graph.access import ReadScope, read_scope
from service.graph.driver import Graph, changes, rows
from service.graph.dump import dump_space
from service.graph.sounds import find_piece, list_sounds, nearest_sounds
from service.graph.write_corrections import merge_people
from service.graph.write_reassignments import list_turns_held, save_turns
from service.pipelines.expire import expire_sounds
from service.pipelines.sounds import SoundsConfig
from service.types.people import Consent
from service.types.search import Filters
from service.types.sounds import SoundLabel, Tagged
from tests.graph.graph_builders import Said, World
from tests.graph.sound_builders import EVERYBODY, agree, evening, lines, listen, listening, policy, told
from tests.laughs import recording, talk

LAUGHS, RINGS = SoundLabel.LAUGHING, SoundLabel.RINGING
LIST_KEPT = "MATCH (a:AudioMemory {space: $space}) RETURN properties(a) AS sound ORDER BY a.id"
SPEAK = """
MATCH (:Person)-[old:SPEAKS]->(m:Message {id: $message}), (p:Person {id: $person})
DELETE old CREATE (p)-[:SPEAKS {decision: 'corrected'}]->(m) SET m.speaker_id = p.id
"""
BREAK_OFF = """
MATCH (s:Session {space: $space}) REMOVE s.sounds_by, s.sounds_of
WITH s MATCH (a:AudioMemory {space: $space}) WHERE a.label = 'ringing' OR a.start > 10
DETACH DELETE a
"""
"""As if the first write alone had been made."""
NOW = datetime.now(UTC)


async def kept(world: World) -> list[dict[str, Any]]:
    return [row["sound"] for row in await world.graph.read(rows, LIST_KEPT, space=world.space)]


async def seen(world: World, scope: ReadScope, *labels: SoundLabel, now: datetime | None = None, **filters: Any) -> set[Any]:
    """(index of the message, label)."""
    when = now or datetime.now(UTC)
    found = await world.graph.read(list_sounds, scope, labels, Filters(**filters), 100, now=when)
    return {(sound.place[1], sound.label) for sound in found}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evening(tmp_path_factory.mktemp("sound"))


async def test_of_who_agreed_it_is_kept_how_they_sound_and_no_piece_of_it(graph: Graph, space: str, sound: Path) -> None:
    world = await told(graph, space)
    assert (await listen(world, sound)).num_turns == 0 and await kept(world) == [], "nobody was asked"
    await agree(world, "ana")
    done = await listen(world, sound)
    assert (done.num_turns, done.num_sounds) == (3, 2), "Ben laughs, too, and did not agree"
    laughing, ringing = sorted(await kept(world), key=lambda one: one["label"])
    assert (laughing["label"], ringing["label"]) == ("laughing", "ringing")
    assert 4.0 <= laughing["start"] < laughing["end"] <= 7.0 and laughing["of"] == world.person("ana")
    for one in (laughing, ringing):
        assert one["expires_at"] > NOW + timedelta(days=29) and "waveform" not in one and "embedding" not in one


async def test_what_is_heard_is_told_to_who_may_read_the_message_until_it_expires(
    graph: Graph, space: str, sound: Path
) -> None:
    said = lines()
    said[3] = replace(said[3], readers=["ana"])
    world = await told(graph, space, said)
    for name in EVERYBODY:
        await agree(world, name)
    await listen(world, sound)
    ana, ben, cleo = [await world.scope(name) for name in ("ana", "ben", "cleo")]
    assert await seen(world, ana) == {(1, LAUGHS), (3, RINGS), (4, LAUGHS)}
    assert await seen(world, ben) == {(1, LAUGHS), (4, LAUGHS)}
    assert await seen(world, cleo) == await seen(world, await world.scope("ana", "cleo")) == set()
    assert await seen(world, await world.scope(unknown_hearer=True)) == set()
    assert await seen(world, ana, LAUGHS, speakers=(world.person("ben"),)) == {(4, LAUGHS)}
    assert await seen(world, ana, RINGS, sessions=("another",)) == set()
    assert await seen(world, ana, now=datetime.now(UTC) + timedelta(days=31)) == set()


async def test_pieces_are_kept_where_the_space_says_so_and_given_to_who_spoke_alone(
    graph: Graph, space: str, sound: Path, tmp_path: Path
) -> None:
    world = await told(graph, space)
    await policy(world, keeps_sound=True, sound_days=7)
    await agree(world, "ana")
    await listen(world, sound)
    assert all(len(one["embedding"]) == 64 and one["expires_at"] < NOW + timedelta(days=8) for one in await kept(world))
    ana, ben = await world.scope("ana"), await world.scope("ben")
    (laughing,) = await graph.read(list_sounds, ana, [LAUGHS], Filters(), 10, now=datetime.now(UTC))
    assert laughing.has_piece
    piece = await graph.read(find_piece, ana, laughing.id, now=datetime.now(UTC))
    assert piece is not None
    (tmp_path / "piece.ogg").write_bytes(piece)
    heard = np.concatenate([block.samples for block in decode.blocks(tmp_path / "piece.ogg", seconds=9)])
    assert 0.5 < len(heard) / 16_000 < 5.0
    for scope in (ben, await world.scope("ana", "ben"), await world.scope(reads_all=True)):
        assert await graph.read(find_piece, scope, laughing.id, now=datetime.now(UTC)) is None
    await agree(world, "ben")
    await listen(world, sound)

    async def alike(scope: ReadScope, **filters: Any) -> list[tuple[int, SoundLabel]]:
        found = await graph.read(nearest_sounds, scope, laughing.id, [], Filters(**filters), 9, now=datetime.now(UTC))
        assert all(-1.0 <= cosine <= 1.0 for _, cosine in found)
        return [(one.place[1], one.label) for one, _ in found]

    assert await alike(ana) == [(3, RINGS)], "Ben's laugh is more like hers, and what embeds it is kept for himself"
    assert await alike(ana, addressees=(world.person("ben"),)) == [(3, RINGS)]
    assert await alike(ana, addressees=(world.person("cleo"),)) == await alike(ana, by_or_to=(world.person("cleo"),)) == []
    for scope in (ben, await world.scope("cleo"), await world.scope("ana", "ben"), await world.scope(reads_all=True)):
        assert await alike(scope) == []
    bot = replace(world.viewer("ana"), principal=None)
    assert await graph.read(find_piece, await graph.read(read_scope, bot), "another", now=datetime.now(UTC)) is None
    await policy(world, keeps_sound=False)
    assert len(left := await kept(world)) == 3 and not any("waveform" in one or "embedding" in one for one in left)


@pytest.mark.parametrize(
    ("before", "told_of"), [(["ana"], False), (["ben", "cleo"], False), (["ana", "ben", "cleo"], True), (["*"], True)]
)
async def test_how_somebody_usually_speaks_is_told_by_what_all_who_read_the_turn_may_read(
    graph: Graph, space: str, tmp_path: Path, before: list[str], told_of: bool
) -> None:
    slowly = [Said("ana", "We walk on slowly by day.", before, session="sunday") for _ in range(10)]
    fast = Said("ana", " ".join(["and then we ran"] * 5), EVERYBODY, session="monday")
    world = await told(graph, space, [*slowly, fast])
    await agree(world, "ana")
    await listen(world, recording(tmp_path / "run.wav", [(40.0, talk(3.0, 210.0, seed=1))], 44.0))
    assert (SoundLabel.FAST in {label for _, label in await seen(world, await world.scope("ben"))}) == told_of


async def test_with_a_transcript_that_may_say_who_speaks_no_piece_is_kept_and_nothing_heard_where_turns_overlap(
    graph: Graph, space: str, sound: Path
) -> None:
    world = await told(graph, space)
    await policy(world, keeps_sound=True)
    await agree(world, "ana")
    await graph.write(changes, "MATCH (m:Message {id: $id}) SET m.overlapped = 0.3", id=world.message(3))
    await listen(world, sound, given=True)
    (laughing,) = await kept(world)
    assert laughing["label"] == "laughing" and "waveform" not in laughing and "embedding" not in laughing


async def test_listening_again_changes_nothing_and_another_tagger_takes_the_place_of_one(
    graph: Graph, space: str, sound: Path
) -> None:
    world = await told(graph, space)
    await policy(world, keeps_sound=True)
    await agree(world, "ana")
    await listen(world, sound)
    before = await graph.read(dump_space, space)
    assert (await listen(world, sound)).num_turns == 0
    assert await graph.read(dump_space, space) == before
    await agree(world, "ben")
    assert (await listen(world, sound)).num_turns == 3, "only his are new"
    assert {one["label"] for one in await kept(world)} == {"laughing", "ringing"} and len(await kept(world)) == 3

    class Deaf:
        name = "deaf-1"

        def __call__(self, waveform: Any) -> list[Tagged]:
            return []

    assert (await listen(world, sound, tagger=Deaf())).num_turns == 6
    assert await kept(world) == []


async def test_broken_off_between_two_writes_it_ends_as_if_it_had_not_been(graph: Graph, space: str, sound: Path) -> None:
    world = await told(graph, space)
    for name in EVERYBODY:
        await agree(world, name)
    await policy(world, keeps_sound=True)
    remember = listening(graph, config=SoundsConfig(batch=1))
    await remember(space, world.session("monday"), sound=sound)
    whole = await graph.read(dump_space, space)
    assert len(await kept(world)) == 3
    await graph.write(changes, BREAK_OFF, space=space)
    assert len(await kept(world)) == 1
    assert (await remember(space, world.session("monday"), sound=sound)).num_turns == 6
    assert await graph.read(dump_space, space) == whole


async def test_withdrawing_takes_every_sound_and_agreeing_again_brings_none_back_by_itself(
    graph: Graph, space: str, sound: Path
) -> None:
    world = await told(graph, space)
    for name in EVERYBODY:
        await agree(world, name)
    await listen(world, sound)
    await agree(world, "ana", Consent.WITHDRAWN)
    assert {one["of"] for one in await kept(world)} == {world.person("ben")}
    assert (await listen(world, sound)).num_turns == 0
    await agree(world, "ana")
    assert {one["of"] for one in await kept(world)} == {world.person("ben")}
    assert (await listen(world, sound)).num_turns == 3, "the recording is heard again"
    assert {one["of"] for one in await kept(world)} == {world.person(name) for name in EVERYBODY}


async def test_of_who_turns_out_to_be_somebody_who_refused_nothing_stays(graph: Graph, space: str, sound: Path) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await agree(world, "cleo", Consent.OPTED_OUT)
    await listen(world, sound)
    assert await kept(world)
    ana, cleo = world.person("ana"), world.person("cleo")
    await graph.write(merge_people, space, ana, cleo, actor="test", why="the same", confirmed=True)
    assert await kept(world) == [] and (await listen(world, sound)).num_turns == 0


async def test_of_a_turn_that_turns_out_to_be_of_somebody_who_refused_no_sound_stays(
    graph: Graph, space: str, sound: Path
) -> None:
    world = await told(graph, space)
    await policy(world, keeps_sound=True)
    await agree(world, "ana")
    await listen(world, sound)
    cleo = world.person("cleo")

    async def put_down(index: int) -> None:
        by = {"decision": "corrected", "by": "test"}
        (turn,) = (await graph.read(list_turns_held, space, [world.message(index)])).values()
        await graph.write(save_turns, space, [replace(turn, speaker_id=cleo, decision="corrected", speaks=by)])

    await put_down(1)
    assert {one["label"] for one in await kept(world)} == {"laughing", "ringing"}, "nobody refused"
    await agree(world, "cleo", Consent.WITHDRAWN)
    assert {one["label"] for one in await kept(world)} == {"ringing"}, "her turn, whosever it was taken for"
    await put_down(3)
    assert await kept(world) == []


async def test_a_turn_put_down_to_another_is_nobodys_sound_until_it_is_theirs_again(
    graph: Graph, space: str, sound: Path
) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await listen(world, sound)
    scope = await world.scope("ben")
    assert await seen(world, scope, LAUGHS) == {(1, LAUGHS)}
    for name, expected in (("cleo", set()), ("ana", {(1, LAUGHS)})):
        await graph.write(changes, SPEAK, message=world.message(1), person=world.person(name))
        assert await seen(world, scope, LAUGHS) == expected


async def test_a_workplace_and_time_take_them_and_so_does_forgetting_the_space(graph: Graph, space: str, sound: Path) -> None:
    world = await told(graph, space)
    await agree(world, "ana")
    await listen(world, sound)
    assert await expire_sounds(graph, [space]) == 0
    await policy(world, sound_days=1)
    later = datetime.now(UTC) + timedelta(days=2)
    assert await expire_sounds(graph, [space], now=later) == 2 and await kept(world) == []
    assert (await listen(world, sound)).num_turns == 0, "what has had its time is not made again by the same recording"
    await policy(world, workplace=True)
    await agree(world, "ben")
    assert (await listen(world, sound)).num_turns == 0 and await kept(world) == []


async def test_where_another_voice_has_a_turn_nothing_is_listened_to() -> None:
    from service.graph.write_sounds import TurnToHear
    from service.pipelines.sounds import alone

    def turn(track: str, start: float, end: float) -> TurnToHear:
        return TurnToHear(track, track, start, end, 5, 1.0, -20.0, None, track, True)

    ana = turn("a", 10.0, 20.0)
    others = [ana, turn("b", 12.0, 13.0), turn("c", 18.0, 25.0), turn("d", 9.0, 10.2)]
    assert [(s.start, s.end) for s in alone(ana, others, SoundsConfig())] == [(10.2, 12.0), (13.0, 18.0)]
    assert alone(ana, [ana, turn("b", 9.0, 21.0)], SoundsConfig()) == ()
