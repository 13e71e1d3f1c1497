"""What does the whole session tell? Who was there, who spoke to whom, what answers what and who may read it: read once,
decided purely, written in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.graph.close_sessions import (
    NOTHING_LOST,
    Closing,
    KnownPerson,
    Lost,
    WrittenTurn,
    close_session,
    list_known_people,
    list_written_turns,
)
from service.graph.driver import Graph, Tx
from service.graph.spaces import get_space
from service.memory.attendance import attendances
from service.memory.audience import Readers, context_of, readers
from service.memory.interactions import Spoken, addressees, replies
from service.types.audio import Samples, TextEmbedder
from service.types.memory import Attendance
from service.types.people import SpaceSettings


@dataclass(frozen=True, slots=True)
class CallerKnows:
    """What the caller said of the session, and nobody could hear."""

    addressed_to: tuple[str, ...] = ()
    """Person ids that every turn is said to, as in a voice message."""
    attendance: tuple[Attendance, ...] = ()
    """When people came and went."""
    roster: tuple[str, ...] = ()
    """Person ids expected: their names can be called; it does not make them present."""


@dataclass(frozen=True, slots=True)
class _Session:
    settings: SpaceSettings
    turns: Sequence[Spoken]
    people: Sequence[KnownPerson]
    """All that spoke, attended, were addressed or expected."""


async def close(
    graph: Graph,
    space: str,
    session_id: str,
    *,
    checkpoint: str | None,
    caller: CallerKnows,
    embedder: TextEmbedder | None,
    lost: Lost = NOTHING_LOST,
) -> None:
    """Settle all turns of a session whose fold is settled, and mark it complete.

    `checkpoint` as stored. Begins again when people or policies changed in between."""
    embedded: dict[str, Samples] = {}
    while True:
        session = await graph.read(_read, space, session_id, caller)
        closing = _decided(session, session_id, checkpoint, caller, embedder)
        texts = _contexts(session.turns, closing.readers) if embedder else {}
        if embedder:
            await asyncio.to_thread(_embed, embedder, [t for t in texts.values() if t not in embedded], embedded)
        closing = replace(closing, contexts={message: embedded[text] for message, text in texts.items()}, lost=lost)
        if await graph.write(close_session, closing) is None:
            return


async def _read(tx: Tx, space: str, session_id: str, caller: CallerKnows) -> _Session:
    settings = await get_space(tx, space)
    written = await list_written_turns(tx, space, session_id)
    turns = [_spoken(turn, caller.addressed_to) for turn in written]
    ids = {t.speaker_id for t in turns if t.speaker_id} | {a.person_id for a in caller.attendance}
    return _Session(settings, turns, await list_known_people(tx, space, sorted(ids | {*caller.addressed_to, *caller.roster})))


def _spoken(turn: WrittenTurn, addressed_to: tuple[str, ...]) -> Spoken:
    return Spoken(turn.message_id, turn.segment, turn.track, turn.speaker_id, turn.text, addressed_to)


def _decided(
    session: _Session, session_id: str, checkpoint: str | None, caller: CallerKnows, embedder: TextEmbedder | None
) -> Closing:
    turns, known = session.turns, {person.id for person in session.people}
    attendance = attendances(turns, [a for a in caller.attendance if a.person_id in known])
    names = {person.id: person.names for person in session.people}
    to = addressees(turns, names, [a.person_id for a in attendance])
    to = {message: tuple(a for a in people if a.person_id in known) for message, people in to.items()}
    bots = {person.id for person in session.people if person.is_bot}
    may_read = {
        turn.message_id: readers(
            turn, policy=session.settings.access, addressees=to[turn.message_id], attendance=attendance, bots=bots
        )
        & known
        for turn in turns
    }
    return Closing(
        space=session.settings.id,
        session_id=session_id,
        checkpoint=checkpoint,
        read_revision=session.settings.identity_revision,
        attendance=attendance,
        addressees=to,
        replies=replies(turns),
        readers=may_read,
        embedder=embedder.embedding_space.name if embedder else None,
        contexts={},
    )


def _contexts(turns: Sequence[Spoken], may_read: Mapping[str, Readers]) -> dict[str, str]:
    """Message id → text of its context view, where that is more than the turn itself (which is written already)."""
    texts = {}
    for position, turn in enumerate(turns):
        before = context_of(position, turns, may_read)
        if turn.text and before:
            texts[turn.message_id] = "\n".join(t.text or "" for t in (*before, turn))
    return texts


def _embed(embedder: TextEmbedder, texts: Sequence[str], embedded: dict[str, Samples]) -> None:
    unique = list(dict.fromkeys(texts))
    embedded.update(zip(unique, embedder.passages(unique) if unique else (), strict=True))
