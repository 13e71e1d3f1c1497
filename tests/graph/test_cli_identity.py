"""The commands about who is who, over a real graph: as a program reads them, and as a person does."""

from __future__ import annotations

from service.graph.driver import Graph
from tests.graph.cli_builders import Typed
from tests.graph.correction_builders import ingest, message, speakers, state, track
from tests.graph.graph_builders import Said, seed
from tests.graph.identity_builders import may_be, proposed, unname


async def test_the_inbox_explanations_and_names_are_shown(graph: Graph, space: str, typed: Typed) -> None:
    world = await seed(
        graph,
        space,
        ("ana", "ben", "voice"),
        [
            Said("ana", "hello", ("ana",)),
            Said("voice", "I am called Dora", ("ana",), session="tuesday"),
            Said(None, "who mumbles", ("ana",), session="attic"),
        ],
    )
    await unname(world, "voice")
    await may_be(world, "attic", "ben", cosine=0.44)
    id = await proposed(world, "voice", "Dora", [1], confidence=0.75)
    shown = await typed("people", "who")
    assert all(part in shown for part in ("local speaker", "who mumbles", "Ben (0.44)", "Dora (0.75)"))
    listed = await typed("people", "who", "--json")
    assert [voice["kind"] for voice in listed] == ["local_speaker", "person"]
    assert listed[0]["people"][0]["person"]["display_name"] == "Ben" and listed[1]["turns"] == [world.message(1)]
    why = await typed("explain", world.message(0), "--json")
    assert (why["turn"]["person"]["display_name"], why["turn"]["cosine"]) == ("Ana", 0.7)
    assert (why["thresholds_now"]["encoder"], why["thresholds_now"]["gallery_size"]) == ("campplus", 0)
    explained = await typed("explain", world.message(2))
    assert "Ben (0.44)" in explained and "Today, 0 people known, campplus wideband: linked from 0.51 on" in explained
    assert (await typed("explain", "nothing", code=1)).startswith("not_found: There is no message nothing")
    (name,) = await typed("people", "names", "--json")
    assert (name["id"], name["name"]) == (id, "Dora")
    assert "“Dora” is applied" in await typed("people", "accept-name", id)
    assert await typed("people", "names", "--json") == []
    assert "Dora" in await typed("people", "names", "--status", "applied")
    assert (await typed("people", "reject-name", id, "--json"))["status"] == "rejected"
    assert "is Ana Lee now" in await typed("people", "name", "ana", " Ana Lee "), "by the name so far"
    assert (await typed("people", "name", "nobody", "X", code=1)).startswith("not_found")


async def test_people_are_merged_kept_apart_and_that_is_undone(graph: Graph, space: str, typed: Typed) -> None:
    ana, ben, _ = await ingest(graph, space, "monday", [("ana", "the piano"), ("ben", "the ladder"), ("ana", "the cellar")])
    assert ana and ben
    before = await state(graph, space)
    merged = await typed("people", "merge", ben, ana, "--why", "the same voice", "--json")
    assert (merged["kind"], merged["person_id"]) == ("merge", ana)
    refused = await typed("people", "not-same", ben, ana, code=1)
    assert refused.startswith("correction_conflict") and "they are merged" in refused
    (listed,) = await typed("people", "corrections", "--json")
    assert (listed["id"], listed["why"], listed["actor"]) == (merged["correction_id"], "the same voice", "command-line")
    assert "Taken back: one person" in await typed("people", "undo", merged["correction_id"])
    assert await state(graph, space) == before
    assert "Nothing was corrected." in await typed("people", "corrections")
    await typed("people", "name", ana, "Ana")
    undone = await typed("people", "corrections", "--undone")
    assert "one person" in undone and "Ana" in undone, "by name, where there is one"
    await typed("people", "merge", ben, ana, "--unconfirmed")
    assert "one person" in await typed("people", "merge", ben, ana), "which confirms it, though Ben is shown as Ana"
    for correction in await typed("people", "corrections", "--json"):
        await typed("people", "undo", correction["id"])
    await typed("people", "not-same", ben, ana)
    assert (await typed("people", "merge", ben, ana, code=1)).startswith("correction_conflict")


async def test_somebody_is_a_bot_gets_no_token_and_is_one_no_more(graph: Graph, space: str, typed: Typed) -> None:
    (notes,) = await ingest(graph, space, "monday", [("notes", "this call is recorded")])
    assert notes
    before = await state(graph, space)
    said = await typed("people", "bot", notes, "--why", "it takes notes", "--json")
    assert (said["kind"], said["people"], said["person_id"]) == ("bot", [notes], notes)
    assert "a bot" in await typed("people", "corrections") and await typed("people", "who", "--json") == []
    for option in ("--as", "--act-for"):
        refused = await typed("token", "create", "notetaker", option, notes, code=1)
        assert refused.startswith("bot_reads_nothing")
    assert (await typed("people", "bot", notes, code=1)).startswith("correction_conflict")
    assert "Taken back: a bot." in await typed("people", "undo", said["correction_id"])
    assert await state(graph, space) == before


async def test_turns_are_given_away_and_split_off(graph: Graph, space: str, typed: Typed) -> None:
    lines = [("ana", "the piano"), ("ben", "the ladder"), ("ana", "the cellar")]
    ana, ben, _ = await ingest(graph, space, "monday", lines)
    await ingest(graph, space, "tuesday", [("ben", "the roof"), ("ana", "the attic")])
    assert ana and ben
    before = await state(graph, space)
    preview = await typed("people", "split", ben, "--json")
    assert {part["local_speaker"] for part in preview} == {track(space, day, "ben") for day in ("monday", "tuesday")}
    voice = track(space, "tuesday", "ben")
    assert "1 would go" in await typed("people", "split", ben, "--voice", voice, "--dry-run")
    assert await state(graph, space) == before, "nothing was changed"
    await typed("people", "merge", ben, ana)
    parts = await typed("people", "split", ben, "--json"), await typed("people", "split", ana, "--json")
    assert parts[0] == parts[1] and len(parts[0]) == 4, "whoever of the merged is named"
    await typed("people", "undo", (await typed("people", "corrections", "--json"))[0]["id"])
    done = await typed("people", "split", ben, "--voice", voice, "--name", "Cora", "--json")
    assert await speakers(graph, space, "tuesday") == [done["person_id"], ana]
    given = await typed("people", "reassign", message(space, "monday", 1), "--to", "cora", "--json")
    assert await speakers(graph, space, "monday") == [ana, done["person_id"], ana] and given["num_turns"] == 1
    await typed("people", "undo", done["correction_id"])
    assert await speakers(graph, space, "tuesday") == [ben, ana], "and what Cora was given since stays hers"
    assert await speakers(graph, space, "monday") == [ana, done["person_id"], ana]
    assert "1 message changed hands" in await typed("people", "reassign", message(space, "monday", 0), "--nobody")
    assert (await speakers(graph, space, "monday"))[0] is None
    new = await typed("people", "reassign", "--voice", track(space, "monday", "ana"), "--new", "Dora", "--json")
    assert (await speakers(graph, space, "monday"))[0] == new["person_id"] and new["num_turns"] == 1
    assert (await typed("people", "reassign", "--voice", voice, "--nobody", code=1)).startswith("not_found")
