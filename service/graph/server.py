"""How does a machine without Docker or Java get a Neo4j? One embedded server, shared by all processes of its user.

The directory holds `home/` (Neo4j's own), `password` (0600), `state.json` (pid, ports), `server.log`, and two lock files:
`start.lock` while one process starts or stops the server, `users.lock` held shared by every process that uses it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import quote

import neo4j
import psutil
from neo4j import exceptions as failures

from service.errors import VoicegraphError
from service.graph.browser import opening_page, with_connect_page
from service.graph.java import find_java
from service.graph.maven import NEO4J_LOCK, Progress, fetch_locked, read_lock
from service.graph.ports import free_port, listens
from service.graph.server_errors import (
    PasswordLost,
    PortTaken,
    ServerTooSlow,
    StoreOfNewerNeo4j,
    StoreUnreadable,
    death,
    disk_full,
)

MAIN = "org.neo4j.server.Neo4jCommunity"
ADMIN = "org.neo4j.server.startup.Neo4jAdminCommand"
USER = "neo4j"

_LEASES: dict[Path, int] = {}
"""Directories whose server this process uses → file descriptor of the shared lock that says so to the others."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    cache: Path | None = None
    """Where jars are kept; none: below the server's directory."""
    heap: str = "512m"  # 64m starts, 256m serves small stores; 512m 100,000 vectors at 0.7–0.9 GB of memory in all
    page_cache: str = "128m"  # a store of 100,000 messages with two views is about 0.9 GB; the system's own cache helps
    bolt_port: int = 7687  # Neo4j's usual; a free one when it is taken
    http_port: int = 7474
    java_home: Path | None = None
    """A JDK to prefer when it has vector instructions."""
    short_lived: bool = False
    """No optimising compiler: starts with 7.6 instead of 13.8 s of processor time, then runs slower. And the garbage collector
    of one thread: 8 % less processor time over a file of tests."""
    min_free: int = 256 << 20  # bytes; Neo4j stops writing, and does not start, on a full disk
    start_timeout: float = 240.0  # seconds; 7–10 on two quiet cores, 95 seen at load 12
    start_attempts: int = 3  # each on ports that were free a moment before; two servers starting at once collide once
    stop_timeout: float = 60.0  # seconds; a checkpoint takes under one, an orderly stop 11.5 whatever is in it


@dataclass(frozen=True, slots=True)
class ServerAddress:
    uri: str
    """bolt://127.0.0.1:PORT"""
    http: str
    """http://127.0.0.1:PORT, which serves Neo4j Browser."""
    user: str
    password: str = field(repr=False)
    started: bool = False
    """True when this call started it, rather than found it running."""

    @property
    def browser(self) -> str:
        """Neo4j Browser with the address and user filled in; the password is asked for once and then remembered there."""
        bolt = self.uri.replace("://", f"://{self.user}@")
        return f"{self.http}/browser/?dbms={quote(bolt, safe=':/@')}&db=neo4j&preselectAuthMethod=NATIVE"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    running: bool
    directory: Path
    log: Path
    version: str
    """Of the Neo4j that this program brings."""
    pid: int | None = None
    address: ServerAddress | None = None
    memory_mb: int | None = None
    """Resident."""
    seconds: float | None = None
    """Since it started."""
    java: str | None = None


@dataclass(frozen=True, slots=True)
class _State:
    pid: int
    created: float
    """Of the process, so that another one with the same pid is not taken for it."""
    bolt_port: int
    http_port: int
    java: str


class EmbeddedServer:
    """The Neo4j of a directory. Every process makes its own EmbeddedServer for it and they share the one server."""

    def __init__(self, directory: Path, config: ServerConfig = ServerConfig()) -> None:
        self.directory = directory.absolute()
        self.config = config
        self.home = self.directory / "home"
        self.log = self.directory / "server.log"
        self.password_file = self.directory / "password"
        self.version = embedded_version()

    def start(self, progress: Progress | None = None) -> ServerAddress:
        """The running server's address, after starting it when there is none; the process counts as a user from now on.

        `progress` is told of jars fetched on first use. Raises StoreLocked, StoreOfNewerNeo4j, StoreUnreadable, PortTaken,
        ServerDied, ServerTooSlow, PasswordLost, and what `maven.fetch_locked` raises.
        """
        _make_private(self.directory)
        with self._alone():
            state = self._running()
            started = state is None
            if state is None:
                self._check_store()
                jars = fetch_locked(cache=self.config.cache or self.directory / "jars", progress=progress)
                state = self._started(":".join(str(with_connect_page(jar) if _is_browser(jar) else jar) for jar in jars))
            else:
                self._await_answer(state)
            (self.directory / "version").write_text(self.version)
            self._use()
        return self._address(state, started)

    def stop(self, *, fast: bool = True, unless_used: bool = False) -> bool:
        """Stop it; False when none runs, or with `unless_used` when another process uses it.

        Fast: a checkpoint, then a kill. Every acknowledged write survives that (tried with kill -9 under load), and Neo4j's own
        way down takes 11.5 s whatever it holds.
        """
        self._unuse()
        if not self.directory.is_dir():
            return False
        with self._alone():
            state = self._running()
            if state is None or (unless_used and self._used()):
                return False
            process = psutil.Process(state.pid)
            if fast:
                self._checkpoint(state)
                process.kill()
            else:
                process.terminate()
            with contextlib.suppress(psutil.NoSuchProcess):
                try:
                    process.wait(self.config.stop_timeout)
                except psutil.TimeoutExpired:
                    process.kill()
                    process.wait(self.config.stop_timeout)
            self._state_file.unlink(missing_ok=True)
            return True

    def browser_page(self, cypher: str = "") -> Path:
        """A private file that opens Neo4j Browser connected, with `cypher` in its editor; starts the server if need be."""
        address = self.start()
        page = self.directory / "browser.html"
        _write_private(page, opening_page(address.http, int(address.uri.rpartition(":")[2]), address.password, cypher))
        return page

    def status(self) -> ServerStatus:
        """What runs, without starting anything."""
        state = self._running()
        if state is None:
            return ServerStatus(False, self.directory, self.log, self.version)
        process = psutil.Process(state.pid)
        return ServerStatus(
            True,
            self.directory,
            self.log,
            self.version,
            state.pid,
            self._address(state, False),
            process.memory_info().rss >> 20,
            time.time() - state.created,
            state.java,
        )

    @property
    def _state_file(self) -> Path:
        return self.directory / "state.json"

    def _address(self, state: _State, started: bool) -> ServerAddress:
        return ServerAddress(
            f"bolt://127.0.0.1:{state.bolt_port}", f"http://127.0.0.1:{state.http_port}", USER, self._password(), started
        )

    def _running(self) -> _State | None:
        """The state file's server, when that very process is alive."""
        try:
            state = _State(**json.loads(self._state_file.read_text()))
            process = psutil.Process(state.pid)
            alive = abs(process.create_time() - state.created) < 1 and process.status() != psutil.STATUS_ZOMBIE
        except (FileNotFoundError, psutil.NoSuchProcess):
            return None
        return state if alive else None

    def _check_store(self) -> None:
        written_by = self.directory / "version"
        if written_by.is_file() and _numbers(found := written_by.read_text().strip()) > _numbers(self.version):
            raise StoreOfNewerNeo4j(directory=self.directory, found=found, ours=self.version)
        if shutil.disk_usage(self.directory).free < self.config.min_free:
            raise disk_full(self.directory, self.config.min_free)

    def _started(self, classpath: str) -> _State:
        """Running and answering; on other ports when another server took the chosen ones while this one started."""
        for attempt in range(self.config.start_attempts):
            state = self._start(classpath)
            try:
                self._await_answer(state)
            except PortTaken:
                if attempt + 1 == self.config.start_attempts:
                    raise
            else:
                return state
        raise AssertionError("start_attempts is not positive")

    def _start(self, classpath: str) -> _State:
        java = find_java(self.config.java_home)
        bolt, http = self._ports()
        self._write_config(bolt, http)
        if not (self.home / "data" / "dbms").exists():
            self._set_password(str(java.executable), classpath, (bolt, http))
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                [
                    str(java.executable),
                    f"-Xmx{self.config.heap}",
                    "-XX:+UseSerialGC" if self.config.short_lived else "-XX:+UseG1GC",
                    "-XX:+ExitOnOutOfMemoryError",  # a server that limps on is worse than one that is started again
                    "-Djava.awt.headless=true",
                    "--enable-native-access=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",  # of Netty and JCTools; else Java 24 and later warn of it
                    *java.flags,
                    *(("-XX:TieredStopAtLevel=1",) if self.config.short_lived else ()),
                    "-cp",
                    classpath,
                    MAIN,
                    f"--home-dir={self.home}",
                    f"--config-dir={self.home / 'conf'}",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.directory,
                start_new_session=True,  # it outlives the command that started it, and its Ctrl-C
            )
        state = _State(
            process.pid, psutil.Process(process.pid).create_time(), bolt, http, f"{java.executable} ({java.version})"
        )
        _write_private(self._state_file, json.dumps(asdict(state)))
        return state

    def _ports(self) -> tuple[int, int]:
        """Those of the last run, so that bookmarks stay right, else the usual ones, else any that are free."""
        try:
            last = json.loads(self._state_file.read_text())
        except FileNotFoundError:
            last = {}
        bolt = free_port(last.get("bolt_port"), self.config.bolt_port)
        return bolt, free_port(last.get("http_port"), self.config.http_port, but=bolt)

    def _write_config(self, bolt: int, http: int) -> None:
        conf = self.home / "conf"
        conf.mkdir(parents=True, exist_ok=True)
        settings = {
            "server.default_listen_address": "127.0.0.1",
            "server.bolt.listen_address": f"127.0.0.1:{bolt}",
            "server.bolt.advertised_address": f"127.0.0.1:{bolt}",
            "server.http.listen_address": f"127.0.0.1:{http}",
            "server.http.advertised_address": f"127.0.0.1:{http}",
            "server.https.enabled": "false",
            "server.memory.pagecache.size": self.config.page_cache,
            # on one machine no line goes dead unseen; with it the driver makes a task, with an end, for each few bytes
            "server.bolt.connection_keep_alive_for_requests": "OFF",
            "db.tx_log.preallocate": "false",  # 256 MB a database otherwise
            "db.tx_log.rotation.retention_policy": "keep_none",  # what was erased must not live on in the log
            "dbms.security.allow_csv_import_from_file_urls": "false",
            "dbms.usage_report.enabled": "false",
            "client.allow_telemetry": "false",
        }
        (conf / "neo4j.conf").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    def _set_password(self, java: str, classpath: str, ports: tuple[int, int]) -> None:
        """Works before the first start only. The password goes through a private file, not past `ps`."""
        if not self.password_file.exists():
            _write_private(self.password_file, secrets.token_hex(24))  # one that began with "-" would be taken for an option
        arguments = self.directory / "arguments"
        _write_private(arguments, f'-cp "{classpath}" {ADMIN} dbms set-initial-password {self._password()}')
        environment = {**os.environ, "NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")}
        try:
            run = subprocess.run([java, f"@{arguments}"], env=environment, capture_output=True, text=True, check=False)
        finally:
            arguments.unlink()
        if run.returncode:
            self.log.write_text(run.stdout + run.stderr)
            raise self._death(run.returncode, ports)

    def _password(self) -> str:
        return self.password_file.read_text().strip() if self.password_file.exists() else ""

    def _await_answer(self, state: _State) -> None:
        """Until a query is answered; a dead or stuck server becomes the error that says why."""
        deadline = time.monotonic() + self.config.start_timeout
        while time.monotonic() < deadline:
            if self._running() is None:
                self._state_file.unlink(missing_ok=True)
                raise self._death(_exit_code(state.pid), (state.bolt_port, state.http_port))
            if listens(state.pid, state.bolt_port) and self._answers(state):
                return
            time.sleep(0.1)
        raise ServerTooSlow(seconds=self.config.start_timeout, log=self.log)

    def _answers(self, state: _State) -> bool:
        with self._driver(state) as driver:
            try:
                driver.execute_query("RETURN 1", database_="neo4j")
            except failures.AuthError as error:
                raise PasswordLost(directory=self.directory, file=self.password_file) from error
            except failures.Neo4jError:  # the server is up, this database not yet, or not at all
                broken = driver.execute_query(
                    "SHOW DATABASE neo4j YIELD statusMessage WHERE statusMessage <> '' RETURN statusMessage AS says",
                    database_="system",
                ).records
                if broken:
                    raise StoreUnreadable(directory=self.directory, reason=broken[0]["says"]) from None
                return False
            except (failures.DriverError, OSError):
                return False
        return True

    def _checkpoint(self, state: _State) -> None:
        """So that the next start has nothing to recover; when it fails, the log is replayed instead."""
        with self._driver(state) as driver, contextlib.suppress(failures.Neo4jError, failures.DriverError, OSError):
            driver.execute_query("CALL db.checkpoint()", database_="neo4j")

    def _driver(self, state: _State) -> neo4j.Driver:
        return neo4j.GraphDatabase.driver(
            f"bolt://127.0.0.1:{state.bolt_port}",
            auth=(USER, self._password()),
            connection_timeout=5,
            max_transaction_retry_time=0,
            notifications_min_severity="OFF",
        )

    def _death(self, code: int | None, ports: tuple[int, int]) -> VoicegraphError:
        return death(code, self.directory, self.log, ports=ports, min_free=self.config.min_free)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time starts or stops; the others wait, then find it done."""
        with (self.directory / "start.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _use(self) -> None:
        """A shared lock that lasts as long as the process, however that ends, and whichever object started the server."""
        if self.directory not in _LEASES:
            _LEASES[self.directory] = os.open(self.directory / "users.lock", os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(_LEASES[self.directory], fcntl.LOCK_SH)

    def _unuse(self) -> None:
        if self.directory in _LEASES:
            os.close(_LEASES.pop(self.directory))

    def _used(self) -> bool:
        with (self.directory / "users.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


def embedded_version() -> str:
    """Of the Neo4j in the lock file, e.g. "2026.05.0"."""
    return next(c[2] for one in read_lock(NEO4J_LOCK) if (c := one.coordinates.split(":"))[:2] == ["org.neo4j", "neo4j"])


def _is_browser(jar: Path) -> bool:
    return jar.name.startswith("neo4j-browser-")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _exit_code(pid: int) -> int | None:
    """Of a child of ours; another process's cannot be known."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, os.WNOHANG)[1])
    except ChildProcessError:
        return None


def _make_private(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o700)


def _write_private(path: Path, text: str) -> None:
    """Whole or not at all, and readable by the user only from its first byte."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    part.replace(path)
