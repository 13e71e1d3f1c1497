"""When is somebody told that there is nothing? At even moments only: the time of an answer must not tell an id of what one may
not know, which is found and then looked for among what may be seen, from an id of nothing, which is not found."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLSchema,
    InlineFragmentNode,
    SelectionSetNode,
    get_named_type,
    is_specified_scalar_type,
)

from service.api.moments import even_moment
from service.api.outcomes import Problem

LISTS = ("edges", "hits", "citations", "people")
"""Attributes of outcomes that hold what was found."""


def tell_evenly(schema: GraphQLSchema) -> None:
    """Makes each root field of `schema` that is given an id tell at the next even moment of its operation that it found nothing
    (null, a problem, an empty list), and at once what it found. Where an operation has several root fields, the moments lie as
    many times as far apart: what is asked twenty times takes twenty times as long. The context of an operation has `began` and
    `moments` (service.api.context).

    Fields below the roots take no ids. What else one operation asks for is told when the last of it is there."""
    for root in filter(None, (schema.query_type, schema.mutation_type)):
        for field in root.fields.values():
            if names := _ids(field):
                field.resolve = _even(field.resolve, names)
    for field in schema.subscription_type.fields.values() if schema.subscription_type else ():
        if names := _ids(field):
            field.subscribe = _even_each(field.subscribe, names)


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


def _roots(selections: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode]) -> Iterator[str]:
    """The names under which an operation answers at its root."""
    for node in selections.selections:
        match node:
            case FieldNode():
                yield (node.alias or node.name).value
            case FragmentSpreadNode():
                yield from _roots(fragments[node.name.value].selection_set, fragments)
            case InlineFragmentNode():
                yield from _roots(node.selection_set, fragments)


async def _wait(info: Any) -> None:
    asked = set(_roots(info.operation.selection_set, info.fragments))
    await even_moment(info.context.began, info.context.moments.nothing * len(asked))


def _even(resolve: Callable[..., Any] | None, names: frozenset[str]) -> Callable[..., Awaitable[Any]]:
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
                await _wait(info)

    return even


def _even_each(subscribe: Callable[..., Any] | None, names: frozenset[str]) -> Callable[..., Any]:
    assert subscribe is not None

    async def even(source: Any, info: Any, **arguments: Any) -> AsyncGenerator[Any, None]:
        stream = subscribe(source, info, **arguments)
        if isinstance(stream, Awaitable):
            stream = await stream
        async with aclosing(stream):
            async for told in stream:
                if _given(names, arguments) and is_nothing(told):
                    await _wait(info)
                yield told

    return even
