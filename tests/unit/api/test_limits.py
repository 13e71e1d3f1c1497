from __future__ import annotations

import time
from typing import Any

import pytest
import strawberry
from graphql import FragmentDefinitionNode, OperationDefinitionNode, parse

from service.api.limits import Limits, LimitsConfig, Size, measure


@strawberry.type
class Leaf:
    name: str


@strawberry.type
class Branch:
    name: str

    @strawberry.field(metadata={"weight": 5})
    def leaves(self, first: int | None = 20, last: int | None = None) -> list[Leaf]:
        return [Leaf(name="x")]

    @strawberry.field
    def branch(self) -> Branch | None:
        return None

    @strawberry.field(metadata={"weight": 5, "times": 12})
    def buds(self) -> list[Branch]:
        return []


@strawberry.type
class Query:
    @strawberry.field(metadata={"weight": 5})
    def branches(self, first: int | None = None) -> list[Branch]:
        return [Branch(name="x")]


class Small(Limits):
    config = LimitsConfig(max_depth=5, max_aliases=3, max_tokens=100, max_cost=1_000)


schema = strawberry.Schema(Query, extensions=[Small])


def size(query: str, **variables: Any) -> Size:
    document = parse(query)
    operation = next(d for d in document.definitions if isinstance(d, OperationDefinitionNode))
    fragments = {d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)}
    return measure(schema._schema, operation, fragments, variables)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("{ branches(first: 10) { name } }", Size(2, 0, 5)),
        ("{ branches(first: 10) { leaves(first: 3) { name } } }", Size(3, 0, 55)),
        ("{ branches(first: 10) { branch { leaves(first: 3) { name } } } }", Size(4, 0, 65)),
        ("{ branches { leaves { name } } }", Size(3, 0, 5 + 20 * 5)),
        ("{ branches(first: 2) { leaves(last: 7) { name } branch { name } } }", Size(3, 0, 5 + 2 * 6)),
        ("{ a: branches(first: 1) { b: name } }", Size(2, 2, 5)),
        ("{ branches(first: 2) { buds { leaves(first: 3) { name } } } }", Size(4, 0, 5 + 2 * (5 + 12 * 5))),
        ("{ branches(first: 10) { ...f } } fragment f on Branch { leaves { name } }", Size(3, 0, 55)),
        ("{ branches(first: 10) { ... on Branch { leaves { name } } ... { name } } }", Size(3, 0, 55)),
        ("{ __typename }", Size(1, 0, 0)),
    ],
)
def test_size_is_depth_aliases_and_weight_times_first(query: str, expected: Size) -> None:
    assert size(query) == expected


def test_first_counts_as_given_by_a_variable_or_its_default() -> None:
    query = "query($n: Int = 100) { branches(first: $n) { leaves { name } } }"
    assert size(query, n=10).cost == 5 + 10 * 5
    for variables, cost in (({}, 505), ({"n": 10}, 55), ({"n": None}, 5 + 20 * 5)):
        assert schema.execute_sync(query, variables).extensions == {"cost": {"spent": cost, "limit": 1_000}}


def test_neither_a_negative_size_nor_a_float_makes_room_for_more() -> None:
    negative = "{ a: branches(first: -1000) { leaves { name } } b: branches(first: 10) { leaves { name } } }"
    assert size(negative).cost == 5 + 55
    query = "query($n: Int) { branches(first: $n) { leaves(first: $n) { name } } }"
    assert size(query, n=100.0) == size(query, n=100)
    assert size(query, n=float("inf")) == size(query)


def test_doubling_fragments_are_measured_in_no_time() -> None:
    doubling = " ".join(f"fragment f{i} on Branch {{ ...f{i + 1} ...f{i + 1} }}" for i in range(60))
    started = time.process_time()
    assert size(f"{{ branches {{ ...f0 }} }} {doubling} fragment f60 on Branch {{ branch {{ name }} }}").cost > 2**60
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("query", "code", "words"),
    [
        ("{ branches { branch { branch { branch { branch { name } } } } } }", "query_too_deep", "6 levels"),
        ("{ a: branches { n: name m: name o: name } }", "too_many_aliases", "4 aliases"),
        ("{ branches(first: 200) { leaves { name } } }", "query_too_costly", "costs 1005; at most 1000"),
    ],
)
def test_what_is_too_large_is_refused_with_its_size_and_the_limit(query: str, code: str, words: str) -> None:
    result = schema.execute_sync(query)
    assert result.data is None and result.errors is not None
    assert words in result.errors[0].message and result.errors[0].extensions == {"code": code}


def test_too_many_tokens_are_refused_while_they_are_read() -> None:
    result = schema.execute_sync("{ " + "branches { name } " * 40 + "}")
    assert result.errors is not None and "token" in result.errors[0].message.lower()
