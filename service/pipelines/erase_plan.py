"""What has to go with a person, a session, a message or a fact? Read and decided before anything of it is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from service.graph.driver import Tx
from service.graph.erase import (
    get_fact_to_erase,
    get_message_to_erase,
    get_session_to_erase,
    list_sessions_of_people,
    list_sources,
)
from service.graph.erase_names import Known, known_as, list_bearers, list_texts_with, list_things_named
from service.graph.erase_turns import list_facts_seen, list_turns_of
from service.graph.merges import list_merges
from service.graph.silent import list_silent
from service.graph.write_sessions import SessionBusy
from service.memory.erased_names import Names, is_ordinary, is_word, names_of, parts_of, without_names
from service.memory.erasure import facts_that_go, named_elsewhere
from service.types.erasure import Erasure, FactSeen, Subject, SubjectKind
from service.types.memory import SessionStatus

SILENT = timedelta(days=7)
"""Without a turn, after which nobody goes on with an open session: meetings are kept 72 h, streams less, and an ingest that was
broken off is asked for again within days or never. An erasure must not wait for ever."""


@dataclass(frozen=True, slots=True)
class NameConfig:
    most_elsewhere: int = 100  # places that name them where they were not, mended unasked: a guess at what a team says of one
    texts: int = 200  # of others, that are looked at for whether a name is a word: enough to see one in twenty


async def plan(
    tx: Tx,
    space: str,
    subject: Subject,
    *,
    id: str,
    asked_by: str,
    why: str,
    at: datetime,
    own: bool = False,
    although: bool = False,
    exactly: Sequence[str] = (),
    although_open: bool = False,
    config: NameConfig,
) -> Erasure:
    """Of a person, everybody merged with them: what is shown as theirs is theirs. `own`: they ask themselves, and an automatic
    merge, which widens nothing, lets nobody take away what may be somebody else's. `exactly`: these people, whoever is merged
    with them. A reason keeps no name: the receipt has it.

    Raises NotFound; SessionBusy for a session, or a message of one, that is still written, and not SILENT, unless
    `although_open`."""
    begun = Erasure(id=id, space=space, subject=subject, asked_by=asked_by, why=why, at=at, although=although)
    match subject.kind:
        case SubjectKind.PERSON:
            found = await _person(tx, begun, frozenset(exactly) or await _merged(tx, begun, own), config.texts)
        case SubjectKind.SESSION:
            found = await _session(tx, begun, although_open)
        case SubjectKind.MESSAGE:
            session, status, people = await get_message_to_erase(tx, space, subject.id)
            await _refuse_open(tx, begun, session, status, although_open)
            meetings = (await list_sources(tx, space, (session,))).meetings  # whose inbox has its words, too
            found = replace(begun, messages=(subject.id,), sessions=(session,), people=people, meetings=meetings)
        case SubjectKind.FACT:
            return replace(begun, facts=(subject.id,), sessions=(await get_fact_to_erase(tx, space, subject.id),))
    seen = await list_facts_seen(tx, found, await list_turns_of(tx, found))
    return replace(found, facts=facts_of(found, seen, config.most_elsewhere))


def facts_of(erasure: Erasure, seen: Sequence[FactSeen], most_elsewhere: int) -> tuple[str, ...]:
    """Ids of those that go; without those that too many places name elsewhere."""
    names = Names(erasure.names, erasure.words, erasure.shared_names)
    elsewhere = named_elsewhere(seen, names)
    kept = elsewhere if len(elsewhere) > most_elsewhere and not erasure.although else frozenset()
    return tuple(fact for fact in facts_that_go(seen, names) if fact not in kept)


async def _merged(tx: Tx, begun: Erasure, own: bool) -> frozenset[str]:
    sets = await list_merges(tx, begun.space, [begun.subject.id])
    ids = sets.members(begun.subject.id)
    if own:
        ids = frozenset(id for id in ids if all(edge.confirmed for edge in sets.path(begun.subject.id, id) or ()))
    return ids


async def _person(tx: Tx, begun: Erasure, ids: frozenset[str], texts: int) -> Erasure:
    known = await known_as(tx, begun.space, ids)
    parts = parts_of((*known.names, *known.typed))
    bearers = await list_bearers(tx, begun.space, ids, parts)
    names = names_of(known.names, bearers, known.typed, await _words(tx, begun.space, known, texts))
    sessions = await list_sessions_of_people(tx, begun.space, known.people)
    sources = await list_sources(tx, begun.space, sessions)
    return replace(
        begun,
        why=without_names(begun.why, (*names.alone, *names.words, *names.shared)),
        people=known.people,
        names=names.alone,
        words=names.words,
        shared_names=names.shared,
        sessions=sessions,
        accounts=known.accounts,
        meetings=sources.meetings,
        uploads=sources.uploads,
    )


async def _words(tx: Tx, space: str, known: Known, texts: int) -> frozenset[str]:
    """Those of their names that are words where others write, or name something else."""
    names = parts_of(known.names)
    things = await list_things_named(tx, space, names)
    asked = [name for name in sorted(names) if name not in things and not is_ordinary(name)]
    return things | {name for name in asked if is_word(name, await list_texts_with(tx, space, name, known.people, texts))}


async def _session(tx: Tx, begun: Erasure, although_open: bool) -> Erasure:
    status, people = await get_session_to_erase(tx, begun.space, begun.subject.id)
    await _refuse_open(tx, begun, begun.subject.id, status, although_open)
    sessions = (begun.subject.id,)
    sources = await list_sources(tx, begun.space, sessions)
    return replace(begun, people=people, sessions=sessions, meetings=sources.meetings, uploads=sources.uploads)


async def _refuse_open(tx: Tx, begun: Erasure, session: str, status: SessionStatus, although_open: bool) -> None:
    if status is not SessionStatus.OPEN or although_open:
        return
    if not await list_silent(tx, begun.space, [session], before=begun.at - SILENT):
        raise SessionBusy(session_id=session)
