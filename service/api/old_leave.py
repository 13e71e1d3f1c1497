"""What becomes of leave to ask for others that a file of tokens used to give? A grant in the graph, with an end; from then on
the file gives none."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from service.api.tokens import TokenEntry, drop_old_leave, list_tokens
from service.errors import InvalidInput, NotFound
from service.graph.driver import Graph
from service.graph.write_grants import LONGEST, GrantsConfig, NewGrant, save_grant
from service.types.ids import derived
from service.types.meeting import AccountKey

WHY = "from the file of tokens"
ALL = GrantsConfig(max_each=100_000)
"""What was given already is not too much now."""


async def move_old_leave(graph: Graph, path: Path) -> int:
    """How many grants there are of it now. Done again after it broke off, it gives the same ones. Leave for somebody who is not
    known any more, of a name that is none, and of tokens that have expired, is gone. What a token might do, all tokens of its
    account may."""
    entries = [one for one in await asyncio.to_thread(list_tokens, path) if one.may_act_for]
    moved = [grant for entry in entries for grant in _grants(entry, datetime.now(UTC))]
    kept = 0
    for grant in moved:
        try:
            await graph.write(save_grant, grant, ALL)
            kept += 1
        except (NotFound, InvalidInput):
            continue
    if entries:
        await asyncio.to_thread(drop_old_leave, path)
    return kept


def _grants(entry: TokenEntry, now: datetime) -> list[NewGrant]:
    if not entry.is_live(now):
        return []
    until = min(entry.expires_at or now + LONGEST, now + LONGEST)
    key, by = AccountKey(entry.issuer, entry.subject), "voicegraph"
    return [
        NewGrant(derived("grant", entry.id, person), entry.space, key, person, until, by, WHY, now)
        for person in sorted(entry.may_act_for)
    ]
