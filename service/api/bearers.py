"""Who holds this token of an identity provider? Proved with the issuer's keys, for us, and for now; then an account like any
other: whose it is, somebody said (`voicegraph people account bind`), never the token itself.

Looking one up waits for nothing: what must be fetched for it, `prepare` has fetched before. What a token says of itself (where
its key is, or the key itself) is not looked at."""

from __future__ import annotations

import hashlib
import json
import logging
import math
from base64 import urlsafe_b64decode
from binascii import Error as NotBase64
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import jwt

from service.api.issuers import Issuer, Issuers
from service.api.key_sets import KeySets, VerifyKey
from service.api.tokens import PREFIX, TokenEntry
from service.errors import VoicegraphError
from service.types.ids import derived

_log = logging.getLogger("voicegraph.api")

MAX_TOKEN = 16 * 1024
"""Characters; with a hundred groups in it a token has some 6,000."""
MAX_SUBJECT = 255
"""Characters (OpenID Connect Core §2)."""
MAX_REMEMBERED = 1_000
"""Tokens that were proved: that takes some 200 µs each, looking it up again 20, and each field of a request asks who asks."""


class TokenExpired(VoicegraphError):
    code = "token_expired"
    says = "The bearer token has expired. Get a new one from who issued it."
    http_status = 401


@dataclass(frozen=True, slots=True)
class _Said:
    """What a token says before it is proved."""

    algorithm: str
    key_id: str | None
    type: str | None
    issuer: str


@dataclass(frozen=True, slots=True)
class _Proved:
    issuer: Issuer
    key: VerifyKey
    entry: TokenEntry


def is_issuers(entry_id: str | None) -> bool:
    """Whether this is the id of what an issuer's token gives: the issuer's name, and whose it is there."""
    return ":" in (entry_id or "")


def looks_signed(token: str) -> bool:
    """Whether it has the form of a JSON Web Token in the compact form; ours have no dots."""
    return token.count(".") == 2 and not token.startswith(PREFIX) and len(token) <= MAX_TOKEN


class Bearers:
    """One a process."""

    def __init__(self, issuers: Issuers, keys: KeySets) -> None:
        self.issuers, self.keys = issuers, keys
        self._proved: OrderedDict[bytes, _Proved] = OrderedDict()

    async def prepare(self, token: str | None) -> None:
        """Have its issuer's keys fetched, where its own is not known. Raises IssuerUnreachable, IssuersUnreadable."""
        said = _said(token) if token is not None and looks_signed(token) else None
        issuer = self.issuers.find(said.issuer) if said else None
        if said is not None and issuer is not None and said.algorithm in issuer.algorithms:
            await self.keys.look_for(issuer, said.key_id)

    def find(self, token: str) -> TokenEntry | None:
        """The account that holds it, as of now. Raises TokenExpired for one that was right until then, IssuersUnreadable."""
        said = _said(token) if looks_signed(token) else None
        issuer = self.issuers.find(said.issuer) if said else None
        if said is None or issuer is None:
            return None
        key = _key_for(said, issuer, self.keys.known(issuer))
        if key is None:
            return None
        entry = self._entry(token, issuer, key, said.algorithm)
        if entry is not None and not entry.is_live(datetime.now(UTC)):
            raise TokenExpired()
        return entry

    def _entry(self, token: str, issuer: Issuer, key: VerifyKey, algorithm: str) -> TokenEntry | None:
        digest = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        known = self._proved.get(digest)
        if known is not None and known.issuer == issuer and known.key.key == key.key:
            self._proved.move_to_end(digest)
            return known.entry
        try:
            entry = proved(token, issuer, key, algorithm)
        except NotProved as error:
            _log.info("a token of issuer %s was not taken: %s", issuer.name, error)
            return None
        self._proved[digest] = _Proved(issuer, key, entry)
        if len(self._proved) > MAX_REMEMBERED:
            self._proved.popitem(last=False)
        return entry


class NotProved(Exception):
    """The token is not what it would have to be; `str` is why, in one word, for our log."""


def proved(token: str, issuer: Issuer, key: VerifyKey, algorithm: str) -> TokenEntry:
    """What the token gives, its signature, issuer, audience and begin checked; when it ends stands in the entry, with the
    leeway. Raises NotProved."""
    if algorithm not in issuer.algorithms or algorithm not in key.algorithms:
        raise NotProved("algorithm")
    try:
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[algorithm],
            audience=issuer.audience,
            issuer=issuer.issuer,
            leeway=issuer.leeway,
            options={"require": ["exp", "iss", "aud", "sub"], "verify_exp": False},
        )
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise NotProved(type(error).__name__) from None
    return _entry_of(claims, issuer)


def _entry_of(claims: Mapping[str, Any], issuer: Issuer) -> TokenEntry:
    subject, space = claims["sub"], _space(claims, issuer)
    if not isinstance(subject, str) or not 0 < len(subject.strip()) <= MAX_SUBJECT or subject != subject.strip():
        raise NotProved("subject")
    if space is None:
        raise NotProved("space")
    issued = claims.get("iat")
    return TokenEntry(
        id=f"{issuer.name}:{derived('bearer', space, issuer.issuer, subject)}",
        sha256="",
        issuer=issuer.issuer,
        subject=subject,
        space=space,
        scopes=_scopes(claims, issuer),
        person_id=None,
        created_at=datetime.now(UTC) if issued is None else _moment(issued),
        expires_at=_moment(claims["exp"], issuer.leeway),
    )


def _space(claims: Mapping[str, Any], issuer: Issuer) -> str | None:
    if issuer.space_claim is None:
        return issuer.space
    said = claim(claims, issuer.space_claim)
    return issuer.spaces.get(said) if isinstance(said, str) else None


def _scopes(claims: Mapping[str, Any], issuer: Issuer) -> frozenset[str]:
    said = claim(claims, issuer.scopes_claim) if issuer.scopes_claim else None
    words = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
    return issuer.scopes.union(*(issuer.scopes_of.get(word, frozenset()) for word in words if isinstance(word, str)))


def claim(claims: Mapping[str, Any], name: str) -> Any:
    """The claim of this name; else, where the name has dots, what lies below: `realm_access.roles`. None: there is none."""
    if name in claims:
        return claims[name]
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _moment(seconds: object, leeway: float = 0.0) -> datetime:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not math.isfinite(seconds):
        raise NotProved("time")
    try:
        return datetime.fromtimestamp(seconds + leeway, UTC)
    except (OverflowError, ValueError, OSError):
        raise NotProved("time") from None


def _key_for(said: _Said, issuer: Issuer, keys: tuple[VerifyKey, ...]) -> VerifyKey | None:
    """The key that the token names, for the algorithm that it names; where it names none, the only one there is for that."""
    if said.algorithm not in issuer.algorithms or not _is_of_type(said.type, issuer.token_type):
        return None
    fit = [key for key in keys if said.algorithm in key.algorithms and said.key_id in (None, key.id)]
    return fit[0] if len(fit) == 1 else None


def _is_of_type(said: str | None, wanted: str | None) -> bool:
    """RFC 9068 §4: with or without `application/`, in any case."""
    return wanted is None or (said or "").lower().removeprefix("application/") == wanted.lower().removeprefix("application/")


def _said(token: str) -> _Said | None:
    try:
        header, claims = (_part(one) for one in token.split(".")[:2])
    except (ValueError, NotBase64, RecursionError):
        return None
    algorithm, key_id, kind, issuer = header.get("alg"), header.get("kid"), header.get("typ"), claims.get("iss")
    if not isinstance(algorithm, str) or not isinstance(issuer, str) or not isinstance(key_id, str | None):
        return None
    return _Said(algorithm, key_id, kind if isinstance(kind, str) else None, issuer)


def _part(text: str) -> dict[str, Any]:
    found = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found
