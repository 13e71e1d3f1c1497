"""When did somebody laugh, and about what? GraphQL types and the read of sounds: seen with the message they are heard in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, TypeAlias

import strawberry

from service.api.context import Info, global_id, local_id
from service.api.loaders import Reading
from service.api.memory import MessageType
from service.api.outcomes import InvalidInput, NotAllowed, NotFound, VoiceNotAccepted, expected
from service.api.search import AskedAt, Asker, Asking, FiltersInput, Zone
from service.pipelines.sound_search import SoundSearch
from service.types.sounds import SoundHit, SoundLabel, SoundsAsked

strawberry.enum(SoundLabel, name="SoundLabel", description="How somebody sounds, or what is heard around them.")

Labels = Annotated[list[SoundLabel] | None, strawberry.argument(description="Only one of these.")]
About = Annotated[
    str | None, strawberry.argument(description="What was spoken of then, by anybody, in any words; else the newest first.")
]
Like = Annotated[
    strawberry.ID | None,
    strawberry.argument(description="A sound of one's own whose piece is kept, instead of words: one's others like it."),
]
By = Annotated[list[strawberry.ID] | None, strawberry.argument(description="Only in what one of these people said.")]
InSessions = Annotated[list[strawberry.ID] | None, strawberry.argument(description="Only in one of these sessions.")]
Since = Annotated[datetime | None, strawberry.argument(description="Said at or after this time (with its zone).")]
Until = Annotated[datetime | None, strawberry.argument(description="Said before this time (with its zone).")]
HowMany = Annotated[int, strawberry.argument(description="How many, 50 at most.")]


@strawberry.type(
    name="SoundHit",
    description="A sound of a message whose speaker agreed to it. Who may read the message may know of it; the piece of sound "
    "itself, where it is kept, is the speaker's (`voicegraph sounds save`).",
)
class SoundHitType:
    id: strawberry.ID = strawberry.field(description="Of the sound, for `voicegraph sounds save`.")
    label: SoundLabel = strawberry.field(description="What is heard.")
    start: float = strawberry.field(description="Seconds from the session's start.")
    end: float = strawberry.field(description="Seconds from the session's start.")
    sure: float = strawberry.field(description="How sure, in the scale of what heard it, [0, 1].")
    score: float = strawberry.field(
        description="How near it is to what was asked about, [0, 1]; or its cosine to the sound it is to be like; else 1."
    )
    has_piece: bool = strawberry.field(description="The piece of sound itself is kept.")
    expires_at: datetime = strawberry.field(description="When all of it is deleted, UTC.")
    message: MessageType = strawberry.field(description="What was said.")
    visible_because: str = strawberry.field(
        description="Why the asker may know of it: said_it, addressed, attended, shared, public or reads_all."
    )

    @classmethod
    def from_record(cls, hit: SoundHit, reading: Reading) -> SoundHitType:
        sound = hit.sound
        return cls(
            id=strawberry.ID(global_id("Sound", sound.id)),
            label=sound.label,
            start=sound.segment.start,
            end=sound.segment.end,
            sure=sound.score,
            score=hit.score,
            has_piece=sound.has_piece,
            expires_at=sound.expires_at,
            message=MessageType.from_record(hit.message, reading),
            visible_because=hit.visible_because,
        )


@strawberry.type(name="SoundsResult", description="Sounds that were found.")
class SoundsResultType:
    hits: list[SoundHitType] = strawberry.field(description="At most `first`.")


SoundsOutcome: TypeAlias = Annotated[
    SoundsResultType | NotFound | NotAllowed | VoiceNotAccepted | InvalidInput,
    strawberry.union("SoundsOutcome", description="What was found, or why nothing was looked for."),
]


async def sounds(
    info: Info, labels: Labels = None, about: About = None, like: Like = None, by: By = None, sessions: InSessions = None,
    since: Since = None, until: Until = None, first: HowMany = 10, asker: Asker = None, asked_at: AskedAt = None,
    zone: Zone = None,
) -> SoundsOutcome:  # fmt: skip
    async def find() -> SoundsResultType:
        narrowed = replace(FiltersInput(), speakers=by or [], sessions=sessions or [], since=since, until=until)
        asking = await Asking.of(info.context, narrowed, asker, asked_at, zone)
        look: SoundSearch = info.context.services.sounds.find()
        asked = SoundsAsked(tuple(dict.fromkeys(labels or ())), about, local_id(like, "Sound") if like else None)
        found = await look(
            asking.reading.scope, asked, asking.filters, first=first, asked_at=asking.asked_at, zone=asking.zone
        )  # fmt: skip
        return SoundsResultType(hits=[SoundHitType.from_record(hit, asking.reading) for hit in found])

    outcome: SoundsOutcome = await expected(find())
    return outcome
