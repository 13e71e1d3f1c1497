"""How do jars get onto this machine? Through jgo from Maven Central, whole or not at all, and checked against a lock file.

`python -m service.graph.maven org.neo4j:neo4j:2026.05.0 … > service/graph/neo4j.lock` makes the lock file of a new version.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError

NEO4J_LOCK = Path(__file__).with_name("neo4j.lock")
"""The embedded Neo4j: org.neo4j:neo4j, org.neo4j.app:neo4j-server, org.neo4j.client:neo4j-browser and all they need.
Resolving that from their poms takes a minute of processor time, and a lock file says which bytes were tried."""

Progress = Callable[[int, int], None]
"""(jars there, jars in all), from any thread."""


class DownloadFailed(VoicegraphError):
    code = "download_failed"
    says = (
        "{what} is not in {cache} and could not be fetched from Maven Central: {reason}. Connect once, "
        "or copy that folder from a machine that has it."
    )
    http_status = 503


class DownloadDamaged(VoicegraphError):
    code = "download_damaged"
    says = "{what} has SHA-256 {found}, needed: {needed}. What is between this machine and Maven Central changed it; not used."
    http_status = 503


class DiskFull(VoicegraphError):
    code = "disk_full"
    says = (
        "No space left for {what} in {where} ({free} MB free, about {needed} MB needed). Make room, or choose another folder."
    )
    http_status = 507


@dataclass(frozen=True, slots=True)
class MavenConfig:
    timeout: int = 60  # seconds without a byte; Maven Central answers within one
    threads: int = 8  # jars at a time; most are small, so the round trips count
    repository: str | None = None
    """URL of a mirror; none: Maven Central."""


@dataclass(frozen=True, slots=True)
class Locked:
    """One file of a lock: what it is, and that it is this and nothing else."""

    coordinates: str
    """group:artifact:version, with :classifier where there is one."""
    sha256: str
    size: int
    """Bytes."""


def fetch(coordinates: str, *, cache: Path, config: MavenConfig = MavenConfig()) -> Path:
    """The jar of `group:artifact:version` without what it depends on, from `cache` or downloaded into it.

    Raises DownloadFailed or DiskFull."""
    return _there(coordinates, cache) or _download(coordinates, cache, None, config)


def fetch_locked(
    lock: Path = NEO4J_LOCK, *, cache: Path, progress: Progress | None = None, config: MavenConfig = MavenConfig()
) -> tuple[Path, ...]:
    """All jars of a lock file, in its order. Raises DownloadFailed, DownloadDamaged or DiskFull."""
    wanted = read_lock(lock)
    found = [_there(one.coordinates, cache, one.size) for one in wanted]
    missing = [one for one, path in zip(wanted, found, strict=True) if path is None]
    _check_room(cache, sum(one.size for one in missing))
    with ThreadPoolExecutor(config.threads) as pool:
        fetched = pool.map(lambda one: _download(one.coordinates, cache, one, config), missing)
        for done, _ in enumerate(fetched, len(wanted) - len(missing) + 1):
            if progress:
                progress(done, len(wanted))
    return tuple(_path(one.coordinates, cache) for one in wanted)


def read_lock(lock: Path) -> tuple[Locked, ...]:
    """Lines `coordinates sha256 size`; what starts with # is a comment."""
    lines = [line.split() for line in lock.read_text().splitlines() if line and not line.startswith("#")]
    return tuple(Locked(coordinates, sha256, int(size)) for coordinates, sha256, size in lines)


def resolve(coordinates: Iterable[str], cache: Path) -> tuple[Path, ...]:
    """Everything that `coordinates` need at run time, resolved from their poms by jgo; slow, for making a lock file."""
    context = _context(cache, MavenConfig())
    inputs, others = context.resolver.resolve([context.create_dependency(one) for one in coordinates])
    artifacts = [dependency.artifact for dependency in (*inputs, *others) if dependency.type == "jar"]
    return tuple(sorted(artifact.resolve() for artifact in artifacts))


def _download(coordinates: str, cache: Path, locked: Locked | None, config: MavenConfig) -> Path:
    """jgo writes a file in place, so it writes into a folder of its own first: a break leaves nothing half done."""
    cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".part-", dir=cache))
    try:
        group, artifact, version, *classifier = coordinates.split(":")
        component = _context(folder, config).project(group, artifact).at_version(version)
        part: Path = component.artifact(classifier="".join(classifier), packaging="jar").resolve()
        if locked and (digest := _sha256(part)) != locked.sha256:
            raise DownloadDamaged(what=coordinates, found=digest, needed=locked.sha256)
        final = _path(coordinates, cache)
        final.parent.mkdir(parents=True, exist_ok=True)
        return part.replace(final)
    except OSError as error:  # a requests.RequestException is one, too
        if error.errno == errno.ENOSPC:
            _check_room(cache, locked.size if locked else 0, full=True)
        raise DownloadFailed(what=coordinates, cache=cache, reason=error) from error
    except RuntimeError as error:  # what jgo raises when no repository has it
        raise DownloadFailed(what=coordinates, cache=cache, reason=error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _context(cache: Path, config: MavenConfig) -> Any:
    from jgo.maven import MavenContext

    remote = {"mirror": config.repository} if config.repository else None
    return MavenContext(repo_cache=cache, timeout=config.timeout, remote_repos=remote)


def _there(coordinates: str, cache: Path, size: int | None = None) -> Path | None:
    path = _path(coordinates, cache)
    return path if path.is_file() and size in (None, path.stat().st_size) else None


def _path(coordinates: str, cache: Path) -> Path:
    """Where Maven's own layout puts it."""
    group, artifact, version, *classifier = coordinates.split(":")
    return cache.joinpath(*group.split("."), artifact, version, "-".join((artifact, version, *classifier)) + ".jar")


def _check_room(where: Path, needed: int, *, full: bool = False) -> None:
    where.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(where).free
    if full or free < needed:
        raise DiskFull(what="downloads", where=where, free=free >> 20, needed=(needed >> 20) + 1)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _coordinates(path: Path, cache: Path) -> str:
    *group, artifact, version, name = path.relative_to(cache).parts
    classifier = name.removeprefix(f"{artifact}-{version}").removesuffix(".jar").removeprefix("-")
    return ":".join((".".join(group), artifact, version, *((classifier,) if classifier else ())))


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        print("# made by: python -m service.graph.maven", *arguments)
        for path in resolve(arguments, cache):
            print(_coordinates(path, cache), _sha256(path), path.stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1:])
