"""What has to go with a person, a session, a message or a fact? Read and decided before anything of it is touched."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from service.graph.driver import Tx
from service.graph.erase import (
    get_fact_to_erase,
    get_message_to_erase,
    get_session_to_erase,
    known_as,
    list_bearers,
    list_sessions_of_people,
    list_sources,
)
from service.graph.erase_turns import list_facts_seen, list_turns_of
from service.graph.merges import list_merges
from service.graph.write_sessions import SessionBusy
from service.memory.erasure import facts_that_go, names_of, without_names
from service.types.erasure import Erasure, Subject, SubjectKind
from service.types.memory import SessionStatus


async def plan(
    tx: Tx, space: str, subject: Subject, *, id: str, asked_by: str, why: str, at: datetime, own: bool = False
) -> Erasure:
    """Of a person, everybody merged with them: what is shown as theirs is theirs. `own`: they ask themselves, and an automatic
    merge, which widens nothing, lets nobody take away what may be somebody else's. A reason keeps no name: the receipt has it.

    Raises NotFound; SessionBusy for a session, or a message of one, that is still written."""
    begun = Erasure(id=id, space=space, subject=subject, asked_by=asked_by, why=why, at=at)
    match subject.kind:
        case SubjectKind.PERSON:
            found = await _person(tx, begun, own)
        case SubjectKind.SESSION:
            found = await _session(tx, begun)
        case SubjectKind.MESSAGE:
            session, status, people = await get_message_to_erase(tx, space, subject.id)
            _refuse_open(session, status)
            found = replace(begun, messages=(subject.id,), sessions=(session,), people=people)
        case SubjectKind.FACT:
            return replace(begun, facts=(subject.id,), sessions=(await get_fact_to_erase(tx, space, subject.id),))
    seen = await list_facts_seen(tx, found, await list_turns_of(tx, found))
    return replace(found, facts=facts_that_go(seen, found.names, found.shared_names))


async def _person(tx: Tx, begun: Erasure, own: bool) -> Erasure:
    sets = await list_merges(tx, begun.space, [begun.subject.id])
    ids = sets.members(begun.subject.id)
    if own:
        ids = frozenset(id for id in ids if all(edge.confirmed for edge in sets.path(begun.subject.id, id) or ()))
    known = await known_as(tx, begun.space, ids)
    bearers = await list_bearers(tx, begun.space, ids, known.names)
    names, shared = names_of(known.names, bearers)
    sessions = await list_sessions_of_people(tx, begun.space, known.people)
    sources = await list_sources(tx, begun.space, sessions)
    return replace(
        begun,
        why=without_names(begun.why, (*names, *shared)),
        people=known.people,
        names=names,
        shared_names=shared,
        sessions=sessions,
        accounts=known.accounts,
        meetings=sources.meetings,
        uploads=sources.uploads,
    )


async def _session(tx: Tx, begun: Erasure) -> Erasure:
    status, people = await get_session_to_erase(tx, begun.space, begun.subject.id)
    _refuse_open(begun.subject.id, status)
    sessions = (begun.subject.id,)
    sources = await list_sources(tx, begun.space, sessions)
    return replace(begun, people=people, sessions=sessions, meetings=sources.meetings, uploads=sources.uploads)


def _refuse_open(session: str, status: SessionStatus) -> None:
    if status is SessionStatus.OPEN:
        raise SessionBusy(session_id=session)
