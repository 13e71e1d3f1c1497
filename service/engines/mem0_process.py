"""What does Mem0 do, asked line by line? Run by an interpreter of its own (`-I mem0_process.py FOLDER DIMENSION`), since its
pins conflict with ours: numbered requests as JSON on stdin, one answer to each, of its number, on stdout.

Nothing but the standard library and Mem0 is imported, and Mem0 only by `main`. Vectors are given; what it could ask a model for
fails. It keeps no history of what it had: that would outlive what is forgotten.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

READY = "ready"
MEM0_VERSION = "2.2.1"
"""That this is made for."""


@dataclass(frozen=True)
class Kept:
    id: str
    audience: str
    text: str
    vector: list[float]
    said_at: str
    """ISO 8601, UTC."""


@dataclass(frozen=True)
class Index:
    """Answered by null."""

    space: str
    items: list[Kept]


@dataclass(frozen=True)
class Nearest:
    """Answered by a list of [id, score], best first."""

    space: str
    audiences: list[str]
    text: str
    vector: list[float]
    k: int
    pool: list[str] | None


@dataclass(frozen=True)
class Forget:
    """Answered by null."""

    space: str
    ids: list[str] | None


Request = Index | Nearest | Forget


START = 0
"""Number of the answer that nobody asked for: READY."""


def to_line(number: int, request: Request) -> str:
    return json.dumps({"number": number, "do": type(request).__name__, **asdict(request)})


def from_line(line: str) -> tuple[int | None, dict[str, Any]]:
    """A request's number and what `to_request` makes it of."""
    given = json.loads(line)
    return given.pop("number", None), given


def to_request(given: dict[str, Any]) -> Request:
    """Raises KeyError and TypeError for what is no request."""
    match given.pop("do"):
        case "Index":
            return Index(given["space"], [Kept(**item) for item in given["items"]])
        case "Nearest":
            return Nearest(**given)
        case "Forget":
            return Forget(**given)
        case other:
            raise KeyError(other)


def serve(work: Callable[[Request], Any], lines: Any, answers: Any) -> None:
    """Answer each of `lines` until they end. What fails is told by its kind alone: its words could be what somebody said."""
    for line in lines:
        number, given = from_line(line)
        try:
            answer = {"done": work(to_request(given))}
        except Exception as error:  # noqa: BLE001 - whatever Mem0 raises, who asked must hear of it
            answer = {"failed": type(error).__name__}
        answers.write(json.dumps({"number": number, **answer}) + "\n")
        answers.flush()


class Keeper:
    """Mem0's Memory with a user for each space; audiences and message ids are metadata that its filters know."""

    def __init__(self, memory: Any, given: dict[str, list[float]]) -> None:
        self._memory, self._given = memory, given

    def __call__(self, request: Request) -> Any:
        match request:
            case Index():
                self._forget(request.space, [item.id for item in request.items])
                for item in request.items:
                    self._add(request.space, item)
                return None
            case Nearest():
                return self._nearest(request)
            case Forget():
                return self._forget(request.space, request.ids)

    def _add(self, space: str, item: Kept) -> None:
        about = {"message_id": item.id, "audience": item.audience, "said_at": item.said_at}
        with self._knowing(item.text, item.vector):
            said = [{"role": "user", "content": item.text}]
            self._memory.add(said, user_id=space, metadata=about, infer=False)

    def _nearest(self, asked: Nearest) -> list[tuple[str, float]]:
        filters: dict[str, Any] = {"user_id": asked.space, "audience": {"in": asked.audiences}}
        if asked.pool is not None:
            filters["message_id"] = {"in": asked.pool}
        with self._knowing(asked.text, asked.vector):
            found = self._memory.search(asked.text, top_k=asked.k, filters=filters, threshold=0.0)["results"]
        return [(hit["metadata"]["message_id"], float(hit["score"])) for hit in found]

    def _forget(self, space: str, ids: list[str] | None) -> None:
        if ids is None:
            self._memory.delete_all(user_id=space)
            return
        if not ids:
            return
        filters = {"user_id": space, "message_id": {"in": ids}}
        for kept in self._memory.get_all(filters=filters, top_k=2 * len(ids))["results"]:
            self._memory.delete(kept["id"])

    def _knowing(self, text: str, vector: list[float]) -> Known:
        return Known(self._given, text, vector)


class Known:
    """While it lasts, the one text that has a vector."""

    def __init__(self, given: dict[str, list[float]], text: str, vector: list[float]) -> None:
        self._given, self._one = given, {text: vector}

    def __enter__(self) -> None:
        self._given.update(self._one)

    def __exit__(self, *raised: object) -> None:
        self._given.clear()


def main(folder: str, dimension: int) -> None:
    answers, sys.stdout = sys.stdout, sys.stderr  # what its packages print must not come between the answers
    given: dict[str, list[float]] = {}
    memory = make(folder, dimension, given)
    answers.write(json.dumps({"number": START, "done": READY}) + "\n")
    answers.flush()
    serve(Keeper(memory, given), sys.stdin, answers)
    memory.close()


def make(folder: str, dimension: int, given: dict[str, list[float]]) -> Any:
    """Mem0's Memory over a Qdrant in `folder`, which one process at a time can open."""
    import os
    import types
    from pathlib import Path

    os.environ.update(MEM0_TELEMETRY="false", ANONYMIZED_TELEMETRY="false", HF_HUB_OFFLINE="1", MEM0_DIR=folder)
    import mem0.llms.base
    from mem0 import Memory
    from mem0.embeddings.base import EmbeddingBase
    from mem0.utils import factory, spacy_models

    # lemmas are for the search by words, which is our index's part; asked for its model, it would fetch one
    spacy_models._load_failed_full = spacy_models._load_failed_lemma = True

    class Given(EmbeddingBase):  # type: ignore[misc]
        """A text without a vector is an error."""

        def embed(self, text: str, memory_action: str = "add") -> list[float]:
            return given[text]

    class NoModel(mem0.llms.base.LLMBase):  # type: ignore[misc]
        def __init__(self, config: Any = None) -> None:
            self.config = config

        def generate_response(self, *args: Any, **kwargs: Any) -> str:
            raise RuntimeError("there is no language model")

    ours = types.ModuleType("voicegraph_mem0")
    ours.Given, ours.NoModel = Given, NoModel  # type: ignore[attr-defined]
    sys.modules[ours.__name__] = ours
    factory.EmbedderFactory.provider_to_class["huggingface"] = "voicegraph_mem0.Given"
    factory.LlmFactory.provider_to_class["ollama"] = (
        "voicegraph_mem0.NoModel",
        factory.LlmFactory.provider_to_class["ollama"][1],
    )
    vectors = {
        "collection_name": "messages",
        "embedding_model_dims": dimension,
        "path": str(Path(folder) / "qdrant"),
        "on_disk": True,
    }
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": vectors},
            "llm": {"provider": "ollama", "config": {"model": "none"}},
            "embedder": {"provider": "huggingface", "config": {"model": "given", "embedding_dims": dimension}},
            "history_db_path": ":memory:",
        }
    )
    memory.vector_store._bm25_encoder = False  # its dense search alone; for words it would fetch files from a hub
    memory._compute_entity_boosts = lambda *given: {}  # of entities that a model would have read
    return memory


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
