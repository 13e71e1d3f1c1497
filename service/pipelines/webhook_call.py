"""How is an event sent to an address that somebody gave us? By https to public addresses; the address that was checked is the
one that is asked, so that a name cannot lead into our own network a moment later; redirects are not followed, no proxy of the
environment is used, and nothing of the answer is read but its status. Where the setting `webhook_private` says so, private
addresses may be asked, too, and this machine by http."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from service.connectors.live.addresses import is_loopback, is_private, is_public, plain
from service.errors import InvalidInput

MAX_URL = 2_000
LOOPBACK_NAME = "localhost"
MAX_ADDRESSES = 4
"""Of one name that are tried in turn within one try."""


@dataclass(frozen=True, slots=True)
class CallConfig:
    private: bool = False
    """Private addresses may be asked, and this machine by http: the setting `webhook_private`."""
    seconds: float = 15.0  # for all of one try; Standard Webhooks recommends 15 to 30
    certificates: Path | None = None
    """PEM of the authorities that are trusted; None: the usual ones."""


@dataclass(frozen=True, slots=True)
class Called:
    """What came of one try."""

    http_status: int | None = None
    error: str | None = None
    """timeout | unreachable | address_not_allowed | redirected | status; None: it arrived."""
    wait: float | None = None
    """Seconds that it asks us to wait before the next."""

    @property
    def arrived(self) -> bool:
        return self.error is None


class AddressNotAllowed(Exception):
    """The name leads to an address that may not be asked; told as Called.error."""


def checked_url(given: str, config: CallConfig) -> str:
    """An address that may be a webhook's, as far as it can be seen without asking for its name. Raises InvalidInput; what is
    given is not quoted, since addresses of receivers may hold secrets."""
    try:
        url = httpx.URL(given)
    except (httpx.InvalidURL, ValueError, UnicodeError):
        raise _unusable("no address") from None
    if len(given) > MAX_URL or url.userinfo or url.fragment or not url.host:
        raise _unusable("too long, without a host, with a password in it or with a fragment")
    if url.scheme != "https" and not (config.private and url.scheme == "http" and _is_loopback_name(url.host)):
        raise _unusable(f"{url.scheme or 'nothing'}://")
    if (plain(url.host) is not None or url.host == LOOPBACK_NAME) and not _may_ask(_loopback(url.host), config):
        raise _unusable("an address that is not public")
    return given


def shown_url(url: str) -> str:
    """The address without its query, in which some receivers want a secret of theirs."""
    bare, asked, _ = url.partition("?")
    return f"{bare}?…" if asked else bare


class Caller:
    """One for a process; `close` it. Connections are not kept: one that was proved to be a host's must not serve another's that
    has the same address."""

    def __init__(self, config: CallConfig) -> None:
        self.config = config
        verify = True if config.certificates is None else ssl.create_default_context(cafile=config.certificates)
        self._http = httpx.AsyncClient(
            timeout=config.seconds,
            verify=verify,
            follow_redirects=False,
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def __call__(self, url: str, headers: Mapping[str, str], body: bytes) -> Called:
        """What came of it: failures of the receiver and on the way there are results, not errors."""
        try:
            async with asyncio.timeout(self.config.seconds):
                return await self._post(httpx.URL(url), headers, body)
        except TimeoutError:
            return Called(error="timeout")
        except AddressNotAllowed:
            return Called(error="address_not_allowed")
        except (httpx.HTTPError, ssl.SSLError, OSError) as error:
            return Called(error="timeout" if isinstance(error, httpx.TimeoutException) else "unreachable")

    async def _post(self, url: httpx.URL, headers: Mapping[str, str], body: bytes) -> Called:
        addresses = await self._addresses(url)
        for address in addresses[:-1]:
            try:
                return await self._post_to(address, url, headers, body)
            except httpx.ConnectError:  # as one that this machine has no way to: IPv6 often is
                continue
        return await self._post_to(addresses[-1], url, headers, body)

    async def _post_to(self, address: str, url: httpx.URL, headers: Mapping[str, str], body: bytes) -> Called:
        asked = url.copy_with(host=f"[{address}]" if ":" in address else address)
        sent = {**headers, "host": url.netloc.decode("ascii"), "content-type": "application/json", "user-agent": "voicegraph"}
        request = self._http.build_request("POST", asked, headers=sent, content=body)
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        answer = await self._http.send(request, stream=True)
        await answer.aclose()
        if answer.is_success:
            return Called(answer.status_code)
        error = "redirected" if answer.is_redirect else "status"
        return Called(answer.status_code, error, _retry_after(answer))

    async def _addresses(self, url: httpx.URL) -> list[str]:
        """At least one. All that the name has must be allowed: one that is not would be reached by trying again. Raises
        AddressNotAllowed."""
        port = url.port or (443 if url.scheme == "https" else 80)
        found = await asyncio.get_running_loop().getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
        addresses = [str(address[0]) for *_, address in found]
        if not addresses or not all(_may_ask(address, self.config) for address in addresses):
            raise AddressNotAllowed
        if url.scheme == "http" and not all(map(is_loopback, addresses)):
            raise AddressNotAllowed
        return list(dict.fromkeys(addresses))[:MAX_ADDRESSES]


def _may_ask(address: str, config: CallConfig) -> bool:
    """Public ones; and where the setting says so those of private networks and this machine."""
    return is_public(address) or (config.private and is_private(address))


def _loopback(host: str) -> str:
    return "127.0.0.1" if host == LOOPBACK_NAME else host


def _is_loopback_name(host: str) -> bool:
    return host == LOOPBACK_NAME or is_loopback(host)


def _retry_after(answer: httpx.Response) -> float | None:
    """Seconds (RFC 9110 §10.2.3); a date is not looked at: our own waits are long enough."""
    said = answer.headers.get("retry-after", "").strip()
    return float(said) if said.isascii() and said.isdigit() and len(said) <= 6 else None


def _unusable(given: str) -> InvalidInput:
    needed = f"https:// and a public host, without password or fragment, {MAX_URL} characters at most"
    return InvalidInput(what="the webhook's address", given=given, needed=f"{needed} (the setting webhook_private allows more)")
