"""How does a caller put right who is who? GraphQL types, reads and mutations of merges, splits, reassignments and verdicts.

An administrator may correct everything; whoever else holds a person's own token may say "that was not me" of turns put down
to that person, and take that back. What an account did while it was an administrator's takes an administrator to undo: it
would give back what somebody else's turns had been taken from them for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Asked, Context, global_id, local_id
from service.api.context import NotAllowed as Refused
from service.api.jobs import once_per_key
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType, PersonType, SessionType
from service.api.names import messages
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.errors import InvalidInput as BadInput
from service.errors import NotFound as Missing
from service.errors import VoicegraphError
from service.graph.corrections import Correction, get_correction, list_corrections
from service.graph.messages import find_own
from service.graph.paging import MAX_PAGE, Page
from service.graph.write_corrections import REASSIGN
from service.pipelines.correct import Corrected, CorrectionConflict
from service.pipelines.split_preview import Part
from service.types.ids import derived
from service.types.people import Principal
from service.types.plain import MAX_TEXT, short

MAX_TURNS = 1_000
"""Messages of one correction; whole voices of sessions are named by their id instead."""
MAX_SHOWN = 5
"""Messages shown of one part of a person: enough to know what was talked about."""
CORRECTION = "Correction"


class CorrectedSince(VoicegraphError):
    """CorrectionConflict for who may not know of other people's corrections."""

    code = "corrected_since"
    says = "Something that was corrected otherwise stands against it. An administrator can tell what, and put it right."
    http_status = 409


@strawberry.type(name="Corrected", description="A correction was made or undone, and took effect at once.")
class CorrectedType:
    correction_id: strawberry.ID = strawberry.field(description="What was made, for `undoCorrection`; or what was undone.")
    kind: str = strawberry.field(description="merge, split, reassign, not_same or bot.")
    person_id: strawberry.ID | None = strawberry.field(
        description="Global id: of whom both are shown as after a merge, of the new person after a split, of who got the "
        "messages after a reassignment, of the bot; null for nobody."
    )
    num_turns: int = strawberry.field(description="How many messages changed hands.")
    num_sessions: int = strawberry.field(description="In how many sessions it was settled again who may read what.")
    num_exemplars_lost: int = strawberry.field(
        description="Pieces of voice that could not be kept, since who they went to, or is one with them now, did not agree, "
        "or brought back."
    )
    num_turns_erased: int = strawberry.field(
        description="Undoing across an erasure restores what is left: messages that stay as they are, since they, or whom they "
        "were of, are erased."
    )
    verdict_id: strawberry.ID | None = strawberry.field(
        description="Undoing an automatic merge says that the two are not the same: that correction."
    )

    @classmethod
    def from_result(cls, done: Mapping[str, Any]) -> CorrectedType:
        return cls(
            correction_id=strawberry.ID(global_id(CORRECTION, done["correction_id"])),
            kind=done["kind"],
            person_id=strawberry.ID(global_id("Person", done["person_id"])) if done["person_id"] else None,
            num_turns=done["num_turns"],
            num_sessions=done["num_sessions"],
            num_exemplars_lost=done["num_exemplars_lost"],
            num_turns_erased=done.get("num_turns_erased", 0),  # of a key used before it was counted, none
            verdict_id=strawberry.ID(global_id(CORRECTION, done["verdict_id"])) if done["verdict_id"] else None,
        )


@strawberry.type(name="Correction", description="A change of who is who that somebody made, or the service by itself.")
class CorrectionType:
    id: strawberry.ID = strawberry.field(description="For `undoCorrection`.")
    kind: str = strawberry.field(description="merge, split, reassign, not_same or bot.")
    actor: str = strawberry.field(description="Account that made it; voicegraph for an automatic merge.")
    why: str = strawberry.field(description="Reason given.")
    num_turns: int = strawberry.field(description="How many messages changed hands.")
    created_at: datetime = strawberry.field(description="When it was made, UTC.")
    undone_at: datetime | None = strawberry.field(description="When it was taken back, UTC; null while it holds.")
    undone_by: str | None = strawberry.field(
        description="Account that took it back; somebody, where that was another's, for all but who reads everything."
    )
    person_ids: list[strawberry.ID] = strawberry.field(
        description="Global ids of the people concerned, also of those who are shown as somebody else since a merge; only for "
        "who reads everything."
    )
    record: strawberry.Private[Correction]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="People concerned, as far as the viewer knows of them.", metadata=LIST)
    async def people(self) -> list[PersonType]:
        found = await self.reading.people.load_many(list(self.record.people))
        return [PersonType.from_record(person, self.reading) for person in found if person is not None]

    @classmethod
    def from_record(cls, correction: Correction, reading: Reading) -> CorrectionType:
        other = correction.undone_by not in (None, correction.actor)
        return cls(
            id=strawberry.ID(global_id(CORRECTION, correction.id)),
            kind=correction.kind,
            actor=correction.actor,
            why=correction.why,
            num_turns=correction.num_turns,
            created_at=correction.created_at,
            undone_at=correction.undone_at,
            undone_by=correction.undone_by if reading.scope.reads_all or not other else "somebody",
            person_ids=[strawberry.ID(global_id("Person", id)) for id in correction.people if reading.scope.reads_all],
            record=correction,
            reading=reading,
        )


@strawberry.type(name="SplitPart", description="Messages of a person that probably go together: one voice of one session.")
class SplitPartType:
    local_speaker: strawberry.ID = strawberry.field(description="The voice, for `splitPerson`.")
    label: str | None = strawberry.field(description="The name that the recording's source gave it.")
    message_ids: list[strawberry.ID] = strawberry.field(
        description=f"Global ids of its messages in spoken order, {MAX_TURNS} at most, for `splitPerson`."
    )
    num_turns: int = strawberry.field(description="How many messages, as far as the viewer may read them.")
    start: float = strawberry.field(description="Start of the first, in seconds from the start of the session.")
    end: float = strawberry.field(description="End of the last, in seconds from the start of the session.")
    net_speech: float = strawberry.field(description="Seconds of speech.")
    cosine: float | None = strawberry.field(
        description="How like the rest of the person's voice, in [-1, 1]; null where no voice of it, or of the rest, is kept."
    )
    num_exemplars: int = strawberry.field(description="Pieces of voice that this rests on.")
    record: strawberry.Private[Part]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="The session.")
    async def session(self) -> SessionType | None:
        session = await self.reading.sessions.load(self.record.session_id)
        return SessionType.from_record(session, self.reading) if session else None

    @strawberry.field(description=f"The first {MAX_SHOWN} messages.", metadata={**LIST, "times": MAX_SHOWN})
    async def turns(self) -> list[MessageType]:
        return await messages(self.reading, self.record.message_ids[:MAX_SHOWN])

    @classmethod
    def from_record(cls, part: Part, reading: Reading) -> SplitPartType:
        return cls(
            local_speaker=strawberry.ID(part.local_speaker),
            label=part.label,
            message_ids=[strawberry.ID(global_id("Message", id)) for id in part.message_ids[:MAX_TURNS]],
            num_turns=len(part.message_ids),
            start=part.start,
            end=part.end,
            net_speech=part.net_speech,
            cosine=part.cosine,
            num_exemplars=part.num_exemplars,
            record=part,
            reading=reading,
        )


@strawberry.type(name="SplitPreview", description="What of a person's messages may be somebody else's.")
class SplitPreviewType:
    parts: list[SplitPartType] = strawberry.field(
        description=f"Least like the rest first, {MAX_PAGE} at most.", metadata={"times": 20}
    )
    num_parts: int = strawberry.field(description="How many there are.")


CorrectionOutcome: TypeAlias = Annotated[
    CorrectedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("CorrectionOutcome", description="What was corrected, or why nothing was."),
]


async def corrections(context: Context, undone_too: bool, page: Page) -> Connection[CorrectionType]:
    """Of everybody for who reads everything, else this account's own."""
    principal, reading = context.principal, await context.reading()
    actors = [principal.account_id] if principal else []
    found = await reading.read(list_corrections, page=page, actors=actors, standing=not undone_too)
    return connection(found, lambda c: CorrectionType.from_record(c, reading))


async def split_preview(context: Context, person_id: str) -> SplitPreviewType | None:
    """None for somebody of whom the viewer may read nothing. Raises NotAllowed without the scope `admin`: likenesses rest on
    the whole voice, whoever may read what it said."""
    context.allowed("admin", "see how a person may be split")
    reading = await context.reading()
    try:
        parts = await (await context.services.correct()).preview_split(reading.scope, local_id(person_id))
    except Missing:
        return None
    return SplitPreviewType(parts=[SplitPartType.from_record(p, reading) for p in parts[:MAX_PAGE]], num_parts=len(parts))


async def merge_people(context: Context, person_id: str, into_id: str, confirmed: bool, why: str, key: str) -> CorrectedType:
    principal = context.allowed("admin", "merge people")
    person, into, why = local_id(person_id), local_id(into_id), why_of(why)

    async def do() -> Corrected:
        correct = await context.services.correct()
        return await correct.merge(context.space, person, into, actor=principal.account_id, why=why, confirmed=confirmed)

    body = {"person": person, "into": into, "confirmed": confirmed, "why": why}
    return await _once(context, principal, "merge_people", key, body, do)


async def mark_not_same(context: Context, person_id: str, other_id: str, why: str, key: str) -> CorrectedType:
    principal = context.allowed("admin", "say that people are not the same")
    person, other, why = local_id(person_id), local_id(other_id), why_of(why)

    async def do() -> Corrected:
        correct = await context.services.correct()
        return await correct.not_same(context.space, person, other, actor=principal.account_id, why=why)

    return await _once(context, principal, "mark_not_same", key, {"person": person, "other": other, "why": why}, do)


async def mark_bot(context: Context, person_id: str, why: str, key: str) -> CorrectedType:
    principal = context.allowed("admin", "say that somebody is a bot")
    person, why = local_id(person_id), why_of(why)

    async def do() -> Corrected:
        correct = await context.services.correct(settling=True)
        return await correct.bot(context.space, person, actor=principal.account_id, why=why)

    return await _once(context, principal, "mark_bot", key, {"person": person, "why": why}, do)


async def split_person(
    context: Context,
    person_id: str,
    message_ids: Sequence[str],
    local_speakers: Sequence[str],
    name: str | None,
    why: str,
    key: str,
) -> CorrectedType:
    principal = context.allowed("admin", "split a person")
    person, why, name = local_id(person_id), why_of(why), short("name", name) if name is not None else None
    turns, voices = _turns(message_ids), _few("localSpeakers", local_speakers)

    async def do() -> Corrected:
        correct = await context.services.correct(settling=True)
        return await correct.split(
            context.space,
            person,
            actor=principal.account_id,
            why=why,
            messages=turns,
            local_speakers=voices,
            name=name,
            correction_id=_correction_id(context, principal, key),
        )

    body = {"person": person, "messages": turns, "local_speakers": voices, "name": name, "why": why}
    return await _once(context, principal, "split_person", key, body, do)


async def reassign_messages(
    context: Context, message_ids: Sequence[str], to_id: str | None, new_person: str | None, why: str, key: str
) -> CorrectedType:
    turns, to, why = _turns(message_ids), local_id(to_id) if to_id else None, why_of(why)
    name = short("newPerson", new_person) if new_person is not None else None
    principal = await _somebody(context, "reassign messages")
    if (to is not None or name is not None) and "admin" not in principal.scopes:
        raise Refused(reason="To give messages to a person, a token with the scope `admin` is needed.")

    async def do() -> Corrected:
        if "admin" not in principal.scopes:
            await _only_own(context, turns)
        correct = await context.services.correct(settling=True)
        id = _correction_id(context, principal, key)
        return await correct.reassign(
            context.space, turns, to, actor=principal.account_id, why=why, name=name, correction_id=id
        )

    body = {"messages": turns, "to": to, "name": name, "why": why}
    return await _once(context, principal, "reassign_messages", key, body, do)


async def undo_correction(context: Context, correction_id: str, why: str, key: str) -> CorrectedType:
    id, why = local_id(correction_id, CORRECTION), why_of(why)
    principal = await _somebody(context, "undo a correction")

    async def do() -> Corrected:
        if "admin" not in principal.scopes:
            await _only_own_denial(context, principal, id)
        correct = await context.services.correct(settling=True)
        return await correct.undo(context.space, id, actor=principal.account_id, why=why)

    return await _once(context, principal, "undo_correction", key, {"correction": id, "why": why}, do)


async def _only_own(context: Context, turns: Sequence[str]) -> None:
    """Raises NotFound for the first that is not put down to the token's own person, whoever the request asks for: turns of
    others answer like turns that do not exist."""
    reading = await context.reading(Asked())
    own = await reading.read(find_own, turns)
    for turn in turns:
        if turn not in own:
            raise Missing(kind="message", id=turn[:MAX_TEXT])


async def _only_own_denial(context: Context, principal: Principal, id: str) -> None:
    """Raises NotFound for anything but a "that was not me" of this account, as for what was never made."""
    correction, _ = await context.services.graph.read(get_correction, context.space, id)
    is_own = correction.actor == principal.account_id
    if not (is_own and correction.kind == REASSIGN and correction.record["to"] is None):
        raise Missing(kind="correction", id=id)


async def _somebody(context: Context, to: str) -> Principal:
    """Raises NotAllowed for a token that is nobody's in particular and no administrator's."""
    principal = await context.holder()
    if principal is None or not ("admin" in principal.scopes or principal.person_id):
        raise Refused(reason=f"To {to}, the token must be the person's own, or have the scope `admin`.")
    return principal


def _correction_id(context: Context, principal: Principal, key: str) -> str:
    """Follows from the key: a request that broke off after its correction was written finds it when it is made again."""
    return derived("correction", context.space, principal.account_id, key)


async def _once(
    context: Context, principal: Principal, kind: str, key: str, body: Mapping[str, Any], do: Callable[[], Awaitable[Corrected]]
) -> CorrectedType:
    async def kept() -> Mapping[str, Any]:
        try:
            done = await do()
        except CorrectionConflict:
            if "admin" in principal.scopes:
                raise
            raise CorrectedSince() from None
        return {
            "correction_id": done.correction_id,
            "kind": done.kind,
            "person_id": done.person_id,
            "num_turns": done.num_turns,
            "num_sessions": len(done.sessions),
            "num_exemplars_lost": len(done.exemplars_lost),
            "num_turns_erased": done.num_turns_erased,
            "verdict_id": done.verdict_id,
        }

    return CorrectedType.from_result(await once_per_key(context, principal, kind, key, body, kept))


def why_of(text: str) -> str:
    """On one line; may be empty. Raises InvalidInput for a very long one, and for one with control characters."""
    return short("why", " ".join(text.split())) if text.strip() else ""


def _turns(ids: Sequence[str]) -> list[str]:
    return _few("messageIds", [local_id(id, "Message") for id in ids])


def _few(what: str, ids: Sequence[str]) -> list[str]:
    """Each once, in the order given. Raises InvalidInput for too many."""
    if len(ids) > MAX_TURNS:
        raise BadInput(what=f"`{what}`", given=f"{len(ids)} ids", needed=f"at most {MAX_TURNS}")
    return list(dict.fromkeys(ids))
