"""What is not there is told at even moments, whatever it took to find that out; what is there, at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Annotated, Any, TypeAlias

import pytest
import strawberry
from graphql import GraphQLInterfaceType, GraphQLObjectType
from hypothesis import given
from hypothesis import strategies as st

from service.api.connections import Connection, PageInfo
from service.api.evenly import is_nothing, takes_ids, tell_evenly
from service.api.moments import MomentsConfig, even_moment, left_until
from service.api.outcomes import NotFound
from service.api.schema import make_schema
from service.errors import VoicegraphError


@strawberry.input
class Narrowed:
    people: list[strawberry.ID] = strawberry.field(default_factory=list)


@strawberry.input
class Nested:
    narrowed: Narrowed | None = None
    nested: Nested | None = None


@strawberry.type
class Found:
    hits: list[str]


class Missing(VoicegraphError):
    code = "missing"
    says = "Nothing."
    http_status = 404


NOTHING = NotFound(code="not_found", message="")
RESULTS: dict[str, Any] = {"null": None, "none found": Found(hits=[]), "problem": NOTHING, "there": Found(hits=["a"])}
Outcome: TypeAlias = Annotated[Found | NotFound, strawberry.union("Outcome")]


@strawberry.type
class Query:
    @strawberry.field
    async def by_id(self, id: strawberry.ID) -> Outcome | None:
        if id == "raises":
            raise Missing()
        return RESULTS[id]

    @strawberry.field
    def listed(self, of: strawberry.ID | None = None, narrowed: Nested | None = None) -> list[str]:
        return []


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def change(self, id: strawberry.ID) -> Found | None:
        return RESULTS[id]


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def follow(self, id: strawberry.ID) -> AsyncGenerator[Found, None]:
        yield Found(hits=["a"])
        yield Found(hits=[])


SCHEMA = strawberry.Schema(Query, Mutation, Subscription)
tell_evenly(SCHEMA._schema)
STEP, LATE = 0.2, 3_600.0
"""Seconds: no answer takes so long by itself; and what waits for this moment is not told while a test lasts."""


def context(step: float = STEP) -> Any:
    return SimpleNamespace(began=time.monotonic(), moments=MomentsConfig(nothing=step))


WAITS = (
    '{ byId(id: "null") { __typename } }',
    '{ byId(id: "none found") { __typename } }',
    '{ byId(id: "problem") { __typename } }',
    '{ byId(id: "raises") { __typename } }',
    '{ listed(of: "x") }',
    '{ listed(narrowed: {narrowed: {people: ["x"]}}) }',
    'mutation { change(id: "null") { hits } }',
)
THREE = '{ a: listed(of: "x") ...F ... on Query { a: listed(of: "x") } } fragment F on Query { b: listed(of: "y") c: listed }'
FOLLOW = 'subscription { follow(id: "x") { hits } }'
AT_ONCE = ('{ byId(id: "there") { __typename } }', "{ listed }", 'mutation { change(id: "there") { hits } }')


@pytest.mark.parametrize("query", WAITS)
async def test_nothing_found_by_an_id_is_told_at_the_next_even_moment(query: str) -> None:
    asked = context()
    await SCHEMA.execute(query, context_value=asked)
    assert time.monotonic() - asked.began >= STEP


@pytest.mark.parametrize("query", AT_ONCE)
async def test_what_is_found_or_asked_without_an_id_is_told_at_once(query: str) -> None:
    async with asyncio.timeout(60):
        result = await SCHEMA.execute(query, context_value=context(LATE))
    assert result.errors is None and result.data is not None


async def test_what_is_asked_three_times_is_told_at_moments_three_times_as_far_apart() -> None:
    asked = context()
    query = (
        '{ a: listed(of: "x") ...F ... on Query { a: listed(of: "x") } } fragment F on Query { b: listed(of: "y") c: listed }'
    )
    await SCHEMA.execute(query, context_value=asked)
    assert time.monotonic() - asked.began >= 3 * STEP


async def test_of_what_is_followed_a_result_is_told_at_once_and_that_there_is_none_at_an_even_moment() -> None:
    stream: Any = await SCHEMA.subscribe(FOLLOW, context_value=context(LATE))
    async with asyncio.timeout(60):
        assert (await anext(stream)).data == {"follow": {"hits": ["a"]}}
    await stream.aclose()
    asked = context()
    stream = await SCHEMA.subscribe(FOLLOW, context_value=asked)
    assert [result.data["follow"]["hits"] async for result in stream] == [["a"], []]
    assert time.monotonic() - asked.began >= STEP


@given(elapsed=st.floats(0, 100), step=st.floats(0.001, 10))
def test_the_next_moment_is_less_than_a_step_away_and_never_before_the_first(elapsed: float, step: float) -> None:
    left = left_until(elapsed, step)
    assert -1e-9 <= left <= step * (1 + 1e-9)
    assert elapsed + left >= step * (1 - 1e-9)
    moments = (elapsed + left) / step
    assert moments == pytest.approx(round(moments))


@pytest.mark.parametrize(("elapsed", "left"), [(0.0, 0.025), (0.003, 0.022), (0.025, 0.0), (0.026, 0.024)])
def test_the_next_moment_after_some_time(elapsed: float, left: float) -> None:
    assert left_until(elapsed, 0.025) == pytest.approx(left)


async def test_an_even_moment_is_never_too_early() -> None:
    for step in (0.001, 0.01, 0.013):
        began = time.monotonic()
        await even_moment(began, step)
        assert time.monotonic() - began >= step


def test_nothing_is_null_a_problem_or_a_list_that_is_empty() -> None:
    page = PageInfo(has_next_page=False, has_previous_page=False, start_cursor=None, end_cursor=None)
    assert all(map(is_nothing, (None, NOTHING, [], Found(hits=[]), Connection(edges=[], page_info=page))))
    assert not any(map(is_nothing, (["a"], Found(hits=["a"]), "text", 0, False, strawberry.ID("x"))))


def test_only_roots_take_ids() -> None:
    """Else what lies below one could tell by its time: it would have to be told evenly, too."""
    schema = make_schema(development=True)._schema
    roots = {schema.query_type, schema.mutation_type, schema.subscription_type}
    with_fields = [t for t in schema.type_map.values() if isinstance(t, GraphQLObjectType | GraphQLInterfaceType)]
    taking = {t for t in with_fields for field in t.fields.values() if any(takes_ids(a.type) for a in field.args.values())}
    assert taking == roots


def test_every_root_of_the_service_that_takes_an_id_tells_evenly() -> None:
    schema = make_schema(development=False)._schema
    assert schema.query_type and schema.mutation_type and schema.subscription_type
    for root, name in (
        (schema.query_type, "resolve"),
        (schema.mutation_type, "resolve"),
        (schema.subscription_type, "subscribe"),
    ):
        for field in root.fields.values():
            by_id = any(takes_ids(argument.type) for argument in field.args.values())
            assert (getattr(field, name).__module__ == "service.api.evenly") is by_id
