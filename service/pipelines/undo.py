"""How is a correction taken back? What it recorded is put where it was, unless something later rests on it; all in the one
transaction that the caller runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from service.graph.corrections import (
    RecordedCorrection,
    get_correction,
    list_corrections_of_turns,
    list_merges_of_people,
    list_undone_moves,
)
from service.graph.driver import Tx
from service.graph.merges import MergeEdge, MergeSets, list_merges
from service.graph.opt_outs import forget_opt_outs_by
from service.graph.settled_sessions import get_settled_session
from service.graph.spaces import lock_space
from service.graph.write_bots import say_no_bot
from service.graph.write_corrections import (
    MERGE,
    NOT_SAME,
    VOICEGRAPH,
    Corrected,
    CorrectionConflict,
    keep_apart_no_more,
    living,
    save_undone,
    say_not_same,
    touch,
    unconfirm,
    unmerge,
)
from service.graph.write_reassignments import (
    ExemplarMove,
    TurnHeld,
    forget_bare_person,
    list_exemplars_held,
    list_turns_held,
    list_voice_consents,
    save_turns,
)
from service.identity.consent import Keep, may_keep
from service.pipelines.moved_voices import ExemplarMoves, encoder_of, expiry
from service.pipelines.personas import consolidate_sessions
from service.pipelines.reassign import count, save_sessions, sessions_of, settle_tracks
from service.pipelines.rename import names_put_back
from service.pipelines.resettle import resettled
from service.types.audio import Samples, TextEmbedder
from service.types.people import Consent, SpaceSettings


@dataclass(frozen=True, slots=True)
class Undoing:
    space: str
    correction_id: str
    actor: str
    why: str
    now: datetime


async def undo(tx: Tx, undoing: Undoing, embedder: TextEmbedder | None, embedded: Mapping[str, Samples]) -> Corrected:
    """Raises what Correct.undo says, and TextsMissing."""
    settings = await lock_space(tx, undoing.space)
    correction, undone = await get_correction(tx, undoing.space, undoing.correction_id)
    if undone:
        raise CorrectionConflict(what=f"Undoing correction {correction.id}", why="it is undone already")
    await save_undone(tx, undoing.space, correction.id, actor=undoing.actor, why=undoing.why)
    match correction.kind:
        case "merge":
            done = await _undo_merge(tx, undoing, correction)
        case "not_same":
            done = await _undo_verdict(tx, undoing, correction)
        case "bot":
            done = await _undo_bot(tx, undoing, correction, embedder, embedded)
        case _:
            done = await _undo_move(tx, settings, undoing, correction, embedder, embedded)
    await _forget_made_people(tx, undoing.space, correction.people)
    return done


async def _forget_made_people(tx: Tx, space: str, people: Sequence[str]) -> None:
    """Those of `people` whom a move that is undone had made, once nothing else is known of them: no turn, voice or verdict."""
    for made in [move.record["split"] for move in await list_undone_moves(tx, space, people)]:
        if made is not None:
            await forget_bare_person(tx, space, made["person"], name=made["name"])


# ---- verdicts


async def _undo_merge(tx: Tx, undoing: Undoing, correction: RecordedCorrection) -> Corrected:
    space, record = undoing.space, correction.record
    sets = await list_merges(tx, space, correction.people)
    concerned = sorted(frozenset().union(*(sets.members(person) for person in correction.people)))
    await _refuse_if_others_rest_on_it(tx, space, sets, correction, concerned)
    if "confirmed" in record:
        await unconfirm(tx, space, *record["confirmed"])
    else:
        await unmerge(tx, space, *record["merged"])
    await forget_opt_outs_by(tx, space, correction.id)
    await touch(tx, space, concerned)
    verdict = None
    if "merged" in record and correction.actor == VOICEGRAPH and undoing.actor != VOICEGRAPH:
        why = f"undid the automatic merge {correction.id}"
        said = await say_not_same(tx, space, record["person"], record["into"], actor=undoing.actor, why=why)
        verdict = said.correction_id
    return Corrected(correction.id, MERGE, correction.people, verdict_id=verdict)


async def _refuse_if_others_rest_on_it(
    tx: Tx, space: str, sets: MergeSets, correction: RecordedCorrection, concerned: Sequence[str]
) -> None:
    """Raises CorrectionConflict when two people whom another merge names would not be one (as surely) any more without this
    one: it was then made of whole sets, and has to go first."""
    before, after = sets, _without(sets, correction.record)
    for other in reversed(await list_merges_of_people(tx, space, concerned)):
        named = other.record["person"], other.record["into"]
        surely = bool(other.record["wants_confirmed"])
        if _joined(before, *named, surely) and not _joined(after, *named, surely):
            raise CorrectionConflict(
                what=f"Undoing the merge {correction.id}",
                why=f"the merge {other.id} of {named[0]} and {named[1]} rests on it; undo that first",
                correction=other.id,
            )


def _without(sets: MergeSets, record: Mapping[str, Any]) -> MergeSets:
    person, into = record.get("merged") or record["confirmed"]
    edges = [edge for edge in sets.up.values() if (edge.person, edge.into) != (person, into)]
    if "confirmed" in record:
        edges.append(MergeEdge(person, into, False, None))
    return MergeSets(edges)


def _joined(sets: MergeSets, one: str, other: str, surely: bool) -> bool:
    path = sets.path(one, other)
    return path is not None and (not surely or all(edge.confirmed for edge in path))


async def _undo_verdict(tx: Tx, undoing: Undoing, correction: RecordedCorrection) -> Corrected:
    await keep_apart_no_more(tx, undoing.space, correction.record["not_same"])
    await touch(tx, undoing.space, correction.people)
    return Corrected(correction.id, NOT_SAME, correction.people)


async def _undo_bot(
    tx: Tx,
    undoing: Undoing,
    correction: RecordedCorrection,
    embedder: TextEmbedder | None,
    embedded: Mapping[str, Samples],
) -> Corrected:
    """What was said where they were in the meantime they may read, too."""
    space = undoing.space
    settled = [await get_settled_session(tx, space, id) for id in await say_no_bot(tx, space, correction.record)]
    sessions = [await resettled(tx, space, session, embedder) for session in settled]
    await save_sessions(tx, space, sessions, embedded)
    ids = tuple(session.session_id for session in sessions)
    return Corrected(correction.id, correction.kind, correction.people, sessions=ids)


# ---- turns


async def _undo_move(
    tx: Tx,
    settings: SpaceSettings,
    undoing: Undoing,
    correction: RecordedCorrection,
    embedder: TextEmbedder | None,
    embedded: Mapping[str, Samples],
) -> Corrected:
    space, record = undoing.space, correction.record
    turns = await _turns(tx, undoing, correction)
    stood = await sessions_of(tx, space, turns)
    exemplars, lost = await _exemplars(tx, settings, undoing, correction)

    await save_turns(tx, space, turns)
    await exemplars.save(tx, settings)
    await keep_apart_no_more(tx, space, record["not_same"])
    revision = await touch(tx, space, correction.people)
    taken_back = {person: (-number, -seconds) for person, (number, seconds) in record["counts"].items()}
    await count(tx, space, taken_back, revision)
    await settle_tracks(tx, space, record["tracks"], undoing.actor)
    sessions = [await resettled(tx, space, session, embedder, record["sessions"].get(session.id)) for session in stood]
    await save_sessions(tx, space, sessions, embedded)
    await names_put_back(tx, space, stood, record.get("names"), occasion=f"undo {correction.id}")
    await consolidate_sessions(tx, space, [session.id for session in stood])
    return Corrected(
        correction.id,
        correction.kind,
        correction.people,
        len(turns),
        tuple(session.session_id for session in sessions),
        None,
        tuple(lost),
        num_turns_erased=record.get("turns_erased", 0),
    )


async def _turns(tx: Tx, undoing: Undoing, correction: RecordedCorrection) -> list[TurnHeld]:
    """As they were. Raises CorrectionConflict when they changed hands again, or whom they were of is erased."""
    what = f"Undoing the {correction.kind} {correction.id}"
    others = await list_corrections_of_turns(tx, undoing.space, correction.messages)
    if others and (last := others[-1]).revision > correction.revision:
        why = f"the {last.kind} {last.id} moved some of its turns again; undo that first"
        raise CorrectionConflict(what=what, why=why, correction=last.id)
    held = await list_turns_held(tx, undoing.space, correction.messages)
    for turn in held.values():
        if turn.speaker_id != correction.record["to"]:
            raise CorrectionConflict(what=what, why=f"the turn {turn.message_id} is somebody else's by now")
    before = {was["message_id"]: was for was in correction.record["turns"]}
    await living(tx, undoing.space, {was["speaker_id"] for was in before.values() if was["speaker_id"]})
    return [_as_it_was(turn, before[message]) for message, turn in sorted(held.items())]


def _as_it_was(turn: TurnHeld, was: Mapping[str, Any]) -> TurnHeld:
    return TurnHeld(session_id=turn.session_id, status=turn.status, track=turn.track, net_speech=turn.net_speech, **was)


async def _exemplars(
    tx: Tx, settings: SpaceSettings, undoing: Undoing, correction: RecordedCorrection
) -> tuple[ExemplarMoves, list[str]]:
    """Those to bring back, as far as whom they were of still agrees; and ids of those that are gone or go now."""
    held = {e.id: e for e in await list_exemplars_held(tx, undoing.space, correction.messages)}
    recorded: Sequence[Mapping[str, Any]] = correction.record["exemplars"]
    owners = sorted({r["owner"] for r in recorded if r["of_person"]})
    consents = await list_voice_consents(tx, undoing.space, owners)
    moves, gone, lost = [], [], [r["id"] for r in recorded if r["id"] not in held]
    for was in (r for r in recorded if r["id"] in held):
        move = _back(was, consents.get(was["owner"], Consent.UNKNOWN), settings, undoing.now)
        if move is None:
            gone.append(was["id"])
        else:
            moves.append(move)
    people = frozenset(owners) | {e.owner for e in held.values() if e.owner in correction.people}
    encoders = frozenset(encoder_of(held[r["id"]]) for r in recorded if r["id"] in held)
    return ExemplarMoves(tuple(moves), tuple(gone), encoders, people), [*lost, *gone]


def _back(was: Mapping[str, Any], consent: Consent, settings: SpaceSettings, now: datetime) -> ExemplarMove | None:
    """None when it may not be kept, or its time has come meanwhile."""
    if not isinstance(may_keep(consent, settings), Keep):
        return None
    until = datetime.fromisoformat(was["expires_at"]) if was["expires_at"] else None
    as_it_was = consent is Consent.UNKNOWN and was["consent"] == consent.value
    expires_at = until if as_it_was else expiry(consent, settings, until, now)
    if expires_at is not None and expires_at <= now:
        return None
    return ExemplarMove(was["id"], was["owner"], consent, expires_at)
