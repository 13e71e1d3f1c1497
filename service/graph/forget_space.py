"""How does everything of one tenant go? For the demo, which begins afresh each time; erasing one person is another matter.

Webhooks that are told of what is erased outlive their space until they are told of just that: in the transaction that deletes
the Space they leave it, with the one delivery that waits for them."""

from __future__ import annotations

from functools import partial

from service.graph.driver import Graph, Tx, rows
from service.graph.spaces import LOCK_SPACE
from service.graph.write_events import FORGOTTEN, save_erased
from service.types.events import Erased, EventKind
from service.types.ids import fresh

BATCH = 2_000
"""Nodes a transaction: some 20 MB of its memory, whatever the space holds."""

FORGET_LEAVES = """
MATCH (n:Message|Fact {space: $space})
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone
"""
"""What has a few edges each goes first. People, sessions and audiences have hundreds: 2,000 of them with all their edges are
over 700 MB in one transaction, more than a small server gives to all of them."""

FORGET_SPACE = """
MATCH (n) WHERE n.space = $space AND NOT n:Webhook
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS gone
"""

TAKE_LEAVE = """
MATCH (w:Webhook {space: $space, status: 'active'}) WHERE $kind IN w.kinds
SET w.space = $elsewhere
RETURN count(*) AS told
"""

FORGET_LAST = """
MATCH (n:Space|Webhook) WHERE n.space = $space OR (n:Space AND n.id = $space)
DETACH DELETE n
RETURN count(*) AS gone
"""


async def forget_some(tx: Tx, space: str, *, leaves: bool, limit: int = BATCH) -> int:
    """How many nodes went, of all but the Space and its webhooks; less than `limit` when none is left. `leaves`: messages and
    facts only."""
    return int((await rows(tx, FORGET_LEAVES if leaves else FORGET_SPACE, space=space, limit=limit))[0]["gone"])


async def forget_last(tx: Tx, space: str, *, erased: int, elsewhere: str) -> int:
    """The Space and its webhooks, and what was written since the last look: whoever writes identities has the Space locked. How
    many nodes are gone with the `erased` before; webhooks to be told of it are of the space `elsewhere` now."""
    await tx.run(LOCK_SPACE, space=space)
    while some := await forget_some(tx, space, leaves=False):
        erased += some
    told = (await rows(tx, TAKE_LEAVE, space=space, kind=EventKind.ERASED.value, elsewhere=elsewhere))[0]["told"]
    gone = int((await rows(tx, FORGET_LAST, space=space))[0]["gone"])
    if told:
        await save_erased(tx, elsewhere, Erased.SPACE, erased=erased + gone, occasion=elsewhere)
    return erased + gone


async def forget_space(graph: Graph, space: str, *, batch: int = BATCH) -> int:
    """Every node of `space` and the space itself; how many that were. Walks through the whole store once a batch."""
    gone = 0
    for leaves in (True, False):
        while some := await graph.write(forget_some, space, leaves=leaves, limit=batch):
            gone += some
    elsewhere = f"{FORGOTTEN}{fresh()}/{space}"
    return await graph.write(partial(forget_last, space=space, erased=gone, elsewhere=elsewhere))
