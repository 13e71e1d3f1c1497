"""Which addresses are told of what happens in a space, and with whose eyes? For administrators of the space; who may make one
that is told of everything is decided where it is asked for (`service.pipelines.webhooks`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.errors import NotFound, VoicegraphError
from service.graph.audit import save_audit_event
from service.graph.driver import Tx, rows
from service.types.events import EventKind
from service.types.ids import fresh

COMMAND_LINE = "command-line"
"""Who made what was made on the machine itself."""
MAX_WEBHOOKS = 50
"""Of one space; each event is written once for each that is told of it, in the transaction that makes it true."""


class TooManyWebhooks(VoicegraphError):
    code = "too_many_webhooks"
    says = "This space has {limit} webhooks, which is as many as it may have. Remove one first."
    http_status = 409


class WebhookStatus(StrEnum):
    ACTIVE = "active"
    DISABLED = "disabled"
    """Nothing is sent, and what happens meanwhile waits for nobody: a replay tells it afterwards."""


class WhyDisabled(StrEnum):
    FAILING = "failing"
    """Too many deliveries in a row were given up."""
    GONE = "gone"
    """It answered 410: it wants no more."""
    PAUSED = "paused"
    """Somebody did it."""
    LEAVE_ENDED = "leave_ended"
    """The token that it was made with is gone, or may not have told any more what it is told of."""


@dataclass(frozen=True, slots=True)
class Webhook:
    id: str
    space: str
    url: str
    kinds: tuple[EventKind, ...]
    made_by: str
    """Id of the account, or `command-line`; of who enabled it last, if somebody did."""
    token_id: str | None
    """Of that account's token; None: it was the command line."""
    person_id: str | None
    """With whose eyes it is told of what happens; None: it is told of all of the space."""
    status: WebhookStatus
    disabled_why: WhyDisabled | None
    generation: int
    """Counts its secrets, from 1."""
    rotated_at: datetime | None
    """Since when the newest secret holds, where there was one before."""
    key: str
    """Which of the service's keys its secrets are made of (`service.pipelines.webhook_secrets`)."""
    failures: int
    """Deliveries given up since the last that arrived."""
    last_sent_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewWebhook:
    id: str
    space: str
    url: str
    kinds: tuple[EventKind, ...]
    made_by: str
    token_id: str | None
    person_id: str | None
    key: str


COUNT_WEBHOOKS = """
MATCH (w:Webhook {space: $space})
WHERE w.id <> $id
RETURN count(w) AS n
"""

SAVE_WEBHOOK = """
MERGE (w:Webhook {id: $id})
ON CREATE SET w.space = $space, w.created_at = datetime(), w += $properties, w.status = 'active', w.generation = 1,
  w.failures = 0
RETURN w {.*} AS webhook
"""

FIND_WEBHOOK = """
MATCH (w:Webhook {id: $id, space: $space})
RETURN w {.*} AS webhook
"""

LIST_WEBHOOKS = """
MATCH (w:Webhook {space: $space})
RETURN w {.*} AS webhook ORDER BY w.created_at, w.id
"""

SET_STATUS = """
MATCH (w:Webhook {id: $id, space: $space})
SET w.status = $status, w.disabled_why = $why, w.failures = 0
SET w += CASE WHEN $why IS NULL THEN {made_by: $actor, token_id: $token_id} ELSE {} END
RETURN w {.*} AS webhook
"""

END_LEAVE = """
MATCH (w:Webhook {id: $id, space: $space, status: 'active'})
WHERE w.made_by = $made_by AND coalesce(w.token_id, '') = $token_id
SET w.status = 'disabled', w.disabled_why = 'leave_ended'
RETURN w.id AS id
"""

ROTATE = """
MATCH (w:Webhook {id: $id, space: $space})
SET w.generation = w.generation + 1, w.rotated_at = CASE WHEN w.key = $key THEN datetime() END, w.key = $key
RETURN w {.*} AS webhook
"""

FORGET_WEBHOOK = """
MATCH (w:Webhook {id: $id, space: $space})
CALL (w) {
  MATCH (d:WebhookDelivery {webhook_id: w.id})
  DELETE d
}
DELETE w
RETURN count(*) AS gone
"""


async def save_webhook(tx: Tx, new: NewWebhook) -> Webhook:
    """The webhook, as it is if it is there already. Audited. Raises TooManyWebhooks."""
    if (await rows(tx, COUNT_WEBHOOKS, space=new.space, id=new.id))[0]["n"] >= MAX_WEBHOOKS:
        raise TooManyWebhooks(limit=MAX_WEBHOOKS)
    properties = {
        "url": new.url,
        "kinds": [kind.value for kind in new.kinds],
        "made_by": new.made_by,
        "token_id": new.token_id,
        "person_id": new.person_id,
        "key": new.key,
    }
    (row,) = await rows(tx, SAVE_WEBHOOK, id=new.id, space=new.space, properties=properties)
    await save_audit_event(tx, new.space, actor=new.made_by, action="add_webhook", target=new.id, why="")
    return webhook_of(row["webhook"])


async def get_webhook(tx: Tx, space: str, id: str) -> Webhook:
    """Raises NotFound."""
    return _only(await rows(tx, FIND_WEBHOOK, space=space, id=id), id)


async def list_webhooks(tx: Tx, space: str) -> list[Webhook]:
    """In the order in which they were made."""
    return [webhook_of(row["webhook"]) for row in await rows(tx, LIST_WEBHOOKS, space=space)]


async def set_status(tx: Tx, space: str, id: str, status: WebhookStatus, *, actor: str, token_id: str | None = None) -> Webhook:
    """From now on active, with what still waits for it, or not. Who makes it active answers for it from then on: `actor`, with
    the token of this id (None: on the command line). Audited. Raises NotFound."""
    why = None if status is WebhookStatus.ACTIVE else WhyDisabled.PAUSED.value
    answers = {"actor": actor, "token_id": token_id}
    changed = _only(await rows(tx, SET_STATUS, space=space, id=id, status=status.value, why=why, **answers), id)
    action = "enable_webhook" if status is WebhookStatus.ACTIVE else "disable_webhook"
    await save_audit_event(tx, space, actor=actor, action=action, target=id, why="", occasion=fresh())
    return changed


async def end_leave(tx: Tx, webhook: Webhook) -> None:
    """Disable it, for who answers for it may not have it told any more; unless somebody else does by now. Audited."""
    who = {"made_by": webhook.made_by, "token_id": webhook.token_id or ""}
    if await rows(tx, END_LEAVE, space=webhook.space, id=webhook.id, **who):
        action, occasion = "end_leave_of_webhook", fresh()
        await save_audit_event(
            tx, webhook.space, actor=webhook.made_by, action=action, target=webhook.id, why="", occasion=occasion
        )


async def rotate(tx: Tx, space: str, id: str, *, key: str, actor: str) -> Webhook:
    """A new secret from now on, made of `key`; the one before signs beside it for a while, where it was made of the same key.
    Audited. Raises NotFound."""
    changed = _only(await rows(tx, ROTATE, space=space, id=id, key=key), id)
    target = f"{id} {changed.generation}"
    await save_audit_event(tx, space, actor=actor, action="rotate_webhook", target=target, why="")
    return changed


async def forget_webhook(tx: Tx, space: str, id: str, *, actor: str) -> None:
    """The webhook and all its deliveries. Audited. Raises NotFound."""
    if not (await rows(tx, FORGET_WEBHOOK, space=space, id=id))[0]["gone"]:
        raise NotFound(kind="webhook", id=id)
    await save_audit_event(tx, space, actor=actor, action="remove_webhook", target=id, why="")


def _only(found: list[dict[str, Any]], id: str) -> Webhook:
    if not found:
        raise NotFound(kind="webhook", id=id)
    return webhook_of(found[0]["webhook"])


def webhook_of(row: Mapping[str, Any]) -> Webhook:
    """A Webhook node's properties as a record."""
    why = row.get("disabled_why")
    return Webhook(
        id=row["id"],
        space=row["space"],
        url=row["url"],
        kinds=tuple(EventKind(kind) for kind in row["kinds"]),
        made_by=row["made_by"],
        token_id=row.get("token_id"),
        person_id=row.get("person_id"),
        status=WebhookStatus(row["status"]),
        disabled_why=WhyDisabled(why) if why else None,
        generation=row["generation"],
        rotated_at=row.get("rotated_at"),
        key=row["key"],
        failures=row["failures"],
        last_sent_at=row.get("last_sent_at"),
        created_at=row["created_at"],
    )
