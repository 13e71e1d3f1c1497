"""What is a GraphQL request? One JSON object of four known fields, in UTF-8, no deeper than a query needs; else it is refused.

Checked here, before anything of it is used, for POST and for each message of a websocket."""

from __future__ import annotations

import json
from typing import Any

from service.api.trusted import TrustedDocuments
from service.errors import VoicegraphError

MAX_NESTING = 32
"""Of lists and objects in JSON. Arguments of the schema nest three deep; what walks a value anywhere below is recursive."""
MAX_DIGITS = 400
"""Of one number: GraphQL's integers have ten, and a double has 309 before its point."""


class NotARequest(VoicegraphError):
    code = "not_a_request"
    says = "{what}. Send one JSON object with `query`, and `variables`, `operationName`, `extensions` where needed."


class OnlyByPost(VoicegraphError):
    code = "only_by_post"
    says = "Queries are sent by POST, with a body of application/json: an address is kept in logs and histories."
    http_status = 405


class OnlyByWebsocket(VoicegraphError):
    code = "only_by_websocket"
    says = "Subscriptions are followed over a websocket at the same address, with the subprotocol graphql-transport-ws."


class OnlyJson(VoicegraphError):
    code = "only_json"
    says = "The body must be application/json. Pages of other origins cannot send that without being asked for leave."
    http_status = 415


def decoded(content: str | bytes) -> Any:
    """A JSON value. Raises NotARequest: no UTF-8, no JSON, NaN or an infinity, too deep, or a number that is too long."""
    try:
        text = content.decode() if isinstance(content, bytes) else content
        value = json.loads(text, parse_constant=_no_constant, parse_int=_integer)
    except NotARequest:
        raise
    except (ValueError, RecursionError):  # what it quotes may be what somebody said
        raise NotARequest(what="The body is not JSON in UTF-8") from None
    _shallow(value)
    return value


def request_of(value: Any) -> dict[str, Any]:
    """`value`, where it is what GraphQL over HTTP calls a request. Raises NotARequest."""
    if isinstance(value, list):
        raise NotARequest(what="A list came, and requests are not taken in batches")
    if not isinstance(value, dict):
        raise NotARequest(what="The body is no JSON object")
    for name, kind in (("query", str), ("operationName", str), ("variables", dict), ("extensions", dict)):
        if not isinstance(value.get(name), kind | None):
            raise NotARequest(what=f"`{name}` is of the wrong type")
    return value


def message_of(value: Any, trusted: TrustedDocuments | None) -> dict[str, Any]:
    """`value`, where it has the form of a message of graphql-transport-ws, with the text of a document that is only named.
    Raises NotARequest, DocumentNotTrusted."""
    message = _object(value, "The message")
    if not isinstance(message.get("type"), str) or not isinstance(message.get("id"), str | None):
        raise NotARequest(what="`type` or `id` is no text")
    if message["type"] != "subscribe":
        return message
    request = request_of(_object(message.get("payload"), "`payload`"))
    if trusted is not None:
        request = trusted.resolved(request)
    if message.get("id") is None or request.get("query") is None:
        raise NotARequest(what="There is no `id`, or no `query`")
    return {**message, "payload": request}


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NotARequest(what=f"{what} is no JSON object")
    return value


def _shallow(value: Any) -> None:
    level, depth = [value], 0
    while level:
        if depth > MAX_NESTING:
            raise NotARequest(what=f"The body nests deeper than {MAX_NESTING} levels")
        level = [
            item for one in level if isinstance(one, dict | list) for item in (one.values() if isinstance(one, dict) else one)
        ]
        depth += 1


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise NotARequest(what=f"A number has more than {MAX_DIGITS} digits")
    return int(digits)


def _no_constant(name: str) -> Any:
    raise NotARequest(what=f"{name} is no JSON")
