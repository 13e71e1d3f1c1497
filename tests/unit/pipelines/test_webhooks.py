"""When is a webhook tried again, where may it lead, and with what is it signed?"""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.live import Delivery, SignatureWrong
from service.connectors.live.signatures import verify_webhook_id
from service.errors import InvalidInput
from service.graph.webhook_deliveries import Claimed, DeliveryStatus
from service.graph.webhooks import Webhook, WebhookStatus
from service.pipelines.webhook_call import CallConfig, Called, Caller, checked_url, shown_url
from service.pipelines.webhook_secrets import BOTH_SIGN, WebhookKey, WebhookKeyUnusable, find_key, load_key
from service.pipelines.webhook_worker import WorkerConfig, payload, result, wait_after
from service.pipelines.webhooks import WebhookNotAllowed, whose_eyes
from service.types.events import Event, EventKind, ToldEvent
from service.types.people import Principal
from tests.webhook_receiver import CERTIFICATE, receiving

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
CONFIG = WorkerConfig()
KEY = WebhookKey(b"k" * 32)
PUBLIC, PRIVATE = CallConfig(), CallConfig(private=True)


def a_webhook(generation: int = 1, rotated_at: datetime | None = None) -> Webhook:
    return Webhook(
        "w1", "home", "https://example.org", tuple(EventKind), "boss", None, None, WebhookStatus.ACTIVE, None, generation,
        rotated_at, KEY.id, 0, None, NOW,
    )  # fmt: skip


def claimed(attempts: int) -> Claimed:
    event = Event(
        id="e1", space="home", kind=EventKind.ERASED, at=NOW, what="sounds", session_id=None, correction_id=None, people=(),
        voices=(), counts={},
    )  # fmt: skip
    return Claimed("d1", attempts, a_webhook(), event)


@given(st.integers(1, 100), st.floats(0, 1, exclude_max=True))
def test_waits_grow_up_to_a_limit_and_are_never_together(attempts: int, chance: float) -> None:
    wait = wait_after(attempts, CONFIG, chance)
    plain = min(CONFIG.first_wait * CONFIG.growth ** (attempts - 1), CONFIG.max_wait)
    assert plain * (1 - CONFIG.jitter) <= wait <= plain * (1 + CONFIG.jitter)


def test_a_day_of_trying_is_what_the_config_says() -> None:
    total = sum(wait_after(n, CONFIG, 0.5) for n in range(1, CONFIG.max_attempts))
    assert 15 * 3600 < total < 24 * 3600


@given(
    st.integers(1, 20),
    st.sampled_from([200, 204, 301, 400, 404, 410, 429, 500, 503, None]),
    st.one_of(st.none(), st.floats(0, 1e6)),
    st.floats(0, 1, exclude_max=True),
)
def test_every_try_ends_in_one_of_three_ways(attempts: int, status: int | None, wait: float | None, chance: float) -> None:
    arrived = status in (200, 204)
    called = Called(status, None if arrived else "status" if status else "timeout", wait)
    sent = result(claimed(attempts), called, NOW, CONFIG, chance)
    if arrived:
        assert sent.status is DeliveryStatus.SENT
    elif status == 410 or attempts >= CONFIG.max_attempts:
        assert sent.status is DeliveryStatus.DEAD
    else:
        assert sent.status is DeliveryStatus.WAITING and sent.next_at is not None
        waited = (sent.next_at - NOW).total_seconds()
        assert 0 < waited <= CONFIG.max_wait * (1 + CONFIG.jitter)
        assert wait is None or waited >= min(wait, CONFIG.max_wait) - 1e-3, "a receiver that asks for more time gets it"


@pytest.mark.parametrize(
    "url", ["https://example.org/hook?x=1", "https://example.org:8443/", "https://8.8.8.8/", "https://[2606:4700::1111]/x"]
)
def test_public_addresses_are_taken(url: str) -> None:
    assert checked_url(url, PUBLIC) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/", "ftp://example.org/", "example.org", "", "https://", "https://a:b@example.org/", "https://x/#y",
        "https://127.0.0.1/", "https://localhost/", "https://10.0.0.1/", "https://192.168.1.1/", "https://169.254.169.254/",
        "https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://[64:ff9b::a00:1]/", "https://0.0.0.0/", "https://224.0.0.1/",
        "https://100.64.0.1/", "https://[fe80::1]/", "https://[fd00::1]/", "http://127.0.0.1/", "https://e\u0000.org/",
        "https://example.org/" + "x" * 2_000,
    ],
)  # fmt: skip
def test_what_leads_into_our_own_network_or_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_url(url, PUBLIC)
    assert "a:b" not in str(refused.value)


def test_private_addresses_are_taken_where_the_setting_says_so_and_http_on_this_machine_alone() -> None:
    for url in ("http://127.0.0.1:9/x", "http://localhost:9/", "https://10.0.0.1/", "http://[::1]:9/", "https://[fd00::1]/"):
        assert checked_url(url, PRIVATE) == url
    for url in (
        "http://10.0.0.1/",
        "http://example.org/",
        "https://169.254.169.254/",
        "https://0.0.0.0/",
        "https://224.0.0.1/",
    ):
        with pytest.raises(InvalidInput):
            checked_url(url, PRIVATE)


async def test_a_name_that_leads_here_is_not_asked() -> None:
    caller = Caller(PUBLIC)
    try:
        assert await caller("https://localhost:9/", {}, b"{}") == Called(error="address_not_allowed")
        assert await caller("https://no-such-name.invalid/", {}, b"{}") == Called(error="unreachable")
    finally:
        await caller.close()


async def test_who_answers_is_proved_by_name_although_the_address_that_was_checked_is_asked() -> None:
    trusting = CallConfig(private=True, certificates=CERTIFICATE)
    async with receiving(tls=True) as receiver:
        for config, url, error in (
            (trusting, receiver.url, None),
            (PRIVATE, receiver.url, "unreachable"),  # nobody vouches for it
            (trusting, receiver.url.replace("localhost", "127.0.0.1"), "unreachable"),  # it is another name's
        ):
            caller = Caller(config)
            try:
                assert (await caller(url, {}, b"{}")).error == error
            finally:
                await caller.close()
    (one,) = receiver.arrived
    assert one.headers["host"] == receiver.url.split("/")[2] and one.body == b"{}"


async def test_nobody_listens() -> None:
    caller = Caller(PRIVATE)
    try:
        assert (await caller("http://127.0.0.1:9/", {}, b"{}")).error == "unreachable"
    finally:
        await caller.close()


def test_an_address_is_shown_without_its_query() -> None:
    assert shown_url("https://example.org/a?token=1") == "https://example.org/a?…"
    assert shown_url("https://example.org/a") == "https://example.org/a"


def delivery(headers: dict[str, str], body: bytes) -> Delivery:
    return Delivery(headers, body, NOW)


@given(st.binary(max_size=200), st.integers(1, 50))
def test_what_is_signed_is_proved_by_its_secret_alone(body: bytes, generation: int) -> None:
    headers = KEY.headers(a_webhook(generation), id="e1", at=NOW, body=body)
    verify_webhook_id(delivery(headers, body), [KEY.secret("w1", generation)], source="x")
    for secret in (
        KEY.secret("w1", generation + 1),
        KEY.secret("w2", generation),
        WebhookKey(b"j" * 32).secret("w1", generation),
    ):
        with pytest.raises(SignatureWrong):
            verify_webhook_id(delivery(headers, body), [secret], source="x")
    with pytest.raises(SignatureWrong):
        verify_webhook_id(delivery(headers, body + b" "), [KEY.secret("w1", generation)], source="x")


@pytest.mark.parametrize(("age", "both"), [(timedelta(0), True), (BOTH_SIGN - timedelta(seconds=1), True), (BOTH_SIGN, False)])
def test_the_secret_before_signs_for_a_day(age: timedelta, both: bool) -> None:
    headers = KEY.headers(a_webhook(2, NOW - age), id="e1", at=NOW, body=b"{}")
    assert len(headers["webhook-signature"].split()) == (2 if both else 1)


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    file, made = tmp_path / "data" / "webhooks.key", []
    assert find_key(file) is None
    threads = [Thread(target=lambda: made.append(load_key(file))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1 and find_key(file) == made[0] and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["webhooks.key"] and made[0].key.hex() not in repr(made[0])
    file.chmod(0o644)
    with pytest.raises(WebhookKeyUnusable, match="0600"):
        load_key(file)
    file.chmod(0o600)
    file.write_text("not a key")
    with pytest.raises(WebhookKeyUnusable, match="hexadecimal"):
        load_key(file)


def test_a_body_says_what_there_is_and_nothing_else() -> None:
    told = ToldEvent(id="e1", kind=EventKind.SESSION_READY, at=NOW, session_id="s1", counts={"messages": 0})
    assert payload(told, a_webhook()) == (
        b'{"type":"session.ready","timestamp":"2026-11-30T12:00:00Z",'
        b'"data":{"space":"home","sessionId":"s1","counts":{"messages":0}}}'
    )


def test_who_may_have_what_told() -> None:
    def eyes(
        person: str | None, *, own: str | None = None, others: tuple[str, ...] = (), scopes: tuple[str, ...] = ()
    ) -> str | None:
        return whose_eyes(Principal("a", own, frozenset(others), frozenset({"admin", *scopes})), person)

    assert eyes(None, scopes=("read_all",)) is None and eyes("p", scopes=("read_all",)) == "p"
    assert eyes(None, own="p") == "p" == eyes("p", own="p") == eyes("p", others=("p",))
    for person, own in ((None, None), ("p", None), ("p", "q")):
        with pytest.raises(WebhookNotAllowed):
            eyes(person, own=own)
