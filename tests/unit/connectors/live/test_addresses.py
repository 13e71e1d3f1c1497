"""Nothing but the Internet is asked where somebody else wrote the address, however it is written."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.live import Fetch
from service.connectors.live.addresses import is_private, is_public, plain
from service.connectors.live.fetching import FetchRefused, fetched
from service.errors import InvalidInput
from service.pipelines.webhook_call import CallConfig, checked_url

INSIDE = ("10.0.0.1", "127.0.0.1", "172.16.0.1", "192.168.1.1")
NOWHERE = ("169.254.169.254", "100.100.100.200", "168.63.129.16", "0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1")
ODD = (
    *("fec0::1", "fe80::1%eth0", "64:ff9b:1::808:808", "::808:808", "::", "ff02::1", "2001:db8::1", "3fff::1", "5f00::1"),
    *("2002:808:808::1", "2001:0:808:808::1", "100::1", "4000::1", "fd00:ec2::254", "fd20:ce::254", "", "x", "1.2.3"),
)


def written(inner: str) -> list[str]:
    """All the ways in which IPv6 says an IPv4 address."""
    n = int(ipaddress.IPv4Address(inner))
    high, low = f"{n >> 16:x}", f"{n & 0xFFFF:x}"
    flipped = n ^ 0xFFFF_FFFF
    return [
        f"::ffff:{inner}",
        f"64:ff9b::{high}:{low}",
        f"64:ff9b:1::{high}:{low}",
        f"::{high}:{low}",
        f"2002:{high}:{low}::1",
        f"2001:0:{high}:{low}::1",
        f"2001:0:808:808:0:0:{flipped >> 16:x}:{flipped & 0xFFFF:x}",
    ]


def test_the_internet_is_public() -> None:
    for address in ("8.8.8.8", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808", "::ffff:8.8.8.8"):
        assert is_public(address) and not is_private(address), address


@pytest.mark.parametrize("address", [*NOWHERE, *ODD, *(way for inner in NOWHERE for way in written(inner))])
def test_what_stands_for_something_else_is_never_asked(address: str) -> None:
    assert not is_public(address) and not is_private(address)


@pytest.mark.parametrize("address", ["::1", "fd00::1", *INSIDE, *(way for inner in INSIDE for way in written(inner))])
def test_what_is_inside_is_never_public(address: str) -> None:
    assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_another_way_to_write_an_address_opens_no_more_than_the_address(inner: ipaddress.IPv4Address) -> None:
    for way in written(str(inner)):
        assert is_public(way) <= is_public(str(inner)) and is_private(way) <= is_private(str(inner)), way


@given(st.ip_addresses())
def test_what_python_holds_for_special_is_not_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if plain(str(address)) == address and is_public(str(address)):
        assert address.is_global and not address.is_multicast and not address.is_reserved


@pytest.mark.parametrize("host", ["[fec0::1]", "[64:ff9b:1::7f00:1]", "[::7f00:1]", "[2002:a9fe:a9fe::1]"])
async def test_both_that_ask_look_at_the_same_list(host: str) -> None:
    with pytest.raises(FetchRefused, match="not public"):
        await fetched(Fetch(what="transcript", meeting="m", url=f"https://{host}/x"), api_key=None)
    for config in (CallConfig(), CallConfig(private=True)):
        with pytest.raises(InvalidInput, match="not public"):
            checked_url(f"https://{host}/x", config)
