"""Where does the next page start? Opaque keyset cursors: the sort key of an item, never its position."""

from __future__ import annotations

import base64
import json

from service.errors import InvalidInput
from service.graph.paging import Cursor, Page

DEFAULT_FIRST = 20
_MAX_LENGTH = 2_048  # characters of a cursor; callers may choose long ids


def encode(cursor: Cursor) -> str:
    return base64.urlsafe_b64encode(json.dumps(cursor, ensure_ascii=False, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(text: str, argument: str) -> Cursor:
    """The key in a cursor; raises InvalidInput for anything that is not one.

    A cursor is not a permission: it says only where to go on, and the gate stands in the query."""
    try:
        if len(text) > _MAX_LENGTH:
            raise ValueError("too long")
        key, id = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
        if type(key) is not int or not isinstance(id, str) or abs(key) >= 2**63:
            raise ValueError("other key")
    except (ValueError, TypeError, RecursionError):
        raise InvalidInput(what=f"`{argument}`", given="not a cursor", needed="a `cursor` that this list returned") from None
    return key, id


def page(first: int | None, after: str | None, last: int | None = None, before: str | None = None) -> Page:
    """The page that a connection's arguments ask for: the first DEFAULT_FIRST without any. Raises InvalidInput above
    MAX_PAGE, since a cap applied silently looks like the end of the list."""
    if first is None and last is None:
        first = DEFAULT_FIRST
    return Page(
        first=first,
        after=decode(after, "after") if after else None,
        last=last,
        before=decode(before, "before") if before else None,
    )
