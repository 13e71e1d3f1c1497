"""Which migrations has this database seen, and how are the others applied once, by one process, even after a break?

The chain of `__Neo4jMigration` nodes, the lock node, file names and checksums are those of the Java tool neo4j-migrations
(its `Migrations`, `MigrationsLock` and `DefaultCypherResource`, version 2), so that either can be used on one database.
"""

from __future__ import annotations

import re
import time
import uuid
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import neo4j
from neo4j.exceptions import ClientError, ConstraintError

from graph_schema.schema import TEXT_SPACES, VIEWS
from service.errors import VoicegraphError
from service.graph.cypher import for_space
from service.graph.driver import TOO_LONG, Graph, Tx, changes, rows

FILES = Path(__file__).resolve().parents[2] / "migrations"

_NAME = re.compile(r"V(?P<version>\d+)__(?P<description>\w+)\.cypher")
_END_OF_STATEMENT = re.compile(r";(?:\r?\n|\r)")


class MigrationChanged(VoicegraphError):
    code = "migration_changed"
    says = (
        "{source} was applied with checksum {applied}, and the file now has {found}. An applied migration is never edited: "
        "put the file back and add a new one."
    )


class DatabaseIsNewer(VoicegraphError):
    code = "database_is_newer"
    says = "The database has migration {version} ({description}), which this version does not know. Upgrade Voicegraph."


class MigrationOutOfOrder(VoicegraphError):
    code = "migration_out_of_order"
    says = "{source} comes before {last}, which is applied already. Number it after the last one."


class MigrationLocked(VoicegraphError):
    code = "migration_locked"
    says = (
        "Another process holds the lock node of migrations. If none is running any more, it broke off: remove the lock with "
        "MATCH (l:__Neo4jMigrationsLock) DELETE l"
    )
    http_status = 503


class MigrationFailed(VoicegraphError):
    code = "migration_failed"
    says = "Statement {number} of {source} failed: {reason}. What came before stands; run `voicegraph migrate` again to go on."
    http_status = 503


class IndexesNotOnline(VoicegraphError):
    code = "indexes_not_online"
    says = "Not all indexes are ready after {seconds} s: {indexes}. Run `voicegraph migrate` again to wait on."
    http_status = 503


@dataclass(frozen=True, slots=True)
class MigrateConfig:
    lock_wait: float = 1200.0  # seconds to wait for the lock and hold it; the other process may be building large indexes
    index_wait: int = 600  # seconds; 100,000 vectors of 192 take 60 on two busy cores


@dataclass(frozen=True, slots=True)
class Migration:
    version: str
    """As in the file name, e.g. "0001"."""
    description: str
    source: str
    """File name."""
    statements: tuple[str, ...]
    checksum: str


@dataclass(frozen=True, slots=True)
class Applied:
    version: str
    description: str
    source: str
    checksum: str
    at: datetime
    seconds: float


@dataclass(frozen=True, slots=True)
class MigrationStatus:
    applied: tuple[Applied, ...]
    pending: tuple[Migration, ...]
    populating: tuple[str, ...]
    """Indexes that are not online."""

    @property
    def ready(self) -> bool:
        return not self.pending and not self.populating


@dataclass(frozen=True, slots=True)
class MigrationReport:
    applied: tuple[Migration, ...]
    """In order; with `dry_run` those that would be."""
    dry_run: bool
    seconds: float


def read_migrations(folder: Path = FILES) -> tuple[Migration, ...]:
    """The files `V<number>__<name>.cypher` of a folder by number; statements end with `;` at the end of a line."""
    found = sorted((int(match["version"]), path, match) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name)))
    return tuple(_migration(path, match) for _, path, match in found)


def checksum(statements: Sequence[str]) -> str:
    """CRC-32 over the UTF-8 bytes of all statements, comments included, as a decimal number: that of neo4j-migrations."""
    return str(zlib.crc32("".join(statements).encode()))


async def status(graph: Graph, folder: Path = FILES) -> MigrationStatus:
    """Compare database and files; raises MigrationChanged, DatabaseIsNewer or MigrationOutOfOrder when they contradict."""
    applied = await graph.read(list_applied)
    return MigrationStatus(applied, _pending(applied, read_migrations(folder)), await graph.read(list_populating))


async def apply(
    graph: Graph, dry_run: bool = False, *, folder: Path = FILES, config: MigrateConfig = MigrateConfig()
) -> MigrationReport:
    """Apply what is pending, one statement a transaction, and wait until every index is online.

    Safe to repeat and to run from several processes at once: one migrates, the others wait and find nothing to do. A break in
    the middle is made good by the next run, since every statement says IF NOT EXISTS and a file is recorded after its last.
    Raises what `status` raises, and MigrationLocked, MigrationFailed, IndexesNotOnline.
    """
    started = time.monotonic()
    graph = graph.patient(config.lock_wait)
    pending = (await status(graph, folder)).pending
    if pending and not dry_run:
        async with _lock(graph, config):
            pending = (await status(graph, folder)).pending
            for migration in pending:
                await _apply_one(graph, migration)
    if not dry_run:
        await _await_indexes(graph, config)
    return MigrationReport(pending, dry_run, time.monotonic() - started)


async def ensure_text_space(graph: Graph, name: str, dimension: int, *, config: MigrateConfig = MigrateConfig()) -> None:
    """Vector indexes for a text embedding model that no migration knows; nothing to do for those that one does.

    Raises TextSpaceMismatch when the space is there with another dimension, or the declared one is not the model's."""
    graph = graph.patient(config.lock_wait)
    declared = TEXT_SPACES.get(name)
    if declared is not None and declared != dimension:
        raise TextSpaceMismatch(name=name, given=dimension, found=declared)
    for found in await graph.read(list_text_dimensions, name):
        if found != dimension:
            raise TextSpaceMismatch(name=name, given=dimension, found=found)
    if declared is None:
        async with _lock(graph, config):
            for view in VIEWS:
                for create in (CREATE_MESSAGE_INDEX, CREATE_FACT_INDEX):
                    await graph.write(changes, for_space(create, name, view), dimension=dimension)
    await _await_indexes(graph, config)


class TextSpaceMismatch(VoicegraphError):
    code = "text_space_mismatch"
    says = (
        "Text embedding space {name!r} is stored with {found} dimensions, the model gives {given}. "
        "Vectors of two models do not mix: give the other model a name of its own."
    )


CREATE_MESSAGE_INDEX = """
CYPHER 25 CREATE VECTOR INDEX message_embedding__<space>__<view> IF NOT EXISTS
FOR (n:Message) ON (n.embedding__<space>__<view>) WITH [n.space, n.audience]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}
"""

CREATE_FACT_INDEX = """
CYPHER 25 CREATE VECTOR INDEX fact_embedding__<space>__<view> IF NOT EXISTS
FOR (n:Fact) ON (n.embedding__<space>__<view>) WITH [n.space, n.audience]
OPTIONS {indexConfig: {
  `vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}
"""

LIST_TEXT_DIMENSIONS = """
SHOW VECTOR INDEXES YIELD name, options
WHERE name STARTS WITH $message_prefix OR name STARTS WITH $fact_prefix
RETURN DISTINCT options.indexConfig.`vector.dimensions` AS dimension
"""


async def list_text_dimensions(tx: Tx, space_name: str) -> list[int]:
    """Dimensions with which the indexes of a text space were made; one in a sound database, none for an unknown space."""
    prefixes = {f"{label}_prefix": f"{label}_embedding__{space_name}__" for label in ("message", "fact")}
    return [row["dimension"] for row in await rows(tx, LIST_TEXT_DIMENSIONS, **prefixes)]


LIST_APPLIED = """
CYPHER 25 MATCH (m:__Neo4jMigration) WHERE m.version <> 'BASELINE' AND m.migrationTarget IS NULL
OPTIONAL MATCH (:__Neo4jMigration)-[r:MIGRATED_TO]->(m)
RETURN m.version AS version, m.description AS description, m.source AS source, m.checksum AS checksum,
       r.at AS at, r.in.milliseconds / 1000.0 AS seconds
ORDER BY toInteger(m.version)
"""


async def list_applied(tx: Tx) -> tuple[Applied, ...]:
    """The chain, oldest first."""
    return tuple(Applied(**row) for row in await rows(tx, LIST_APPLIED))


LIST_POPULATING = "SHOW INDEXES YIELD name, state WHERE state <> 'ONLINE' RETURN name + ' ' + state AS index ORDER BY index"


async def list_populating(tx: Tx) -> tuple[str, ...]:
    """Name and state of each index that cannot be used yet."""
    return tuple(row["index"] for row in await rows(tx, LIST_POPULATING))


SAVE_APPLIED = """
CYPHER 25 MERGE (root:__Neo4jMigration {version: 'BASELINE'})
WITH root
OPTIONAL MATCH (root)-[:MIGRATED_TO]->*(last:__Neo4jMigration) WHERE NOT (last)-[:MIGRATED_TO]->()
WITH coalesce(last, root) AS last
CREATE (last)-[:MIGRATED_TO {at: datetime({timezone: 'UTC'}), in: duration({milliseconds: $milliseconds}), by: 'voicegraph',
                             connectedAs: $user}]->
       (:__Neo4jMigration {version: $version, description: $description, type: 'CYPHER', repeatable: false, source: $source,
                           checksum: $checksum})
"""

CREATE_CHAIN_KEY = """
CREATE CONSTRAINT unique_version___Neo4jMigration IF NOT EXISTS
FOR (n:__Neo4jMigration) REQUIRE (n.version, n.migrationTarget) IS UNIQUE
"""

CREATE_LOCK_KEY = """
CREATE CONSTRAINT __Neo4jMigrationsLock__has_unique_name IF NOT EXISTS
FOR (n:__Neo4jMigrationsLock) REQUIRE n.name IS UNIQUE
"""

CREATE_LOCK = "CREATE (:__Neo4jMigrationsLock {id: $id, name: 'John Doe'})"
"""The name that neo4j-migrations gives the lock of the default database: its uniqueness is the lock."""

AWAIT_INDEXES = "CALL db.awaitIndexes($seconds)"


@asynccontextmanager
async def _lock(graph: Graph, config: MigrateConfig) -> AsyncIterator[None]:
    """Hold the lock node in a transaction that is never committed: it ends with the process, however that dies."""
    for create in (CREATE_CHAIN_KEY, CREATE_LOCK_KEY):
        await _create(graph, create)
    async with graph.session() as session, await session.begin_transaction(timeout=config.lock_wait) as tx:
        try:
            await changes(tx, CREATE_LOCK, id=str(uuid.uuid4()))
        except ClientError as error:  # the node is there for good, or another process held it longer than we wait
            if isinstance(error, ConstraintError) or error.code in TOO_LONG:
                raise MigrationLocked() from error
            raise
        yield
        await tx.rollback()


async def _create(graph: Graph, statement: str) -> None:
    """Two processes may create one constraint at once; IF NOT EXISTS does not keep the second from failing."""
    try:
        await graph.write(changes, statement)
    except ClientError as error:
        if error.code != "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists":
            raise


async def _apply_one(graph: Graph, migration: Migration) -> None:
    started = time.monotonic()
    for number, statement in enumerate(migration.statements, 1):
        try:
            await graph.write(changes, statement)
        except neo4j.exceptions.Neo4jError as error:
            raise MigrationFailed(number=number, source=migration.source, reason=error.message) from error
    await graph.write(
        changes,
        SAVE_APPLIED,
        version=migration.version,
        description=migration.description,
        source=migration.source,
        checksum=migration.checksum,
        milliseconds=round(1000 * (time.monotonic() - started)),
        user=graph.config.user,
    )


async def _await_indexes(graph: Graph, config: MigrateConfig) -> None:
    async with graph.session() as session:
        try:
            await (await session.run(AWAIT_INDEXES, seconds=config.index_wait)).consume()
        except ClientError as error:
            waiting = await graph.read(list_populating)
            raise IndexesNotOnline(seconds=config.index_wait, indexes=", ".join(waiting)) from error


def _pending(applied: Sequence[Applied], files: Sequence[Migration]) -> tuple[Migration, ...]:
    known = {migration.version: migration for migration in files}
    for one in applied:
        if one.version not in known:
            raise DatabaseIsNewer(version=one.version, description=one.description)
        if known[one.version].checksum != one.checksum:
            raise MigrationChanged(source=one.source, applied=one.checksum, found=known[one.version].checksum)
    seen = {one.version for one in applied}
    pending = tuple(migration for migration in files if migration.version not in seen)
    if applied and pending and int(pending[0].version) < int(applied[-1].version):
        raise MigrationOutOfOrder(source=pending[0].source, last=applied[-1].source)
    return pending


def _migration(path: Path, match: re.Match[str]) -> Migration:
    text = path.read_text(encoding="utf-8")
    parts = [part.strip().removesuffix(";").strip() for part in _END_OF_STATEMENT.split(text)]
    statements = tuple(part for part in parts if part)
    executable = tuple(part for part in statements if not all(line.strip().startswith("//") for line in part.splitlines()))
    return Migration(match["version"], match["description"].replace("_", " "), path.name, executable, checksum(statements))
