"""Which backends may deliver here, into which space, and with which secrets? `hooks.toml`, read again when it changes.

    [sources.sales]
    provider = "vexa"
    space = "home"
    secrets = ["env:VEXA_SECRET", "file:/run/secrets/vexa-next"]

Nothing in the file is a secret: it names variables of the environment and files. Several hold at once while one is changed."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from service.connectors.live import CONNECTORS, connector
from service.errors import VoicegraphError
from service.types.meeting import LOCAL, MAILTO

Environment = Callable[[str], str | None]
"""The value of a variable."""

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
"""Of a source: it stands in a URL."""


class SourcesUnreadable(VoicegraphError):
    code = "sources_unreadable"
    says = "The file of sources {path}: {problem}. `voicegraph hooks check` says when it is right."
    http_status = 503


class SecretMissing(VoicegraphError):
    code = "secret_missing"
    says = "The source {source} names {reference}, and {problem}. Until it is there, no delivery of it can be proved."
    http_status = 503


class NoSuchSource(VoicegraphError):
    code = "no_such_source"
    says = "There is no source {name} here. `voicegraph hooks list` shows those that are configured."
    http_status = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One configured backend."""

    name: str
    provider: str
    """Its connector."""
    space: str
    """Into which everything it delivers goes."""
    secrets: tuple[str, ...] = ()
    """`env:NAME` or `file:/path` of each secret that a delivery may be signed with."""
    tokens: tuple[str, ...] = ()
    """Ids of the tokens of ours that may deliver where the connector takes any; none: each with the scope `ingest` may."""
    api_key: str | None = None
    """As `secrets`: for fetching what a delivery only points to."""
    listen: bool = False
    """Whether its sound is taken in, and voices are told apart in it once the meeting is over. Then it is deleted."""
    idle_minutes: float = 30.0
    """After so long without a delivery a meeting counts as ended: longer than any break, and than a provider tries again."""
    meeting_from: str | None = None
    """Which field of a bot's metadata, else which parameter of its URL, says which meeting it is in: what several bots tell of
    one call is one meeting, and what new bots tell once that is over is the next. None: each bot's is one of its own."""
    issuers: tuple[str, ...] = ()
    """Of a generic source: whose accounts it may name, in lower case; those of any other are the source's own."""
    verified_email: bool = False
    """Of a generic source: whether its platform has verified the addresses that it sends as `email`; else they are its own."""


class Sources:
    """Those of `path`, looked up anew at each use. A missing file has none."""

    def __init__(self, path: Path, environment: Environment) -> None:
        self.path, self._environment = path, environment
        self._seen: tuple[int, ...] | None = None
        self._sources: Mapping[str, Source] = {}

    def all(self) -> Mapping[str, Source]:
        """By name. Raises SourcesUnreadable."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._seen, self._sources = None, {}
            return {}
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        if seen != self._seen:
            try:
                text = self.path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise SourcesUnreadable(path=self.path, problem=f"cannot be read ({type(error).__name__})") from error
            self._sources, self._seen = parse(text, self.path), seen
        return self._sources

    def get(self, name: str) -> Source:
        """Raises NoSuchSource, SourcesUnreadable."""
        found = self.all().get(name)
        if found is None:
            raise NoSuchSource(name=name[:64])
        return found

    def find(self, name: str) -> Source | None:
        """Raises SourcesUnreadable."""
        return self.all().get(name)

    def secrets(self, source: Source) -> tuple[str, ...]:
        """Its secrets as they are now. Raises SecretMissing for the first that is not there."""
        return tuple(self._secret(source, reference) for reference in source.secrets)

    def api_key(self, source: Source) -> str | None:
        """Raises SecretMissing."""
        return None if source.api_key is None else self._secret(source, source.api_key)

    def _secret(self, source: Source, reference: str) -> str:
        kind, _, place = reference.partition(":")
        if kind == "env":
            found = self._environment(place)
            problem = "there is no such variable, or it is empty"
        else:
            try:
                found = Path(place).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise SecretMissing(
                    source=source.name, reference=reference, problem=f"it cannot be read ({type(error).__name__})"
                ) from error
            problem = "it is empty"
        if not (found or "").strip():
            raise SecretMissing(source=source.name, reference=reference, problem=problem)
        return (found or "").strip()


def parse(text: str, path: Path) -> dict[str, Source]:
    """The sources of a file. Raises SourcesUnreadable naming the place; no value is quoted but names."""

    def wrong(problem: str) -> SourcesUnreadable:
        return SourcesUnreadable(path=path, problem=problem)

    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise wrong(f"is no TOML ({error})") from error
    tables = document.get("sources", {})
    if set(document) - {"sources"} or not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        raise wrong("holds something besides tables [sources.NAME]")
    return {name: _source(name, table, wrong) for name, table in tables.items()}


def _source(name: str, table: Mapping[str, Any], wrong: Callable[[str], SourcesUnreadable]) -> Source:
    at = f"[sources.{name[:64]}]"
    if not NAME.fullmatch(name):
        raise wrong(f"{at}: a name is a-z, 0-9, '.', '_' and '-', at most 64 of them")
    if unknown := sorted(set(table) - _KNOWN):
        raise wrong(f"{at}: {unknown[0][:40]} is none of {', '.join(sorted(_KNOWN))}")
    for key in ("provider", "space"):
        if not isinstance(table.get(key), str) or not table[key].strip():
            raise wrong(f"{at}: {key} is missing, or no text")
    if table["provider"] not in CONNECTORS:
        raise wrong(f"{at}: provider is none of {', '.join(sorted(CONNECTORS))}")
    if not isinstance(table.get("listen", False), bool):
        raise wrong(f"{at}: listen is true or false")
    issuers = _issuers(name, table, wrong)
    idle = table.get("idle_minutes", 30.0)
    if isinstance(idle, bool) or not isinstance(idle, int | float) or not 0 < idle <= MAX_IDLE_MINUTES:
        raise wrong(f"{at}: idle_minutes is a number above 0, at most {MAX_IDLE_MINUTES:g}")
    secrets = table.get("secrets", [])
    if not isinstance(secrets, list) or not all(map(_is_reference, secrets)):
        raise wrong(f'{at}: secrets is a list of "env:NAME" and "file:/path", never the secrets themselves')
    tokens = table.get("tokens", [])
    if not isinstance(tokens, list) or not all(isinstance(id, str) and id for id in tokens):
        raise wrong(f"{at}: tokens is a list of ids of tokens, as `voicegraph token list` shows them")
    if table.get("api_key") is not None and not _is_reference(table["api_key"]):
        raise wrong(f'{at}: api_key is "env:NAME" or "file:/path", never the key itself')
    meeting_from = table.get("meeting_from")
    if meeting_from is not None and (not isinstance(meeting_from, str) or not meeting_from.strip()):
        raise wrong(f"{at}: meeting_from is the name of a field of the bots' metadata")
    if meeting_from is not None and connector(table["provider"]).declared.metadata is None:
        raise wrong(f"{at}: meeting_from is of providers whose bots have metadata, which those of {table['provider']} have not")
    table = {**table, "tokens": tuple(tokens)}
    return Source(**{**table, "name": name, "secrets": tuple(secrets), "idle_minutes": float(idle), "issuers": issuers})


def _issuers(name: str, table: Mapping[str, Any], wrong: Callable[[str], SourcesUnreadable]) -> tuple[str, ...]:
    at = f"[sources.{name[:64]}]"
    issuers = table.get("issuers", [])
    if not isinstance(table.get("verified_email", False), bool):
        raise wrong(f"{at}: verified_email is true or false")
    if table["provider"] != "generic" and (table.keys() & {"issuers", "verified_email"}):
        raise wrong(f"{at}: issuers and verified_email are of generic sources; what {table['provider']} vouches for is known")
    if not isinstance(issuers, list) or not all(isinstance(one, str) and one.strip() for one in issuers):
        raise wrong(f"{at}: issuers is a list of names")
    found = tuple(dict.fromkeys(one.strip().lower() for one in issuers))
    if LOCAL in found or MAILTO in found:
        raise wrong(f"{at}: issuers: {LOCAL} is for tokens of this service, and for {MAILTO} there is verified_email")
    return found


MAX_IDLE_MINUTES = 24 * 60.0
"""A meeting that is silent for a day is over."""
_KNOWN = {field.name for field in fields(Source)} - {"name"}


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"env:[A-Za-z_][A-Za-z0-9_]*|file:/.+", value))
