"""When is somebody told that there is nothing? At even moments only: the time of an answer must not tell an id of what one may
not know, which is found and then looked for among what may be seen, from an id of nothing, which is not found."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLSchema,
    get_named_type,
    is_specified_scalar_type,
)

from service.api.outcomes import Problem

LISTS = ("edges", "hits", "citations", "people")
"""Attributes of outcomes that hold what was found."""


@dataclass(frozen=True, slots=True)
class EvenlyConfig:
    step: float = 0.05
    """Seconds from one moment to the next. On two cores an id of nothing takes some 6 ms, and that of somebody hidden who said
    10,000 turns 8 ms more (tests/bench/README.md, "What must not show"): both are told at the first, also by a machine that has
    as much again to do. Who asks by an id that they were given seldom asks for nothing, so that hardly anybody waits for it."""


def tell_evenly(schema: GraphQLSchema, config: EvenlyConfig | None = None) -> None:
    """Makes each root field of `schema` that is given an id tell at the next multiple of `config.step`, counted from when its
    operation began, that it found nothing (null, a problem, an empty list), and at once what it found.

    Fields below the roots take no ids. What else one operation asks for is told when the last of it is there."""
    step = (config or EvenlyConfig()).step
    for root in filter(None, (schema.query_type, schema.mutation_type)):
        for field in root.fields.values():
            if names := _ids(field):
                field.resolve = _even(field.resolve, names, step)
    for field in schema.subscription_type.fields.values() if schema.subscription_type else ():
        if names := _ids(field):
            field.subscribe = _even_each(field.subscribe, names, step)


def left_until(elapsed: float, step: float) -> float:
    """Seconds from `elapsed` (seconds of an operation) to the next multiple of `step`, which is never the start itself."""
    return max(math.ceil(elapsed / step), 1) * step - elapsed


def is_nothing(found: object) -> bool:
    if found is None or isinstance(found, Problem):
        return True
    lists = [found] if isinstance(found, list) else [of for name in LISTS if isinstance(of := getattr(found, name, None), list)]
    return bool(lists) and not any(lists)


def takes_ids(type_: GraphQLInputType, within: frozenset[str] = frozenset()) -> bool:
    """Whether an argument of this type is an id, or holds one."""
    named = get_named_type(type_)
    if isinstance(named, GraphQLInputObjectType):
        inner = within | {named.name}
        return named.name not in within and any(takes_ids(field.type, inner) for field in named.fields.values())
    return is_specified_scalar_type(named) and named.name == "ID"


def _ids(field: GraphQLField) -> frozenset[str]:
    return frozenset(name for name, argument in field.args.items() if takes_ids(argument.type))


def _given(names: frozenset[str], arguments: Mapping[str, Any]) -> bool:
    return any(arguments.get(name) is not None for name in names)


async def _wait(info: Any, step: float) -> None:
    await asyncio.sleep(left_until(time.monotonic() - info.context.began, step))


def _even(resolve: Callable[..., Any] | None, names: frozenset[str], step: float) -> Callable[..., Awaitable[Any]]:
    assert resolve is not None

    async def even(source: Any, info: Any, **arguments: Any) -> Any:
        nothing = _given(names, arguments)
        try:
            found = resolve(source, info, **arguments)
            if isinstance(found, Awaitable):
                found = await found
            nothing = nothing and is_nothing(found)
            return found
        finally:
            if nothing:
                await _wait(info, step)

    return even


def _even_each(subscribe: Callable[..., Any] | None, names: frozenset[str], step: float) -> Callable[..., Any]:
    assert subscribe is not None

    async def even(source: Any, info: Any, **arguments: Any) -> AsyncGenerator[Any, None]:
        stream = subscribe(source, info, **arguments)
        if isinstance(stream, Awaitable):
            stream = await stream
        async with aclosing(stream):
            async for told in stream:
                if _given(names, arguments) and is_nothing(told):
                    await _wait(info, step)
                yield told

    return even
