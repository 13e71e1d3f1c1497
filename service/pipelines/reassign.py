"""How do turns become somebody else's? Speakers, exemplars, tracks, counts and voices moved, and the sessions settled and named
again, in the one transaction that the caller runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from service.errors import InvalidInput, NotFound
from service.graph.corrections import RecordedCorrection, find_correction, list_corrections_of_turns
from service.graph.driver import Tx
from service.graph.merges import list_merges
from service.graph.settled_sessions import SettledSession, get_settled_session
from service.graph.spaces import lock_space
from service.graph.write_corrections import (
    REASSIGN,
    SPLIT,
    Corrected,
    CorrectionConflict,
    NewCorrection,
    keep_apart,
    living,
    save_correction,
    touch,
)
from service.graph.write_people import PersonWrite, save_people
from service.graph.write_reassignments import (
    TrackHeld,
    TurnHeld,
    count_holdings,
    forget_identities,
    list_counts,
    list_tracks_held,
    list_turns_held,
    list_turns_of_tracks,
    save_split_person,
    save_turns,
)
from service.graph.write_sessions import SAVE_IDENTITIES, SessionBusy
from service.pipelines.moved_voices import exemplar_moves
from service.pipelines.personas import consolidate_sessions
from service.pipelines.rename import renamed
from service.pipelines.resettle import Resettled, missing_texts, resettled, save_resettled
from service.types.audio import Samples, TextEmbedder
from service.types.ids import derived
from service.types.memory import SessionStatus

CORRECTED, UNRESOLVED = "corrected", "unresolved"
"""Decisions of a turn that a human gave to somebody, or to nobody."""


@dataclass(frozen=True, slots=True)
class Moving:
    """What to move: `messages`, or of a split all turns by `tracks`."""

    space: str
    correction_id: str
    actor: str
    why: str
    now: datetime
    to: str | None
    """None: to nobody."""
    messages: tuple[str, ...] = ()
    tracks: tuple[str, ...] = ()
    split_from: str | None = None
    """A split: `to` is new, and all turns are this person's, or of somebody merged with them."""
    name: str | None = None
    """of the new person"""
    is_new: bool = False
    """`to` is somebody new without a split: made here, of `name`."""


async def move(tx: Tx, moving: Moving, embedder: TextEmbedder | None, embedded: Mapping[str, Samples]) -> Corrected:
    """What was done before under the same id is not done again. Raises what Correct.reassign and Correct.split say, and
    TextsMissing."""
    settings = await lock_space(tx, moving.space)
    if before := await find_correction(tx, moving.space, moving.correction_id):
        return _done(before[0].id, before[0].kind, before[0].record)
    turns = await _turns(tx, moving)
    stood = await sessions_of(tx, moving.space, turns)
    exemplars = await exemplar_moves(tx, settings, turns, moving.to, moving.now)
    tracks = await _bases(tx, moving.space, turns)
    people = {turn.speaker_id for turn in turns if turn.speaker_id} | ({moving.to} if moving.to else set())
    apart = [sorted((moving.to, p)) for p in sorted(people - {moving.to})] if moving.split_from and moving.to else []

    await save_turns(tx, moving.space, [_moved(turn, moving.to, moving.actor) for turn in turns])
    await exemplars.save(tx, settings)
    await keep_apart(tx, moving.space, apart, actor=moving.actor, why=moving.why)
    revision = await touch(tx, moving.space, people)
    counts = await count(tx, moving.space, counted(turns, moving.to), revision)
    await settle_tracks(tx, moving.space, tracks, moving.actor)
    await _leave_something(tx, moving, people)
    sessions = [await resettled(tx, moving.space, session, embedder) for session in stood]
    await save_sessions(tx, moving.space, sessions, embedded)
    names = await renamed(tx, moving.space, [session.id for session in stood], occasion=moving.correction_id)
    await consolidate_sessions(tx, moving.space, [session.id for session in stood])
    record = {
        "revision": revision,
        "to": moving.to,
        "turns": [_was(turn) for turn in turns],
        "exemplars": exemplars.record,
        "counts": counts,
        "tracks": tracks,
        "sessions": {session.session_id: session.record for session in sessions},
        "names": names,
        "not_same": apart,
        "split": {"person": moving.to, "name": moving.name} if moving.split_from or moving.is_new else None,
    }
    kind = SPLIT if moving.split_from else REASSIGN
    messages = [turn.message_id for turn in turns]
    told_of = people.union(names["people"])
    await save_correction(
        tx, NewCorrection(moving.correction_id, moving.space, kind, moving.actor, moving.why, told_of, messages, record)
    )
    return _done(moving.correction_id, kind, record)


def _done(correction_id: str, kind: str, record: Mapping[str, Any]) -> Corrected:
    people = {turn["speaker_id"] for turn in record["turns"]} | {record["to"]}
    gone = tuple(exemplar["id"] for exemplar in record["exemplars"] if exemplar["now"] is None)
    sessions = tuple(sorted(record["sessions"]))
    return Corrected(correction_id, kind, tuple(sorted(people - {None})), len(record["turns"]), sessions, record["to"], gone)


# ---- which turns


async def _turns(tx: Tx, moving: Moving) -> list[TurnHeld]:
    """Those that change hands."""
    if moving.split_from is not None:
        return await _turns_to_split(tx, moving, moving.split_from)
    if not moving.messages:
        raise InvalidInput(what="the messages", given="none", needed="ids of the turns to move")
    if moving.to is not None and not moving.is_new:
        await living(tx, moving.space, [moving.to])
    turns = [turn for turn in await _held(tx, moving.space, moving.messages) if turn.speaker_id != moving.to]
    if not turns:
        raise CorrectionConflict(what="Reassigning these turns", why="all of them are whose they should become already")
    if moving.to is not None and moving.is_new:
        await save_split_person(tx, moving.space, moving.to, name=moving.name, actor=moving.actor)
    return turns


async def _turns_to_split(tx: Tx, moving: Moving, person: str) -> list[TurnHeld]:
    """And make the person they are to be of."""
    await living(tx, moving.space, [person])
    members = (await list_merges(tx, moving.space, [person])).members(person)
    messages = moving.messages or await list_turns_of_tracks(tx, moving.space, moving.tracks, sorted(members))
    turns = await _held(tx, moving.space, messages)
    foreign = [turn.message_id for turn in turns if turn.speaker_id not in members]
    if foreign or not turns:
        why = f"the turn {foreign[0]} is not that person's" if foreign else "no turn of that person is by these voices"
        raise CorrectionConflict(what=f"Splitting {person}", why=why)
    assert moving.to is not None
    await save_split_person(tx, moving.space, moving.to, name=moving.name, actor=moving.actor)
    return turns


async def _held(tx: Tx, space: str, messages: Sequence[str]) -> list[TurnHeld]:
    """Raises NotFound, SessionBusy, and CorrectionConflict for a session that never came to its end."""
    held = await list_turns_held(tx, space, sorted(set(messages)))
    for message in messages:
        if message not in held:
            raise NotFound(kind="message", id=message)
    for turn in held.values():
        if turn.status == SessionStatus.OPEN:
            raise SessionBusy(session_id=turn.session_id)
        if turn.status != SessionStatus.COMPLETE:
            why = f"session {turn.session_id} failed before its end; deliver it again first"
            raise CorrectionConflict(what="Moving its turns", why=why)
    return sorted(held.values(), key=lambda turn: turn.message_id)


async def _leave_something(tx: Tx, moving: Moving, people: Collection[str]) -> None:
    """Raises CorrectionConflict for a split that takes everything. After the move: the transaction is undone with it."""
    if moving.split_from is None:
        return
    left = [await count_holdings(tx, moving.space, person) for person in sorted({*people, moving.split_from} - {moving.to})]
    if not any(turns or exemplars for turns, exemplars in left):
        why = "nothing would be left of that person; give the person the new name instead"
        raise CorrectionConflict(what=f"Splitting {moving.split_from}", why=why)


def _moved(turn: TurnHeld, to: str | None, actor: str) -> TurnHeld:
    if to is not None:
        return replace(turn, speaker_id=to, decision=CORRECTED, reason=None, speaks={"decision": CORRECTED, "by": actor})
    uttered = {"decision": UNRESOLVED, "by": actor, "reason": CORRECTED}
    return replace(turn, speaker_id=None, decision=UNRESOLVED, reason=CORRECTED, speaks=None, uttered=uttered)


def _was(turn: TurnHeld) -> dict[str, Any]:
    names = ("message_id", "speaker_id", "decision", "reason", "speaks", "uttered")
    return {name: value for name, value in asdict(turn).items() if name in names}


# ---- counts


def counted(turns: Sequence[TurnHeld], to: str | None) -> dict[str, tuple[int, float]]:
    """Person → by how much their turns and seconds change."""
    changes: dict[str, tuple[int, float]] = {}
    for turn in turns:
        for person, sign in ((turn.speaker_id, -1), (to, 1)):
            if person is not None:
                number, seconds = changes.get(person, (0, 0.0))
                changes[person] = (number + sign, seconds + sign * turn.net_speech)
    return changes


async def count(tx: Tx, space: str, changes: Mapping[str, Sequence[float]], revision: int) -> dict[str, tuple[int, float]]:
    """Change what is counted of people, never below nothing; by how much it did change."""
    before = await list_counts(tx, space, sorted(changes))
    after = {
        person: (max(0, number + int(changes[person][0])), max(0.0, seconds + changes[person][1]))
        for person, (number, seconds) in before.items()
    }
    await save_people(tx, space, [PersonWrite(person, *counts) for person, counts in sorted(after.items())], revision)
    return {p: (after[p][0] - number, after[p][1] - seconds) for p, (number, seconds) in before.items()}


# ---- tracks

Bases = Mapping[str, Mapping[str, Any] | None]
"""LocalSpeaker id → its IS edge before any correction that holds: `person_id` and `properties`; None: it had none."""


async def _bases(tx: Tx, space: str, turns: Sequence[TurnHeld]) -> Bases:
    tracks = await list_tracks_held(tx, space, sorted({turn.track for turn in turns}))
    earlier = await list_corrections_of_turns(tx, space, [message for track in tracks for message in track.messages])
    return {track.id: _base(track, earlier) for track in tracks}


def _base(track: TrackHeld, earlier: Sequence[RecordedCorrection]) -> Mapping[str, Any] | None:
    for correction in earlier:
        if track.id in correction.record["tracks"]:
            base: Mapping[str, Any] | None = correction.record["tracks"][track.id]
            return base
    return {"person_id": track.person_id, "properties": track.properties} if track.person_id else None


async def settle_tracks(tx: Tx, space: str, bases: Bases, actor: str) -> None:
    """A track is whose it was while one of its turns still is; else whose all of its turns are; else nobody's."""
    tracks = await list_tracks_held(tx, space, sorted(bases))
    wanted = {track.id: _identity(track, bases[track.id], actor) for track in tracks}
    await forget_identities(tx, space, sorted(wanted))
    bound = [{"track": track, **identity} for track, identity in sorted(wanted.items()) if identity is not None]
    await tx.run(SAVE_IDENTITIES, space=space, bound=bound)


def _identity(track: TrackHeld, base: Mapping[str, Any] | None, actor: str) -> Mapping[str, Any] | None:
    if base is not None and base["person_id"] in track.speakers:
        return base
    speakers = set(track.speakers)
    if len(speakers) == 1 and (person := speakers.pop()) is not None:
        return {"person_id": person, "properties": {"decision": CORRECTED, "by": actor}}
    return None


# ---- sessions


async def sessions_of(tx: Tx, space: str, turns: Sequence[TurnHeld]) -> list[SettledSession]:
    return [await get_settled_session(tx, space, session) for session in sorted({turn.session_id for turn in turns})]


async def save_sessions(tx: Tx, space: str, sessions: Sequence[Resettled], embedded: Mapping[str, Samples]) -> None:
    """Raises TextsMissing before anything is written of them."""
    missing_texts(sessions, embedded)
    for session in sessions:
        await save_resettled(tx, space, session, embedded)


def new_person(correction_id: str) -> str:
    """Id of the person that a split makes."""
    return derived("person", correction_id)
