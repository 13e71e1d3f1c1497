"""Is the declaration of the graph sound in itself, and is SCHEMA.md made from it?"""

from __future__ import annotations

import re

import pytest

from graph_schema.render import FILE, render
from graph_schema.schema import EDGES, FULL_TEXT_INDEXES, NODES, VECTOR_INDEXES
from service.graph.forget_inferred import INFERRED

LABELS = {node.label: node for node in NODES}


def test_schema_md_is_what_the_declaration_gives() -> None:
    assert FILE.read_text(encoding="utf-8") == render(), "run: python -m graph_schema.render"


def test_all_that_is_inferred_of_a_turn_is_forgotten_with_it() -> None:
    """They stand together: from whom it is of to what has to do with reading the turn."""
    names = [p.name for p in LABELS["Message"].properties]
    assert tuple(names[names.index("affect_of") : names.index("audience")]) == INFERRED


def test_labels_edges_and_indexes_are_declared_once() -> None:
    for names in ([n.label for n in NODES], [e.type for e in EDGES], [i.name for i in (*VECTOR_INDEXES, *FULL_TEXT_INDEXES)]):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.label)
def test_a_node_has_an_id_and_only_indexes_what_it_has(node) -> None:  # type: ignore[no-untyped-def]
    names = [p.name for p in node.properties]
    assert len(set(names)) == len(names)
    assert {"id", "created_at"} <= set(names)
    assert "space" in names or node.label == "Space"
    for key in (*node.keys, *node.ranges):
        assert set(key) <= set(names)
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in names)


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge.type)
def test_an_edge_joins_declared_labels(edge) -> None:  # type: ignore[no-untyped-def]
    assert {*edge.start, *edge.end} <= set(LABELS)
    assert re.fullmatch("[A-Z_]+", edge.type)


@pytest.mark.parametrize("index", VECTOR_INDEXES, ids=lambda index: index.name)
def test_a_vector_index_stands_on_a_list_of_floats_and_filters_by_properties(index) -> None:  # type: ignore[no-untyped-def]
    properties = {p.name: p.type for p in LABELS[index.label].properties}
    assert properties[index.property] == "list<float>"
    assert {properties[name] for name in index.filters} == {"string"}
    assert "space" in index.filters


@pytest.mark.parametrize("index", FULL_TEXT_INDEXES, ids=lambda index: index.name)
def test_a_full_text_index_stands_on_text(index) -> None:  # type: ignore[no-untyped-def]
    properties = {p.name: p.type for p in LABELS[index.label].properties}
    assert {properties[name] for name in index.properties} <= {"string", "list<string>"}
