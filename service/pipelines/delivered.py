"""What of a delivery is kept so that it can be read again, and by what is a repeat known?"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from service.connectors.live import Delivery, Read
from service.connectors.live.signatures import TOKEN
from service.connectors.live.sources import Source
from service.graph.deliveries import NewDelivery, StoredDelivery

KEPT_HEADERS = re.compile(r"content-type|[a-z0-9-]+-(id|timestamp|event|type)")
"""What connectors read: kinds of content and events, ids and times of deliveries."""
MAY_BE_SECRET = re.compile(r"secret|token|key|sig|auth|pass|cookie")
"""Parts of names of headers and parameters."""
MAX_VALUE = 500
"""Characters of a header or parameter; longer ones are no ids."""
SOUND_FIELDS = frozenset({"audio", "buffer", "chunk", "data", "payload", "pcm"})
"""What the providers' messages have sound in, as text in base64: there other events have objects, or nothing."""
SAMPLES = 64
"""Numbers in a row: no field that we know has more, of what is not sound."""
BASE64 = re.compile(r"[A-Za-z0-9+/_=-]{256}")
"""Without a blank: what was said has some, and sound of a hundredth of a second at 8 kHz is about as long."""
LIKE_SOUND = re.compile(
    rf"""[A-Za-z0-9+/_=\\-]{{256}}|["'](?:{"|".join(sorted(SOUND_FIELDS))})["']\s*:\s*(?:b?["']|\[\s*-?\d)"""
    rf"""|(?:-?\d[\d.eE+-]*\s*,\s*){{{SAMPLES}}}"""
)
"""In what is no JSON, as of a message that was cut short."""


def harmless(delivery: Delivery, secrets: Sequence[str]) -> Delivery:
    """Once it is proved, without what proved it: what is read now is what is kept and read again."""
    headers = ((name, value) for name, value in delivery.headers.items() if KEPT_HEADERS.fullmatch(name))
    query = None if delivery.query is None else _harmless(delivery.query.items(), secrets)
    return replace(delivery, headers=_harmless(headers, secrets), query=query)


def new_delivery(source: Source, delivery: Delivery, read: Read) -> NewDelivery:
    """As it goes into the inbox; `delivery` is harmless."""
    return NewDelivery(
        space=source.space,
        source=source.name,
        provider=source.provider,
        meeting=read.meeting,
        key=repeat_key(delivery, read),
        body=delivery.body,
        received_at=delivery.received_at,
        headers=delivery.headers,
        query=delivery.query,
        carried=delivery.carried,
        binary=delivery.binary,
        connection=delivery.connection,
        opened_at=delivery.opened_at,
    )


def as_delivery(stored: StoredDelivery) -> Delivery:
    """As its connector reads it, once more; its body was kept."""
    assert stored.body is not None
    return Delivery(
        headers=stored.headers,
        body=stored.body,
        received_at=stored.received_at,
        binary=stored.binary,
        connection=stored.connection,
        opened_at=stored.opened_at,
        query=stored.query,
        carried=stored.carried,
    )


def may_hold_sound(delivery: Delivery) -> bool:
    """Whether what cannot be read may be sound, or have some in it: what is no text, a field in which sound stands, whatever
    is wrong with it, or what looks like it anywhere else."""
    try:
        text = delivery.body.decode()
    except UnicodeDecodeError:
        return True
    if delivery.binary:
        return True
    try:
        return _holds_sound(json.loads(text))
    except (ValueError, RecursionError):
        return LIKE_SOUND.search(text) is not None


def _holds_sound(value: object) -> bool:
    """Raises RecursionError."""
    match value:
        case str():
            return BASE64.search(value) is not None
        case list():
            return (len(value) > SAMPLES and all(map(_is_number, value))) or any(map(_holds_sound, value))
        case dict():
            return any(name in SOUND_FIELDS and _is_raw(one) for name, one in value.items()) or any(
                map(_holds_sound, value.values())
            )
    return False


def _is_raw(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(map(_is_number, value)))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def repeat_key(delivery: Delivery, read: Read) -> str:
    """The provider's id of the delivery where a repeat has the same; else of all that it says, and on a connection that it was
    said on this one: labels and times may begin anew on each. Of one meeting: the same said of another is no repeat."""
    meeting = read.meeting or ""
    if read.delivery_key is not None:
        return _digest(["id", meeting, read.delivery_key])
    carried = sorted((delivery.carried or {}).items())
    body = hashlib.sha256(delivery.body).hexdigest()
    return _digest(["body", meeting, delivery.connection, str(delivery.binary), json.dumps(carried), body])


def unread_key(delivery: Delivery) -> str:
    """Of what cannot be read: all that reading it takes, on whatever connection it came. Whoever is refused connects again and
    sends the same."""
    told = [json.dumps(sorted((some or {}).items())) for some in (delivery.query, delivery.carried)]
    body = hashlib.sha256(delivery.body).hexdigest()
    return _digest(["unread", str(delivery.binary), *told, body])


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\x1f".join(parts).encode(errors="surrogatepass")).hexdigest()


def _harmless(named: Iterable[tuple[str, str]], secrets: Sequence[str]) -> Mapping[str, str]:
    return {
        name: value
        for name, value in named
        if len(value) <= MAX_VALUE
        and not MAY_BE_SECRET.search(name.lower())
        and not any(secret.removeprefix(TOKEN) in value for secret in secrets)
    }
