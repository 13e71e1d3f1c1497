"""What is known of a person? GraphQL types and read of a profile, made for whoever asks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import strawberry

from service.api.context import Context, local_id
from service.api.facts import FactType, facts_from
from service.api.loaders import Reading
from service.api.memory import PersonType
from service.pipelines.profiles import find_profile
from service.types.profiles import Profile, Trait

SOME = {"times": 10}
"""Of each list of a profile, about what it mostly has; 50 at most."""


@strawberry.type(name="Trait", description="One thing that somebody said of themselves, as it stands and as it stood.")
class TraitType:
    now: list[FactType] = strawberry.field(description="What was said of it last; several where they were said in one breath.")
    before: list[FactType] = strawberry.field(
        description="What it was said to be before, newest first: what no longer holds, or contradicts it.",
        metadata={"times": 3},
    )
    since: datetime = strawberry.field(description="When what holds now was first said and not otherwise since, UTC.")
    num_said: int = strawberry.field(description="How often what holds now was said.")

    @classmethod
    def from_record(cls, trait: Trait, reading: Reading) -> TraitType:
        return cls(
            now=facts_from(trait.now, reading),
            before=facts_from(trait.before, reading),
            since=trait.since,
            num_said=trait.num_said,
        )


@strawberry.type(
    name="Profile",
    description="What somebody said of themselves, as far as the viewer may read all that tells it. Nothing of it is stored.",
)
class ProfileType:
    person: PersonType = strawberry.field(description="Whose it is, with name and aliases.")
    background: list[TraitType] = strawberry.field(
        description="Where they live, what they do, and the like; what was said last first.", metadata=SOME
    )
    preferences: list[TraitType] = strawberry.field(description="What they like and do not.", metadata=SOME)
    commitments: list[FactType] = strawberry.field(description="What they promised, newest first.", metadata=SOME)
    plans: list[FactType] = strawberry.field(description="What they mean to do, newest first.", metadata=SOME)
    complete: bool = strawberry.field(description="False: only their newest thousand telling facts were looked at.")

    @classmethod
    def from_record(cls, profile: Profile, reading: Reading) -> ProfileType:
        return cls(
            person=PersonType.from_record(profile.person, reading),
            background=_traits(profile.background, reading),
            preferences=_traits(profile.preferences, reading),
            commitments=facts_from(profile.commitments, reading),
            plans=facts_from(profile.plans, reading),
            complete=profile.complete,
        )


async def profile(context: Context, person_id: str) -> ProfileType | None:
    reading = await context.reading()
    found = await reading.read(find_profile, local_id(person_id))
    return ProfileType.from_record(found, reading) if found else None


def _traits(traits: Sequence[Trait], reading: Reading) -> list[TraitType]:
    return [TraitType.from_record(trait, reading) for trait in traits]
