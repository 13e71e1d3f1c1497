"""What happens is told to webhooks: signed, at least once, with one id, with the webhook's eyes, whatever breaks meanwhile."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.api.errors import incident
from service.errors import InvalidInput, NotFound
from service.graph.driver import Graph, GraphConfig, Tx, changes, rows
from service.graph.forget_space import forget_space
from service.graph.paging import Page
from service.graph.webhook_deliveries import DeliveryStatus, WebhookDelivery, list_deliveries, replay_one
from service.graph.webhooks import Webhook, WebhookStatus, WhyDisabled, end_leave, forget_webhook, get_webhook, set_status
from service.graph.write_consents import save_consent
from service.graph.write_events import save_event, save_session_events
from service.pipelines.webhook_call import CallConfig
from service.pipelines.webhook_secrets import WebhookKey, find_key, load_key
from service.pipelines.webhook_worker import WebhookWorker, WorkerConfig, expire_events
from service.pipelines.webhooks import Webhooks, WithSecret
from service.types.events import EventKind, NewEvent
from service.types.ids import fresh
from service.types.people import Consent
from tests.graph.correction_builders import correct, ingest, message, session_id
from tests.graph.graph_builders import Said, World, seed
from tests.webhook_receiver import Receiver, receiving

CALL = CallConfig(private=True, seconds=10.0)
QUICK = WorkerConfig(poll_seconds=0.02, first_wait=0.05, growth=1.0, max_attempts=3, max_failures=2, call=CALL)
ALL = tuple(EventKind)
HOUSEHOLD = [("ana", "Shall we paint the kitchen?"), ("ben", "Only if it is green."), ("ana", "Green it is."), ("ben", "Good.")]
COUNT = "MATCH (n) WHERE n.space = $space OR n.space ENDS WITH '/' + $space RETURN labels(n)[0] AS label, count(n) AS n"
AGE = "MATCH (n:Event|WebhookDelivery {space: $space}) SET n.created_at = n.created_at - duration('P8D')"


class Office:
    """A service's webhooks in one space, with a key of its own."""

    def __init__(self, graph: Graph, space: str, file: Path) -> None:
        self.graph, self.space, self.file = graph, space, file
        self.webhooks = Webhooks(graph, lambda: load_key(file), CALL)
        self.allowed = True

    async def leave(self, webhook: Webhook) -> bool:
        return self.allowed

    async def add(
        self, to: Receiver | str, *kinds: EventKind, person: str | None = None, made_by: str = "command-line"
    ) -> WithSecret:
        url = to if isinstance(to, str) else to.url
        return await self.webhooks.add(self.space, url, kinds or ALL, person=person, made_by=made_by)

    @asynccontextmanager
    async def working(self, config: WorkerConfig = QUICK, key: WebhookKey | None = None) -> AsyncIterator[None]:
        found = (lambda: key) if key else lambda: find_key(self.file)
        worker = WebhookWorker(self.graph, found, self.leave, incident, config)
        await worker.start()
        try:
            yield
        finally:
            await worker.stop()

    async def happens(self, n: int = 1) -> list[str]:
        """Something that everybody's webhook may be told of; ids of the events."""
        return [await self.graph.write(save_event, erased(self.space)) for _ in range(n)]

    async def now(self, id: str) -> Webhook:
        return await self.graph.read(get_webhook, self.space, id)

    async def deliveries(self, webhook: WithSecret | None = None) -> tuple[WebhookDelivery, ...]:
        id = webhook.webhook.id if webhook else None
        return (await self.graph.read(list_deliveries, self.space, page=Page(first=100), webhook_id=id)).items

    async def settled(self, *statuses: DeliveryStatus, n: int = 1, of: WithSecret | None = None) -> list[WebhookDelivery]:
        """Deliveries, once there are `n` with one of these; `of` one webhook."""
        async with asyncio.timeout(60):
            while len(found := [d for d in await self.deliveries(of) if d.status in statuses]) < n:  # noqa: ASYNC110
                await asyncio.sleep(0.03)
        return found


def erased(space: str) -> NewEvent:
    return NewEvent(space=space, kind=EventKind.ERASED, occasion=fresh(), what="sounds", counts={"erased": 3})


@pytest.fixture
def office(graph: Graph, space: str, tmp_path: Path) -> Office:
    return Office(graph, space, tmp_path / "webhooks.key")


async def test_an_event_arrives_signed_with_an_id_and_says_ids_and_counts(office: Office) -> None:
    async with receiving() as receiver:
        made = await office.add(receiver)
        (event,) = await office.happens()
        async with office.working():
            (one,) = await receiver.until(1)
            await office.settled(DeliveryStatus.SENT)
    assert one.id == event and one.path == "/hook" and one.headers["content-type"] == "application/json"
    assert one.signed_with(made.secret) and not one.signed_with(load_key(office.file).secret(made.webhook.id, 2))
    assert abs(int(one.headers["webhook-timestamp"]) - datetime.now(UTC).timestamp()) < 30
    assert one.said["type"] == "erased" and datetime.fromisoformat(one.said["timestamp"]).tzinfo is not None
    assert one.said["data"] == {"space": office.space, "what": "sounds", "counts": {"erased": 3}}
    (delivery,) = await office.deliveries()
    assert (delivery.attempts, delivery.http_status, delivery.error) == (1, 204, None) and delivery.sent_at is not None
    assert (await office.now(made.webhook.id)).last_sent_at is not None


async def test_what_fails_is_tried_again_with_the_same_id_and_counts_once(office: Office) -> None:
    async with receiving() as receiver:
        made = await office.add(receiver)
        receiver.answers = ["500 Broken", "302 Elsewhere\r\nlocation: http://127.0.0.1:1/"]
        (event,) = await office.happens()
        async with office.working():
            (delivery,) = await office.settled(DeliveryStatus.SENT)
        assert [one.id for one in receiver.arrived] == [event] * 3 and len({one.body for one in receiver.arrived}) == 1
        assert all(one.signed_with(made.secret) for one in receiver.arrived)
        assert (delivery.attempts, (await office.now(made.webhook.id)).failures) == (3, 0)


async def test_a_slow_receiver_and_one_that_hangs_up_hold_nobody_else_up(office: Office) -> None:
    async with receiving() as slow, receiving() as rude, receiving() as good:
        slow.slow, rude.usual = 30.0, ""
        hooks = [await office.add(receiver) for receiver in (slow, rude, good)]
        await office.happens(4)
        async with office.working(replace(QUICK, max_attempts=2, call=replace(CALL, seconds=1.0))):
            await good.until(4, patience=60.0)
            for hook in hooks[:2]:
                await office.settled(DeliveryStatus.DEAD, of=hook)
        errors = {h.webhook.id: {d.error for d in await office.deliveries(h) if d.error} for h in hooks[:2]}
        assert [errors[h.webhook.id] for h in hooks[:2]] == [{"timeout"}, {"unreachable"}]
        assert len({one.id for one in good.arrived}) == 4


async def test_an_address_at_which_nothing_arrives_is_left_alone_until_it_is_enabled_and_replayed(office: Office) -> None:
    async with receiving() as receiver:
        made = await office.add(receiver)
        receiver.usual = "500 Broken"
        began = datetime.now(UTC) - timedelta(seconds=5)
        await office.happens(2)
        async with office.working():
            await office.settled(DeliveryStatus.DEAD, n=2)
            hook = await office.now(made.webhook.id)
            assert (hook.status, hook.disabled_why, hook.failures) == (WebhookStatus.DISABLED, WhyDisabled.FAILING, 2)
            tried = len(receiver.arrived)
            await office.happens()
            await asyncio.sleep(0.3)
            assert len(receiver.arrived) == tried and len(await office.deliveries()) == 2, (
                "what happens meanwhile waits for nobody"
            )
            receiver.usual = "200 Fine"
            await office.graph.write(set_status, office.space, hook.id, WebhookStatus.ACTIVE, actor="admin")
            assert await office.webhooks.replay(office.space, hook.id, began, None) == 3
            await office.settled(DeliveryStatus.SENT, n=3)
    assert len({one.id for one in receiver.arrived}) == 3


async def test_who_answers_for_a_webhook_is_asked_before_each_telling_and_it_ends_with_their_leave(office: Office) -> None:
    async with receiving() as receiver:
        made = await office.add(receiver)
        async with office.working():
            (event,) = await office.happens()
            await office.settled(DeliveryStatus.SENT)
            office.allowed = False
            (later,) = await office.happens()
            async with asyncio.timeout(20):
                while (hook := await office.now(made.webhook.id)).status is WebhookStatus.ACTIVE:  # noqa: ASYNC110
                    await asyncio.sleep(0.03)
            assert hook.disabled_why is WhyDisabled.LEAVE_ENDED
            await asyncio.sleep(0.3)
            assert [one.id for one in receiver.arrived] == [event]
            office.allowed = True
            await office.graph.write(set_status, office.space, hook.id, WebhookStatus.ACTIVE, actor="boss", token_id="t")
            await office.settled(DeliveryStatus.SENT, n=2)
    assert [one.id for one in receiver.arrived] == [event, later]
    hook = await office.now(made.webhook.id)
    assert (hook.made_by, hook.token_id, hook.disabled_why) == ("boss", "t", None)


async def test_leave_that_ended_of_one_does_not_end_that_of_who_took_over(office: Office) -> None:
    before = (await office.add("https://example.org/hook")).webhook
    await office.graph.write(set_status, office.space, before.id, WebhookStatus.ACTIVE, actor="boss", token_id="t")
    await office.graph.write(end_leave, before)
    assert (await office.now(before.id)).status is WebhookStatus.ACTIVE
    await office.graph.write(end_leave, await office.now(before.id))
    assert (await office.now(before.id)).disabled_why is WhyDisabled.LEAVE_ENDED


async def test_a_receiver_that_is_gone_is_not_asked_again(office: Office) -> None:
    async with receiving() as receiver:
        made = await office.add(receiver)
        receiver.usual = "410 Gone"
        await office.happens()
        async with office.working():
            (delivery,) = await office.settled(DeliveryStatus.DEAD)
    assert (delivery.attempts, (await office.now(made.webhook.id)).disabled_why) == (1, WhyDisabled.GONE)


async def test_a_service_that_is_killed_in_between_leaves_it_to_the_next_with_the_same_id(
    office: Office, graph_config: GraphConfig
) -> None:
    """It had sent it, and was killed before it could say so: the receiver knows the repeat by its id."""
    address = {"NEO4J_URI": graph_config.uri, "NEO4J_USER": graph_config.user, "NEO4J_PASSWORD": graph_config.password}
    async with receiving() as receiver:
        await office.add(receiver)
        receiver.slow = 10.0
        (event,) = await office.happens()
        killed = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.graph.webhook_process", office.file, "2", env={**os.environ, **address}
        )
        await receiver.until(1, patience=60.0)
        killed.kill()
        await killed.wait()
        (before,) = await office.deliveries()
        assert (before.status, before.attempts) == (DeliveryStatus.WAITING, 1)
        receiver.slow = 0.0
        async with office.working():
            (after,) = await office.settled(DeliveryStatus.SENT)
    assert [one.id for one in receiver.arrived] == [event, event] and after.attempts == 2


async def test_two_services_send_each_once(office: Office) -> None:
    async with receiving() as receiver:
        await office.add(receiver)
        await office.happens(30)
        async with office.working(replace(QUICK, each=8)), office.working(replace(QUICK, each=8)):
            await office.settled(DeliveryStatus.SENT, n=30)
    assert len({one.id for one in receiver.arrived}) == len(receiver.arrived) == 30


async def test_a_service_with_another_key_leaves_it_alone(office: Office) -> None:
    async with receiving() as receiver:
        made = await office.add(receiver)
        await office.happens()
        async with office.working(key=WebhookKey(b"x" * 32)):
            await asyncio.sleep(0.3)
        assert receiver.arrived == []
        office.file.unlink()
        rotated = await office.webhooks.rotate(office.space, made.webhook.id, actor="admin")
        async with office.working():
            (one,) = await receiver.until(1)
    assert one.signed_with(rotated.secret) and len(one.headers["webhook-signature"].split()) == 1


async def test_while_a_secret_is_changed_both_sign(office: Office) -> None:
    async with receiving() as receiver:
        made = await office.add(receiver)
        rotated = await office.webhooks.rotate(office.space, made.webhook.id, actor="admin")
        assert made.secret != rotated.secret
        assert (await office.webhooks.try_out(office.space, made.webhook.id)).http_status == 204
        (one,) = receiver.arrived
    assert one.said["type"] == "test" and one.signed_with(made.secret) and one.signed_with(rotated.secret)


async def test_what_did_not_come_to_be_is_told_to_nobody(office: Office) -> None:
    async def broken(tx: Tx) -> None:
        await save_event(tx, erased(office.space))
        raise InvalidInput(what="x", given="y", needed="z")

    async with receiving() as receiver:
        await office.add(receiver)
        with pytest.raises(InvalidInput):
            await office.graph.write(broken)
        (event,) = await office.happens()
        async with office.working():
            assert [one.id for one in await receiver.until(1)] == [event]


async def test_only_its_kinds_are_told_and_only_of_its_space(office: Office, graph: Graph) -> None:
    async with receiving() as receiver:
        hook = await office.add(receiver, EventKind.IDENTITY_REVISED)
        await office.happens()
        await graph.write(save_event, erased(f"{office.space} elsewhere"))
        assert await office.deliveries(hook) == ()


async def test_addresses_of_our_own_network_are_not_asked_unless_the_setting_says_so(office: Office) -> None:
    """A name may lead anywhere: it is looked at when it is asked."""
    async with receiving() as receiver:
        public = Webhooks(office.graph, lambda: load_key(office.file), CallConfig())
        port = receiver.url.rpartition(":")[2]
        for url in (
            receiver.url,
            "https://127.0.0.1/x",
            "https://10.1.2.3/",
            "https://[::1]/",
            "https://169.254.169.254/latest",
        ):
            with pytest.raises(InvalidInput):
                await public.add(office.space, url, ALL, person=None, made_by="x")
        await office.add(f"https://localhost:{port}")
        await office.happens()
        async with office.working(replace(QUICK, call=CallConfig(seconds=1.0))):
            (delivery,) = await office.settled(DeliveryStatus.DEAD)
    assert delivery.error == "address_not_allowed" and receiver.arrived == []


async def told(receiver: Receiver, office: Office, n: int) -> list[tuple[str, Any]]:
    """Type and data of what arrives, sorted, once all `n` are settled."""
    async with office.working():
        await office.settled(DeliveryStatus.SENT, DeliveryStatus.WITHHELD, n=n)
    return sorted(((one.said["type"], one.said["data"]) for one in receiver.arrived), key=str)


async def test_an_ingest_and_its_corrections_are_told_in_their_transactions(office: Office, graph: Graph) -> None:
    async with receiving() as receiver:
        await office.add(receiver)
        found = await ingest(graph, office.space, "monday", [*HOUSEHOLD, ("cleo", "Hm.")])
        ana, ben = found[0], found[1]
        assert ana and ben
        merged = await correct(graph).merge(office.space, ana, ben, actor="admin", why="")
        await correct(graph).undo(office.space, merged.correction_id, actor="admin")
        now = datetime.now(UTC)
        given = {"text_version": "1", "channel": "paper", "at": now}
        await graph.write(save_consent, office.space, ana, Consent.WITHDRAWN, **given)  # type: ignore[arg-type]
        events = await told(receiver, office, 5)
    by_kind = {(kind, data.get("what")): data for kind, data in events}
    session = session_id(office.space, "monday")
    ready, unresolved = by_kind["session.ready", None], by_kind["person.unresolved", None]
    assert ready["sessionId"] == session and ready["counts"]["messages"] == 5
    assert unresolved["sessionId"] == session and {ana, ben} <= set(unresolved["people"]) and unresolved["counts"]["turns"] >= 4
    for what in ("merge", "undo"):
        assert by_kind["identity.revised", what] == {
            "space": office.space,
            "what": what,
            "correctionId": merged.correction_id,
            "people": sorted((ana, ben)),
        }
    gone = by_kind["erased", "voices"]
    assert gone["people"] == [ana] and gone["counts"]["erased"] >= 1
    assert "kitchen" not in str(events) and "paper" not in str(events)


async def test_one_occasion_is_one_event_and_a_session_that_is_closed_again_another(office: Office, graph: Graph) -> None:
    hook = await office.add("https://example.org/hook", EventKind.SESSION_READY, EventKind.ERASED)
    await ingest(graph, office.space, "monday", HOUSEHOLD)
    once = erased(office.space)
    assert await graph.write(save_event, once) == await graph.write(save_event, once)
    assert len(await office.deliveries(hook)) == 2
    await graph.write(save_session_events, office.space, session_id(office.space, "monday"))
    assert len({d.event_id for d in await office.deliveries(hook)}) == 3


KITCHEN = [
    Said("ana", "The tea is ready", ["ana", "ben"], to=["ben"], session="kitchen"),
    Said(None, "Somebody mumbles", ["ana", "ben"], session="kitchen"),
    Said("ana", "Mine alone", ["ana"], session="kitchen"),
    Said("cleo", "The knee hurts", ["cleo"], session="attic"),
    Said(None, "An attic mumble", ["cleo"], session="attic"),
]


@pytest.fixture
async def world(graph: Graph, space: str) -> World:
    return await seed(graph, space, ["ana", "ben", "cleo"], KITCHEN)


async def happened_in(world: World) -> None:
    for session in ("kitchen", "attic"):
        await world.graph.write(save_session_events, world.space, world.session(session))


async def test_a_webhook_with_somebodys_eyes_is_told_what_they_may_know(office: Office, world: World) -> None:
    async with receiving() as everything, receiving() as bens:
        await office.add(everything)
        await office.add(bens, person=world.person("ben"))
        await happened_in(world)
        await office.happens()
        async with office.working():
            await office.settled(DeliveryStatus.SENT, DeliveryStatus.WITHHELD, n=10)
    ready = {
        one.said["data"]["sessionId"]: one.said["data"] for one in everything.arrived if one.said["type"] == "session.ready"
    }
    assert ready[world.session("kitchen")]["counts"] == {"messages": 3, "people": 1, "unresolved": 1}
    assert world.session("attic") in ready
    said = {one.said["type"]: one.said["data"] for one in bens.arrived}
    assert set(said) == {"session.ready", "person.unresolved"} and len(bens.arrived) == 2
    kitchen = {"space": office.space, "sessionId": world.session("kitchen")}
    assert said["session.ready"] == {**kitchen, "counts": {"messages": 2, "people": 1, "unresolved": 1}}
    assert said["person.unresolved"] == {**kitchen, "voices": [world.session("kitchen") + "/voice"], "counts": {"turns": 1}}


async def test_a_correction_is_told_to_who_reads_what_it_changed(office: Office, world: World) -> None:
    fix = correct(world.graph)
    async with receiving() as anas, receiving() as cleos:
        await office.add(anas, person=world.person("ana"))
        await office.add(cleos, person=world.person("cleo"))
        by = {"actor": "admin", "why": ""}
        merged = await fix.merge(office.space, world.person("cleo"), world.person("ben"), confirmed=False, **by)
        await fix.undo(office.space, merged.correction_id, actor="admin")
        await fix.not_same(office.space, world.person("ana"), world.person("ben"), **by)
        async with office.working():
            await office.settled(DeliveryStatus.SENT, DeliveryStatus.WITHHELD, n=6)
    assert anas.arrived == []
    said = [one.said["data"] for one in cleos.arrived]
    assert sorted(data["what"] for data in said) == ["merge", "undo"]
    assert all(data["people"] == [world.person("cleo")] and "correctionId" not in data for data in said)


async def test_turns_that_change_hands_are_told_to_who_reads_them(office: Office, graph: Graph) -> None:
    ana, ben, *_ = await ingest(graph, office.space, "monday", HOUSEHOLD)
    dora, eve = await ingest(graph, office.space, "tuesday", [("dora", "Nobody else is here."), ("eve", "But me.")])
    assert ana and ben and dora and eve
    async with receiving() as anas, receiving() as doras:
        await office.add(anas, EventKind.IDENTITY_REVISED, person=ana)
        await office.add(doras, EventKind.IDENTITY_REVISED, person=dora)
        turn = message(office.space, "monday", 1)
        await correct(graph).reassign(office.space, [turn], ana, actor="admin", why="")
        async with office.working():
            await office.settled(DeliveryStatus.SENT)
            await office.settled(DeliveryStatus.WITHHELD)
    (one,) = anas.arrived
    assert one.said["data"]["sessions"] == [session_id(office.space, "monday")] and one.said["data"]["counts"] == {"turns": 1}
    assert set(one.said["data"]["people"]) == {ana, ben} and doras.arrived == []


async def test_what_nobody_may_know_any_more_is_withheld(office: Office, world: World) -> None:
    async with receiving() as receiver:
        await office.add(receiver)
        await happened_in(world)
        await world.graph.write(changes, "MATCH (s:Session {id: $id}) DETACH DELETE s", id=world.session("attic"))
        async with office.working():
            await office.settled(DeliveryStatus.WITHHELD)
    (withheld,) = [d for d in await office.deliveries() if d.status is DeliveryStatus.WITHHELD]
    assert withheld.kind is EventKind.SESSION_READY


async def settled_last(world: World) -> None:
    """Swept it may be, too: another service of the run may start."""
    query = "MATCH (d:WebhookDelivery {status: 'waiting'}) WHERE d.space ENDS WITH '/' + $space RETURN d.id AS id"
    async with asyncio.timeout(60):
        while await world.graph.read(rows, query, space=world.space):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_that_a_space_is_forgotten_is_the_last_that_it_tells(office: Office, world: World) -> None:
    async with receiving() as receiver, receiving() as other:
        made = await office.add(receiver)
        await office.add(other, EventKind.SESSION_READY)
        await happened_in(world)
        gone = await forget_space(world.graph, office.space)
        left = {row["label"]: row["n"] for row in await world.graph.read(rows, COUNT, space=office.space)}
        assert left == {"Webhook": 1, "WebhookDelivery": 1, "Event": 1}
        async with office.working():
            (one,) = await receiver.until(1)
            await settled_last(world)
        assert one.said["type"] == "erased" and one.signed_with(made.secret)
        assert one.said["data"] == {"space": office.space, "what": "space", "counts": {"erased": gone}}
        await expire_events(world.graph)
    assert other.arrived == [] and await world.graph.read(rows, COUNT, space=office.space) == []


async def test_what_was_kept_long_enough_goes_and_the_webhook_stays(office: Office) -> None:
    made = await office.add("https://example.org/hook")
    await office.happens(2)
    await expire_events(office.graph)
    assert len(await office.deliveries()) == 2
    await office.graph.write(changes, AGE, space=office.space)
    await expire_events(office.graph)
    assert await office.deliveries() == () and (await office.now(made.webhook.id)).url == "https://example.org/hook"


async def test_one_delivery_is_sent_again_and_a_webhook_that_is_removed_leaves_nothing(office: Office) -> None:
    async with receiving() as receiver:
        made = await office.add(receiver)
        await office.happens()
        async with office.working():
            (sent,) = await office.settled(DeliveryStatus.SENT)
            again = await office.graph.write(replay_one, office.space, made.webhook.id, sent.id)
            assert (again.status, again.attempts) == (DeliveryStatus.WAITING, 0)
            first, second = await receiver.until(2)
            assert first.id == second.id
            await office.settled(DeliveryStatus.SENT)
        await office.graph.write(forget_webhook, office.space, made.webhook.id, actor="admin")
        assert await office.deliveries() == ()
        with pytest.raises(NotFound):
            await office.graph.write(replay_one, office.space, made.webhook.id, sent.id)
        with pytest.raises(NotFound):
            await office.now(made.webhook.id)


def ids(found: Sequence[WebhookDelivery]) -> list[str]:
    return [one.id for one in found]


async def test_the_list_goes_on_page_by_page_newest_first(office: Office) -> None:
    await office.add("https://example.org/hook")
    await office.happens(5)
    first = await office.graph.read(list_deliveries, office.space, page=Page(first=3))
    rest = await office.graph.read(list_deliveries, office.space, page=Page(first=3, after=first.cursors[-1]))
    assert ids([*first.items, *rest.items]) == ids(await office.deliveries()) and len(rest.items) == 2
    dead = await office.graph.read(
        list_deliveries, office.space, page=Page(first=3), statuses=[DeliveryStatus.DEAD], webhook_id="x"
    )
    assert dead.items == ()
