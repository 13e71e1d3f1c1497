"""Does an id that one may not know answer like one of nothing? Calls made of the schema: every place of a query, mutation or
subscription where an id can stand, with one of each, and what the two answers are but for the id."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLObjectType,
    OperationDefinitionNode,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    is_required_input_field,
    parse,
)

from service.api.limits import measure
from service.types.ids import derived, fresh
from tests.api.schema_values import listed, named_by, needed
from tests.api.serving import Api
from tests.api.tenancy_secrets import ID
from tests.api.tenancy_walk import SCHEMA, WALK

GIVEN = "$id"
"""Stands for the id in a call."""


@dataclass(frozen=True, slots=True)
class Call:
    """One place where an id can stand."""

    root: str
    """query | mutation | subscription"""
    name: str
    """Of the field, and of the way to the place within its arguments: `search.filters.speakers`."""
    text: str
    """With GIVEN in its place, `$key` where a key of one's own must stand, and `$Person`, `$Upload`, … where other ids must."""

    @property
    def label(self) -> str:
        """Of what the id is asked for."""
        return named_by(self.name)

    def with_id(self, id: str, others: Mapping[str, str]) -> str:
        """`others`: by label, an id that whoever asks may know."""
        text = self.text.replace(GIVEN, id).replace("$key", fresh())
        return _OTHER.sub(lambda found: others.get(found[1], "0" * 64), text)


_OTHER = re.compile(r"\$([A-Z][A-Za-z]+)")


def calls() -> list[Call]:
    """Every place of the whole schema."""
    roots = (("query", SCHEMA.query_type), ("mutation", SCHEMA.mutation_type), ("subscription", SCHEMA.subscription_type))
    return [call for kind, root in roots if root is not None for call in _of_root(kind, root)]


def _of_root(kind: str, root: GraphQLObjectType) -> Iterator[Call]:
    for name, of in root.fields.items():
        for place, value in _places(of.args):
            others = " ".join(
                f"{other}: {needed(f'{name}.{other}', argument)}"
                for other, argument in of.args.items()
                if other != place.split(".")[0] and is_required_argument(argument)
            )
            given = f"{place.split('.')[0]}: {value} {others}".strip()
            yield Call(kind, f"{name}.{place}", _affordable(f"{kind} {{ {name}({given})", of))


def _places(fields: dict[str, GraphQLArgument] | dict[str, GraphQLInputField]) -> Iterator[tuple[str, str]]:
    """(where an id can stand, the value of the argument with one there)"""
    for name, argument in fields.items():
        named = get_named_type(argument.type)
        if named.name == "ID":
            yield name, listed(argument.type, f'"{GIVEN}"')
        elif isinstance(named, GraphQLInputObjectType):
            for place, value in _places(named.fields):
                first = place.split(".")[0]
                others = " ".join(
                    f"{other}: {needed(f'{name}.{other}', field)}"
                    for other, field in named.fields.items()
                    if other != first and is_required_input_field(field)
                )
                yield f"{name}.{place}", listed(argument.type, f"{{ {first}: {value} {others} }}")


def _affordable(start: str, of: GraphQLField) -> str:
    """With all leaves, and as much below as one may ask for at once."""
    if is_leaf_type(get_named_type(of.type)):
        return f"{start} }}"
    tree = WALK.trees(of)[0]
    while _cost(f"{start} {tree} }}") > WALK.max_cost:
        tree = tree.parts()[0]
    return f"{start} {tree} }}"


def _cost(text: str) -> int:
    (operation,) = parse(text).definitions
    assert isinstance(operation, OperationDefinitionNode)
    return measure(SCHEMA, operation, {}, {}).cost


_SCORE = re.compile(r'"(score|added|weight)": -?[0-9.]+(?:e-?\d+)?')
"""How rare a word is, is counted over the whole index: whatever anybody writes meanwhile moves these a little."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.+Z]+")


def without_ids(answer: object, given: str) -> str:
    """The answer with one word for the id that was given, and one for each id and time that the service made anew."""
    text = json.dumps(answer, sort_keys=True).replace(given, "THE ID")
    return _SCORE.sub(r'"\1": A SCORE', _TIME.sub("A TIME", ID.sub("AN ID", text)))


async def differences(
    api: Api,
    token: str | None,
    hidden: Mapping[str, Sequence[str]],
    others: Mapping[str, str],
    some: Sequence[Call],
    headers: Mapping[str, str] | None = None,
) -> tuple[int, list[str]]:
    """How many pairs of answers were compared, and those that differ. `hidden`: by label, ids that the token may not know."""
    compared, found = 0, []
    for call in some:
        for id in hidden.get(call.label, ()):
            made = "f" * 64 if call.label == "Upload" else derived("nothing", fresh())
            absent = id.replace(ID.findall(id)[0], made) if ID.findall(id) else made
            given = (id, absent)
            asked = (_asked(api, call.with_id(one, others), call.root, token, headers or {}) for one in given)
            answers = [without_ids(answer, one) for answer, one in zip(await asyncio.gather(*asked), given, strict=True)]
            compared += 1
            if answers[0] != answers[1]:
                found.append(f"{call.root} {call.name} of {call.label} {id}: {_first_difference(*answers)}")
    return compared, found


async def _asked(api: Api, text: str, root: str, token: str | None, headers: Mapping[str, str]) -> object:
    if root != "subscription":
        return await api.post(text, token, dict(headers))
    async with api.socket({**headers, "authorization": f"Bearer {token}"} if token else dict(headers)) as socket:
        if (await socket.receive())["type"] != "connection_ack":
            return "refused"
        return await socket.results("1", text)


def _first_difference(one: str, other: str) -> str:
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return f"…{one[max(0, at - 120) : at + 80]}… / …{other[max(0, at - 40) : at + 80]}…"
