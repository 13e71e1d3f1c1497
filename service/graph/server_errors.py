"""What can go wrong with the embedded Neo4j, and which of it do its last words tell of?"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import psutil

from service.errors import VoicegraphError
from service.graph.maven import DiskFull


class StoreLocked(VoicegraphError):
    code = "store_locked"
    says = (
        "The database in {directory} is used by another Neo4j (process {pid}). Stop that one, or choose another data directory."
    )
    http_status = 503


class StoreOfNewerNeo4j(VoicegraphError):
    code = "store_of_newer_neo4j"
    says = (
        "The database in {directory} was written by Neo4j {found}; this Voicegraph brings {ours}, which cannot read it. "
        "Upgrade Voicegraph, or choose another data directory."
    )
    http_status = 503


class StoreUnreadable(VoicegraphError):
    code = "store_unreadable"
    says = (
        "Neo4j runs, but cannot open the database in {directory}: {reason}. Restore a backup, or choose another data directory."
    )
    http_status = 503


class PortTaken(VoicegraphError):
    code = "port_taken"
    says = "Something else took port {bolt} or {http} while Neo4j started. Try again: free ports are chosen at each start."
    http_status = 503


class ServerDied(VoicegraphError):
    code = "neo4j_died"
    says = "Neo4j ended with code {code} while it started. Its last words, from {log}:\n{tail}"
    http_status = 503


class ServerTooSlow(VoicegraphError):
    code = "neo4j_too_slow"
    says = "Neo4j did not answer within {seconds:g} s. See {log}; on a slow machine raise ServerConfig.start_timeout."
    http_status = 503


class PasswordLost(VoicegraphError):
    code = "neo4j_password_lost"
    says = (
        "Neo4j in {directory} does not take the password in {file}. Put the right one there; without it the database "
        "cannot be read."
    )
    http_status = 503


def death(code: int | None, directory: Path, log: Path, *, ports: tuple[int, int], min_free: int) -> VoicegraphError:
    """The error that a server's log tells of, after it ended with `code` (none: unknown) while it started."""
    text = log.read_text(errors="replace")
    if "FileLockException" in text:
        return StoreLocked(directory=directory, pid=_holder(directory) or "unknown")
    if "No space left on device" in text:
        return disk_full(directory, min_free)
    if "BindException" in text or "Address already in use" in text:
        return PortTaken(bolt=ports[0], http=ports[1])
    tail = "\n".join([line for line in text.splitlines() if line.strip()][-15:])
    return ServerDied(code="unknown" if code is None else code, log=log, tail=tail)


def disk_full(directory: Path, min_free: int) -> DiskFull:
    free = shutil.disk_usage(directory).free
    return DiskFull(what="the database", where=directory, free=free >> 20, needed=min_free >> 20)


def _holder(directory: Path) -> int | None:
    """Pid of another process of the user that has the store's lock file open."""
    lock = str(directory / "home" / "data" / "databases" / "store_lock")
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(file.path == lock for file in process.open_files()):
                return int(process.pid)
    return None
