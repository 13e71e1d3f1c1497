"""Who may have what told to which address? Making, changing and trying webhooks.

An administrator makes them. One that is told of all of the space takes leave to read all of it (scope `read_all`); any other is
told what one person may know, whom the token is of or may ask for, and of nothing that is theirs alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from service.errors import InvalidInput, NotFound, VoicegraphError
from service.graph.access import list_known_people
from service.graph.driver import Graph
from service.graph.webhook_deliveries import replay_since
from service.graph.webhooks import NewWebhook, Webhook, get_webhook, rotate, save_webhook
from service.pipelines.webhook_call import CallConfig, Called, Caller, checked_url
from service.pipelines.webhook_secrets import WebhookKey
from service.pipelines.webhook_worker import body_of
from service.types.events import EventKind
from service.types.ids import fresh
from service.types.people import Principal

TEST = "test"
"""`type` of what `try_out` sends."""


class WebhookNotAllowed(VoicegraphError):
    code = "webhook_not_allowed"
    says = "{reason}"
    http_status = 403


@dataclass(frozen=True, slots=True)
class WithSecret:
    """A webhook, and its secret: shown when it is made, and when it is made a new one."""

    webhook: Webhook
    secret: str = field(repr=False)


def whose_eyes(principal: Principal, person: str | None) -> str | None:
    """The person with whose eyes a webhook that `principal` makes is told; None: it is told of all of the space. Raises
    WebhookNotAllowed."""
    everything = "read_all" in principal.scopes
    if person is None:
        if everything or principal.person_id is not None:
            return None if everything else principal.person_id
        reason = "A webhook that is told of all of the space takes a token with the scope `read_all`; else name a person."
        raise WebhookNotAllowed(reason=reason)
    if everything or person == principal.person_id or person in principal.may_act_for:
        return person
    raise WebhookNotAllowed(reason="This token may not ask for that person, nor have them told.")


def has_leave(principal: Principal, webhook: Webhook) -> bool:
    """Whether who has this token may have told today what the webhook is told of."""
    try:
        return "admin" in principal.scopes and whose_eyes(principal, webhook.person_id) == webhook.person_id
    except WebhookNotAllowed:
        return False


class Webhooks:
    """`key`: of this service; read anew each time, so that a file put in its place holds at once."""

    def __init__(self, graph: Graph, key: Callable[[], WebhookKey], config: CallConfig) -> None:
        self._graph, self._key, self._config = graph, key, config

    async def add(
        self,
        space: str,
        url: str,
        kinds: Sequence[EventKind],
        *,
        person: str | None,
        made_by: str,
        token_id: str | None = None,
        id: str | None = None,
    ) -> WithSecret:
        """`person`: as `whose_eyes` gave it; `token_id`: of who makes it, None on the command line; `id`: for a caller
        who may ask twice. Raises InvalidInput, NotFound, TooManyWebhooks, WebhookKeyUnusable."""
        if not kinds:
            raise InvalidInput(what="the kinds of events", given="none", needed="at least one")
        if person is not None and not await self._graph.read(list_known_people, space, [person]):
            raise NotFound(kind="person", id=person)
        key = await asyncio.to_thread(self._key)
        kept = tuple(dict.fromkeys(kinds))
        new = NewWebhook(id or fresh(), space, checked_url(url, self._config), kept, made_by, token_id, person, key.id)
        return self._with_secret(await self._graph.write(save_webhook, new), key)

    async def rotate(self, space: str, id: str, *, actor: str) -> WithSecret:
        """A new secret; the one before signs, too, for a day. Raises NotFound, WebhookKeyUnusable."""
        key = await asyncio.to_thread(self._key)
        return self._with_secret(await self._graph.write(rotate, space, id, key=key.id, actor=actor), key)

    async def try_out(self, space: str, id: str) -> Called:
        """Send an event of the type `test` now, once, also where the webhook is disabled; nothing is kept of it. Raises
        NotFound, WebhookNotAllowed (its secrets are another service's), WebhookKeyUnusable."""
        webhook = await self._graph.read(get_webhook, space, id)
        key = await asyncio.to_thread(self._key)
        if webhook.key != key.id:
            reason = (
                "Its secrets are made with another key than this service has: `voicegraph webhooks rotate` makes it a new one."
            )
            raise WebhookNotAllowed(reason=reason)
        now = datetime.now(UTC)
        body = body_of(TEST, now, {"space": space})
        caller = Caller(self._config)
        try:
            return await caller(webhook.url, key.headers(webhook, id=fresh(), at=now, body=body), body)
        finally:
            await caller.close()

    async def replay(self, space: str, id: str, since: datetime, until: datetime | None) -> int:
        """Everything that it is told of and that happened since (UTC), to be sent again, with the same ids; how many. Raises
        NotFound, InvalidInput."""
        until = until or datetime.now(UTC)
        if since.tzinfo is None or until.tzinfo is None or not since < until:
            raise InvalidInput(what="the time", given=f"{since} to {until}", needed="two times with their zone, in order")
        await self._graph.read(get_webhook, space, id)
        return await self._graph.write(replay_since, space, id, since, until)

    def _with_secret(self, webhook: Webhook, key: WebhookKey) -> WithSecret:
        """Raises WebhookNotAllowed for one that another service made."""
        if webhook.key != key.id:
            raise WebhookNotAllowed(reason="Its secrets are made with another key than this service has.")
        return WithSecret(webhook, key.secret(webhook.id, webhook.generation))
