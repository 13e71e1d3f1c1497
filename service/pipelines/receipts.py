"""What proves that something was erased? A document that says what, when and how much of it, signed with a key that this
service has in a file of its own (Ed25519, RFC 8032; mode 0600). Whoever has the public key verifies it without the database.

Ed25519 and no shared secret: who is shown a receipt must be able to check it, and nobody to make one."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from service.errors import VoicegraphError
from service.types.erasure import Erasure, Probe, Receipt, Subject, SubjectKind

VERSION = 1
"""Of the document's form."""
KEY_BYTES = 32
"""Of an Ed25519 key."""


class ReceiptKeyUnusable(VoicegraphError):
    code = "receipt_key_unusable"
    says = "The key of receipts {path} {problem}. Restore it; or move it away, and receipts are signed with a new one."
    http_status = 500


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
    """The key in the file, made there when there is none. Raises ReceiptKeyUnusable when others may read it or it is none."""
    if not path.exists():
        _make(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ReceiptKeyUnusable(path=path, problem="may be read by others; it needs mode 0600")
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii", errors="replace").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ReceiptKeyUnusable(path=path, problem=f"is not a key of {KEY_BYTES} bytes in hexadecimal")
    return ReceiptKey(Ed25519PrivateKey.from_private_bytes(key))


def _make(path: Path) -> None:
    """Whole and private from the first byte; of two processes that make it at once, one does."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_hex(KEY_BYTES) + "\n")
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileExistsError):
        os.link(beside, path)
    beside.unlink()


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
    except (KeyError, ValueError, TypeError) as error:
        raise ReceiptNotGenuine(problem=f"it is not in the form of one ({type(error).__name__})") from error
    if not isinstance(read, dict) or read.get("key") != (public or key):
        raise ReceiptNotGenuine(problem="it was signed with another key")
    try:
        verifier.verify(signature, document.encode())
    except InvalidSignature as error:
        raise ReceiptNotGenuine(problem="the signature is not over this document") from error
    return read


def subject_of(document: Mapping[str, Any]) -> Subject:
    return Subject(SubjectKind(document["subject"]["kind"]), str(document["subject"]["id"]))
