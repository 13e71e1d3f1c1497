"""How is a file of JSON changed that is nobody else's to read? Whole, and by one writer at a time."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[Callable[[object], None]]:
    """To write JSON in its place, with nobody else writing it meanwhile, in whatever process."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield partial(write_whole, path)
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: object) -> None:
    """Private from the first byte: a new file, 0600, renamed over the old one."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
