"""Is a delivery from whoever has the secret, and is it of now? One way of signing each, shared by the connectors that use it.

Every secret of a source is tried, whichever fits, and compared in constant time; several hold while they are being changed. A
source without secrets lets nothing in. A delivery's age is against when it was received, so that asking again tells the same.
Of each way, `*_headers` is the other side: what the sender sends, for the replay tool, our own webhooks and the tests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from service.connectors.live import Delivery, SignatureWrong
from service.errors import VoicegraphError

WINDOW = 300.0
"""Seconds that a delivery's time may differ from ours, either way: what Standard Webhooks and Zoom recommend."""
MAX_SIGNATURES = 16
"""In one header: while a secret is changed there are two. More cost time and prove nothing."""
WHSEC = "whsec_"
TOKEN = "token:"
"""Begins a secret that is sent as it is, where a source has others that sign."""

Mac = Callable[[bytes], bytes]


class SecretUnusable(VoicegraphError):
    code = "secret_unusable"
    says = (
        "Secret {number} of the source {source}, of those that do not begin with `token:`, cannot be used: {why}. Correct it; "
        "until then no delivery can be proved."
    )
    http_status = 503


# ---- id.timestamp.body: Standard Webhooks (standardwebhooks.com, spec 1.0.0; svix before it)


def verify_webhook_id(
    delivery: Delivery,
    secrets: Sequence[str],
    *,
    source: str,
    prefixes: Sequence[str] = ("webhook-", "svix-"),
    window: float = WINDOW,
) -> None:
    """`<prefix>signature` is a blank-separated list of `v1,<base64>`; secrets are base64 after `whsec_`.

    Raises SignatureWrong, SecretUnusable."""
    prefix = next((p for p in prefixes if f"{p}signature" in delivery.headers), prefixes[0])
    id, timestamp = (_header(delivery, f"{prefix}{name}", source) for name in ("id", "timestamp"))
    given = _header(delivery, f"{prefix}signature", source).split()
    _not_too_old(timestamp, delivery.received_at, source=source, window=window)
    signed = b".".join((_bytes(id), _bytes(timestamp), delivery.body))
    _compare([part[3:] for part in given if part.startswith("v1,")], signed, _keys(secrets, source, decoded), _base64, source)


def webhook_id_headers(secret: str, *, id: str, at: datetime, body: bytes, prefix: str = "webhook-") -> dict[str, str]:
    """What a sender of Standard Webhooks sends with `body`. Raises SecretUnusable."""
    timestamp = str(int(at.timestamp()))
    (key,) = _keys([secret], "", decoded)
    signature = _base64(_mac(key, b".".join((_bytes(id), _bytes(timestamp), body))))
    return {f"{prefix}id": id, f"{prefix}timestamp": timestamp, f"{prefix}signature": f"v1,{signature.decode()}"}


# ---- timestamp and body: Vexa, Daily, Zoom


def verify_timestamp_body(
    delivery: Delivery,
    secrets: Sequence[str],
    *,
    source: str,
    header: str = "x-webhook-signature",
    timestamp_header: str = "x-webhook-timestamp",
    prefix: str = "sha256=",
    before: str = "",
    joint: str = ".",
    encoded: Callable[[bytes], bytes] = binascii.hexlify,
    key: Callable[[str], bytes] = str.encode,
    per_second: int = 1,
    window: float = WINDOW,
) -> None:
    """HMAC-SHA256 of `before` + timestamp + `joint` + body; the header is `prefix` and that, `encoded`.

    Zoom's has `before="v0:"`, `joint=":"`, `prefix="v0="`. `key` makes the key of a secret; `per_second`: 1000 where the
    timestamp is in milliseconds. Raises SignatureWrong, SecretUnusable."""
    timestamp = _header(delivery, timestamp_header, source)
    given = _header(delivery, header, source)
    _not_too_old(timestamp, delivery.received_at, source=source, window=window, per_second=per_second)
    signed = _bytes(before) + _bytes(timestamp) + _bytes(joint) + delivery.body
    _compare(_without(prefix, [given]), signed, _keys(secrets, source, key), encoded, source)


def timestamp_body_headers(
    secret: str,
    *,
    at: datetime,
    body: bytes,
    header: str = "x-webhook-signature",
    timestamp_header: str = "x-webhook-timestamp",
    prefix: str = "sha256=",
    before: str = "",
    joint: str = ".",
    encoded: Callable[[bytes], bytes] = binascii.hexlify,
    key: Callable[[str], bytes] = str.encode,
    per_second: int = 1,
) -> dict[str, str]:
    """The other side of `verify_timestamp_body`. Raises SecretUnusable."""
    timestamp = str(int(at.timestamp() * per_second))
    (own,) = _keys([secret], "", key)
    signature = encoded(_mac(own, _bytes(before) + _bytes(timestamp) + _bytes(joint) + body))
    return {timestamp_header: timestamp, header: prefix + signature.decode()}


# ---- the body alone: Fireflies


def verify_body(
    delivery: Delivery, secrets: Sequence[str], *, source: str, header: str = "x-hub-signature", prefix: str = "sha256="
) -> None:
    """Hex. Nothing tells how old it is: a repeat is known by what it says. Raises SignatureWrong, SecretUnusable."""
    given = _header(delivery, header, source)
    _compare(_without(prefix, [given]), delivery.body, _keys(secrets, source, str.encode), binascii.hexlify, source)


def body_headers(secret: str, *, body: bytes, header: str = "x-hub-signature", prefix: str = "sha256=") -> dict[str, str]:
    """The other side of `verify_body`. Raises SecretUnusable."""
    (key,) = _keys([secret], "", str.encode)
    return {header: prefix + binascii.hexlify(_mac(key, body)).decode()}


# ---- what the body says, however it is written: Attendee


def verify_canonical_json(
    delivery: Delivery, secrets: Sequence[str], *, source: str, header: str = "x-webhook-signature"
) -> None:
    """Base64, of the body read and written again as `canonical` does: what was signed are not the bytes that were sent. Secrets
    are base64. Nothing tells how old it is. Raises SignatureWrong, SecretUnusable."""
    given = _header(delivery, header, source)
    try:
        signed = canonical(json.loads(delivery.body))
    except (ValueError, RecursionError) as problem:
        raise SignatureWrong(source=source, why="the body is no JSON, which is what is signed") from problem
    _compare([given], signed, _keys(secrets, source, decoded), _base64, source)


def canonical_json_headers(secret: str, *, body: bytes, header: str = "x-webhook-signature") -> dict[str, str]:
    """The other side of `verify_canonical_json`. Raises SecretUnusable."""
    (key,) = _keys([secret], "", decoded)
    return {header: _base64(_mac(key, canonical(json.loads(body)))).decode()}


def canonical(document: Any) -> bytes:
    """JSON with sorted keys, without blanks, letters as they are, UTF-8: what Attendee signs. Raises ValueError for a letter
    that no UTF-8 has."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


# ---- JWT with the body's SHA-256: LiveKit


def verify_jwt(
    delivery: Delivery, secrets: Sequence[str], *, source: str, header: str = "authorization", leeway: float = 60.0
) -> None:
    """HS256; the claim `sha256` is the body's, base64. A secret is `<API key>:<secret>`, and the claim `iss` that key; or the
    secret alone. `leeway`: seconds that clocks may differ. Raises SignatureWrong, SecretUnusable."""
    token = _header(delivery, header, source).removeprefix("Bearer ").strip()
    signed, _, signature = token.rpartition(".")
    head, _, claims = signed.partition(".")
    if _json_part(head, source).get("alg") != "HS256":
        raise SignatureWrong(source=source, why="its token is not signed with HS256", whatever_body=True)
    pairs = [secret.rpartition(":") for secret in secrets]
    issuers = [issuer for issuer, _, _ in pairs]
    fits = _fitting([signature], _bytes(signed), _keys([key for *_, key in pairs], source, str.encode), _base64url)
    said = _json_part(claims, source) if any(fits) else {}
    issuer_fits = any(fit and (not issuer or issuer == said.get("iss")) for fit, issuer in zip(fits, issuers, strict=True))
    digest = _base64(hashlib.sha256(delivery.body).digest())
    if not issuer_fits or not hmac.compare_digest(_bytes(str(said.get("sha256"))), digest):
        raise SignatureWrong(source=source, why="no secret of the source fits")
    now = delivery.received_at.timestamp()
    if not _number(said.get("nbf"), 0.0) - leeway <= now <= _number(said.get("exp"), -1.0) + leeway:
        raise SignatureWrong(source=source, why="its token is not of now")


def jwt_headers(
    secret: str, *, at: datetime, body: bytes, lasts: float = WINDOW, header: str = "authorization"
) -> dict[str, str]:
    """The other side of `verify_jwt`; `lasts`: seconds. Raises SecretUnusable."""
    issuer, _, key = secret.rpartition(":")
    (own,) = _keys([key], "", str.encode)
    now = int(at.timestamp())
    claims = {"iss": issuer, "nbf": now, "exp": int(now + lasts), "sha256": _base64(hashlib.sha256(body).digest()).decode()}
    signed = b".".join(_base64url(canonical(part)) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return {header: (signed + b"." + _base64url(_mac(own, signed))).decode()}


# ---- the secret itself: MeetingBaas v1, and sockets that cannot sign


def verify_shared_secret(
    delivery: Delivery,
    secrets: Sequence[str],
    *,
    source: str,
    header: str | None = None,
    scheme: str = "",
    parameter: str | None = None,
) -> None:
    """In a header, after `scheme` ("Bearer "), or in the URL's query, where the provider lets nothing else be set. Whoever
    reads one delivery can send others, and a URL is written into logs: what can sign should.

    Raises SignatureWrong, SecretUnusable."""
    given = [delivery.headers[header]] if header is not None and header in delivery.headers else []
    given = _without(scheme, given)
    if not given and parameter is not None and delivery.query is not None:
        given = [value for name, value in delivery.query.items() if name == parameter]
    if not given:
        places = [f"the header {header}" if header else "", f"{parameter} in the URL" if parameter else ""]
        raise SignatureWrong(
            source=source, why=f"{' or '.join(place for place in places if place)} is missing", whatever_body=True
        )
    # equal lengths, whatever the secret's: the comparison's time then says nothing of it
    fits = [
        hmac.compare_digest(hashlib.sha256(_bytes(value)).digest(), hashlib.sha256(key).digest())
        for key in _keys(secrets, source, str.encode)
        for value in given
    ]
    if not any(fits):
        raise SignatureWrong(source=source, why="no secret of the source fits", whatever_body=True)


# ---- what they share


def by_use(secrets: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those that sign, and those that are sent as they are, without their `token:`: a source may have both, for its webhooks
    and for its sockets, and what is sent as it is must not be able to sign."""
    sent = [secret.removeprefix(TOKEN) for secret in secrets if secret.startswith(TOKEN)]
    return [secret for secret in secrets if not secret.startswith(TOKEN)], sent


def check_secrets(verify: Callable[..., None], secrets: Sequence[str], *, source: str, at: datetime) -> None:
    """Whether `verify`, a connector's, can use them, tried with a delivery that is signed in every way and in none rightly.

    Raises SecretUnusable."""
    signing, _ = by_use(secrets)
    ids = {f"{prefix}{name}": "0" for prefix in ("webhook-", "svix-") for name in ("id", "signature")}
    names = ("webhook-timestamp", "svix-timestamp", "x-webhook-timestamp", "x-zm-request-timestamp")
    times = {name: f"{int(at.timestamp())}" for name in names}
    others = {"x-webhook-signature": "0", "x-hub-signature": "0", "x-zm-signature": "0"}
    token = ".".join((_base64url(b'{"alg":"HS256"}').decode(), "e30", "0"))
    headers = {**ids, **times, **others, "authorization": token}
    try:
        if signing:
            verify(Delivery(headers, b"{}", at), signing, source=source)
    except SignatureWrong:
        return


def decoded(secret: str) -> bytes:
    """The key of a base64 secret, with or without `whsec_`. Raises ValueError."""
    return base64.b64decode(secret.removeprefix(WHSEC), validate=True)


def _keys(secrets: Sequence[str], source: str, key: Callable[[str], bytes]) -> list[bytes]:
    """Raises SecretUnusable: an empty key would let in whoever knows how signing works."""
    if not secrets:
        raise SecretUnusable(number=1, source=source, why="there is none")
    keys = []
    for number, secret in enumerate(secrets, start=1):
        try:
            keys.append(key(secret))
        except ValueError as problem:
            raise SecretUnusable(
                number=number, source=source, why=f"it is no {'base64' if key is decoded else 'text'}"
            ) from problem
        if not keys[-1]:
            raise SecretUnusable(number=number, source=source, why="it is empty")
    return keys


def _compare(
    given: Iterable[str], signed: bytes, keys: Sequence[bytes], encoded: Callable[[bytes], bytes], source: str
) -> None:
    if not any(_fitting(given, signed, keys, encoded)):
        raise SignatureWrong(source=source, why="no secret of the source fits")


def _fitting(given: Iterable[str], signed: bytes, keys: Sequence[bytes], encoded: Callable[[bytes], bytes]) -> list[bool]:
    """Of each key whether one of `given` is its signature. All are compared, also after one that fits."""
    candidates = [_bytes(signature) for signature in given][:MAX_SIGNATURES]
    expected = [encoded(_mac(key, signed)) for key in keys]
    return [any([hmac.compare_digest(candidate, own) for candidate in candidates]) for own in expected]


def _not_too_old(timestamp: str, received_at: datetime, *, source: str, window: float, per_second: int = 1) -> None:
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 16):
        raise SignatureWrong(source=source, why="its timestamp is no number", whatever_body=True)
    age = received_at.timestamp() - int(timestamp) / per_second
    if abs(age) > window:
        when = "old" if age > 0 else "ahead of this machine's clock"
        why = f"it is {abs(age):.0f} s {when}; at most {window:.0f} s are allowed"
        raise SignatureWrong(source=source, why=why, whatever_body=True)


def _header(delivery: Delivery, name: str, source: str) -> str:
    value = delivery.headers.get(name)
    if value is None:
        raise SignatureWrong(source=source, why=f"the header {name} is missing", whatever_body=True)
    return value


def _json_part(part: str, source: str) -> Mapping[str, Any]:
    try:
        document = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True))
    except (ValueError, RecursionError) as problem:
        raise SignatureWrong(source=source, why="its token is no JWT", whatever_body=True) from problem
    if not isinstance(document, dict):
        raise SignatureWrong(source=source, why="its token is no JWT")
    return document


def _number(value: object, otherwise: float) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _without(prefix: str, given: Iterable[str]) -> list[str]:
    """What stands behind `prefix`, of those that have it."""
    return [value[len(prefix) :] for value in given if value.startswith(prefix)]


def _mac(key: bytes, signed: bytes) -> bytes:
    return hmac.digest(key, signed, "sha256")


def _base64(data: bytes) -> bytes:
    return base64.b64encode(data)


def _base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _bytes(text: str) -> bytes:
    """Of a header, whatever it holds: what cannot be written is compared and found wrong, not a crash."""
    return text.encode("utf-8", "surrogatepass")
