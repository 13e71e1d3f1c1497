"""How does Graphiti stand under our index? In the same Neo4j, a group for each space and audience, without a language model.

Each message is an episode, and a fact of its words between two nodes that stand for the voice and the session. Those are
named by ids and are nobody: who a voice belongs to, corrections change, and a mirror of it would keep the error. Written by
Graphiti's bulk writer (one transaction, no model), found by its search over facts with cosine alone, restricted to the
groups that may be read: without groups Graphiti looks through all, so a viewer without any finds nothing before it is
asked.
"""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from service.engines.mem_search import EngineAskedModel, EngineConfig, EngineMissing, Item, Wanted, mirror_space
from service.graph.driver import GraphConfig, explained
from service.graph.graphiti_mirror import forget_graphiti_groups, forget_graphiti_items
from service.types.ids import derived
from service.types.search import Ranked, Ranking

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph

FACT = "SAID"
"""Name of the facts that mirror messages."""
SOURCE = "voicegraph"
INDEXES = ("entity_uuid", "episode_uuid", "relation_uuid", "mention_uuid", "entity_group_id", "episode_group_id",
           "relation_group_id")  # fmt: skip
"""Of Graphiti's indexes, by its names, those that our calls use; its own tools make the others."""


@dataclass(frozen=True, slots=True)
class GraphitiConfig:
    batch: int = 256  # items a transaction: about 2 MB of vectors; 17 ms each measured, in batches of 500


class GraphitiSearch:
    """Made by `open`. Dense search is exact and walks all facts of the groups: 130–270 ms at 1,000–5,000 messages."""

    def __init__(self, graph: Graph, driver: Any, clients: Any, dimension: int, config: GraphitiConfig | None = None) -> None:
        self._graph, self._driver, self._clients, self._dimension = graph, driver, clients, dimension
        self._config = config or GraphitiConfig()

    @classmethod
    async def open(cls, config: EngineConfig) -> GraphitiSearch:
        """With Graphiti's indexes made. Raises EngineMissing, and the graph's errors."""
        if importlib.util.find_spec("graphiti_core") is None:
            raise EngineMissing(
                engine="graphiti", reason="its package is not installed", remedy="Install voicegraph[graphiti]."
            )
        os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")
        logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)  # Graphiti's queries name what no node has
        driver = _driver(config.graph.config)
        async with explained(config.graph.config):
            await _make_indexes(driver)
        return cls(config.graph, driver, _clients(driver), config.text_space.dimension)

    async def close(self) -> None:
        await self._driver.close()

    async def index(self, space: str, items: Sequence[Item]) -> None:
        await self.forget(space, [item.id for item in items])
        for start in range(0, len(items), self._config.batch):
            await self._index(space, items[start : start + self._config.batch])

    async def _index(self, space: str, items: Sequence[Item]) -> None:
        from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

        written = [_written(space, item, self._dimension) for item in items]
        nodes = {node.uuid: node for one in written for node in one.ends}
        async with explained(self._graph.config):
            await add_nodes_and_edges_bulk(
                self._driver,
                [one.episode for one in written],
                [one.mention for one in written],
                list(nodes.values()),
                [one.fact for one in written],
                self._clients.embedder,
            )

    async def nearest(self, scope: ReadScope, wanted: Wanted) -> Ranking:
        """Scores are Graphiti's, of a reciprocal rank."""
        if not scope.audiences or (wanted.pool is not None and not wanted.pool):
            return ()
        from graphiti_core.search.search import search
        from graphiti_core.search.search_config import EdgeReranker, EdgeSearchConfig, EdgeSearchMethod, SearchConfig
        from graphiti_core.search.search_filters import SearchFilters

        dense = EdgeSearchConfig(
            search_methods=[EdgeSearchMethod.cosine_similarity], reranker=EdgeReranker.rrf, sim_min_score=0.0
        )
        pool = None if wanted.pool is None else [uuid_of(id) for id in wanted.pool]
        async with explained(self._graph.config):
            found = await search(
                self._clients,
                wanted.words,
                [group_of(scope.space, audience) for audience in scope.audiences],
                SearchConfig(edge_config=dense, limit=wanted.k),
                SearchFilters(edge_types=[FACT], edge_uuids=pool),
                query_vector=wanted.vector.tolist(),
                driver=self._driver,
            )
        best: dict[str, float] = {}
        for edge, score in zip(found.edges, found.edge_reranker_scores, strict=True):
            best.setdefault(edge.attributes["message_id"], float(score))
        return tuple(Ranked(id, score) for id, score in best.items())

    async def forget(self, space: str, ids: Sequence[str] | None = None) -> None:
        prefix = f"{mirror_space(space)}_"
        if ids is None:
            await forget_graphiti_groups(self._graph, prefix)
        elif ids:
            await self._graph.write(forget_graphiti_items, prefix, [uuid_of(id) for id in ids])


def group_of(space: str, audience: str) -> str:
    """Graphiti's group of what one audience of a space may read; its groups are named with letters, digits, - and _ only."""
    return f"{mirror_space(space)}_{audience}"


def uuid_of(message_id: str) -> str:
    """Of the episode and of the fact that mirror a message."""
    return derived("graphiti", message_id)


@dataclass(frozen=True, slots=True)
class _Written:
    episode: Any
    mention: Any
    ends: tuple[Any, Any]
    fact: Any


def _written(space: str, item: Item, dimension: int) -> _Written:
    """A message as Graphiti's records."""
    from graphiti_core.edges import EntityEdge, EpisodicEdge
    from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode

    group, uuid = group_of(space, item.audience), uuid_of(item.id)
    names = (item.voice, item.session_id)
    no_meaning = [1.0, *[0.0] * (dimension - 1)]  # of a name that is an id; Graphiti needs a vector of the length of the others
    voice, session = (
        EntityNode(
            uuid=derived("graphiti", group, name), name=name, group_id=group, labels=[], summary="", created_at=item.said_at,
            name_embedding=no_meaning,
        )
        for name in names
    )  # fmt: skip
    episode = EpisodicNode(
        uuid=uuid, name=item.id, group_id=group, labels=[], source=EpisodeType.message, source_description=SOURCE,
        content=item.text, created_at=item.said_at, valid_at=item.said_at, entity_edges=[uuid],
    )  # fmt: skip
    fact = EntityEdge(
        uuid=uuid, group_id=group, source_node_uuid=voice.uuid, target_node_uuid=session.uuid, name=FACT, fact=item.text,
        fact_embedding=item.vector.tolist(), episodes=[uuid], created_at=item.said_at, valid_at=item.said_at,
        attributes={"message_id": item.id},
    )  # fmt: skip
    mention = EpisodicEdge(
        uuid=derived("graphiti mention", item.id), group_id=group, source_node_uuid=uuid, target_node_uuid=voice.uuid,
        created_at=item.said_at,
    )  # fmt: skip
    return _Written(episode, mention, (voice, session), fact)


def _driver(config: GraphConfig) -> Any:
    from graphiti_core.driver.neo4j_driver import Neo4jDriver

    class Driver(Neo4jDriver):  # type: ignore[misc]
        """Whose constructor makes no indexes in the background."""

        async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
            """`_make_indexes` does, and waits for them."""

    return Driver(config.uri, config.user, config.password, config.database)


async def _make_indexes(driver: Any) -> None:
    """One after another: made at once, they can meet."""
    from graphiti_core.driver.driver import GraphProvider
    from graphiti_core.graph_queries import get_range_indices

    for query in get_range_indices(GraphProvider.NEO4J):
        if query.split()[2] in INDEXES:
            await driver.execute_query(query)


def _clients(driver: Any) -> Any:
    """Everything of Graphiti's that could ask a model, replaced by what refuses: vectors are given, and there is no model."""
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.graphiti_types import GraphitiClients
    from graphiti_core.llm_client.client import LLMClient
    from graphiti_core.llm_client.config import LLMConfig
    from graphiti_core.tracer import NoOpTracer

    class NoModel(LLMClient):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(LLMConfig(api_key="none", model="none"), cache=False)

        async def _generate_response(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            raise EngineAskedModel(what="a language model")

    class NoEmbedder(EmbedderClient):  # type: ignore[misc]
        async def create(self, input_data: Any) -> list[float]:
            raise EngineAskedModel(what="an embedding")

    class NoReranker(CrossEncoderClient):  # type: ignore[misc]
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            raise EngineAskedModel(what="a reranker")

    return GraphitiClients(
        driver=driver, llm_client=NoModel(), embedder=NoEmbedder(), cross_encoder=NoReranker(), tracer=NoOpTracer()
    )
