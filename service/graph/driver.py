"""How is Neo4j reached? One `Graph` a process, managed transactions, and errors that say what to do."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, LiteralString, ParamSpec, TypeVar, cast

import neo4j
from neo4j import exceptions as failures
from neo4j.time import DateTime

from service.errors import VoicegraphError

logging.getLogger("neo4j").setLevel(logging.INFO)  # below, it tells the parameters of each query: words, vectors, names

P = ParamSpec("P")
T = TypeVar("T")
Tx = neo4j.AsyncManagedTransaction

NEEDED_VERSION = (2026, 2)
"""`CYPHER 25 … SEARCH … WHERE` on vector indexes with filter properties; checked on 2026.05.0 Community."""


TOO_LONG = frozenset(
    f"Neo.ClientError.Transaction.{name}"
    for name in ("TransactionTimedOut", "TransactionTimedOutClientConfiguration", "LockClientStopped")
)
"""What a transaction ends with after its time: while it works, or while it waits for another's lock."""

OF_DATA = frozenset(
    (
        "Neo.ClientError.Schema.ConstraintValidationFailed",
        "Neo.ClientError.Statement.ArgumentError",
        "Neo.ClientError.Statement.ArithmeticError",
        "Neo.ClientError.Statement.TypeError",
    )
)
"""What a query ends with for what it was given; not a broken query, which no data makes well."""


class Neo4jUnreachable(VoicegraphError):
    code = "neo4j_unreachable"
    says = "Neo4j at {uri} does not answer: {reason}. Check the address and that it runs (`voicegraph neo4j status`)."
    http_status = 503


class Neo4jRefusedLogin(VoicegraphError):
    code = "neo4j_refused_login"
    says = "Neo4j at {uri} refused the login of {user!r}: {reason}. Check NEO4J_USER and NEO4J_PASSWORD."
    http_status = 503


class Neo4jTooOld(VoicegraphError):
    code = "neo4j_too_old"
    says = (
        "{uri} is {agent}; needed: Neo4j {needed} or newer, for filters inside vector indexes (SEARCH). "
        "Upgrade it, or unset NEO4J_URI to use the embedded one."
    )
    http_status = 503


class NoSuchDatabase(VoicegraphError):
    code = "no_such_database"
    says = "Neo4j at {uri} has no database {database!r}. Check NEO4J_DATABASE; the Community edition has only `neo4j`."
    http_status = 503


class UnusableNeo4jUri(VoicegraphError):
    code = "unusable_neo4j_uri"
    says = "{uri!r} is not an address of Neo4j: {reason}. Needed: bolt://HOST:PORT or neo4j://HOST:PORT (+s, +ssc: TLS)."


class QueryTooSlow(VoicegraphError):
    code = "query_too_slow"
    says = "A query took longer than {seconds:g} s and was stopped. Ask for less, or raise GraphConfig.query_timeout."
    http_status = 504


@dataclass(frozen=True, slots=True)
class GraphConfig:
    uri: str
    user: str = "neo4j"
    password: str = field(default="", repr=False)
    database: str = "neo4j"  # always named: the driver asks for it otherwise, one round trip each session
    pool_size: int = 50  # more than the queries one process of the service has in flight
    connection_lifetime: float = 300.0  # seconds; below the idle limit of usual load balancers (350 s)
    liveness_check: float = 60.0  # seconds idle before a connection is tried out first; a dead one costs a request
    connection_timeout: float = 10.0  # seconds to connect; a host that drops packets must not hang a start
    acquisition_timeout: float = 30.0  # seconds to wait for a free connection, before the caller gives up anyway
    retry_time: float = 20.0  # seconds in all that a managed transaction is tried again
    query_timeout: float = 60.0  # seconds; an exact scan over a viewer's 2,500 messages takes 0.25


class Graph:
    """The one connection pool of a process; safe to share between tasks. Made by `open`."""

    def __init__(self, driver: neo4j.AsyncDriver, config: GraphConfig, version: tuple[int, ...]) -> None:
        self._driver = driver
        self.config = config
        self.version = version
        """Of the server, e.g. (2026, 5, 0)."""

    @classmethod
    async def open(cls, config: GraphConfig) -> Graph:
        """Connect and check; raises UnusableNeo4jUri, Neo4jUnreachable, Neo4jRefusedLogin, NoSuchDatabase, Neo4jTooOld."""
        if not re.match(r"(bolt|neo4j)(\+s|\+ssc)?://", config.uri):  # the driver would try its HTTP preview
            raise UnusableNeo4jUri(uri=config.uri, reason="unknown scheme")
        try:
            driver = neo4j.AsyncGraphDatabase.driver(
                config.uri,
                auth=(config.user, config.password),
                max_connection_pool_size=config.pool_size,
                max_connection_lifetime=config.connection_lifetime,
                liveness_check_timeout=config.liveness_check,
                connection_timeout=config.connection_timeout,
                connection_acquisition_timeout=config.acquisition_timeout,
                max_transaction_retry_time=config.retry_time,
                user_agent="voicegraph",
                notifications_min_severity="OFF",  # tests/graph/test_cypher.py asks for them, query by query
            )
        except (failures.ConfigurationError, ValueError) as error:
            raise UnusableNeo4jUri(uri=config.uri, reason=error) from error
        try:
            async with explained(config):
                agent = await _agent(driver, config.database)
            version = server_version(agent)
            if version[:2] < NEEDED_VERSION:
                raise Neo4jTooOld(uri=config.uri, agent=agent, needed="{}.{:02d}".format(*NEEDED_VERSION))
        except BaseException:
            await driver.close()
            raise
        return cls(driver, config, version)

    async def read(self, work: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(tx, …)`, reading; run again after a deadlock or a lost connection, so it must be repeatable.

        Each query is a transaction of its own: several in one see no less of what is committed between them (Neo4j's isolation
        is read committed), and BEGIN and COMMIT would cost a round trip and as much of the driver's time as a small query. Run
        again, it is one transaction, which the driver repeats until `retry_time` is over."""
        timed = neo4j.unit_of_work(timeout=self.config.query_timeout)(work)
        async with explained(self.config), self.session(neo4j.READ_ACCESS) as session:
            try:
                return await work(cast(Tx, _Each(session, self.config.query_timeout)), *args, **kwargs)
            except (failures.Neo4jError, failures.DriverError) as failure:
                if not failure.is_retryable():
                    raise
            return await session.execute_read(timed, *args, **kwargs)

    async def write(self, work: Callable[Concatenate[Tx, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(tx, …)` in a write transaction; run again as `read` is."""
        timed = neo4j.unit_of_work(timeout=self.config.query_timeout)(work)
        async with explained(self.config), self.session(neo4j.WRITE_ACCESS) as session:
            return await session.execute_write(timed, *args, **kwargs)

    def session(self, access: str = neo4j.WRITE_ACCESS) -> neo4j.AsyncSession:
        """A bare session, for what manages its own transactions: migrations and tests. Never shared between tasks."""
        return self._driver.session(database=self.config.database, default_access_mode=access)

    def patient(self, seconds: float) -> Graph:
        """The same pool with another limit on the time of a query, for building indexes."""
        return Graph(self._driver, replace(self.config, query_timeout=seconds), self.version)

    async def close(self) -> None:
        await self._driver.close()


class _Each:
    """Stands for a transaction: what a read asks of one is `run`."""

    __slots__ = ("_seconds", "_session")

    def __init__(self, session: neo4j.AsyncSession, seconds: float) -> None:
        self._session, self._seconds = session, seconds

    async def run(self, query: LiteralString, parameters: dict[str, Any] | None = None, **more: Any) -> neo4j.AsyncResult:
        return await self._session.run(neo4j.Query(query, timeout=self._seconds), parameters, **more)


async def rows(tx: neo4j.AsyncTransaction | Tx, query: str, /, **parameters: Any) -> list[dict[str, Any]]:
    """All rows of `query` as dicts; times are `datetime` in UTC."""
    result = await tx.run(query, parameters)
    return [{key: _native(value) for key, value in row.items()} for row in await result.data()]


async def only(tx: neo4j.AsyncTransaction | Tx, query: str, /, **parameters: Any) -> list[Any]:
    """The columns of the one row of `query`, as the driver gives them: for long lists of plain values. `rows` looks at every
    value of a result, which takes longer than the search that found a few hundred of them."""
    record = await (await tx.run(query, parameters)).single(strict=True)
    return [*record.values()]


async def changes(tx: neo4j.AsyncTransaction | Tx, query: str, /, **parameters: Any) -> neo4j.SummaryCounters:
    """Run a query for its effect; what it changed, so that a write that met nothing can be told."""
    return (await (await tx.run(query, parameters)).consume()).counters


def is_databases(error: BaseException) -> bool:
    """Whether the database failed (it is away, full, out of memory or time), and not for the values it was given."""
    if isinstance(error, failures.Neo4jError):
        return error.code not in OF_DATA
    refused = Neo4jUnreachable | Neo4jRefusedLogin | NoSuchDatabase | QueryTooSlow
    return isinstance(error, failures.DriverError | refused)


async def _agent(driver: neo4j.AsyncDriver, database: str) -> str:
    """What the server calls itself; asked once without trying again, and of the database, since a login alone needs none."""
    async with driver.session(database=database) as session:
        return (await (await session.run("RETURN 1")).consume()).server.agent


def server_version(agent: str) -> tuple[int, ...]:
    """(2026, 5, 0) of "Neo4j/2026.05.0"; (0,) of a server that does not say."""
    match = re.match(r"Neo4j/(\d+(?:\.\d+)*)", agent)
    return tuple(int(part) for part in match[1].split(".")) if match else (0,)


def _native(value: Any) -> Any:
    if isinstance(value, DateTime):
        return value.to_native()
    if isinstance(value, dict):
        return {key: _native(item) for key, item in value.items()}
    if isinstance(value, list) and value and not isinstance(value[0], float | str):  # vectors and names hold no times
        return [_native(item) for item in value]
    return value


@asynccontextmanager
async def explained(config: GraphConfig) -> AsyncIterator[None]:
    """The driver's failures as ours, also of an engine's own driver on the same server; a failure of the query itself (a broken
    constraint, a typing error) passes unchanged."""
    try:
        yield
    except failures.AuthError as error:
        raise Neo4jRefusedLogin(uri=config.uri, user=config.user, reason=error.message) from error
    except failures.ClientError as error:
        if error.code == "Neo.ClientError.Database.DatabaseNotFound":
            raise NoSuchDatabase(uri=config.uri, database=config.database) from error
        if error.code in TOO_LONG:
            raise QueryTooSlow(seconds=config.query_timeout) from error
        raise
    except failures.ConfigurationError as error:
        raise UnusableNeo4jUri(uri=config.uri, reason=error) from error
    except (failures.ServiceUnavailable, failures.SessionExpired, failures.DatabaseUnavailable, OSError) as error:
        raise Neo4jUnreachable(uri=config.uri, reason=error) from error
