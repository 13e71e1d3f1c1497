"""How is it written that two people are one, or are not? Each verdict in the transaction that its caller runs, with the
record that undoes it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.errors import InvalidInput, NotFound, VoicegraphError
from service.graph.audit import save_audit_event
from service.graph.driver import Tx, rows
from service.graph.forget_inferred import obey_unwilling
from service.graph.forget_sounds import obey_unheard
from service.graph.merges import MAX_HOPS, MergeEdge, MergeSets, find_verdict, list_merges
from service.graph.spaces import bump_revision, lock_space
from service.graph.write_consents import TOUCH_PEOPLE, obey_unknown
from service.graph.write_events import save_event
from service.types.events import EventKind, NewEvent
from service.types.ids import fresh

VOICEGRAPH = "voicegraph"
"""`actor` of what was merged without a human."""

MERGE, SPLIT, REASSIGN, NOT_SAME = "merge", "split", "reassign", "not_same"
"""Kinds of Correction."""
UNDO = "undo"
"""Beside them, `what` of the Event of one that is taken back."""


class CorrectionConflict(VoicegraphError):
    """`correction` in its facts: id of the one to be undone first, where there is one."""

    code = "correction_conflict"
    says = "{what} cannot be done: {why}."
    http_status = 409

    def __init__(self, *, what: str, why: str, correction: str | None = None) -> None:
        super().__init__(what=what, why=why, correction=correction)


@dataclass(frozen=True, slots=True)
class Corrected:
    """What a correction did: ids and counts, for who asked for it."""

    correction_id: str
    """Of the correction made, or undone."""
    kind: str
    """merge | split | reassign | not_same | bot"""
    people: tuple[str, ...]
    """Ids of everybody concerned."""
    num_turns: int = 0
    """Turns that changed hands."""
    sessions: tuple[str, ...] = ()
    """Ids of those settled again."""
    person_id: str | None = None
    """merge: whom both are shown as now; split: the new person; reassign: to whom, None for nobody."""
    exemplars_lost: tuple[str, ...] = ()
    """Pieces of voice that could not be kept (consent of whom they went to, or of who is one with them now) or brought back
    (gone since): an undo restores all but these."""
    verdict_id: str | None = None
    """Undoing an automatic merge says that the two are not the same: id of that correction, which can be undone too."""
    num_turns_erased: int = 0
    """Of an undo: turns that stay as they are, since they, or whom they were of, are erased."""


@dataclass(frozen=True, slots=True)
class NewCorrection:
    id: str
    space: str
    kind: str
    actor: str
    why: str
    people: Collection[str]
    messages: Sequence[str]
    record: Mapping[str, Any]
    """JSON-ready: ids, scores and decision properties; no vectors, no text."""


LIST_LIVING = """
MATCH (p:Person {space: $space})
WHERE p.id IN $ids AND coalesce(p.tombstone, false) = false
RETURN p.id AS id
"""

SAVE_MERGE = """
MATCH (a:Person {space: $space, id: $person})
MATCH (b:Person {space: $space, id: $into})
MERGE (a)-[m:MERGED_INTO]->(b)
SET m = $properties
"""

CONFIRM_MERGE = """
MATCH (:Person {space: $space, id: $person})-[m:MERGED_INTO]->(:Person {id: $into})
SET m.confirmed = $confirmed
"""

SAVE_NOT_SAME = """
MATCH (a:Person {space: $space, id: $person})
MATCH (b:Person {space: $space, id: $other})
MERGE (a)-[n:NOT_SAME_AS]->(b)
SET n = $properties
"""

UNMERGE = """
MATCH (:Person {space: $space, id: $person})-[m:MERGED_INTO]->(:Person {id: $into})
DELETE m
"""

FORGET_NOT_SAME = """
MATCH (:Person {space: $space, id: $person})-[n:NOT_SAME_AS]-(:Person {id: $other})
DELETE n
"""

SAVE_UNDONE = """
MATCH (c:Correction {space: $space, id: $correction_id})
SET c.undone_at = datetime(), c.undone_by = $actor
RETURN c.people AS people, c.record AS record
"""

SAVE_CORRECTION = """
MERGE (c:Correction {id: $id})
ON CREATE SET c.space = $space, c.created_at = datetime(), c.kind = $kind, c.actor = $actor, c.why = $why,
              c.people = $people, c.messages = $messages, c.record = $record
"""


async def living(tx: Tx, space: str, ids: Collection[str]) -> None:
    """Raises NotFound for the first of `ids` that is nobody of the space, or erased."""
    found = {row["id"] for row in await rows(tx, LIST_LIVING, space=space, ids=sorted(ids))}
    for person in sorted(set(ids) - found):
        raise NotFound(kind="person", id=person)


async def merge_people(
    tx: Tx,
    space: str,
    person: str,
    into: str,
    *,
    actor: str,
    why: str,
    confirmed: bool,
    cosine: float | None = None,
    correction_id: str | None = None,
) -> Corrected:
    """From now on `person` and `into`, with everybody merged with them before, are one: one MERGED_INTO edge, nothing else; but
    what was inferred of them, their sounds and their voices go if one of them does not want it: of a voice that is lost
    (`exemplars_lost`) the caller makes the channel means again.

    An automatic merge (actor VOICEGRAPH, `confirmed=False`) starts at the end of the person's chain. A confirmed one starts at
    the end of a *confirmed* chain, since it must not confirm what nobody did. Merging two who are one already, by a merge that
    nobody confirmed, confirms it. `correction_id`: for a caller whose ids follow from what they name; by default a new one.

    Raises NotFound, InvalidInput (the same person twice) and CorrectionConflict: already one, a NOT_SAME_AS verdict between
    the two sets, or joined by several merges that nobody confirmed."""
    await lock_space(tx, space)
    if person == into:
        raise InvalidInput(what="the person to merge into", given="the same person", needed="another one")
    await living(tx, space, (person, into))
    sets = await list_merges(tx, space, [person, into])
    correction = correction_id or fresh()
    if sets.root(person) == sets.root(into):
        edge = _to_confirm(sets, person, into, confirmed)
        await tx.run(CONFIRM_MERGE, space=space, person=edge.person, into=edge.into, confirmed=True)
        record: dict[str, Any] = {"confirmed": [edge.person, edge.into]}
    else:
        edge = await _new_edge(tx, space, sets, person, into, confirmed, correction)
        properties = {"by": actor, "why": why, "confirmed": confirmed, "cosine": cosine, "correction": correction}
        await tx.run(SAVE_MERGE, space=space, person=edge.person, into=edge.into, properties=properties)
        record = {"merged": [edge.person, edge.into]}
    concerned = sets.members(person) | sets.members(into)
    await obey_unwilling(tx, space, sorted(concerned))
    await obey_unheard(tx, space, sorted(concerned))
    lost = await obey_unknown(tx, space, sorted(concerned), correction)
    revision = await touch(tx, space, concerned)
    record |= {"person": person, "into": into, "wants_confirmed": confirmed, "revision": revision}
    people = {person, into, edge.person, edge.into}
    await save_correction(tx, NewCorrection(correction, space, MERGE, actor, why, people, (), record))
    root = sets.root(edge.into)
    return Corrected(correction, MERGE, tuple(sorted(people)), person_id=root, exemplars_lost=tuple(lost))


def _to_confirm(sets: MergeSets, person: str, into: str, confirmed: bool) -> MergeEdge:
    unconfirmed = [edge for edge in sets.path(person, into) or () if not edge.confirmed]
    if not confirmed or not unconfirmed:
        raise CorrectionConflict(what=f"Merging {person} into {into}", why="they are one already")
    if len(unconfirmed) > 1:
        between = unconfirmed[0].into
        raise CorrectionConflict(
            what=f"Confirming that {person} and {into} are one",
            why=f"they are joined through {between} by several merges that nobody confirmed; confirm each, or undo one",
            correction=unconfirmed[0].correction,
        )
    return unconfirmed[0]


async def _new_edge(tx: Tx, space: str, sets: MergeSets, person: str, into: str, confirmed: bool, correction: str) -> MergeEdge:
    verdict = await find_verdict(tx, space, sets.members(person), sets.members(into))
    if verdict is not None:
        raise CorrectionConflict(
            what=f"Merging {person} into {into}",
            why=f"{verdict.person} and {verdict.other} were said not to be the same; undo that verdict first",
            correction=verdict.correction,
        )
    edge = _edge(sets, person, into, confirmed, correction)
    if sets.with_edge(edge).longest_path(edge.into) > MAX_HOPS:
        raise CorrectionConflict(
            what=f"Merging {person} into {into}",
            why=f"more than {MAX_HOPS} merges would lie between two of them; merge into the one at the end of the chain",
        )
    return edge


def _edge(sets: MergeSets, person: str, into: str, confirmed: bool, correction: str) -> MergeEdge:
    """Whom to join: whoever of the two stands at the end of their whole chain goes into the other, who may be anywhere in
    theirs, so that undoing other merges leaves the two together."""
    if not confirmed:
        return MergeEdge(sets.root(person), into, False, correction)
    one, other = sets.top(person), sets.top(into)
    if one not in sets.up:
        return MergeEdge(one, into, True, correction)
    if other not in sets.up:
        return MergeEdge(other, person, True, correction)
    raise CorrectionConflict(
        what=f"Merging {person} into {into}",
        why=f"{one} was merged into {sets.up[one].into} without anybody's confirmation; confirm or undo that first",
        correction=sets.up[one].correction,
    )


async def say_not_same(
    tx: Tx, space: str, person: str, other: str, *, actor: str, why: str, correction_id: str | None = None
) -> Corrected:
    """Remember that the two are different people: nothing merges or proposes them, or the sets they are of, again.

    Raises NotFound, InvalidInput (the same person twice), CorrectionConflict when they are merged (undo that) or it was said
    before."""
    await lock_space(tx, space)
    if person == other:
        raise InvalidInput(what="the other person", given="the same person", needed="another one")
    await living(tx, space, (person, other))
    if path := (await list_merges(tx, space, [person, other])).path(person, other):
        raise CorrectionConflict(
            what=f"Saying that {person} and {other} are not the same",
            why="they are merged; undo the merge, which says it for an automatic one",
            correction=path[0].correction,
        )
    if verdict := await find_verdict(tx, space, [person], [other]):
        raise CorrectionConflict(
            what=f"Saying that {person} and {other} are not the same", why="it was said before", correction=verdict.correction
        )
    correction = correction_id or fresh()
    await keep_apart(tx, space, [(person, other)], actor=actor, why=why)
    pair = sorted((person, other))
    record = {"not_same": [pair], "revision": await touch(tx, space, pair)}
    await save_correction(tx, NewCorrection(correction, space, NOT_SAME, actor, why, pair, (), record))
    return Corrected(correction, NOT_SAME, tuple(pair))


async def keep_apart(tx: Tx, space: str, pairs: Sequence[Sequence[str]], *, actor: str, why: str) -> None:
    """NOT_SAME_AS between each pair, in one direction whichever way it is given."""
    for pair in pairs:
        person, other = sorted(pair)
        await tx.run(SAVE_NOT_SAME, space=space, person=person, other=other, properties={"by": actor, "why": why})


async def unmerge(tx: Tx, space: str, person: str, into: str) -> None:
    """Take away one MERGED_INTO edge."""
    await tx.run(UNMERGE, space=space, person=person, into=into)


async def unconfirm(tx: Tx, space: str, person: str, into: str) -> None:
    """The merge stays, and nobody has confirmed it."""
    await tx.run(CONFIRM_MERGE, space=space, person=person, into=into, confirmed=False)


async def keep_apart_no_more(tx: Tx, space: str, pairs: Sequence[Sequence[str]]) -> None:
    for person, other in pairs:
        await tx.run(FORGET_NOT_SAME, space=space, person=person, other=other)


async def save_undone(tx: Tx, space: str, correction_id: str, *, actor: str, why: str) -> None:
    """The correction holds no more, its AuditEvent, and the Event that who is who has changed."""
    undone = await rows(tx, SAVE_UNDONE, space=space, correction_id=correction_id, actor=actor)
    for row in undone:
        await _revised(tx, space, correction_id, UNDO, row["people"], json.loads(row["record"]))
    await save_audit_event(tx, space, actor=actor, action="undo", target=correction_id, why=why)


async def touch(tx: Tx, space: str, people: Collection[str]) -> int:
    """A new identity_revision, also of each of `people`: whoever holds their voices reads them again."""
    revision = await bump_revision(tx, space)
    await tx.run(TOUCH_PEOPLE, space=space, ids=sorted(people), revision=revision)
    return revision


async def save_correction(tx: Tx, new: NewCorrection) -> None:
    """The record that undoes it, its AuditEvent, and the Event that who is who has changed."""
    await tx.run(
        SAVE_CORRECTION,
        id=new.id,
        space=new.space,
        kind=new.kind,
        actor=new.actor,
        why=new.why,
        people=sorted(new.people),
        messages=list(new.messages),
        record=json.dumps(new.record, sort_keys=True, separators=(",", ":")),
    )
    await save_audit_event(tx, new.space, actor=new.actor, action=new.kind, target=new.id, why=new.why)
    await _revised(tx, new.space, new.id, new.kind, new.people, new.record)


async def _revised(
    tx: Tx, space: str, correction_id: str, what: str, people: Collection[str], record: Mapping[str, Any]
) -> None:
    merged = record.get("merged") or record.get("confirmed") or ()
    occasion = f"{UNDO} {correction_id}" if what == UNDO else correction_id
    await save_event(
        tx,
        NewEvent(
            space=space,
            kind=EventKind.IDENTITY_REVISED,
            occasion=occasion,
            what=what,
            correction_id=correction_id,
            people=(*merged[:1], *sorted(people)),
        ),
    )
