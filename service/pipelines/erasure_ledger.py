"""What was erased since a backup was taken? A file beside the database, of ids only, to which lines are only ever added: a
database that is restored from before is brought up to it, before anybody reads in it.

It is written before the database is: what it has and the database has not is asked for again, and erased then. Its limits: it
stands in the data directory of one machine (other machines are given it by `voicegraph erasures export` and `replay`), must not
be restored from the backup itself, and knows nothing of what was erased by hand in the database."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError
from service.types.erasure import Subject, SubjectKind


class LedgerUnreadable(VoicegraphError):
    code = "ledger_unreadable"
    says = (
        "Line {line} of the ledger of erasures {path} cannot be read. What it says was erased might come back: mend the line, "
        "or take it out if you know what it was."
    )
    http_status = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """One subject; ids only."""

    id: str
    """Of the erasure, and of its receipt."""
    space: str
    subject: Subject
    at: datetime
    people: tuple[str, ...] = ()
    """Of a person, all ids that they had by merges."""

    def to_json(self) -> str:
        told: dict[str, Any] = {
            "id": self.id,
            "space": self.space,
            "kind": self.subject.kind.value,
            "subject": self.subject.id,
            "at": self.at.isoformat(),
            "people": list(self.people),
        }
        return json.dumps(told, sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> Entry:
        told = json.loads(line)
        return cls(
            told["id"],
            told["space"],
            Subject(SubjectKind(told["kind"]), told["subject"]),
            datetime.fromisoformat(told["at"]),
            tuple(told["people"]),
        )


class Ledger:
    """`path`: JSON lines, mode 0600. Several processes may write it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, entries: Iterable[Entry]) -> int:
        """Those that are not in it already as they are, on the disk when this returns; how many. A line that a crash cut off
        goes: what it was to say was never begun."""
        known = set(self.entries())
        new = [entry for entry in entries if entry not in known]
        if not new:
            return 0
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            whole = file.read()
            file.truncate(whole.rfind(b"\n") + 1)
            file.write("".join(f"{entry.to_json()}\n" for entry in new).encode())
            file.flush()
            os.fsync(file.fileno())
        return len(new)

    def entries(self) -> list[Entry]:
        """All of them, the oldest first; of one that was told again before anything was hidden, as it was told last. Raises
        LedgerUnreadable; a last line that a crash cut off is none: what it was to say was never begun."""
        return list({entry.id: entry for entry in self._read()}.values()) if self.path.exists() else []

    def _read(self) -> Iterator[Entry]:
        lines = self.path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                yield Entry.from_json(line)
            except (ValueError, KeyError, TypeError) as error:
                if number == len(lines):
                    return
                raise LedgerUnreadable(path=self.path, line=number) from error
