"""Administrators say who is told of what happens; whoever follows it over GraphQL is told no more than they may know."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.api.tokens import TokenFile, _write, list_tokens, revoke
from service.graph.driver import Graph, Tx
from service.graph.write_consents import save_consent
from service.graph.write_events import save_event, save_session_events
from service.graph.write_grants import revoke_grant
from service.pipelines.webhook_worker import WorkerConfig
from service.settings import Settings
from service.types.events import EventKind, NewEvent
from service.types.ids import fresh
from service.types.people import Consent
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.granting import a_grant
from tests.graph.correction_builders import correct
from tests.graph.graph_builders import Said, World, seed
from tests.webhook_receiver import receiving

ADMIN = ["admin", "read_all"]
RECEIVER = Path(__file__).parents[2] / "deploy" / "examples" / "receive_webhooks.py"

ADD = """mutation($url: String!, $kinds: [EventKind!]!, $key: String!, $person: ID) {
  addWebhook(url: $url, kinds: $kinds, personId: $person, idempotencyKey: $key) {
    __typename ... on WebhookMade { secret webhook { id url kinds personId status } } ... on Problem { code message } } }"""
LIST = "{ webhooks { id url kinds status disabledWhy failures } }"
DELIVERIES = """query($id: ID, $status: [WebhookDeliveryStatus!]) { webhookDeliveries(webhookId: $id, status: $status) {
  edges { node { id webhookId eventId kind status attempts httpStatus error } } } }"""
CHANGE = 'mutation($id: ID!) {{ {}(id: $id, idempotencyKey: "{}"{}) {{ __typename ... on Problem {{ code }} {} }} }}'
TRY = """mutation($id: ID!, $key: String!) { tryWebhook(id: $id, idempotencyKey: $key) {
  __typename ... on WebhookTried { arrived httpStatus error } } }"""
FOLLOW = """subscription($kinds: [EventKind!], $since: DateTime) { events(kinds: $kinds, since: $since) {
  __typename ... on SpaceEvent { id kind at } ... on SessionReady { sessionId numMessages numPeople numUnresolved }
  ... on PersonUnresolved { sessionId voices people numTurns }
  ... on IdentityRevised { what correctionId people sessions numTurns }
  ... on SomethingErased { what people numErased } ... on Problem { code message } } }"""
SAID = [
    Said("ana", "The tea is ready", ["ana", "ben"], to=["ben"], session="kitchen"),
    Said(None, "Somebody mumbles", ["ana", "ben"], session="kitchen"),
    Said("cleo", "The knee hurts", ["cleo"], session="attic"),
]


@pytest.fixture(scope="module")
async def service(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Api]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("data"), development=False, recogniser="none", webhook_private=True)
    quick = WorkerConfig(poll_seconds=0.05, first_wait=0.1, growth=1.0, max_attempts=2, max_failures=1)
    async with serving(Services(settings, graph), space="", webhooks=quick) as api:
        yield api


@pytest.fixture
def api(service: Api, space: str) -> Api:
    return replace(service, space=space)


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    return await seed(graph, space, ["ana", "ben", "cleo"], SAID)


def change(name: str, fields: str = "", more: str = "") -> str:
    return CHANGE.format(name, fresh(), more, fields)


async def add(api: Api, token: str, url: str, *kinds: str, **more: Any) -> Any:
    variables = {"url": url, "kinds": list(kinds or ("ERASED", "SESSION_READY")), "key": fresh(), **more}
    return (await api.data(ADD, token, **variables))["addWebhook"]


async def happens(api: Api) -> str:
    new = NewEvent(space=api.space, kind=EventKind.ERASED, occasion=fresh(), what="sounds", counts={"erased": 3})
    return await api.services.graph.write(save_event, new)


async def deliveries(api: Api, token: str, **narrowed: Any) -> list[Any]:
    found = await api.data(DELIVERIES, token, **narrowed)
    return [edge["node"] for edge in found["webhookDeliveries"]["edges"]]


async def until(api: Api, token: str, status: str, n: int = 1) -> list[Any]:
    async with asyncio.timeout(60):
        while len(found := await deliveries(api, token, status=[status])) < n:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found


async def test_an_administrator_adds_a_webhook_and_it_is_told_by_the_service(api: Api) -> None:
    token = api.token("boss", scopes=ADMIN)
    async with receiving() as receiver:
        key = fresh()
        made = await add(api, token, f"{receiver.url}?theirs=secret", key=key)
        assert made["webhook"]["personId"] is None and made["secret"].startswith("whsec_")
        assert made["webhook"]["url"] == f"{receiver.url}?…" and made["webhook"]["status"] == "ACTIVE"
        again = await add(api, token, f"{receiver.url}?theirs=secret", key=key)
        assert (again["webhook"], again["secret"]) == (made["webhook"], None), "shown once"
        event = await happens(api)
        (one,) = await receiver.until(1)
        assert one.id == event and one.signed_with(made["secret"]) and one.path == "/hook?theirs=secret"
        (sent,) = await until(api, token, "SENT")
        assert (sent["webhookId"], sent["eventId"], sent["httpStatus"]) == (made["webhook"]["id"], event, 204)
        listed = json.dumps([await api.data(LIST, token), await deliveries(api, token)])
        assert made["secret"] not in listed and "theirs" not in listed
        tried = (await api.data(TRY, token, id=made["webhook"]["id"], key=fresh()))["tryWebhook"]
        assert tried == {"__typename": "WebhookTried", "arrived": True, "httpStatus": 204, "error": None}


async def test_what_failed_is_seen_enabled_and_told_again(api: Api) -> None:
    token = api.token("boss", scopes=ADMIN)
    async with receiving() as receiver:
        receiver.usual = "500 Broken"
        id = (await add(api, token, receiver.url))["webhook"]["id"]
        await happens(api)
        (dead,) = await until(api, token, "DEAD")
        assert (dead["attempts"], dead["httpStatus"], dead["error"]) == (2, 500, "status")
        (listed,) = (await api.data(LIST, token))["webhooks"]
        assert (listed["status"], listed["disabledWhy"], listed["failures"]) == ("DISABLED", "FAILING", 1)
        receiver.usual = "200 Fine"
        enabled = await api.data(change("enableWebhook", "... on WebhookChanged { webhook { status } }"), token, id=id)
        assert enabled["enableWebhook"]["webhook"]["status"] == "ACTIVE"
        replayed = "... on WebhookReplayed { numDeliveries }"
        one = change("replayWebhook", replayed, f', deliveryId: "{dead["id"]}"')
        assert (await api.data(one, token, id=id))["replayWebhook"]["numDeliveries"] == 1
        await until(api, token, "SENT")
        since = (datetime.now(UTC) - timedelta(minutes=5)).isoformat()
        all_of_it = change("replayWebhook", replayed, f', since: "{since}"')
        assert (await api.data(all_of_it, token, id=id))["replayWebhook"]["numDeliveries"] == 1
        assert len({one.id for one in await receiver.until(4)}) == 1
        both = change("replayWebhook", replayed)
        assert (await api.data(both, token, id=id))["replayWebhook"]["__typename"] == "InvalidInput"
        gone = await api.data(change("removeWebhook"), token, id=id)
        assert gone["removeWebhook"]["__typename"] == "WebhookChanged"
        assert (await api.data(LIST, token))["webhooks"] == [] and await deliveries(api, token) == []


async def test_who_may_have_what_told(api: Api, world: World) -> None:
    url, ana, ben = "https://example.org/hook", world.person("ana"), world.person("ben")
    for entry, person, outcome in (
        ({"scopes": ["ask", "read_all"]}, None, "NotAllowed"),
        ({"scopes": ["admin"]}, None, "NotAllowed"),
        ({"scopes": ["admin"], "person_id": ana}, None, ana),
        ({"scopes": ["admin"], "person_id": ana}, ben, "NotAllowed"),
        ({"scopes": ["admin"], "may_act_for": [ben]}, ben, ben),
        ({"scopes": ADMIN}, ben, ben),
        ({"scopes": ADMIN}, fresh(), "NotFound"),
    ):
        made = await add(api, api.token("somebody", **entry), url, person=person)  # type: ignore[arg-type]
        eyes = (made.get("webhook") or {}).get("personId") or made["__typename"]
        assert eyes.removeprefix("Person:") == outcome, (entry, person)
    assert (await add(api, api.token("boss", scopes=ADMIN), "http://example.org/"))["__typename"] == "InvalidInput"
    for query in (LIST, DELIVERIES):
        assert await api.code(query, api.token("ana", person_id=ana, scopes=["ask", "ingest", "read_all"])) == "not_allowed"


async def test_a_webhook_is_told_no_more_than_its_makers_token_may_now(api: Api, world: World) -> None:
    """Revoked, expired, without the scope or the person by now, moved to another space."""
    ana, ben = world.person("ana"), world.person("ben")
    path = api.services.settings.tokens_file
    kinds: dict[str, tuple[dict[str, Any], str | None, dict[str, Any] | None]] = {
        "revoked": ({"scopes": ADMIN}, None, None),
        "expired": ({"scopes": ADMIN}, None, {"expires_at": datetime.now(UTC) - timedelta(seconds=1)}),
        "no read_all": ({"scopes": ADMIN}, None, {"scopes": frozenset({"admin"})}),
        "no admin": ({"scopes": ADMIN}, None, {"scopes": frozenset({"read_all"})}),
        "not for ben": ({"scopes": ["admin"], "may_act_for": [ben]}, ben, {}),
        "not ana's": ({"scopes": ["admin"], "person_id": ana}, None, {"person_id": ben}),
        "elsewhere": ({"scopes": ADMIN}, None, {"space": f"test-{fresh()}"}),
        "as before": ({"scopes": ["admin"], "may_act_for": [ben, ana]}, ben, {}),
    }
    tokens = {name: api.token(name, **given) for name, (given, _, _) in kinds.items()}
    boss = api.token("boss", scopes=ADMIN)
    ids = {}
    async with receiving() as receiver:
        for name, (_, person, _) in kinds.items():
            made = await add(api, tokens[name], f"{receiver.url}/{name.replace(' ', '-')}", "SESSION_READY", person=person)
            ids[made["webhook"]["id"]] = name
        for name, (_, _, now) in kinds.items():
            entry = TokenFile(path).find(tokens[name])
            assert entry is not None
            others = [one for one in list_tokens(path) if one.id != entry.id]
            _write(path, [*others, *([] if now is None else [replace(entry, **now)])])
        grant = a_grant(api.space, "not for ben", ben).id
        await api.services.graph.write(revoke_grant, api.space, grant, actor="ben", why="", at=datetime.now(UTC))
        await api.services.graph.write(save_session_events, api.space, world.session("kitchen"))
        async with asyncio.timeout(30):
            while True:
                listed = {ids[one["id"]]: one for one in (await api.data(LIST, boss))["webhooks"]}
                if sum(one["disabledWhy"] == "LEAVE_ENDED" for one in listed.values()) == len(kinds) - 1:
                    break
                await asyncio.sleep(0.1)
        (one,) = await receiver.until(1)
        assert one.path.endswith("/as-before") and listed["as before"]["status"] == "ACTIVE"
        revoked = next(id for id, name in ids.items() if name == "revoked")
        for_ben = next(id for id, name in ids.items() if name == "not for ben")
        weak = api.token("weak", scopes=["admin"])
        for id in (revoked, for_ben):
            assert (await api.data(change("enableWebhook"), weak, id=id))["enableWebhook"]["__typename"] == "NotAllowed"
        enabled = await api.data(change("enableWebhook", "... on WebhookChanged { webhook { status } }"), boss, id=revoked)
        assert enabled["enableWebhook"]["webhook"]["status"] == "ACTIVE", "and who enabled it answers for it"
        assert len(await receiver.until(2)) == 2


async def test_webhooks_of_another_space_are_not_there(api: Api) -> None:
    made = await add(api, api.token("boss", scopes=ADMIN), "https://example.org/hook")
    other = api.token("other boss", space=f"test-{fresh()}", scopes=ADMIN)
    assert (await api.data(LIST, other))["webhooks"] == []
    for name in ("removeWebhook", "enableWebhook", "rotateWebhookSecret"):
        answers = [(await api.data(change(name), other, id=id))[name] for id in (made["webhook"]["id"], f"Webhook:{fresh()}")]
        assert answers == [{"__typename": "NotFound", "code": "not_found"}] * 2
    assert (await api.data(TRY, other, id=made["webhook"]["id"], key=fresh()))["tryWebhook"]["__typename"] == "NotFound"


async def test_a_new_secret_is_another_and_shown_once(api: Api) -> None:
    token = api.token("boss", scopes=ADMIN)
    made = await add(api, token, "https://example.org/hook")
    query = change("rotateWebhookSecret", "... on WebhookMade { secret }")
    first, again = [(await api.data(query, token, id=made["webhook"]["id"]))["rotateWebhookSecret"]["secret"] for _ in "ab"]
    assert first.startswith("whsec_") and first != made["secret"] and again is None


async def follow(
    api: Api, token: str, n: int, *, heard_by: str | None = None, acting_for: str | None = None, **variables: Any
) -> list[Any]:
    """The first `n` events told, and what else comes within a second and a half."""
    told: list[Any] = []
    given = {"x-voicegraph-heard-by": heard_by, "x-voicegraph-acting-for": acting_for}
    async with api.socket({"authorization": f"Bearer {token}", **{name: id for name, id in given.items() if id}}) as ws:
        await ws.receive()
        await ws.subscribe("1", FOLLOW, **variables)
        while len(told) < n:
            told.append((await ws.receive())["payload"]["data"]["events"])
        ws.patience = 1.5
        try:
            while True:
                told.append((await ws.receive())["payload"]["data"]["events"])
        except TimeoutError:
            return told


async def test_each_follower_is_told_what_they_may_know(api: Api, world: World) -> None:
    since = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    for session in ("kitchen", "attic"):
        await api.services.graph.write(save_session_events, api.space, world.session(session))
    await correct(api.services.graph).merge(
        api.space, world.person("cleo"), world.person("ben"), actor="x", why="", confirmed=False
    )
    erased = await happens(api)
    tokens = [
        api.token("ben", person_id=world.person("ben")),
        api.token("cleo", person_id=world.person("cleo")),
        api.token("boss", scopes=ADMIN),
        api.token("nobody"),
    ]
    bens, cleos, everything, nobodys = await asyncio.gather(
        *(follow(api, token, n, since=since) for token, n in zip(tokens, (2, 2, 5, 0), strict=True))
    )
    kitchen, attic = f"Session:{world.session('kitchen')}", f"Session:{world.session('attic')}"
    ready = next(one for one in bens if one["__typename"] == "SessionReady")
    assert {one["__typename"] for one in bens} == {"SessionReady", "PersonUnresolved"}
    assert {one.get("sessionId") for one in bens} == {kitchen} and ready["numMessages"] == 2 and ready["numUnresolved"] == 1
    assert {(one["__typename"], one.get("sessionId")) for one in cleos} == {("SessionReady", attic), ("IdentityRevised", None)}
    assert len(everything) == 5 and {one["id"] for one in (*bens, *cleos)} < {one["id"] for one in everything}
    assert erased in {one["id"] for one in everything} and nobodys == []
    revised = {one["id"]: one["correctionId"] for one in (*cleos, *everything) if one["__typename"] == "IdentityRevised"}
    assert len(revised) == 1 and next(one for one in cleos if "correctionId" in one)["correctionId"] is None


async def test_what_was_erased_of_somebody_is_told_to_them_and_to_who_reads_everything(api: Api, world: World) -> None:
    since = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    ana = world.person("ana")
    withdrawn = {"text_version": "1", "channel": "paper", "at": datetime.now(UTC), "purpose": "infer_persona"}
    await api.services.graph.write(save_consent, api.space, ana, Consent.WITHDRAWN, **withdrawn)  # type: ignore[arg-type]
    tokens = [
        api.token("ana", person_id=ana),
        api.token("boss", scopes=ADMIN),
        api.token("ben", person_id=world.person("ben")),
        api.token("ana's bot", may_act_for=[ana]),
    ]
    told = await asyncio.gather(
        *(follow(api, token, n, since=since) for token, n in zip(tokens, (1, 1, 0, 0), strict=True)),
        follow(api, tokens[0], 1, heard_by=ana, since=since),
        follow(api, tokens[0], 0, heard_by=world.person("ben"), since=since),
        follow(api, tokens[3], 0, acting_for=ana, since=since),
    )
    assert [[(one["what"], one["people"], one["numErased"]) for one in some] for some in told] == [
        *([[("inferred", [f"Person:{ana}"], None)]] * 2),
        *([[]] * 2),
        [("inferred", [f"Person:{ana}"], None)],
        *([[]] * 2),
    ]


async def test_what_happens_while_somebody_follows_is_told_once_and_only_of_the_kinds_wanted(api: Api, world: World) -> None:
    token = api.token("boss", scopes=ADMIN)

    async def meanwhile() -> None:
        await asyncio.sleep(0.7)
        await happens(api)
        await api.services.graph.write(save_session_events, api.space, world.session("kitchen"))

    told, _ = await asyncio.gather(follow(api, token, 1, kinds=["SESSION_READY"]), meanwhile())
    assert [one["kind"] for one in told] == ["SESSION_READY"]


async def test_what_began_to_be_written_before_somebody_follows_and_is_there_after_is_told(api: Api, world: World) -> None:
    """Its time is before theirs, and nobody could have seen it then."""
    token, graph = api.token("boss", scopes=ADMIN), api.services.graph

    written, follows = asyncio.Event(), asyncio.Event()

    async def writes(tx: Tx) -> None:
        await save_session_events(tx, api.space, world.session("attic"))
        written.set()
        await follows.wait()

    await graph.write(save_session_events, api.space, world.session("kitchen"))
    writing = asyncio.create_task(graph.write(writes))
    await written.wait()
    following = asyncio.create_task(follow(api, token, 1, kinds=["SESSION_READY"]))
    await asyncio.sleep(1.0)
    follows.set()
    _, told = await asyncio.gather(writing, following)
    assert [one["sessionId"] for one in told] == [f"Session:{world.session('attic')}"]


async def test_a_token_that_is_revoked_ends_it(api: Api) -> None:
    token = api.token("brief", scopes=ADMIN)
    file = api.services.settings.tokens_file
    async with api.socket({"authorization": f"Bearer {token}"}) as ws:
        await ws.receive()
        await ws.subscribe("1", FOLLOW)
        await asyncio.sleep(0.3)
        revoke(file, next(entry.id for entry in list_tokens(file) if entry.subject == "brief"))
        answer = (await ws.receive())["payload"]["data"]["events"]
    assert (answer["__typename"], answer["code"]) == ("NotAllowed", "token_not_accepted")


@pytest.mark.parametrize("since", ["2020-01-01T00:00:00Z", "2026-11-30T00:00:00"])
async def test_what_is_forgotten_by_now_cannot_be_told(api: Api, since: str) -> None:
    async with api.socket({"authorization": f"Bearer {api.token('boss', scopes=ADMIN)}"}) as ws:
        await ws.receive()
        (answer,) = await ws.results("1", FOLLOW, since=since)
    assert answer["data"]["events"]["code"] == "invalid_input"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


async def test_the_example_takes_what_is_signed_and_nothing_else(api: Api) -> None:
    token, port = api.token("boss", scopes=ADMIN), free_port()
    url = f"http://127.0.0.1:{port}/hook"
    made = await add(api, token, url)
    started = await asyncio.create_subprocess_exec(
        sys.executable, RECEIVER, str(port), stdout=subprocess.PIPE, env={"WEBHOOK_SECRET": made["secret"]}
    )
    assert started.stdout is not None
    try:
        assert str(port) in (await started.stdout.readline()).decode()
        tried = (await api.data(TRY, token, id=made["webhook"]["id"], key=fresh()))["tryWebhook"]
        assert tried["arrived"]
        assert (await started.stdout.readline()).startswith(b"test ")
        now = str(int(datetime.now(UTC).timestamp()))
        for at in (now, "1"):
            headers = {"webhook-id": "x", "webhook-timestamp": at, "webhook-signature": "v1,x"}
            assert (await api.http.post(url, content=b"{}", headers=headers)).status_code == 401
    finally:
        started.kill()
        await started.wait()
