"""A correction undone leaves what was there before it: the canonical dumps are equal, whatever came in between."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Collection
from datetime import UTC, datetime

import pytest

from service.graph.driver import Graph, changes
from service.graph.dump import Dump, dump_space
from service.graph.forget_space import forget_space
from service.graph.spaces import get_space, save_space
from service.graph.write_corrections import VOICEGRAPH
from service.graph.write_people import name_person
from service.pipelines.closing import CallerKnows, embed
from service.pipelines.correct import Corrected, CorrectionConflict
from service.pipelines.reassign import Moving, move
from service.pipelines.resettle import TextsMissing
from service.types.audio import Samples
from service.types.ids import fresh
from service.types.people import AccessPolicy, SpaceSettings
from tests.builders import there
from tests.graph.correction_builders import EMBEDDER, correct, edges, ingest, message, nodes, speakers, state, track

HOUSEHOLD = [
    ("ana", "Shall we paint the kitchen?"),
    ("ben", "Only if it is green."),
    ("ana", "Green it is."),
    ("cleo", "I want blue.", "ben"),
    ("ben", "Blue is cold."),
]
PUBLISH = """
MATCH (m:Message {space: $space, id: $message_id})-[old:FOR]->(:Audience)
DELETE old
CREATE (m)-[:FOR]->(a:Audience {id: $space + '/public', space: $space, public: true, num_readers: 0, created_at: datetime()})
SET m.audience = a.id, m.readers = 'public'
"""
SCORES = ("cosine", "runner_up", "runner_up_id", "margin", "threshold", "channels")
BY_ADMIN = {"actor": "admin", "why": "heard it"}


async def a_household(graph: Graph, space: str) -> dict[str, str]:
    """Two sessions of ana and ben; in the first a turn of cleo's went to ben's track."""
    found = await ingest(graph, space, "monday", [*HOUSEHOLD[:3], ("ben", "I want blue."), HOUSEHOLD[4]])
    await ingest(graph, space, "tuesday", [("ben", "Ana, where is the paint?"), ("ana", "In the cellar."), ("cleo", "Hello.")])
    assert found[0] and found[1]
    cleo = (await speakers(graph, space, "tuesday"))[2]
    assert cleo
    return {"ana": found[0], "ben": found[1], "cleo": cleo}


def without_scores(dump: Dump, of: Collection[str]) -> Dump:
    """How near some turns and tracks were to people depends on what was known of those at the time."""
    edges = [
        {k: v for k, v in edge.items() if k not in SCORES or not {edge["from"][-1], edge["to"][-1]} & set(of)}
        for edge in dump["edges"]
    ]
    return {"nodes": dump["nodes"], "edges": edges}


async def test_a_merge_undone_leaves_no_trace(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    merged = await correct(graph).merge(space, who["ana"], who["ben"], **BY_ADMIN)
    assert edges(await state(graph, space), "MERGED_INTO") == {(who["ana"], who["ben"])}
    await correct(graph).undo(space, merged.correction_id, actor="admin")
    assert await state(graph, space) == before


@pytest.mark.parametrize("to", ["cleo", None])
async def test_turns_given_away_come_back_with_voice_track_and_readers(graph: Graph, space: str, to: str | None) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    messages = [message(space, "monday", 3), message(space, "tuesday", 0)]
    done = await correct(graph).reassign(space, messages, who[to] if to else None, **BY_ADMIN)
    during = await state(graph, space)
    assert during != before and done.num_turns == 2 and len(done.sessions) == 2
    assert (await speakers(graph, space, "monday"))[3] == (who[to] if to else None)
    undone = await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before
    assert undone.exemplars_lost == ()


async def test_a_person_split_off_is_gone_when_the_split_is_undone(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    done = await correct(graph).split(space, who["ben"], messages=[message(space, "monday", 3)], name="Cleo", **BY_ADMIN)
    assert nodes(await state(graph, space), "Person")[str(done.person_id)]["display_name"] == "Cleo"
    assert len(edges(await state(graph, space), "NOT_SAME_AS")) == 1
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_a_whole_track_split_off_takes_its_identity_along_and_gives_it_back(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    bens = track(space, "tuesday", "ben")
    done = await correct(graph).split(space, who["ben"], local_speakers=[bens], **BY_ADMIN)
    assert (bens, done.person_id) in edges(await state(graph, space), "IS")
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_a_verdict_undone_leaves_no_trace(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    said = await correct(graph).not_same(space, who["ana"], who["ben"], **BY_ADMIN)
    assert await state(graph, space) != before
    await correct(graph).undo(space, said.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_a_chain_of_corrections_undone_in_reverse_passes_every_state_again(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    fix = correct(graph)
    third, last = message(space, "monday", 3), message(space, "monday", 4)
    steps = [
        lambda: fix.reassign(space, [third], who["cleo"], **BY_ADMIN),
        lambda: fix.reassign(space, [third, last], None, **BY_ADMIN),
        lambda: fix.merge(space, who["ana"], who["cleo"], **BY_ADMIN),
        lambda: fix.split(space, who["ana"], messages=[message(space, "monday", 0)], name="Dora", **BY_ADMIN),
        lambda: fix.reassign(space, [last], who["ana"], **BY_ADMIN),
        lambda: fix.not_same(space, who["ana"], who["ben"], **BY_ADMIN),
        lambda: fix.reassign(space, [message(space, "monday", 1), message(space, "tuesday", 0)], who["ana"], **BY_ADMIN),
    ]
    states, ids = [await state(graph, space)], []
    for step in steps:
        ids.append((await step()).correction_id)
        states.append(await state(graph, space))
    assert all(one != other for one, other in itertools.pairwise(states))
    for correction in reversed(ids):
        states.pop()
        await fix.undo(space, correction, actor="admin")
        assert await state(graph, space) == states[-1]


async def test_independent_corrections_undone_in_the_order_they_were_made_leave_no_trace(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    fix = correct(graph)
    bens = [message(space, "monday", i) for i in (1, 3, 4)]
    ids = [(await fix.reassign(space, [m], who["cleo"], **BY_ADMIN)).correction_id for m in bens]  # ben's track goes to cleo
    for correction in ids:
        await fix.undo(space, correction, actor="admin")
    assert await state(graph, space) == before


@pytest.mark.parametrize("kind", ["merge", "split", "reassign", "nobody", "not_same"])
async def test_a_session_in_between_stays_as_if_nothing_had_been_corrected(graph: Graph, space: str, kind: str) -> None:
    """Compared with the same space, the same sessions and no correction."""
    meanwhile = [("ana", "The paint is dry."), ("ben", "So soon?"), ("dora", "I am new here.")]
    settings = await graph.read(get_space, space)
    await a_household(graph, space)
    await ingest(graph, space, "wednesday", meanwhile)
    never = await state(graph, space)
    await forget_space(graph, space)
    await graph.write(save_space, settings)

    who = await a_household(graph, space)
    fix = correct(graph)
    turns = [message(space, "monday", 3)]
    match kind:
        case "merge":
            done = await fix.merge(space, who["ana"], who["cleo"], **BY_ADMIN)
        case "split":
            done = await fix.split(space, who["ben"], messages=turns, **BY_ADMIN)
        case "reassign":
            done = await fix.reassign(space, turns, who["cleo"], **BY_ADMIN)
        case "nobody":
            done = await fix.reassign(space, turns, None, **BY_ADMIN)
        case _:
            done = await fix.not_same(space, who["ana"], who["ben"], **BY_ADMIN)
    await ingest(graph, space, "wednesday", meanwhile)
    await fix.undo(space, done.correction_id, actor="admin")
    heard = [message(space, "wednesday", i) for i in range(3)] + [track(space, "wednesday", v) for v in ("ana", "ben", "dora")]
    assert without_scores(await state(graph, space), heard) == without_scores(never, heard)


async def test_what_was_corrected_of_a_session_renamed_meanwhile_comes_back_as_it_stood(graph: Graph, space: str) -> None:
    """Settled again, the session would hear whom "Ana" calls, which nobody knew when it was closed."""
    who = await a_household(graph, space)
    await graph.write(name_person, space, who["ana"], "Ana", by="admin")
    before = await state(graph, space)
    done = await correct(graph).reassign(space, [message(space, "tuesday", 0)], who["cleo"], **BY_ADMIN)
    await graph.write(name_person, space, who["ben"], "Ben", by="admin")
    await correct(graph).undo(space, done.correction_id, actor="admin")
    after = await state(graph, space)
    assert after["edges"] == before["edges"]
    assert {n["id"]: n for n in after["nodes"]} == {n["id"]: n for n in before["nodes"]} | {
        who["ben"]: {**nodes(before, "Person")[who["ben"]], "display_name": "Ben", "named_by": "admin", "kind": "named"}
    }


async def test_a_person_split_off_keeps_what_came_after(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    bens = [message(space, "monday", i) for i in (1, 3, 4)]
    done = await correct(graph).split(space, who["ben"], messages=bens, name="Bernd", **BY_ADMIN)
    later = await correct(graph).reassign(space, [message(space, "tuesday", 2)], str(done.person_id), **BY_ADMIN)
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert (await speakers(graph, space, "tuesday"))[2] == done.person_id
    assert [p for p in await speakers(graph, space, "monday") if p == done.person_id] == []
    bernd = nodes(await state(graph, space), "Person")[str(done.person_id)]
    assert (bernd["num_turns"], bernd["net_speech"]) == (1, 4.0)
    await correct(graph).undo(space, later.correction_id, actor="admin")
    assert await state(graph, space) == before


@pytest.mark.parametrize("seconds", [0.004, 0.01, 0.02, 0.04, 0.08])
async def test_a_correction_killed_anywhere_changed_nothing_or_all_of_it(graph: Graph, space: str, seconds: float) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    messages = [message(space, "monday", i) for i in (1, 3)]
    task = asyncio.create_task(correct(graph).reassign(space, messages, who["cleo"], **BY_ADMIN))
    await asyncio.sleep(seconds)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    killed = await state(graph, space)
    try:
        done = await correct(graph).reassign(space, messages, who["cleo"], **BY_ADMIN)
    except CorrectionConflict:  # it got through before it was killed
        assert killed != before
        return
    assert killed == before
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_a_correction_rolled_back_after_its_last_statement_changed_nothing(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    before = await graph.read(dump_space, space)
    everything = Moving(space, fresh(), "admin", "heard it", datetime.now(UTC), who["ben"], (message(space, "monday", 0),))
    embedded: dict[str, Samples] = {}
    async with graph.session() as session:
        for _ in range(2):
            async with await session.begin_transaction() as tx:
                try:
                    await move(tx, everything, EMBEDDER, embedded)  # type: ignore[arg-type]
                except TextsMissing as missing:
                    embed(EMBEDDER, missing.texts, embedded)
                await tx.rollback()
    assert embedded  # ben's first turn has a context now, since he is heard from the beginning
    assert await graph.read(dump_space, space) == before


async def test_an_undo_after_which_the_same_is_done_again_ends_where_the_first_did(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    turns = [message(space, "monday", 3)]
    first = await correct(graph).reassign(space, turns, who["cleo"], **BY_ADMIN)
    once = await state(graph, space)
    await correct(graph).undo(space, first.correction_id, actor="admin")
    await correct(graph).reassign(space, turns, who["cleo"], **BY_ADMIN)
    assert await state(graph, space) == once


async def test_what_the_caller_said_of_a_session_still_holds_when_it_is_settled_again(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    caller = CallerKnows(
        addressed_to=(who["ben"],), attendance=(there(who["cleo"], (0, 6), source="platform"),), roster=(who["ana"],)
    )
    await ingest(graph, space, "note", [("ben", "For me."), ("ben", "To remember.")], caller)
    before = await state(graph, space)
    notes = [message(space, "note", i) for i in (0, 1)]
    done = await correct(graph).reassign(space, notes[:1], who["ana"], **BY_ADMIN)
    assert (notes[0], who["ben"]) in edges(await state(graph, space), "ADDRESSES")
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


@pytest.mark.parametrize("policy", ["fixed", "update", "knn", "bounded"])
async def test_undo_is_exact_under_every_policy_whose_center_is_made_of_exemplars(
    graph: Graph, space: str, policy: str
) -> None:
    await graph.write(save_space, SpaceSettings(space, routing=policy))
    found = await ingest(graph, space, "monday", [*HOUSEHOLD[:3], *HOUSEHOLD[3:]], policy=policy)
    assert found[0] and found[1]
    before = await state(graph, space)
    turns = [message(space, "monday", i) for i in (1, 4)]
    done = await correct(graph).reassign(space, turns, found[0], **BY_ADMIN)
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


async def test_under_gated_all_comes_back_but_the_center_which_is_made_of_the_exemplars_kept(graph: Graph, space: str) -> None:
    """Links that taught nothing left a trace in it that no exemplar holds."""
    await graph.write(save_space, SpaceSettings(space, routing="gated"))
    found = await ingest(graph, space, "monday", HOUSEHOLD, policy="gated")
    before = await state(graph, space)
    done = await correct(graph).reassign(space, [message(space, "monday", 1)], found[0], **BY_ADMIN)
    await correct(graph).undo(space, done.correction_id, actor="admin")
    after = await state(graph, space)
    for dump in (before, after):
        for person in nodes(dump, "Person").values():
            assert person.pop("voiceprint__campplus")
    assert after == before


async def test_a_session_is_settled_again_by_the_policy_it_was_settled_with(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    before = await state(graph, space)
    await graph.write(save_space, SpaceSettings(space, access=AccessPolicy.OWN))
    done = await correct(graph).reassign(space, [message(space, "monday", 4)], who["ana"], **BY_ADMIN)
    during = await state(graph, space)
    anas_and_bens = {who["ana"], who["ben"]}
    audience = nodes(during, "Message")[message(space, "monday", 2)]["audience"]
    assert {reader for reader, of in edges(during, "MAY_READ") if of == audience} == anas_and_bens
    await correct(graph).undo(space, done.correction_id, actor="admin")
    await graph.write(save_space, SpaceSettings(space))
    assert await state(graph, space) == before


async def test_what_everybody_may_read_stays_so_when_its_session_is_settled_again(graph: Graph, space: str) -> None:
    who = await a_household(graph, space)
    await graph.write(changes, PUBLISH, space=space, message_id=message(space, "monday", 0))
    before = await state(graph, space)
    done = await correct(graph).reassign(space, [message(space, "monday", 0)], who["ben"], **BY_ADMIN)
    now = nodes(await state(graph, space), "Message")[message(space, "monday", 0)]
    assert (now["readers"], now["speaker_id"]) == ("public", who["ben"])
    await correct(graph).undo(space, done.correction_id, actor="admin")
    assert await state(graph, space) == before


@pytest.mark.parametrize("seed", [2, 6])
async def test_corrections_undone_in_whatever_order_is_allowed_leave_no_trace(graph: Graph, space: str, seed: int) -> None:
    """Drawn by lot: what is refused now (something rests on it) is tried again after the others."""
    who = await a_household(graph, space)
    before = await state(graph, space)
    drawn = random.Random(seed)
    made: list[str] = []
    people = [*who.values()]
    while len(made) < 6:
        try:
            made.append((await something(graph, space, drawn, people)).correction_id)
        except CorrectionConflict:
            continue
    drawn.shuffle(made)
    while made:
        left = []
        for correction in made:
            try:
                await correct(graph).undo(space, correction, actor=VOICEGRAPH)
            except CorrectionConflict:
                left.append(correction)
        assert len(left) < len(made)
        made = left
    assert await state(graph, space) == before


async def something(graph: Graph, space: str, drawn: random.Random, people: list[str]) -> Corrected:
    fix = correct(graph)
    turns = [message(space, "monday", i) for i in range(5)] + [message(space, "tuesday", i) for i in range(3)]
    some = drawn.sample(turns, drawn.randint(1, 3))
    one, other = drawn.sample(people, 2)
    match drawn.choice(["merge", "automatic", "reassign", "reassign", "nobody", "split", "not_same"]):
        case "merge":
            return await fix.merge(space, one, other, **BY_ADMIN)
        case "automatic":
            return await fix.merge(space, one, other, actor=VOICEGRAPH, why="alike", confirmed=False)
        case "reassign":
            return await fix.reassign(space, some, one, **BY_ADMIN)
        case "nobody":
            return await fix.reassign(space, some, None, **BY_ADMIN)
        case "split":
            done = await fix.split(space, one, messages=some[:1], **BY_ADMIN)
            people.append(str(done.person_id))
            return done
        case _:
            return await fix.not_same(space, one, other, **BY_ADMIN)
