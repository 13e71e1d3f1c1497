"""Which characters may a request hold? Half a surrogate pair is text in JSON and nowhere else: replaced before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from strawberry.extensions import SchemaExtension


def whole(value: Any) -> Any:
    """A JSON value with each half of a surrogate pair, in texts and in keys, replaced by U+FFFD: neither the graph nor a
    tokeniser can be sent one."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case Mapping():
            return {whole(key): whole(item) for key, item in value.items()}
        case list():
            return [whole(item) for item in value]
    return value


class WholeTexts(SchemaExtension):
    """For the variables of an operation; in the query itself such characters are a syntax error."""

    def on_operation(self) -> Iterator[None]:
        self.execution_context.variables = whole(self.execution_context.variables)
        yield
