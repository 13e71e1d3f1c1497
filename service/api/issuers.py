"""Whose tokens are taken besides our own? `issuers.toml`, read again when it changes.

    [issuers.company]
    issuer = "https://id.example.org/realms/main"
    audience = ["voicegraph"]
    space = "home"
    scopes = ["ask"]
    scopes_claim = "realm_access.roles"
    scopes_of = { voicegraph-admin = ["admin", "read_all"] }

Nothing in it is a secret: an identity provider's keys are public. A space is an issuer's only where this file says so, and what
may read everything or administer is never for everybody that an issuer knows."""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from service.api.tokens import SCOPES
from service.connectors.live.addresses import is_loopback
from service.errors import VoicegraphError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Whose proof is made with a key that we do not have. What is proved with a shared secret (HS…) or not at all is never taken:
with a public key for a secret anybody could make it."""
USUAL = ("RS256", "ES256", "EdDSA")
FOR_EVERYBODY = frozenset({"ask", "ingest"})
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
MAX_LEEWAY = 300.0
"""Seconds that clocks may differ; more would keep ended tokens alive."""


class IssuersUnreadable(VoicegraphError):
    code = "issuers_unreadable"
    says = "The file of issuers {path}: {problem}. `voicegraph doctor` says when it is right."
    http_status = 503


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """One identity provider, as configured."""

    name: str
    issuer: str
    """`iss` of its tokens, character for character; also where its discovery document is asked for."""
    audience: tuple[str, ...]
    """`aud` must name one of them: us. A token that was given for another service opens nothing here."""
    space: str | None = None
    """In which all its tokens ask; else `space_claim`."""
    space_claim: str | None = None
    """A claim, and `spaces` says which of its values is which space: an issuer names no space that is not written down here."""
    spaces: Mapping[str, str] = field(default_factory=dict)
    scopes: frozenset[str] = frozenset()
    """What everybody with a token of it may do: ask, ingest."""
    scopes_claim: str | None = None
    """A claim, a list or words with blanks between, and `scopes_of` says what each of its values lets them do."""
    scopes_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    algorithms: tuple[str, ...] = USUAL
    leeway: float = 30.0
    """Seconds that its clock and ours may differ; by hand."""
    token_type: str | None = None
    """`typ` that its tokens must have: at+jwt (RFC 9068) keeps ID tokens out where an issuer tells the two apart."""
    jwks_uri: str | None = None
    """Where its keys are; None: its discovery document says so."""


class Issuers:
    """Those of `path`, looked up anew at each use. A missing file has none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, ...] | None = None
        self._issuers: tuple[Issuer, ...] = ()

    def all(self) -> tuple[Issuer, ...]:
        """Raises IssuersUnreadable."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._seen, self._issuers = None, ()
            return ()
        seen = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode)
        if seen != self._seen:
            if status.st_mode & stat.S_IWOTH:
                raise IssuersUnreadable(path=self.path, problem="may be written by anybody, who could then let anybody in")
            try:
                text = self.path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise IssuersUnreadable(path=self.path, problem=f"cannot be read ({type(error).__name__})") from error
            self._issuers, self._seen = parse(text, self.path), seen
        return self._issuers

    def find(self, issuer: object) -> Issuer | None:
        """The one whose tokens say so. Raises IssuersUnreadable."""
        return next((one for one in self.all() if one.issuer == issuer), None)


def parse(text: str, path: Path) -> tuple[Issuer, ...]:
    """The issuers of a file. Raises IssuersUnreadable naming the place."""

    def wrong(problem: str) -> IssuersUnreadable:
        return IssuersUnreadable(path=path, problem=problem)

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise wrong(f"is no TOML ({error})") from error
    tables = document.get("issuers", {})
    if set(document) - {"issuers"} or not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        raise wrong("holds something besides tables [issuers.NAME]")
    found = tuple(_issuer(name, table, wrong) for name, table in tables.items())
    known = [one.issuer.lower() for one in found]  # accounts are kept by issuers in lower case
    if twice := next((one.name for one in found if known.count(one.issuer.lower()) > 1), None):
        raise wrong(f"[issuers.{twice}]: another table has the same issuer; one issuer with space_claim serves several spaces")
    return found


def _issuer(name: str, table: Mapping[str, Any], wrong: Callable[[str], IssuersUnreadable]) -> Issuer:
    at = f"[issuers.{name[:64]}]"
    if not NAME.fullmatch(name):
        raise wrong(f"{at}: a name is a-z, 0-9, '.', '_' and '-', at most 64 of them")
    if unknown := sorted(set(table) - _KNOWN):
        raise wrong(f"{at}: {unknown[0][:40]} is none of {', '.join(sorted(_KNOWN))}")
    for key in ("issuer", "jwks_uri"):
        if key in table and not is_address(table[key], query=key == "jwks_uri"):
            raise wrong(f"{at}: {key} is no https:// address (http:// on this machine alone)")
    if "issuer" not in table:
        raise wrong(f"{at}: issuer is missing")
    for key in ("space", "space_claim", "scopes_claim", "token_type"):
        if key in table and not _is_text(table[key]):
            raise wrong(f"{at}: {key} is no text")
    audience = [given] if isinstance(given := table.get("audience"), str) else given
    if not isinstance(audience, list) or not audience or not all(map(_is_text, audience)):
        raise wrong(f"{at}: audience is missing: by which name its tokens say that they are for this service")
    leeway = table.get("leeway", 30.0)
    if isinstance(leeway, bool) or not isinstance(leeway, int | float) or not 0 <= leeway <= MAX_LEEWAY:
        raise wrong(f"{at}: leeway is a number of seconds, at most {MAX_LEEWAY:g}")
    algorithms = table.get("algorithms", list(USUAL))
    if not isinstance(algorithms, list) or not algorithms or not all(one in ALGORITHMS for one in algorithms):
        raise wrong(f"{at}: algorithms are some of {', '.join(ALGORITHMS)}; shared secrets prove nothing here")
    parsed = {
        "audience": tuple(audience),
        "algorithms": tuple(algorithms),
        "leeway": float(leeway),
        **_spaces(at, table, wrong),
        **_scopes(at, table, wrong),
    }
    return Issuer(**{**table, **parsed, "name": name})


def _spaces(at: str, table: Mapping[str, Any], wrong: Callable[[str], IssuersUnreadable]) -> dict[str, Any]:
    spaces = table.get("spaces", {})
    if ("space" in table) == ("space_claim" in table) or ("space_claim" in table) != bool(spaces):
        raise wrong(f"{at}: either space, or space_claim with spaces = {{ its value = the space }}")
    if not isinstance(spaces, dict) or not all(map(_is_text, spaces.values())):
        raise wrong(f"{at}: spaces is a table: a value of the claim = the space")
    return {"spaces": dict(spaces)}


def _scopes(at: str, table: Mapping[str, Any], wrong: Callable[[str], IssuersUnreadable]) -> dict[str, Any]:
    everybody, of = table.get("scopes", []), table.get("scopes_of", {})
    if not isinstance(everybody, list) or not all(one in FOR_EVERYBODY for one in everybody):
        known = ", ".join(sorted(FOR_EVERYBODY))
        raise wrong(f"{at}: scopes, of everybody with a token of it, are some of {known}; more by scopes_claim and scopes_of")
    if not isinstance(of, dict) or not all(isinstance(each, list) and set(map(str, each)) <= SCOPES for each in of.values()):
        raise wrong(f"{at}: scopes_of is a table: a value of the claim = some of {', '.join(sorted(SCOPES))}")
    if ("scopes_claim" in table) != bool(of):
        raise wrong(f"{at}: scopes_claim takes scopes_of, which says what each value lets somebody do")
    return {"scopes": frozenset(everybody), "scopes_of": {value: frozenset(each) for value, each in of.items()}}


def is_address(given: object, *, query: bool = False) -> bool:
    """Whether an issuer, or its keys (`query`), may be asked for there: by https, on this machine by http, too."""
    if not isinstance(given, str) or not _is_text(given) or not given.isascii() or not given.isprintable() or " " in given:
        return False
    try:
        url = urlsplit(given)
        host, _ = url.hostname, url.port
    except ValueError:
        return False
    if not host or url.username or url.password or (url.query and not query) or url.fragment:
        return False
    return url.scheme == "https" or (url.scheme == "http" and is_here(given))


def is_here(address: str) -> bool:
    """Whether it names this very machine."""
    host = urlsplit(address).hostname or ""
    return host == "localhost" or is_loopback(host)


def _is_text(given: object) -> bool:
    return isinstance(given, str) and 0 < len(given.strip()) == len(given) <= 1000


_KNOWN = {field.name for field in fields(Issuer)} - {"name"}
