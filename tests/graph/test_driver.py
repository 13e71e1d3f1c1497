"""Does a failure to reach Neo4j say what to do?"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from service.graph.driver import (
    Graph,
    GraphConfig,
    Neo4jRefusedLogin,
    Neo4jUnreachable,
    NoSuchDatabase,
    QueryTooSlow,
    Tx,
    UnusableNeo4jUri,
    changes,
    rows,
    server_version,
)


async def test_times_come_back_as_datetimes_in_utc(graph: Graph) -> None:
    moment = datetime(2026, 11, 29, 20, 30, tzinfo=UTC)
    found = await graph.read(rows, "RETURN $moment AS at, {at: $moment, all: [$moment], vector: [0.5]} AS map", moment=moment)
    assert found == [{"at": moment, "map": {"at": moment, "all": [moment], "vector": [0.5]}}]


async def test_changes_count_what_was_written(graph: Graph, space: str) -> None:
    counted = await graph.write(changes, "MATCH (s:Space {id: $space}) SET s.anonymous_days = 7", space=space)
    assert counted.properties_set == 1
    assert not (await graph.write(changes, "MATCH (s:Space {id: 'none'}) SET s.access = 'own'")).contains_updates


async def test_reads_and_writes_of_many_tasks_share_one_pool(graph: Graph, space: str) -> None:
    found = await asyncio.gather(*(graph.read(rows, "RETURN $n AS n", n=n) for n in range(100)))
    assert [row[0]["n"] for row in found] == list(range(100))


async def test_a_failed_work_leaves_nothing(graph: Graph, space: str) -> None:
    async def work(tx: Tx) -> None:
        await changes(tx, "MATCH (s:Space {id: $space}) SET s.access = 'own'", space=space)
        raise ValueError("changed my mind")

    with pytest.raises(ValueError, match="changed my mind"):
        await graph.write(work)
    assert await graph.read(rows, "MATCH (s:Space {id: $space}) RETURN s.access AS access", space=space) == [
        {"access": "attended"}
    ]


async def test_a_query_over_its_time_is_stopped(graph: Graph) -> None:
    slow = graph.patient(0.3)
    with pytest.raises(QueryTooSlow, match=r"longer than 0\.3 s"):
        await slow.read(rows, "UNWIND range(1, 100000000) AS i WITH i WHERE i % 7 = 3 RETURN sum(sin(i)) AS n")


async def test_a_read_outlives_a_lost_connection_in_the_middle_of_it(graph_config: GraphConfig) -> None:
    host, port = graph_config.uri.removeprefix("bolt://").split(":")
    pipes: list[asyncio.StreamWriter] = []

    async def forward(source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while sent := await source.read(65_536):
                to.write(sent)
        to.close()

    async def connected(theirs: asyncio.StreamReader, to_them: asyncio.StreamWriter) -> None:
        ours, to_neo4j = await asyncio.open_connection(host, int(port))
        pipes.extend((to_them, to_neo4j))
        await asyncio.gather(forward(theirs, to_neo4j), forward(ours, to_them))

    begun: list[int] = []

    async def work(tx: Tx, value: int) -> list[int]:
        begun.append(len(pipes))
        first = await rows(tx, "RETURN $value AS n", value=value)
        if len(begun) == 1:
            for pipe in pipes:
                pipe.transport.abort()
        second = await rows(tx, "RETURN $value + 1 AS n", value=value)
        return [first[0]["n"], second[0]["n"]]

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as proxy:
        through = await Graph.open(replace(graph_config, uri=f"bolt://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"))
        assert await through.read(work, 7) == [7, 8]
        assert len(begun) == 2, "it was begun again"
        await through.close()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"uri": "bolt://127.0.0.1:1"}, Neo4jUnreachable),
        ({"uri": "bolt://no-such-host.invalid:7687"}, Neo4jUnreachable),
        ({"uri": "http://127.0.0.1:7474"}, UnusableNeo4jUri),
        ({"uri": "bolt+tls://127.0.0.1:7687"}, UnusableNeo4jUri),
        ({"password": "not the password"}, Neo4jRefusedLogin),
        ({"database": "elsewhere"}, NoSuchDatabase),
    ],
)
async def test_each_cause_has_its_error(
    graph: Graph, graph_config: GraphConfig, change: dict[str, str], expected: type[Exception]
) -> None:
    with pytest.raises(expected) as raised:
        await Graph.open(replace(graph_config, **change))
    assert graph_config.password not in str(raised.value)


def test_the_version_is_read_from_what_the_server_calls_itself() -> None:
    assert server_version("Neo4j/2026.05.0") == (2026, 5, 0)
    assert server_version("Neo4j/5.26.1") == (5, 26, 1)
    assert server_version("Memgraph/3.0") == (0,)


def test_the_password_is_not_in_the_repr() -> None:
    assert "secret" not in repr(GraphConfig("bolt://x", password="secret"))
