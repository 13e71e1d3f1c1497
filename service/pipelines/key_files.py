"""Where does a secret key stand? In a file of its own, for its owner alone, made when it is first needed."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from service.errors import VoicegraphError

KEY_BYTES = 32
"""As long as what HMAC-SHA256 makes of it."""


class KeyFileUnusable(VoicegraphError):
    code = "key_file_unusable"
    says = "The key file {path} {problem}. Restore it; or move it away, and what was made with it is worth nothing any more."
    http_status = 500


def find_key(path: Path) -> bytes | None:
    """The key in the file; None where there is none. Raises KeyFileUnusable when others may read it or it is none."""
    if not path.exists():
        return None
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise KeyFileUnusable(path=path, problem="may be read by others; it needs mode 0600")
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii", errors="replace").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise KeyFileUnusable(path=path, problem=f"is not a key of {KEY_BYTES} bytes in hexadecimal")
    return key


def load_key(path: Path) -> bytes:
    """The key in the file, made there when there is none. Raises KeyFileUnusable."""
    if not path.exists():
        make_key(path)
    key = find_key(path)
    assert key is not None
    return key


def make_key(path: Path) -> None:
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
