"""The commands about what was understood, over a real graph and with the rules that ship."""

from __future__ import annotations

from service.graph.access import read_scope
from service.graph.driver import Graph
from service.graph.revisions import find_lag
from service.graph.write_people import name_person
from service.memory.updater import REVISER
from service.types.people import Assurance, Viewer
from tests.graph.cli_builders import Typed
from tests.graph.correction_builders import ingest, session_id

LINES = [
    ("ben", "Good morning, shall we begin with the house?"),
    ("ana", "My favourite food is pizza."),
    ("ana", "I live in Graz now."),
    ("ben", "I will paint the kitchen on Friday, I promise."),
    ("ana", "Thank you."),
    ("ben", "You are welcome."),
]
OFF = [*LINES[4:] * 3, ("ben", "I will not paint the kitchen on Friday any more, it is cancelled."), ("ana", "That is a pity.")]
"""Later than what it is about: both sessions begin at one time."""


async def test_facts_are_read_once_and_shown_as_profile_and_commitments(graph: Graph, space: str, typed: Typed) -> None:
    people = await ingest(graph, space, "monday", LINES)
    for person, name in ((people[1], "Ana"), (people[0], "Ben")):
        await graph.write(name_person, space, str(person), name, by="admin")
    (done,) = await typed("facts", "--json")
    assert done["session_id"] == session_id(space, "monday") and done["num_facts"] >= 3 and not done["known_before"]
    assert "known already" in await typed("facts", "--session", session_id(space, "monday"))

    (promised,) = await typed("commitments", "--of", "Ben", "--json")
    assert promised["text"].startswith("Ben") and "kitchen" in promised["text"]
    assert "Nobody promised" in await typed("commitments", "--of", "Ana")

    profile = await typed("profile", "Ana", "--json")
    words = " ".join(profile["texts"].values())
    assert profile["person"]["display_name"] == "Ana" and "pizza" in words and "Graz" in words
    assert "Graz" in await typed("profile", "Ana", "--as", "Ben")

    await ingest(graph, space, "tuesday", OFF)
    await typed("facts")
    scope = await graph.read(read_scope, Viewer(space, None, None, (), False, Assurance.TOKEN, reads_all=True))
    assert (await graph.read(find_lag, scope, REVISER)).pending == 0
    assert "(cancelled)" in await typed("commitments", "--of", "Ben")
    (promised,) = await typed("commitments", "--of", "Ben", "--json")
    assert promised["cancelled"]
