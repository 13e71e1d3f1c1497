"""Is every migration applied once, whatever breaks off or runs beside it?"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.graph import migrate
from service.graph.driver import Graph, GraphConfig, changes, rows
from service.graph.migrate import (
    CREATE_LOCK,
    FILES,
    DatabaseIsNewer,
    MigrateConfig,
    MigrationChanged,
    MigrationFailed,
    MigrationLocked,
    MigrationOutOfOrder,
    TextSpaceMismatch,
    apply,
    checksum,
    ensure_text_space,
    read_migrations,
    status,
)
from service.graph.server import EmbeddedServer, ServerAddress

ROOT = Path(__file__).parents[2]

CHAIN = """
MATCH p = (:__Neo4jMigration {version: 'BASELINE'})-[:MIGRATED_TO]->*(last:__Neo4jMigration)
WHERE NOT (last)-[:MIGRATED_TO]->()
RETURN [n IN nodes(p) | n.version] AS versions, [r IN relationships(p) | keys(r)] AS keys
"""

MIGRATE = """
import asyncio, sys
from service.graph.driver import Graph, GraphConfig
from service.graph.migrate import apply

async def main():
    graph = await Graph.open(GraphConfig(sys.argv[1], "neo4j", sys.stdin.read()))
    print(len((await apply(graph)).applied))
    await graph.close()

asyncio.run(main())
"""

LAST = len(read_migrations())


@pytest.fixture(scope="module")
async def own_graph(own_server: EmbeddedServer) -> AsyncIterator[Graph]:
    address = own_server.start()
    graph = await Graph.open(GraphConfig(address.uri, address.user, address.password))
    await empty(graph)  # tests of other files may have been here
    yield graph
    await graph.close()


async def empty(graph: Graph) -> None:
    """As a database is when it is new."""
    for kind, plural in (("CONSTRAINT", "CONSTRAINTS"), ("INDEX", "INDEXES")):
        for row in await graph.read(rows, f"SHOW {plural} YIELD name, type WHERE type <> 'LOOKUP' RETURN name"):
            await graph.write(changes, f"DROP {kind} `{row['name']}` IF EXISTS")
    await graph.write(changes, "MATCH (n) DETACH DELETE n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the migrations to which tests add their own; the module's tests run in order on one database."""
    return shutil.copytree(FILES, tmp_path_factory.mktemp("copy") / "migrations")


def add(folder: Path, after: int, name: str, *statements: str) -> Path:
    """A migration numbered `after` the last of the project's own."""
    path = folder / f"V{number(after)}__{name}.cypher"
    path.write_text("".join(f"{statement};\n" for statement in statements))
    return path


def number(after: int) -> str:
    return f"{LAST + after:04}"


async def in_another_process(address: ServerAddress) -> int:
    """How many migrations it applied."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", MIGRATE, address.uri, cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate(address.password.encode())
    assert process.returncode == 0
    return int(out)


async def versions(graph: Graph) -> list[str]:
    return (await graph.read(rows, CHAIN))[0]["versions"]


async def test_dry_run_tells_and_does_nothing(own_graph: Graph) -> None:
    report = await apply(own_graph, dry_run=True)
    assert [migration.version for migration in report.applied] == [m.version for m in read_migrations()]
    assert len((await status(own_graph)).pending) == LAST


async def test_two_processes_migrate_once(own_server: EmbeddedServer, own_graph: Graph) -> None:
    address = own_server.start()
    counts = await asyncio.gather(*(in_another_process(address) for _ in range(2)))
    assert sorted(counts) == [0, LAST]
    assert await versions(own_graph) == ["BASELINE", *(m.version for m in read_migrations())]
    assert (await status(own_graph)).ready


async def test_the_chain_has_what_the_java_tool_writes(own_graph: Graph) -> None:
    first = (await own_graph.read(rows, "MATCH (m:__Neo4jMigration {version: '0001'}) RETURN properties(m) AS node"))[0]["node"]
    assert first == {
        "version": "0001",
        "description": "keys",
        "type": "CYPHER",
        "repeatable": False,
        "source": "V0001__keys.cypher",
        "checksum": read_migrations()[0].checksum,
    }
    for keys in (await own_graph.read(rows, CHAIN))[0]["keys"]:
        assert set(keys) == {"at", "in", "by", "connectedAs"}


async def test_a_break_in_the_middle_is_made_good(own_graph: Graph, folder: Path) -> None:
    make = "CREATE INDEX a_test IF NOT EXISTS FOR (n:Test) ON (n.a)"
    add(folder, 1, "two_steps", make, "CREATE INDEX b_test FOR (n:Test ON (n.b)")
    with pytest.raises(MigrationFailed, match=r"Statement 2 of V\d+__two_steps\.cypher"):
        await apply(own_graph, folder=folder)
    assert [m.version for m in (await status(own_graph, folder)).pending] == [number(1)]
    add(folder, 1, "two_steps", make, "CREATE INDEX b_test IF NOT EXISTS FOR (n:Test) ON (n.b)")
    assert [m.version for m in (await apply(own_graph, folder=folder)).applied] == [number(1)]
    assert (await apply(own_graph, folder=folder)).applied == ()


async def test_an_applied_file_may_not_change(own_graph: Graph, folder: Path) -> None:
    path = folder / "V0002__ranges.cypher"
    before = path.read_text()
    path.write_text(before + "\nCREATE INDEX another IF NOT EXISTS FOR (n:Test) ON (n.c);\n")
    with pytest.raises(MigrationChanged, match=r"V0002__ranges.cypher"):
        await apply(own_graph, folder=folder)
    path.write_text(before)
    assert (await status(own_graph, folder)).ready


async def test_a_database_with_unknown_migrations_is_left_alone(own_graph: Graph) -> None:
    with pytest.raises(DatabaseIsNewer, match=number(1)):
        await apply(own_graph)


async def test_a_migration_cannot_be_put_before_an_applied_one(own_graph: Graph, folder: Path) -> None:
    add(folder, 3, "later", "CREATE INDEX later IF NOT EXISTS FOR (n:Test) ON (n.later)")
    await apply(own_graph, folder=folder)
    late = add(folder, 2, "late", "CREATE INDEX late IF NOT EXISTS FOR (n:Test) ON (n.late)")
    with pytest.raises(MigrationOutOfOrder, match=f"V{number(2)}__late"):
        await apply(own_graph, folder=folder)
    late.unlink()


async def test_the_lock_of_a_process_that_died_is_gone(own_graph: Graph, own_server: EmbeddedServer, folder: Path) -> None:
    address = own_server.start()
    other = await Graph.open(GraphConfig(address.uri, address.user, address.password))
    session = other.session()
    tx = await session.begin_transaction()
    await changes(tx, CREATE_LOCK, id="other")
    add(folder, 4, "waits", "CREATE INDEX waits IF NOT EXISTS FOR (n:Test) ON (n.waits)")
    waiting = asyncio.create_task(apply(own_graph, folder=folder))
    with pytest.raises(MigrationLocked):
        await apply(own_graph, folder=folder, config=MigrateConfig(lock_wait=1))
    assert not waiting.done()
    await other.close()  # as when the process ends: the connection breaks, and with it the transaction
    assert [m.version for m in (await waiting).applied] == [number(4)]


async def test_the_lock_node_of_another_tool_is_respected(own_graph: Graph, folder: Path) -> None:
    await own_graph.write(changes, CREATE_LOCK, id="java")
    add(folder, 5, "locked", "CREATE INDEX locked IF NOT EXISTS FOR (n:Test) ON (n.locked)")
    with pytest.raises(MigrationLocked, match="__Neo4jMigrationsLock"):
        await apply(own_graph, folder=folder)
    await own_graph.write(changes, "MATCH (l:__Neo4jMigrationsLock) DELETE l")
    assert [m.version for m in (await apply(own_graph, folder=folder)).applied] == [number(5)]


async def test_a_text_model_no_migration_knows_gets_its_indexes(own_graph: Graph) -> None:
    for _ in range(2):
        await ensure_text_space(own_graph, "my_model", 8)
    names = await own_graph.read(rows, "SHOW VECTOR INDEXES YIELD name WHERE name CONTAINS 'my_model' RETURN name")
    assert {row["name"] for row in names} == {
        f"{label}_embedding__my_model__{view}" for label in ("message", "fact") for view in ("turn", "context")
    }
    with pytest.raises(TextSpaceMismatch, match="8 dimensions, the model gives 16"):
        await ensure_text_space(own_graph, "my_model", 16)


async def test_a_declared_text_model_of_another_dimension_is_refused(graph: Graph) -> None:
    await ensure_text_space(graph, "e5_small_v2_q", 384)
    with pytest.raises(TextSpaceMismatch):
        await ensure_text_space(graph, "e5_small_v2_q", 768)


async def test_the_migrated_database_has_nothing_pending(graph: Graph) -> None:
    assert (await status(graph)).ready
    assert (await apply(graph)).applied == ()


def test_statements_end_with_a_semicolon_at_the_end_of_a_line(tmp_path: Path) -> None:
    (tmp_path / "V0001__a_b.cypher").write_text("// why\n\nRETURN ';' AS a;\nRETURN 2;\n\n// the end\n")
    (tmp_path / "README.md").write_text("not a migration")
    (migration,) = read_migrations(tmp_path)
    assert migration.description == "a b"
    assert migration.statements == ("// why\n\nRETURN ';' AS a", "RETURN 2")
    assert migration.checksum == checksum(["// why\n\nRETURN ';' AS a", "RETURN 2", "// the end"])


def test_the_checksum_is_that_of_the_java_tool() -> None:
    """CRC-32 of all statements one after the other; 907060870 is java.util.zip.CRC32's value of "hello"."""
    assert checksum(["he", "llo"]) == "907060870"


def test_every_statement_of_the_migrations_may_be_repeated() -> None:
    for migration in read_migrations():
        assert all("IF NOT EXISTS" in s or "IF EXISTS" in s for s in migration.statements), migration.source


def test_the_module_that_applies_is_the_one_that_is_tested() -> None:
    assert migrate.FILES == ROOT / "migrations"
