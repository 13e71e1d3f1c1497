"""Facts, commitments and profiles over GraphQL, in the words of whoever may know the names."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.graph.driver import Graph
from service.settings import Settings
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.graph.fact_builders import Told, fact_id, tell
from tests.graph.graph_builders import Said, World, seed

SAID = [
    Said("ana", "I live in Graz.", ("ana", "ben"), to=("ben",)),
    Said("ana", "I'll bake you a cake on Saturday.", ("ana", "ben"), to=("ben",)),
    Said("ana", "Between us: I moved to Linz.", ("ana", "cleo"), to=("cleo",), session="tuesday"),
    Said("ben", "I promise to call Cleo.", ("ana", "ben"), to=("ana",), session="tuesday"),
]
TOLD = [
    Told("{speaker} lives in Graz", [0], attribute="home", value="Graz"),
    Told("{speaker} will bake {addressee} a cake on 9 May 2026", [1, 0], "commitment", about=datetime(2026, 5, 9, tzinfo=UTC)),
    Told("{speaker} moved to Linz", [2], attribute="home", value="Linz"),
    Told("{speaker} promises to call Cleo", [3], "commitment"),
]


@pytest.fixture
async def home(graph: Graph, space: str, tmp_path: Path) -> AsyncIterator[tuple[Api, World]]:
    world = await seed(graph, space, ("ana", "ben", "cleo"), SAID)
    await tell(world, TOLD)
    services = Services(Settings(data_dir=tmp_path, development=False, recogniser="none", space=space), graph)
    async with serving(services, space) as api:
        yield api, world


async def test_a_fact_tells_its_words_time_evidence_and_history(home: tuple[Api, World]) -> None:
    api, world = home
    query = """query($id: ID!) { fact(id: $id) { id text kind attribute value saidAt about { start precision words }
      speaker { displayName } addressees { person { displayName } } session { title } evidence { text }
      history { text value } } }"""
    ana, ben = (api.token(name, person_id=world.person(name)) for name in ("ana", "ben"))
    cake = (await api.data(query, ben, id=fact_id(world, 1)))["fact"]
    assert cake["text"] == "Ana will bake Ben a cake on 9 May 2026" and cake["kind"] == "COMMITMENT"
    assert cake["about"] == {"start": "2026-05-09T00:00:00+00:00", "precision": "DAY", "words": "then"}
    assert [m["text"] for m in cake["evidence"]] == [SAID[1].text, SAID[0].text]
    assert (cake["speaker"]["displayName"], cake["session"]["title"]) == ("Ana", "monday")
    graz = f"Fact:{fact_id(world, 0)}"
    for token, values in ((ana, ["Linz", "Graz"]), (ben, ["Graz"])):
        told = (await api.data(query, token, id=graz))["fact"]
        assert (told["id"], [f["value"] for f in told["history"]]) == (graz, values)
    assert (await api.data(query, ben, id=fact_id(world, 2)))["fact"] is None


async def test_commitments_are_narrowed_by_who_and_to_whom(home: tuple[Api, World]) -> None:
    api, world = home
    query = "query($of: ID, $to: ID) { commitments(of: $of, to: $to) { edges { node { text } } } }"
    token = api.token("ana", person_id=world.person("ana"))
    bake, call = "Ana will bake Ben a cake on 9 May 2026", "Ben promises to call Cleo"
    for of, to, expected in (
        (None, None, [call, bake]),
        ("ana", None, [bake]),
        (None, "ana", [call]),
        ("ana", "cleo", []),
    ):
        given = {name: f"Person:{world.person(who)}" for name, who in (("of", of), ("to", to)) if who}
        found = await api.data(query, token, **given)
        assert [edge["node"]["text"] for edge in found["commitments"]["edges"]] == expected


async def test_facts_are_paged_and_narrowed(home: tuple[Api, World]) -> None:
    api, world = home
    query = """query($after: String, $speaker: ID) {
      facts(first: 1, after: $after, filters: {speaker: $speaker, kinds: [STATEMENT]})
      { edges { node { value } } pageInfo { hasNextPage endCursor } } }"""
    token = api.token("ana", person_id=world.person("ana"))
    first = (await api.data(query, token, speaker=world.person("ana")))["facts"]
    assert first["edges"][0]["node"]["value"] == "Linz" and first["pageInfo"]["hasNextPage"]
    second = (await api.data(query, token, speaker=world.person("ana"), after=first["pageInfo"]["endCursor"]))["facts"]
    assert second["edges"][0]["node"]["value"] == "Graz" and not second["pageInfo"]["hasNextPage"]


async def test_a_profile_is_what_its_viewer_may_know(home: tuple[Api, World]) -> None:
    api, world = home
    query = """query($id: ID!) { profile(personId: $id) { person { displayName } complete commitments { text }
      background { since numSaid now { value } before { value } } } }"""
    told = {}
    for name in ("ana", "ben", "cleo"):
        token = api.token(name, person_id=world.person(name))
        told[name] = (await api.data(query, token, id=world.person("ana")))["profile"]
    assert told["ana"]["background"][0]["now"] == [{"value": "Linz"}]
    assert told["ana"]["background"][0]["before"] == [{"value": "Graz"}]
    assert told["ben"]["background"][0]["now"] == [{"value": "Graz"}] and told["ben"]["background"][0]["before"] == []
    assert told["cleo"]["commitments"] == [] and told["cleo"]["background"][0]["before"] == []
    stranger = await api.data(query, api.token("nobody"), id=world.person("ana"))
    assert stranger["profile"] is None
