"""How much may one request ask for? Depth, aliases, tokens and cost, computed before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLNamedType,
    GraphQLSchema,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
    is_composite_type,
    is_leaf_type,
)
from strawberry.extensions import SchemaExtension

from service.api.context import Context
from service.api.cursors import DEFAULT_FIRST
from service.api.errors import graphql_error
from service.api.rates import COST_OF_A_POINT, RateLimited
from service.errors import VoicegraphError


@dataclass(frozen=True, slots=True)
class LimitsConfig:
    max_depth: int = 14
    """`sessions { edges { node { messages { edges { node { speaker { messages { edges { node { text` is 11."""
    max_aliases: int = 20
    """A batch loader does not merge the same field under two aliases with different arguments."""
    max_tokens: int = 2_000
    """GraphiQL's introspection query, the longest we know of, has about 300."""
    max_characters: int = 32_768
    """Of the query's text: 2,000 tokens with two questions of 2,000 characters. Longer texts belong into variables."""
    max_comments: int = 100
    """Comments are no tokens, and are kept with them."""
    max_cost: int = 5_000
    """100 messages with speaker and addressees cost 600; 100 people with 10 messages each 4,200."""


class QueryTooDeep(VoicegraphError):
    code = "query_too_deep"
    says = "The query is {depth} levels deep; at most {limit} are allowed. Ask in two requests."


class TooManyAliases(VoicegraphError):
    code = "too_many_aliases"
    says = "The query uses {aliases} aliases; at most {limit} are allowed. Ask in several requests."


class QueryTooCostly(VoicegraphError):
    code = "query_too_costly"
    says = (
        "The query costs {cost}; at most {limit} is allowed. Lower `first`, above all on outer lists, or select fewer fields."
    )


@dataclass(frozen=True, slots=True)
class Size:
    depth: int = 0
    aliases: int = 0
    cost: int = 0


def measure(
    schema: GraphQLSchema,
    operation: OperationDefinitionNode,
    fragments: Mapping[str, FragmentDefinitionNode],
    variables: Mapping[str, Any],
) -> Size:
    """The size of a valid operation. Cost: a field weighs 1 if it has fields of its own, else 0, unless its metadata says
    `weight`; what lies below a field with `first` or `last` counts that often, below a list of fixed length as often as its
    metadata's `times` says: about how many items it mostly has. `@skip` is not looked at.

    Every fragment is measured once, however often it is spread: nested spreads double with each level otherwise."""
    root = schema.get_root_type(operation.operation)
    assert root is not None  # validated
    return _Measure(schema, fragments, variables).selection(root, operation.selection_set)


class _Measure:
    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], variables: Mapping[str, Any]
    ) -> None:
        self._schema, self._fragments, self._variables = schema, fragments, variables
        self._known: dict[str, Size] = {}

    def selection(self, parent: GraphQLNamedType, selections: SelectionSetNode) -> Size:
        depth = aliases = cost = 0
        for node in selections.selections:
            match node:
                case FieldNode():
                    size = self._field(parent, node)
                case FragmentSpreadNode():
                    size = self._fragment(node.name.value)
                case _:
                    condition = node.type_condition  # type: ignore[attr-defined]
                    inner = self._schema.get_type(condition.name.value) if condition else parent
                    assert inner is not None
                    size = self.selection(inner, node.selection_set)  # type: ignore[attr-defined]
            depth, aliases, cost = max(depth, size.depth), aliases + size.aliases, cost + size.cost
        return Size(depth, aliases, cost)

    def _fragment(self, name: str) -> Size:
        if name not in self._known:
            fragment = self._fragments[name]
            on = self._schema.get_type(fragment.type_condition.name.value)
            assert on is not None
            self._known[name] = self.selection(on, fragment.selection_set)
        return self._known[name]

    def _field(self, parent: GraphQLNamedType, node: FieldNode) -> Size:
        alias = int(node.alias is not None)
        if node.name.value.startswith("__"):
            return Size(1, alias, 0)
        field: GraphQLField = parent.fields[node.name.value]  # type: ignore[attr-defined]
        below = Size()
        of = get_named_type(field.type)
        if node.selection_set is not None and is_composite_type(of):
            below = self.selection(of, node.selection_set)
        times = self._times(field, node)
        return Size(1 + below.depth, alias + below.aliases, _weight(field) + times * below.cost)

    def _times(self, field: GraphQLField, node: FieldNode) -> int:
        sizes = {"first", "last"} & set(field.args)
        if not sizes:
            return int(_metadata(field).get("times", 1))
        given = {a.name.value: self._value(a.value) for a in node.arguments or ()}
        named = [given[name] if name in given else field.args[name].default_value for name in sizes]
        return max((n for value in named if (n := _count(value)) is not None), default=DEFAULT_FIRST)

    def _value(self, value: ValueNode) -> Any:
        if isinstance(value, IntValueNode):
            return int(value.value)
        return self._variables.get(value.name.value) if isinstance(value, VariableNode) else None


def _count(value: Any) -> int | None:
    """`value` as the executor takes it for an Int: 100.0 from a variable is 100 too. A negative one, refused when it is its
    turn, must not make room for what else is asked."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return max(0, value) if type(value) is int else None


def _metadata(field: GraphQLField) -> Mapping[str, Any]:
    metadata: Mapping[str, Any] = getattr(field.extensions.get("strawberry-definition"), "metadata", {})
    return metadata


def _weight(field: GraphQLField) -> int:
    weight = _metadata(field).get("weight")
    return int(weight) if weight is not None else 0 if is_leaf_type(get_named_type(field.type)) else 1


class Limits(SchemaExtension):
    """Refuses an operation that is too large, with its size and the limit; reports the cost of the others."""

    config = LimitsConfig()

    def on_operation(self) -> Iterator[None]:
        self._cost: int | None = None
        options = cast(dict[str, Any], self.execution_context.parse_options)  # Strawberry knows of one, graphql-core of all
        options.update(
            max_tokens=self.config.max_tokens,
            max_comments=self.config.max_comments,
            max_source_length=self.config.max_characters,
        )
        yield

    def on_execute(self) -> Iterator[None]:
        if error := self._refusal():
            raise error
        yield

    def get_results(self) -> dict[str, Any]:
        return {} if self._cost is None else {"cost": {"spent": self._cost, "limit": self.config.max_cost}}

    def _refusal(self) -> GraphQLError | None:
        context = self.execution_context
        assert context.graphql_document is not None
        definitions = context.graphql_document.definitions
        operations = [d for d in definitions if isinstance(d, OperationDefinitionNode)]
        name = context.operation_name
        operation = next(o for o in operations if len(operations) == 1 or (o.name and o.name.value == name))
        fragments = {d.name.value: d for d in definitions if isinstance(d, FragmentDefinitionNode)}
        defaults = {v.variable.name.value: v.default_value for v in operation.variable_definitions or ()}
        known = {name: int(v.value) for name, v in defaults.items() if isinstance(v, IntValueNode)}
        size = measure(context.schema._schema, operation, fragments, known | dict(context.variables or {}))
        self._cost = size.cost
        limits = self.config
        if size.depth > limits.max_depth:
            return graphql_error(QueryTooDeep(depth=size.depth, limit=limits.max_depth))
        if size.aliases > limits.max_aliases:
            return graphql_error(TooManyAliases(aliases=size.aliases, limit=limits.max_aliases))
        if size.cost > limits.max_cost:
            return graphql_error(QueryTooCostly(cost=size.cost, limit=limits.max_cost))
        return _charged(context.context, size.cost) if isinstance(context.context, Context) else None


def _charged(context: Context, cost: int) -> GraphQLError | None:
    """Takes what `cost` is from who asks; the refusal, with its status, where there is not so much."""
    try:
        context.charge(cost / COST_OF_A_POINT)
    except RateLimited as error:
        if context.response is not None:
            context.response.status_code = error.http_status
            context.response.headers["retry-after"] = str(error.facts["seconds"])
        return graphql_error(error)
    return None
