"""Asking with a token of an identity provider, over real HTTP and websockets: the provider is a small one on loopback."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
import websockets

from service.api.key_sets import KeysConfig
from service.graph.driver import Graph, changes
from service.graph.write_accounts import bind_account, unbind_account
from service.graph.write_grants import save_grant
from service.settings import Settings
from service.types.ids import fresh
from service.types.meeting import AccountKey
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.conftest import CREATE_SPACE
from tests.granting import a_grant
from tests.graph.graph_builders import Said, World, seed
from tests.oidc_server import CLIENT, SECRET, OidcServer, SigningKey, oidc_server

SAID = [Said("ana", "the piano is blue", ["ana", "ben"]), Said("ben", "the ladder is red", ["ben"])]
TEXTS = "{ messages(first: 9) { edges { node { text } } } }"
ISSUERS = """
[issuers.company]
issuer = "{issuer}"
audience = "voicegraph"
space = "{space}"
scopes = ["ask"]
leeway = 0
scopes_claim = "roles"
scopes_of = {{ recorder = ["ingest"] }}
"""


class Company:
    def __init__(self, api: Api, idp: OidcServer, world: World) -> None:
        self.api, self.idp, self.world = api, idp, world

    async def signed_in(self, login: str) -> str:
        async with httpx.AsyncClient() as http:
            found = (await http.get(f"{self.idp.issuer}/.well-known/openid-configuration")).json()
            form = {"grant_type": "client_credentials", "login": login}
            return str((await http.post(found["token_endpoint"], data=form, auth=(CLIENT, SECRET))).json()["access_token"])

    async def reads(self, token: str, headers: dict[str, str] | None = None) -> set[str]:
        found = await self.api.data(TEXTS, token, headers)
        return {edge["node"]["text"] for edge in found["messages"]["edges"]}

    async def closed_stream(self, token: str) -> tuple[str, int | None]:
        """With which code of ours, and of the websocket, a stream that is opened with the token ends."""
        async with websockets.connect(f"ws://127.0.0.1:{self.api.port}/stream") as stream:
            await stream.send(json.dumps({"type": "start", "headers": {"authorization": f"Bearer {token}"}}))
            told = json.loads(await stream.recv())
            await stream.wait_closed()
        return str(told["code"]), stream.close_code

    async def unbind(self, account: str) -> None:
        now = datetime.now(UTC)
        await self.world.graph.write(unbind_account, self.world.space, account, actor="test", why="", at=now)

    async def bind(self, login: str, name: str) -> str:
        now, key = datetime.now(UTC), AccountKey(self.idp.issuer, login)
        person = self.world.person(name)
        return await self.world.graph.write(bind_account, self.world.space, key, person, actor="test", why="", at=now)


@pytest.fixture(scope="module")
async def company(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Company]:
    space, data = f"test-{fresh()}", tmp_path_factory.mktemp("data")
    await graph.write(changes, CREATE_SPACE, space=space)
    world = await seed(graph, space, ["ana", "ben"], SAID)
    with oidc_server() as idp:
        (Path(data) / "issuers.toml").write_text(ISSUERS.format(issuer=idp.issuer, space=space))
        services = Services(Settings(data_dir=data, recogniser="none", space=space, development=False), graph)
        async with serving(services, space, keys=KeysConfig(again=0.0, timeout=30.0)) as api:
            yield Company(api, idp, world)


async def test_a_login_reads_what_its_person_may_from_when_somebody_says_whose_it_is(company: Company) -> None:
    token = await company.signed_in("u-ana")
    assert await company.reads(token) == set(), "known to the provider, and nobody here yet"
    account = await company.bind("u-ana", "ana")
    assert await company.reads(token) == {"the piano is blue"}
    assert await company.reads(await company.signed_in("u-ben")) == set(), "another login is another account"
    refused = await company.api.code(TEXTS, token, {"x-voicegraph-acting-for": company.world.person("ben")})
    assert refused == "viewer_not_accepted"
    grant = a_grant(company.world.space, "u-ana", company.world.person("ben"), issuer=company.idp.issuer)
    await company.world.graph.write(save_grant, grant)
    acting = {"x-voicegraph-acting-for": company.world.person("ben")}
    assert await company.reads(token, acting) == {"the piano is blue", "the ladder is red"}, (
        "a login may be let ask, as any account"
    )
    async with company.api.socket({"authorization": f"Bearer {token}"}) as socket:
        assert (await socket.receive())["type"] == "connection_ack"
        (answer,) = await socket.results("1", TEXTS)
        assert [edge["node"]["text"] for edge in answer["data"]["messages"]["edges"]] == ["the piano is blue"]
        await company.unbind(account)
        (after,) = await socket.results("2", TEXTS)
        assert after["data"]["messages"]["edges"] == [] and await company.reads(token) == set()
    recorder = company.idp.token("u-device", roles=["recorder"])
    assert await company.api.upload(b"RIFF", recorder)
    assert await company.api.code(TEXTS, company.idp.token(aud="another")) == "token_not_accepted"


async def test_what_a_token_ends_ends_with_it_and_a_new_one_is_taken(company: Company) -> None:
    soon = company.idp.token("u-soon", exp=time.time() + 0.7)
    async with company.api.socket({"authorization": f"Bearer {soon}"}) as socket:
        await socket.receive()
        (told,) = await socket.results("1", "subscription { events { __typename ... on Problem { code } } }")
        assert told["data"]["events"] == {"__typename": "NotAllowed", "code": "token_expired"}
    assert await company.api.code(TEXTS, soon) == "token_expired"
    assert await company.closed_stream(soon) == ("token_expired", 4401)
    assert await company.reads(company.idp.token("u-soon")) == set()


async def test_only_who_needs_a_key_that_is_not_known_waits_for_the_provider_or_comes_again(company: Company) -> None:
    known, ours = company.idp.token("u-ana"), company.api.token("ours", person_id=company.world.person("ben"))
    await company.reads(known)
    company.idp.keys.insert(0, SigningKey.made("next", "EdDSA"))
    company.idp.answering.clear()
    waiting = asyncio.create_task(company.reads(company.idp.token("u-new")))
    await asyncio.sleep(0.05)
    assert await company.reads(ours) == {"the piano is blue", "the ladder is red"}
    assert await company.reads(known) == set() and not waiting.done()
    company.idp.answering.set()
    assert await waiting == set()
    company.idp.down = True
    try:
        assert await company.reads(known) == set()
        unknown = company.idp.token(key=SigningKey.made("k9", "ES256"))
        headers = {"authorization": f"Bearer {unknown}", "content-type": "application/json"}
        for path, body in (("/graphql", json.dumps({"query": TEXTS})), ("/v1/uploads", "RIFF")):
            answer = await company.api.http.post(path, content=body, headers=headers)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1"), answer.text
            assert answer.json()["errors"][0]["extensions"]["code"] == "issuer_unreachable"
        async with company.api.socket({"authorization": f"Bearer {unknown}"}) as socket:
            assert await socket.closed() == 4403
        assert await company.closed_stream(unknown) == ("issuer_unreachable", 4503)
    finally:
        company.idp.down = False
