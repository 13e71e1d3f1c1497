"""Which IP addresses may be asked, when somebody else wrote where to? What is listed here, whatever Python's own lists hold:
they differ from version to version."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(*written: str) -> tuple[Network, ...]:
    return tuple(map(ipaddress.ip_network, written))


INTERNET = _networks("0.0.0.0/0", "2000::/3")
"""What is given out as unicast addresses (IANA); all other IPv6 is something else."""
NOT_OPEN = _networks(
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",
    "100.64.0.0/10",  # behind a carrier's NAT; a cloud's metadata is there, too
    "127.0.0.0/8",
    "168.63.129.16/32",  # Azure's platform, as its machines see it
    "169.254.0.0/16",  # link-local, and metadata
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",  # relays of 6to4
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",  # multicast, reserved, broadcast
    "2001::/23",  # Teredo, ORCHID, benchmarks
    "2001:db8::/32",
    "2002::/16",  # 6to4: leads to an IPv4 address by way of others
    "3fff::/20",
)
"""Of these what is no machine's own address on the Internet (IANA's registries of special-purpose addresses, 2026)."""
PRIVATE = _networks("10.0.0.0/8", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
METADATA = _networks("fd00:ec2::/32", "fd20:ce::/32")
"""Of clouds, among private ones: AWS, Google."""
MAPPED, NAT64 = _networks("::ffff:0:0/96", "64:ff9b::/96")
"""IPv6 that is another way to write an IPv4 address, or is translated to it (RFC 4291, RFC 6052)."""


def is_public(address: str) -> bool:
    """Whether it is one of the Internet's: not of this machine, a private network, or a cloud's metadata."""
    found = plain(address)
    return found is not None and _is_in(found, INTERNET) and not _is_in(found, NOT_OPEN)


def is_private(address: str) -> bool:
    """Whether it is of a private network or this machine, and stands for no other thing: a cloud's metadata, everybody."""
    found = plain(address)
    return found is not None and _is_in(found, PRIVATE) and not _is_in(found, METADATA)


def is_loopback(address: str) -> bool:
    found = plain(address)
    return found is not None and found.is_loopback


def plain(address: str) -> Address | None:
    """The address that is reached; None: it is none."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF) if _is_in(found, (MAPPED, NAT64)) else found


def _is_in(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)
