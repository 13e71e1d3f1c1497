"""What was said about it, and who may know? The GraphQL types and reads of search and ask."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypeAlias

import strawberry

from service.api.context import Asked, Context, local_id
from service.api.loaders import Reading
from service.api.memory import MessageType
from service.api.outcomes import InvalidInput, NotAllowed, NotFound, VoiceNotAccepted
from service.errors import InvalidInput as BadInput
from service.graph.paging import MAX_PAGE
from service.types.search import Answer, AnswerStatus, Filters, Found, Hit, SearchResult, Tool

strawberry.enum(Tool, name="Tool", description="How a message was found.")
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
    sessions: list[strawberry.ID] = strawberry.field(default_factory=list, description="Said in one of these sessions.")
    since: datetime | None = strawberry.field(default=None, description="Said at or after this time (with its zone).")
    until: datetime | None = strawberry.field(default=None, description="Said before this time (with its zone).")

    def filters(self) -> Filters:
        for name in ("speakers", "addressees", "sessions"):
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
        )


@strawberry.type(name="Found", description="Which tool found a hit.")
class FoundType:
    tool: Tool = strawberry.field(description="The tool.")
    rank: int = strawberry.field(description="Place in its list, from 1.")
    score: float = strawberry.field(description="In the tool's own scale: Lucene score, or cosine.")

    @classmethod
    def from_record(cls, found: Found) -> FoundType:
        return cls(tool=found.tool, rank=found.rank, score=found.score)


@strawberry.type(name="Hit", description="A message that was found.")
class HitType:
    message: MessageType = strawberry.field(description="The message.")
    score: float = strawberry.field(description="Over all tools, in [0, 1].")
    visible_because: str = strawberry.field(
        description="Why the asker may read it: said_it, addressed, attended, shared, public or reads_all."
    )
    found: list[FoundType] | None = strawberry.field(description="What found it; only with `explain`.")

    @classmethod
    def from_record(cls, hit: Hit, reading: Reading, explain: bool) -> HitType:
        return cls(
            message=MessageType.from_record(hit.message, reading),
            score=hit.score,
            visible_because=hit.visible_because,
            found=[FoundType.from_record(f) for f in hit.found] if explain else None,
        )


@strawberry.type(name="SearchExplanation", description="How a search went.")
class SearchExplanationType:
    visible: int = strawberry.field(description="How many messages the asker may read at all.")
    legs: list[str] = strawberry.field(description="Which search ran and how.")


@strawberry.type(name="SearchResult", description="Messages that fit, the best first.")
class SearchResultType:
    hits: list[HitType] = strawberry.field(description="At most `first`.")
    explanation: SearchExplanationType | None = strawberry.field(description="Only with `explain`.")

    @classmethod
    def from_record(cls, result: SearchResult, reading: Reading, explain: bool) -> SearchResultType:
        return cls(
            hits=[HitType.from_record(h, reading, explain) for h in result.hits],
            explanation=SearchExplanationType(visible=result.visible, legs=list(result.legs)) if explain else None,
        )


@strawberry.type(name="Answer", description="An answer in the cited messages' own words.")
class AnswerType:
    status: AnswerStatus = strawberry.field(description="Whether there is one.")
    text: str = strawberry.field(description="The answer; empty without one.")
    reason: str = strawberry.field(description="Why this answer, or why none.")
    citations: list[HitType] = strawberry.field(description="The messages it rests on.")

    @classmethod
    def from_record(cls, answer: Answer, reading: Reading, explain: bool) -> AnswerType:
        return cls(
            status=answer.status,
            text=answer.text,
            reason=answer.reason,
            citations=[HitType.from_record(h, reading, explain) for h in answer.citations],
        )


SearchOutcome: TypeAlias = Annotated[
    SearchResultType | NotFound | NotAllowed | VoiceNotAccepted | InvalidInput,
    strawberry.union("SearchOutcome", description="What was found, or why nothing was looked for."),
]
AskOutcome: TypeAlias = Annotated[
    AnswerType | NotFound | NotAllowed | VoiceNotAccepted | InvalidInput,
    strawberry.union("AskOutcome", description="The answer, or why none was looked for."),
]


async def search(
    context: Context, query: str, filters: FiltersInput | None, first: int, asker: AskerInput | None, explain: bool
) -> SearchResultType:
    wanted = (filters or FiltersInput()).filters()
    if not 0 < first <= MAX_PAGE:
        raise BadInput(what="`first`", given=first, needed=f"1 to {MAX_PAGE}")
    reading = await context.reading(asker.asked() if asker else None)
    found = await (await context.services.search())(reading.scope, query, wanted, first)
    return SearchResultType.from_record(found, reading, explain)


async def ask(
    context: Context, question: str, filters: FiltersInput | None, asker: AskerInput | None, explain: bool
) -> AnswerType:
    wanted = (filters or FiltersInput()).filters()
    reading = await context.reading(asker.asked() if asker else None)
    answer = await (await context.services.answer())(reading.scope, question, wanted)
    return AnswerType.from_record(answer, reading, explain)


def _few(what: str, given: int) -> None:
    if given > MAX_NAMED:
        raise BadInput(what=f"`{what}`", given=f"{given} ids", needed=f"at most {MAX_NAMED}")
