"""Nobody takes more than their bucket and what ran into it since, and no number of strangers makes it need more memory."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.requests import HTTPConnection

from service.api.rates import Payer, RateConfig, RateLimited, Rates, address_of

ANA, STRANGER = Payer("ana", known=True), Payer("192.0.2.1", known=False)
CONFIG = RateConfig(per_second=5.0, anonymous_per_second=2.0, burst_seconds=4.0, kept=50)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def address(host: str) -> str:
    return address_of(HTTPConnection({"type": "http", "client": (host, 1), "headers": []})).key


@example([(1.7086019120361162, 20.0), (0.0, 20.0)])
@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0.1, 30)), max_size=60))
def test_what_is_taken_fits_the_bucket_and_the_wait_that_is_told_suffices(asked: list[tuple[float, float]]) -> None:
    clock = Clock()
    rates, taken = Rates(CONFIG, clock), 0.0
    for pause, points in asked:
        clock.now += pause
        try:
            rates.take(ANA, points)
        except RateLimited as refused:
            clock.now += float(str(refused.facts["seconds"]))
            rates.take(ANA, points)
        taken += min(points, 20.0)
        assert taken <= 20.0 + 5.0 * clock.now + 1e-3


def test_an_account_and_an_address_have_rates_of_their_own() -> None:
    rates = Rates(CONFIG, Clock())
    rates.take(ANA, 20)
    for _ in range(8):
        rates.take(STRANGER)
    for payer in (ANA, STRANGER):
        with pytest.raises(RateLimited, match="1 s"):
            rates.take(payer)
    rates.take(Payer("ana", known=False))


def test_without_a_rate_nothing_is_counted() -> None:
    rates = Rates(RateConfig(per_second=0, anonymous_per_second=0))
    for _ in range(10_000):
        rates.take(ANA, 50)
    assert len(rates) == 0


def test_buckets_are_bounded_and_strangers_push_out_no_account() -> None:
    clock = Clock()
    rates = Rates(CONFIG, clock)
    rates.take(ANA, 20)
    for i in range(1_000):
        rates.take(Payer(f"address {i}", known=False))
    assert len(rates) == CONFIG.kept + 1
    with pytest.raises(RateLimited):
        rates.take(ANA)


def test_one_network_of_version_six_is_one_address() -> None:
    assert address("2001:db8::1") == address("2001:db8::ffff:2") != address("2001:db8:0:1::1")
    assert address("::ffff:192.0.2.7") == address("192.0.2.7") == "192.0.2.7"
    assert address("fe80::1%eth0") == address("fe80::2")
    assert address_of(HTTPConnection({"type": "http", "client": None, "headers": []})) == Payer("", known=False)
