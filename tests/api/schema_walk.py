"""Every way through the schema, as queries: each path over object fields that meets no type twice, all leaves along it.

Paths that share their beginning are asked for together, as far as one query may cost: what is there once is read once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    OperationDefinitionNode,
    get_named_type,
    is_leaf_type,
    is_required_argument,
    parse,
)

from service.api.limits import measure

FIRST = "first: 3"


@dataclass(frozen=True)
class Tree:
    """A selection below a field: of one type, its leaves and what is selected below its other fields."""

    on: str
    """`... on Member` of a union or an interface; empty for a type of its own."""
    leaves: tuple[str, ...]
    below: dict[str, Tree] = field(default_factory=dict)
    """By field, with its arguments."""
    beside: tuple[Tree, ...] = ()
    """Other members of the same union, asked for in the same selection."""

    def __str__(self) -> str:
        inner = " ".join((*self.leaves, *(f"{name} {tree}" for name, tree in self.below.items()))) or "__typename"
        if not self.on:
            return f"{{ {inner} }}"
        return " ".join(("{ __typename", f"{self.on} {{ {inner} }}", *(str(other)[13:-2] for other in self.beside), "}"))

    def parts(self) -> tuple[Tree, ...]:
        """Two smaller ones with all its paths between them; none, where it is a single path of one field."""
        if len(self.below) > 1:
            fields = list(self.below.items())
            halves = fields[: len(fields) // 2], fields[len(fields) // 2 :]
            return tuple(Tree(self.on, self.leaves, dict(half), self.beside) for half in halves)
        return tuple(
            Tree(self.on, self.leaves, {name: part}, self.beside) for name, tree in self.below.items() for part in tree.parts()
        )


@dataclass(frozen=True)
class Walk:
    schema: GraphQLSchema
    max_cost: int
    """Of one query."""

    def queries(self, root: GraphQLObjectType, arguments: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
        """(root field, selection) over every path; `arguments` are those tried for a root field."""
        for name, of in root.fields.items():
            for given in arguments.get(name, [""]):
                start = f"{name}{f'({given})' if given else ''}"
                if is_leaf_type(get_named_type(of.type)):
                    yield name, start
                for tree in self._trees(of, frozenset()):
                    yield from ((name, f"{start} {part}") for part in self._affordable(start, tree))

    def trees(self, of: GraphQLField) -> list[Tree]:
        """What can be selected below a field; all of them together are everything."""
        return self._trees(of, frozenset())

    def cost(self, selection: str) -> int:
        """Of a root field with what is selected below it."""
        (operation,) = parse(f"{{ {selection} }}").definitions
        assert isinstance(operation, OperationDefinitionNode)
        return measure(self.schema, operation, {}, {}).cost

    def _affordable(self, start: str, tree: Tree) -> Iterator[Tree]:
        if self.cost(f"{start} {tree}") <= self.max_cost:
            yield tree
            return
        parts = tree.parts()
        assert parts, f"a single path through {start} costs more than a query may"
        for part in parts:
            yield from self._affordable(start, part)

    def _trees(self, of: GraphQLField, met: frozenset[str]) -> list[Tree]:
        """As many as it takes to have each member of each union: of two in one selection, fields of one name must be alike."""
        members = self._members(get_named_type(of.type))
        if len(members) == 1:
            return [] if members[0].name in met else self._of_type(members[0], met | {members[0].name}, "")
        found: list[tuple[Tree, list[GraphQLObjectType]]] = []
        for member in sorted(members, key=lambda member: -len(member.fields)):
            if member.name in met:
                continue
            trees = self._of_type(member, met | {member.name}, f"... on {member.name}")
            for i, (tree, with_members) in enumerate(found):
                if trees and all(_alike(member, other) for other in with_members):
                    found[i] = replace(tree, beside=(*tree.beside, trees.pop())), [*with_members, member]
            found += [(tree, [member]) for tree in trees]
        return [tree for tree, _ in found]

    def _of_type(self, of: GraphQLObjectType, met: frozenset[str], on: str) -> list[Tree]:
        fields = {name: f for name, f in of.fields.items() if not any(map(is_required_argument, f.args.values()))}
        leaves = tuple(name for name, f in fields.items() if is_leaf_type(get_named_type(f.type)))
        below = {
            f"{name}({FIRST})" if "first" in f.args else name: self._trees(f, met)
            for name, f in fields.items()
            if name not in leaves
        }
        together = list(zip_longest(*below.values())) or [()]
        return [
            Tree(on, leaves, {name: tree for name, tree in zip(below, trees, strict=False) if tree is not None})
            for trees in together
        ]

    def _members(self, of: object) -> list[GraphQLObjectType]:
        if isinstance(of, GraphQLUnionType | GraphQLInterfaceType):
            return list(self.schema.get_possible_types(of))
        return [of] if isinstance(of, GraphQLObjectType) else []


def _alike(one: GraphQLObjectType, other: GraphQLObjectType) -> bool:
    """Whether both may stand in one selection: what they call the same is a leaf, and of the same type."""
    return all(
        is_leaf_type(get_named_type(one.fields[name].type)) and str(one.fields[name].type) == str(other.fields[name].type)
        for name in one.fields.keys() & other.fields.keys()
    )
