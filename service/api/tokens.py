"""Who holds this token? A file of hashed bearer tokens: read, issue, revoke."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError
from service.graph.accounts import account_id as id_of_account
from service.types.ids import fresh
from service.types.meeting import AccountKey
from service.types.people import Principal

SCOPES = frozenset({"ingest", "ask", "read_all", "admin"})
PREFIX = "vg_"
"""Makes a token recognisable to secret scanners."""
_RANDOM_BYTES = 32  # 256 bits: a plain SHA-256 suffices, there is nothing to guess


class TokensUnreadable(VoicegraphError):
    code = "tokens_unreadable"
    says = "The tokens file {path} {problem}. Repair it, or move it away and issue new tokens with `voicegraph token create`."
    http_status = 500


class UnknownScope(VoicegraphError):
    code = "unknown_scope"
    says = "{given} is not a scope. Known: {known}."
    http_status = 422


class NoSuchToken(VoicegraphError):
    code = "no_such_token"
    says = "There is no token {id}. `voicegraph token list` shows them."
    http_status = 404


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """One token as kept: everything but the token."""

    id: str
    sha256: str = field(repr=False)
    issuer: str
    subject: str
    """Who it was given to, as `issuer` names them."""
    space: str
    scopes: frozenset[str]
    person_id: str | None
    may_act_for: frozenset[str]
    created_at: datetime
    expires_at: datetime | None

    @property
    def principal(self) -> Principal:
        return Principal(account_id(self.space, self.issuer, self.subject), self.person_id, self.may_act_for, self.scopes)

    def is_live(self, now: datetime) -> bool:
        return self.expires_at is None or now < self.expires_at


def account_id(space: str, issuer: str, subject: str) -> str:
    """Id of the Account that `issuer` and `subject` name."""
    return id_of_account(space, AccountKey(issuer, subject))


def parse(text: str, *, path: Path) -> tuple[TokenEntry, ...]:
    """The entries of a tokens file; raises TokensUnreadable naming what is wrong, never quoting it."""
    try:
        return tuple(_entry(raw) for raw in json.loads(text)["tokens"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TokensUnreadable(path=path, problem=f"is not a tokens file ({type(error).__name__})") from None


def match(entries: Sequence[TokenEntry], token: str, now: datetime) -> TokenEntry | None:
    """The live entry of `token`. Compares with every entry in constant time, so timing tells nothing."""
    digest = _digest(token)
    found = None
    for entry in entries:
        if hmac.compare_digest(entry.sha256, digest):
            found = entry
    return found if found and found.is_live(now) else None


class TokenFile:
    """The entries of `path`, read again whenever the file changes. A missing file has no entries."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._entries: tuple[TokenEntry, ...] = ()

    def find(self, token: str) -> TokenEntry | None:
        """The live entry of `token`; raises TokensUnreadable when others may read the file or it is broken."""
        return match(self.entries(), token, datetime.now(UTC))

    def entries(self) -> tuple[TokenEntry, ...]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._seen, self._entries = None, ()
            return ()
        seen = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_mode)
        if seen != self._seen:
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise TokensUnreadable(path=self._path, problem="may be read by others; it needs mode 0600")
            self._entries = parse(self._path.read_text(encoding="utf-8"), path=self._path)
            self._seen = seen
        return self._entries


def issue(
    path: Path,
    *,
    subject: str,
    space: str,
    scopes: Sequence[str] = ("ask",),
    person_id: str | None = None,
    may_act_for: Sequence[str] = (),
    issuer: str = "local",
    expires_at: datetime | None = None,
) -> tuple[str, TokenEntry]:
    """A new token and its entry, added to `path`. The token is shown here once and kept nowhere."""
    if unknown := set(scopes) - SCOPES:
        raise UnknownScope(given=", ".join(sorted(unknown)), known=", ".join(sorted(SCOPES)))
    token = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    entry = TokenEntry(
        id=fresh(),
        sha256=_digest(token),
        issuer=issuer,
        subject=subject,
        space=space,
        scopes=frozenset(scopes),
        person_id=person_id,
        may_act_for=frozenset(may_act_for),
        created_at=datetime.now(UTC),
        expires_at=expires_at,
    )
    with _locked(path):
        _write(path, (*TokenFile(path).entries(), entry))
    return token, entry


def revoke(path: Path, token_id: str) -> TokenEntry:
    """Takes effect at the next request; raises NoSuchToken."""
    with _locked(path):
        entries = TokenFile(path).entries()
        gone = next((e for e in entries if e.id == token_id), None)
        if gone is None:
            raise NoSuchToken(id=token_id)
        _write(path, tuple(e for e in entries if e.id != token_id))
    return gone


def list_tokens(path: Path) -> tuple[TokenEntry, ...]:
    """Every entry, expired ones too, oldest first."""
    return TokenFile(path).entries()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _entry(raw: dict[str, Any]) -> TokenEntry:
    entry = TokenEntry(
        **{
            **raw,
            "scopes": frozenset(raw["scopes"]),
            "may_act_for": frozenset(raw["may_act_for"]),
            "created_at": datetime.fromisoformat(raw["created_at"]),
            "expires_at": raw["expires_at"] and datetime.fromisoformat(raw["expires_at"]),
        }
    )
    if entry.scopes - SCOPES or len(entry.sha256) != hashlib.sha256().digest_size * 2:
        raise ValueError(entry.id)
    if entry.expires_at is not None and entry.expires_at.tzinfo is None:
        return replace(entry, expires_at=entry.expires_at.replace(tzinfo=UTC))
    return entry


def _raw(entry: TokenEntry) -> dict[str, Any]:
    return {
        **asdict(entry),
        "scopes": sorted(entry.scopes),
        "may_act_for": sorted(entry.may_act_for),
        "created_at": entry.created_at.isoformat(),
        "expires_at": entry.expires_at and entry.expires_at.isoformat(),
    }


def _write(path: Path, entries: Sequence[TokenEntry]) -> None:
    """Whole and private from the first byte: a new file, 0600, renamed over the old one."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"version": 1, "tokens": [_raw(e) for e in entries]}, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time, across processes."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
