"""Which documents are run? Those that parse within limits and fit the schema; of what was run before that is known already."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from graphql import DocumentNode, GraphQLError, parse
from strawberry.extensions import SchemaExtension
from strawberry.schema.schema import validate_document

from service.api.repeats import refuse_repeats


@dataclass(frozen=True, slots=True)
class DocumentsConfig:
    kept_characters: int = 100_000
    """Of documents that are kept, all together: a hundred of a program's own. As parsed they take 78 bytes each, 8 MB."""
    longest_kept: int = 8_000
    """Characters; what a program asks again and again is shorter, and GraphiQL's introspection has 1,700."""


class Documents:
    """Valid documents by their text, the last used last. Of one schema with one set of rules."""

    def __init__(self, config: DocumentsConfig | None = None) -> None:
        self._config = config or DocumentsConfig()
        self._known: OrderedDict[str, DocumentNode] = OrderedDict()
        self._characters = 0

    def find(self, text: str) -> DocumentNode | None:
        if text in self._known:
            self._known.move_to_end(text)
        return self._known.get(text)

    def keep(self, text: str, document: DocumentNode) -> None:
        """What does not fit the schema is not to be given: it would push out what does."""
        if len(text) > self._config.longest_kept or text in self._known:
            return
        self._known[text] = document
        self._characters += len(text)
        while self._characters > self._config.kept_characters:
            self._characters -= len(self._known.popitem(last=False)[0])

    @property
    def characters(self) -> int:
        return self._characters


class Prepared(SchemaExtension):
    """Parses and validates, once for each text that is valid."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._found = False

    def on_parse(self) -> Iterator[None]:
        context = self.execution_context
        if context.query and context.graphql_document is None:
            known = self._documents.find(context.query)
            self._found = known is not None
            # Strawberry meets it again and tells it; on a websocket it only logs what is raised here.
            with suppress(GraphQLError):
                context.graphql_document = known or parse(context.query, **context.parse_options)
        yield

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        document = context.graphql_document
        assert document is not None  # parsed
        if self._found:
            context.pre_execution_errors = []
        else:
            try:
                refuse_repeats(document)
                context.pre_execution_errors = validate_document(context.schema._schema, document, context.validation_rules)
            except GraphQLError as error:
                context.pre_execution_errors = [error]
            if not context.pre_execution_errors and context.query:
                self._documents.keep(context.query, document)
        yield
