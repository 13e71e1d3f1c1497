"""Are jars fetched whole and unchanged, or not at all?"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from service.graph.maven import (
    NEO4J_LOCK,
    DiskFull,
    DownloadDamaged,
    DownloadFailed,
    MavenConfig,
    fetch,
    fetch_locked,
    read_lock,
)

JAR = b"PK\x05\x06" + bytes(18)
GOOD = "org.example:good:1.0"


class Repository(BaseHTTPRequestHandler):
    """One good jar, and one of which half is sent."""

    def do_GET(self) -> None:
        if self.path.endswith(".jar") and ("/good/" in self.path or "/half/" in self.path):
            body = JAR if "/good/" in self.path else JAR[:10]
            self.send_response(200)
            self.send_header("Content-Length", str(len(JAR)))
            self.end_headers()
            self.wfile.write(body)
        else:
            self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Tests print what they mean to."""


@pytest.fixture(scope="module")
def config() -> Iterator[MavenConfig]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Repository) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield MavenConfig(timeout=5, repository=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


def a_lock(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "a.lock"
    path.write_text("# made for a test\n" + "\n".join(lines) + "\n")
    return path


def test_a_jar_is_fetched_once_into_mavens_layout(tmp_path: Path, config: MavenConfig) -> None:
    path = fetch(GOOD, cache=tmp_path, config=config)
    assert path == tmp_path / "org/example/good/1.0/good-1.0.jar"
    assert path.read_bytes() == JAR
    assert fetch(GOOD, cache=tmp_path, config=MavenConfig(repository="http://127.0.0.1:1")) == path
    assert [p.name for p in tmp_path.iterdir()] == ["org"]


def test_half_a_jar_leaves_nothing(tmp_path: Path, config: MavenConfig) -> None:
    with pytest.raises(DownloadFailed, match=r"org\.example:half:1\.0"):
        fetch("org.example:half:1.0", cache=tmp_path, config=config)
    assert list(tmp_path.iterdir()) == []


def test_a_jar_that_nobody_has_is_named(tmp_path: Path, config: MavenConfig) -> None:
    with pytest.raises(DownloadFailed, match=r"org\.example:none:1\.0"):
        fetch("org.example:none:1.0", cache=tmp_path, config=config)


def test_offline_says_how_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match="copy that folder from a machine that has it"):
        fetch(GOOD, cache=tmp_path, config=MavenConfig(timeout=1, repository="http://127.0.0.1:1"))


def test_a_locked_jar_must_be_the_one_that_was_locked(tmp_path: Path, config: MavenConfig) -> None:
    cache = tmp_path / "cache"
    digest = hashlib.sha256(JAR).hexdigest()
    seen: list[tuple[int, int]] = []
    lock = a_lock(tmp_path, f"{GOOD} {digest} {len(JAR)}", f"{GOOD}:linux {digest} {len(JAR)}")
    jars = fetch_locked(lock, cache=cache, progress=lambda done, total: seen.append((done, total)), config=config)
    assert [jar.name for jar in jars] == ["good-1.0.jar", "good-1.0-linux.jar"]
    assert seen == [(1, 2), (2, 2)]
    with pytest.raises(DownloadDamaged, match=digest):
        fetch_locked(a_lock(tmp_path, f"{GOOD} {'0' * 64} {len(JAR)}"), cache=tmp_path / "other", config=config)


def test_a_jar_cut_short_on_disk_is_fetched_again(tmp_path: Path, config: MavenConfig) -> None:
    lock = a_lock(tmp_path, f"{GOOD} {hashlib.sha256(JAR).hexdigest()} {len(JAR)}")
    (path,) = fetch_locked(lock, cache=tmp_path / "cache", config=config)
    path.write_bytes(JAR[:5])
    assert fetch_locked(lock, cache=tmp_path / "cache", config=config) == (path,)
    assert path.read_bytes() == JAR


def test_too_little_room_is_told_before_the_first_byte(tmp_path: Path, config: MavenConfig) -> None:
    with pytest.raises(DiskFull, match="No space left for downloads"):
        fetch_locked(a_lock(tmp_path, f"{GOOD} {'0' * 64} {1 << 60}"), cache=tmp_path / "cache", config=config)


def test_the_lock_of_neo4j_names_server_and_browser() -> None:
    locked = read_lock(NEO4J_LOCK)
    names = {":".join(one.coordinates.split(":")[:2]) for one in locked}
    assert {"org.neo4j:neo4j", "org.neo4j.app:neo4j-server", "org.neo4j.client:neo4j-browser"} <= names
    assert len({one.coordinates for one in locked}) == len(locked) > 200
    assert all(len(one.sha256) == 64 and one.size > 0 for one in locked)
