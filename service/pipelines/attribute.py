"""What follows from the logins that people came with? Turns that no voice decided become their owner's, who was there is known,
and what contradicts waits for a human: a pure function of what the graph holds, so that the same call after a binding, an
unbinding or a kill changes only what is not so yet. One transaction, that the caller runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.graph.accounts import account_id
from service.graph.driver import Tx
from service.graph.settled_sessions import SettledSession, get_settled_session
from service.graph.signed_in import BY_ACCOUNT, LoginsOf, list_differing, logins_of, save_held, save_logins
from service.graph.spaces import get_space, lock_space
from service.graph.write_audiences import Readers, move_messages
from service.graph.write_corrections import touch
from service.graph.write_events import save_event
from service.graph.write_reassignments import TurnHeld, forget_identities, list_tracks_held, list_turns_held, save_turns
from service.graph.write_sessions import SAVE_IDENTITIES
from service.memory.accounts import PLATFORM, Held, Nobodys, Of, Why, attended, presences, whose
from service.memory.attendance import VOICE
from service.memory.audience import narrow
from service.pipelines.folding import Checkpoint
from service.pipelines.naming import name_again
from service.pipelines.personas import consolidate_sessions
from service.pipelines.reassign import count, counted, save_sessions
from service.pipelines.resettle import resettled
from service.types.accounts import SignedIn
from service.types.audio import Samples, TextEmbedder
from service.types.events import EventKind, NewEvent
from service.types.memory import Attendance, SessionStatus

OPEN_TO_LOGINS = frozenset(
    {"no_sound", "no_speech", "too_short", "noisy", "clipped", "overlapped", "between_thresholds", "ambiguous", "exclusive"}
)
"""Why a turn is nobody's that a login may say whose it is. Not what was corrected, what contradicts, what opted out, and what
the platform itself doubts."""


UNHEARD = frozenset({"no_sound"})
"""Of these, while a session's fold goes on: what was heard may still be decided by its voice."""


@dataclass(frozen=True, slots=True)
class LoginConfig:
    confidence: float = 0.9  # by hand: platforms put some words down to whoever shares the sound (CASES 8), rates are not told


LOGINS = LoginConfig()


@dataclass(frozen=True, slots=True)
class Attributed:
    """What changed."""

    session_id: str
    num_turns: int = 0
    """That became somebody's, or nobody's."""
    people: tuple[str, ...] = ()
    num_held: int = 0
    """Proposals that wait for a human."""


async def note_logins(tx: Tx, space: str, session_id: str, participants: Sequence[SignedIn]) -> None:
    """Write who took part with which login, all of the session so far."""
    await lock_space(tx, space)
    there = presences(participants, lambda key: account_id(space, key))
    await save_logins(tx, space, session_id, participants, there)


async def platform_attendance(tx: Tx, space: str, session_id: str) -> tuple[Attendance, ...]:
    """Who was there by their login, and when, as far as nothing contradicts it: for settling the session."""
    logins = await logins_of(tx, space, session_id)
    return _attendance(logins) if logins else ()


async def attribute(
    tx: Tx, space: str, session_id: str, embedder: TextEmbedder | None, embedded: Mapping[str, Samples]
) -> Attributed:
    """Of a session that is open or complete; a complete one is settled again where anything changed, with names and feelings.
    Raises EmbedderDiffers, TextsMissing."""
    await lock_space(tx, space)
    logins = await logins_of(tx, space, session_id)
    if logins is None or logins.status == SessionStatus.FAILED or not (logins.tracks or logins.presences):
        return Attributed(session_id)
    complete = logins.status == SessionStatus.COMPLETE
    stood = await get_settled_session(tx, space, session_id) if complete else None
    verdicts = {track.id: whose(track) for track in logins.tracks}
    free = OPEN_TO_LOGINS if complete or Checkpoint.loads(logins.checkpoint).settled else UNHEARD
    owners = {track: _owner(verdict, free) for track, verdict in verdicts.items()}
    turns = await list_turns_held(tx, space, await list_differing(tx, space, owners))
    changed = [_changed(turn, verdicts[turn.track]) for _, turn in sorted(turns.items())]
    people = sorted({p for now in changed for p in (now.speaker_id, turns[now.message_id].speaker_id) if p})

    revision = await touch(tx, space, people) if people else (await get_space(tx, space)).identity_revision
    await save_turns(tx, space, changed)
    counts: dict[str, tuple[int, float]] = {}
    for now in changed:
        for person, (number, seconds) in counted([turns[now.message_id]], now.speaker_id).items():
            before = counts.get(person, (0, 0.0))
            counts[person] = (before[0] + number, before[1] + seconds)
    await count(tx, space, counts, revision)
    await _bind_tracks(tx, space, {turn.track: verdicts[turn.track] for turn in changed})
    held = _held(logins, verdicts)
    await save_held(tx, space, session_id, held)
    if stood is None:
        await move_messages(tx, space, _narrow(changed, logins))
    else:
        await _settle_again(tx, space, stood, logins, bool(changed), embedder, embedded, occasion=f"accounts {revision}")
        await _tell(tx, space, session_id, people, len(changed), revision)
    return Attributed(session_id, len(changed), tuple(people), len(held))


async def _tell(tx: Tx, space: str, session_id: str, people: Sequence[str], num_turns: int, revision: int) -> None:
    """Whoever wants to know that who is who has changed."""
    if num_turns:
        revised = NewEvent(
            space=space,
            kind=EventKind.IDENTITY_REVISED,
            occasion=f"{BY_ACCOUNT} {session_id} {revision}",
            what=BY_ACCOUNT,
            session_id=session_id,
            people=tuple(people),
            counts={"turns": num_turns},
        )
        await save_event(tx, revised)


def _owner(verdict: Of | Held | Nobodys, free: frozenset[str]) -> tuple[str | None, frozenset[str]]:
    """Whose turns of the track are that no voice decided, and for which reasons (`free`) they may have been nobody's."""
    if not isinstance(verdict, Of):
        return None, frozenset()
    return verdict.owner.person_id, free | ({"bot"} if verdict.owner.is_bot else set())


def _changed(turn: TurnHeld, verdict: Of | Held | Nobodys) -> TurnHeld:
    """The turn as it is to be."""
    if isinstance(verdict, Of):
        owner = verdict.owner.person_id
        speaks = {"decision": "assigned", "by": BY_ACCOUNT, "reason": BY_ACCOUNT, "confidence": LOGINS.confidence}
        return replace(turn, speaker_id=owner, decision="assigned", reason=BY_ACCOUNT, speaks=speaks)
    return replace(turn, speaker_id=None, decision="unresolved", reason=turn.uttered.get("reason"), speaks=None)


async def _bind_tracks(tx: Tx, space: str, verdicts: Mapping[str, Of | Held | Nobodys]) -> None:
    """IS of the local speakers: of those without one, and in place of what a login said before."""
    tracks = await list_tracks_held(tx, space, sorted(verdicts))
    bound, loose = [], []
    for track in tracks:
        verdict, by_account = verdicts[track.id], (track.properties or {}).get("by") == BY_ACCOUNT
        owner = verdict.owner.person_id if isinstance(verdict, Of) and verdict.owner.person_id in track.speakers else None
        if by_account and track.person_id != owner:
            loose.append(track.id)
        if owner is not None and (track.person_id is None or (by_account and track.person_id != owner)):
            properties = {"decision": "assigned", "by": BY_ACCOUNT, "reason": BY_ACCOUNT, "confidence": LOGINS.confidence}
            bound.append({"track": track.id, "person_id": owner, "properties": properties})
    await forget_identities(tx, space, loose)
    await tx.run(SAVE_IDENTITIES, space=space, bound=bound)


def _held(logins: LoginsOf, verdicts: Mapping[str, Of | Held | Nobodys]) -> list[tuple[str, str, str, int]]:
    return [
        (verdict.subject, person, verdict.why.value, logins.num_turns[track])
        for track, verdict in sorted(verdicts.items())
        if isinstance(verdict, Held)
        for person in verdict.people
    ]


def _attendance(logins: LoginsOf) -> tuple[Attendance, ...]:
    against = (Why.CONTRADICTS_ACCOUNT, Why.SEVERAL_ACCOUNTS)
    verdicts = [whose(track) for track in logins.tracks]
    doubted = {
        person for verdict in verdicts if isinstance(verdict, Held) and verdict.why in against for person in verdict.people
    }
    return attended(logins.presences, logins.owners, doubted)


def _narrow(changed: Sequence[TurnHeld], logins: LoginsOf) -> dict[str, Readers]:
    """While a session is open its turns are their speaker's alone, until whoever writes it lets others read, too."""
    bots = {owner.person_id for owner in logins.owners.values() if owner.is_bot}
    return {turn.message_id: narrow(turn.speaker_id, bots) for turn in changed}


async def _settle_again(
    tx: Tx,
    space: str,
    stood: SettledSession,
    logins: LoginsOf,
    moved: bool,
    embedder: TextEmbedder | None,
    embedded: Mapping[str, Samples],
    *,
    occasion: str,
) -> None:
    others = [a for a in stood.relations.attendance if a.source not in (VOICE, PLATFORM)]
    said = {a.person_id for a in others}
    there = [a for a in _attendance(logins) if a.person_id not in said]
    if not moved and there == [a for a in stood.relations.attendance if a.source == PLATFORM]:
        return
    again = await resettled(tx, space, stood, embedder, given=[*others, *there])
    await save_sessions(tx, space, [again], embedded)
    await name_again(tx, space, [stood.id], occasion=occasion)
    await consolidate_sessions(tx, space, [stood.id])
