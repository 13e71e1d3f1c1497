"""Who changed what, and why? One AuditEvent a change, written by the transaction that makes it; ids and verbs only."""

from __future__ import annotations

from service.graph.driver import Tx
from service.types.ids import derived

SAVE_AUDIT_EVENT = """
MERGE (e:AuditEvent {id: $id})
ON CREATE SET e.space = $space, e.created_at = datetime(), e.actor = $actor, e.action = $action, e.target = $target,
              e.why = $why
"""


async def save_audit_event(tx: Tx, space: str, *, actor: str, action: str, target: str, why: str, occasion: str = "") -> str:
    """Id of the event; it follows from what happened to what, so that repeating the same thing is one event.

    `action` is a verb (merge, split, reassign, not_same, undo, apply_name …); `target` the id of what it was done to;
    `occasion` tells apart what may happen to it again."""
    id = derived("audit", space, action, target, *([occasion] if occasion else []))
    await tx.run(SAVE_AUDIT_EVENT, id=id, space=space, actor=actor, action=action, target=target, why=why)
    return id
