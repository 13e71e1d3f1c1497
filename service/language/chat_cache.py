"""Where are a model's answers kept, so that what broke off goes on without asking again? A folder for each space."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

KEEP_DAYS = 30
"""After so long nothing that broke off is taken up again; as long as voices never asked about are kept."""


class AnswerCache:
    """Files that only the user may read. They hold what a model made of what was said: personal data (graph_schema/stores.py).

    Only a cache: it may be deleted at any time, and answers are then asked for again."""

    def __init__(self, folder: Path, keep_days: int = KEEP_DAYS) -> None:
        self._folder = folder
        self._keep = keep_days * 86_400.0

    def find(self, space: str, key: str) -> str | None:
        file = self._of(space) / key
        try:
            if file.stat().st_mtime < time.time() - self._keep:
                return None
            return file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def save(self, space: str, key: str, answer: str) -> None:
        """Whole or not at all."""
        folder = self._of(space)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=folder)  # readable by the user only
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(answer)
        Path(name).replace(folder / key)

    def forget(self, space: str) -> None:
        """All of one space."""
        if (folder := self._of(space)).exists():
            shutil.rmtree(folder)

    def forget_expired(self) -> None:
        oldest = time.time() - self._keep
        for file in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):  # another process does the same
                if file.stat().st_mtime < oldest:
                    file.unlink()

    def _of(self, space: str) -> Path:
        """A space may be called anything; its folder is not."""
        return self._folder / hashlib.sha256(space.encode()).hexdigest()[:32]
