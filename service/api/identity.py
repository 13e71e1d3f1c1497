"""Who is this, and why do you think so? GraphQL types and reads of unknown voices and of explained decisions."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

import strawberry

from service.api.connections import Connection, connection
from service.api.context import Context, Info, global_id, local_id
from service.api.loaders import Reading
from service.api.memory import LIST, MessageType, PersonType, SessionType
from service.api.names import NameProposalType, messages
from service.errors import NotFound
from service.graph.explain import Decided, Evidence, Explanation, MergeApplied, get_explanation
from service.graph.inbox import (
    MAX_HEARD,
    MAX_SUGGESTED,
    MAX_TURNS,
    MAX_UNRESOLVED,
    Heard,
    Suggestion,
    UnknownKind,
    UnknownVoice,
    count_unknown,
    list_unknown,
)
from service.graph.names import MAX_NAMES
from service.graph.paging import Page
from service.pipelines.explain import ThresholdsNow, thresholds_now
from service.types.people import Person

strawberry.enum(UnknownKind, name="UnknownKind", description="What is unknown: a voice of one session, or a nameless person.")


@strawberry.type(name="Heard", description="When a voice was heard in one session.")
class HeardType:
    start: float = strawberry.field(description="Start of the first message, in seconds from the start of the session.")
    end: float = strawberry.field(description="End of the last message, in seconds from the start of the session.")
    num_turns: int = strawberry.field(description="How many messages, as far as the viewer may read them.")
    session_id: strawberry.Private[str]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="The session.")
    async def session(self) -> SessionType | None:
        session = await self.reading.sessions.load(self.session_id)
        return SessionType.from_record(session, self.reading) if session else None

    @classmethod
    def from_record(cls, heard: Heard, reading: Reading) -> HeardType:
        return cls(start=heard.start, end=heard.end, num_turns=heard.num_turns, session_id=heard.session_id, reading=reading)


@strawberry.type(name="Suggestion", description="Somebody a voice may be. Only people whom the viewer knows of are suggested.")
class SuggestionType:
    person: PersonType = strawberry.field(description="Who.")
    cosine: float | None = strawberry.field(description="Of the two voices, in [-1, 1]; null where none were compared.")
    margin: float | None = strawberry.field(description="How far ahead of the next likeliest person, in [0, 2].")
    threshold: float | None = strawberry.field(description="From which cosine on nobody would have been asked.")
    why: str = strawberry.field(
        description="alike; exclusive: two voices of one session that may be one person; contradicting_label: the voice says "
        "so and a label says otherwise; same_voice: other messages of the same voice are this person's. Of a login that the "
        "voice came with: account, it is theirs; contradicts_account, it is theirs and the voice is not; several_accounts."
    )

    @classmethod
    def from_record(cls, suggestion: Suggestion, reading: Reading) -> SuggestionType:
        return cls(
            person=PersonType.from_record(suggestion.person, reading),
            cosine=suggestion.cosine,
            margin=suggestion.margin,
            threshold=suggestion.threshold,
            why=suggestion.why,
        )


@strawberry.type(
    name="UnknownVoice", description="A voice that nobody has a name for. Counts and times are of what the viewer may read."
)
class UnknownVoiceType:
    kind: UnknownKind = strawberry.field(description="A voice of one session, or a person without a name.")
    local_speaker: strawberry.ID | None = strawberry.field(description="The voice of a session; null for a person.")
    label: str | None = strawberry.field(
        description="The name that the recording's source gave the voice; means nothing outside its session."
    )
    num_turns: int = strawberry.field(description="How many messages.")
    net_speech: float = strawberry.field(description="Seconds of speech in them.")
    first_heard: datetime = strawberry.field(description="Start of the first message, UTC.")
    last_heard: datetime = strawberry.field(description="Start of the last message, UTC.")
    unresolved_ids: list[strawberry.ID] = strawberry.field(
        description=f"Global ids of all messages of a voice of a session, {MAX_UNRESOLVED} at most, for `reassignMessages`; "
        "none for a person."
    )
    heard: list[HeardType] = strawberry.field(
        description=f"When, by session: the latest {MAX_HEARD}, the latest first.", metadata={"times": 5}
    )
    suggestions: list[SuggestionType] = strawberry.field(
        description=f"Whom it may be, the likeliest first, {MAX_SUGGESTED} at most.", metadata={"times": 3}
    )
    names: list[NameProposalType] = strawberry.field(
        description=f"What they may be called, the surest first, {MAX_NAMES} at most.", metadata={"times": 3}
    )
    record: strawberry.Private[UnknownVoice]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="The person without a name; null for a voice of one session.")
    async def person(self) -> PersonType | None:
        person = await self.reading.people.load(self.record.id) if self.kind is UnknownKind.PERSON else None
        return PersonType.from_record(person, self.reading) if person else None

    @strawberry.field(
        description="Some of the messages, those with most speech, in spoken order.", metadata={**LIST, "times": MAX_TURNS}
    )
    async def turns(self) -> list[MessageType]:
        return await messages(self.reading, self.record.turns)

    @classmethod
    def from_record(cls, voice: UnknownVoice, reading: Reading) -> UnknownVoiceType:
        return cls(
            kind=voice.kind,
            local_speaker=strawberry.ID(voice.id) if voice.kind is UnknownKind.LOCAL_SPEAKER else None,
            label=voice.label,
            num_turns=voice.num_turns,
            net_speech=voice.net_speech,
            first_heard=voice.first_heard,
            last_heard=voice.last_heard,
            unresolved_ids=[strawberry.ID(global_id("Message", id)) for id in voice.unresolved],
            heard=[HeardType.from_record(h, reading) for h in voice.heard],
            suggestions=[SuggestionType.from_record(s, reading) for s in voice.people],
            names=[NameProposalType.from_record(n, reading) for n in voice.names],
            record=voice,
            reading=reading,
        )


@strawberry.type(name="Decided", description="A decision about whose a voice is, with what it was based on.")
class DecidedType:
    decision: str | None = strawberry.field(description="link, create, assigned, corrected or unresolved.")
    cosine: float | None = strawberry.field(description="Score of the person decided for, in [-1, 1].")
    runner_up: float | None = strawberry.field(description="Best score of anybody else, in [-1, 1].")
    margin: float | None = strawberry.field(description="cosine - runnerUp, in [0, 2].")
    threshold: float | None = strawberry.field(description="What the cosine was compared with.")
    channels: str | None = strawberry.field(description="What the threshold is for: wideband, telephone, cross or compensated.")
    policy: str | None = strawberry.field(description="Routing policy that decided.")
    encoder: str | None = strawberry.field(description="Speaker encoder whose cosines these are.")
    by: str | None = strawberry.field(
        description="router (when the message came), settlement (at the session's end), account (whose login it came with), "
        "voicegraph, or somebody who corrected it: by account only for who reads everything."
    )
    reason: str | None = strawberry.field(
        description="Why, where the numbers do not say it. What a human gave as reason is for who reads everything."
    )
    record: strawberry.Private[Decided]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="The person decided for; null for nobody, and where the viewer may not know.")
    async def person(self) -> PersonType | None:
        return _person(self.record.person, self.reading)

    @strawberry.field(description="Whose score the runner-up's is; null for nobody, and where the viewer may not know.")
    async def runner_up_person(self) -> PersonType | None:
        return _person(self.record.runner_up_person, self.reading)

    @classmethod
    def from_record(cls, decided: Decided, reading: Reading) -> DecidedType:
        return cls(
            decision=decided.decision,
            cosine=decided.cosine,
            runner_up=decided.runner_up,
            margin=decided.margin,
            threshold=decided.threshold,
            channels=decided.channels,
            policy=decided.policy,
            encoder=decided.encoder,
            by=decided.by,
            reason=decided.reason,
            record=decided,
            reading=reading,
        )


@strawberry.type(name="MergeApplied", description="A merge between the voice decided for and the person shown.")
class MergeAppliedType:
    by: str = strawberry.field(description="voicegraph, or somebody: by account only for who reads everything.")
    why: str | None = strawberry.field(description="Reason given; a human's only for who reads everything.")
    confirmed: bool = strawberry.field(description="Only confirmed merges widen what somebody may read.")
    cosine: float | None = strawberry.field(description="Of the two voices, in [-1, 1]; null where a human merged.")
    correction_id: strawberry.ID | None = strawberry.field(description="For `undoCorrection`; only for who reads everything.")

    @classmethod
    def from_record(cls, merge: MergeApplied) -> MergeAppliedType:
        return cls(
            by=merge.by,
            why=merge.why,
            confirmed=merge.confirmed,
            cosine=merge.cosine,
            correction_id=strawberry.ID(merge.correction_id) if merge.correction_id else None,
        )


@strawberry.type(name="VoiceEvidence", description="A message that a voice is known by.")
class VoiceEvidenceType:
    net_speech: float = strawberry.field(description="Seconds of speech.")
    snr_db: float | None = strawberry.field(description="Speech over noise, in dB.")
    channel: str | None = strawberry.field(description="Acoustic channel: wideband, telephone, …")
    message_id: strawberry.Private[str]
    reading: strawberry.Private[Reading]

    @strawberry.field(description="The message.")
    async def message(self) -> MessageType | None:
        message = await self.reading.messages.load(self.message_id)
        return MessageType.from_record(message, self.reading) if message else None

    @classmethod
    def from_record(cls, evidence: Evidence, reading: Reading) -> VoiceEvidenceType:
        return cls(
            net_speech=evidence.net_speech,
            snr_db=evidence.snr_db,
            channel=evidence.channel,
            message_id=evidence.message_id,
            reading=reading,
        )


@strawberry.type(name="ThresholdsNow", description="What it takes today, in cosines, in [-1, 1].")
class ThresholdsNowType:
    encoder: str = strawberry.field(description="Speaker encoder in use.")
    channels: str = strawberry.field(description="For what is compared with what, as `channels` of the decision.")
    gallery_size: int = strawberry.field(description="People whose voice is known; the more, the stricter.")
    link: float = strawberry.field(description="From here on a message is taken for somebody's.")
    create: float = strawberry.field(description="Below it, for everybody known, a voice is somebody new.")
    update: float = strawberry.field(description="Below it nothing is learnt from a message.")
    access: float = strawberry.field(description="From here on who asks by voice may be taken for somebody.")
    origin: str = strawberry.field(description="When, how and on what they were measured.")

    @classmethod
    def from_record(cls, now: ThresholdsNow) -> ThresholdsNowType:
        return cls(**asdict(now))


@strawberry.type(name="Explanation", description="Why a message is held to be somebody's, or nobody's.")
class ExplanationType:
    turn: DecidedType = strawberry.field(description="About the message itself; while unresolved, what was not believed.")
    voice: DecidedType | None = strawberry.field(
        description="About its voice in the session as a whole: decides for messages that are too short or too noisy."
    )
    local_speaker: strawberry.ID = strawberry.field(description="That voice.")
    label: str | None = strawberry.field(description="The name that the recording's source gave it.")
    net_speech: float | None = strawberry.field(description="Seconds of this speaker alone in the message.")
    overlapped: float | None = strawberry.field(description="Seconds in which somebody else spoke too.")
    snr_db: float | None = strawberry.field(description="Speech over noise, in dB.")
    channel: str | None = strawberry.field(description="Acoustic channel: wideband, telephone, …")
    learned: bool = strawberry.field(description="The message is itself one that the voice is known by now.")
    evidence: list[VoiceEvidenceType] = strawberry.field(
        description="Other messages that the voice decided for is known by now, as far as the viewer may read them.",
        metadata={"times": 12},
    )
    from_enrolment: int = strawberry.field(description="How many pieces of an enrolment clip it is known by besides.")
    merges: list[MergeAppliedType] = strawberry.field(description="Merges from the voice decided for to the person shown.")
    suggestions: list[SuggestionType] = strawberry.field(
        description="Whom the voice may be, while the message is nobody's.", metadata={"times": 3}
    )
    record: strawberry.Private[Explanation]
    reading: strawberry.Private[Reading]

    @strawberry.field(
        description="The thresholds as they are now; only for who reads everything, since they tell how many people are known. "
        "Null for a decision by an encoder that is not in use any more."
    )
    async def thresholds_now(self, info: Info) -> ThresholdsNowType | None:
        services = info.context.services
        now = await thresholds_now(services.graph, self.reading.scope, self.record, services.thresholds)
        return ThresholdsNowType.from_record(now) if now else None

    @classmethod
    def from_record(cls, why: Explanation, reading: Reading) -> ExplanationType:
        return cls(
            turn=DecidedType.from_record(why.turn, reading),
            voice=DecidedType.from_record(why.voice, reading) if why.voice else None,
            local_speaker=strawberry.ID(why.local_speaker),
            label=why.label,
            net_speech=why.net_speech,
            overlapped=why.overlapped,
            snr_db=why.snr_db,
            channel=why.channel,
            learned=why.learned,
            evidence=[VoiceEvidenceType.from_record(e, reading) for e in why.evidence],
            from_enrolment=why.from_enrolment,
            merges=[MergeAppliedType.from_record(m) for m in why.merges],
            suggestions=[SuggestionType.from_record(s, reading) for s in why.suggestions],
            record=why,
            reading=reading,
        )


async def who_is_this(context: Context, page: Page) -> Connection[UnknownVoiceType]:
    reading = await context.reading()
    voices = await reading.read(list_unknown, page=page)
    return connection(voices, lambda v: UnknownVoiceType.from_record(v, reading), lambda: reading.read(count_unknown))


async def explain(context: Context, message_id: str) -> ExplanationType | None:
    """None for what the viewer may not read, and for what does not exist."""
    reading = await context.reading()
    try:
        return ExplanationType.from_record(await reading.read(get_explanation, local_id(message_id, "Message")), reading)
    except NotFound:
        return None


def _person(person: Person | None, reading: Reading) -> PersonType | None:
    return PersonType.from_record(person, reading) if person else None
