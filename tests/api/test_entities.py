"""What is spoken of, over GraphQL: themes that go together, and names that somebody holds to be one, each as far as the viewer
may know of them."""

from __future__ import annotations

from typing import Any

import pytest

from service.graph.driver import Graph, changes, rows
from service.graph.write_entities import MAX_ALIASES, entity_id
from service.types.entities import EntityType
from service.types.ids import fresh
from tests.api.serving import Api
from tests.graph.graph_builders import Said, World, seed

SAID = [
    Said("ana", "The telescope is in the attic.", ["*"]),
    Said("ana", "The spyglass is in the attic.", ["ana", "ben"], to=["ben"]),
    Said("ana", "My spyglass is old.", ["ana", "ben"], to=["ben"]),
    Said("cleo", "My dentist plays chess.", ["cleo"], session="tuesday"),
]
OUTCOME = "{ __typename ... on EntityJoined { entityId ofId } ... on Problem { code message } }"
JOIN = f'mutation($id: ID!, $of: ID!, $key: String!) {{ joinEntities(entityId: $id, ofId: $of, why: "the same glass", idempotencyKey: $key) {OUTCOME} }}'  # noqa: E501
SEPARATE = f"mutation($id: ID!, $key: String!) {{ separateEntity(entityId: $id, idempotencyKey: $key) {OUTCOME} }}"
ENTITIES = "{ entities(first: 20) { edges { node { id name aliases numMentions joined { id name ofId by why } } } } }"
THEMES = "{ themes { label related { label numMessages weight strength } } }"
CHAIN = """
UNWIND range(0, size($names) - 1) AS i
MERGE (e:Entity {id: $names[i]}) SET e.space = $space, e.type = 'thing', e.normal_name = $names[i]
WITH collect(e) AS chain
MATCH (into:Entity {id: $id})
WITH chain + into AS chain
UNWIND range(1, size(chain) - 1) AS i
WITH chain[i - 1] AS e, chain[i] AS next
MERGE (e)-[:ALIAS_OF]->(next)
"""
AUDITED = "MATCH (e:AuditEvent {space: $space}) RETURN e.action AS action, e.target AS target ORDER BY e.created_at"


@pytest.fixture
async def world(graph: Graph, api: Api, space: str) -> World:
    world = await seed(graph, space, ["ana", "ben", "cleo"], SAID)
    remember = await api.services.entities()
    for session in ("monday", "tuesday"):
        await remember(space, world.session(session))
    return world


async def do(api: Api, query: str, token: str, **variables: Any) -> Any:
    return next(iter((await api.data(query, token, **{"key": fresh(), **variables})).values()))


async def known(api: Api, token: str) -> dict[str, Any]:
    return {edge["node"]["name"]: edge["node"] for edge in (await api.data(ENTITIES, token))["entities"]["edges"]}


async def test_names_are_joined_listed_and_separated_as_far_as_the_viewer_knows_them(api: Api, world: World) -> None:
    admin = api.token("admin", scopes=["ask", "admin", "read_all"])
    narrow = api.token("clerk", scopes=["ask", "admin"])
    ana, cleo = (api.token(name, person_id=world.person(name)) for name in ("ana", "cleo"))
    spyglass, telescope, dentist = (
        entity_id(world.space, EntityType.THING, name) for name in ("spyglass", "telescope", "dentist")
    )
    given = {"id": f"Entity:{spyglass}", "of": f"Entity:{telescope}"}
    assert (await do(api, JOIN, ana, **given))["__typename"] == "NotAllowed", "it changes what everybody sees"
    hidden = await do(api, JOIN, narrow, id=telescope, of=dentist)
    absent = await do(api, JOIN, narrow, id=telescope, of=(nothing := fresh()))
    assert hidden["__typename"] == "NotFound"
    assert hidden["message"].replace(dentist, "") == absent["message"].replace(nothing, ""), "as what does not exist"

    key = fresh()
    done = await do(api, JOIN, admin, **given, key=key)
    assert done == {"__typename": "EntityJoined", "entityId": given["id"], "ofId": given["of"]}
    assert await do(api, JOIN, admin, **given, key=key) == done
    assert (await do(api, JOIN, admin, **given))["code"] == "alias_of_itself"

    hers = await known(api, ana)
    assert set(hers) == {"spyglass", "attic"} and hers["spyglass"]["aliases"] == ["telescope"]
    assert hers["spyglass"]["id"] == given["of"] and hers["spyglass"]["numMentions"] == 3
    told = {"id": given["id"], "name": "spyglass", "ofId": given["of"]}
    assert hers["spyglass"]["joined"] == [{**told, "by": None, "why": None}]
    assert (await known(api, admin))["spyglass"]["joined"][0]["why"] == "the same glass"
    for token in (api.token("nobody"), cleo, narrow):
        seen = (await known(api, token))["telescope"]
        assert (seen["aliases"], seen["joined"], seen["numMentions"]) == ([], [], 1), "what they may not know was joined"
    refused = await do(api, SEPARATE, narrow, id=given["id"])
    missing = await do(api, SEPARATE, narrow, id=nothing)
    assert (refused["code"], refused["message"].replace(spyglass, "")) == ("not_found", missing["message"].replace(nothing, ""))

    assert (await do(api, JOIN, admin, id=given["id"], of=dentist))["code"] == "alias_already"
    assert (await do(api, SEPARATE, admin, id=given["id"])) == {**done, "ofId": None}
    assert set(await known(api, ana)) == {"spyglass", "telescope", "attic"}
    assert (await do(api, SEPARATE, admin, id=given["id"]))["code"] == "not_found"
    audited = await world.graph.read(rows, AUDITED, space=world.space)
    assert [(row["action"], row["target"]) for row in audited] == [
        ("join_entities", spyglass), ("separate_entities", spyglass),
    ]  # fmt: skip


async def test_what_something_was_joined_to_is_not_told_to_who_may_not_know_it(api: Api, world: World) -> None:
    admin = api.token("admin", scopes=["ask", "admin", "read_all"])
    narrow = api.token("clerk", scopes=["ask", "admin"])
    attic, telescope, dentist = (
        entity_id(world.space, type, name)
        for type, name in ((EntityType.PLACE, "attic"), (EntityType.THING, "telescope"), (EntityType.THING, "dentist"))
    )
    await do(api, JOIN, admin, id=telescope, of=dentist)
    refused = await do(api, JOIN, narrow, id=telescope, of=attic)
    assert refused["code"] == "not_joined"
    await do(api, SEPARATE, admin, id=telescope)

    names = [f"{world.space}-{i}" for i in range(MAX_ALIASES)]
    await world.graph.write(changes, CHAIN, space=world.space, id=telescope, names=names)
    assert await do(api, JOIN, narrow, id=telescope, of=attic) == refused, "nor that, or how many, names lead to it"
    told = await do(api, JOIN, admin, id=telescope, of=attic)
    assert told["code"] == "aliases_too_long" and str(MAX_ALIASES) in told["message"]
    await world.graph.write(changes, "MATCH (e:Entity {id: $id}) DETACH DELETE e", id=names[0])
    known = {"id": telescope, "of": attic}
    assert (await do(api, JOIN, narrow, **known))["__typename"] == "EntityJoined"
    ana = api.token("ana", person_id=world.person("ana"), scopes=["ask", "admin"])
    again = await do(api, JOIN, ana, id=telescope, of=entity_id(world.space, EntityType.THING, "spyglass"))
    assert again["code"] == "alias_already" and attic in again["message"], "what they know they are told"


async def test_themes_tell_which_others_are_spoken_of_together_with_them(api: Api, world: World) -> None:
    ana, cleo = (api.token(name, person_id=world.person(name)) for name in ("ana", "cleo"))

    async def related(token: str) -> dict[str, list[tuple[str, int]]]:
        found = (await api.data(THEMES, token))["themes"]
        return {t["label"]: [(r["label"], r["numMessages"]) for r in t["related"]] for t in found}

    assert (await related(cleo))["leisure"] == [("health", 1), ("home", 1)] or (await related(cleo))["leisure"] == [
        ("home", 1), ("health", 1),
    ]  # fmt: skip
    assert "health" not in await related(ana) and (await related(api.token("nobody")))["home"] == [("leisure", 1)]
