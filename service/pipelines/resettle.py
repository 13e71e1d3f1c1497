"""What does a complete session tell once some of its turns are somebody else's? Settled again with what it was settled with,
or, when a correction is undone and nothing else has changed since, put back as it was recorded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from service.errors import VoicegraphError
from service.graph.close_sessions import Contexts, Relations, list_written_turns, save_relations
from service.graph.driver import Tx
from service.graph.settled_sessions import SettledSession
from service.memory.attendance import VOICE
from service.memory.interactions import Spoken
from service.pipelines.closing import CallerKnows, context_texts, conversation, settled
from service.types.audio import Samples, Segment, TextEmbedder
from service.types.memory import Addressee, Attendance, How

Record = dict[str, Any]
"""JSON-ready: `after`, the fingerprint that a correction left, and what was before, of all that it changed."""


class EmbedderDiffers(VoicegraphError):
    code = "embedder_differs"
    says = (
        "Session {session_id} was written with the text embedder {needed}; this correction changes what may be seen beside a "
        "turn, and {given} cannot make that anew. Correct with {needed} configured."
    )
    http_status = 409


class TextsMissing(Exception):
    """Ends a transaction that needs embeddings: to be made without its lock, then begun again."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(f"{len(texts)} texts to embed")
        self.texts = tuple(texts)


@dataclass(frozen=True, slots=True)
class Resettled:
    """What is to be written of one session."""

    session_id: str
    relations: Relations
    """Attendance, and of the turns only what is new."""
    changed: frozenset[str]
    """Messages said to others than before, or answering another."""
    embedder: str | None
    texts: Mapping[str, str]
    """message id → context text that is new"""
    plain: tuple[str, ...]
    """Messages that have lost their context."""
    record: Record


async def resettled(
    tx: Tx,
    space: str,
    stood: SettledSession,
    embedder: TextEmbedder | None,
    record: Record | None = None,
    *,
    given: Sequence[Attendance] | None = None,
) -> Resettled:
    """The session after its turns moved; `stood` as before they did. With the `record` of a correction that is being undone:
    as it was before that, where everything is still as the correction left it. `given`: in place of who was there by more than
    their voice. Raises EmbedderDiffers."""
    if given is None:
        given = tuple(a for a in stood.relations.attendance if a.source != VOICE)
    caller = CallerKnows(stood.addressed_to, tuple(given), stood.roster)
    turns = await list_written_turns(tx, space, stood.id)
    now = await conversation(tx, space, stood.access, turns, caller)
    untouched = record is not None and record["after"] == fingerprint(stood.turns, stood.relations)
    relations = _restored(stood.relations, record) if record is not None and untouched else settled(now)
    public = {message: stood.relations.readers[message] for message in stood.public}
    relations = replace(relations, readers={**relations.readers, **public})
    texts, plain = _changed_contexts(stood, now.turns, relations)
    if texts and (embedder is None or embedder.embedding_space.name != stood.embedder):
        given_name = embedder.embedding_space.name if embedder else "no embedder"
        raise EmbedderDiffers(session_id=stood.id, needed=stood.embedder, given=given_name)
    before = _record(stood.relations, relations, fingerprint(turns, relations))
    changed = frozenset((*before["addressees"], *before["replies"]))
    return Resettled(stood.id, _only(relations, changed, before["readers"]), changed, stood.embedder, texts, plain, before)


def missing_texts(sessions: Sequence[Resettled], embedded: Mapping[str, Samples]) -> None:
    """Raises TextsMissing with all that is not embedded yet."""
    missing = [text for session in sessions for text in session.texts.values() if text not in embedded]
    if missing:
        raise TextsMissing(list(dict.fromkeys(missing)))


async def save_resettled(tx: Tx, space: str, session: Resettled, embedded: Mapping[str, Samples]) -> None:
    contexts = None
    if session.embedder:
        vectors = {message: embedded[text] for message, text in session.texts.items()}
        contexts = Contexts(session.embedder, vectors, session.plain)
    await save_relations(tx, space, session.session_id, session.relations, contexts, of=session.changed)


def fingerprint(turns: Sequence[Any], relations: Relations) -> str:
    """Of who speaks and all relations of a session: equal when nothing of it has changed."""
    told = {
        "speakers": {turn.message_id: turn.speaker_id for turn in turns},
        "attendance": _attendance(relations.attendance),
        "addressees": {m: _addressees(to) for m, to in relations.addressees.items() if to},
        "replies": dict(relations.replies),
        "readers": {m: sorted(who) for m, who in relations.readers.items()},
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _changed_contexts(
    stood: SettledSession, turns: Sequence[Spoken], relations: Relations
) -> tuple[dict[str, str], tuple[str, ...]]:
    """New context texts by message, and messages that have lost theirs; none in a session without embeddings."""
    if stood.embedder is None:
        return {}, ()
    before, after = context_texts(turns, stood.relations.readers), context_texts(turns, relations.readers)
    return {m: text for m, text in after.items() if before.get(m) != text}, tuple(m for m in before if m not in after)


def _only(relations: Relations, changed: Collection[str], readers: Collection[str]) -> Relations:
    """What is to be written of `relations`."""
    return Relations(
        relations.attendance,
        {m: to for m, to in relations.addressees.items() if m in changed},
        {m: answered for m, answered in relations.replies.items() if m in changed},
        {m: who for m, who in relations.readers.items() if m in readers},
    )


def _record(before: Relations, after: Relations, fingerprint_after: str) -> Record:
    audiences: dict[frozenset[str], int] = {}
    readers = {
        m: audiences.setdefault(who, len(audiences)) for m, who in sorted(before.readers.items()) if after.readers.get(m) != who
    }
    messages = sorted({*before.addressees, *after.addressees})
    answering = sorted({*before.replies, *after.replies})
    return {
        "after": fingerprint_after,
        "attendance": _attendance(before.attendance),
        "addressees": {
            m: was
            for m in messages
            if (was := _addressees(before.addressees.get(m, ()))) != _addressees(after.addressees.get(m, ()))
        },
        "replies": {m: before.replies.get(m) for m in answering if before.replies.get(m) != after.replies.get(m)},
        "audiences": [sorted(who) for who in audiences],
        "readers": readers,
    }


def _restored(now: Relations, record: Record) -> Relations:
    replies = {**now.replies, **record["replies"]}
    audiences = [frozenset(who) for who in record["audiences"]]
    return Relations(
        attendance=[
            Attendance(person, tuple(Segment(start, end) for start, end in intervals), source)
            for person, source, intervals in record["attendance"]
        ],
        addressees={
            **now.addressees,
            **{m: tuple(Addressee(p, c, How(how)) for p, c, how in to) for m, to in record["addressees"].items()},
        },
        replies={m: answered for m, answered in replies.items() if answered is not None},
        readers={**now.readers, **{m: audiences[i] for m, i in record["readers"].items()}},
    )


def _attendance(attendance: Sequence[Attendance]) -> list[list[Any]]:
    return [
        [a.person_id, a.source, [[i.start, i.end] for i in a.intervals]] for a in sorted(attendance, key=lambda a: a.person_id)
    ]


def _addressees(addressees: Sequence[Addressee]) -> list[list[Any]]:
    return sorted([a.person_id, a.confidence, a.how.value] for a in addressees)
