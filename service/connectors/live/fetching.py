"""How is what a delivery points to got, when the address was written by somebody else?

Only by https, from hosts that the connector names or that have a public address; the address that was checked is the one that
is asked, so that a name cannot lead elsewhere a moment later; redirects are followed by the same rules, without the key once
the host is another; no proxy of the environment is used. What comes is bounded in time and size, and is text. Nothing of an
address but its host is told in errors: links to transcripts are secrets."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import httpx

from service.connectors.live import Delivery, Fetch
from service.connectors.live.addresses import is_public
from service.connectors.live.fetched import delivery_of
from service.errors import VoicegraphError

logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells whole addresses, and links to transcripts are secrets

REDIRECTS = frozenset({301, 302, 303, 307, 308})
LATER = frozenset({404, 408, 409, 425, 429})
"""Of the client errors those that may be others soon: a transcript that is announced is not always there at once."""


class FetchRefused(VoicegraphError):
    """Not worth another try as it stands."""

    code = "fetch_refused"
    says = "The {what} at {host} was not fetched: {why}."
    http_status = 422
    tries_again: ClassVar[bool] = False


class FetchFailed(VoicegraphError):
    """Worth another try."""

    code = "fetch_failed"
    says = "The {what} at {host} could not be fetched: {why}. It is tried again."
    http_status = 502
    tries_again: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class FetchConfig:
    timeout: float = 20.0  # seconds for a connection and between two pieces; by hand
    whole: float = 120.0  # seconds for all of it
    max_bytes: int = 20_000_000  # a day's transcript with every word is about 10 MB
    max_redirects: int = 3  # Zoom's downloads take one or two
    max_url: int = 4_000  # signed links to stores are some 1,500 characters
    instead: Mapping[str, str] = field(default_factory=dict)
    """Host → the base URL to ask in its place: an egress gateway, or a test's server. It is trusted: it may be on this machine
    and speak http."""
    certificates: Path | None = None
    """PEM of the authorities that are trusted; None: the usual ones."""


@dataclass(frozen=True, slots=True)
class _Ask:
    url: httpx.URL
    headers: Mapping[str, str]
    extensions: Mapping[str, str]


async def fetched(fetch: Fetch, *, api_key: str | None, config: FetchConfig | None = None) -> Delivery:
    """What it points to, as a delivery for the inbox. Raises FetchRefused, FetchFailed."""
    config = config or FetchConfig()
    if fetch.needs_api_key and not api_key:
        raise _refused(fetch, fetch.url, "its source has no api_key; set it in the file of sources")
    key = api_key if fetch.needs_api_key else fetch.token
    try:
        async with asyncio.timeout(config.whole):
            content = await _follow(fetch, key, config)
    except TimeoutError as problem:
        raise _failed(fetch, fetch.url, f"it took longer than {config.whole:g} s") from problem
    if fetch.query is not None:
        _check_graphql(fetch, content)
    return delivery_of(fetch, content, datetime.now(UTC))


async def _follow(fetch: Fetch, key: str | None, config: FetchConfig) -> bytes:
    verify = True if config.certificates is None else ssl.create_default_context(cafile=config.certificates)
    async with httpx.AsyncClient(timeout=config.timeout, verify=verify, follow_redirects=False, trust_env=False) as client:
        url, asked_first = fetch.url, _host(fetch.url)
        for _ in range(config.max_redirects + 1):
            own_key = key if _host(url) == asked_first else None
            answer = await _asked(client, fetch, url, own_key, config)
            if isinstance(answer, bytes):
                return answer
            url = answer
    raise _refused(fetch, url, f"it leads on more than {config.max_redirects} times")


async def _asked(client: httpx.AsyncClient, fetch: Fetch, url: str, key: str | None, config: FetchConfig) -> bytes | str:
    """The content, or where it leads to."""
    ask = await _allowed(fetch, url, config)
    # what is packed can be a thousand times as long
    headers = {**ask.headers, "accept-encoding": "identity", **({"authorization": f"Bearer {key}"} if key else {})}
    body = None if fetch.query is None else json.dumps(fetch.query).encode()
    if body is not None:
        headers["content-type"] = "application/json"
    request = client.build_request("GET" if body is None else "POST", ask.url, headers=headers, content=body)
    request.extensions = {**request.extensions, **ask.extensions}
    try:
        answer = await client.send(request, stream=True)
        try:
            if answer.status_code in REDIRECTS:
                return _leads_to(fetch, url, answer)
            _check_status(fetch, url, answer)
            return await _content(fetch, url, answer, config)
        finally:
            await answer.aclose()
    except (httpx.HTTPError, ssl.SSLError) as problem:
        raise _failed(fetch, url, type(problem).__name__) from problem


async def _content(fetch: Fetch, url: str, answer: httpx.Response, config: FetchConfig) -> bytes:
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise _refused(fetch, url, "it is packed, which was not asked for")
    parts: list[bytes] = []
    size = 0
    async for part in answer.aiter_bytes():
        size += len(part)
        if size > config.max_bytes:
            raise _refused(fetch, url, f"it is longer than {config.max_bytes} bytes")
        parts.append(part)
    return b"".join(parts)


def _leads_to(fetch: Fetch, url: str, answer: httpx.Response) -> str:
    location = answer.headers.get("location")
    if fetch.query is not None or not location:
        raise _refused(fetch, url, "it leads on, which an API does not")
    try:
        return str(httpx.URL(url).join(location))
    except (httpx.InvalidURL, ValueError) as problem:
        raise _refused(fetch, url, "it leads on to what is no address") from problem


def _check_status(fetch: Fetch, url: str, answer: httpx.Response) -> None:
    status = answer.status_code
    if status == 200:
        return
    if status >= 500 or status in LATER:
        raise _failed(fetch, url, f"it answered {status}")
    raise _refused(fetch, url, f"it answered {status}")


def _check_graphql(fetch: Fetch, content: bytes) -> None:
    """An API that answers 200 and says that it went wrong. Raises FetchFailed with its codes, FetchRefused for no JSON."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise _failed(fetch, fetch.url, "it answered no JSON") from problem
    if not isinstance(document, Mapping):
        raise _failed(fetch, fetch.url, "it answered no object")
    errors = document.get("errors")
    if errors:
        codes = (
            [str(e.get("code") or "error")[:60] for e in errors if isinstance(e, Mapping)] if isinstance(errors, list) else []
        )
        raise _failed(fetch, fetch.url, f"it answered {', '.join(codes[:3]) or 'error'}")


async def _allowed(fetch: Fetch, url: str, config: FetchConfig) -> _Ask:
    """Where to ask. Raises FetchRefused, FetchFailed."""
    host = _host(url)
    if host is None or len(url) > config.max_url:
        raise _refused(fetch, url, "its address is none, or too long")
    parsed = httpx.URL(url)
    if host in config.instead:
        return _Ask(httpx.URL(config.instead[host]).copy_with(raw_path=parsed.raw_path), {}, {})
    if parsed.scheme != "https":
        raise _refused(fetch, url, f"{parsed.scheme} is not https")
    if parsed.port not in (None, 443) or parsed.userinfo:
        raise _refused(fetch, url, "its address has a port or a password")
    if fetch.hosts and not any(host == own or host.endswith(f".{own}") for own in fetch.hosts):
        raise _refused(fetch, url, f"only {', '.join(fetch.hosts)} is asked")
    address = await _public_address(fetch, url, host)
    asked = f"[{address}]" if ":" in address else address
    return _Ask(parsed.copy_with(host=asked), {"host": host}, {"sni_hostname": host})


async def _public_address(fetch: Fetch, url: str, host: str) -> str:
    """All that the name has must be public: one that is not would be reached by trying again."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except OSError as problem:
        raise _failed(fetch, url, "its name is not known") from problem
    addresses = [str(address[0]) for *_, address in found]
    if not addresses or not all(is_public(address) for address in addresses):
        raise _refused(fetch, url, "its address is not public")
    return addresses[0]


def _host(url: str) -> str | None:
    try:
        return httpx.URL(url).host.lower().rstrip(".") or None
    except (httpx.InvalidURL, ValueError, UnicodeError):
        return None


def _refused(fetch: Fetch, url: str, why: str) -> FetchRefused:
    return FetchRefused(what=fetch.what, host=_host(url) or "an address", why=why)


def _failed(fetch: Fetch, url: str, why: str) -> FetchFailed:
    return FetchFailed(what=fetch.what, host=_host(url) or "an address", why=why)
