"""Ingest in a process of its own, for what can only be tested from outside: being killed, two at once, and memory.

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

from service.audio.segmentation import Segmenter
from service.graph.driver import Graph, GraphConfig
from service.identity.opt_outs import Marker
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.pipelines.erase import Erase
from service.pipelines.gallery import GalleryReader
from service.pipelines.ingest import Ingest, IngestConfig, IngestRequest
from service.types.audio import Progress, SpeakerEncoder
from tests import models


def an_ingest(
    graph: Graph,
    *,
    batch: int = 3,
    words: bool = False,
    segmentation: str | None = None,
    marker: Marker | None = None,
    erase: Erase | None = None,
    encoder: SpeakerEncoder | None = None,
) -> Ingest:
    """The default line in small batches; `words`: with recogniser and text embeddings; `segmentation`: another model's path;
    `marker`: by which those are known who opted out; `erase`: takes away what a new revision replaces; `encoder`: another
    one of voices."""
    voices = encoder or models.campplus()
    return Ingest(
        graph,
        Segmenter(Path(segmentation)) if segmentation else models.segmenter(),
        voices,
        router=RouterConfig(thresholds=thresholds_for("campplus")),
        recogniser=models.tiny_whisper() if words else None,
        text_embedder=models.e5() if words else None,
        gallery=GalleryReader(graph, voices.embedding_space, marker=lambda: marker),
        erase=erase,
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


def peak_mb() -> float:
    """Most memory that this process held at once, so far; of Linux."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def watched(path: Path) -> Progress:
    """Writes down the peak after each step: a JSON list of (share done, MB) a line."""

    def progress(share: float, stage: str) -> None:
        with path.open("a") as file:
            file.write(json.dumps([share, peak_mb()]) + "\n")

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
    ingest = an_ingest(graph, words=asked.get("words", False), segmentation=asked.get("segmentation"))
    for number, step in enumerate(asked["steps"]):
        if asked.get("gate"):
            meet(Path(asked["gate"]), str(number))
        progress = watched(Path(asked["peaks"])) if asked.get("peaks") else killed_after(asked.get("killed_after"))
        await ingest(IngestRequest(Path(step["path"]), step["space"]), progress)
    await graph.close()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
