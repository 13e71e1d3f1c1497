"""Who is known here and on what terms? Policies of the space, and mutations of names, voices, consents and policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import strawberry

from graph_schema.schema import VOICE_SPACES
from service.api.consents import evidence_of
from service.api.context import Context, global_id, local_id
from service.api.context import NotAllowed as Refused
from service.api.jobs import once_per_key
from service.api.outcomes import Conflict, InvalidInput, NotAllowed, NotFound
from service.errors import InvalidInput as BadInput
from service.errors import VoicegraphError
from service.graph.spaces import ensure_space, find_space, save_space
from service.graph.write_consents import find_state
from service.pipelines.consents import record_consent
from service.pipelines.enrol import VoiceKnown, rename
from service.types.people import (
    AccessPolicy,
    AnonymousVoices,
    Consent,
    ConsentPurpose,
    OptOuts,
    Principal,
    SpaceSettings,
    VoiceAccess,
)
from service.types.plain import short

strawberry.enum(AccessPolicy, name="AccessPolicy", description="Who may read a message; each includes the ones before it.")
strawberry.enum(VoiceAccess, name="VoiceAccess", description="What a voice may do when somebody asks.")
strawberry.enum(
    AnonymousVoices, name="AnonymousVoices", description="What becomes of the voices of people who were never asked."
)
strawberry.enum(OptOuts, name="OptOuts", description="By what those are known again who refused to be known.")
MAX_DAYS = 3_650


class VoiceTaken(VoicegraphError):
    """VoiceKnown without whose it is: who may enrol need not see that person."""

    code = "voice_taken"
    says = "This voice is somebody's who is enrolled already. Rename that person instead."
    http_status = 409


@strawberry.type(name="Space", description="The tenant of this token, and its policies.")
class SpaceType:
    name: str = strawberry.field(description="Its name.")
    access: AccessPolicy = strawberry.field(description="Who may read a message.")
    routing: str = strawberry.field(description="Policy that decides whose a voice is.")
    voice_access: VoiceAccess = strawberry.field(description="What a voice may do when somebody asks.")
    anonymous_voices: AnonymousVoices = strawberry.field(description="What becomes of voices of people never asked.")
    anonymous_days: int = strawberry.field(description="Days an anonymous voice is kept under `EXPIRE`.")
    workplace: bool = strawberry.field(description="Nothing is inferred of how people feel or what they are like.")
    keeps_sound: bool = strawberry.field(description="Pieces of sound are kept of who granted `KEEP_AUDIO`.")
    sound_days: int = strawberry.field(description="Days that sounds of who granted it are kept, and their pieces.")
    session_days: int | None = strawberry.field(description="Days that sessions are kept; null: until they are erased.")
    voice_days: int | None = strawberry.field(
        description="Days that a voice is kept after it was last heard, of who agreed, and under `KEEP`; null: as long as they "
        "agree, or until it is erased."
    )
    opt_outs: OptOuts = strawberry.field(description="By what those are known again who refused to be known.")

    @classmethod
    def from_record(cls, space: SpaceSettings) -> SpaceType:
        return cls(
            name=space.id,
            access=space.access,
            routing=space.routing,
            voice_access=space.voice_access,
            anonymous_voices=space.anonymous_voices,
            anonymous_days=space.anonymous_days,
            workplace=space.workplace,
            keeps_sound=space.keeps_sound,
            sound_days=space.sound_days,
            session_days=space.session_days,
            voice_days=space.voice_days,
            opt_outs=space.opt_outs,
        )


@strawberry.type(name="Encoder", description="A speaker encoder this service knows.")
class EncoderType:
    name: str = strawberry.field(description="Its name, and that of its embedding space.")
    dimension: int = strawberry.field(description="Length of its vectors.")
    in_use: bool = strawberry.field(description="Voices are compared in its space now.")


@strawberry.type(name="Enrolled", description="A person whose voice is known now.")
class EnrolledType:
    person_id: strawberry.ID = strawberry.field(description="Global id of the person.")


@strawberry.type(name="Named", description="A person has this name now.")
class NamedType:
    person_id: strawberry.ID = strawberry.field(description="Global id of the person.")


@strawberry.type(name="ConsentRecorded", description="A consent was recorded, and what holds now is obeyed.")
class ConsentRecordedType:
    person_id: strawberry.ID = strawberry.field(description="Global id of the person.")
    consent_id: strawberry.ID = strawberry.field(description="Id of the record in the graph.")
    state: Consent = strawberry.field(
        description="What holds now, of what they said to this purpose: another than was recorded, if they said that later."
    )


@strawberry.input(description="What somebody agreed to, and how.")
class ConsentInput:
    text_version: str = strawberry.field(description="Version of the text they agreed to.")
    channel: str = strawberry.field(description="How they said so: spoken, form, paper, …")
    said_at: datetime | None = strawberry.field(
        default=None, description="When, with its zone; now unless told, and not ahead of it. Of a purpose the newest holds."
    )
    evidence: str | None = strawberry.field(default=None, description="What proves it: where the form is, who heard it, …")
    evidence_upload_id: strawberry.ID | None = strawberry.field(
        default=None, description="Instead: an upload, of which the hash is kept. The thing itself is yours to keep."
    )
    although_opted_out: bool = strawberry.field(
        default=False,
        description="Of an enrolment: also if the voice is taken for that of somebody who refused. Needs the scope `admin`.",
    )


@strawberry.input(description="Policies to change; what is left out stays.")
class SpacePolicyInput:
    access: AccessPolicy | None = strawberry.field(default=None, description="Holds for what is written from now on.")
    voice_access: VoiceAccess | None = strawberry.field(default=None, description="Holds at once.")
    anonymous_voices: AnonymousVoices | None = strawberry.field(
        default=None, description="Holds for what is heard from now on."
    )
    anonymous_days: int | None = strawberry.field(default=None, description="Holds for what is heard from now on.")
    workplace: bool | None = strawberry.field(
        default=None, description="True: what was inferred of people is gone at once with their sounds, and no more is."
    )
    keeps_sound: bool | None = strawberry.field(default=None, description="False: the pieces of sound are gone at once.")
    sound_days: int | None = strawberry.field(default=None, description="Fewer: what is older is gone by the next sweep.")
    session_days: int | None = strawberry.field(
        default=None,
        description="Sessions held and written longer ago are erased by the next sweep, with all that was made of them; 0: "
        "none are.",
    )
    voice_days: int | None = strawberry.field(
        default=None,
        description="Voices last heard longer ago are gone by the next sweep, also of who agreed; 0: none are for that.",
    )
    opt_outs: OptOuts | None = strawberry.field(default=None, description="Holds for who refuses from now on.")


EnrolOutcome: TypeAlias = Annotated[
    EnrolledType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("EnrolOutcome", description="Who is known now, or why nobody is."),
]
NameOutcome: TypeAlias = Annotated[
    NamedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("NameOutcome", description="Who was named, or why nobody was."),
]
ConsentOutcome: TypeAlias = Annotated[
    ConsentRecordedType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("ConsentOutcome", description="What was recorded, or why nothing was."),
]
SpaceOutcome: TypeAlias = Annotated[
    SpaceType | NotFound | NotAllowed | Conflict | InvalidInput,
    strawberry.union("SpaceOutcome", description="The policies now, or why they stayed."),
]


async def space(context: Context) -> SpaceType:
    """As it is, or as it will be made when something is first written to it."""
    found = await context.services.graph.read(find_space, context.space)
    return SpaceType.from_record(found or SpaceSettings(context.space))


def encoders(context: Context) -> list[EncoderType]:
    used = context.services.settings.encoder
    return [EncoderType(name=name, dimension=size, in_use=name == used) for name, size in VOICE_SPACES.items()]


async def enrol(context: Context, name: str, upload_id: str, consent: ConsentInput, key: str) -> EnrolledType:
    principal = context.allowed("ingest", "enrol a voice")
    if consent.although_opted_out:
        context.allowed("admin", "enrol a voice although it is taken for that of somebody who refused")
    clip = context.upload(upload_id)
    name, agreed = short("name", name), await _agreed(context, consent)
    insisted = {"although_opted_out": True} if consent.although_opted_out else {}

    async def do() -> Mapping[str, Any]:
        try:
            async with context.runtime.front.voices.turn(urgent=False):
                by = principal.account_id
                person = await context.services.enrol(
                    space=context.space, name=name, clip=clip, recorded_by=by, **agreed, **insisted
                )
        except VoiceKnown:
            raise VoiceTaken() from None
        return {"person_id": person}

    body = {"name": name, "upload": upload_id, **_plain(agreed), **insisted}
    done = await once_per_key(context, principal, "enrol", key, body, do)
    return EnrolledType(person_id=_person(done))


async def name_person(context: Context, person_id: str, name: str, key: str) -> NamedType:
    person_id, name = local_id(person_id), short("name", name)
    principal = await _about(context, person_id, "name somebody")

    async def do() -> Mapping[str, Any]:
        graph, actor = context.services.graph, principal.account_id
        await rename(graph, space=context.space, person_id=person_id, name=name, actor=actor)
        return {"person_id": person_id}

    done = await once_per_key(context, principal, "name_person", key, {"person": person_id, "name": name}, do)
    return NamedType(person_id=_person(done))


async def save_consent(
    context: Context, person_id: str, state: Consent, consent: ConsentInput, purpose: ConsentPurpose, key: str
) -> ConsentRecordedType:
    person_id = local_id(person_id)
    principal = await _about(context, person_id, "record somebody's consent")
    agreed = await _agreed(context, consent)
    if state is Consent.UNKNOWN:
        raise BadInput(what="state", given="UNKNOWN", needed="what the person said: GRANTED, WITHDRAWN or OPTED_OUT")

    async def do() -> Mapping[str, Any]:
        consent_id = await record_consent(
            context.services.graph,
            space=context.space,
            person_id=person_id,
            state=state,
            purpose=purpose.value,
            recorded_by=principal.account_id,
            marker=context.services.marker,
            **agreed,
        )
        return {"person_id": person_id, "consent_id": consent_id}

    body = {"person": person_id, "state": state, "purpose": purpose, **_plain(agreed)}
    done = await once_per_key(context, principal, "record_consent", key, body, do)
    state = await context.services.graph.read(find_state, context.space, person_id, purpose.value)
    return ConsentRecordedType(person_id=_person(done), consent_id=strawberry.ID(done["consent_id"]), state=state)


async def _agreed(context: Context, consent: ConsentInput) -> dict[str, Any]:
    """As record_consent and Enrol take it. Raises InvalidInput."""
    if consent.said_at is not None and consent.said_at.tzinfo is None:
        raise BadInput(what="`saidAt`", given=f"{consent.said_at.isoformat()} without a zone", needed="a time with its zone")
    return {
        "text_version": short("textVersion", consent.text_version),
        "channel": short("channel", consent.channel),
        "at": consent.said_at,
        "evidence": await evidence_of(context, consent.evidence, consent.evidence_upload_id),
    }


def _plain(agreed: Mapping[str, Any]) -> dict[str, Any]:
    """For a job's body: what was left out stands for nothing, so that keys of before mean the same."""
    given = {name: value for name, value in agreed.items() if value is not None}
    return given | ({"at": given["at"].isoformat()} if "at" in given else {})


async def set_space_policy(context: Context, policy: SpacePolicyInput, key: str) -> SpaceType:
    principal = context.allowed("admin", "change a policy of the space")
    graph = context.services.graph
    for what, days in (("anonymousDays", policy.anonymous_days), ("soundDays", policy.sound_days)):
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise BadInput(what=what, given=days, needed=f"1 to {MAX_DAYS}")
    for what, days in (("sessionDays", policy.session_days), ("voiceDays", policy.voice_days)):
        if days is not None and not 0 <= days <= MAX_DAYS:
            raise BadInput(what=what, given=days, needed=f"0 to {MAX_DAYS}")
    named = [field.name for field in fields(SpacePolicyInput)]
    changed = {name: value for name in sorted(named) if (value := getattr(policy, name)) is not None}
    changed |= {name: None for name in ("session_days", "voice_days") if changed.get(name) == 0}

    async def do() -> Mapping[str, Any]:
        before = await graph.write(ensure_space, SpaceSettings(context.space))
        await graph.write(save_space, replace(before, **changed))
        return {"changed": sorted(changed)}

    await once_per_key(context, principal, "set_space_policy", key, changed, do)
    return await space(context)


async def _about(context: Context, person_id: str, to: str) -> Principal:
    """Who may do something to a person: that person's own token, or an admin. Leave to ask for somebody is not leave to
    agree for them. Anybody else learns no more of people they do not see than that they see none."""
    principal = await context.holder()
    if principal is None:
        raise Refused(reason=f"To {to}, a token is needed.")
    if "admin" not in principal.scopes and person_id != principal.person_id:
        raise Refused(reason=f"To {to}, the token must be that person's own, or have the scope `admin`.")
    return principal


def _person(done: Mapping[str, Any]) -> strawberry.ID:
    return strawberry.ID(global_id("Person", str(done["person_id"])))
