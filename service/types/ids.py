"""How are things named? Ids we make follow from what they name, so that doing a thing twice makes it once."""

from __future__ import annotations

import hashlib
import uuid

import uuid_utils

_NAMESPACE = uuid.UUID("5f2a7b1e-6b0c-5c0e-9d3f-9a4a3f6c2e10")


def derived(kind: str, *parts: str) -> str:
    """The id of the `kind` that `parts` name: the same parts give the same id (UUIDv5, RFC 9562 §5.5)."""
    digest = hashlib.sha256("\x1f".join((kind, *parts)).encode()).hexdigest()
    return str(uuid.uuid5(_NAMESPACE, digest))


def fresh() -> str:
    """A new id that sorts by time (UUIDv7, RFC 9562 §5.7), for what nothing names yet."""
    return str(uuid_utils.uuid7())
