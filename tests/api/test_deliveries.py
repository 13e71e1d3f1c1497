"""Dead letters are seen, tried again and deleted by who administers the space, and tell nobody what was said."""

from __future__ import annotations

import json

from service.graph.deliveries import DeliveryStatus
from service.graph.driver import changes
from tests.api.hook_builders import SECRET, Backend, said

LIST = """query ($status: [DeliveryStatus!], $source: String, $after: String) {
  deliveries(status: $status, source: $source, first: 2, after: $after) {
    edges { node { id source provider meeting status attempts error numBytes receivedAt nextAt expiresAt } }
    pageInfo { hasNextPage endCursor } } }"""
SOURCES = "{ meetingSources { name provider takesSound idleMinutes numWaiting problem } }"
RETRY = """mutation ($ids: [ID!]!, $key: String!) { retryDeliveries(ids: $ids, idempotencyKey: $key) {
  __typename ... on DeliveriesRetried { waitingIds stillDead { id error } numDeleted } ... on Problem { code } } }"""
FORGET = """mutation ($ids: [ID!]!, $key: String!) { forgetDeliveries(ids: $ids, idempotencyKey: $key) {
  __typename ... on DeliveriesForgotten { numDeleted } ... on Problem { code } } }"""
MEND = "MATCH (d:Delivery {space: $space}) WHERE d.body = $broken SET d.body = $mended"


async def test_what_was_delivered_is_listed_without_what_it_says(backend: Backend) -> None:
    for text in ("Hush, Zoë.", "Quiet."):
        await backend.post(said(text))
    await backend.post(b'{"hush')
    admin = backend.api.token("root", scopes=("admin",))
    first = (await backend.api.data(LIST, admin))["deliveries"]
    rest = (await backend.api.data(LIST, admin, after=first["pageInfo"]["endCursor"]))["deliveries"]
    nodes = [edge["node"] for edge in (*first["edges"], *rest["edges"])]
    assert [(one["status"] == "DEAD", one["meeting"]) for one in nodes] == [(True, None), (False, "m1"), (False, "m1")]
    assert not any(word in json.dumps(nodes).casefold() for word in ("hush", "zo", "quiet", "ana", SECRET))
    dead = (await backend.api.data(LIST, admin, status=["DEAD"]))["deliveries"]["edges"]
    assert [edge["node"]["error"].partition(":")[0] for edge in dead] == ["event_unreadable"]
    assert not (await backend.api.data(LIST, admin, source="other"))["deliveries"]["edges"]


async def test_sources_are_listed_with_what_is_wrong_with_them(backend: Backend) -> None:
    backend.configure("broken", secrets=["env:VOICEGRAPH_TEST_NO_SUCH_SECRET"], listen=True, idle_minutes=5)
    backend.configure("bare", secrets=[])
    backend.configure("keyless", provider="fireflies")
    backend.configure("elsewhere", space="elsewhere")
    await backend.post(said())
    found = (await backend.api.data(SOURCES, backend.api.token("root", scopes=("admin",))))["meetingSources"]
    assert {(s["name"], s["takesSound"], s["idleMinutes"], s["problem"]) for s in found} == {
        ("crm", False, 30.0, None),
        ("broken", True, 5.0, "secret_missing"),
        ("bare", False, 30.0, "no_secret"),
        ("keyless", False, 30.0, "no_api_key"),
    }
    assert {s["name"]: s["numWaiting"] for s in found}["bare"] == 0
    assert SECRET not in json.dumps(found)


async def test_only_who_administers_the_space_sees_or_touches_any(backend: Backend) -> None:
    await backend.post(b"{")
    (dead,) = await backend.inbox()
    for scopes in (("ask",), ("ingest",), ("read_all",)):
        token = backend.api.token("somebody", scopes=scopes)
        assert await backend.api.code(LIST, token) == await backend.api.code(SOURCES, token) == "not_allowed"
        for mutation, field in ((RETRY, "retryDeliveries"), (FORGET, "forgetDeliveries")):
            assert (await backend.api.data(mutation, token, ids=[dead.id], key="k"))[field]["code"] == "not_allowed"
    elsewhere = backend.api.token("root", space=f"{backend.api.space}-other", scopes=("admin",))
    assert not (await backend.api.data(LIST, elsewhere))["deliveries"]["edges"]
    assert (await backend.api.data(FORGET, elsewhere, ids=[dead.id], key="k"))["forgetDeliveries"]["numDeleted"] == 0
    assert len(await backend.inbox()) == 1


async def test_a_dead_letter_is_taken_in_once_it_can_be_read_and_its_repeat_is_known(backend: Backend) -> None:
    await backend.post(said("before"))
    await backend.post(b'{"broken":', id="evt-1")
    (dead,) = [one for one in await backend.inbox() if one.status is DeliveryStatus.DEAD]
    admin, asked = backend.api.token("root", scopes=("admin",)), {"ids": [f"Delivery:{dead.id}"]}
    still = (await backend.api.data(RETRY, admin, **asked, key="1"))["retryDeliveries"]
    assert [one["id"] for one in still["stillDead"]] == asked["ids"] and not still["waitingIds"]
    mended = json.dumps(said("mended"))
    await backend.graph.write(changes, MEND, space=backend.api.space, broken='{"broken":', mended=mended)
    done = (await backend.api.data(RETRY, admin, **asked, key="2"))["retryDeliveries"]
    assert len(done["waitingIds"]) == 1 and not done["stillDead"]
    assert (await backend.api.data(RETRY, admin, **asked, key="2"))["retryDeliveries"] == done
    assert [(one.status is DeliveryStatus.DEAD, one.meeting) for one in await backend.inbox()] == [(False, "m1")] * 2
    await backend.post(mended.encode(), id="evt-1")
    assert len(await backend.inbox()) == 2


async def test_a_dead_letter_is_read_again_under_the_conditions_of_its_delivery(backend: Backend) -> None:
    """Its name given to another space, or another provider; a meeting nobody can name; sound."""
    told = json.dumps(said("words of this space")).encode()
    sound = {"type": "heard", "data": "AQIDBA==", "encoding": "s16le", "sample_rate": 16000}
    bad: list[bytes] = [
        told,
        json.dumps(said(meeting="m" * 450)).encode(),
        json.dumps({"meeting": "m1", "events": [sound, {k: v for k, v in said().items() if k != "meeting"}]}).encode(),
        json.dumps({"meeting": "m1", **sound}).encode(),
    ]
    for number, body in enumerate(bad):
        broken = f'{{"broken {number}"'
        await backend.post(broken.encode())
        await backend.graph.write(changes, MEND, space=backend.api.space, broken=broken, mended=body.decode())
    letters = [f"Delivery:{one.id}" for one in await backend.inbox()]
    admin, other = backend.api.token("root", scopes=("admin",)), f"{backend.api.space}-other"
    for values in ({"space": other}, {"provider": "pipecat"}):
        backend.lines.clear()
        backend.configure(**values)
        done = (await backend.api.data(RETRY, admin, ids=letters[:1], key=str(values)))["retryDeliveries"]
        assert [one["error"].partition(":")[0] for one in done["stillDead"]] == ["no_such_source"]
        assert not await backend.of(other).inbox()
    backend.lines.clear()
    backend.configure()
    done = (await backend.api.data(RETRY, admin, ids=letters[1:], key="2"))["retryDeliveries"]
    assert [one["error"].partition(":")[0] for one in done["stillDead"]] == ["event_unreadable", "sound_among_others"]
    assert not done["waitingIds"] and done["numDeleted"] == 1
    assert [one.status for one in await backend.inbox()] == [DeliveryStatus.DEAD] * 3


async def test_dead_letters_are_deleted_and_nothing_else(backend: Backend) -> None:
    await backend.post(said())
    await backend.post(b"{")
    ids = [one.id for one in await backend.inbox()]
    admin = backend.api.token("root", scopes=("admin",))
    assert (await backend.api.data(FORGET, admin, ids=ids, key="k"))["forgetDeliveries"] == {
        "__typename": "DeliveriesForgotten",
        "numDeleted": 1,
    }
    (left,) = await backend.inbox()
    assert left.status is not DeliveryStatus.DEAD
    assert (await backend.api.data(FORGET, admin, ids=[], key="k2"))["forgetDeliveries"]["code"] == "invalid_input"
