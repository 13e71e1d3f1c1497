"""How often does a document say the same again? Fields of one name that would be merged are compared two by two when it is
validated: `space { name }` 400 times in 2,000 tokens held one core for a second, and all other requests with it (2026-11). They
are counted first, which takes a millisecond."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

from service.api.errors import graphql_error
from service.errors import VoicegraphError

MAX_REPEATS = 2_000
"""Pairs; 1,800 took 20 ms to validate on a busy core, 2026-11. Sixty fields that are each named twice are sixty."""
MAX_VISITED = 20_000
"""Selections looked at, those of a fragment once for each set that spreads it; of 2,000 tokens without fragments 2,000."""


class TooManyRepeats(VoicegraphError):
    code = "too_many_repeats"
    says = "The query names the same fields again and again: more than {limit} pairs of them. Name each once."


def refuse_repeats(document: DocumentNode, *, limit: int = MAX_REPEATS) -> None:
    """Raises a GraphQLError with the code of TooManyRepeats."""
    if repeats(document, limit=limit) > limit:
        raise graphql_error(TooManyRepeats(limit=limit))


def repeats(document: DocumentNode, *, limit: int) -> int:
    """Pairs of fields that fall together under one name, at all levels; counting ends soon above `limit`.

    Fragments are followed once for each set of selections that spreads them, as the validation does."""
    fragments = {d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)}
    counted = _Count(fragments, limit)
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode | FragmentDefinitionNode):
            counted.together([definition.selection_set])
    return counted.pairs


class _Count:
    def __init__(self, fragments: dict[str, FragmentDefinitionNode], limit: int) -> None:
        self._fragments, self._limit = fragments, limit
        self.pairs = self._visited = 0

    def together(self, sets: Iterable[SelectionSetNode]) -> None:
        waiting = [list(sets)]
        while waiting and self.pairs <= self._limit:
            by_name: defaultdict[str, list[FieldNode]] = defaultdict(list)
            for field in self._fields(waiting.pop()):
                by_name[(field.alias or field.name).value].append(field)
            for fields in by_name.values():
                self.pairs += len(fields) * (len(fields) - 1) // 2
                below = [field.selection_set for field in fields if field.selection_set is not None]
                if below:
                    waiting.append(below)

    def _fields(self, sets: list[SelectionSetNode]) -> Iterator[FieldNode]:
        spread: set[str] = set()
        while sets:
            for node in sets.pop().selections:
                self._visited += 1
                if self._visited > MAX_VISITED:
                    self.pairs = self._limit + 1
                    return
                if isinstance(node, FieldNode):
                    yield node
                elif isinstance(node, InlineFragmentNode):
                    sets.append(node.selection_set)
                elif isinstance(node, FragmentSpreadNode) and node.name.value not in spread:
                    spread.add(node.name.value)
                    if (fragment := self._fragments.get(node.name.value)) is not None:
                        sets.append(fragment.selection_set)
