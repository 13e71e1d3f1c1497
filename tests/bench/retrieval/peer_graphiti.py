"""What does Graphiti find without a language model? Run by its own environment's Python: `peer_graphiti.py WORK`.

`WORK/task.json` and `WORK/vectors.npz` are peers.py's; the rankings go to `WORK/found.json`. Each turn is an episode and an
edge from who said it to who heard it, whose fact is the turn's words, written by Graphiti's own bulk writer, a group for each
store; search is its default hybrid over edges: full text and cosine, fused by reciprocal rank. NEO4J_* name its own server.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import time
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

os.environ.update(GRAPHITI_TELEMETRY_ENABLED="false", HF_HUB_OFFLINE="1")
logging.getLogger("neo4j").setLevel(logging.ERROR)  # its queries name properties that nothing has
BATCH = 500


async def main(work: Path) -> None:
    import numpy as np

    task = json.loads((work / "task.json").read_text())
    vectors = np.load(work / "vectors.npz")
    os.environ["EMBEDDING_DIM"] = str(vectors["passages"].shape[1])
    passages = dict(zip(task["passages"], vectors["passages"].tolist(), strict=True))
    graphiti = make(dict(zip(task["queries"], vectors["queries"].tolist(), strict=True)))
    await graphiti.build_indices_and_constraints()
    await graphiti.driver.execute_query("CALL db.awaitIndexes(120)")
    found: dict[str, Any] = {}
    for store in task["stores"]:
        turns = await add(graphiti, store, passages)
        for number, question in enumerate(store["questions"]):
            started = time.perf_counter()
            edges = await graphiti.search(question["text"], group_ids=[store["id"]], num_results=task["depth"])
            seconds = time.perf_counter() - started
            found[question["id"]] = {"ids": [turns[edge.uuid] for edge in edges], "seconds": seconds}
            print(f"\rgraphiti: {store['id']}, {number + 1} of {len(store['questions'])} questions", end="", file=sys.stderr)
        (work / "found.json").write_text(json.dumps(found))
    print(file=sys.stderr)
    await graphiti.close()


async def add(graphiti: Any, store: dict[str, Any], vectors: dict[str, list[float]]) -> dict[str, str]:
    """Edge id → turn id."""
    from graphiti_core.edges import EntityEdge, EpisodicEdge
    from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
    from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

    group = store["id"]
    people = {}
    for name in store["people"]:
        person = EntityNode(uuid=_id(group, name), name=name, group_id=group, labels=["Entity"], summary="")
        person.name_embedding = vectors[name]
        people[name] = person
    episodes, edges, mentions, turns = [], [], [], {}
    for turn in store["turns"]:
        at = datetime.fromisoformat(turn["at"])
        by, to = people[turn["by"]], people[turn["to"]]
        episode = EpisodicNode(
            uuid=_id(group, "episode", turn["id"]),
            name=turn["id"],
            group_id=group,
            labels=[],
            source=EpisodeType.message,
            source_description="spoken",
            content=turn["text"],
            created_at=at,
            valid_at=at,
        )
        edge = EntityEdge(
            uuid=_id(group, "edge", turn["id"]),
            group_id=group,
            source_node_uuid=by.uuid,
            target_node_uuid=to.uuid,
            name="SAID_TO",
            fact=turn["text"],
            created_at=at,
            valid_at=at,
            episodes=[episode.uuid],
        )
        edge.fact_embedding = vectors[turn["text"]]
        episode.entity_edges = [edge.uuid]
        ends = {by.uuid, to.uuid}
        mentions += [
            EpisodicEdge(group_id=group, source_node_uuid=episode.uuid, target_node_uuid=id, created_at=at) for id in ends
        ]
        episodes.append(episode)
        edges.append(edge)
        turns[edge.uuid] = turn["id"]
    for start in range(0, len(edges), BATCH):
        some = [m for m in mentions if m.source_node_uuid in {e.uuid for e in episodes[start : start + BATCH]}]
        entities = list(people.values()) if start == 0 else []
        await add_nodes_and_edges_bulk(
            graphiti.driver, episodes[start : start + BATCH], some, entities, edges[start : start + BATCH], graphiti.embedder
        )
    return turns


def make(queries: dict[str, list[float]]) -> Any:
    from graphiti_core import Graphiti
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.client import LLMClient
    from graphiti_core.llm_client.config import LLMConfig

    class NoModel(LLMClient):
        def __init__(self) -> None:
            super().__init__(LLMConfig(api_key="none", model="none"), cache=False)

        async def _generate_response(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            raise RuntimeError("without a language model nothing asks one")

    class Given(EmbedderClient):
        """The vectors that our own legs use; a text without one is an error."""

        async def create(self, input_data: Any) -> list[float]:
            return queries[input_data if isinstance(input_data, str) else input_data[0]]

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return [queries[text] for text in input_data_list]

    class NoReranker(CrossEncoderClient):
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            raise RuntimeError("the default search has no reranker")

    return Graphiti(
        os.environ["NEO4J_URI"],
        os.environ["NEO4J_USER"],
        os.environ["NEO4J_PASSWORD"],
        llm_client=NoModel(),
        embedder=Given(),
        cross_encoder=NoReranker(),
    )


def _id(*parts: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(parts)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
