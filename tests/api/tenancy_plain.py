"""What was said, by whom, to whom and who was there: the plain data of a made space, before any of it is written.

Two spaces of one seed hold the same people, the same meetings and the same sentences, but for one word in each: a made word
that stands in one sentence of one space and nowhere else. Wherever it shows, that sentence showed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

TURN, APART = 4.0, 5.0
"""Seconds that a turn lasts, and from one's start to the next's."""
PEOPLE = ("ana", "ben", "cleo", "dan", "eve", "evelyn", "finn", "finley", "gil", "robo")
NAMED = {"ana": "Anouk", "ben": "Benedict", "cleo": "Cleopatra", "dan": "Daniel", "eve": "Evadne", "finn": "Finnegan",
         "robo": "Robotto"}  # fmt: skip
"""What they are called: by somebody's word. The others have no name."""
BOT = "robo"
SAME = {"evelyn": "eve"}
"""One person by a merge that somebody confirmed."""
GUESSED = {"finley": "finn"}
"""Shown as one person, and nobody confirmed it: neither reads what the other may."""
WILLING = ("ana", "cleo", "finn")
"""Who agreed that it may be inferred how they feel, and that sounds are kept."""


@dataclass(frozen=True, slots=True)
class Line:
    """One turn."""

    by: str | None
    """None: a voice too short to be anybody's."""
    text: str
    word: str
    """Of this line, and of no line of another space."""
    to: tuple[str, ...] = ()
    """As the transcript says."""
    shows: str | None = None
    """What an image shows that came with it."""


@dataclass(frozen=True, slots=True)
class Meeting:
    name: str
    title: str
    lines: tuple[Line, ...]
    there: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Who came and went when, as the caller says, in seconds; of others, from their first to their last word."""
    to_all: tuple[str, ...] = ()
    """To whom all of it was said, as the caller says."""
    public: bool = False

    def span(self, index: int) -> tuple[float, float]:
        return APART * index, APART * index + TURN

    def track(self, line: Line) -> str:
        return f"track {line.by or 'unknown'}"


@dataclass(frozen=True, slots=True)
class Plain:
    """One space."""

    name: str
    access: str
    """own | addressed | attended | shared"""
    meetings: tuple[Meeting, ...]
    """The first ones first."""

    def only(self, *names: str) -> Plain:
        """With these meetings alone."""
        return replace(self, meetings=tuple(meeting for meeting in self.meetings if meeting.name in names))

    def lines(self) -> list[tuple[Meeting, int, Line]]:
        return [(meeting, index, line) for meeting in self.meetings for index, line in enumerate(meeting.lines)]


SENTENCES = (
    "I like {} soup with bread.",
    "The present for grandmother is a {}.",
    "I will bring the {} on Friday.",
    "The doctor says that the {} needs an operation.",
    "We will move to {} in the spring.",
    "I promise to repair the {} tomorrow.",
    "Did you see the {} in the garden?",
    "I am allergic to {}.",
    "The dentist called about the {}.",
)
FOLLOWED = (
    ("My brother works in {}.", "He hates it there."),
    ("Grandmother gets a {}.", "She will love it."),
    ("My sister bought a {}.", "She will sell it on Friday."),
    ("My brother has a {}.", "He keeps it in the cellar."),
)
"""What the second says can be told only with the first: not to who came in between."""


def plain(name: str, access: str, seed: int = 8, size: int = 6) -> Plain:
    """The same for every `name`, but for the words and titles. `size`: lines of a meeting."""
    chance, told = random.Random(seed), _Words(name)

    def lines(meeting: str, *speakers: str | None, to: Mapping[int, Sequence[str]] | None = None) -> tuple[Line, ...]:
        found, (first, then) = [], chance.choice(FOLLOWED)
        for index in range(size):
            word = told.word(f"{meeting}/{index}")
            said = {size // 2 - 1: first, size // 2: f"{then} {SENTENCES[0]}"}.get(index) or chance.choice(SENTENCES)
            shows = f"a drawing of {told.word(f'{meeting}/{index}/shown')}" if index == 1 else None
            who, to_whom = speakers[index % len(speakers)], tuple((to or {}).get(index, ()))
            found.append(Line(who, said.format(word), word, to_whom, shows))
        return tuple(found)

    def meeting(
        called: str,
        said: tuple[Line, ...],
        there: Mapping[str, tuple[float, float]] | None = None,
        to_all: tuple[str, ...] = (),
    ) -> Meeting:
        return Meeting(called, f"About {told.word(called)}", said, there or {}, to_all, public=called == "square")

    end = APART * size
    half = APART * (size // 2)
    everybody = {who: (0.0, end) for who in ("ana", "ben", BOT)}
    return Plain(
        name,
        access,
        (
            meeting("kitchen", lines("kitchen", "ana", "ben"), {**everybody, "cleo": (half, end)}),
            meeting("garden", lines("garden", "ana", "ben")),
            meeting("attic", lines("attic", "cleo", None, "dan")),
            meeting("cellar", lines("cellar", "ana", "dan", "eve", to={1: ("ana",), 4: ("eve",)}), {BOT: (0.0, end)}),
            meeting("roof", lines("roof", "evelyn", "finn", "gil")),
            meeting("porch", lines("porch", "finley", "ana")),
            meeting("square", lines("square", "ben", "gil")),
            meeting("diary", lines("diary", "cleo")),
            meeting("letter", lines("letter", "ana"), {"dan": (0.0, half)}, to_all=("dan", "gil")),
            meeting("monday", _feelings(told, "monday", "ana", "ben")),
            meeting("tuesday", _feelings(told, "tuesday", "ana", "ben")),
            meeting("wednesday", _feelings(told, "wednesday", "cleo", "dan")),
            meeting("thursday", _feelings(told, "thursday", "cleo", "dan")),
        ),
    )


def _feelings(told: _Words, day: str, who: str, other: str) -> tuple[Line, ...]:
    """Said on two days, each of them lasts."""
    liked = told.word(f"{who} likes")
    texts = (
        (who, f"I love {liked}.", liked),
        (other, f"And I hate {liked}, it is {told.word(day)}.", told.word(day)),
        (who, f"I'm so angry about the {told.word(f'{day} angry')}.", told.word(f"{day} angry")),
        (other, f"The train leaves at nine, says {told.word(f'{day} train')}.", told.word(f"{day} train")),
    )
    return tuple(Line(by, text, word) for by, text, word in texts)


class _Words:
    """Words that look like nouns and are in no dictionary."""

    def __init__(self, space: str) -> None:
        self._space = space

    def word(self, of: str) -> str:
        chance = random.Random(f"{self._space}/{of}")
        return "".join(chance.choice("bdfgklmnprtvz") + chance.choice("aeiou") for _ in range(5))
