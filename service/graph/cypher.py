"""How does a query name a property that depends on the model, or a rule that many share? `<space>`, `<view>` and `<holds>` in a
constant, filled in here only."""

from __future__ import annotations

import re
from functools import lru_cache

from service.errors import VoicegraphError

_HOLDS = "RETURN c.state ORDER BY c.at DESC, c.created_at DESC, c.state <> 'granted' DESC LIMIT 1"
"""Of consents `c` of one person and purpose, which state holds: the newest's, by when it was said, then by when it was written
down; of two of one moment what refuses."""
_NAME = re.compile(r"[a-z0-9_]+")


class UnusableSpaceName(VoicegraphError):
    code = "unusable_space_name"
    says = "{name!r} cannot be part of a property name; an embedding space or view is named with a-z, 0-9 and _ only."


@lru_cache(maxsize=512)
def for_space(query: str, space_name: str, view: str = "turn") -> str:
    """`query` with `<space>` and `<view>` filled in, e.g. `n.embedding__<space>__<view>`.

    The only place where text becomes Cypher. Raises UnusableSpaceName for a name that is not [a-z0-9_]+.
    """
    for name in (space_name, view):
        if not _NAME.fullmatch(name):
            raise UnusableSpaceName(name=name)
    return query.replace("<space>", space_name).replace("<view>", view)


def holding(query: str) -> str:
    """`query` with `<holds>` filled in, within `COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: …}) <holds> }`."""
    return query.replace("<holds>", _HOLDS)
