"""How is a mistake about who is who put right, and how is that taken back? Merge, split, reassign, not the same, a bot, undo:
each one transaction under the lock of the space, audited, with a record that restores what was. What the facts of whoever is
now one or two change, and what a bot's logins tell, is put right after it: broken off there, any later one catches up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from service.errors import InvalidInput
from service.graph.access import ReadScope
from service.graph.driver import Graph, Tx
from service.graph.write_bots import BOT, say_bot
from service.graph.write_corrections import Corrected, CorrectionConflict, say_not_same
from service.identity.opt_outs import Marker
from service.pipelines.accounts import Accounts
from service.pipelines.closing import embed
from service.pipelines.consents import merge_obeying
from service.pipelines.reassign import Moving, move, new_person
from service.pipelines.resettle import EmbedderDiffers, TextsMissing
from service.pipelines.revise_facts import revise_facts
from service.pipelines.split_preview import Part, preview_split
from service.pipelines.undo import Undoing, undo
from service.types.audio import Samples, TextEmbedder
from service.types.ids import fresh
from service.types.plain import short

__all__ = ["Correct", "Corrected", "CorrectionConflict", "EmbedderDiffers", "Part"]

T = TypeVar("T")
Work = Callable[[Tx, T, TextEmbedder | None, Mapping[str, Samples]], Awaitable[Corrected]]


class Correct:
    """One a process. `embedder`: the one sessions are written with; turns that change hands change who may read what, and so
    the context views of a session. `marker`: with the key of the marks of who refused to be known; None while there is none."""

    def __init__(
        self, graph: Graph, embedder: TextEmbedder | None = None, marker: Callable[[], Marker | None] = lambda: None
    ) -> None:
        self._graph, self._embedder, self._marker = graph, embedder, marker
        self._accounts = Accounts(graph, embedder)

    async def merge(self, space: str, person: str, into: str, *, actor: str, why: str, confirmed: bool = True) -> Corrected:
        """The two, with everybody merged with them before, are one person: an overlay, no turn moves. Confirmed, each reads
        what the other may. For two that are one by an automatic merge already: confirms it. What one of the two refused is
        refused for both: undoing it brings no voice back (`exemplars_lost`).

        Raises NotFound, InvalidInput, CorrectionConflict (already one; said not to be the same: undo that first),
        KeyFileUnusable."""
        marker = await asyncio.to_thread(self._marker)
        done = await self._graph.write(merge_obeying, space, person, into, marker, actor=actor, why=why, confirmed=confirmed)
        await revise_facts(self._graph, space)
        return done

    async def not_same(self, space: str, person: str, other: str, *, actor: str, why: str) -> Corrected:
        """Remembered: no merge, by a human either, and no proposal between the two or their sets until it is undone.

        Raises NotFound, InvalidInput, CorrectionConflict (merged: undo that; said before)."""
        return await self._graph.write(say_not_same, space, person, other, actor=actor, why=why)

    async def bot(self, space: str, person: str, *, actor: str, why: str) -> Corrected:
        """The person is a program: it reads nothing as itself, being there opens nothing to it, and no name is proposed for it.
        What its logins tell is put right in meetings before, too: it is whose a program's turns are, and nobody else's.

        Raises NotFound, CorrectionConflict (said before), EmbedderDiffers."""
        done = await self._graph.write(say_bot, space, person, actor=actor, why=why)
        await self._accounts.follow(space, done.people)
        return done

    async def reassign(
        self,
        space: str,
        messages: Sequence[str],
        to: str | None,
        *,
        actor: str,
        why: str,
        name: str | None = None,
        correction_id: str | None = None,
    ) -> Corrected:
        """These turns are `to`'s, or (None) not of whom they were put down to and nobody's so far; with a `name` instead of
        `to`, they are somebody's who was not known here before and is called so: `person_id` of the result. Their exemplars
        go with them as consent allows, both voices are made anew from what is left, and the sessions are settled again.
        `correction_id`: for a caller who may ask twice; done under it before, it is not done again.

        Raises NotFound, InvalidInput (no messages; both `to` and `name`), SessionBusy (a session still open), EmbedderDiffers,
        CorrectionConflict (theirs already)."""
        if to is not None and name is not None:
            raise InvalidInput(what="whose the turns are", given="a person and the name of a new one", needed="one of the two")
        correction, name = correction_id or fresh(), None if name is None else short("the name", name)
        whose = new_person(correction) if name else to
        moving = Moving(
            space, correction, actor, why, datetime.now(UTC), whose, tuple(messages), name=name, is_new=name is not None
        )
        return await self._with_embeddings(move, space, moving)

    async def split(
        self,
        space: str,
        person: str,
        *,
        actor: str,
        why: str,
        messages: Sequence[str] = (),
        local_speakers: Sequence[str] = (),
        name: str | None = None,
        correction_id: str | None = None,
    ) -> Corrected:
        """These turns (or all of the person's turns by these voices of sessions) are somebody else's, new and different:
        `person_id` of the result. As reassign, and the two are remembered not to be the same.

        Raises NotFound, InvalidInput (neither or both given), SessionBusy, EmbedderDiffers, CorrectionConflict (a turn is not
        that person's; nothing would be left)."""
        if bool(messages) == bool(local_speakers):
            raise InvalidInput(what="what to split off", given="messages and local speakers", needed="exactly one of the two")
        correction = correction_id or fresh()
        moving = Moving(
            space,
            correction,
            actor,
            why,
            datetime.now(UTC),
            new_person(correction),
            tuple(messages),
            tuple(local_speakers),
            split_from=person,
            name=None if name is None else short("the name", name),
        )
        return await self._with_embeddings(move, space, moving)

    async def preview_split(self, scope: ReadScope, person_id: str) -> tuple[Part, ...]:
        """What of the person's turns could be split off: by voice of a session and stretch of time, the least alike first.
        Raises NotFound, also for somebody of whom the scope holds no turn."""
        return await preview_split(self._graph, scope, person_id)

    async def undo(self, space: str, correction_id: str, *, actor: str, why: str = "undo") -> Corrected:
        """Restore what was before the correction, with all that came since left standing: sessions ingested meanwhile, turns
        that a split-off person got. Undoing an automatic merge is a verdict that the two are not the same (`verdict_id`).

        Raises NotFound, SessionBusy, EmbedderDiffers, CorrectionConflict (undone already; a later correction rests on it or
        touches the same turns: its id is in the error's facts as `correction`)."""
        done = await self._with_embeddings(undo, space, Undoing(space, correction_id, actor, why, datetime.now(UTC)))
        if done.kind == BOT:
            await self._accounts.follow(space, done.people)
        return done

    async def _with_embeddings(self, work: Work[T], space: str, of: T) -> Corrected:
        """Run `work`, and compare the facts that it concerns; the texts it finds missing are embedded outside of its
        transaction, which then begins again."""
        embedded: dict[str, Samples] = {}
        while True:
            try:
                done = await self._graph.write(work, of, self._embedder, embedded)
            except TextsMissing as missing:
                assert self._embedder is not None
                await asyncio.to_thread(embed, self._embedder, missing.texts, embedded)
            else:
                await revise_facts(self._graph, space)
                return done
