"""What does the whole session tell? Who was there, who spoke to whom, what answers what and who may read it: read once,
decided purely, written in one transaction."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from service.graph.close_sessions import (
    NOTHING_LOST,
    Closing,
    Contexts,
    KnownPerson,
    Lost,
    Relations,
    WrittenTurn,
    close_session,
    list_known_people,
    list_written_turns,
)
from service.graph.driver import Graph, Tx
from service.graph.settled_sessions import get_stands_by
from service.graph.spaces import lock_space
from service.graph.write_sessions import RevisionMoved
from service.memory.attendance import attendances
from service.memory.audience import Readers, context_of, readers
from service.memory.interactions import Interactions, Spoken, interactions, meant_by_answer
from service.types.audio import Samples, TextEmbedder
from service.types.memory import Attendance
from service.types.people import AccessPolicy, SpaceSettings
from service.types.told import with_captions


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
class Conversation:
    """All that is settled by: the same, read again, settles the same."""

    access: AccessPolicy
    turns: Sequence[Spoken]
    people: Sequence[KnownPerson]
    """All that spoke, attended, were addressed or expected."""
    attendance: Sequence[Attendance]
    """Given by the caller or the platform."""
    public: frozenset[str] = frozenset()
    """Ids of messages that everybody may read, whatever is settled: nobody reads them as one of a few."""


async def close(
    graph: Graph,
    space: str,
    session_id: str,
    *,
    checkpoint: str | None,
    caller: CallerKnows,
    embedder: TextEmbedder | None,
    lost: Lost = NOTHING_LOST,
    held: Callable[[Tx], Awaitable[None]] | None = None,
) -> None:
    """Settle all turns of a session whose fold is settled, and mark it complete. One that was complete before is settled by the
    policy that it was complete with: a space that was opened since opens nothing that was said before.

    `held`: as Folding's. `checkpoint` as stored. Begins again when people or policies changed in between."""
    embedded: dict[str, Samples] = {}
    while True:
        settings = await graph.write(lock_space, space)  # all of this revision can be read, as by settled_revision
        conversation = await graph.read(_read, settings, session_id, caller)
        relations = settled(conversation)
        texts = context_texts(conversation.turns, relations.readers) if embedder else {}
        if embedder:
            await asyncio.to_thread(embed, embedder, texts.values(), embedded)
        closing = Closing(
            space=space,
            session_id=session_id,
            checkpoint=checkpoint,
            read_revision=settings.identity_revision,
            access=conversation.access,
            addressed_to=caller.addressed_to,
            relations=relations,
            contexts=_contexts(embedder, conversation.turns, texts, embedded) if embedder else None,
            lost=lost,
        )
        if await graph.write(_close, held, closing) is None:
            return


async def _close(tx: Tx, held: Callable[[Tx], Awaitable[None]] | None, closing: Closing) -> RevisionMoved | None:
    moved = await close_session(tx, closing)
    if held is not None:
        await held(tx)
    return moved


async def _read(tx: Tx, settings: SpaceSettings, session_id: str, caller: CallerKnows) -> Conversation:
    written = await list_written_turns(tx, settings.id, session_id)
    stands_by = await get_stands_by(tx, settings.id, session_id)
    found = await conversation(tx, settings.id, stands_by.access or settings.access, written, caller)
    return replace(found, public=stands_by.public)


async def conversation(
    tx: Tx, space: str, access: AccessPolicy, written: Sequence[WrittenTurn], caller: CallerKnows
) -> Conversation:
    """A session's turns with the people that matter to them."""
    turns = spoken_as_told(written, caller.addressed_to)
    ids = {t.speaker_id for t in turns if t.speaker_id} | {a.person_id for a in caller.attendance}
    to = {person for turn in turns for person in turn.addressed_to}
    people = await list_known_people(tx, space, sorted(ids | to | {*caller.addressed_to, *caller.roster}))
    return Conversation(access, turns, people, caller.attendance)


def spoken_as_told(written: Sequence[WrittenTurn], to_all: tuple[str, ...]) -> list[Spoken]:
    """With what the transcript says of each turn: voices become the people they are, where all their turns are one's, and ids
    that stand once become messages. What it says otherwise tells nothing."""
    people: defaultdict[str, set[str]] = defaultdict(set)
    given: defaultdict[str, list[str]] = defaultdict(list)
    for turn in written:
        if turn.label is not None and turn.speaker_id is not None:
            people[turn.label].add(turn.speaker_id)
        if turn.given_id is not None:
            given[turn.given_id].append(turn.message_id)
    spoken = []
    for t in written:
        said_to = [who for label in t.said_to if len(own := people.get(label, set())) == 1 for who in own]
        answered = given.get(t.answers, []) if t.answers is not None else []
        to = tuple(dict.fromkeys((*to_all, *said_to)))
        answers = answered[0] if len(answered) == 1 else None
        spoken.append(Spoken(t.message_id, t.segment, t.track, t.speaker_id, t.text, to, answers, t.captions))
    return spoken


def settled(conversation: Conversation) -> Relations:
    """What the conversation tells. People unknown or erased take no part."""
    turns, known = conversation.turns, {person.id for person in conversation.people}
    attendance = attendances(turns, [a for a in conversation.attendance if a.person_id in known])
    names = {person.id: person.names for person in conversation.people}
    told = interactions(turns, names, [a.person_id for a in attendance])
    to = {message: tuple(a for a in people if a.person_id in known) for message, people in told.addressees.items()}
    bots = {person.id for person in conversation.people if person.is_bot}
    may_read = {
        turn.message_id: readers(
            turn, policy=conversation.access, addressees=to[turn.message_id], attendance=attendance, bots=bots
        )
        & known
        if turn.message_id not in conversation.public
        else frozenset()
        for turn in turns
    }
    meant = meant_by_answer(turns, Interactions(told.replies, to), may_read)
    return Relations(attendance, meant, told.replies, may_read)


def context_texts(turns: Sequence[Spoken], may_read: Mapping[str, Readers]) -> dict[str, str]:
    """Message id → text of its context view, where that is more than the turn itself (which is written already)."""
    texts = {}
    for position, turn in enumerate(turns):
        before = context_of(position, turns, may_read)
        if turn.text and before:
            texts[turn.message_id] = "\n".join(with_captions(t.text, t.captions) or "" for t in (*before, turn))
    return texts


def _contexts(
    embedder: TextEmbedder, turns: Sequence[Spoken], texts: Mapping[str, str], embedded: Mapping[str, Samples]
) -> Contexts:
    vectors = {message: embedded[text] for message, text in texts.items()}
    plain = [turn.message_id for turn in turns if turn.message_id not in texts]
    return Contexts(embedder.embedding_space.name, vectors, plain)


def embed(embedder: TextEmbedder, texts: Iterable[str], embedded: dict[str, Samples]) -> None:
    """Add the embeddings of those of `texts` that `embedded` does not have."""
    new = [text for text in dict.fromkeys(texts) if text not in embedded]
    embedded.update(zip(new, embedder.passages(new) if new else (), strict=True))
