"""What does an embedding cost twice? Nothing: each text once, in shards, so that a run broken off loses little."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

from service.types.audio import EmbeddingSpace, Samples, TextEmbedder

SHARD = 500  # texts; ten seconds of one core


class Embedded:
    """A TextEmbedder that remembers in `cache`/bench/retrieval. In half precision: cosines move by less than 0.0005."""

    def __init__(self, embedder: TextEmbedder, cache: Path) -> None:
        self._embedder = embedder
        self._folder = cache / "bench" / "retrieval"
        self._folder.mkdir(parents=True, exist_ok=True)
        space = embedder.embedding_space
        self._prefix = f"{space.name}-{space.version}"
        self._known: dict[str, npt.NDArray[np.float16]] = {}
        self._shards: set[Path] = set()
        self._load()

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._embedder.embedding_space

    def passages(self, texts: Sequence[str]) -> Samples:
        return self._of("", texts)

    def queries(self, texts: Sequence[str]) -> Samples:
        return self._of("query: ", texts)

    def _of(self, kind: str, texts: Sequence[str]) -> Samples:
        keys = [_key(kind + text) for text in texts]
        if any(key not in self._known for key in keys):
            self._load()  # another process may have embedded it
            self._embed(kind, {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known})
        return np.stack([self._known[key] for key in keys]).astype(np.float32)

    def _embed(self, kind: str, missing: dict[str, str]) -> None:
        embed = self._embedder.queries if kind else self._embedder.passages
        keys = list(missing)
        starts: Iterable[int] = range(0, len(keys), SHARD)
        if len(keys) > SHARD:
            starts = track(list(starts), "embedding texts", console=Console(stderr=True))
        for start in starts:
            some = keys[start : start + SHARD]
            vectors = embed([missing[key] for key in some]).astype(np.float16)
            self._known.update(zip(some, vectors, strict=True))
            path = self._folder / f"{self._prefix}-{some[0][:16]}.npz"
            unfinished = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}.tmp.npz")  # threads share a text
            np.savez(unfinished, key=np.array(some), vector=vectors)
            unfinished.rename(path)
            self._shards.add(path)

    def _load(self) -> None:
        for path in set(self._folder.glob(f"{self._prefix}-*.npz")) - self._shards:
            if not path.name.endswith(".tmp.npz"):
                with np.load(path) as kept:
                    self._known.update(zip(kept["key"].tolist(), kept["vector"], strict=True))
                self._shards.add(path)


def _key(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()
