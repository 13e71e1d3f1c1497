"""How does a login become somebody's, and nobody's again? One transaction each, under the lock of the space and audited; what
follows for meetings that were before is put right after it, meeting by meeting: broken off there, the same call goes on, and so
does the service, which finds the mark that the transaction left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from service.graph.access import ReadScope
from service.graph.accounts import Account, Unfollowed, canonical, find_unfollowed, list_called, list_owned, list_unfollowed
from service.graph.driver import Graph, Tx
from service.graph.opt_outs import refuse_marked_account
from service.graph.people import find_people
from service.graph.signed_in import list_sessions_of_account
from service.graph.write_accounts import bind_account, followed, share_account, unbind_account
from service.identity.opt_outs import Marker
from service.memory.labels import without_badge
from service.pipelines.attribute import Attributed, attribute
from service.pipelines.closing import embed
from service.pipelines.resettle import TextsMissing
from service.pipelines.revise_facts import revise_facts
from service.types.audio import Samples, TextEmbedder
from service.types.meeting import AccountKey

PATIENCE = 600.0
"""Seconds for one meeting that was before: 10,000 turns took 23 where eight others used the machine; there may be 50,000."""
BROKEN_OFF = timedelta(minutes=10)
"""After so long whoever changed an account is taken to be gone: as long as one meeting may take."""
MAX_SUGGESTED = 5
"""People of one name whom an account may be: more help nobody to decide."""


@dataclass(frozen=True, slots=True)
class AccountChanged:
    """What saying whose an account is came to: ids and counts."""

    account_id: str
    person_id: str | None
    """Whose it is now."""
    num_turns: int
    """Turns that became theirs, or are theirs no more."""
    num_sessions: int
    """Sessions in which any turn did."""


class Accounts:
    """One a process. `embedder`: the one sessions are written with, as for Correct. `marker`: with the key of the marks of
    those who opted out; None while there is none here."""

    def __init__(
        self, graph: Graph, embedder: TextEmbedder | None = None, marker: Callable[[], Marker | None] = lambda: None
    ) -> None:
        self._graph, self._embedder, self._marker = graph, embedder, marker
        self._patient = graph.patient(PATIENCE)

    async def bind(self, space: str, key: AccountKey, person_id: str, *, actor: str, why: str) -> AccountChanged:
        """From now on the account is this person's, in meetings that were before, too: turns that came with it and no voice
        decided are theirs, and they were there when it was. No voice is learned by it.

        Raises NotFound, AccountBound (to somebody else: unbind it first), AccountShared, AccountOptedOut, SessionBusy,
        EmbedderDiffers."""
        marker, at = await asyncio.to_thread(self._marker), datetime.now(UTC)
        one = canonical(key)
        mark = marker.account(space, one.issuer, one.subject) if marker else None

        async def bind(tx: Tx) -> str:
            id = await bind_account(tx, space, key, person_id, actor=actor, why=why, at=at)
            if mark is not None:
                await refuse_marked_account(tx, space, mark)
            return id

        id = await self._graph.write(bind)
        return await self._changed(space, id, person_id)

    async def unbind(self, space: str, account: str, *, actor: str, why: str) -> AccountChanged:
        """It was never theirs, or is no more: what followed from it alone is taken back, in all meetings. Turns that a voice
        decided, or that somebody corrected, stay whose they are. Raises NotFound, EmbedderDiffers."""
        await self._graph.write(unbind_account, space, account, actor=actor, why=why, at=datetime.now(UTC))
        return await self._changed(space, account, None)

    async def share(self, space: str, account: str, shared: bool, *, actor: str, why: str) -> AccountChanged:
        """Several people use it, as the login of a meeting room: it is nobody's and nothing follows from it, until that is said
        to be otherwise. Raises NotFound, EmbedderDiffers."""
        await self._graph.write(share_account, space, account, shared, actor=actor, why=why, at=datetime.now(UTC))
        return await self._changed(space, account, None)

    async def follow(self, space: str, people: Sequence[str]) -> None:
        """What the logins of these tell is another matter now: written in all meetings. Raises EmbedderDiffers."""
        for account in await self._graph.read(list_owned, space, people):
            await self._follow(space, account)

    async def attribute(self, space: str, session_id: str) -> Attributed:
        """What the logins of one session tell, written as far as it is not yet: for who has written turns or logins of it.
        Raises EmbedderDiffers."""
        embedded: dict[str, Samples] = {}
        while True:
            try:
                return await self._patient.write(attribute, space, session_id, self._embedder, embedded)
            except TextsMissing as missing:
                assert self._embedder is not None
                await asyncio.to_thread(embed, self._embedder, missing.texts, embedded)

    async def go_on(self, incident: Callable[[BaseException], object], now: datetime | None = None) -> int:
        """With what was broken off, in all spaces; how many accounts. What fails is left for the next time."""
        done = 0
        for one in await list_broken_off(self._graph, now):
            try:
                await self._follow(one.space, one.id)
            except Exception as error:  # noqa: BLE001 - logged; one account must not keep others from being put right
                incident(error)
            else:
                done += 1
        return done

    async def _changed(self, space: str, account: str, person_id: str | None) -> AccountChanged:
        moved = await self._follow(space, account)
        return AccountChanged(account, person_id, sum(moved), len(moved))

    async def _follow(self, space: str, account: str) -> list[int]:
        """Turns that moved, of each session in which any did. Facts are looked at again also where none did: who was broken off
        may have moved them."""
        begun = await self._graph.read(find_unfollowed, space, account)
        sessions = await self._graph.read(list_sessions_of_account, space, account)
        done = [await self.attribute(space, session) for session in sessions]
        moved = [one.num_turns for one in done if one.num_turns]
        if moved or (begun is not None and sessions):
            await revise_facts(self._graph, space)
        if begun is not None:
            await self._graph.write(followed, space, account, begun.since)
        return moved


async def list_broken_off(graph: Graph, now: datetime | None = None) -> list[Unfollowed]:
    """Accounts of all spaces whose owner changed a while ago, and not all that follows is written."""
    return await graph.read(list_unfollowed, (now or datetime.now(UTC)) - BROKEN_OFF)


async def list_suggested(tx: Tx, scope: ReadScope, accounts: Sequence[Account]) -> dict[str, tuple[str, ...]]:
    """Whom each account (by id) that is nobody's may be, as ids of people: those whom the viewer knows by the name that the
    platform shows for it. A proposal, and no more: anybody can type any name."""
    wanted = {a.id: without_badge(a.name).name for a in accounts if a.name and a.person_id is None and not a.shared}
    called = await list_called(tx, scope, set(wanted.values()))
    people = await find_people(tx, scope, sorted({id for ids in called.values() for id in ids}))
    known = {id for id, person in people.items() if person.display_name is not None}
    found = {account: tuple(id for id in called.get(name, ()) if id in known) for account, name in wanted.items()}
    return {account: ids[:MAX_SUGGESTED] for account, ids in found.items() if ids}
