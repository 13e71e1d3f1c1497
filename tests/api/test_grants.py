"""Asking for somebody else, over HTTP: who lets whom, what that opens, and that it ends at once when it ends."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.api.old_leave import move_old_leave
from service.api.tokens import issue, list_tokens
from service.api.uses import Uses, last_uses
from service.graph.driver import Graph, changes, rows
from service.pipelines.leave import expire_grants
from service.types.ids import fresh
from tests.api.serving import Api
from tests.graph.graph_builders import Said, World, seed

SAID = [Said("ana", "the piano is blue", ["ana", "ben"]), Said("ben", "the ladder is red", ["ben"])]
TEXTS = "{ messages(first: 9) { edges { node { text } } } }"
CHANGED = "{ __typename ... on GrantChanged { grantId until } ... on Problem { code } }"
ADD = f"""mutation($person: ID!, $subject: String!, $until: DateTime, $key: String!) {{
  addGrant(personId: $person, issuer: "local", subject: $subject, until: $until, why: "the speaker is hers",
           idempotencyKey: $key) {CHANGED} }}"""
REVOKE = f"mutation($id: ID!, $key: String!) {{ revokeGrant(grantId: $id, idempotencyKey: $key) {CHANGED} }}"
GRANTS = """{ grants(first: 9, holding: false) { edges { node {
  id issuer subject until revokedAt usedAt holds grantedBy why person { id } } } } }"""
AUDIT = (
    "MATCH (e:AuditEvent {space: $space}) RETURN e.action AS action, e.target AS target, e.actor AS actor ORDER BY e.created_at"
)
END = "MATCH (g:Grant {space: $space}) SET g.until = datetime() - duration($age), g.revoked_at = null"


class Home:
    def __init__(self, api: Api, world: World) -> None:
        self.api, self.world = api, world
        self.ana, self.ben = (f"Person:{world.person(name)}" for name in ("ana", "ben"))
        self.own = api.token("ana", person_id=world.person("ana"))
        self.speaker = api.token("speaker")
        self.admin = api.token("keeper", scopes=["ask", "admin"])

    async def do(self, query: str, token: str, headers: dict[str, str] | None = None, **variables: Any) -> Any:
        return next(iter((await self.api.data(query, token, headers, **{"key": fresh(), **variables})).values()))

    async def let(self, token: str, person: str, subject: str = "speaker", **more: Any) -> Any:
        return await self.do(ADD, token, person=person, subject=subject, **more)

    async def hears(self, token: str, person: str) -> set[str] | str:
        answer = await self.api.post(TEXTS, token, {"x-voicegraph-acting-for": person})
        if "errors" in answer:
            return str(answer["errors"][0]["extensions"]["code"])
        return {edge["node"]["text"] for edge in answer["data"]["messages"]["edges"]}

    async def listed(self, token: str, headers: dict[str, str] | None = None) -> list[Any]:
        return [edge["node"] for edge in (await self.api.data(GRANTS, token, headers))["grants"]["edges"]]


@pytest.fixture
async def home(api: Api, graph: Graph, space: str) -> Home:
    return Home(api, await seed(graph, space, ["ana", "ben"], SAID))


async def test_a_person_lets_a_device_ask_for_them_and_takes_it_back_at_once(home: Home, graph: Graph, space: str) -> None:
    assert await home.hears(home.speaker, home.ana) == "viewer_not_accepted"
    key = fresh()
    given = await home.let(home.own, home.ana, key=key)
    assert given["__typename"] == "GrantChanged" and given == await home.let(home.own, home.ana, key=key), "once for a key"
    assert await home.hears(home.speaker, home.ana) == {"the piano is blue"}
    assert (
        await home.hears(home.speaker, home.ben) == await home.hears(home.speaker, f"Person:{fresh()}") == "viewer_not_accepted"
    )
    assert await home.hears(home.api.token("another speaker"), home.ana) == "viewer_not_accepted"
    (mine,) = await home.listed(home.own)
    assert (mine["subject"], mine["holds"], mine["person"], mine["why"]) == (
        "speaker",
        True,
        {"id": home.ana},
        "the speaker is hers",
    )
    acting = {"x-voicegraph-acting-for": home.ana}
    for token, headers in (
        (home.speaker, None),
        (home.speaker, acting),
        (home.admin, None),
        (home.own, {"x-voicegraph-heard-by": "x"}),
    ):
        assert await home.listed(token, headers) == [], "for the person alone, and with nobody listening"
    for token, headers in (
        (home.speaker, None),
        (home.speaker, acting),
        (home.api.token("ben", person_id=home.world.person("ben")), None),
    ):
        refused = await home.do(REVOKE, token, headers, id=mine["id"])
        assert (refused["__typename"], refused["code"]) == ("NotFound", "not_found")
    async with home.api.socket({"authorization": f"Bearer {home.speaker}", **acting}) as socket:
        await socket.receive()
        (before,) = await socket.results("1", TEXTS)
        assert (await home.do(REVOKE, home.own, id=mine["id"]))["until"] is None
        (after,) = await socket.results("2", TEXTS)
    assert before["data"]["messages"]["edges"] and after["errors"][0]["extensions"]["code"] == "viewer_not_accepted"
    assert await home.hears(home.speaker, home.ana) == "viewer_not_accepted"
    (mine,) = await home.listed(home.own)
    assert mine["revokedAt"] and not mine["holds"]
    grant = mine["id"].removeprefix("Grant:")
    audited = [(e["action"], e["target"]) for e in await graph.read(rows, AUDIT, space=space) if e["action"] != "ask_for"]
    assert audited == [("grant", grant), ("revoke_grant", grant)]


async def test_nobody_lets_somebody_ask_for_another_but_an_administrator_and_not_for_themselves(home: Home) -> None:
    for token, person in ((home.own, home.ben), (home.own, f"Person:{fresh()}"), (home.speaker, home.ana)):
        refused = await home.let(token, person)
        assert (refused["__typename"], refused["code"]) == ("NotAllowed", "not_allowed")
    await home.let(home.own, home.ana)
    acting = await home.do(
        ADD, home.speaker, {"x-voicegraph-acting-for": home.ana}, person=home.ana, subject="a friend of the speaker"
    )
    assert acting["__typename"] == "NotAllowed", "who may ask for somebody lets nobody else"
    heard = await home.do(ADD, home.own, {"x-voicegraph-heard-by": "somebody"}, person=home.ana, subject="speaker")
    assert heard["__typename"] == "NotAllowed"
    assert (await home.let(home.admin, home.ben))["__typename"] == "GrantChanged"
    assert await home.hears(home.speaker, home.ben) == {"the piano is blue", "the ladder is red"}
    assert (await home.let(home.admin, home.ben, "keeper"))["__typename"] == "NotAllowed", (
        "not for the administrator's own account"
    )
    assert (await home.let(home.admin, f"Person:{fresh()}"))["__typename"] == "NotFound"
    everything = home.api.token("boss", scopes=["read_all", "ask"])
    assert {(one["subject"], one["person"]["id"]) for one in await home.listed(everything)} == {
        ("speaker", home.ana), ("speaker", home.ben)}  # fmt: skip
    now = datetime.now(UTC)
    for until in (now - timedelta(hours=1), now + timedelta(days=400)):
        assert (await home.let(home.own, home.ana, until=until.isoformat()))["__typename"] == "InvalidInput"


async def test_leave_ends_by_itself_and_its_record_goes_later(home: Home, graph: Graph, space: str) -> None:
    await home.let(home.own, home.ana)
    uses = Uses(home.api.services.settings.tokens_file, home.api.services.settings.token_uses_file)
    assert await home.hears(home.speaker, home.ana) == {"the piano is blue"}
    (grant,) = await home.listed(home.own)
    uses.of_grants([grant["id"].removeprefix("Grant:")])
    ids = {entry.subject: entry.id for entry in list_tokens(home.api.services.settings.tokens_file) if entry.space == space}
    uses.of_token(ids["speaker"])
    uses.of_token("a token that is revoked")
    await uses.write(graph)
    uses.of_grants([grant["id"].removeprefix("Grant:")])
    await uses.write(graph)
    assert (await home.listed(home.own))[0]["usedAt"]
    audited = [event["action"] for event in await graph.read(rows, AUDIT, space=space)]
    assert sorted(audited) == ["ask_for", "grant"], "once a day"
    known = last_uses(home.api.services.settings.token_uses_file)
    assert ids["speaker"] in known and "a token that is revoked" not in known and ids["ana"] not in known
    await graph.write(changes, END, space=space, age="PT1S")
    assert await home.hears(home.speaker, home.ana) == "viewer_not_accepted"
    await expire_grants(graph)
    assert len(await home.listed(home.own)) == 1
    await graph.write(changes, END, space=space, age="P31D")
    await expire_grants(graph)
    assert await home.listed(home.own) == []


async def test_what_a_file_of_tokens_gave_is_recorded_once_and_opens_nothing_from_the_file(
    home: Home, graph: Graph, space: str, tmp_path: Path
) -> None:
    path, soon = tmp_path / "tokens.json", datetime.now(UTC) + timedelta(days=3)
    for subject, end in (("speaker", None), ("old", soon), ("ended", datetime.now(UTC))):
        issue(path, subject=subject, space=space, expires_at=end)
    raw = json.loads(path.read_text())
    for entry in raw["tokens"]:
        entry["may_act_for"] = [home.world.person("ana"), "nobody any more"]
    path.write_text(json.dumps(raw))
    assert await move_old_leave(graph, path) == 2
    assert not any(entry.may_act_for for entry in list_tokens(path))
    path.write_text(json.dumps(raw))  # it broke off before the file was written
    assert await move_old_leave(graph, path) == 2
    assert await move_old_leave(graph, path) == 0
    listed = {one["subject"]: one for one in await home.listed(home.own)}
    assert set(listed) == {"speaker", "old"} and datetime.fromisoformat(listed["old"]["until"]) == soon
    assert await home.hears(home.speaker, home.ana) == {"the piano is blue"}
