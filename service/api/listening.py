"""What goes on on a stream, for those who follow it over GraphQL? The same events as its own client is sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

import service.api.entities  # noqa: F401 - there EntityType becomes an enumeration, which the types below need
from service.api.context import Context, TokenNotAccepted, global_id
from service.api.outcomes import Busy, NotAllowed, NotFound, problem
from service.errors import NotFound as Missing
from service.errors import VoicegraphError
from service.streaming.prompt import Brain, Recalled
from service.streaming.told import (
    MemoryReady,
    NotAnswered,
    Shown,
    ShownLater,
    SpeakerHeard,
    StageEntered,
    TermsMatched,
    Told,
    WordsHeard,
)
from service.streaming.work import Stage
from service.types.entities import EntityType
from service.types.plain import MAX_TEXT

strawberry.enum(Stage, name="Stage", description="How far a pause has come: what is said is looked for while it lasts.")
strawberry.enum(Shown, name="Shown", description="What is only shown while somebody speaks.")
strawberry.enum(Brain, name="Brain", description="Left: what was said, and of what. Right: what the asker is like.")


@strawberry.interface(description="Something told on a stream.")
class StreamEvent:
    at: float = strawberry.field(description="Seconds of the stream.")
    utterance: int = strawberry.field(description="Number of what is being said, from 1.")


@strawberry.type(description="The pause has come further, or somebody speaks again.")
class StageEvent(StreamEvent):
    stage: Stage = strawberry.field(description="The stage entered.")


@strawberry.type(description="The words so far; they replace what was told of this utterance before.")
class TranscriptEvent(StreamEvent):
    text: str = strawberry.field(description="As they were heard.")
    whole: bool = strawberry.field(description="Speech had stopped.")


@strawberry.type(description="Somebody who speaks or is spoken of.")
class StreamPerson:
    id: strawberry.ID = strawberry.field(description="Global id.")
    name: str | None = strawberry.field(description="Their name, if the asker may know it.")


@strawberry.type(description="Whose voice it is.")
class SpeakerEvent(StreamEvent):
    linked: bool = strawberry.field(description="It was taken for somebody known; how near it came is not told.")
    person: StreamPerson | None = strawberry.field(description="Who, if the asker may know of them.")


@strawberry.type(description="Something that is spoken of: an entity.")
class StreamEntity:
    id: strawberry.ID = strawberry.field(description="Global id.")
    name: str = strawberry.field(description="As it was said most often in what the asker may read.")
    type: EntityType = strawberry.field(description="What kind of thing it is.")


@strawberry.type(description="Of what is being said, that of which the asker may know something.")
class MatchEvent(StreamEvent):
    people: list[StreamPerson] = strawberry.field(description="Named in it.")
    entities: list[StreamEntity] = strawberry.field(description="Named in it, and mentioned in what the asker may read.")
    terms: list[str] = strawberry.field(description="Words of it that visible messages have.")


@strawberry.type(description="One line of a memory, with where it comes from.")
class MemoryLine:
    number: int = strawberry.field(description="As in the text, from 1.")
    brain: Brain = strawberry.field(description="Which part it belongs to.")
    text: str = strawberry.field(description="All of it; the prompt's line may be shorter.")
    by: str | None = strawberry.field(description="Who said it; null: not recognised, or without a name.")
    to: list[str] = strawberry.field(description="To whom.")
    said_at: datetime | None = strawberry.field(description="When, UTC.")
    score: float = strawberry.field(description="As of a hit, in [0, 1].")
    sources: list[strawberry.ID] = strawberry.field(description="Global ids of the messages it rests on.")

    @classmethod
    def from_record(cls, number: int, line: Recalled) -> MemoryLine:
        return cls(
            number=number, brain=line.brain, text=line.text, by=line.by, to=list(line.to), said_at=line.said_at,
            score=round(line.score, 4), sources=[strawberry.ID(global_id("Message", id)) for id in line.sources],
        )  # fmt: skip


@strawberry.type(description="How long it took, from the end of speech: when the last frame with speech came in.")
class MemoryTiming:
    transcribed_ms: float = strawberry.field(description="Milliseconds until the words were there.")
    found_ms: float = strawberry.field(description="Milliseconds until what may answer was found.")
    ready_ms: float = strawberry.field(description="Milliseconds until the memory was there.")
    hidden: float = strawberry.field(description="Share of the work done before the pause had lasted 400 ms, in [0, 1].")


@strawberry.type(description="What whoever answers is to know: from what the asker, and all who listen, may know.")
class MemoryEvent(StreamEvent):
    question: str = strawberry.field(description="The utterance that it is for.")
    text: str = strawberry.field(description="To be put before a model; empty when nothing is remembered.")
    tokens: int = strawberry.field(description="At most so many, for English; never more than 430.")
    lines: list[MemoryLine] = strawberry.field(description="Its lines.")
    timing: MemoryTiming = strawberry.field(description="How long it took.")


@strawberry.type(description="Why who speaks is told nothing.")
class NotAnsweredEvent(StreamEvent):
    code: str = strawberry.field(description="Stable, for programs.")
    reason: str = strawberry.field(description="For people.")


@strawberry.type(description="What is only shown while somebody speaks comes later, or not: others wait for their answers.")
class PutOffEvent(StreamEvent):
    what: Shown = strawberry.field(description="Of this utterance. Its memory is not put off.")


ListeningOutcome: TypeAlias = Annotated[
    StageEvent
    | TranscriptEvent
    | SpeakerEvent
    | MatchEvent
    | MemoryEvent
    | NotAnsweredEvent
    | PutOffEvent
    | NotFound
    | NotAllowed
    | Busy,
    strawberry.union("ListeningOutcome", description="What was told, or why there is no stream to follow."),
]


async def follow(context: Context, stream_id: str) -> AsyncGenerator[Any, None]:
    """What is told from now on, until the stream ends or this token does. The token is looked at anew before each event."""
    try:
        entry = context.entry
        if entry is None:
            raise TokenNotAccepted
        with context.runtime.streams.follow(stream_id, entry, context.credentials.asked) as outbox:
            if outbox is None:
                raise Missing(kind="stream", id=stream_id[:MAX_TEXT])
            while (told := await outbox.get()) is not None:
                context.renewed().reader()
                yield event(told)
    except VoicegraphError as error:
        yield problem(error)


def event(told: Told) -> Any:
    place: dict[str, Any] = {"at": round(told.at, 3), "utterance": told.utterance}
    match told:
        case StageEntered(stage=stage):
            return StageEvent(**place, stage=stage)
        case WordsHeard(text=text, whole=whole):
            return TranscriptEvent(**place, text=text, whole=whole)
        case SpeakerHeard(person_id=id, name=name, linked=linked):
            return SpeakerEvent(**place, linked=linked, person=_person(id, name) if id else None)
        case TermsMatched(people=people, entities=entities, terms=terms):
            named = [_person(id, name) for id, name in people]
            known = [StreamEntity(id=strawberry.ID(global_id("Entity", e.id)), name=e.name, type=e.type) for e in entities]
            return MatchEvent(**place, people=named, entities=known, terms=list(terms))
        case NotAnswered(code=code, reason=reason):
            return NotAnsweredEvent(**place, code=code, reason=reason)
        case ShownLater(what=what):
            return PutOffEvent(**place, what=what)
        case MemoryReady(question=question, prompt=prompt, timing=timing):
            lines = [MemoryLine.from_record(number, line) for number, line in enumerate(prompt.lines, start=1)]
            took = MemoryTiming(
                transcribed_ms=timing.transcribed, found_ms=timing.found, ready_ms=timing.ready, hidden=round(timing.hidden, 3)
            )
            return MemoryEvent(**place, question=question, text=prompt.text, tokens=prompt.tokens, lines=lines, timing=took)


def _person(id: str, name: str | None) -> StreamPerson:
    return StreamPerson(id=strawberry.ID(global_id("Person", id)), name=name)
