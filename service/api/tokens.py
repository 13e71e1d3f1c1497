"""Who holds this token? A file of hashed bearer tokens: read, issue, rotate, revoke."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import stat
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError
from service.graph.accounts import account_id as id_of_account
from service.pipelines.private_json import replaced, write_whole
from service.types.ids import fresh
from service.types.meeting import AccountKey
from service.types.people import Principal

SCOPES = frozenset({"ingest", "ask", "read_all", "admin"})
PREFIX = "vg_"
"""Makes a token recognisable to secret scanners."""
_NO_DIGEST = "-" * 64
_TIMES = ("created_at", "expires_at", "rotated_at", "before_until")
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
    created_at: datetime
    expires_at: datetime | None
    rotated_at: datetime | None = None
    """When it last got a new secret."""
    before: str | None = field(default=None, repr=False)
    """sha256 of the secret before that one."""
    before_until: datetime | None = None
    """Until when that is taken, too."""
    may_act_for: frozenset[str] = frozenset()
    """Of a file from before leave to ask for others was recorded in the graph: moved there when the service starts
    (`service/api/old_leave.py`), and opens nothing as it stands here."""
    account: str | None = None
    """Id of the account that it was given to, where `subject` was emptied, since they are erased; None: as those name it."""

    @property
    def principal(self) -> Principal:
        return Principal(self.account or account_id(self.space, self.issuer, self.subject), self.person_id, scopes=self.scopes)

    def is_live(self, now: datetime) -> bool:
        return self.expires_at is None or now < self.expires_at


def account_id(space: str, issuer: str, subject: str) -> str:
    """Id of the Account that `issuer` and `subject` name."""
    return id_of_account(space, AccountKey(issuer, subject))


def parse(text: str, *, path: Path) -> tuple[TokenEntry, ...]:
    """The entries of a tokens file; raises TokensUnreadable naming what is wrong, never quoting it."""
    try:
        return tuple(_entry(raw) for raw in json.loads(text)["tokens"])
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise TokensUnreadable(path=path, problem=f"is not a tokens file ({type(error).__name__})") from None


def match(entries: Sequence[TokenEntry], token: str, now: datetime) -> TokenEntry | None:
    """The live entry of `token`. Compares with every entry in constant time, so timing tells nothing."""
    digest = _digest(token)
    found = None
    for entry in entries:
        is_it, was_it = hmac.compare_digest(entry.sha256, digest), hmac.compare_digest(entry.before or _NO_DIGEST, digest)
        if is_it or (was_it and entry.before_until is not None and now < entry.before_until):
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
        created_at=datetime.now(UTC),
        expires_at=expires_at,
    )
    with replaced(path):
        _write(path, (*TokenFile(path).entries(), entry))
    return token, entry


def revoke(path: Path, token_id: str) -> TokenEntry:
    """Takes effect at the next request; raises NoSuchToken."""
    with replaced(path):
        entries = TokenFile(path).entries()
        gone = next((e for e in entries if e.id == token_id), None)
        if gone is None:
            raise NoSuchToken(id=token_id)
        _write(path, tuple(e for e in entries if e.id != token_id))
    return gone


def rotate(path: Path, token_id: str, *, overlap: timedelta) -> tuple[str, TokenEntry]:
    """A new secret for the same token: whose it is and what it may do stay. The one before is taken for `overlap` more. Raises
    NoSuchToken."""
    token, now = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES), datetime.now(UTC)
    with replaced(path):
        entries = TokenFile(path).entries()
        entry = next((e for e in entries if e.id == token_id), None)
        if entry is None:
            raise NoSuchToken(id=token_id)
        before = (entry.sha256, now + overlap) if overlap else (None, None)
        new = replace(entry, sha256=_digest(token), rotated_at=now, before=before[0], before_until=before[1])
        _write(path, tuple(new if e.id == token_id else e for e in entries))
    return token, new


def drop_old_leave(path: Path) -> None:
    """No token says any more for whom it may ask."""
    with replaced(path):
        entries = TokenFile(path).entries()
        if any(entry.may_act_for for entry in entries):
            _write(path, tuple(replace(entry, may_act_for=frozenset()) for entry in entries))


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
            "may_act_for": frozenset(raw.get("may_act_for", ())),
            **{name: raw.get(name) and datetime.fromisoformat(raw[name]) for name in _TIMES},
        }
    )
    digests = [entry.sha256, *([entry.before] if entry.before is not None else [])]
    if entry.scopes - SCOPES or any(len(one) != len(_NO_DIGEST) for one in digests):
        raise ValueError(entry.id)
    if entry.expires_at is not None and entry.expires_at.tzinfo is None:
        return replace(entry, expires_at=entry.expires_at.replace(tzinfo=UTC))
    return entry


def _raw(entry: TokenEntry) -> dict[str, Any]:
    return {
        **asdict(entry),
        "scopes": sorted(entry.scopes),
        "may_act_for": sorted(entry.may_act_for),
        **{name: moment and moment.isoformat() for name in _TIMES for moment in [getattr(entry, name)]},
    }


def _write(path: Path, entries: Sequence[TokenEntry]) -> None:
    write_whole(path, {"version": 1, "tokens": [_raw(e) for e in entries]})
