"""Who has been told of so far, and what did each of them say? While one step changes it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from service.memory.meeting.outcomes import Participant
from service.memory.meeting.people import PeopleConfig, Presence, moved, parent_of, participant, told_of, track_of
from service.memory.meeting.shelf import Draft, Shelf
from service.types.meeting import Speaker

Chain = tuple[str, "Chain | None"]
"""Utterances that grow at the head without being copied."""


@dataclass(frozen=True, slots=True)
class Everybody:
    present: Shelf[str, Presence] = field(default_factory=Shelf)
    """By track."""
    tracks: Shelf[str, Chain] = field(default_factory=Shelf)
    """Track → its utterances, the latest first."""
    inside: Shelf[str, tuple[str, ...]] = field(default_factory=Shelf)
    """Scope → tracks of the labels in it."""
    told: Shelf[str, Participant] = field(default_factory=Shelf)
    """By track, as it was told last."""


class Roll:
    def __init__(self, everybody: Everybody, config: PeopleConfig) -> None:
        self._config = config
        self._present = Draft(everybody.present)
        self._tracks = Draft(everybody.tracks)
        self._inside = Draft(everybody.inside)
        self._told = Draft(everybody.told)
        self.met: dict[str, None] = {}
        """Tracks of whom something new may be known."""

    def done(self) -> Everybody:
        return Everybody(self._present.done(), self._tracks.done(), self._inside.done(), self._told.done())

    def get(self, track: str) -> Presence | None:
        return self._present.get(track)

    def everybody(self) -> list[str]:
        return sorted(track for track, _ in self._present.items())

    def meet(self, speaker: Speaker, moment: float, now: float, *, came: bool = False, went: bool = False) -> list[str]:
        """`moment`: when it happened; `now`: when it was told; seconds since 1970. Returns the utterances that are another's by
        it: those of whom a program is seen to be behind."""
        track = track_of(speaker)
        if track is None:
            return []
        known = self._present.get(track)
        presence = told_of(known, track, speaker, moment, self._config)
        if came or went:
            is_late = now - moment > self._config.late
            presence = moved(presence, moment, self._config, came=came, is_late=is_late)
        if known is None:
            presence = self._found_in(presence)
        if presence == known:
            return []
        self._present.put(track, presence)
        if known is None or not _is_called_the_same(known, presence):
            self.met[track] = None
        return self.said_by(track) if presence.is_bot and known is not None and not known.is_bot else []

    def mark(self, track: str) -> list[str]:
        """The platform marks it as speaking. Returns its utterances, where it never did so before."""
        presence = self._present.get(track)
        if presence is None or presence.is_marked:
            return []
        self._present.put(track, replace(presence, is_marked=True))
        self._seen(presence)
        return self.said_by(track)

    def says(self, track: str, uid: str) -> None:
        self._tracks.put(track, (uid, self._tracks.get(track)))
        presence = self._present.get(track)
        if presence is not None and not presence.is_heard:
            self._present.put(track, replace(presence, is_heard=True))
            self._seen(presence)

    def _seen(self, presence: Presence) -> None:
        """In this meeting: when they came may be known by that."""
        if presence.came:
            self.met[presence.track] = None

    def said_by(self, track: str) -> list[str]:
        found, chain = [], self._tracks.get(track)
        while chain is not None:
            found.append(chain[0])
            chain = chain[1]
        return found

    def participant(self, track: str, epoch: float, until: float | None) -> Participant | None:
        """Where it is another than was told. `epoch`: of second 0; `until`: when the meeting was over, seconds since then, or
        None: it goes on."""
        self.met.pop(track, None)
        presence = self._present.get(track)
        if presence is None:
            return None
        parent = parent_of(presence)
        has_parent = parent is not None and parent in self._present
        found = participant(presence, epoch, until, self._config, has_parent=has_parent)
        if found == self._told.get(track):
            return None
        self._told.put(track, found)
        return found

    def _found_in(self, presence: Presence) -> Presence:
        """A label in the sound of a tile, or the tile itself: whichever comes first."""
        parent = parent_of(presence)
        if parent is None:
            labels = self._inside.get(presence.track) or ()
            self.met.update(dict.fromkeys(labels))
            return replace(presence, children=len(labels))
        labels = (*(self._inside.get(parent) or ()), presence.track)
        self._inside.put(parent, labels)
        tile = self._present.get(parent)
        if tile is not None:
            self._present.put(parent, replace(tile, children=len(labels)))
            self.met[parent] = None
        return presence


def _is_called_the_same(before: Presence, after: Presence) -> bool:
    """Whether the only news is that somebody is still called so."""
    if len(before.namings) != 1 or len(after.namings) != 1 or before.came != after.came or before.went != after.went:
        return False
    name, now = before.namings[0], after.namings[0]
    flags = [(p.accounts, p.emails, p.is_bot, p.is_host, p.is_room) for p in (before, after)]
    return (name.name, name.is_earned) == (now.name, now.is_earned) and flags[0] == flags[1]
