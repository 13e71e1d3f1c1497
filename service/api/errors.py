"""What does a caller learn of an error? Expected ones in full; of the others a number that the log knows too."""

from __future__ import annotations

import logging
import traceback

from graphql import GraphQLError
from strawberry.extensions import MaskErrors

from service.errors import VoicegraphError
from service.types.ids import fresh

_log = logging.getLogger("voicegraph.api")


def incident(error: BaseException) -> str:
    """Logs where `error` came from and its kind, and returns the number it is filed under. Its message is left out:
    drivers and decoders quote what they were given, and that may be what somebody said."""
    number = fresh()
    frames = " < ".join(f"{f.filename}:{f.lineno} {f.name}" for f in reversed(traceback.extract_tb(error.__traceback__)))
    code = f" {error.code}" if isinstance(error, VoicegraphError) else ""
    _log.error("incident %s: %s%s at %s", number, type(error).__qualname__, code, frames)
    return number


def graphql_error(error: VoicegraphError, like: GraphQLError | None = None) -> GraphQLError:
    """`error` with its code in `extensions.code`, at the place of `like`. What is the service's own fault (5xx) keeps its
    code, but its words, which may name paths and hosts, go to the log."""
    extensions = {"code": error.code}
    message = error.message
    if error.http_status >= 500:
        extensions["incident"] = incident(error)
        message = "The service cannot do that now. Try again later; its log has more under this incident."
    return GraphQLError(message, nodes=like.nodes if like else None, path=like.path if like else None, extensions=extensions)


class MaskUnexpected(MaskErrors):
    """Errors of the query itself and of its variables pass, expected errors get their code, all others become an incident."""

    def __init__(self) -> None:
        super().__init__(should_mask_error=_is_no_matter_of_the_query)

    def anonymise_error(self, error: GraphQLError) -> GraphQLError:
        original = error.original_error
        if isinstance(original, VoicegraphError):
            return graphql_error(original, error)
        assert original is not None
        number = incident(original)
        return GraphQLError(
            "Unexpected error. The log has more under this incident.",
            nodes=error.nodes,
            path=error.path,
            extensions={"code": "unexpected", "incident": number},
        )


def _is_no_matter_of_the_query(error: GraphQLError) -> bool:
    """What does not fit a type is told as a GraphQLError about a GraphQLError, and quotes only what was sent."""
    return error.original_error is not None and not isinstance(error.original_error, GraphQLError)
