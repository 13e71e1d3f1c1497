"""Whose turns are these, going by the login that they came with? Its owner's, unless anything speaks against it.

A login is not a mouth: a room sits behind it, a program joins with it, somebody lends a laptop. So it attributes only where
it is one person's, bound to them by somebody's word, and no voice says otherwise; and no voice is learned by it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from service.types.accounts import Owner, Presence, SignedIn, Track
from service.types.audio import Segment
from service.types.meeting import AccountKey
from service.types.memory import Attendance

PLATFORM = "platform"
"""`Attendance.source` of what a meeting's platform told."""


class Why(StrEnum):
    """Why a login tells nothing certain: kept with the proposal that it leaves."""

    SEVERAL_ACCOUNTS = "several_accounts"
    """Its accounts are two people's."""
    CONTRADICTS_ACCOUNT = "contradicts_account"
    """The voice is known, and another's; or the owner's is, and this is not it."""
    ACCOUNT = "account"
    """A voice nobody knows came with the login of somebody whose voice nobody knows: theirs, once somebody says so."""


@dataclass(frozen=True, slots=True)
class Of:
    """The turns that no voice decided are this owner's."""

    owner: Owner


@dataclass(frozen=True, slots=True)
class Held:
    """For a human: `subject` (the local speaker, or a person that its voice made) may be each of `people`."""

    subject: str
    people: tuple[str, ...]
    why: Why


@dataclass(frozen=True, slots=True)
class Nobodys:
    """The login tells nothing of this track."""


def whose(track: Track) -> Of | Held | Nobodys:
    """A person's login that a program uses, and a program's that somebody else does, tell nothing of either."""
    owners = [owner for owner in track.owners if owner.is_bot == track.is_bot]
    if track.several or not owners:
        return Nobodys()
    owner = owners[0]
    if any(other.person_id not in owner.same for other in owners):
        return Held(track.id, tuple(dict.fromkeys(other.person_id for other in owners)), Why.SEVERAL_ACCOUNTS)
    others = [one for one in track.heard if one.person_id not in owner.same]
    if any(other.is_settled for other in others) or (others and owner.has_voice) or len(others) > 1:
        return Held(track.id, (owner.person_id,), Why.CONTRADICTS_ACCOUNT)
    if others:
        return Held(others[0].person_id, (owner.person_id,), Why.ACCOUNT)
    return Of(owner)


def presences(participants: Iterable[SignedIn], id_of: Callable[[AccountKey], str]) -> tuple[Presence, ...]:
    """Which accounts were there, and when, sorted by id. A program's presence is nobody's, and a room's neither."""
    there: dict[str, list[Segment]] = {}
    beside: dict[str, set[str]] = {}
    for one in participants:
        if one.is_bot or one.several:
            continue
        ids = {id_of(key) for key in one.accounts}
        for id in ids:
            there.setdefault(id, []).extend(one.attends)
            beside.setdefault(id, set()).update(ids - {id})
    return tuple(Presence(id, united(there[id]), tuple(sorted(beside[id]))) for id in sorted(there))


def attended(there: Iterable[Presence], owners: Mapping[str, Owner], doubted: Collection[str] = ()) -> tuple[Attendance, ...]:
    """Who was there by their login, and when; `owners` by account. Being there opens what was said, so nothing follows from a
    login that came with somebody else's, nor for people in `doubted`, against whose logins a voice speaks."""
    intervals: dict[str, list[Segment]] = {}
    for one in there:
        owner = owners.get(one.account_id)
        if owner is None or owner.person_id in doubted:
            continue
        if all(owners[other].person_id in owner.same for other in one.beside if other in owners):
            intervals.setdefault(owner.person_id, []).extend(one.intervals)
    return tuple(Attendance(person, united(intervals[person]), PLATFORM) for person in sorted(intervals) if intervals[person])


def united(intervals: Iterable[Segment]) -> tuple[Segment, ...]:
    """In order and apart: somebody on laptop and telephone was there once."""
    apart: list[Segment] = []
    for one in sorted(intervals):
        if apart and one.start <= apart[-1].end:
            apart[-1] = Segment(apart[-1].start, max(apart[-1].end, one.end))
        else:
            apart.append(one)
    return tuple(apart)
