"""How is a person, a session, a message or a fact erased? One transaction hides it from everybody and writes the record; the
sweep then empties every store, looks whether anything is left, and signs the receipt. Broken off anywhere, it goes on: every
step takes away what is still there, and counts it in the transaction that does.

What is hidden is ids in the ledger first: a database restored from before is brought up to it (`replay`) before it serves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from graph_schema.stores import STORES
from service.errors import NotFound, VoicegraphError
from service.graph.driver import Graph, Neo4jUnreachable, Tx
from service.graph.erase import find_erasure, hide, let_go_on, list_erasures, list_there
from service.graph.opt_outs import any_opted_out, leave_account_marks, list_logins_of
from service.graph.receipts import find_receipt, find_receipt_of, save_receipt
from service.graph.spaces import list_made, lock_space
from service.graph.succession import PartlyErased, Successor, inherit, list_begun, take_place
from service.graph.write_sessions import SessionBusy
from service.identity.opt_outs import Marker
from service.pipelines.erase_files import Files
from service.pipelines.erase_plan import plan
from service.pipelines.erase_stores import done_in
from service.pipelines.erase_sweep import Sweep, SweepConfig
from service.pipelines.erasure_ledger import Entry, Ledger
from service.pipelines.receipts import ReceiptKey, signed
from service.types.audio import TextEmbedder
from service.types.erasure import Erasing, Erasure, Probe, Subject, SubjectKind
from service.types.ids import fresh

log = logging.getLogger(__name__)

LEDGER = "ledger"
"""`asked_by` of what is erased again since a backup brought it back."""
REVISION = "revision"
"""`asked_by` of a session whose recording was processed again."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, as `plan` takes it."""

    space: str
    subject: Subject
    asked_by: str
    why: str = ""
    own: bool = False
    although: bool = False
    exactly: tuple[str, ...] = ()
    although_open: bool = False
    by: Successor | None = None
    """Takes the place of the session that is erased."""


@dataclass(frozen=True, slots=True)
class EraseConfig:
    sweep: SweepConfig = field(default_factory=SweepConfig)
    others_after: timedelta = timedelta(minutes=10)  # of a sweep of another key that was not worked on: its service is gone


class Erase:
    """One a process. `key` is asked for when a receipt is signed; `forget_mirrored` takes messages (ids) of a space out of the
    engines that mirror it; `embedder` makes context views anew that held what is erased; `marker` as for Accounts: it marks the
    logins of who opted out."""

    def __init__(
        self,
        graph: Graph,
        key: Callable[[], ReceiptKey],
        ledger: Ledger,
        files: Files,
        *,
        forget_mirrored: Callable[[str, Sequence[str]], Awaitable[None]],
        embedder: Callable[[], Awaitable[TextEmbedder]] | None = None,
        marker: Callable[[], Marker | None] = lambda: None,
        config: EraseConfig | None = None,
    ) -> None:
        self._graph, self._key, self._ledger, self._marker = graph, key, ledger, marker
        self._config, self._files = config or EraseConfig(), files
        self._sweep = Sweep(graph, files, forget_mirrored, embedder, self._config.sweep)
        self._working = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(
        self, space: str, subject: Subject, *, asked_by: str, why: str = "", own: bool = False, although: bool = False
    ) -> Erasing:
        """Hidden when it begins, and swept when this returns; `complete` unless a session with them is still written, or their
        names stand in many places where they were not: `although` goes on there, too. Asked for again, it is the same erasure.
        Raises NotFound, SessionBusy."""
        if although:
            await self._graph.write(let_go_on, space, subject, by=asked_by)
        begun = await self.begin(space, subject, asked_by=asked_by, why=why, own=own, although=although)
        return begun if begun.complete else await self.finish(space, subject)

    async def preview(self, space: str, subject: Subject, *, own: bool = False) -> Mapping[str, int]:
        """How much of what would go, with nothing touched. Raises NotFound, SessionBusy."""
        planned = await self._graph.read(self._planned, Asked(space, subject, "", own=own), fresh(), datetime.now(UTC))
        turns = await self._graph.read(self._sweep.count_turns, planned)
        lists = ("people", "sessions", "facts", "accounts") if subject.kind is SubjectKind.PERSON else ("facts",)
        return {"messages": turns, **{name: len(getattr(planned, name)) for name in lists}}

    async def begin(
        self, space: str, subject: Subject, *, asked_by: str, why: str = "", own: bool = False, although: bool = False
    ) -> Erasing:
        """Hide it, and nothing else: the sweep does the rest. Raises NotFound, SessionBusy."""
        return await self._begin(Asked(space, subject, asked_by, why, own, although))

    async def supersede(self, space: str, session_id: str, by: Successor) -> Erasing:
        """Hide a session, and let its recording be that of `by`, in one transaction; what both were made of stays. `finish`
        does the rest. Raises NotFound where `by` was not written to replace it, or is gone; PartlyErased where something of
        the session was erased since `by` was begun: then `by` goes, which has it, and the session stays.

        It is erased like any other, and not just taken apart: its facts, voices and mirrored words go from the same places, who
        follows events is told that it is gone, and its id is refused. The ledger has it, too: what is erased after it was
        replaced must not come back as it was before. So a database restored from before has neither, and is given the recording
        under another id."""
        why = f"revision {by.session_id}"
        asked = Asked(space, Subject(SubjectKind.SESSION, session_id), REVISION, why, by=by)
        try:
            return await self._begin(asked)
        except PartlyErased:
            await self._let_go(by.session_id, asked)
            raise

    async def _begin(self, asked: Asked) -> Erasing:
        """What the ledger was told of it and is not hidden by it is struck, but where nobody can know: its write was lost."""
        id = fresh()
        try:
            begun = await self._begun(asked, id)
        except Neo4jUnreachable:
            raise
        except Exception:
            found = await self._graph.read(find_erasure, asked.space, asked.subject)
            if found is None or found.id != id:
                await asyncio.to_thread(self._ledger.strike, id)
            raise
        if begun.id != id:
            await asyncio.to_thread(self._ledger.strike, id)
        return begun

    async def _begun(self, asked: Asked, id: str) -> Erasing:
        at, space, subject = datetime.now(UTC), asked.space, asked.subject
        while True:
            if (known := await self._known(space, subject)) is not None:
                return known
            planned = await self._graph.read(self._planned, asked, id, at)
            await self._erase_begun(planned, asked)
            own = await self._graph.read(self._sweep.own, planned)
            people = planned.people if subject.kind is SubjectKind.PERSON else ()
            await asyncio.to_thread(self._ledger.add, [Entry(id, space, subject, at, people)])
            marker = await asyncio.to_thread(self._marker)
            if await self._graph.write(self._hide, planned, asked, marker):
                self._sweep.keep(planned, own)
                return Erasing(id=id, subject=subject, complete=False)
            # who is merged with them has changed, or a revision was begun: the ledger is told anew who it is of

    async def _erase_begun(self, planned: Erasure, asked: Asked) -> None:
        """What was begun to take the place of a session of which something goes would bring that back: it goes first."""
        for session in await self._graph.read(self._begun_beside, planned, asked):
            await self._let_go(session, asked)

    async def _let_go(self, begun: str, asked: Asked) -> None:
        subject = Subject(SubjectKind.SESSION, begun)
        with suppress(NotFound):  # gone since it was looked for
            await self._begin(Asked(asked.space, subject, asked.asked_by, asked.why, although_open=True))
            await self.finish(asked.space, subject)

    async def _begun_beside(self, tx: Tx, planned: Erasure, asked: Asked) -> list[str]:
        found = await list_begun(tx, planned.space, planned.sessions, there=True)
        return [session for session in found if asked.by is None or session != asked.by.session_id]

    async def finish(self, space: str, subject: Subject) -> Erasing:
        """Sweep what was hidden; the receipt, or what it waits for. Raises what the stores raise: it is gone on with later."""
        async with self._working:
            erasure = await self._graph.read(find_erasure, space, subject)
            if erasure is None:
                done = await self._known(space, subject)
                if done is None:
                    raise NotFound(kind="erasure", id=subject.id)
                return done
            return await self._finish(erasure)

    def go_on(self, space: str, subject: Subject) -> None:
        """Sweep it in the background. What breaks it off is logged; `take_up` goes on with it."""

        async def swept() -> None:
            try:
                await self.finish(space, subject)
            except Exception as error:  # noqa: BLE001 - said, without what it was about; the next sweep goes on with it
                log.error("an erasure is not through yet: %s", getattr(error, "code", type(error).__name__))

        task = asyncio.create_task(swept())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def take_up(self, incident: Callable[[Exception], object]) -> int:
        """Go on with every erasure that is not through and is ours, or nobody's any more; how many are through now."""
        done, now = 0, datetime.now(UTC)
        for erasure, key, touched_at in await self._graph.read(list_erasures):
            if key != self._key().id and now - touched_at < self._config.others_after:
                continue
            try:
                done += (await self.finish(erasure.space, erasure.subject)).complete
            except Exception as error:  # noqa: BLE001 - logged; the others are gone on with
                incident(error)
        return done

    async def replay(self, entries: Sequence[Entry] | None = None, *, although_open: bool = False) -> list[tuple[str, Subject]]:
        """Hide again what the ledger (or `entries`) says was erased and is there: a backup was restored. Of people exactly
        those of the entry, whoever is merged with them here. By space, what was.

        What is said in a session that is still written waits for it; with `although_open`, when nobody writes yet, it does not.
        Raises ReplayFailed once all that can be hidden is: what was erased must not be served."""
        told = await asyncio.to_thread(self._ledger.entries) if entries is None else entries
        again, failed = [], dict[str, VoicegraphError]()
        for asked, entry in await self._brought_back(told):
            try:
                await self._begin(replace(asked, although_open=although_open))
            except NotFound:  # gone by another way since it was looked for
                continue
            except SessionBusy:  # of a message, or a session: hidden by the next replay, once it is written
                log.warning("erasure %s of the ledger waits for a session that is still written", entry.id)
            except VoicegraphError as error:
                log.error("erasure %s of the ledger could not be hidden again: %s", entry.id, error.code)
                failed[entry.id] = error
            else:
                again.append((asked.space, asked.subject))
        if failed:
            raise ReplayFailed(ids=", ".join(failed)) from next(iter(failed.values()))
        return again

    async def _brought_back(self, told: Sequence[Entry]) -> list[tuple[Asked, Entry]]:
        """What is to be asked for again: one erasure an entry, of those of its people who are there."""
        there = set(await self._graph.read(list_there, sorted({one for entry in told for one in _subjects(entry)}, key=str)))
        made = await self._graph.read(list_made, sorted({entry.space for entry in told if entry.forgotten_at}))
        found, taken = [], set[tuple[str, Subject]]()
        for entry in told:
            if entry.forgotten_at and entry.space in made and made[entry.space] > entry.forgotten_at:
                continue
            left = [one for one in _subjects(entry) if one in there and one not in taken]
            if left:
                taken.update(left)
                people = [subject.id for _, subject in left] if entry.subject.kind is SubjectKind.PERSON else []
                why = f"erasure {entry.id} was before a backup was restored"
                found.append((Asked(*left[0], LEDGER, why, exactly=tuple(people)), entry))
        return found

    def entries(self) -> list[Entry]:
        return self._ledger.entries()

    def adopt(self, entries: Sequence[Entry]) -> int:
        """Take the entries of another machine's ledger into this one; how many are new."""
        return self._ledger.add(entries)

    async def _planned(self, tx: Tx, asked: Asked, id: str, at: datetime) -> Erasure:
        found = await plan(
            tx,
            asked.space,
            asked.subject,
            id=id,
            asked_by=asked.asked_by,
            why=asked.why,
            at=at,
            own=asked.own,
            although=asked.although,
            exactly=asked.exactly,
            although_open=asked.although_open,
            config=self._config.sweep.names,
        )
        if asked.by is not None:
            found = replace(found, uploads=tuple(hash for hash in found.uploads if hash not in asked.by.sources))
        if asked.subject.kind is not SubjectKind.PERSON:
            return found
        tokens = await asyncio.to_thread(self._files.accounts_of, asked.space, found.people)
        return replace(found, accounts=tuple(sorted({*found.accounts, *tokens})))

    async def _hide(self, tx: Tx, before: Erasure, asked: Asked, marker: Marker | None) -> bool:
        """False where it is of other people than `before`, by now, or a revision of its sessions was begun."""
        await lock_space(tx, before.space)
        now = await self._planned(tx, asked, before.id, before.at)
        if now.people != before.people or await self._begun_beside(tx, now, asked):
            return False
        if asked.by is not None:
            await inherit(tx, now.space, now.subject.id, asked.by)
        await hide(tx, now, self._key().id)
        if asked.by is not None:
            await take_place(tx, now.space, now.subject.id, asked.by)
        if marker is not None and now.subject.kind is SubjectKind.PERSON and await any_opted_out(tx, now.space, now.people):
            logins = await list_logins_of(tx, now.space, now.people)  # also those bound since, and of who is one with them
            marks = [marker.account(now.space, *login) for login in logins]
            await leave_account_marks(tx, now.space, marks, marker.id)
        return True

    async def _known(self, space: str, subject: Subject) -> Erasing | None:
        if (begun := await self._graph.read(find_erasure, space, subject)) is not None:
            return Erasing(id=begun.id, subject=subject, complete=False)
        receipt = await self._graph.read(find_receipt_of, space, subject)
        there = await self._graph.read(list_there, [(space, subject)])
        if receipt is None or there:
            return None
        return Erasing(id=receipt.id, subject=subject, complete=True, receipt=receipt)

    async def _finish(self, erasure: Erasure) -> Erasing:
        waits_for = await self._sweep(erasure)
        elsewhere = self._sweep.named_elsewhere(erasure)
        if elsewhere:
            log.warning("erasure %s waits for an administrator: %d places elsewhere have its names", erasure.id, elsewhere)
        if waits_for or elsewhere:
            return Erasing(
                id=erasure.id, subject=erasure.subject, complete=False, waits_for=waits_for, named_elsewhere=elsewhere
            )
        probe = await self._sweep.probe(erasure)
        if probe.found:
            raise SomethingLeft(id=erasure.id, found=probe.found)
        return await self._graph.write(self._through, erasure, probe, datetime.now(UTC))

    async def _through(self, tx: Tx, erasure: Erasure, probe: Probe, now: datetime) -> Erasing:
        await lock_space(tx, erasure.space)
        counted = await find_erasure(tx, erasure.space, erasure.subject)
        if counted is not None and counted.id == erasure.id:
            receipt = signed(counted, probe, done_in(STORES, erasure.subject.kind), self._key(), now)
            await save_receipt(tx, counted, receipt)
        elif (given := await find_receipt(tx, erasure.space, erasure.id)) is None:
            raise NotFound(kind="erasure", id=erasure.id)
        else:  # another process was through with it first: there is one receipt
            receipt = given
        return Erasing(id=erasure.id, subject=erasure.subject, complete=True, receipt=receipt)


def _subjects(entry: Entry) -> list[tuple[str, Subject]]:
    """With its space; of a person each id, the one that was asked for first."""
    ids = entry.people if entry.subject.kind is SubjectKind.PERSON else ()
    return [(entry.space, Subject(entry.subject.kind, id)) for id in dict.fromkeys((entry.subject.id, *ids))]


class ReplayFailed(VoicegraphError):
    code = "replay_failed"
    says = (
        "Erasures {ids} of the ledger could not be done again in this database; all others were. What they took away must not "
        "be served: the log names the cause."
    )
    http_status = 500


class SomethingLeft(VoicegraphError):
    code = "something_left"
    says = (
        "Of what erasure {id} took away, {found} places are left that still tell of it. It stays hidden, and the sweep looks "
        "again; no receipt is given before. The log names the places."
    )
    http_status = 500
