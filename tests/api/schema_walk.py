"""Every way through the schema, as queries: each path over object fields that meets no type twice, all leaves along it; or,
for less, each field of each type once below each root field.

Paths that share their beginning are asked for together, as far as one query may cost: what is there once is read once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
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
                for tree in self._trees(of, ()):
                    yield from ((name, f"{start} {part}") for part in self._affordable(start, tree))

    def covering(self, root: GraphQLObjectType, arguments: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
        """(root field, selection): below each root field every field of every type that is reached from it, if not on every
        path, with the first of its arguments."""
        for name, of in root.fields.items():
            given = arguments.get(name, [""])[0]
            start = f"{name}{f'({given})' if given else ''}"
            if is_leaf_type(get_named_type(of.type)):
                yield name, start
            for tree in self._cover(of):
                yield from ((name, f"{start} {part}") for part in self._affordable(start, tree))

    def trees(self, of: GraphQLField) -> list[Tree]:
        """What can be selected below a field; all of them together are everything."""
        return self._trees(of, ())

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

    def _trees(self, of: GraphQLField, met: tuple[str, ...]) -> list[Tree]:
        """Over every path that meets no type twice; of one that leads to its own type, the leaves there."""

        def below(member: GraphQLObjectType, on: str) -> list[Tree]:
            if member.name in met:
                return [_leaves(member, on)] if member.name == met[-1] else []
            return self._selected(member, on, lambda _, field: self._trees(field, (*met, member.name)))

        return self._together(of, below)

    def _cover(self, of: GraphQLField) -> list[Tree]:
        """Over every field of every type once, where that type is nearest; elsewhere its leaves alone."""
        nearest = self._nearest(of)

        def at(place: tuple[str, ...]) -> Callable[[GraphQLObjectType, str], list[Tree]]:
            def below(member: GraphQLObjectType, on: str) -> list[Tree]:
                if nearest[member.name] != place and not _is_of_a_list(member):
                    return [_leaves(member, on)]
                return self._selected(member, on, lambda name, field: self._together(field, at((*place, member.name, name))))

            return below

        return self._together(of, at(()))

    def _nearest(self, of: GraphQLField) -> dict[str, tuple[str, ...]]:
        """By type, the first way to it: types and fields in turn."""
        found: dict[str, tuple[str, ...]] = {}
        coming: deque[tuple[GraphQLField, tuple[str, ...]]] = deque([(of, ())])
        while coming:
            field, place = coming.popleft()
            for member in members_of(self.schema, field):
                if member.name not in found:
                    found[member.name] = place
                    coming.extend((f, (*place, member.name, name)) for name, f in _free(member).items())
        return found

    def _together(self, of: GraphQLField, below: Callable[[GraphQLObjectType, str], list[Tree]]) -> list[Tree]:
        """As many as it takes to have each member of each union: of two in one selection, fields of one name must be alike."""
        members = members_of(self.schema, of)
        if len(members) == 1:
            return below(members[0], "")
        found: list[tuple[Tree, list[GraphQLObjectType]]] = []
        for member in sorted(members, key=lambda member: -len(member.fields)):
            trees = below(member, f"... on {member.name}")
            for i, (tree, with_members) in enumerate(found):
                if trees and all(_alike(member, other) for other in with_members):
                    found[i] = replace(tree, beside=(*tree.beside, trees.pop())), [*with_members, member]
            found += [(tree, [member]) for tree in trees]
        return [tree for tree, _ in found]

    def _selected(self, of: GraphQLObjectType, on: str, trees: Callable[[str, GraphQLField], list[Tree]]) -> list[Tree]:
        leaves = _leaves(of, on)
        below = {
            f"{name}({FIRST})" if "first" in f.args else name: trees(name, f)
            for name, f in _free(of).items()
            if name not in leaves.leaves
        }
        together = list(zip_longest(*below.values())) or [()]
        return [
            replace(leaves, below={name: tree for name, tree in zip(below, some, strict=False) if tree is not None})
            for some in together
        ]


def members_of(schema: GraphQLSchema, field: GraphQLField) -> list[GraphQLObjectType]:
    """What a field can give; nothing of a leaf."""
    of = get_named_type(field.type)
    if isinstance(of, GraphQLUnionType | GraphQLInterfaceType):
        return list(schema.get_possible_types(of))
    return [of] if isinstance(of, GraphQLObjectType) else []


def _free(of: GraphQLObjectType) -> dict[str, GraphQLField]:
    """Fields that can be asked for without arguments."""
    return {name: f for name, f in of.fields.items() if not any(map(is_required_argument, f.args.values()))}


def _leaves(of: GraphQLObjectType, on: str) -> Tree:
    return Tree(on, tuple(name for name, f in _free(of).items() if is_leaf_type(get_named_type(f.type))))


def _is_of_a_list(of: GraphQLObjectType) -> bool:
    """Of Relay's connections: there for what they hold."""
    return of.name.endswith(("Connection", "Edge"))


def _alike(one: GraphQLObjectType, other: GraphQLObjectType) -> bool:
    """Whether both may stand in one selection: what they call the same is a leaf, and of the same type."""
    return all(
        is_leaf_type(get_named_type(one.fields[name].type)) and str(one.fields[name].type) == str(other.fields[name].type)
        for name in one.fields.keys() & other.fields.keys()
    )
