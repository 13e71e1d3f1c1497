from __future__ import annotations

import pytest

from service.graph.driver import Graph
from service.graph.inbox import UnknownKind, UnknownVoice, count_unknown, find_unknown, list_unknown
from service.graph.paging import Page
from tests.graph.graph_builders import Said, World, seed
from tests.graph.identity_builders import bound, may_be, named_by, not_same, proposed, unname, voice_of

PEOPLE = ("ana", "ben", "cleo", "voice", "guest")


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    """Ana and Ben hear a nameless `voice` on Monday and Tuesday, and a mumble that is nobody's; Cleo hears `guest` alone."""
    world = await seed(
        graph,
        space,
        PEOPLE,
        [
            Said("ana", "hello", ("ana", "ben"), to=("ben",)),
            Said("voice", "I brought the ladder", ("ana", "ben")),
            Said(None, "mhm", ("ana", "ben")),
            Said("voice", "only Ana hears this", ("ana",), session="tuesday"),
            Said("voice", "and this", ("ana",), session="tuesday"),
            Said("cleo", "who are you", ("cleo",), session="attic"),
            Said("guest", "a plumber", ("cleo",), session="attic"),
        ],
    )
    await unname(world, "voice", "guest")
    return world


async def inbox(graph: Graph, world: World, *names: str, reads_all: bool = False) -> dict[str, UnknownVoice]:
    scope = await world.scope(*names, reads_all=reads_all)
    found = await graph.read(list_unknown, scope, page=Page(first=50))
    assert await graph.read(count_unknown, scope) == len(found.items)
    return {voice.id: voice for voice in found.items}


async def test_voices_left_unresolved_and_people_without_a_name_wait_to_be_known(graph: Graph, world: World) -> None:
    waiting = await inbox(graph, world, "ana")
    assert {(v.id, v.kind) for v in waiting.values()} == {
        (voice_of(world, "monday"), UnknownKind.LOCAL_SPEAKER),
        (world.person("voice"), UnknownKind.PERSON),
    }
    assert waiting[voice_of(world, "monday")].turns == (world.message(2),)
    assert waiting[voice_of(world, "monday")].label == "voice"
    assert waiting[voice_of(world, "monday")].unresolved == (world.message(2),)
    assert waiting[world.person("voice")].unresolved == ()


async def test_turns_and_times_are_those_the_viewer_may_read(graph: Graph, world: World) -> None:
    for name, heard in {
        "ana": {("tuesday", 12.0, 19.0, 2), ("monday", 4.0, 7.0, 1)},
        "ben": {("monday", 4.0, 7.0, 1)},
    }.items():
        voice = (await inbox(graph, world, name))[world.person("voice")]
        assert {(h.session_id, h.start, h.end, h.num_turns) for h in voice.heard} == {
            (world.session(session), *times) for session, *times in heard
        }
        assert voice.num_turns == sum(h.num_turns for h in voice.heard)
        assert voice.net_speech == 2.5 * voice.num_turns
    assert voice.first_heard == voice.last_heard, "Ben heard one turn"
    assert voice.turns == (world.message(1),)


async def test_nobody_waits_for_who_heard_nobody_unknown(graph: Graph, world: World) -> None:
    assert set(await inbox(graph, world, "cleo")) == {world.person("guest")}
    assert await inbox(graph, world, "ana", "cleo") == {}
    assert await inbox(graph, world) == {}
    ids = [world.person("voice"), voice_of(world, "monday"), "no such voice"]
    assert await graph.read(find_unknown, await world.scope("cleo"), ids) == {}
    assert len(await inbox(graph, world, reads_all=True)) == 3


async def test_the_voice_heard_last_comes_first_page_by_page(graph: Graph, world: World) -> None:
    scope = await world.scope(reads_all=True)
    order = [world.person("guest"), world.person("voice"), voice_of(world, "monday")]
    first = await graph.read(list_unknown, scope, page=Page(first=2))
    rest = await graph.read(list_unknown, scope, page=Page(first=2, after=first.cursors[-1]))
    assert [v.id for v in (*first.items, *rest.items)] == order
    assert (first.has_next, rest.has_next) == (True, False)
    back = await graph.read(list_unknown, scope, page=Page(last=2))
    assert [v.id for v in back.items] == order[1:]


async def test_who_is_merged_into_somebody_named_waits_no_longer(graph: Graph, world: World) -> None:
    await world.merge("voice", into="ben", confirmed=False)
    assert set(await inbox(graph, world, "ana")) == {voice_of(world, "monday")}


async def test_nameless_people_merged_wait_as_one(graph: Graph, world: World) -> None:
    await world.merge("guest", into="voice", confirmed=False)
    everything = await inbox(graph, world, reads_all=True)
    assert everything[world.person("voice")].num_turns == 4 and world.person("guest") not in everything
    as_cleo = await inbox(graph, world, "cleo")
    assert as_cleo[world.person("voice")].turns == (world.message(6),), "under the id shown, with what Cleo may read"


async def test_only_people_the_viewer_knows_are_suggested(graph: Graph, world: World) -> None:
    await may_be(world, "monday", "ben", cosine=0.41)
    await may_be(world, "monday", "cleo", cosine=0.52)
    await may_be(world, "voice", "cleo")
    await may_be(world, "guest", "voice", cosine=0.3)
    ana = await inbox(graph, world, "ana")
    assert [s.person.id for s in ana[voice_of(world, "monday")].people] == [world.person("ben")]
    assert ana[world.person("voice")].people == ()
    everything = await inbox(graph, world, reads_all=True)
    likely = everything[voice_of(world, "monday")].people
    assert [(s.person.display_name, s.cosine, s.margin, s.threshold, s.why) for s in likely] == [
        ("Cleo", 0.52, 0.1, 0.55, "alike"),
        ("Ben", 0.41, 0.1, 0.55, "alike"),
    ]
    pairs = {(v.id, s.person.id) for v in everything.values() for s in v.people if v.kind is UnknownKind.PERSON}
    voice, guest, cleo = (world.person(n) for n in ("voice", "guest", "cleo"))
    assert pairs == {(voice, cleo), (voice, guest), (guest, voice)}, "two people who may be one are so both ways"


async def test_a_suggestion_names_whom_merges_show_and_each_once(graph: Graph, world: World) -> None:
    await may_be(world, "voice", "ben", cosine=0.5)
    await may_be(world, "voice", "cleo", cosine=0.6, margin=0.2)
    await world.merge("cleo", into="ben", confirmed=True)
    voice = (await inbox(graph, world, "ana"))[world.person("voice")]
    assert [(s.person.id, s.cosine, s.margin) for s in voice.people] == [(world.person("ben"), 0.6, 0.2)]


async def test_a_pair_that_somebody_rejected_is_not_suggested_again(graph: Graph, world: World) -> None:
    await may_be(world, "voice", "ben")
    await not_same(world, "cleo", "voice")
    assert (await inbox(graph, world, "ana"))[world.person("voice")].people != ()
    await world.merge("cleo", into="ben", confirmed=True)
    assert (await inbox(graph, world, "ana"))[world.person("voice")].people == (), "Cleo is Ben, and not this voice"


async def test_other_turns_of_the_same_voice_suggest_their_person(graph: Graph, world: World) -> None:
    await bound(world, "monday", "ben", cosine=0.58)
    (one,) = (await inbox(graph, world, "ana"))[voice_of(world, "monday")].people
    assert (one.person.id, one.why, one.cosine) == (world.person("ben"), "same_voice", 0.58)


async def test_names_are_suggested_to_who_may_read_all_they_rest_on(graph: Graph, world: World) -> None:
    await proposed(world, "voice", "Dora", [1], confidence=0.4)
    await proposed(world, "voice", "Rosa", [1, 3], confidence=0.7)
    await proposed(world, "voice", "Nora", [1], status="rejected")
    await proposed(world, "voice", "Vera", [])
    await proposed(world, "monday", "Theo", [2])
    for asker, names in {"ana": ["Rosa", "Dora"], "ben": ["Dora"]}.items():
        waiting = await inbox(graph, world, asker)
        assert [n.name for n in waiting[world.person("voice")].names] == names
        assert [n.name for n in waiting[voice_of(world, "monday")].names] == ["Theo"]
    rosa = (await inbox(graph, world, "ana"))[world.person("voice")].names[0]
    assert rosa.evidence == (world.message(1), world.message(3)) and rosa.num_evidence == 2
    everything = await inbox(graph, world, reads_all=True)
    assert {n.name for n in everything[world.person("voice")].names} == {"Rosa", "Dora", "Vera"}


async def test_names_of_everybody_merged_are_suggested_for_the_one_shown(graph: Graph, world: World) -> None:
    await proposed(world, "guest", "Paul", [6])
    await bound(world, "attic", "guest")
    await proposed(world, "attic", "Paula", [6])
    await world.merge("guest", into="voice", confirmed=False)
    waiting = await inbox(graph, world, reads_all=True)
    assert {n.name for n in waiting[world.person("voice")].names} == {"Paul", "Paula"}


async def test_who_has_a_name_only_from_what_the_viewer_may_not_read_is_without_one(graph: Graph, world: World) -> None:
    """Else the inbox would tell that somebody knows the name."""
    id = await proposed(world, "voice", "Rosa", [3], status="applied")
    await named_by(world, "voice", "Rosa", id)
    assert set(await inbox(graph, world, "ana")) == {voice_of(world, "monday")}
    assert world.person("voice") in await inbox(graph, world, "ben")
    assert world.person("voice") not in await inbox(graph, world, reads_all=True)
    assert world.person("voice") not in await inbox(graph, world, "voice"), "who bears it knows it"


async def test_a_name_of_anybody_merged_is_one(graph: Graph, world: World) -> None:
    await world.merge("cleo", into="guest", confirmed=False)
    assert await inbox(graph, world, "cleo") == {}


async def test_a_label_does_not_tell_whose_name_it_is_to_who_may_not_know_that_name(graph: Graph, world: World) -> None:
    """The voice of Monday is labelled like `voice` is called, which only a turn of Tuesday says."""
    await named_by(world, "voice", "Dora", await proposed(world, "voice", "Dora", [3], status="applied"))
    await may_be(world, "monday", "voice", cosine=None, why="contradicting_label")
    for asker, told in {"ana": ["Dora"], "ben": []}.items():
        waiting = (await inbox(graph, world, asker))[voice_of(world, "monday")]
        assert [s.person.display_name for s in waiting.people] == told


async def test_at_most_ten_people_and_ten_names_are_suggested_for_one_voice(graph: Graph, space: str) -> None:
    many = [f"p{i:02}" for i in range(12)]
    world = await seed(graph, space, many, [*(Said(p, "hello", (many[0],)) for p in many), Said(None, "mhm", (many[0],))])
    for i, person in enumerate(many):
        await may_be(world, "monday", person, cosine=0.3 + i / 100)
        await proposed(world, "monday", f"Name {i}", [12], confidence=0.3 + i / 100)
    voice = (await inbox(graph, world, many[0]))[voice_of(world, "monday")]
    assert [s.person.id for s in voice.people] == [world.person(p) for p in reversed(many[2:])]
    assert [n.name for n in voice.names] == [f"Name {i}" for i in range(11, 1, -1)]
