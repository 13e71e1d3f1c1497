"""What can be asked? The roots of the GraphQL schema, and how it is put together."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated, Any, TypeAlias

import strawberry
from graphql import GraphQLError
from strawberry.extensions import DisableIntrospection, ParserCache, SchemaExtension, ValidationCache
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from service.api import corrections as correction_api
from service.api import identity as identity_api
from service.api import jobs as job_api
from service.api import names as name_api
from service.api import search as search_api
from service.api import spaces as space_api
from service.api.connections import After, Before, Connection, First, Last, Node, connection
from service.api.context import Info, local_id
from service.api.corrections import CorrectionOutcome, CorrectionType
from service.api.cursors import page
from service.api.errors import MaskUnexpected
from service.api.identity import ExplanationType, UnknownVoiceType
from service.api.jobs import IngestInput, IngestOutcome, JobOutcome, JobType
from service.api.limits import Limits
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType, PersonType, SessionType, person_of
from service.api.names import NameDecision, NameProposalType, NameStatus
from service.api.outcomes import InvalidInput, NotAllowed, NotFound, VoiceNotAccepted, expected
from service.api.search import AskerInput, AskOutcome, FiltersInput, SearchOutcome
from service.api.spaces import (
    ConsentInput,
    ConsentOutcome,
    EncoderType,
    EnrolOutcome,
    NameOutcome,
    SpaceOutcome,
    SpacePolicyInput,
    SpaceType,
)
from service.graph.messages import count_messages, list_messages
from service.graph.people import count_people, list_people
from service.graph.sessions import count_sessions, list_sessions
from service.types.people import Assurance, Consent

strawberry.enum(Assurance, name="Assurance", description="How sure it is who asks.")
SEARCH = {"weight": 50}
"""A full-text and two vector searches: about as long as a page of 100 messages takes."""
Id = Annotated[strawberry.ID, strawberry.argument(description="Global id, or the id in the graph.")]
Key = Annotated[
    str,
    strawberry.argument(
        description="Of your making, one per request: the same key with the same request gives the same result, without doing "
        "it again."
    ),
]
Explain = Annotated[bool, strawberry.argument(description="Also say how it was found.")]
Asker = Annotated[AskerInput | None, strawberry.argument(description="Who asks and who hears it; else the headers say.")]
Name = Annotated[str, strawberry.argument(description="How the person is called.")]
Upload = Annotated[strawberry.ID, strawberry.argument(description="The clip, as POST /v1/uploads named it.")]
Agreed = Annotated[ConsentInput, strawberry.argument(description="What the person agreed to, and how.")]
Recording = Annotated[IngestInput, strawberry.argument(description="The recording.")]
Policies = Annotated[SpacePolicyInput, strawberry.argument(description="What is to change.")]
Into = Annotated[strawberry.ID, strawberry.argument(description="Global id, or the id in the graph, of the other person.")]
Messages = Annotated[
    list[strawberry.ID], strawberry.argument(description="Global ids of the messages, or their ids in the graph.")
]
Proposal = Annotated[strawberry.ID, strawberry.argument(description="Id of the proposal.")]
Why = Annotated[str, strawberry.argument(description="For whoever looks at it later; kept with the correction.")]
Narrowed = Annotated[FiltersInput | None, strawberry.argument(description="Narrows the search.")]


@strawberry.type(name="Viewer", description="Who asks, as this service sees it, and what they may see.")
class ViewerType:
    assurance: Assurance = strawberry.field(description="How sure it is who asks.")
    space: str = strawberry.field(description="The tenant.")
    num_hearers: int = strawberry.field(description="How many known people hear the answer, the asker included.")
    unknown_hearer: bool = strawberry.field(description="Somebody unknown listens: only what is public is said.")
    reads_all: bool = strawberry.field(description="Sees everything of the space.")
    reading: strawberry.Private[Reading]

    @strawberry.field(description="The person who asks; null when it is nobody in particular.")
    async def person(self) -> PersonType | None:
        return await person_of(self.reading, self.reading.viewer.asker)

    @strawberry.field(description="How many messages they may read.", metadata={"weight": 50})
    async def num_visible_messages(self) -> int:
        return await self.reading.read(count_messages)


ViewerOutcome: TypeAlias = Annotated[
    ViewerType | NotFound | NotAllowed | VoiceNotAccepted | InvalidInput,
    strawberry.union("ViewerOutcome", description="Who asks, or why that is nobody who may see anything."),
]


@strawberry.type(
    description="Reads. What lies outside of what the viewer may see does not exist here. Who asks: `Authorization: Bearer`, "
    "and the headers `X-Voicegraph-Acting-For` (person), `X-Voicegraph-Voice` (upload), `X-Voicegraph-Heard-By` (people) and "
    "`X-Voicegraph-Heard-By-Voices` (uploads), the last two separated by commas; on a websocket the same names in "
    "`connection_init`."
)
class Query:
    @strawberry.field(description="Who am I, and what may I see?")
    async def viewer(self, info: Info, asker: Asker = None) -> ViewerOutcome:
        outcome: ViewerOutcome = await expected(_viewer(info, asker))
        return outcome

    @strawberry.field(description="One person; null when the viewer knows of none by this id.")
    async def person(self, info: Info, id: Id) -> PersonType | None:
        return await person_of(await info.context.reading(), local_id(id))

    @strawberry.field(description="People, in the order in which they were met.", metadata=LIST)
    async def people(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[PersonType]:
        reading = await info.context.reading()
        people = await reading.read(list_people, page=page(first, after, last, before))
        return connection(people, lambda p: PersonType.from_record(p, reading), lambda: reading.read(count_people))

    @strawberry.field(description="One session; null when the viewer knows of none by this id.")
    async def session(self, info: Info, id: Id) -> SessionType | None:
        reading = await info.context.reading()
        session = await reading.sessions.load(local_id(id, "Session"))
        return SessionType.from_record(session, reading) if session else None

    @strawberry.field(description="Sessions, newest first.", metadata=LIST)
    async def sessions(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[SessionType]:
        reading = await info.context.reading()
        sessions = await reading.read(list_sessions, page=page(first, after, last, before))
        return connection(sessions, lambda s: SessionType.from_record(s, reading), lambda: reading.read(count_sessions))

    @strawberry.field(description="One message; null when the viewer may read none by this id.")
    async def message(self, info: Info, id: Id) -> MessageType | None:
        reading = await info.context.reading()
        message = await reading.messages.load(local_id(id, "Message"))
        return MessageType.from_record(message, reading) if message else None

    @strawberry.field(description="Messages in spoken order: all, of one session, or of one speaker.", metadata=LIST)
    async def messages(
        self,
        info: Info,
        session_id: Annotated[strawberry.ID | None, strawberry.argument(description="Only of this session.")] = None,
        speaker_id: Annotated[strawberry.ID | None, strawberry.argument(description="Only said by this person.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[MessageType]:
        reading = await info.context.reading()
        messages = await reading.read(
            list_messages,
            page=page(first, after, last, before),
            session_id=local_id(session_id, "Session") if session_id else None,
            speaker_id=local_id(speaker_id) if speaker_id else None,
        )
        count = None if session_id or speaker_id else lambda: reading.read(count_messages)
        return connection(messages, lambda m: MessageType.from_record(m, reading), count)

    @strawberry.field(description="Messages about something.", metadata=SEARCH)
    async def search(
        self,
        info: Info,
        query: Annotated[str, strawberry.argument(description="In anybody's words; no query language.")],
        filters: Narrowed = None,
        first: Annotated[int, strawberry.argument(description="How many hits, 100 at most.")] = 15,
        asker: Asker = None,
        explain: Explain = False,
    ) -> SearchOutcome:
        outcome: SearchOutcome = await expected(search_api.search(info.context, query, filters, first, asker, explain))
        return outcome

    @strawberry.field(description="An answer to a question, from what the asker and all who listen may know.", metadata=SEARCH)
    async def ask(
        self,
        info: Info,
        question: Annotated[str, strawberry.argument(description="In anybody's words.")],
        filters: Narrowed = None,
        asker: Asker = None,
        explain: Explain = False,
    ) -> AskOutcome:
        outcome: AskOutcome = await expected(search_api.ask(info.context, question, filters, asker, explain))
        return outcome

    @strawberry.field(
        description="Who is this? Voices that nobody has a name for and the viewer has heard, those heard last first: messages "
        "left unresolved, by voice of their session, and people without a name.",
        metadata=LIST,
    )
    async def who_is_this(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[UnknownVoiceType]:
        return await identity_api.who_is_this(info.context, page(first, after, last, before))

    @strawberry.field(
        description="Why a message is held to be its speaker's; null when the viewer may read none by this id.", metadata=LIST
    )
    async def explain_identity(
        self, info: Info, message_id: Annotated[strawberry.ID, strawberry.argument(description="The message.")]
    ) -> ExplanationType | None:
        return await identity_api.explain(info.context, message_id)

    @strawberry.field(description="Names proposed for people the viewer knows of, newest first.", metadata=LIST)
    async def name_proposals(
        self,
        info: Info,
        status: Annotated[NameStatus, strawberry.argument(description="What became of them.")] = NameStatus.OPEN,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[NameProposalType]:
        return await name_api.name_proposals(info.context, status, page(first, after, last, before))

    @strawberry.field(
        description="Corrections of who is who that can be undone, newest first: those that this account made; everybody's for "
        "who reads everything.",
        metadata=LIST,
    )
    async def corrections(
        self,
        info: Info,
        undone_too: Annotated[bool, strawberry.argument(description="Also those that were undone.")] = False,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[CorrectionType]:
        return await correction_api.corrections(info.context, undone_too, page(first, after, last, before))

    @strawberry.field(description="One job of this account; null when it has none by this id.")
    async def job(self, info: Info, id: Id) -> JobType | None:
        return await job_api.job(info.context, id)

    @strawberry.field(description="Jobs of this account, newest first; of everybody with the scope `admin`.", metadata=LIST)
    async def jobs(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[JobType]:
        return await job_api.jobs(info.context, page(first, after, last, before))

    @strawberry.field(description="Whatever has this global id, through the same gate as everywhere else.")
    async def node(
        self, info: Info, id: Annotated[strawberry.ID, strawberry.argument(description="Global id.")]
    ) -> Node | None:
        kind, _, local = id.partition(":")
        if kind == "Job":
            return await job_api.job(info.context, local)
        if kind not in {"Person", "Session", "Message"}:
            return None
        reading = await info.context.reading()
        match kind:
            case "Person":
                return await person_of(reading, local)
            case "Session":
                session = await reading.sessions.load(local)
                return SessionType.from_record(session, reading) if session else None
            case _:
                message = await reading.messages.load(local)
                return MessageType.from_record(message, reading) if message else None

    @strawberry.field(description="The tenant of this token, or of voices without one.")
    async def space(self, info: Info) -> SpaceType:
        return await space_api.space(info.context)

    @strawberry.field(description="Speaker encoders this service knows.")
    async def encoders(self, info: Info) -> list[EncoderType]:
        return space_api.encoders(info.context)


@strawberry.type(description="Writes. Each has an idempotency key, kept in the graph.")
class Mutation:
    @strawberry.mutation(description="Remember a recording. Needs the scope `ingest`.")
    async def ingest(self, info: Info, input: Recording, idempotency_key: Key) -> IngestOutcome:
        outcome: IngestOutcome = await expected(job_api.ingest(info.context, input, idempotency_key))
        return outcome

    @strawberry.mutation(description="Make a person's voice known, with their consent. Needs the scope `ingest`.")
    async def enrol(self, info: Info, name: Name, upload_id: Upload, consent: Agreed, idempotency_key: Key) -> EnrolOutcome:
        outcome: EnrolOutcome = await expected(space_api.enrol(info.context, name, upload_id, consent, idempotency_key))
        return outcome

    @strawberry.mutation(description="Give a person a name. The person's own token, or the scope `admin`.")
    async def name_person(self, info: Info, person_id: Id, name: Name, idempotency_key: Key) -> NameOutcome:
        outcome: NameOutcome = await expected(space_api.name_person(info.context, person_id, name, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="Record that a person let their voice be remembered, or took that back; obeyed in the same transaction. "
        "The person's own token, or the scope `admin`."
    )
    async def record_consent(
        self,
        info: Info,
        person_id: Id,
        state: Annotated[Consent, strawberry.argument(description="What the person said.")],
        consent: Agreed,
        idempotency_key: Key,
    ) -> ConsentOutcome:
        outcome: ConsentOutcome = await expected(
            space_api.save_consent(info.context, person_id, state, consent, idempotency_key)
        )
        return outcome

    @strawberry.mutation(description="Change policies of the space. Needs the scope `admin`.")
    async def set_space_policy(self, info: Info, policy: Policies, idempotency_key: Key) -> SpaceOutcome:
        outcome: SpaceOutcome = await expected(space_api.set_space_policy(info.context, policy, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="Two people are one: the first is shown as the second from now on. No message moves, and undoing it is "
        "exact. Needs the scope `admin`."
    )
    async def merge_people(
        self,
        info: Info,
        person_id: Id,
        into_id: Into,
        idempotency_key: Key,
        confirmed: Annotated[
            bool, strawberry.argument(description="Each may read what the other may; without, they are only shown as one.")
        ] = True,
        why: Why = "",
    ) -> CorrectionOutcome:
        outcome: CorrectionOutcome = await expected(
            correction_api.merge_people(info.context, person_id, into_id, confirmed, why, idempotency_key)
        )
        return outcome

    @strawberry.mutation(
        description="Some of a person's messages, or all by some voices of sessions, are somebody else's: a new person, "
        "remembered not to be the same. Needs the scope `admin`."
    )
    async def split_person(
        self,
        info: Info,
        person_id: Id,
        idempotency_key: Key,
        message_ids: Messages = [],  # noqa: B006 - never changed; strawberry shows it as the default
        local_speakers: Annotated[
            list[strawberry.ID], strawberry.argument(description="Voices of sessions, instead of messages.")
        ] = [],  # noqa: B006
        name: Annotated[str | None, strawberry.argument(description="How the new person is called, if known.")] = None,
        why: Why = "",
    ) -> CorrectionOutcome:
        outcome: CorrectionOutcome = await expected(
            correction_api.split_person(info.context, person_id, message_ids, local_speakers, name, why, idempotency_key)
        )
        return outcome

    @strawberry.mutation(
        description="Messages are somebody else's, or nobody's whom we know (`toId` null); who may read what is settled again "
        "at once. The scope `admin`; with a person's own token, giving back what is wrongly put down to that person."
    )
    async def reassign_messages(
        self,
        info: Info,
        message_ids: Messages,
        idempotency_key: Key,
        to_id: Annotated[strawberry.ID | None, strawberry.argument(description="Whose they are; null: nobody's.")] = None,
        why: Why = "",
    ) -> CorrectionOutcome:
        outcome: CorrectionOutcome = await expected(
            correction_api.reassign_messages(info.context, message_ids, to_id, why, idempotency_key)
        )
        return outcome

    @strawberry.mutation(
        description="Two people are not the same: they are never merged nor proposed again, until this is undone. Needs the "
        "scope `admin`."
    )
    async def mark_not_same(
        self, info: Info, person_id: Id, other_id: Into, idempotency_key: Key, why: Why = ""
    ) -> CorrectionOutcome:
        outcome: CorrectionOutcome = await expected(
            correction_api.mark_not_same(info.context, person_id, other_id, why, idempotency_key)
        )
        return outcome

    @strawberry.mutation(
        description="Take a correction back: all is as it was, and what came since stays. The scope `admin`, or the account "
        "that made it."
    )
    async def undo_correction(
        self,
        info: Info,
        correction_id: Annotated[strawberry.ID, strawberry.argument(description="The correction.")],
        idempotency_key: Key,
        why: Why = "",
    ) -> CorrectionOutcome:
        outcome: CorrectionOutcome = await expected(
            correction_api.undo_correction(info.context, correction_id, why, idempotency_key)
        )
        return outcome

    @strawberry.mutation(
        description="A proposed name is right: the person is called so from now on. The person's own token, or the scope "
        "`admin`."
    )
    async def apply_name(self, info: Info, proposal_id: Proposal, idempotency_key: Key) -> NameDecision:
        outcome: NameDecision = await expected(name_api.apply(info.context, proposal_id, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="A proposed name is wrong: it is taken back where it is shown, and never applied by itself again. The "
        "person's own token, or the scope `admin`."
    )
    async def reject_name(self, info: Info, proposal_id: Proposal, idempotency_key: Key) -> NameDecision:
        outcome: NameDecision = await expected(name_api.reject(info.context, proposal_id, idempotency_key))
        return outcome


@strawberry.type(
    description="What goes on, over a websocket with the subprotocol graphql-transport-ws, which always needs a token."
)
class Subscription:
    @strawberry.subscription(description="A job of this account now and after each change, until it is over.")
    async def job_progress(self, info: Info, id: Id) -> AsyncGenerator[JobOutcome, None]:
        async for outcome in job_api.follow(info.context, id):
            yield outcome


class Schema(strawberry.Schema):
    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Nothing: strawberry would log messages, which may quote what somebody said. `api.errors` logs incidents."""


async def _viewer(info: Any, asker: AskerInput | None) -> ViewerType:
    reading = await info.context.reading(asker.asked() if asker else None)
    viewer = reading.viewer
    return ViewerType(
        assurance=viewer.assurance,
        space=viewer.space,
        num_hearers=len(viewer.hearers),
        unknown_hearer=viewer.unknown_hearer,
        reads_all=reading.scope.reads_all,
        reading=reading,
    )


def make_schema(*, development: bool) -> Schema:
    """The schema; without `development` it cannot be introspected, and errors suggest no field names."""
    extensions: list[type[SchemaExtension]] = [MaskUnexpected, Limits, ParserCache, ValidationCache]
    if not development:
        extensions.append(DisableIntrospection)
    return Schema(
        Query,
        Mutation,
        Subscription,
        types=[PersonType, SessionType, MessageType, JobType],
        extensions=extensions,
        config=StrawberryConfig(disable_field_suggestions=not development),
    )


if __name__ == "__main__":
    print(make_schema(development=True).as_str())
