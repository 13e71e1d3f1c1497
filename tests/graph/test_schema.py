"""Are the declaration and the migrated database the same, in both directions?"""

from __future__ import annotations

from typing import Any

from graph_schema.schema import FULL_TEXT_INDEXES, NODES, TEXT_SPACES, VECTOR_INDEXES
from service.engines.graphiti import INDEXES as MADE_BY_GRAPHITI
from service.graph.driver import Graph, rows

SHOW_CONSTRAINTS = "SHOW CONSTRAINTS YIELD type, labelsOrTypes, properties RETURN type, labelsOrTypes[0] AS label, properties"

SHOW_INDEXES = """
SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options, owningConstraint, state
WHERE type <> 'LOOKUP' AND owningConstraint IS NULL
RETURN name, type, labelsOrTypes[0] AS label, properties, options.indexConfig AS config, state
"""


async def indexes(graph: Graph, kind: str) -> list[dict[str, Any]]:
    return [row for row in await graph.read(rows, SHOW_INDEXES) if row["type"] == kind]


async def test_constraints_are_the_declared_keys(graph: Graph) -> None:
    found = {
        (row["label"], tuple(row["properties"]))
        for row in await graph.read(rows, SHOW_CONSTRAINTS)
        if not row["label"].startswith("__Neo4jMigration")
    }
    assert found == {(node.label, key) for node in NODES for key in node.keys}


async def test_range_indexes_are_the_declared_ones(graph: Graph) -> None:
    made = [row for row in await indexes(graph, "RANGE") if row["name"] not in MADE_BY_GRAPHITI]
    found = {(row["label"], tuple(row["properties"])) for row in made}
    assert found == {(node.label, names) for node in NODES for names in node.ranges}


async def test_full_text_indexes_are_the_declared_ones(graph: Graph) -> None:
    found = {
        (row["name"], row["label"], tuple(row["properties"]), row["config"]["fulltext.analyzer"])
        for row in await indexes(graph, "FULLTEXT")
    }
    assert found == {(i.name, i.label, i.properties, i.analyzer) for i in FULL_TEXT_INDEXES}


async def test_vector_indexes_are_the_declared_ones(graph: Graph) -> None:
    found = {
        (row["name"], row["label"], tuple(row["properties"]), *facts(row["config"]))
        for row in await indexes(graph, "VECTOR")
        if not _of_a_model_no_migration_knows(row["name"])
    }
    assert found == {(i.name, i.label, (i.property, *i.filters), i.dimension, "COSINE", i.quantization) for i in VECTOR_INDEXES}


def facts(config: dict[str, Any]) -> tuple[int, str, bool]:
    return (
        config["vector.dimensions"],
        config["vector.similarity_function"],
        config["vector.quantization.enabled"],
    )


async def test_every_index_is_online(graph: Graph) -> None:
    assert {row["state"] for row in await graph.read(rows, SHOW_INDEXES)} == {"ONLINE"}


def _of_a_model_no_migration_knows(name: str) -> bool:
    """Other tests make indexes for models of their own."""
    label, _, rest = name.partition("_embedding__")
    return label in ("message", "fact") and bool(rest) and rest.rpartition("__")[0] not in TEXT_SPACES
