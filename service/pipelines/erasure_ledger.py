"""What was erased since a backup was taken? A file beside the database, of ids only, to which lines are only ever added: a
database that is restored from before is brought up to it, before anybody reads in it.

It is written before the database is: what it has and the database has not is asked for again, and erased then. What was refused
after it was told is struck; what is told of a space that is forgotten holds for what a backup brings back of just that space,
and not for another one of its name. Its limits: it stands in the data directory of one machine (other machines are given it by
`voicegraph erasures export` and `replay`), must not be restored from the backup itself, knows a fact by its id alone, and knows
nothing of what was erased by hand in the database, nor of consent that was withdrawn or leave that was revoked."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    forgotten_at: datetime | None = None
    """When its space was forgotten, after it was told: a space of that name that was made later is another one."""

    def to_json(self) -> str:
        told: dict[str, Any] = {
            "id": self.id,
            "space": self.space,
            "kind": self.subject.kind.value,
            "subject": self.subject.id,
            "at": self.at.isoformat(),
            "people": list(self.people),
            **({"forgotten_at": self.forgotten_at.isoformat()} if self.forgotten_at else {}),
        }
        return json.dumps(told, sort_keys=True)

    @classmethod
    def from_told(cls, told: Mapping[str, Any]) -> Entry:
        return cls(
            told["id"],
            told["space"],
            Subject(SubjectKind(told["kind"]), told["subject"]),
            datetime.fromisoformat(told["at"]),
            tuple(told["people"]),
            datetime.fromisoformat(told["forgotten_at"]) if "forgotten_at" in told else None,
        )


@dataclass(frozen=True, slots=True)
class _Struck:
    id: str


@dataclass(frozen=True, slots=True)
class _Forgotten:
    space: str
    at: datetime


_Line = Entry | _Struck | _Forgotten


def _line(told: Mapping[str, Any]) -> _Line:
    if "struck" in told:
        return _Struck(told["struck"])
    if "forgotten" in told:
        return _Forgotten(told["forgotten"], datetime.fromisoformat(told["at"]))
    return Entry.from_told(told)


class Ledger:
    """`path`: JSON lines, mode 0600. Several processes may write it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, entries: Iterable[Entry]) -> int:
        """Those that are not in it already as they are, on the disk when this returns; how many. A line that a crash cut off
        goes: what it was to say was never begun."""
        known = {same for entry in self.entries() for same in (entry, replace(entry, forgotten_at=None))}
        new = [entry for entry in entries if entry not in known]
        self._append([entry.to_json() for entry in new])
        return len(new)

    def strike(self, id: str) -> None:
        """What it says of this erasure was refused, and nothing was hidden."""
        if any(entry.id == id for entry in self.entries()):
            self._append([json.dumps({"struck": id})])

    def space_forgotten(self, space: str, at: datetime) -> None:
        """What it says of `space` so far is of nothing that is made anew under its name."""
        if any(entry.space == space and entry.forgotten_at is None for entry in self.entries()):
            self._append([json.dumps({"at": at.isoformat(), "forgotten": space})])

    def _append(self, lines: Sequence[str]) -> None:
        if not lines:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            whole = file.read()
            file.truncate(whole.rfind(b"\n") + 1)
            file.write("".join(f"{line}\n" for line in lines).encode())
            file.flush()
            os.fsync(file.fileno())

    def entries(self) -> list[Entry]:
        """All of them, the oldest first, without those struck; of one that was told again before anything was hidden, as it was
        told last. Raises LedgerUnreadable; a last line that a crash cut off is none: what it was to say was never begun."""
        found: dict[str, Entry] = {}
        for line in self._read() if self.path.exists() else ():
            match line:
                case Entry():
                    found[line.id] = line
                case _Struck(id):
                    found.pop(id, None)
                case _Forgotten(space, at):
                    standing = [one for one in found.values() if one.space == space and one.forgotten_at is None]
                    found |= {one.id: replace(one, forgotten_at=at) for one in standing}
        return list(found.values())

    def _read(self) -> Iterator[_Line]:
        lines = self.path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                yield _line(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                if number == len(lines):
                    return
                raise LedgerUnreadable(path=self.path, line=number) from error
