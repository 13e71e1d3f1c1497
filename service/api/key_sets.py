"""With which keys are an issuer's tokens proved? Asked for at its own address, kept, and asked for again: in the background
once they are old, at once for a key that is not known yet, and never more often than every half minute, whatever tokens say.

While the issuer is away the keys that are known go on being taken, for a day."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from jwt.exceptions import InvalidKeyError

from service.api.issuers import Issuer, is_address, is_here
from service.errors import VoicegraphError

_log = logging.getLogger("voicegraph.api")

PublicKey = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey
_EC = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")


class IssuerUnreachable(VoicegraphError):
    code = "issuer_unreachable"
    says = "The keys of the issuer {issuer} cannot be had now, and this token's is not known. Try again in {seconds} s."
    http_status = 503


class KeysNotUsable(Exception):
    """What the issuer answered is no key set; `str` says why, without quoting it."""


@dataclass(frozen=True, slots=True)
class KeysConfig:
    timeout: float = 5.0  # seconds for each of the two documents; a request waits for it once a key
    fresh: float = 600.0  # seconds until keys are asked for anew; providers say between five minutes and a day
    again: float = 30.0  # seconds at least between two askings of one issuer: who sends made-up key ids causes no more
    kept: float = 24 * 3600.0  # seconds that keys hold while the issuer is away; by hand
    max_bytes: int = 256 * 1024  # a set of ten keys with certificates is 30 KB
    max_keys: int = 64
    min_rsa_bits: int = 2048  # NIST SP 800-131A


@dataclass(frozen=True, slots=True)
class VerifyKey:
    id: str | None
    algorithms: frozenset[str]
    """With which its kind may be used; one where the set says which."""
    key: PublicKey


@dataclass(slots=True)
class _Kept:
    """What is known of one issuer's keys; times are of time.monotonic."""

    keys: tuple[VerifyKey, ...] = ()
    got: float = float("-inf")
    tried: float = float("-inf")
    problem: str | None = None
    """Of the last asking."""
    task: asyncio.Task[None] | None = field(default=None, repr=False)


def parse_keys(document: object, config: KeysConfig = KeysConfig()) -> tuple[VerifyKey, ...]:
    """The keys of a set (RFC 7517) that tokens can be proved with. Left out: those for something else, of a kind that is not
    taken, too short, and private or shared ones, which should not be there. None, where no key in it is such a one: so does an
    issuer take back those it had. Raises KeysNotUsable for what is no set."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise KeysNotUsable("it is no key set")
    return tuple(key for one in listed[: config.max_keys] if isinstance(one, dict) and (key := _key(one, config)))


def _key(jwk: Mapping[str, Any], config: KeysConfig) -> VerifyKey | None:
    operations = jwk.get("key_ops")
    if jwk.get("use", "sig") != "sig" or "d" in jwk or (isinstance(operations, list) and "verify" not in operations):
        return None
    id = jwk.get("kid")
    try:
        match jwk.get("kty"), jwk.get("crv"):
            case "RSA", _:
                key: Any = RSAAlgorithm.from_jwk(dict(jwk))
                algorithms = frozenset(_RSA) if key.key_size >= config.min_rsa_bits else frozenset()
            case "EC", str(curve) if curve in _EC:
                key, algorithms = ECAlgorithm.from_jwk(dict(jwk)), frozenset({_EC[curve]})
            case "OKP", "Ed25519":
                key, algorithms = OKPAlgorithm.from_jwk(dict(jwk)), frozenset({"EdDSA"})
            case _:
                return None
    except (InvalidKeyError, ValueError, TypeError, KeyError):  # not a key, whatever it says
        return None
    if "alg" in jwk:
        algorithms &= {"EdDSA" if jwk["alg"] == "Ed25519" else str(jwk["alg"])}
    return VerifyKey(id if isinstance(id, str) else None, algorithms, key) if algorithms else None


@cache
def _tls() -> ssl.SSLContext:
    """The usual authorities, or those that SSL_CERT_FILE names; reading them takes 20 ms."""
    return httpx.create_ssl_context()


class KeySets:
    """Of all issuers; one a process."""

    def __init__(self, config: KeysConfig | None = None) -> None:
        self.config = config or KeysConfig()
        self._kept: dict[tuple[str, str | None], _Kept] = {}

    def known(self, issuer: Issuer) -> tuple[VerifyKey, ...]:
        """Those that are had, and not longer than they may be kept. Old ones are asked for again beside it."""
        kept = self._of(issuer)
        now = time.monotonic()
        if now - kept.got > self.config.fresh and now - kept.tried > self.config.again and kept.keys:
            self._ask(issuer, kept)
        return kept.keys if now - kept.got <= self.config.kept else ()

    async def look_for(self, issuer: Issuer, key_id: str | None) -> None:
        """Ask for the keys where this one is not known, unless that was done a moment ago. Raises IssuerUnreachable."""
        kept = self._of(issuer)
        if self._has(issuer, key_id):
            return
        wait = kept.tried + self.config.again - time.monotonic()
        if kept.task is None and wait <= 0:
            self._ask(issuer, kept)
        if kept.task is not None:
            await asyncio.shield(kept.task)
        if kept.problem is not None and not self._has(issuer, key_id):
            wait = kept.tried + self.config.again - time.monotonic()
            raise IssuerUnreachable(issuer=issuer.name, seconds=max(1, round(wait)))

    async def check(self, issuer: Issuer) -> tuple[VerifyKey, ...]:
        """Its keys as they are now, for whoever asks whether it works. Raises KeysNotUsable."""
        keys = await self._fetched(issuer)
        if not keys:
            raise KeysNotUsable("no key in it proves a signature")
        return keys

    def _of(self, issuer: Issuer) -> _Kept:
        return self._kept.setdefault((issuer.issuer, issuer.jwks_uri), _Kept())

    def _has(self, issuer: Issuer, key_id: str | None) -> bool:
        keys = self.known(issuer)
        return bool(keys) if key_id is None else any(key.id == key_id for key in keys)

    def _ask(self, issuer: Issuer, kept: _Kept) -> None:
        if kept.task is None:
            kept.task = asyncio.get_running_loop().create_task(self._renew(issuer, kept))

    async def _renew(self, issuer: Issuer, kept: _Kept) -> None:
        kept.tried = time.monotonic()
        try:
            kept.keys = await self._fetched(issuer)
            kept.got, kept.problem = time.monotonic(), None
            if not kept.keys:
                _log.warning("keys of issuer %s: none is published now that proves a signature", issuer.name)
        except KeysNotUsable as error:
            kept.problem = str(error)
            _log.warning("keys of issuer %s: %s", issuer.name, error)
        finally:
            kept.task = None

    async def _fetched(self, issuer: Issuer) -> tuple[VerifyKey, ...]:
        try:
            tls = _tls()
        except OSError as error:  # so are those of ssl
            raise KeysNotUsable(f"the file of authorities cannot be read ({type(error).__name__})") from None
        async with httpx.AsyncClient(timeout=self.config.timeout, verify=tls, follow_redirects=False, trust_env=False) as http:
            address = issuer.jwks_uri or await self._discovered(http, issuer)
            return parse_keys(await self._document(http, address), self.config)

    async def _discovered(self, http: httpx.AsyncClient, issuer: Issuer) -> str:
        """OpenID Connect Discovery 1.0 §4: the document must name the very issuer that it was asked of."""
        document = await self._document(http, f"{issuer.issuer.rstrip('/')}/.well-known/openid-configuration")
        if not isinstance(document, dict) or document.get("issuer") != issuer.issuer:
            raise KeysNotUsable("its discovery document is another issuer's, or none")
        address = document.get("jwks_uri")
        if not is_address(address, query=True) or (is_here(str(address)) and not is_here(issuer.issuer)):
            raise KeysNotUsable("its discovery document names no address of keys that may be asked")
        return str(address)

    async def _document(self, http: httpx.AsyncClient, address: str) -> object:
        try:
            async with asyncio.timeout(self.config.timeout), http.stream("GET", address) as answer:
                if answer.status_code != 200:
                    raise KeysNotUsable(f"it answered {answer.status_code}")
                body = bytearray()
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) > self.config.max_bytes:
                        raise KeysNotUsable(f"it answered more than {self.config.max_bytes} bytes")
                return json.loads(bytes(body))
        except TimeoutError:
            raise KeysNotUsable("it did not answer in time") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise KeysNotUsable(f"it could not be reached ({type(error).__name__})") from None
        except (ValueError, RecursionError):
            raise KeysNotUsable("what it answered is no JSON") from None
