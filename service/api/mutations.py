"""What can be written? The mutations of the GraphQL schema, each with its key and its outcomes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import strawberry

from service.api import accounts as account_api
from service.api import aliases as alias_api
from service.api import corrections as correction_api
from service.api import deliveries as delivery_api
from service.api import erasure as erasure_api
from service.api import grants as grant_api
from service.api import jobs as job_api
from service.api import names as name_api
from service.api import shares as share_api
from service.api import spaces as space_api
from service.api import webhooks as webhook_api
from service.api.accounts import AccountOutcome
from service.api.aliases import EntityOutcome
from service.api.context import Info
from service.api.corrections import CorrectionOutcome
from service.api.deliveries import ForgetOutcome, RetryOutcome
from service.api.erasure import EraseOutcome
from service.api.grants import GrantOutcome
from service.api.jobs import IngestInput, IngestOutcome
from service.api.names import NameDecision
from service.api.outcomes import expected
from service.api.shares import ShareOutcome
from service.api.spaces import ConsentInput, ConsentOutcome, EnrolOutcome, NameOutcome, SpaceOutcome, SpacePolicyInput
from service.types.people import Consent, ConsentPurpose

Id = Annotated[strawberry.ID, strawberry.argument(description="Global id, or the id in the graph.")]
Key = Annotated[
    str,
    strawberry.argument(
        description="Of your making, one per request: the same key with the same request gives the same result, without doing "
        "it again."
    ),
]
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
Trait = Annotated[strawberry.ID, strawberry.argument(description="Id of the attitude or trait, as `personas` gives it.")]
Told = Annotated[strawberry.ID, strawberry.argument(description="Whom: somebody the asker knows of.")]
Letters = Annotated[
    list[strawberry.ID], strawberry.argument(description="Dead letters, as `deliveries` names them; 100 at most.")
]
Why = Annotated[str, strawberry.argument(description="For whoever looks at it later; kept with the correction.")]


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
        description="Record that a person let their voice be remembered, turns be told by it, sounds be kept, or what they "
        "feel and are like be inferred, or took that back; obeyed in the same transaction, and by all that is heard from then "
        "on. The person's own token, or the scope `admin`."
    )
    async def record_consent(
        self,
        info: Info,
        person_id: Id,
        state: Annotated[Consent, strawberry.argument(description="What the person said.")],
        consent: Agreed,
        idempotency_key: Key,
        purpose: Annotated[ConsentPurpose, strawberry.argument(description="To what.")] = ConsentPurpose.REMEMBER_VOICE,
    ) -> ConsentOutcome:
        outcome: ConsentOutcome = await expected(
            space_api.save_consent(info.context, person_id, state, consent, purpose, idempotency_key)
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
        description="Messages are somebody else's, somebody new's, or (without both) nobody's whom we know; who may read what "
        "is settled again at once. The scope `admin`; with a person's own token, giving back what is wrongly put down to that "
        "person."
    )
    async def reassign_messages(
        self,
        info: Info,
        message_ids: Messages,
        idempotency_key: Key,
        to_id: Annotated[strawberry.ID | None, strawberry.argument(description="Whose they are; null: nobody's.")] = None,
        new_person: Annotated[
            str | None, strawberry.argument(description="Instead: the name of somebody not known here before, whose they are.")
        ] = None,
        why: Why = "",
    ) -> CorrectionOutcome:
        outcome: CorrectionOutcome = await expected(
            correction_api.reassign_messages(info.context, message_ids, to_id, new_person, why, idempotency_key)
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
        description="A person is a bot, as one that takes notes: it reads nothing as itself, being there opens nothing to it, "
        "and no name is proposed for it, until this is undone. Needs the scope `admin`."
    )
    async def mark_bot(self, info: Info, person_id: Id, idempotency_key: Key, why: Why = "") -> CorrectionOutcome:
        outcome: CorrectionOutcome = await expected(correction_api.mark_bot(info.context, person_id, why, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="Take a correction back: all is as it was, and what came since stays. The scope `admin`; with a person's "
        "own token, that something was not them, as the same account said."
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
        description="A login is this person's: what was said with it in any meeting and no voice decided is theirs, they were "
        "there when it was, and a token for it asks as them. No merge moves it. Needs the scope `admin`."
    )
    async def bind_account(
        self,
        info: Info,
        issuer: Annotated[
            str,
            strawberry.argument(description="Who vouches for it, as in `accounts`; `mailto` for a verified e-mail address."),
        ],
        subject: Annotated[str, strawberry.argument(description="Who it is there.")],
        person_id: Id,
        idempotency_key: Key,
        why: Why = "",
    ) -> AccountOutcome:
        outcome: AccountOutcome = await expected(
            account_api.bind(info.context, issuer, subject, person_id, why, idempotency_key)
        )
        return outcome

    @strawberry.mutation(
        description="A login is not theirs: what followed from it alone is taken back, in all meetings. The scope `admin`; "
        "with a person's own token, of a login that is bound to that person."
    )
    async def unbind_account(self, info: Info, account_id: Id, idempotency_key: Key, why: Why = "") -> AccountOutcome:
        outcome: AccountOutcome = await expected(account_api.unbind(info.context, account_id, why, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="Several people use a login, a meeting room's for one: it is nobody's and nothing follows from it, until "
        "that is said to be otherwise. Needs the scope `admin`."
    )
    async def share_account(
        self,
        info: Info,
        account_id: Id,
        shared: Annotated[bool, strawberry.argument(description="Whether several people use it.")],
        idempotency_key: Key,
        why: Why = "",
    ) -> AccountOutcome:
        outcome: AccountOutcome = await expected(account_api.share(info.context, account_id, shared, why, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="Let an account ask for a person, for a time: what that person may know, and nothing that is theirs alone. "
        "The person's own token, with nobody listening, or the scope `admin`."
    )
    async def add_grant(
        self,
        info: Info,
        person_id: Id,
        issuer: Annotated[
            str,
            strawberry.argument(description="Who vouches for the account: `local` for tokens of this service."),
        ],
        subject: Annotated[str, strawberry.argument(description="Who may ask, as the issuer names them.")],
        idempotency_key: Key,
        until: Annotated[
            datetime | None,
            strawberry.argument(description="Until then (with its zone), a year from now at most; 90 days unless told."),
        ] = None,
        why: Why = "",
    ) -> GrantOutcome:
        outcome: GrantOutcome = await expected(
            grant_api.add(info.context, person_id, issuer, subject, until, why, idempotency_key)
        )
        return outcome

    @strawberry.mutation(
        description="Take leave to ask for a person back: it opens nothing from the next question on. With the token of the "
        "person whom it is for, or the scope `admin`."
    )
    async def revoke_grant(
        self,
        info: Info,
        grant_id: Annotated[strawberry.ID, strawberry.argument(description="The grant.")],
        idempotency_key: Key,
        why: Why = "",
    ) -> GrantOutcome:
        outcome: GrantOutcome = await expected(grant_api.revoke(info.context, grant_id, why, idempotency_key))
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

    @strawberry.mutation(
        description="An entity is another name of one, with the names that it has itself. No mention moves, and "
        "`separateEntity` takes it back. Of two that the caller may know of; needs the scope `admin`."
    )
    async def join_entities(
        self,
        info: Info,
        entity_id: Id,
        of_id: Annotated[strawberry.ID, strawberry.argument(description="The entity that it is another name of.")],
        idempotency_key: Key,
        why: Why = "",
    ) -> EntityOutcome:
        outcome: EntityOutcome = await expected(alias_api.join(info.context, entity_id, of_id, why, idempotency_key))
        return outcome

    @strawberry.mutation(description="An entity is one of its own after all, as it was. Needs the scope `admin`.")
    async def separate_entity(self, info: Info, entity_id: Id, idempotency_key: Key, why: Why = "") -> EntityOutcome:
        outcome: EntityOutcome = await expected(alias_api.separate(info.context, entity_id, why, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="Let one person know of an attitude or trait of the asker, as it stands for the asker at any time, until "
        "`unsharePersona` or until it turns into its opposite. With the person's own token only, and nobody listening."
    )
    async def share_persona(self, info: Info, persona_id: Trait, person_id: Told, idempotency_key: Key) -> ShareOutcome:
        outcome: ShareOutcome = await expected(share_api.share(info.context, persona_id, person_id, idempotency_key))
        return outcome

    @strawberry.mutation(description="Let them know of it no more, from now on. With the person's own token only.")
    async def unshare_persona(self, info: Info, persona_id: Trait, person_id: Told, idempotency_key: Key) -> ShareOutcome:
        outcome: ShareOutcome = await expected(share_api.unshare(info.context, persona_id, person_id, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="A person is nobody's to see any more, from now on; what is stored of them goes, and a receipt says so. "
        "The person's own token, or the scope `admin`; with the own token it takes in confirmed merges only. There is no way "
        "back."
    )
    async def erase_person(self, info: Info, person_id: Id, idempotency_key: Key, why: Why = "") -> EraseOutcome:
        outcome: EraseOutcome = await expected(erasure_api.erase_person(info.context, person_id, why, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="A session goes, with all that was made of it. Needs the scope `admin`. There is no way back."
    )
    async def erase_session(self, info: Info, session_id: Id, idempotency_key: Key, why: Why = "") -> EraseOutcome:
        outcome: EraseOutcome = await expected(erasure_api.erase_session(info.context, session_id, why, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="A message's words go, with all that was made of them; its time and length stay. The token of whoever said "
        "it, or the scope `admin`. There is no way back."
    )
    async def erase_message(self, info: Info, message_id: Id, idempotency_key: Key, why: Why = "") -> EraseOutcome:
        outcome: EraseOutcome = await expected(erasure_api.erase_message(info.context, message_id, why, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="A fact goes, and reading its session again makes it no more. The token of whoever said what it was taken "
        "from, or the scope `admin`. There is no way back."
    )
    async def erase_fact(self, info: Info, fact_id: Id, idempotency_key: Key, why: Why = "") -> EraseOutcome:
        outcome: EraseOutcome = await expected(erasure_api.erase_fact(info.context, fact_id, why, idempotency_key))
        return outcome

    @strawberry.mutation(
        description="Take dead letters in after all, behind what came meanwhile: once the cause is mended. Needs the scope "
        "`admin`."
    )
    async def retry_deliveries(self, info: Info, ids: Letters, idempotency_key: Key) -> RetryOutcome:
        outcome: RetryOutcome = await expected(delivery_api.retry(info.context, ids, idempotency_key))
        return outcome

    @strawberry.mutation(description="Delete dead letters for good. Needs the scope `admin`.")
    async def forget_deliveries(self, info: Info, ids: Letters, idempotency_key: Key) -> ForgetOutcome:
        outcome: ForgetOutcome = await expected(delivery_api.forget(info.context, ids, idempotency_key))
        return outcome

    add_webhook: webhook_api.WebhookMadeOutcome = strawberry.mutation(
        resolver=webhook_api.add_webhook,
        description="Have an address told of what happens, signed as standardwebhooks.com has it: ids and counts. Needs the "
        "scope `admin`.",
    )

    rotate_webhook_secret: webhook_api.WebhookMadeOutcome = strawberry.mutation(
        resolver=webhook_api.rotate_webhook_secret,
        description="Make a webhook a new secret; the one before signs, too, for a day. Needs the scope `admin`.",
    )

    enable_webhook: webhook_api.WebhookChangedOutcome = strawberry.mutation(
        resolver=webhook_api.enable_webhook,
        description="Have a webhook told again that was disabled, or disable it. Needs the scope `admin`.",
    )

    remove_webhook: webhook_api.WebhookChangedOutcome = strawberry.mutation(
        resolver=webhook_api.remove_webhook,
        description="Tell an address of nothing any more, and forget what it was told. Needs the scope `admin`.",
    )

    replay_webhook: webhook_api.WebhookReplayedOutcome = strawberry.mutation(
        resolver=webhook_api.replay_webhook,
        description="Have a webhook told again, with the same ids: one delivery, or all that happened in a time. Needs the "
        "scope `admin`.",
    )

    try_webhook: webhook_api.WebhookTriedOutcome = strawberry.mutation(
        resolver=webhook_api.try_webhook,
        description="Send a webhook an event of the type `test` now, once; nothing of it is kept. Needs the scope `admin`.",
    )
