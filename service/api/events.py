"""What happens in the space, for those who follow it over GraphQL? The same events as webhooks are told of, each as far as the
viewer may know of it at that moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeAlias

import strawberry

import service.api.webhooks  # noqa: F401 - there EventKind becomes an enumeration, which the types below need
from service.api.context import Context, TokenNotAccepted, global_id
from service.api.corrections import CORRECTION
from service.api.outcomes import InvalidInput, NotAllowed, NotFound, problem
from service.errors import InvalidInput as BadInput
from service.errors import VoicegraphError
from service.graph.events import list_events, list_told
from service.pipelines.webhook_worker import KEPT
from service.types.events import Event, EventKind, ToldEvent

POLL_SECONDS = 1.0
"""How often it is looked for something new: a seek in an index."""
OVERLAP = timedelta(seconds=90)
"""What happens has the time at which its transaction wrote it, and is seen when that ends: a minute later at most, the limit of
a query. So long it is looked back, and what was told already is left out. All times are the database's."""
MOST_BEFORE = 10_000
"""Events of so long that are told apart from what comes after: far more than a space has in that time."""
AT_ONCE = 50
"""Events looked at together; each is some three queries."""


@strawberry.interface(description="Something that happened in the space.")
class SpaceEvent:
    id: strawberry.ID = strawberry.field(description="The same as a webhook's header `webhook-id` has.")
    kind: EventKind = strawberry.field(description="What it is.")
    at: datetime = strawberry.field(description="When, UTC.")


@strawberry.type(description="A session is complete.")
class SessionReady(SpaceEvent):
    session_id: strawberry.ID = strawberry.field(description="Global id.")
    num_messages: int = strawberry.field(description="Its messages, as far as the viewer may read them.")
    num_people: int = strawberry.field(description="People who speak in them.")
    num_unresolved: int = strawberry.field(description="Of them, messages of nobody known.")


@strawberry.type(description="A session has voices of nobody known, for whoever can say whose they are.")
class PersonUnresolved(SpaceEvent):
    session_id: strawberry.ID = strawberry.field(description="Global id.")
    voices: list[strawberry.ID] = strawberry.field(description="Voices of the session, as `whoIsThis` has them.")
    people: list[strawberry.ID] = strawberry.field(description="Global ids of people without a name.")
    num_turns: int = strawberry.field(description="Their messages, as far as the viewer may read them.")


@strawberry.type(description="Who is who has changed, in what the viewer may read.")
class IdentityRevised(SpaceEvent):
    what: str = strawberry.field(description="merge, split, reassign, not_same, bot, undo; account: by a login.")
    correction_id: strawberry.ID | None = strawberry.field(description="For who reads everything.")
    people: list[strawberry.ID] = strawberry.field(description="Global ids of those concerned that the viewer knows of.")
    sessions: list[strawberry.ID] = strawberry.field(description="Global ids, where messages changed hands.")
    num_turns: int = strawberry.field(description="Messages that changed hands, as far as the viewer may read them.")


@strawberry.type(description="Something is gone for good: the viewer's own, or for who reads everything.")
class SomethingErased(SpaceEvent):
    what: str = strawberry.field(description="voices, inferred or sounds. That a space is gone is told to webhooks.")
    people: list[strawberry.ID] = strawberry.field(description="Global ids of whose it was, where it was certain people's.")
    num_erased: int | None = strawberry.field(description="How much; null where that is nobody's to know.")


EventOutcome: TypeAlias = Annotated[
    SessionReady | PersonUnresolved | IdentityRevised | SomethingErased | NotAllowed | NotFound | InvalidInput,
    strawberry.union("EventOutcome", description="What happened, or why nothing is told."),
]


@dataclass
class _Place:
    """How far a follower is."""

    since: datetime
    had: dict[str, datetime] = field(default_factory=dict)

    def go_on(self, found: Sequence[Event], now: datetime) -> None:
        """`now`: when it was looked."""
        self.had |= {event.id: event.at for event in found}
        caught_up = len(found) < AT_ONCE
        self.since = max(self.since, (now if caught_up else found[-1].at) - OVERLAP)
        self.had = {id: at for id, at in self.had.items() if at >= self.since}


async def follow(context: Context, kinds: list[EventKind] | None, since: datetime | None) -> AsyncGenerator[Any, None]:
    """What happens from now on, or from `since`, until the token ends. Token and scope are looked at anew for all of it."""
    try:
        wanted = frozenset(kinds or EventKind)
        place = await _begin(context, wanted, since)
        while True:
            now = context.renewed()
            if now.entry is None:
                raise TokenNotAccepted
            now.reader()
            found, at = await now.services.graph.read(
                list_events, now.space, kinds=wanted, since=place.since, had=list(place.had), limit=AT_ONCE
            )
            place.go_on(found, at)
            if found:
                reading = await now.reading()
                for told in await reading.read(list_told, found):
                    yield event(told)
            if len(found) < AT_ONCE:
                await asyncio.sleep(POLL_SECONDS)
    except VoicegraphError as error:
        yield problem(error)


async def _begin(context: Context, kinds: frozenset[EventKind], since: datetime | None) -> _Place:
    """From now on: all but what can be seen at this moment, also what began to be written before."""
    asked = context.credentials.asked
    if asked.voice or asked.heard_by_voices:
        raise BadInput(what="who follows", given="a voice", needed="a token and people: a voice would be heard again each time")
    now = datetime.now(UTC)
    if since is not None:
        if since.tzinfo is None or not now - KEPT <= since:
            raise BadInput(what="since", given=since.isoformat(), needed=f"a time with its zone, {KEPT.days} days ago at most")
        return _Place(since)
    graph, space = context.services.graph, context.space
    _, at = await graph.read(list_events, space, kinds=kinds, since=now, had=(), limit=1)
    before, _ = await graph.read(list_events, space, kinds=kinds, since=at - OVERLAP, had=(), limit=MOST_BEFORE)
    return _Place(at - OVERLAP, {event.id: event.at for event in before})


def event(told: ToldEvent) -> Any:
    place: dict[str, Any] = {"id": strawberry.ID(told.id), "kind": told.kind, "at": told.at}
    people = [strawberry.ID(global_id("Person", id)) for id in told.people]
    counts, session = told.counts, strawberry.ID(global_id("Session", told.session_id or ""))
    match told.kind:
        case EventKind.SESSION_READY:
            return SessionReady(
                **place,
                session_id=session,
                num_messages=counts["messages"],
                num_people=counts["people"],
                num_unresolved=counts["unresolved"],
            )
        case EventKind.PERSON_UNRESOLVED:
            voices = [strawberry.ID(id) for id in told.voices]
            return PersonUnresolved(**place, session_id=session, voices=voices, people=people, num_turns=counts["turns"])
        case EventKind.IDENTITY_REVISED:
            correction = strawberry.ID(global_id(CORRECTION, told.correction_id)) if told.correction_id else None
            sessions = [strawberry.ID(global_id("Session", id)) for id in told.sessions]
            return IdentityRevised(
                **place,
                what=told.what or "",
                correction_id=correction,
                people=people,
                sessions=sessions,
                num_turns=counts.get("turns", 0),
            )
        case EventKind.ERASED:
            return SomethingErased(**place, what=told.what or "", people=people, num_erased=counts.get("erased"))
