"""What are the people of a session called? Claims found in its words and labels, judged with those of other sessions, and
applied where they are sure enough; and what a human decides about a proposed name.

Names are a person's own, merged or not: taking a merge back leaves everybody the names they had."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.errors import VoicegraphError
from service.graph.audit import save_audit_event
from service.graph.driver import Graph, Tx
from service.graph.erase_names import list_noted_names
from service.graph.spaces import get_space, lock_space
from service.graph.write_names import (
    APPLIED,
    BY_ITSELF,
    OPEN,
    REJECTED,
    Called,
    JudgedProposal,
    NamedPerson,
    NamingTurn,
    NewEvidence,
    StoredProposal,
    decide_proposal,
    get_proposal,
    hide_name,
    list_called,
    list_named_people,
    list_naming_turns,
    list_proposals,
    proposal_id,
    replace_contradicted_labels,
    replace_evidence,
    save_judged,
    show_name,
)
from service.memory.erased_names import is_noted
from service.memory.interactions import Spoken
from service.memory.name_claims import NamesHeard, claims
from service.memory.names import (
    AGAINST,
    DEFAULT,
    Known,
    NameClaim,
    NameConfig,
    NameProposal,
    Source,
    chosen,
    contradict,
    proposals,
)
from service.memory.vocatives import normal_name


class NobodyToName(VoicegraphError):
    code = "nobody_to_name"
    says = (
        "Name proposal {proposal_id} is about a voice of session {session_id} that is nobody's yet. "
        "Give its turns to a person first (`voicegraph people reassign`), then name that person."
    )
    http_status = 409


@dataclass(frozen=True, slots=True)
class NamedSession:
    """What naming a session came to."""

    session_id: str
    proposals: tuple[str, ...]
    """Ids of all NameProposals about the voices that this session says something of."""
    named: tuple[str, ...]
    """Ids of the people whose shown name changed."""
    contradicted: tuple[str, ...]
    """Ids of the LocalSpeakers whose platform label the voice or the words speak against."""


@dataclass(frozen=True, slots=True)
class NameVerdict:
    """What a human decided about a proposal."""

    proposal_id: str
    person_id: str
    name: str
    status: str
    """applied | rejected"""
    shown: str | None
    """The person's name after it."""


async def name_session(graph: Graph, space: str, session_id: str, config: NameConfig = DEFAULT) -> NamedSession:
    """Make the session's name proposals anew and apply what is sure.

    A pure function of what the graph holds: run again (after a kill, a correction, a merge) it changes only what changed.
    Never touches a name that a human gave. Raises NotFound."""
    while True:
        session = await graph.write(_read_settled, space, session_id)
        heard = await asyncio.to_thread(_heard, session, session_id, config)
        named = await graph.write(_write, session, session_id, heard, config)
        if named is not None:
            return named


async def name_again(
    tx: Tx, space: str, sessions: Collection[str], *, occasion: str, kept: Collection[str] = (), config: NameConfig = DEFAULT
) -> None:
    """As name_session for all of `sessions`, in the transaction of a caller that holds the lock of the space; `kept`: ids of
    people and voices, and of sessions for their contradicted labels, that stay as they are. `occasion`: for the audit."""
    subjects: set[str] = set()
    for session_id in sorted(sessions):
        session = await _read(tx, space, session_id)
        heard = await asyncio.to_thread(_heard, session, session_id, config)
        subjects |= await _say(tx, session, session_id, heard, kept)
    await _judge(tx, space, subjects, occasion, config)


async def apply_name(graph: Graph, *, space: str, proposal_id: str, actor: str) -> NameVerdict:
    """The proposal's person is called so from now on, whatever else is claimed; `actor` is the account's or person's id.

    A name that a human gave before stays as an alias. Done twice it is done once. Raises NotFound, NobodyToName."""
    return await graph.write(_apply, space, proposal_id, actor)


async def reject_name(graph: Graph, *, space: str, proposal_id: str, actor: str) -> NameVerdict:
    """The name is not this person's: never applied again by itself, and taken back where it is shown because of it.

    For a voice that is nobody's yet `person_id` is the LocalSpeaker's id. Raises NotFound."""
    return await graph.write(_reject, space, proposal_id, actor)


# ---- a session


@dataclass(frozen=True, slots=True)
class _Session:
    space: str
    revision: int
    turns: Sequence[NamingTurn]
    people: Mapping[str, NamedPerson]


async def _read_settled(tx: Tx, space: str, session_id: str) -> _Session:
    """With all that the revision stands for: it may be there to read before the rest of the commit that made it."""
    await lock_space(tx, space)
    return await _read(tx, space, session_id)


async def _read(tx: Tx, space: str, session_id: str) -> _Session:
    settings = await get_space(tx, space)
    turns = await list_naming_turns(tx, space, session_id)
    people = await list_named_people(tx, space, {turn.speaker_id for turn in turns if turn.speaker_id})
    return _Session(space, settings.identity_revision, turns, people)


def _heard(session: _Session, session_id: str, config: NameConfig) -> NamesHeard:
    turns = [Spoken(t.message_id, t.segment, t.track, t.speaker_id, t.text) for t in session.turns]
    return claims(
        turns,
        {turn.track: turn.label for turn in session.turns},
        {id: given for id, person in session.people.items() if (given := _given(person))},
        strangers={turn.message_id for turn in session.turns if turn.is_stranger},
        session_id=session_id,
        config=config,
    )


def _given(person: NamedPerson) -> tuple[str, ...]:
    """Names that a human gave; the one shown first."""
    shown = (person.display_name,) if person.display_name and not person.by_itself else ()
    return (*shown, *person.aliases)


async def _write(tx: Tx, session: _Session, session_id: str, heard: NamesHeard, config: NameConfig) -> NamedSession | None:
    """None when people changed since the session was read; nothing is written then."""
    space = session.space
    if (await lock_space(tx, space)).identity_revision != session.revision:
        return None
    subjects = await _say(tx, session, session_id, heard)
    named = await _judge(tx, space, subjects, session_id, config)
    told = await list_proposals(tx, space, subjects)
    return NamedSession(session_id, tuple(p.id for p in told), named, tuple(sorted(heard.contradicted)))


async def _say(tx: Tx, session: _Session, session_id: str, heard: NamesHeard, kept: Collection[str] = ()) -> frozenset[str]:
    """Let the session say what was heard, of everybody but those in `kept`; who has to be judged anew for it."""
    space = session.space
    noted = await list_noted_names(tx, space, session_id)
    told = [claim for claim in heard.claims if claim.subject not in kept and not is_noted(session_id, noted, claim.name)]
    claimed = [claim for claim in told if _tells(claim, session.people.get(claim.subject))]
    there = await list_proposals(tx, space, {claim.subject for claim in claimed})
    subjects = await replace_evidence(tx, space, session_id, _evidence(claimed, there), kept)
    if session_id not in kept:
        await replace_contradicted_labels(tx, space, session_id, await _mistaken_labels(tx, session, heard))
    return subjects


def _tells(claim: NameClaim, person: NamedPerson | None) -> bool:
    """Of somebody whom a human named, only what contradicts the name tells anything, and no call does: the wrong one may
    have answered."""
    if person is None or not (given := _given(person)):
        return True
    if person.is_bot or claim.source in (Source.ADDRESSED, Source.WEAK_INTRODUCTION, *AGAINST):
        return False
    return all(contradict(claim.name, name) for name in given)


def _evidence(claimed: Sequence[NameClaim], there: Sequence[StoredProposal]) -> list[NewEvidence]:
    """By subject, name and turn. What is said against a name counts only where something was said for it."""
    known = {(p.subject, p.normal_name) for p in there if p.evidence}
    known |= {(c.subject, c.normal_name) for c in claimed if c.source not in AGAINST}
    written: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    sources: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for claim in claimed:
        if (claim.subject, claim.normal_name) in known:
            written[claim.subject, claim.normal_name][claim.name] += 1
            sources[claim.subject, claim.normal_name, claim.message_id].append(claim.source.value)
    return [
        NewEvidence(subject, _usual(written[subject, name]), name, message, tuple(sorted(set(said))))
        for (subject, name, message), said in sorted(sources.items())
    ]


def _usual(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


async def _mistaken_labels(tx: Tx, session: _Session, heard: NamesHeard) -> dict[tuple[str, str], int]:
    """(track, person) → turns, where a track is labelled with the name of somebody whose voice is not heard on it."""
    voices: dict[str, set[str]] = defaultdict(set)
    for turn in session.turns:
        voices[turn.track].add(turn.speaker_id or turn.track)
    turns = Counter(turn.track for turn in session.turns)
    called = _by_name(await list_called(tx, session.space, set(heard.labels.values())))
    return {
        (track, person.person_id): turns[track]
        for track, name in heard.labels.items()
        for person in called.get(normal_name(name), ())
        if not voices[track] & person.same
    }


def _by_name(called: Iterable[Called]) -> dict[str, list[Called]]:
    found: dict[str, list[Called]] = defaultdict(list)
    for person in called:
        found[normal_name(person.name)].append(person)
    return found


# ---- people


MAX_ROUNDS = 4
"""Of judging: one lets a name go, the next gives it to whom it held off, the third finds nothing left to do."""


async def _judge(tx: Tx, space: str, subjects: Collection[str], occasion: str, config: NameConfig) -> tuple[str, ...]:
    """Weigh all proposals about `subjects` anew and show what is sure, until nothing changes: who loses a name no longer keeps
    it from another. Ids of people whose shown name changed."""
    changed: set[str] = set()
    for _ in range(MAX_ROUNDS):
        now = await _judge_once(tx, space, subjects, occasion, config)
        if not now:
            break
        changed |= set(now)
    return tuple(sorted(changed))


async def _judge_once(tx: Tx, space: str, subjects: Collection[str], occasion: str, config: NameConfig) -> tuple[str, ...]:
    people = await list_named_people(tx, space, subjects)
    stored = await list_proposals(tx, space, subjects)
    called = _by_name(await list_called(tx, space, {p.name for p in stored}))
    found = proposals(
        _claims(stored),
        {subject: _known(subject, people, stored) for subject in subjects},
        {name: [person.same for person in them] for name, them in called.items()},
        config,
    )
    best, tied = _best(found, people)
    names = {p.id: p.name for p in stored}
    judged = {proposal_id(p.subject, p.normal_name): p for p in found}
    await _save(tx, space, stored, judged, best, tied)
    changed = []
    for id, person in sorted(people.items()):
        wanted = best.get(id)
        if wanted is not None and (person.named_by, person.display_name) != (wanted, names[wanted]):
            await show_name(tx, space, id, names[wanted], by=wanted)
        elif wanted is None and person.by_itself and not person.is_bot:  # a bot keeps the name that it had
            await hide_name(tx, space, id)
        else:
            continue
        changed.append(id)
        action, why = (
            ("name", f"proposal {wanted}") if wanted else ("unname", f"proposal {person.named_by} is not sure any more")
        )
        await save_audit_event(tx, space, actor=BY_ITSELF, action=action, target=id, why=why, occasion=f"{occasion} {wanted}")
    return tuple(changed)


def _claims(stored: Iterable[StoredProposal]) -> list[NameClaim]:
    return [
        NameClaim(p.subject, p.name, Source(source), e.message_id, e.session_id)
        for p in stored
        for e in p.evidence
        for source in e.sources
    ]


def _known(subject: str, people: Mapping[str, NamedPerson], stored: Iterable[StoredProposal]) -> Known:
    rejected = frozenset(p.normal_name for p in stored if p.subject == subject and p.status == REJECTED)
    return Known(_given(people[subject]) if subject in people else (), rejected)


def _best(found: Sequence[NameProposal], people: Mapping[str, NamedPerson]) -> tuple[dict[str, str], frozenset[str]]:
    """Person → the proposal to show by itself; and proposals tied with another's. Two people who would get one name at the same
    moment both get none, unless one has it already: nobody knows whose it is."""
    best = {}
    for id, person in people.items():
        if person.is_bot or (person.display_name and not person.by_itself):
            continue
        choice = chosen([p for p in found if p.subject == id])
        if choice is not None:
            best[id] = choice
    sure, tied = {}, set()
    for id, choice in best.items():
        rivals = [o for o, other in best.items() if other.normal_name == choice.normal_name and o not in people[id].same]
        has_it = normal_name(people[id].display_name or "") == choice.normal_name
        proposal = proposal_id(id, choice.normal_name)
        if has_it or not rivals:
            sure[id] = proposal
        else:
            tied.add(proposal)
    return sure, frozenset(tied)


async def _save(
    tx: Tx,
    space: str,
    stored: Sequence[StoredProposal],
    judged: Mapping[str, NameProposal],
    best: Mapping[str, str],
    tied: Collection[str],
) -> None:
    saved: list[JudgedProposal] = []
    gone: list[str] = []
    for p in stored:
        found = judged.get(p.id)
        by_human = p.status != OPEN and p.decided_by != BY_ITSELF
        if found is None and not by_human:
            gone += [] if p.evidence else [p.id]
            continue
        applied = best.get(p.subject) == p.id
        status, decided_by = (p.status, p.decided_by) if by_human else (APPLIED, BY_ITSELF) if applied else (OPEN, None)
        held = found.held if found else None
        if held is None and p.id in tied:
            held = "taken"
        saved.append(
            JudgedProposal(
                p.id,
                tuple(source.value for source in found.sources) if found else (),
                found.num_claims if found else 0,
                found.confidence if found else 0.0,
                held,
                status,
                decided_by,
            )
        )
    await save_judged(tx, space, saved, gone)


# ---- what a human decides


async def _apply(tx: Tx, space: str, proposal_id: str, actor: str) -> NameVerdict:
    await lock_space(tx, space)
    about = await get_proposal(tx, space, proposal_id)
    if about.person_id is None:
        raise NobodyToName(proposal_id=proposal_id, session_id=about.session_id)
    person = (await list_named_people(tx, space, [about.person_id])).get(about.person_id)
    if person is None:
        raise NobodyToName(proposal_id=proposal_id, session_id=about.session_id)
    kept = person.display_name if not person.by_itself and person.display_name != about.name else None
    await show_name(tx, space, person.id, about.name, by=actor, kept=kept)
    return await _decided(tx, space, proposal_id, APPLIED, actor)


async def _reject(tx: Tx, space: str, proposal_id: str, actor: str) -> NameVerdict:
    await lock_space(tx, space)
    about = await get_proposal(tx, space, proposal_id)
    person = (await list_named_people(tx, space, [about.person_id or about.subject])).get(about.person_id or "")
    shown = person is not None and person.display_name == about.name and not person.by_itself
    if person is not None and shown and about.status == APPLIED and person.named_by == about.decided_by:
        await hide_name(tx, space, person.id)
    return await _decided(tx, space, proposal_id, REJECTED, actor)


async def _decided(tx: Tx, space: str, proposal_id: str, status: str, actor: str) -> NameVerdict:
    """Keep the verdict and let it count for the person's other names."""
    await decide_proposal(tx, space, proposal_id, status=status, actor=actor)
    action = "apply_name" if status == APPLIED else "reject_name"
    await save_audit_event(tx, space, actor=actor, action=action, target=proposal_id, why="decided by a human", occasion=status)
    about = await get_proposal(tx, space, proposal_id)
    person_id = about.person_id or about.subject
    await _judge(tx, space, {about.subject, person_id}, proposal_id, DEFAULT)
    person = (await list_named_people(tx, space, [person_id])).get(person_id)
    return NameVerdict(proposal_id, person_id, about.name, status, person.display_name if person else None)
