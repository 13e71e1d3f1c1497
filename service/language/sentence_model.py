"""How is any sentence-transformers model used as the text embedder?"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from service.language.embed import TextModelMissing
from service.types.audio import EmbeddingSpace, Samples

INSTALL = "Install voicegraph[sentence-transformers]."
BATCH = 32
"""Texts in one run; sentence-transformers sorts them by length itself."""


class SentenceModel:
    """A TextEmbedder; a model's own prompts for queries and documents are used where its configuration has them."""

    def __init__(self, model: Any, space_name: str) -> None:
        self._model = model
        dimension = model.get_embedding_dimension()
        self._space = EmbeddingSpace(space_name, _version(model), int(dimension))

    @classmethod
    def load(cls, source: str, *, space_name: str | None = None, device: str = "auto") -> SentenceModel:
        """`source`: a directory, or a hub name such as `org/model`; a path that is not there is not taken for a hub name."""
        folder = Path(source).expanduser()
        if not folder.is_dir() and _is_path(source):
            raise TextModelMissing(model=source, where=folder.absolute(), remedy="Give the model's directory or its hub name.")
        if importlib.util.find_spec("sentence_transformers") is None:
            raise TextModelMissing(model=source, where="the package sentence_transformers", remedy=INSTALL)
        from sentence_transformers import SentenceTransformer

        try:
            model = SentenceTransformer(str(folder) if folder.is_dir() else source, device=None if device == "auto" else device)
        except (OSError, ValueError) as problem:
            where, remedy = "that directory, the hub's cache and the hub", f"The loader said: {problem}"
            raise TextModelMissing(model=source, where=where, remedy=remedy) from problem
        return cls(model, space_name or snake_case(folder.name))

    @classmethod
    def from_package(cls, package: str, folder: str, *, space_name: str, device: str = "auto") -> SentenceModel:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            remedy = f"Install {package.replace('_', '-')}."
            raise TextModelMissing(model=space_name, where=f"the package {package}", remedy=remedy)
        return cls.load(str(Path(spec.submodule_search_locations[0]) / folder), space_name=space_name, device=device)

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._space

    def queries(self, texts: Sequence[str]) -> Samples:
        return self._embed(self._model.encode_query, texts)

    def passages(self, texts: Sequence[str]) -> Samples:
        return self._embed(self._model.encode_document, texts)

    def _embed(self, encode: Any, texts: Sequence[str]) -> Samples:
        if not texts:
            return np.empty((0, self._space.dimension), dtype=np.float32)
        vectors = encode(
            list(texts), batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


def snake_case(name: str) -> str:
    """A model's name as part of property names: `all-mpnet-base-v2` → `all_mpnet_base_v2`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "model"


def _is_path(source: str) -> bool:
    """Whether `source` can only mean a place on disk: a hub name is `model` or `org/model`."""
    return source.startswith((".", "~", "/", "\\")) or source.count("/") > 1 or "\\" in source


def _version(model: Any) -> str:
    """Short hash of the weights and of what is done to a text before them."""
    digest = hashlib.sha256(repr((sorted(model.prompts.items()), model.max_seq_length)).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:12]
