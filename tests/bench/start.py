"""How long until it answers, and what does it take? The embedded server and the service, each started as a user starts it.

`python -m tests.bench.start [--json PATH]`, also part of NAME=ingest. Jars and models must be in the user's cache (one run of
the demo puts them there): what is measured is a start, not a download. Wall times of one start each; memory is resident.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from service.graph.server import EmbeddedServer, ServerAddress, ServerConfig
from tests.bench.report import Report, arguments
from tests.models import CACHE

PATIENCE = 180.0  # seconds; more than a start takes on a machine that does ten other things


def run(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="voicegraph-bench-") as folder:
        server = EmbeddedServer(Path(folder) / "neo4j", ServerConfig(cache=CACHE / "maven"))
        for condition in ("first", "again"):
            began = time.perf_counter()
            address = server.start()
            report.add("start_seconds", f"embedded_neo4j/{condition}", "ours", time.perf_counter() - began, "s", 1)
            if condition == "first":
                server.stop()
        try:
            report.add("memory_mb", "embedded_neo4j/started", "ours", server.status().memory_mb or 0, "MB", 1)
            _service(report, Path(folder), address)
            report.add("memory_mb", "embedded_neo4j/served", "ours", server.status().memory_mb or 0, "MB", 1)
        finally:
            began = time.perf_counter()
            server.stop()
            report.add("stop_seconds", "embedded_neo4j", "ours", time.perf_counter() - began, "s", 1)


def _service(report: Report, folder: Path, address: ServerAddress) -> None:
    began = time.perf_counter()
    with _served(folder, address) as (process, ready):
        _await(ready, process)
        report.add("start_seconds", "service/migrated_and_ready", "ours", time.perf_counter() - began, "s", 1)
        report.add("memory_mb", "service/ready", "ours", psutil.Process(process.pid).memory_info().rss / 2**20, "MB", 1)


@contextmanager
def _served(folder: Path, address: ServerAddress) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The service on a port of its own, and the address at which it says that it is ready."""
    environment = {
        **os.environ,
        "NEO4J_URI": address.uri,
        "NEO4J_USER": address.user,
        "NEO4J_PASSWORD": address.password,
        "VOICEGRAPH_DATA_DIR": str(folder / "data"),
    }
    command = [str(Path(sys.executable).with_name("voicegraph")), "serve", "--port", "0", "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, json.loads(_document(process.stdout))["ready"]
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _document(lines: Iterator[str]) -> str:
    """The first JSON document of `lines`, which ends where a line is its closing brace."""
    read = []
    for line in lines:
        read.append(line)
        if line.rstrip().endswith("}"):
            return "".join(read)
    raise SystemExit("voicegraph serve ended before it listened; its message stands above.")


def _await(url: str, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.HTTPError, OSError):
            time.sleep(0.05)
    raise SystemExit(f"{url} did not become ready.")


if __name__ == "__main__":
    parsed = arguments(__doc__ or "").parse_args()
    table = Report("start")
    run(table)
    table.finish(parsed.json)
