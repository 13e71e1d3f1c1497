"""What does the fold remember of a meeting? It all follows from the deliveries in their order, and is never stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from service.memory.meeting.around import Surroundings
from service.memory.meeting.copies import CopiesConfig
from service.memory.meeting.marks import MarksConfig
from service.memory.meeting.outcomes import About, Turn
from service.memory.meeting.people import PeopleConfig
from service.memory.meeting.roll import Everybody
from service.memory.meeting.shelf import Shelf
from service.types.meeting import Base, Spoke, Uttered


@dataclass(frozen=True, slots=True)
class MeetingConfig:
    """Seconds, but for what is said to be something else."""

    settle: float = 2.0  # from a final's arrival until its turn is told: by hand, as deliveries overtake each other by a second
    linger: float = 10.0  # from the end until it is over: Attendee tries again after 10 s, and finals are late by a few
    longer: float = 6.0  # times as long after each end that was none, since something came after it …
    longest_linger: float = 300.0  # … up to this: nobody is told each minute that it is over
    idle: float = 1800.0  # without a delivery until the meeting is taken for over; a source says otherwise
    finals_hold: bool = False  # whether a second final under one id changes nothing; as the source's connector declares
    at_once: int = 8  # finals of one speaker from one instant that are looked through for the one corrected: none has so many
    seam: float = 0.5  # between two times of one word, recognised in two windows; as OverlapConfig of connectors.files
    seam_words: int = 200  # in a row that are looked for; as there
    longest: float = 31 * 86_400.0  # a meeting; as LONGEST of service.connectors.files
    epoch_from: float = 946_684_800.0  # the year 2000: seconds above it count from 1970, whatever they are said to count from
    epoch_to: float = 4_102_444_800.0  # the year 2100: no meeting is then
    copies: CopiesConfig = field(default_factory=CopiesConfig)
    marks: MarksConfig = field(default_factory=MarksConfig)
    people: PeopleConfig = field(default_factory=PeopleConfig)


@dataclass(frozen=True, slots=True)
class Origin:
    """Second 0 of the turns."""

    epoch: float
    """Seconds since 1970, UTC."""
    is_exact: bool
    """Told, not worked out."""

    def seconds(self, time: float, base: Base) -> float:
        """Since second 0."""
        return time if base is Base.MEETING else time - self.epoch


@dataclass(frozen=True, slots=True)
class Utterance:
    """One thing said, as it is told at present."""

    uid: str
    event: Uttered
    told: float
    """When it happened by whoever told it, else when it came; seconds since 1970."""
    gone: bool = False
    """Withdrawn for good."""
    before: tuple[str, ...] = ()
    """Keys of the partials that it replaced."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A final whose turn is not told yet."""

    uid: str
    due: float
    """Of the clock."""
    place: tuple[float, float, str] | None
    """Among what is said; None before `origin` is fixed."""


@dataclass(frozen=True, slots=True)
class MeetingState:
    """Immutable; the clock is seconds since 1970 by which deliveries were received, and never goes back."""

    config: MeetingConfig = field(default_factory=MeetingConfig)
    clock: float | None = None
    last: float | None = None
    """When the latest delivery came."""
    about: About = field(default_factory=About)
    began: float | None = None
    """The earliest start told, until `origin` is fixed."""
    zero: float | None = None
    """The latest moment at which second 0 can have been, by what was heard when."""
    first: float | None = None
    """The earliest time told that counts from 1970."""
    origin: Origin | None = None
    seen: Shelf[str, bool] = field(default_factory=Shelf)
    """Keys of what may not come twice. Those of partials are forgotten with them."""
    open: Shelf[str, Utterance] = field(default_factory=Shelf)
    """Partials: by slot, else by id."""
    closed: Shelf[str, float] = field(default_factory=Shelf)
    """Slot → until where in it finals have come, seconds as told."""
    said: Shelf[str, Utterance] = field(default_factory=Shelf)
    """Finals, and what was still partial at the end."""
    waiting: tuple[Waiting, ...] = ()
    """By `due`."""
    given: Shelf[str, tuple[Turn, ...]] = field(default_factory=Shelf)
    """Utterance → its turns as they were told last; empty: as none."""
    everybody: Everybody = field(default_factory=Everybody)
    around: Surroundings = field(default_factory=Surroundings)
    unmarked: Shelf[str, Spoke] = field(default_factory=Shelf)
    """Marks told before `origin` was fixed, by key: of a meeting whose words come at its end, all."""
    latest: float = 0.0
    """The end of what is last in the meeting, seconds since the origin."""
    ended: bool = False
    failed: str | None = None
    duration: float | None = None
    finished: bool = False
    ends: int = 0
    """How often it was over after its end."""

    @property
    def started_at(self) -> datetime | None:
        return self.about.started_at
