"""Does the embedded Neo4j start once, survive being killed, and say what is wrong when it cannot start?"""

from __future__ import annotations

import base64
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest

from service.graph.browser import SCRIPT
from service.graph.java import find_java
from service.graph.maven import DiskFull
from service.graph.server import EmbeddedServer, ServerAddress, ServerConfig
from service.graph.server_errors import (
    PasswordLost,
    PortTaken,
    ServerDied,
    StoreLocked,
    StoreOfNewerNeo4j,
    death,
)

ROOT = Path(__file__).parents[2]

START = """
import sys
from pathlib import Path
from service.graph.server import EmbeddedServer, ServerConfig
config = ServerConfig(cache=Path(sys.argv[2]), heap="256m", page_cache="32m", short_lived=True)
server = EmbeddedServer(Path(sys.argv[1]), config)
address = server.start()
print(address.uri, address.started, server.status().pid, flush=True)
sys.stdin.read()
"""


def another_process(server: EmbeddedServer) -> subprocess.Popen[str]:
    """Starts or finds the server, says so, and uses it until its input is closed."""
    return subprocess.Popen(
        [sys.executable, "-c", START, str(server.directory), str(server.config.cache)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout
    return process.stdout.readline().split()


def ended(process: subprocess.Popen[str]) -> None:
    process.communicate()
    assert process.returncode == 0


def query(address: ServerAddress, cypher: str, **parameters: Any) -> list[Any]:
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.user, address.password)) as driver:
        return [record[0] for record in driver.execute_query(cypher, parameters, database_="neo4j").records]


def test_a_second_start_finds_the_running_one(own_server: EmbeddedServer) -> None:
    again = EmbeddedServer(own_server.directory, own_server.config).start()
    assert not again.started
    assert query(again, "RETURN 1") == [1]


def test_password_and_state_are_for_the_user_only(own_server: EmbeddedServer) -> None:
    assert own_server.directory.stat().st_mode & 0o777 == 0o700
    for name in ("password", "state.json"):
        assert (own_server.directory / name).stat().st_mode & 0o777 == 0o600
    password = own_server.password_file.read_text()
    assert len(password) >= 24
    assert password.isalnum(), "one in 64 random texts begins with a hyphen: an option to the command that sets it"
    assert password not in repr(own_server.start())
    status = own_server.status()
    assert status.pid
    assert password not in " ".join(psutil.Process(status.pid).cmdline())
    assert not (own_server.directory / "arguments").exists()


def test_login_is_required_and_nothing_listens_outside_this_machine(own_server: EmbeddedServer) -> None:
    address = own_server.start()
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=("neo4j", "neo4j")) as driver,
        pytest.raises(neo4j.exceptions.AuthError),
    ):
        driver.verify_connectivity()
    status = own_server.status()
    assert status.pid
    listening = {c.laddr.ip for c in psutil.Process(status.pid).net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}


def test_status_tells_what_runs(own_server: EmbeddedServer) -> None:
    status = own_server.status()
    assert status.running
    assert status.address == own_server.start()
    assert status.memory_mb and 100 < status.memory_mb < 1500
    assert status.seconds and status.seconds > 0
    assert "25." in str(status.java)


def test_browser_is_served_and_bolt_speaks_websocket(own_server: EmbeddedServer) -> None:
    address = own_server.start()
    assert address.browser.startswith(f"{address.http}/browser/?dbms=bolt://neo4j@127.0.0.1:")
    with urllib.request.urlopen(address.browser, timeout=10) as page:
        assert page.status == 200
        assert b"<html" in page.read().lower()
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    host, port = address.uri.removeprefix("bolt://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as bolt:
        bolt.sendall(
            f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: {address.http}\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert b"101 Switching Protocols" in bolt.recv(200)


def test_browser_opens_connected_through_a_page_for_the_user_only(own_server: EmbeddedServer) -> None:
    page = own_server.browser_page("MATCH (n) RETURN n")
    assert page.stat().st_mode & 0o777 == 0o600
    address = own_server.start()
    port = address.uri.rpartition(":")[2]
    target = f"{address.http}/browser/connect.html?cmd=edit&arg=MATCH%20%28n%29%20RETURN%20n#{port}:{address.password}"
    assert f'location.replace("{target}")' in page.read_text()
    with urllib.request.urlopen(target.partition("#")[0], timeout=10) as served:
        assert b'<script src="connect.js">' in served.read()
        assert "script-src 'self'" in served.headers["Content-Security-Policy"]  # which is why the script is a file
    with urllib.request.urlopen(f"{address.http}/browser/connect.js", timeout=10) as served:
        assert served.read().decode() == SCRIPT


def test_a_password_that_is_not_the_servers_is_told(own_server: EmbeddedServer) -> None:
    password = own_server.password_file.read_text()
    own_server.password_file.write_text("not-the-password")
    try:
        with pytest.raises(PasswordLost, match="password"):
            EmbeddedServer(own_server.directory, own_server.config).start()
    finally:
        own_server.password_file.write_text(password)


def test_a_server_in_use_is_left_running(own_server: EmbeddedServer) -> None:
    other = another_process(own_server)
    uri, started, _ = said(other)
    assert (uri, started) == (own_server.start().uri, "False")
    assert not own_server.stop(unless_used=True)
    ended(other)
    assert own_server.status().running
    own_server.start()


def test_a_store_that_another_neo4j_holds_is_told(own_server: EmbeddedServer) -> None:
    status = own_server.status()
    state = own_server.directory / "state.json"
    hidden = state.rename(own_server.directory / "hidden.json")
    try:
        with pytest.raises(StoreLocked, match=f"process {status.pid}"):
            EmbeddedServer(own_server.directory, own_server.config).start()
    finally:
        hidden.rename(state)
    assert own_server.status().pid == status.pid


def test_a_fast_stop_loses_nothing_and_two_processes_start_it_once(own_server: EmbeddedServer) -> None:
    address = own_server.start()
    query(address, "UNWIND range(1, 1000) AS n CREATE (:Kept {n: n})")
    began = time.monotonic()
    assert own_server.stop()
    assert time.monotonic() - began < 8  # Neo4j's own way down takes 11.5 s
    assert not own_server.status().running
    assert not own_server.stop()

    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taken.bind(("127.0.0.1", int(address.uri.rpartition(":")[2])))
    taken.listen()
    both = [another_process(own_server) for _ in range(2)]
    answers = [said(process) for process in both]
    taken.close()
    assert {uri for uri, _, _ in answers} != {address.uri}  # its old port was taken, so it found a free one
    assert len({(uri, pid) for uri, _, pid in answers}) == 1
    assert sorted(started for _, started, _ in answers) == ["False", "True"]
    for process in both:
        ended(process)
    again = own_server.start()
    assert not again.started  # it outlived the process that started it
    assert query(again, "MATCH (k:Kept) RETURN count(k)") == [1000]


@pytest.fixture
def never_started(tmp_path: Path, own_server: EmbeddedServer) -> EmbeddedServer:
    return EmbeddedServer(tmp_path / "neo4j", own_server.config)


def test_java_that_ends_at_once_is_shown_with_its_last_words(never_started: EmbeddedServer) -> None:
    server = EmbeddedServer(never_started.directory, replace(never_started.config, heap="a lot"))
    (server.home / "data" / "dbms").mkdir(parents=True)  # past setting the password, which would start another JVM
    server.directory.joinpath("password").write_text("x")
    with pytest.raises(ServerDied, match=r"code 1 .*\n.*Invalid maximum heap size"):
        server.start()
    assert not server.status().running


def test_a_full_disk_is_told_before_the_start(never_started: EmbeddedServer) -> None:
    with pytest.raises(DiskFull, match="MB free"):
        EmbeddedServer(never_started.directory, replace(never_started.config, min_free=1 << 60)).start()


def test_a_store_of_a_newer_neo4j_is_left_alone(never_started: EmbeddedServer) -> None:
    never_started.directory.mkdir()
    (never_started.directory / "version").write_text("2031.01.0\n")
    with pytest.raises(StoreOfNewerNeo4j, match=r"2031\.01\.0"):
        never_started.start()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("java.io.IOException: No space left on device", DiskFull),
        ("Caused by: java.net.BindException: Address already in use", PortTaken),
        ("Caused by: org.neo4j.io.locker.FileLockException: Lock file has been locked by another process", StoreLocked),
        ("something new", ServerDied),
    ],
)
def test_last_words_become_errors(tmp_path: Path, words: str, expected: type[Exception]) -> None:
    log = tmp_path / "server.log"
    log.write_text(f"WARNING: …\n{words}\n")
    error = death(1, tmp_path, log, ports=(7687, 7474), min_free=1)
    assert type(error) is expected


def test_a_status_before_the_first_start_says_stopped(tmp_path: Path) -> None:
    server = EmbeddedServer(tmp_path / "none", ServerConfig())
    assert not server.status().running
    assert not server.stop()
    assert not server.directory.exists()


def test_a_state_file_of_a_process_that_is_gone_counts_for_nothing(tmp_path: Path) -> None:
    mine = {"pid": os.getpid(), "created": 0.0, "bolt_port": 1, "http_port": 2, "java": "x"}
    (tmp_path / "state.json").write_text(json.dumps(mine))
    assert not EmbeddedServer(tmp_path).status().running


@pytest.mark.parametrize(
    ("version", "modules", "used"),
    [
        ("25.0.1", "java.base jdk.incubator.vector", True),
        ("21.0.9", "java.base jdk.incubator.vector", True),
        ("17.0.15", "java.base jdk.incubator.vector", False),
        ("25.0.1", "java.base", False),
    ],
)
def test_a_jdk_is_used_when_it_is_better(tmp_path: Path, version: str, modules: str, used: bool) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    (tmp_path / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    java = find_java(tmp_path)
    assert (java.executable == tmp_path / "bin" / "java") == used
    assert java.flags == (("--add-modules=jdk.incubator.vector",) if used else ())


def test_without_a_jdk_the_packaged_jre_runs() -> None:
    assert find_java(None).executable.is_file()
    assert find_java(Path("/nowhere")) == find_java(None)
