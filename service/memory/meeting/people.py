"""Who takes part, by handle: what each of them was called, when they came and went, why a handle may be several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from service.memory.labels import is_place, without_badge
from service.memory.meeting.outcomes import Participant
from service.types.audio import Segment
from service.types.meeting import AccountKey, Speaker

LONGEST_NAME = 200
"""Characters kept of a display name: longer ones are no names (CASES 45)."""
NO_NAMES = frozenset({"", "unknown", "unknown speaker", "none", "null", "undefined", "n/a", "speaker", "guest", "anonymous"})
"""What stands for the absence of a name, case-folded; never over a name, and never one person (CASES 10)."""


@dataclass(frozen=True, slots=True)
class PeopleConfig:
    """By hand; checked by tests/unit/memory/meeting/test_attendance.py and test_crowds.py."""

    late: float = 60.0  # seconds from when somebody came until it is told, from which it was held up: clocks differ by less
    early: float = 900.0  # seconds before second 0 that a coming told late may be of this meeting: rooms open a quarter before
    names: int = 20  # of one participant that are kept, and logins: nobody has more who is not playing
    moves: int = 500  # comings, and goings, of one participant: a reconnection a minute for eight hours


@dataclass(frozen=True, slots=True, order=True)
class Coming:
    at: float
    """Seconds since 1970."""
    is_late: bool = False
    """It was not told when it happened: which meeting in a room it was of is not known by when it was told."""


@dataclass(frozen=True, slots=True)
class Naming:
    name: str
    is_earned: bool
    """False: the provider itself names them provisionally."""
    told: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Presence:
    """A handle, as far as it is known."""

    track: str
    handle: str
    scope: str
    bot: str = ""
    """As Speaker.bot."""
    namings: tuple[Naming, ...] = ()
    """One a name, with the latest time at which it was told."""
    accounts: tuple[AccountKey, ...] = ()
    emails: tuple[AccountKey, ...] = ()
    is_bot: bool = False
    is_host: bool = False
    is_room: bool = False
    is_marked: bool = False
    """The platform has marked it as speaking."""
    children: int = 0
    """Labels found in its sound."""
    is_name: bool = False
    """There is no handle but a display name."""
    is_heard: bool = False
    """Something was said by it."""
    came: tuple[Coming, ...] = ()
    """In order, the first PeopleConfig.moves."""
    went: tuple[float, ...] = ()
    """Seconds since 1970, in order, the first PeopleConfig.moves."""

    @property
    def name(self) -> str | None:
        """The latest that is earned, else the latest."""
        return max(self.namings, key=lambda naming: (naming.is_earned, naming.told, naming.name)).name if self.namings else None


def track_of(speaker: Speaker) -> str | None:
    """The handle within its scope; None: nobody known. Where there is no handle, a name is all there is to tell them apart:
    then it begins with a slash, as no handle's does, since anybody can be called what another's handle is."""
    handle = speaker.handle or _shown(speaker.name)
    if not handle:
        return None
    found = f"{_escaped(speaker.scope)}/{_escaped(handle)}" if speaker.scope else _escaped(handle)
    found = _of_bot(speaker.bot) + found
    return found if speaker.handle else f"/{found}"


def nobody(uid: str) -> str:
    """A track of its own for one utterance: two that nobody names are not one."""
    return f"?/{uid}"


def told_of(presence: Presence | None, track: str, speaker: Speaker, told: float, config: PeopleConfig) -> Presence:
    """With what `speaker` says. The same for all orders in which it is told."""
    if presence is None:
        handle = speaker.handle or speaker.name or ""
        presence = Presence(track, handle, speaker.scope, speaker.bot, is_name=speaker.handle is None)
    name = _shown(speaker.name)
    namings = (
        presence.namings
        if name is None
        else _named(presence.namings, Naming(name, speaker.confidence != 0, told), config.names)
    )
    logins = [(presence.accounts, speaker.account), (presence.emails, speaker.email)]
    accounts, emails = (_with(keys, key, config.names) for keys, key in logins)
    found = replace(
        presence,
        namings=namings,
        accounts=accounts,
        emails=emails,
        is_bot=presence.is_bot or speaker.is_bot,
        is_host=presence.is_host or speaker.is_host,
        is_room=presence.is_room or speaker.is_room,
    )
    return presence if found == presence else found


def moved(presence: Presence, at: float, config: PeopleConfig, *, came: bool, is_late: bool = False) -> Presence:
    """Came, or went, `at` (seconds since 1970). The same for all orders in which it is told."""
    if not came:
        return replace(presence, went=tuple(sorted({*presence.went, at}))[: config.moves])
    same = [coming for coming in presence.came if coming.at == at]
    others = [coming for coming in presence.came if coming.at != at]
    now = Coming(at, is_late and all(coming.is_late for coming in same))
    return replace(presence, came=tuple(sorted((*others, now)))[: config.moves])


def participant(
    presence: Presence, epoch: float, until: float | None, config: PeopleConfig, *, has_parent: bool
) -> Participant:
    """As it is told. `epoch`: of second 0; `until`: when the meeting was over, seconds since then; None: it goes on."""
    attends, since = _intervals(presence, epoch, until, config)
    return Participant(
        presence.track,
        presence.handle,
        presence.scope,
        presence.name,
        tuple(naming.name for naming in presence.namings),
        presence.accounts,
        presence.emails,
        is_bot=presence.is_bot,
        is_host=presence.is_host,
        is_name=presence.is_name,
        tile=parent_of(presence) if has_parent else None,
        several=presence.children > 1 or presence.is_room or is_place(presence.name),
        attends=attends,
        here_since=since,
    )


def namesakes(participants: Iterable[Participant]) -> frozenset[str]:
    """Tracks that share their name with another, or have nothing but a name: a name says nothing of which of them it is."""
    tracks: dict[str, list[str]] = {}
    everybody = list(participants)
    for one in everybody:
        if one.name is not None:
            tracks.setdefault(without_badge(one.name).name.casefold(), []).append(one.track)
    shared = {track for alike in tracks.values() if len(alike) > 1 for track in alike}
    return frozenset(shared | {one.track for one in everybody if one.is_name})


def parent_of(presence: Presence) -> str | None:
    """The track of the tile whose sound the label was found in, if there is such a tile."""
    return _of_bot(presence.bot) + _escaped(presence.scope) if presence.scope else None


def _intervals(
    presence: Presence, epoch: float, until: float | None, config: PeopleConfig
) -> tuple[tuple[Segment, ...], float | None]:
    """From each coming to the next going: whoever has gone on one device is not held to be there on another."""
    found: list[Segment] = []
    for place, coming in enumerate(presence.came):
        end = next((end for end in presence.went if end >= coming.at), None)
        following = presence.came[place + 1].at if place + 1 < len(presence.came) else None
        if not _is_of_this(presence, coming, end, following, epoch, config):
            continue
        begin = max(0.0, coming.at - epoch)
        if end is None and until is None:
            return tuple(found), found[-1].end if found and found[-1].end > begin else begin
        stop = max(begin, end - epoch if end is not None else until or 0.0)
        if found and begin <= found[-1].end:
            found[-1] = Segment(found[-1].start, max(found[-1].end, stop))
        else:
            found.append(Segment(begin, stop))
    return tuple(found), None


def _is_of_this(
    presence: Presence, coming: Coming, end: float | None, following: float | None, epoch: float, config: PeopleConfig
) -> bool:
    """Whether it says that they were in this meeting. Who came before second 0, and of whom that is told late, may have been in
    the meeting before it in the same room, and have gone with it: then only what is told of them in this one says so."""
    if end is not None and end < epoch:
        return False
    if end is None and len(presence.went) >= config.moves:  # when they went again is not known any more
        return False
    if coming.at >= epoch or not coming.is_late:
        return True
    comes_again = following is not None and (end is None or following <= end)
    is_seen = presence.is_heard or presence.is_marked or end is not None
    return epoch - coming.at <= config.early and is_seen and not comes_again


def _named(namings: tuple[Naming, ...], new: Naming, most: int) -> tuple[Naming, ...]:
    """Of more than `most` the latest, those that are earned first."""
    same = next((naming for naming in namings if naming.name == new.name), None)
    if same is not None:
        new = Naming(new.name, new.is_earned or same.is_earned, max(new.told, same.told))
        if len(namings) == 1:
            return (new,)
    found = [*(n for n in namings if n is not same), new]
    if len(found) > most:
        found.remove(min(found, key=lambda n: (n.is_earned, n.told, n.name)))
    return tuple(sorted(found, key=lambda n: (n.told, n.name)))


def _with(keys: tuple[AccountKey, ...], key: AccountKey | None, most: int) -> tuple[AccountKey, ...]:
    """More than `most` say no more than that many: whoever has two logins is somebody only where both are the same person's."""
    return (
        keys
        if key is None or key in keys or len(keys) >= most
        else tuple(sorted((*keys, key), key=lambda k: (k.issuer, k.subject)))
    )


def _shown(name: str | None) -> str | None:
    name = " ".join((name or "").split())[:LONGEST_NAME]
    return None if name.casefold() in NO_NAMES else name


def _of_bot(bot: str) -> str:
    """What the tracks of one of several bots begin with: no scope is empty, so no other track has it."""
    return f"{_escaped(bot)}//" if bot else ""


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace("/", "%2F").replace("?", "%3F")
