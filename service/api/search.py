"""What was said about it, and who may know? The GraphQL types and reads of search and ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeAlias

import strawberry

from service.api.context import Asked, Context, global_id, local_id
from service.api.loaders import Reading
from service.api.memory import MessageType
from service.api.outcomes import InvalidInput, NotAllowed, NotFound, VoiceNotAccepted
from service.errors import InvalidInput as BadInput
from service.graph.paging import MAX_PAGE
from service.pipelines.clusters import HitCluster, clusters_of, remember_question
from service.types.search import (
    Answer,
    AnswerStatus,
    Filters,
    Found,
    Hit,
    Layer,
    QuestionType,
    Round,
    SearchResult,
    Tool,
)
from service.types.search import Asked as Question

strawberry.enum(Tool, name="Tool", description="How a message was found.")
strawberry.enum(
    Layer, name="Layer", description="What was looked into: what was said, facts taken from it, profiles, or images."
)
strawberry.enum(QuestionType, name="QuestionType", description="What kind of answer a question wants.")
strawberry.enum(AnswerStatus, name="AnswerStatus", description="Whether there is an answer.")
MAX_NAMED = 50
"""People or sessions in one filter."""


@strawberry.input(
    description="Who asks and who hears the answer. Replaces what the headers say for this field; it can only be what the "
    "token, or the voice, allows."
)
class AskerInput:
    voice_upload_id: strawberry.ID | None = strawberry.field(default=None, description="Upload of a clip of the asker's voice.")
    acting_for: strawberry.ID | None = strawberry.field(
        default=None, description="The person asked for; the token must be allowed to act for them."
    )
    heard_by: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="People who also hear the answer: less is said."
    )
    heard_by_voices: list[strawberry.ID] = strawberry.field(
        default_factory=list,
        description="Uploads of clips of others in the room; a voice not recognised leaves only what is public.",
    )

    def asked(self) -> Asked:
        return Asked(
            acting_for=local_id(self.acting_for) if self.acting_for else None,
            voice=self.voice_upload_id,
            heard_by=tuple(map(local_id, self.heard_by)),
            heard_by_voices=tuple(self.heard_by_voices),
        )


@strawberry.input(description="Narrows a search; never widens what may be seen.")
class FiltersInput:
    speakers: list[strawberry.ID] = strawberry.field(default_factory=list, description="Said by one of these people.")
    addressees: list[strawberry.ID] = strawberry.field(default_factory=list, description="Said to one of these people.")
    by_or_to: list[strawberry.ID] = strawberry.field(
        default_factory=list, description="Said by one of these people or to one of them."
    )
    sessions: list[strawberry.ID] = strawberry.field(default_factory=list, description="Said in one of these sessions.")
    since: datetime | None = strawberry.field(default=None, description="Said at or after this time (with its zone).")
    until: datetime | None = strawberry.field(default=None, description="Said before this time (with its zone).")
    layers: list[Layer] = strawberry.field(default_factory=list, description="Only what one of these found.")

    def filters(self) -> Filters:
        for name in ("speakers", "addressees", "by_or_to", "sessions"):
            _few(f"filters.{name}", len(getattr(self, name)))
        for name, time in (("since", self.since), ("until", self.until)):
            if time is not None and time.tzinfo is None:
                raise BadInput(
                    what=f"filters.{name}", given=f"{time.isoformat()} without a zone", needed="a time with its zone"
                )
        return Filters(
            speakers=tuple(map(local_id, self.speakers)),
            addressees=tuple(map(local_id, self.addressees)),
            sessions=tuple(local_id(id, "Session") for id in self.sessions),
            since=self.since,
            until=self.until,
            by_or_to=tuple(map(local_id, self.by_or_to)),
            layers=tuple(self.layers),
        )


@strawberry.type(name="Found", description="Which tool found a hit.")
class FoundType:
    tool: Tool = strawberry.field(description="The tool.")
    rank: int = strawberry.field(description="Place in its list, from 1.")
    score: float = strawberry.field(description="In the tool's own scale: Lucene score, or cosine.")

    @classmethod
    def from_record(cls, found: Found) -> FoundType:
        return cls(tool=found.tool, rank=found.rank, score=found.score)


@strawberry.type(name="Reason", description="What a feature of the ranking gave a hit.")
class ReasonType:
    feature: str = strawberry.field(description="Its name, as in the weights that the service comes with.")
    added: float = strawberry.field(description="What it adds to the log odds of the score.")


@strawberry.type(name="Hit", description="A message that was found.")
class HitType:
    message: MessageType = strawberry.field(description="The message.")
    score: float = strawberry.field(description="Over all tools, in [0, 1].")
    visible_because: str = strawberry.field(
        description="Why the asker may read it: said_it, addressed, attended, shared, public or reads_all."
    )
    layers: list[Layer] = strawberry.field(description="By which layers it was found.")
    round: int = strawberry.field(description="The first round that found it, from 1.")
    found: list[FoundType] | None = strawberry.field(description="What found it; only with `explain`.")
    because: list[ReasonType] | None = strawberry.field(
        description="What weighed most in its score, the weightiest first; only with `explain`."
    )

    @classmethod
    def from_record(cls, hit: Hit, reading: Reading, explain: bool) -> HitType:
        return cls(
            message=MessageType.from_record(hit.message, reading),
            score=hit.score,
            visible_because=hit.visible_because,
            layers=list(hit.layers),
            round=hit.round,
            found=[FoundType.from_record(f) for f in hit.found] if explain else None,
            because=[ReasonType(feature=name, added=added) for name, added in hit.because] if explain else None,
        )


@strawberry.type(name="Round", description="One round of a search.")
class RoundType:
    number: int = strawberry.field(description="From 1.")
    query: str = strawberry.field(description="What was looked for.")
    why: str = strawberry.field(description="Why this round was made.")
    legs: list[str] = strawberry.field(description="Which search ran and how.")
    new: int = strawberry.field(description="How many of the best hits no round before had among its best.")
    sufficient: bool = strawberry.field(description="Whether it was the last because it was enough.")
    ended: str | None = strawberry.field(description="Why no further round was made; only of the last.")

    @classmethod
    def from_record(cls, made: Round) -> RoundType:
        return cls(
            number=made.number,
            query=made.query,
            why=made.why,
            legs=list(made.legs),
            new=made.new,
            sufficient=made.sufficient,
            ended=made.ended,
        )


@strawberry.type(name="TimeWindow", description="A stretch of time that a question asks about.")
class TimeWindowType:
    since: datetime | None = strawberry.field(description="From this time on; null: from ever.")
    until: datetime | None = strawberry.field(description="Before this time; null: for ever.")


@strawberry.type(name="Understood", description="What was understood of the question.")
class UnderstoodType:
    type: QuestionType = strawberry.field(description="What kind of answer it wants.")
    speakers: list[str] = strawberry.field(description="Names of those whose words are asked for.")
    addressees: list[str] = strawberry.field(description="Names of those to whom they were said.")
    others: list[str] = strawberry.field(description="Names in it otherwise.")
    windows: list[TimeWindowType] = strawberry.field(description="The times in it.")
    parts: list[str] = strawberry.field(description="The questions that it is made of, where it is made of several.")
    absent: bool = strawberry.field(description="It asks for what was said while the asker was not there.")

    @classmethod
    def from_record(cls, asked: Question) -> UnderstoodType:
        return cls(
            type=asked.type,
            speakers=list(asked.speakers),
            addressees=list(asked.addressees),
            others=list(asked.others),
            windows=[TimeWindowType(since=since, until=until) for since, until in asked.windows],
            parts=list(asked.parts),
            absent=asked.absent,
        )


@strawberry.type(name="SearchExplanation", description="How a search went.")
class SearchExplanationType:
    visible: int = strawberry.field(description="How many messages the asker may read at all.")
    legs: list[str] = strawberry.field(description="Which search ran and how, over all rounds.")
    rounds: list[RoundType] = strawberry.field(description="The rounds, in order.")
    understood: UnderstoodType | None = strawberry.field(description="What was understood of the question.")

    @classmethod
    def from_record(cls, result: SearchResult) -> SearchExplanationType:
        return cls(
            visible=result.visible,
            legs=list(result.legs),
            rounds=[RoundType.from_record(made) for made in result.rounds],
            understood=UnderstoodType.from_record(result.asked) if result.asked else None,
        )


@strawberry.type(
    name="Cluster",
    description="Hits that belong together by what the asker asks for. It emerges from the asker's own questions, where these "
    "are kept, and fades as they expire.",
)
class ClusterType:
    label: str = strawberry.field(description="What it is about.")
    theme: str = strawberry.field(description="The theme that it lies in.")
    coherence: float = strawberry.field(description="How much of the asker's questions it is, in [0, 1]; always small.")
    supporting: list[str] = strawberry.field(description="The asker's questions that it emerged from, the best fitting first.")
    hits: list[strawberry.ID] = strawberry.field(description="Global ids of its messages among the hits, in their order.")

    @classmethod
    def from_record(cls, cluster: HitCluster) -> ClusterType:
        return cls(
            label=cluster.label,
            theme=cluster.theme,
            coherence=cluster.coherence,
            supporting=list(cluster.supporting),
            hits=[strawberry.ID(global_id("Message", id)) for id in cluster.messages],
        )


@strawberry.type(name="SearchResult", description="Messages that fit, the best first.")
class SearchResultType:
    hits: list[HitType] = strawberry.field(description="At most `first`.")
    explanation: SearchExplanationType | None = strawberry.field(description="Only with `explain`.")
    found: strawberry.Private[tuple[str, ...]]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="Clusters that hits belong to; a hit in none stands in none.", metadata={"weight": 10})
    async def clusters(self) -> list[ClusterType]:
        reading = self.reading
        return [ClusterType.from_record(one) for one in await clusters_of(reading.graph, reading.scope, self.found)]

    @classmethod
    def from_record(cls, result: SearchResult, reading: Reading, explain: bool) -> SearchResultType:
        return cls(
            hits=[HitType.from_record(h, reading, explain) for h in result.hits],
            explanation=SearchExplanationType.from_record(result) if explain else None,
            found=tuple(hit.message.id for hit in result.hits),
            reading=reading,
        )


@strawberry.type(name="Answer", description="An answer with the messages that it rests on.")
class AnswerType:
    status: AnswerStatus = strawberry.field(description="Whether there is one.")
    text: str = strawberry.field(description="The answer; empty without one.")
    reason: str = strawberry.field(description="Why this answer, or why none.")
    by: str = strawberry.field(description="Who put it into words: `extractive` (the messages' own), or `model:` and its name.")
    citations: list[HitType] = strawberry.field(description="The messages it rests on.", metadata={"times": 3})
    rounds: list[RoundType] | None = strawberry.field(description="How it was looked for; only with `explain`.")

    @classmethod
    def from_record(cls, answer: Answer, reading: Reading, explain: bool) -> AnswerType:
        return cls(
            status=answer.status,
            text=answer.text,
            reason=answer.reason,
            by=answer.by,
            citations=[HitType.from_record(h, reading, explain) for h in answer.citations],
            rounds=[RoundType.from_record(made) for made in answer.rounds] if explain else None,
        )


SEARCH = {"weight": 50}
"""A full-text and two vector searches: about as long as a page of 100 messages takes."""
Explain = Annotated[bool, strawberry.argument(description="Also say how it was found.")]
Asker = Annotated[AskerInput | None, strawberry.argument(description="Who asks and who hears it; else the headers say.")]
AskedAt = Annotated[
    datetime | None, strawberry.argument(description='When it is asked: what "yesterday" counts from. Now unless told.')
]
Zone = Annotated[str | None, strawberry.argument(description="Time zone of the asker: a name such as Europe/Berlin. Else UTC.")]
Narrowed = Annotated[FiltersInput | None, strawberry.argument(description="Narrows the search.")]
SearchOutcome: TypeAlias = Annotated[
    SearchResultType | NotFound | NotAllowed | VoiceNotAccepted | InvalidInput,
    strawberry.union("SearchOutcome", description="What was found, or why nothing was looked for."),
]
AskOutcome: TypeAlias = Annotated[
    AnswerType | NotFound | NotAllowed | VoiceNotAccepted | InvalidInput,
    strawberry.union("AskOutcome", description="The answer, or why none was looked for."),
]


@dataclass(frozen=True, slots=True)
class Asking:
    """What every question over the API comes with."""

    filters: Filters
    reading: Reading
    asked_at: datetime | None
    zone: str | None

    @classmethod
    async def of(
        cls,
        context: Context,
        filters: FiltersInput | None,
        asker: AskerInput | None,
        asked_at: datetime | None,
        zone: str | None,
    ) -> Asking:
        wanted = (filters or FiltersInput()).filters()
        if asked_at is not None and asked_at.tzinfo is None:
            raise BadInput(what="`askedAt`", given=f"{asked_at.isoformat()} without a zone", needed="a time with its zone")
        return cls(wanted, await context.reading(asker.asked() if asker else None), asked_at, zone)


async def search(
    context: Context, query: str, first: int, explain: bool, filters: FiltersInput | None, asker: AskerInput | None,
    asked_at: datetime | None, zone: str | None,
) -> SearchResultType:  # fmt: skip
    if not 0 < first <= MAX_PAGE:
        raise BadInput(what="`first`", given=first, needed=f"1 to {MAX_PAGE}")
    by = await Asking.of(context, filters, asker, asked_at, zone)
    look = await context.services.search()
    found = await look(by.reading.scope, query, by.filters, first, asked_at=by.asked_at, zone=by.zone)
    await _remember(context, by.reading, query, found.hits)
    return SearchResultType.from_record(found, by.reading, explain)


async def ask(
    context: Context, question: str, explain: bool, filters: FiltersInput | None, asker: AskerInput | None,
    asked_at: datetime | None, zone: str | None,
) -> AnswerType:  # fmt: skip
    by = await Asking.of(context, filters, asker, asked_at, zone)
    answerer = await context.services.answer()
    answer = await answerer(by.reading.scope, question, by.filters, asked_at=by.asked_at, zone=by.zone)
    await _remember(context, by.reading, question, answer.citations)
    return AnswerType.from_record(answer, by.reading, explain)


async def _remember(context: Context, reading: Reading, question: str, hits: Sequence[Hit]) -> None:
    days = context.services.settings.question_days
    if days and reading.scope.own:
        before = await context.services.found_before()
        again = await before.again(reading.scope, question, hits) if before is not None else None
        await remember_question(reading.graph, reading.scope, question, [hit.message.id for hit in hits], days, again)


def _few(what: str, given: int) -> None:
    if given > MAX_NAMED:
        raise BadInput(what=f"`{what}`", given=f"{given} ids", needed=f"at most {MAX_NAMED}")
