"""What is said on a stream, and found while it is still being said: sound that grows, and who may read a turn by now.

A remembered stream is ingested like a file, with the same fold and the same checkpoint, only that its sound is waited for and
heard in shorter blocks. Broken off anywhere, an ingest of what was kept goes on at the checkpoint, and ends the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from service.audio.diarise import DiariserConfig
from service.errors import VoicegraphError
from service.graph.close_sessions import KnownPerson, list_known_people
from service.graph.driver import Graph, Tx
from service.graph.open_sessions import OpenTurn, SoFar, give_up_session, list_open_turns, reads_otherwise, save_so_far
from service.graph.settled_sessions import get_stands_by
from service.graph.spaces import lock_space
from service.graph.write_audiences import move_messages
from service.graph.write_sessions import RevisionMoved
from service.memory.attendance import attendances
from service.memory.audience import Readers, narrow, readers
from service.memory.interactions import Spoken
from service.pipelines.folding import Folding, Then
from service.pipelines.hearing import HeardTurn, HearingConfig
from service.types.audio import SAMPLE_RATE, Waveform
from service.types.memory import Attendance
from service.types.people import AccessPolicy


@dataclass(frozen=True, slots=True)
class LiveConfig:
    """Of streams, live or heard again from what was kept: the turns depend on all of it. By hand, and how much worse voices are
    told apart in such short blocks than in ten minutes was not measured."""

    piece: float = 3.0  # seconds of sound at a time
    block: float = 12.0  # seconds heard together at least: a turn is found some 15 to 25 s after it was said
    look_ahead: float = 6.0  # seconds after them in which the pause is looked for that ends them
    most_held: float = 10.0  # seconds that hearing a piece waits while others wait for answers

    @property
    def first(self) -> float:
        """Seconds of sound before which nothing can be written."""
        return self.block + 2 * self.look_ahead


LIVE = LiveConfig()


def diariser_config(config: DiariserConfig, live: LiveConfig = LIVE) -> DiariserConfig:
    return replace(config, block=live.block, look_ahead=live.look_ahead)


def hearing_config(config: HearingConfig, live: LiveConfig = LIVE) -> HearingConfig:
    return replace(config, decoded=live.piece)


class StreamStopped(VoicegraphError):
    code = "stream_stopped"
    says = "What is said on the stream {id} is not followed any more; what was kept of it is ingested from there."
    http_status = 503


class Growing:
    """Mono PCM of 16 bit and 16 kHz in a file that is still being written, from byte `begins` on. One writer, which tells how
    much there is, and one reader, in a thread of its own, which waits for it."""

    def __init__(
        self, id: str, path: Path, begins: int, *, seconds: float = 0.0, busy: Callable[[], bool] = lambda: False
    ) -> None:
        """`seconds`: in it already. `busy`: others wait for answers; the reader is held up a little then."""
        self.path = path
        self._file = path.open("rb")  # it may have another name by the time it is read
        self._id, self._begins, self._busy = id, begins, busy
        self._bytes = 2 * round(seconds * SAMPLE_RATE)
        self._ended = self._stopped = False
        self._changed = threading.Condition()
        self.thread = ThreadPoolExecutor(1, "stream")
        """The reader's own. It waits most of the time: in one of those that everybody shares, six streams stopped a service of
        two cores."""

    @property
    def ended(self) -> bool:
        return self._ended

    @property
    def seconds(self) -> float:
        """Written so far."""
        return self._bytes / (2 * SAMPLE_RATE)

    def wrote(self, num_bytes: int) -> None:
        """So many more are in the file."""
        with self._changed:
            self._bytes += num_bytes
            self._changed.notify_all()

    def end(self) -> None:
        """No more will come."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def stop(self) -> None:
        """Nobody is to read on: the reader raises StreamStopped."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def blocks(self, *, seconds: float) -> Iterator[Waveform]:
        """As decode.blocks gives them once it is whole. Waits. Raises StreamStopped."""
        size, start = 2 * round(seconds * SAMPLE_RATE), 0
        with self._file as file:
            file.seek(self._begins)
            while raw := file.read(self._awaited(start, size)):
                self._hold()
                yield Waveform((np.frombuffer(raw, "<i2") / 32768).astype(np.float32), start / (2 * SAMPLE_RATE))
                start += len(raw)

    def _hold(self) -> None:
        until = time.monotonic() + LIVE.most_held
        while not self._stopped and self._busy() and time.monotonic() < until:
            time.sleep(0.1)

    def _awaited(self, start: int, size: int) -> int:
        """Bytes to read after `start` so many; fewer than `size` only at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._ended or self._bytes >= start + size)
            if self._stopped:
                raise StreamStopped(id=self._id)
            return min(size, self._bytes - start)


def heard_next(turns: Iterator[HeardTurn], most: int, *, as_they_come: bool) -> list[HeardTurn]:
    """At most so many of `turns`; `as_they_come`: those that are recognised together, for the next ones may not be said yet."""
    batch: list[HeardTurn] = []
    for heard in turns:
        batch.append(heard)
        if len(batch) == most or (as_they_come and heard.ends_stretch):
            break
    return batch


async def let_read(graph: Graph, folding: Folding, duration: float, given: Sequence[Attendance] = ()) -> None:
    """Let those read the turns written so far who were there when they were said, as far as the space lets them: by voice, from
    their first to their last turn so far, unless it is `given`; of a session that was complete before, as far as the space
    let them then. To whom something was said is only known at the end."""
    while True:
        settings = await graph.write(lock_space, folding.space)  # all of this revision can be read, as by settled_revision
        turns, people = await graph.read(_read, folding.space, folding.session_id, given)
        stands_by = await graph.read(get_stands_by, folding.space, folding.session_id)
        wanted = readers_so_far(turns, stands_by.access or settings.access, people, given)
        so_far = SoFar(
            space=folding.space,
            session_id=folding.session_id,
            checkpoint=folding.stored,
            read_revision=settings.identity_revision,
            duration=duration,
            attendance=attendance_so_far(turns, people, given),
            readers={
                t.message_id: wanted[t.message_id]
                for t in turns
                if t.message_id not in stands_by.public and reads_otherwise(t, folding.space, wanted[t.message_id])
            },
        )
        if await graph.write(_save_so_far, folding.held, so_far) is None:
            return


async def _save_so_far(tx: Tx, held: Then | None, so_far: SoFar) -> RevisionMoved | None:
    moved = await save_so_far(tx, so_far)
    if held is not None:
        await held(tx)
    return moved


def attendance_so_far(turns: list[OpenTurn], people: list[KnownPerson], given: Sequence[Attendance] = ()) -> list[Attendance]:
    known = {person.id for person in people}
    return [a for a in attendances(map(_spoken, turns), given) if a.person_id in known]


def readers_so_far(
    turns: list[OpenTurn], access: AccessPolicy, people: list[KnownPerson], given: Sequence[Attendance] = ()
) -> dict[str, Readers]:
    known, there = {person.id for person in people}, attendance_so_far(turns, people, given)
    bots = {person.id for person in people if person.is_bot}
    return {t.message_id: readers(_spoken(t), policy=access, attendance=there, bots=bots) & known for t in turns}


def _spoken(turn: OpenTurn) -> Spoken:
    return Spoken(turn.message_id, turn.segment, turn.track, turn.speaker_id, None)


async def give_up(tx: Tx, space: str, session_id: str, error: str) -> None:
    """Nobody goes on with what was written of a stream, and nobody can correct it: each turn is read by its speaker alone
    again, and no voice is left that only going on needed. A session that is complete, or not there, stays as it is."""
    if not await give_up_session(tx, space, session_id, error):
        return
    turns = await list_open_turns(tx, space, session_id)
    people = await list_known_people(tx, space, sorted({t.speaker_id for t in turns if t.speaker_id}))
    own = frozenset(person.id for person in people if not person.is_bot)
    await move_messages(tx, space, {turn.message_id: narrow(turn.speaker_id) & own for turn in turns})


async def _read(tx: Tx, space: str, session_id: str, given: Sequence[Attendance]) -> tuple[list[OpenTurn], list[KnownPerson]]:
    turns = await list_open_turns(tx, space, session_id)
    people = {t.speaker_id for t in turns if t.speaker_id} | {a.person_id for a in given}
    return turns, await list_known_people(tx, space, sorted(people))
