"""How often may one of them ask? A bucket of points for each account, and for each address that shows no account.

A request costs a point, and a GraphQL operation one more for each 25 of its cost (service.api.limits). Buckets are kept in
this process only, and no more of them than RateConfig says. Deliveries of meetings have limits of their own
(service.pipelines.deliveries), and so has the sound of a stream, which is taken as fast as it was spoken."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address

from starlette.requests import HTTPConnection

from service.errors import VoicegraphError

COST_OF_A_POINT = 25
"""A search, which costs 50 and its hits 15, is then asked for as seldom as four small queries; it takes rather longer."""


ROUNDING = 1e-6
"""Of a point: who waited as long as they were told to is not refused for the last digit of a clock."""


@dataclass(frozen=True, slots=True)
class RateConfig:
    """`per_second` 0: no limit."""

    per_second: float = 50.0
    """Points of one account: 14 searches a second, more than two cores do (tests/bench/README.md)."""
    anonymous_per_second: float = 10.0
    """Of one address: voices without a token, tokens that are none, websockets that have not said who they are."""
    burst_seconds: float = 10.0
    """What may be spent at once after a pause; the costliest query we allow is 201 points."""
    kept: int = 20_000
    """Buckets of accounts, and as many of addresses, about 4 MB each. Above it the one that was idle for longest is forgotten,
    and begins full: who has so many addresses is not stopped by a limit on each."""


class RateLimited(VoicegraphError):
    code = "rate_limited"
    says = "Too much was asked for in too short a time. Ask again in {seconds} s."
    http_status = 429


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose bucket it is: an account's id, or an address."""

    key: str
    known: bool


def address_of(connection: HTTPConnection) -> Payer:
    """Of the client, as the server sees it; one for all of an IPv6 network, where one machine has as many as it likes."""
    return Payer(network_of(connection.client.host if connection.client is not None else ""), known=False)


def network_of(host: str) -> str:
    try:
        network = IPv6Address(host.partition("%")[0])
    except AddressValueError:
        return host
    return str(network.ipv4_mapped or (int(network) >> 64))


class Rates:
    def __init__(self, config: RateConfig | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._config = config or RateConfig()
        self._clock = clock
        self._accounts: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._addresses: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, payer: Payer, points: float = 1.0) -> None:
        """Raises RateLimited, and takes nothing, where fewer are left. What is more than a bucket holds takes a full one."""
        config = self._config
        buckets, per_second = (
            (self._accounts, config.per_second) if payer.known else (self._addresses, config.anonymous_per_second)
        )
        if per_second <= 0:
            return
        now, most = self._clock(), per_second * config.burst_seconds
        left, since = buckets.get(payer.key, (most, now))
        left, points = min(most, left + (now - since) * per_second), min(points, most)
        enough = points - left < ROUNDING
        buckets[payer.key] = (max(0.0, left - points) if enough else left, now)
        buckets.move_to_end(payer.key)
        while len(buckets) > config.kept:
            buckets.popitem(last=False)
        if not enough:
            raise RateLimited(seconds=math.ceil((points - left) / per_second))

    def __len__(self) -> int:
        """Buckets that are kept."""
        return len(self._accounts) + len(self._addresses)
