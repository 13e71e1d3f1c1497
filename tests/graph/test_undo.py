"""A correction undone leaves what was there before it: the canonical dumps are equal, whatever came in between."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from service.graph.driver import Graph
from service.graph.dump import Dump
from service.graph.forget_space import forget_space
from service.graph.spaces import get_space, save_space
from tests.graph.correction_builders import correct, edges, ingest, message, nodes, speakers, state, track

HOUSEHOLD = [
    ("ana", "Shall we paint the kitchen?"),
    ("ben", "Only if it is green."),
    ("ana", "Green it is."),
    ("cleo", "I want blue.", "ben"),
    ("ben", "Blue is cold."),
]
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
    assert all(one != other for one, other in zip(states, states[1:], strict=False))
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
    scores_of = [message(space, "wednesday", i) for i in range(3)] + [
        track(space, "wednesday", v) for v in ("ana", "ben", "dora")
    ]
    assert without_scores(await state(graph, space), scores_of) == without_scores(never, scores_of)
