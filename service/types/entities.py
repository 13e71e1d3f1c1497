"""Entities: what is spoken of, as it is read from turns, and as a viewer may see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.types.facts import FactTurn


class EntityType(StrEnum):
    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    THING = "thing"
    EVENT = "event"
    TOPIC = "topic"


class MentionKind(StrEnum):
    NAME = "name"
    """A proper name: Cork, Nora Keller."""
    NOUN = "noun"
    """A common noun: telescope, dentist appointment."""


class Strength(StrEnum):
    STRONG = "strong"
    WEAK = "weak"

    @classmethod
    def of(cls, weight: float, strong: float) -> Strength:
        """Strong from the weight `strong` on."""
        return cls.STRONG if weight >= strong else cls.WEAK


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing that one turn speaks of. Equal `type` and `name` are the same entity, whoever speaks."""

    type: EntityType
    name: str
    """Normalised: NFKC, case-folded; of a common noun the lemma, with the nouns that it is compounded with."""
    surface: str
    """As it was said."""
    kind: MentionKind


class EntityReader(Protocol):
    @property
    def name(self) -> str:
        """Name and version, kept with each session: `nouns-1`, `model:NAME`."""
        ...

    async def __call__(
        self, turns: Sequence[FactTurn], dropped: Counter[str] | None = None
    ) -> Mapping[str, tuple[Mention, ...]]:
        """What one session's turns speak of, by message, each entity once; messages that mention nothing are missing. The same
        turns give the same. Nothing of a turn's depends on one that has other readers. `dropped` is added to: why what might
        have been a mention is none, and how often."""
        ...


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that words name, as a viewer may know it."""

    id: str
    name: str
    """As it was said most often in what they may read."""
    type: EntityType


@dataclass(frozen=True, slots=True)
class KnownEntity:
    """An entity as a viewer may see it: everything here is counted over what they may read."""

    id: str
    name: str
    """As it was said most often."""
    type: EntityType
    theme: str
    aliases: tuple[str, ...]
    """Names of what somebody held to be the same, where they were said, each as it was said most often."""
    num_mentions: int
    first_at: datetime
    last_at: datetime
    weight: float
    """Mentions, each halved with every half-life that went by since."""


@dataclass(frozen=True, slots=True)
class Related:
    """Another entity, spoken of in the same turns."""

    id: str
    name: str
    type: EntityType
    weight: float
    """Turns that mention both, each halved with every half-life that went by since."""
    strength: Strength


@dataclass(frozen=True, slots=True)
class Theme:
    """A schema of the left brain, as far as the viewer may see what it holds."""

    id: str
    label: str
    num_entities: int
    num_mentions: int
    last_at: datetime
    weight: float


@dataclass(frozen=True, slots=True)
class RelatedTheme:
    """Another theme, spoken of in the same turns."""

    label: str
    num_messages: int
    """Turns that speak of both."""
    weight: float
    """These turns, each halved with every half-life that went by since."""
    strength: Strength


@dataclass(frozen=True, slots=True)
class JoinedName:
    """An entity that somebody held to be another name of one, as far as a viewer may know both."""

    id: str
    name: str
    """As it was said most often."""
    type: EntityType
    of: str
    """Id of the entity that it was joined to."""
    by: str | None
    """Account or person who said so; None for who does not read everything."""
    why: str | None
