"""Ingest in a process of its own, for what can only be tested from outside: being killed, and two at once.

`python -m tests.graph.ingest_process '{"steps": [{"path": …, "space": …}], …}'`; Neo4j's address comes by the environment."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from service.graph.driver import Graph, GraphConfig
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.pipelines.ingest import Ingest, IngestConfig, IngestRequest
from service.types.audio import Progress
from tests import models


def an_ingest(graph: Graph, *, batch: int = 3, words: bool = False) -> Ingest:
    """The default line in small batches; `words`: with recogniser and text embeddings."""
    return Ingest(
        graph,
        models.segmenter(),
        models.campplus(),
        router=RouterConfig(thresholds=thresholds_for("campplus")),
        recogniser=models.tiny_whisper() if words else None,
        text_embedder=models.e5() if words else None,
        config=IngestConfig(batch=batch),
    )


def killed_after(num_batches: int | None) -> Progress:
    """Ends this process as `kill -9` does when so many batches are written."""
    written = 0

    def progress(share: float, stage: str) -> None:
        nonlocal written
        written += stage == "hear"
        if written == num_batches:
            os.kill(os.getpid(), signal.SIGKILL)

    return progress


def meet(gate: Path, name: str) -> None:
    """Wait until another process came to the same gate: so both begin in the same millisecond."""
    (gate / f"{name}.{os.getpid()}").touch()
    while len(list(gate.glob(f"{name}.*"))) < 2:
        time.sleep(0.001)


async def main(asked: dict[str, Any]) -> None:
    environment = os.environ
    config = GraphConfig(environment["NEO4J_URI"], environment["NEO4J_USER"], environment["NEO4J_PASSWORD"])
    graph = await Graph.open(config)
    ingest = an_ingest(graph, words=asked.get("words", False))
    for number, step in enumerate(asked["steps"]):
        if asked.get("gate"):
            meet(Path(asked["gate"]), str(number))
        await ingest(IngestRequest(Path(step["path"]), step["space"]), killed_after(asked.get("killed_after")))
    await graph.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
