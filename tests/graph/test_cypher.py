"""Does every query in the code fit the declared graph? EXPLAIN finds misspelt labels, edges and properties, and bad plans."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import neo4j
import pytest

import service.graph
from graph_schema.schema import TEXT_SPACES, VIEWS, VOICE_SPACES
from service.graph.cypher import UnusableSpaceName, for_space
from service.graph.driver import GraphConfig

CLAUSES = re.compile(r"\b(MATCH|MERGE|CREATE|CALL|UNWIND|SHOW)\b")

ALLOWED: dict[tuple[str, str], str] = {}
"""(constant, notification code) → why it is right as it is."""


def constants() -> Iterator[tuple[str, str]]:
    """Name and text of every query in service.graph; one for each space and view where it has those tokens."""
    for module in pkgutil.iter_modules(service.graph.__path__, "service.graph."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.isupper() and isinstance(value, str) and CLAUSES.search(value):
                yield from filled(f"{module.name.removeprefix('service.graph.')}.{name}", value)


def filled(name: str, query: str) -> Iterator[tuple[str, str]]:
    if "<" not in query or not re.search("<(space|view)>", query):
        yield name, query
        return
    spaces = TEXT_SPACES if "embedding__<space>" in query else VOICE_SPACES
    for space in spaces:
        for view in VIEWS if "<view>" in query else VIEWS[:1]:
            yield f"{name}[{space}]" if "<view>" not in query else f"{name}[{space},{view}]", for_space(query, space, view)


QUERIES = dict(constants())


@pytest.fixture(scope="module")
def session(graph: Any, graph_config: GraphConfig) -> Iterator[neo4j.Session]:
    """A session that reports every remark of the server."""
    with (
        neo4j.GraphDatabase.driver(graph_config.uri, auth=(graph_config.user, graph_config.password)) as driver,
        driver.session(database=graph_config.database) as session,
    ):
        yield session


def remarks(session: neo4j.Session, query: str) -> set[tuple[str, str]]:
    """(code, description) of each notification of EXPLAIN."""
    language, text = re.match(r"\s*(CYPHER \d+\s)?(.*)", query, re.DOTALL).groups()  # type: ignore[union-attr]
    parameters = dict.fromkeys(re.findall(r"\$(\w+)", query))
    summary = session.run(f"{language or ''}EXPLAIN {text}", parameters).consume()
    return {(n["code"], n["description"]) for n in summary.notifications or ()}


def test_there_are_queries_to_check() -> None:
    assert len(QUERIES) > 20


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_fits_the_declared_graph(session: neo4j.Session, name: str) -> None:
    unexpected = {f"{code}: {says}" for code, says in remarks(session, QUERIES[name]) if (name, code) not in ALLOWED}
    assert not unexpected


@pytest.mark.parametrize(
    "wrong",
    [
        "MATCH (m:Mesage) RETURN m",
        "MATCH (m:Message) RETURN m.txt",
        "MATCH (:Person)-[:SPEAKED]->(m) RETURN m",
        "MATCH (m:Message), (p:Person) RETURN m, p",
        "MATCH (m:Message) RETURN id(m)",
    ],
)
def test_a_wrong_query_is_noticed(session: neo4j.Session, wrong: str) -> None:
    assert remarks(session, wrong)


def test_a_space_fills_its_tokens() -> None:
    assert for_space("n.embedding__<space>__<view>", "e5_small_v2_q", "context") == "n.embedding__e5_small_v2_q__context"


@pytest.mark.parametrize("name", ["a`b", "", "A", "x y", "x]->(m)", "<view>", "naïve"])
def test_a_space_whose_name_could_be_cypher_is_refused(name: str) -> None:
    with pytest.raises(UnusableSpaceName):
        for_space("n.vector__<space>", name)
