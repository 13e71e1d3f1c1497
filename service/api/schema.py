"""What can be asked? The roots of the GraphQL schema, and how it is put together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Annotated, Any, TypeAlias

import strawberry
from graphql import GraphQLError
from strawberry.extensions import DisableIntrospection, SchemaExtension
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from service.api import accounts as account_api
from service.api import consents as consent_api
from service.api import corrections as correction_api
from service.api import deliveries as delivery_api
from service.api import entities as entity_api
from service.api import erasure as erasure_api
from service.api import facts as fact_api
from service.api import grants as grant_api
from service.api import identity as identity_api
from service.api import images as image_api
from service.api import jobs as job_api
from service.api import names as name_api
from service.api import personas as persona_api
from service.api import profiles as profile_api
from service.api import retention as retention_api
from service.api import search as search_api
from service.api import shares as share_api
from service.api import sounds as sound_api
from service.api import spaces as space_api
from service.api import webhooks as webhook_api
from service.api import who as who_api
from service.api.accounts import AccountType
from service.api.characters import WholeTexts
from service.api.connections import After, Before, Connection, First, Last, Node, connection
from service.api.consents import ConsentRecordType
from service.api.context import Info, local_id
from service.api.corrections import CorrectionType, SplitPreviewType
from service.api.cursors import page
from service.api.deliveries import DeliveryType, MeetingSourceType
from service.api.documents import Documents, Prepared
from service.api.entities import EntityNode, Named, OfTheme, ThemeType, Types
from service.api.erasure import ReceiptType
from service.api.errors import MaskUnexpected
from service.api.evenly import tell_evenly
from service.api.facts import FactsNarrowed, FactType, MemoryLagType, Of, To
from service.api.grants import GrantType
from service.api.identity import ExplanationType, UnknownVoiceType
from service.api.jobs import JobType
from service.api.limits import Limits
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType, PersonType, SessionType, person_of
from service.api.mutations import Id, Mutation
from service.api.names import NameProposalType, NameStatus
from service.api.outcomes import InvalidInput, NotAllowed, NotFound, VoiceNotAccepted, expected
from service.api.personas import AffectType, PersonaType
from service.api.profiles import ProfileType
from service.api.retention import KeptType
from service.api.search import SEARCH, AskedAt, Asker, AskerInput, AskOutcome, Explain, Narrowed, SearchOutcome, Zone
from service.api.shares import SharedPersonaType
from service.api.spaces import EncoderType, SpaceType
from service.api.subscription import Subscription
from service.api.who import TimelineEntryType, WhoOutcome
from service.graph.deliveries import DeliveryStatus
from service.graph.messages import count_messages, list_messages
from service.graph.people import count_people, list_people
from service.graph.sessions import count_sessions, list_sessions
from service.pipelines.viewer import known_hearers
from service.types.people import Assurance

strawberry.enum(Assurance, name="Assurance", description="How sure it is who asks.")

Whose = Annotated[strawberry.ID | None, strawberry.argument(description="Whose; the asker's when left out.")]


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
        asked_at: AskedAt = None,
        zone: Zone = None,
        explain: Explain = False,
    ) -> SearchOutcome:
        found = search_api.search(info.context, query, first, explain, filters, asker, asked_at, zone)
        outcome: SearchOutcome = await expected(found)
        return outcome

    @strawberry.field(description="An answer to a question, from what the asker and all who listen may know.", metadata=SEARCH)
    async def ask(
        self,
        info: Info,
        question: Annotated[str, strawberry.argument(description="In anybody's words.")],
        filters: Narrowed = None,
        asker: Asker = None,
        asked_at: AskedAt = None,
        zone: Zone = None,
        explain: Explain = False,
    ) -> AskOutcome:
        outcome: AskOutcome = await expected(search_api.ask(info.context, question, explain, filters, asker, asked_at, zone))
        return outcome

    @strawberry.field(
        description="Who said it; or, given by whom it was said, to whom. From the edges of what is found, with the messages.",
        metadata=SEARCH,
    )
    async def who(
        self,
        info: Info,
        said: Annotated[
            str, strawberry.argument(description='What was said ("the trip"), or the question ("who told Bo …?").')
        ],
        by: Annotated[list[strawberry.ID] | None, strawberry.argument(description="Said by one of these: to whom?")] = None,
        to: Annotated[list[strawberry.ID] | None, strawberry.argument(description="Said to one of these people.")] = None,
        filters: Narrowed = None,
        asker: Asker = None,
        asked_at: AskedAt = None,
        zone: Zone = None,
        explain: Explain = False,
    ) -> WhoOutcome:
        found = who_api.who(info.context, said, by or [], to or [], explain, filters, asker, asked_at, zone)
        outcome: WhoOutcome = await expected(found)
        return outcome

    image_search: image_api.ImageSearchOutcome = strawberry.field(
        resolver=image_api.image_search,
        description="Images by what they show: by words, or like another image. Seen with the message they were shown with.",
        metadata=SEARCH,
    )

    sounds: sound_api.SoundsOutcome = strawberry.field(
        resolver=sound_api.sounds,
        description="When somebody laughed, whispered or shouted, or something rang: in messages that the asker may read, of "
        "speakers who agreed to it. The newest, or those nearest to what is asked about.",
        metadata=SEARCH,
    )

    @strawberry.field(
        description="What somebody said and what was said to them, in spoken order; empty for one the viewer knows nothing of.",
        metadata=LIST,
    )
    async def timeline(
        self,
        info: Info,
        person: Annotated[strawberry.ID, strawberry.argument(description="Whose.")],
        since: Annotated[datetime | None, strawberry.argument(description="From this time on (with its zone).")] = None,
        until: Annotated[datetime | None, strawberry.argument(description="Before this time (with its zone).")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[TimelineEntryType]:
        return await who_api.timeline(info.context, person, since, until, page(first, after, last, before))

    @strawberry.field(description="One fact; null when the viewer may read none by this id.")
    async def fact(self, info: Info, id: Id) -> FactType | None:
        return await fact_api.fact(info.context, id)

    @strawberry.field(description="Facts, newest said first.", metadata=LIST)
    async def facts(
        self,
        info: Info,
        filters: FactsNarrowed = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[FactType]:
        return await fact_api.facts(info.context, filters, page(first, after, last, before))

    @strawberry.field(description="How far the memory is behind in comparing facts.", metadata=SEARCH)
    async def memory_lag(self, info: Info) -> MemoryLagType:
        return await fact_api.memory_lag(info.context)

    @strawberry.field(description="Who promised what to whom, newest first.", metadata=LIST)
    async def commitments(
        self,
        info: Info,
        of: Of = None,
        to: To = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[FactType]:
        return await fact_api.commitments(info.context, of, to, page(first, after, last, before))

    @strawberry.field(description="One entity; null when the viewer may read no mention of one by this id.")
    async def entity(self, info: Info, id: Id) -> EntityNode | None:
        return await entity_api.entity(info.context, id)

    @strawberry.field(description="What is spoken of, the one spoken of last first.", metadata=SEARCH)
    async def entities(
        self,
        info: Info,
        types: Types = None,
        theme: OfTheme = None,
        name: Named = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[EntityNode]:
        return await entity_api.entities(info.context, types, theme, name, page(first, after, last, before))

    @strawberry.field(description="Themes of what is spoken of, the weightiest lately first.", metadata=SEARCH)
    async def themes(self, info: Info) -> list[ThemeType]:
        return await entity_api.themes(info.context)

    @strawberry.field(
        description="What somebody said of themselves; null when the viewer knows of nobody by this id.",
        metadata=LIST,
    )
    async def profile(
        self, info: Info, person_id: Annotated[strawberry.ID, strawberry.argument(description="Whose.")]
    ) -> ProfileType | None:
        return await profile_api.profile(info.context, person_id)

    @strawberry.field(
        description="What the asker is like, the strongest first: what they themselves said on several occasions. Empty for "
        "anybody else, while anybody else listens, and where they did not agree to it.",
        metadata=LIST,
    )
    async def personas(self, info: Info, person_id: Whose = None, asked_at: AskedAt = None) -> list[PersonaType]:
        return await persona_api.personas(info.context, person_id, asked_at)

    @strawberry.field(
        description="What others let the asker know of what they are like; empty while anybody else listens.", metadata=LIST
    )
    async def shared_personas(
        self,
        info: Info,
        person_id: Annotated[strawberry.ID | None, strawberry.argument(description="Only of this person.")] = None,
    ) -> list[SharedPersonaType]:
        return await share_api.shared_personas(info.context, person_id)

    @strawberry.field(
        description="How the asker was in each message of theirs that was read for it, newest first. For themselves alone.",
        metadata=LIST,
    )
    async def affect(
        self,
        info: Info,
        person_id: Whose = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[AffectType]:
        return await persona_api.affect(info.context, person_id, page(first, after, last, before))

    @strawberry.field(
        description="What somebody said about being known, heard or read, the newest first: the asker's own, while nobody else "
        "listens; anybody's with the scope `admin`.",
        metadata=LIST,
    )
    async def consents(
        self,
        info: Info,
        person_id: Whose = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[ConsentRecordType]:
        return await consent_api.consents(info.context, person_id, page(first, after, last, before))

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

    @strawberry.field(
        description="The receipt of an erasure, once nothing is left of what was erased: for an administrator, whoever asked "
        "for it, and the person whom it is about."
    )
    async def receipt(
        self, info: Info, id: Annotated[strawberry.ID, strawberry.argument(description="As the erasure named it.")]
    ) -> ReceiptType | None:
        return await erasure_api.receipt(info.context, id)

    @strawberry.field(
        description="Receipts of what was erased, the newest first: all of the space for an administrator, else those that "
        "`receipt` gives.",
        metadata=LIST,
    )
    async def receipts(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[ReceiptType]:
        return await erasure_api.receipts(info.context, page(first, after, last, before))

    @strawberry.field(
        description="Logins that people joined meetings with, and whose they are, in the order in which they were heard of: "
        "all for who reads everything, else those that are bound to the asker.",
        metadata=LIST,
    )
    async def accounts(
        self,
        info: Info,
        bound: Annotated[bool | None, strawberry.argument(description="Only those that are, or are not, somebody's.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[AccountType]:
        return await account_api.accounts(info.context, bound, page(first, after, last, before))

    @strawberry.field(
        description="Which accounts may ask for whom, in the order in which they were let: all for who reads everything, else "
        "those that may ask for the asker, for them alone.",
        metadata=LIST,
    )
    async def grants(
        self,
        info: Info,
        holding: Annotated[bool, strawberry.argument(description="Only those that hold now.")] = True,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[GrantType]:
        return await grant_api.grants(info.context, holding, page(first, after, last, before))

    @strawberry.field(
        description="What of a person's messages may be somebody else's, before splitting them; null when the viewer may read "
        "none. Needs the scope `admin`.",
        metadata=SEARCH,
    )
    async def split_preview(self, info: Info, person_id: Id) -> SplitPreviewType | None:
        return await correction_api.split_preview(info.context, person_id)

    @strawberry.field(description="One job of this account; null when it has none by this id.")
    async def job(self, info: Info, id: Id) -> JobType | None:
        return await job_api.job(info.context, id)

    @strawberry.field(description="Jobs of this account, newest first; of everybody with the scope `admin`.", metadata=LIST)
    async def jobs(
        self, info: Info, first: First = None, after: After = None, last: Last = None, before: Before = None
    ) -> Connection[JobType]:
        return await job_api.jobs(info.context, page(first, after, last, before))

    @strawberry.field(
        description="What meetings' backends delivered, newest first, without what it says. Needs the scope `admin`.",
        metadata=LIST,
    )
    async def deliveries(
        self,
        info: Info,
        status: Annotated[
            list[DeliveryStatus] | None, strawberry.argument(description="Only these: DEAD are the dead letters.")
        ] = None,
        source: Annotated[str | None, strawberry.argument(description="Only of this source.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> Connection[DeliveryType]:
        return await delivery_api.deliveries(info.context, status, source, page(first, after, last, before))

    @strawberry.field(description="Backends that may deliver meetings into this space. Needs the scope `admin`.", metadata=LIST)
    async def meeting_sources(self, info: Info) -> list[MeetingSourceType]:
        return await delivery_api.sources(info.context)

    webhooks: list[webhook_api.WebhookType] = strawberry.field(
        resolver=webhook_api.webhooks,
        description="Addresses that are told of what happens in the space. Needs the scope `admin`.",
        metadata=LIST,
    )

    webhook_deliveries: Connection[webhook_api.WebhookDeliveryType] = strawberry.field(
        resolver=webhook_api.webhook_deliveries,
        description="What webhooks were told, newest first, without what it says. Needs the scope `admin`.",
        metadata=LIST,
    )

    @strawberry.field(description="Whatever has this global id, through the same gate as everywhere else.")
    async def node(
        self, info: Info, id: Annotated[strawberry.ID, strawberry.argument(description="Global id.")]
    ) -> Node | None:
        kind, _, local = id.partition(":")
        if kind == "Job":
            return await job_api.job(info.context, local)
        if kind == "Fact":
            return await fact_api.fact(info.context, local)
        if kind == "Entity":
            return await entity_api.entity(info.context, local)
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

    @strawberry.field(
        description="How long what is kept here, in each place where personal data lives; as a page: /v1/retention."
    )
    async def retention(self, info: Info) -> list[KeptType]:
        return await retention_api.retention(info.context)

    @strawberry.field(description="Speaker encoders this service knows.")
    async def encoders(self, info: Info) -> list[EncoderType]:
        return space_api.encoders(info.context)


class Schema(strawberry.Schema):
    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Nothing: strawberry would log messages, which may quote what somebody said. `api.errors` logs incidents."""


async def _viewer(info: Any, asker: AskerInput | None) -> ViewerType:
    reading = await info.context.reading(asker.asked() if asker else None)
    viewer = reading.viewer
    known = await known_hearers(reading.graph, viewer)
    return ViewerType(
        assurance=viewer.assurance,
        space=viewer.space,
        num_hearers=len(known),
        unknown_hearer=viewer.unknown_hearer or len(known) < len(viewer.hearers),
        reads_all=reading.scope.reads_all,
        reading=reading,
    )


def make_schema(*, development: bool) -> Schema:
    """The schema; without `development` it cannot be introspected, and errors suggest no field names."""
    extensions: list[Callable[[], SchemaExtension]] = [MaskUnexpected, WholeTexts, Limits, partial(Prepared, Documents())]
    if not development:
        extensions.append(DisableIntrospection)
    schema = Schema(
        Query,
        Mutation,
        Subscription,
        types=[PersonType, SessionType, MessageType, FactType, EntityNode, JobType],
        extensions=extensions,
        config=StrawberryConfig(disable_field_suggestions=not development),
    )
    tell_evenly(schema._schema)
    return schema


if __name__ == "__main__":
    print(make_schema(development=True).as_str())
