"""What proves that something was erased? A document that says what, when and how much of it, signed with a key that this
service has in a file of its own (Ed25519, RFC 8032; mode 0600). Whoever has the public key verifies it without the database.

Ed25519 and no shared secret: who is shown a receipt must be able to check it, and nobody to make one."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from service.errors import VoicegraphError
from service.pipelines import key_files
from service.types.erasure import OWN_TEXTS, OWN_VECTORS, Erasure, Probe, Receipt, SubjectKind

VERSION = 1
"""Of the document's form."""
WITH_ITS_OWN = "some of the words and vectors that it held itself, directions at random, ids and names"
WITHOUT_ITS_OWN = (
    "ids, names and directions at random alone: it held no words and no vectors, or the process that read them ended before"
)
"""What the probe asked with: what is erased is kept nowhere but in memory."""


class ReceiptNotGenuine(VoicegraphError):
    code = "receipt_not_genuine"
    says = "This receipt does not prove anything: {problem}."
    http_status = 409


@dataclass(frozen=True, slots=True)
class ReceiptKey:
    private: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> str:
        """Base64 of its 32 bytes: for who verifies."""
        return base64.b64encode(self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()

    @property
    def id(self) -> str:
        """Which key it is."""
        return key_id(self.public)

    def sign(self, document: str) -> str:
        return base64.b64encode(self.private.sign(document.encode())).decode()


def key_id(public: str) -> str:
    return hashlib.sha256(base64.b64decode(public)).hexdigest()[:16]


def load_key(path: Path) -> ReceiptKey:
    """The key in the file, made there when there is none. Raises KeyFileUnusable when others may read it or it is none."""
    return _key(key_files.load_key(path))


def find_key(path: Path) -> ReceiptKey | None:
    """None where no receipt was given here yet. Raises KeyFileUnusable."""
    found = key_files.find_key(path)
    return None if found is None else _key(found)


def _key(private: bytes) -> ReceiptKey:
    return ReceiptKey(Ed25519PrivateKey.from_private_bytes(private))


def signed(erasure: Erasure, probe: Probe, stores: Mapping[str, str], key: ReceiptKey, now: datetime) -> Receipt:
    """`stores`: name of each place where personal data lives → what was done there."""
    document = {
        "version": VERSION,
        "receipt": erasure.id,
        "space": erasure.space,
        "subject": {"kind": erasure.subject.kind.value, "id": erasure.subject.id, "ids": list(_ids(erasure))},
        "asked_by": erasure.asked_by,
        "why": erasure.why,
        "asked_at": erasure.at.isoformat(),
        "completed_at": now.isoformat(),
        "counts": dict(erasure.counts),
        "stores": dict(stores),
        "probe": {
            "found": {name: getattr(probe, name) for name in ("by_id", "by_text", "by_vector", "by_scan")},
            "asked": dict(probe.asked),
            "with": WITH_ITS_OWN if probe.asked.get(OWN_VECTORS, 0) + probe.asked.get(OWN_TEXTS, 0) else WITHOUT_ITS_OWN,
        },
        "key": key.public,
    }
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return Receipt(
        id=erasure.id,
        space=erasure.space,
        subject=erasure.subject,
        asked_by=erasure.asked_by,
        asked_at=erasure.at,
        completed_at=now,
        counts=erasure.counts,
        document=text,
        signature=key.sign(text),
        key=key.public,
    )


def _ids(erasure: Erasure) -> tuple[str, ...]:
    return erasure.people if erasure.subject.kind is SubjectKind.PERSON else ()


def portable(receipt: Receipt) -> dict[str, Any]:
    """As it is handed out, and `verified` takes it."""
    return {"document": receipt.document, "signature": receipt.signature, "key": receipt.key}


def verified(told: Mapping[str, Any], public: str | None = None) -> dict[str, Any]:
    """The document of a handed-out receipt, if it is genuine. `public`: the key that it must be signed with, base64; without,
    that it was not changed since whoever had the key named in it signed it. Raises ReceiptNotGenuine."""
    try:
        document, signature, key = str(told["document"]), base64.b64decode(str(told["signature"])), str(told["key"])
        read: dict[str, Any] = json.loads(document)
        verifier = Ed25519PublicKey.from_public_bytes(base64.b64decode(public or key))
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise ReceiptNotGenuine(problem=f"it is not in the form of one ({type(error).__name__})") from error
    if not isinstance(read, dict) or read.get("key") != (public or key):
        raise ReceiptNotGenuine(problem="it was signed with another key")
    try:
        verifier.verify(signature, document.encode())
    except InvalidSignature as error:
        raise ReceiptNotGenuine(problem="the signature is not over this document") from error
    return read


def read_receipt(path: Path) -> dict[str, Any]:
    """A handed-out receipt in a file. Raises ReceiptNotGenuine."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ReceiptNotGenuine(problem="the file is not JSON") from error
    if not isinstance(told, dict):
        raise ReceiptNotGenuine(problem="the file is not a JSON object")
    return told
