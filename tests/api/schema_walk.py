"""Every way through the schema, as queries: each path over object fields that meets no type twice, all leaves along it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

FIRST = "first: 3"


@dataclass(frozen=True)
class Walk:
    schema: GraphQLSchema

    def queries(self, root: GraphQLObjectType, arguments: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
        """(root field, selection) of every path; `arguments` are those tried for a root field."""
        for name, field in root.fields.items():
            for given in arguments.get(name, [""]):
                for below in self._below(field, frozenset()):
                    yield name, f"{name}{f'({given})' if given else ''} {below}"

    def _below(self, field: GraphQLField, met: frozenset[str]) -> Iterator[str]:
        of = get_named_type(field.type)
        if is_leaf_type(of):
            yield ""
            return
        members = self._members(of)
        for member in members:
            if member.name in met:
                continue
            for selection in self._paths(member, met | {member.name}):
                on = f"... on {member.name} " if len(members) > 1 else ""
                yield f"{{ __typename {on}{selection} }}" if on else selection

    def _paths(self, of: GraphQLObjectType, met: frozenset[str]) -> Iterator[str]:
        fields = {name: f for name, f in of.fields.items() if not any(map(is_required_argument, f.args.values()))}
        leaves = " ".join(name for name, f in fields.items() if is_leaf_type(get_named_type(f.type))) or "__typename"
        further = False
        for name, field in fields.items():
            if is_leaf_type(get_named_type(field.type)):
                continue
            for below in self._below(field, met):
                further = True
                arguments = f"({FIRST})" if "first" in field.args else ""
                yield f"{{ {leaves} {name}{arguments} {below} }}"
        if not further:
            yield f"{{ {leaves} }}"

    def _members(self, of: object) -> list[GraphQLObjectType]:
        if isinstance(of, GraphQLUnionType | GraphQLInterfaceType):
            return list(self.schema.get_possible_types(of))
        assert isinstance(of, GraphQLObjectType)
        return [of]
