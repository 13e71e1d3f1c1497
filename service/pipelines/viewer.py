"""Who is asking, and who hears the answer? From a token, a voice, or both, to a Viewer, or to a refusal that says why.

A voice never opens more than the space lets it: with `narrow` (default) it only takes away from what the token may see,
with `open` it may stand alone, with `never` it is not looked at. Nothing said here is believed for what it would widen:
acting for somebody needs a recorded grant that holds now, and whoever else is named as hearing the answer can only narrow it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from service.errors import InvalidInput
from service.graph.access import list_known_people, read_scope
from service.graph.driver import Graph, Tx
from service.graph.grants import list_leave
from service.graph.people import list_known
from service.graph.spaces import find_space
from service.identity.ask import AskConfig, verify
from service.identity.thresholds import Thresholds
from service.pipelines.gallery import Candidates
from service.types.audio import Samples, SpeakerEmbedding
from service.types.people import (
    Assurance,
    Principal,
    SpaceSettings,
    Viewer,
    VoiceAccess,
    VoiceOutcome,
    VoiceVerdict,
)

MAX_HEARERS = 32
"""People named as hearing one answer; a larger audience is better served by what is public."""


class Refusal(StrEnum):
    VOICE_NOT_USED_HERE = "voice_not_used_here"
    VOICE_ALONE_NOT_ALLOWED = "voice_alone_not_allowed"
    VOICE_NOT_ENROLLED = "voice_not_enrolled"
    VOICE_NOT_RECOGNISED = "voice_not_recognised"
    VOICE_INCONCLUSIVE = "voice_inconclusive"
    VOICE_OPTED_OUT = "voice_opted_out"
    VOICE_CONTRADICTS = "voice_contradicts"
    MAY_NOT_ACT_FOR = "may_not_act_for"


_SAYS = {
    Refusal.VOICE_NOT_USED_HERE: "This space does not look at voices (voice_access: never). Ask with a token alone.",
    Refusal.VOICE_ALONE_NOT_ALLOWED: "A voice alone opens nothing in this space (voice_access: {access}). Ask with a token.",
    Refusal.VOICE_NOT_ENROLLED: "Nobody's voice is known in this space. Enrol it first, or ask with a token.",
    Refusal.VOICE_NOT_RECOGNISED: "The voice is nobody's who is known here. Enrol it first, or ask with a token.",
    Refusal.VOICE_INCONCLUSIVE: "The voice was not recognised for certain: {detail}. Say a longer sentence, or use a token.",
    Refusal.VOICE_OPTED_OUT: "This person does not want to be recognised by voice. Ask with a token alone.",
    Refusal.VOICE_CONTRADICTS: "The voice is not that of the person asked for.",
    Refusal.MAY_NOT_ACT_FOR: "This token may not ask for that person. Ask for yourself, or get their leave.",
}
_OF_VERDICT = {
    VoiceOutcome.INCONCLUSIVE: Refusal.VOICE_INCONCLUSIVE,
    VoiceOutcome.REJECT: Refusal.VOICE_NOT_RECOGNISED,
    VoiceOutcome.NOT_ENROLLED: Refusal.VOICE_NOT_ENROLLED,
    VoiceOutcome.OPTED_OUT: Refusal.VOICE_OPTED_OUT,
}


@dataclass(frozen=True, slots=True)
class HeardVoice:
    """A voice as it was heard with the question."""

    embeddings: tuple[SpeakerEmbedding, ...]
    """At least one, in one embedding space."""
    net_speech: float
    """Seconds of speech behind it."""
    channel: str = "wideband"
    spoof: float | None = None
    """Of a SpoofScorer: 0, spoken here and now, to 1, played or made by a machine; None: nobody looked."""


@dataclass(frozen=True, slots=True)
class ViewerRefused:
    code: Refusal
    reason: str
    """For the one who asked."""
    verdict: VoiceVerdict | None = None
    """What the voice came to, where one was looked at."""


Gallery = Callable[[str, Sequence[Samples]], Awaitable[Candidates]]
"""A space, and the voices asked about → whom they may be: a GalleryReader."""


async def resolve_viewer(
    graph: Graph,
    gallery: Gallery,
    *,
    space: str,
    thresholds: Callable[[], Awaitable[Thresholds]],
    principal: Principal | None = None,
    voice: HeardVoice | None = None,
    as_person: str | None = None,
    heard_by: Sequence[str] = (),
    heard_by_voices: Sequence[HeardVoice] = (),
) -> Viewer | ViewerRefused:
    """The viewer, the asker first among its hearers. Without token and voice it is a stranger, who sees what is public.

    A hearer who is not known here, and a voice among the hearers that is not recognised for certain, leave only what is
    public. A space that nothing was written to yet has the policies it will be made with. `thresholds`: of the encoder that
    embedded the voices; asked for only when there are any. Raises InvalidInput for more than MAX_HEARERS hearers."""
    if len(heard_by) + len(heard_by_voices) > MAX_HEARERS:
        raise InvalidInput(
            what="the number of hearers", given=len(heard_by) + len(heard_by_voices), needed=f"at most {MAX_HEARERS}"
        )
    looked_at = voice is not None or bool(heard_by_voices)  # its policies are about voices; a token alone needs none of them
    made = await graph.read(find_space, space) if looked_at else None
    settings = made or SpaceSettings(space)
    verdict: VoiceVerdict | None = None
    known = Candidates(settings.identity_revision, {}, 0)
    if voice is not None and (refused := _voice_unwanted(settings, principal)):
        return refused
    if made and (voice is not None or heard_by_voices) and settings.voice_access is not VoiceAccess.NEVER:
        spoken = ([voice] if voice else []) + list(heard_by_voices)
        known = await gallery(space, [embedding.vector for one in spoken for embedding in one.embeddings])
    if voice is not None:
        verdict = _verdict(voice, known, settings, await thresholds())
        if verdict.person_id is None:
            return _refuse(_OF_VERDICT[verdict.outcome], verdict, detail=verdict.reason)
    said = [id for id in (as_person, *heard_by) if id]
    others = principal if _asks_for_others(principal, as_person, verdict) else None
    people, leave = await graph.read(_known_and_let, space, said, others) if said or others else (frozenset[str](), {})
    if principal is not None:
        principal = replace(principal, may_act_for=frozenset(leave))
    askers = _askers(principal, as_person if as_person in people else None, as_person is not None, verdict)
    if isinstance(askers, ViewerRefused):
        return askers
    heard = [_verdict(one, known, settings, await thresholds()).person_id for one in heard_by_voices]
    hearers = (*askers, *heard_by, *(id for id in heard if id is not None))
    all_of_it = principal is not None and "read_all" in principal.scopes
    unknown = any(id not in people for id in heard_by) or None in heard or not (askers or all_of_it)
    return Viewer(
        space=space,
        principal=principal,
        asker=askers[0] if askers else None,
        hearers=tuple(dict.fromkeys(hearers)),
        unknown_hearer=unknown,
        assurance=_assurance(principal, verdict),
        reads_all=all_of_it and not hearers and not unknown,
        grants=leave.get(askers[0], ()) if askers else (),
    )


async def with_leave(graph: Graph, space: str, principal: Principal) -> Principal:
    """With whom it may ask for now, by the grants that are recorded."""
    return replace(
        principal, may_act_for=frozenset(await graph.read(list_leave, space, principal.account_id, datetime.now(UTC)))
    )


async def _known_and_let(
    tx: Tx, space: str, said: Sequence[str], principal: Principal | None
) -> tuple[frozenset[str], dict[str, tuple[str, ...]]]:
    """Those of `said` who are known here; whom the principal may ask for → by which grants."""
    people = await list_known_people(tx, space, said) if said else frozenset[str]()
    return people, await list_leave(tx, space, principal.account_id, datetime.now(UTC)) if principal else {}


def _asks_for_others(principal: Principal | None, as_person: str | None, verdict: VoiceVerdict | None) -> bool:
    """Whether it takes leave: who is named or heard is not the token's own person, nor does it read everything anyway."""
    if principal is None or "read_all" in principal.scopes:
        return False
    named = {id for id in (as_person, verdict.person_id if verdict else None) if id}
    return bool(named - {principal.person_id})


def _verdict(voice: HeardVoice, known: Candidates, settings: SpaceSettings, thresholds: Thresholds) -> VoiceVerdict:
    """By the policy that learnt the space's voices."""
    config = AskConfig(policy=settings.routing, thresholds=thresholds)
    return verify(
        voice.embeddings,
        voice.net_speech,
        known.voices,
        config,
        channel=voice.channel,
        population=known.population,
        channels=known.channels,
        spoof=voice.spoof,
    )


def _voice_unwanted(settings: SpaceSettings, principal: Principal | None) -> ViewerRefused | None:
    """Said before the voice is compared with anybody's: who may not use it must not learn whose it is."""
    if settings.voice_access is VoiceAccess.NEVER:
        return _refuse(Refusal.VOICE_NOT_USED_HERE)
    if principal is None and settings.voice_access is not VoiceAccess.OPEN:
        return _refuse(Refusal.VOICE_ALONE_NOT_ALLOWED, access=settings.voice_access.value)
    return None


def _askers(
    principal: Principal | None, as_person: str | None, acting: bool, verdict: VoiceVerdict | None
) -> tuple[str, ...] | ViewerRefused:
    """Whose eyes the question is seen with, the asker first: one person, or (a voice at somebody else's token) two."""
    spoke = verdict.person_id if verdict else None
    if principal is None:
        if acting:
            return _refuse(Refusal.MAY_NOT_ACT_FOR, verdict)
        return (spoke,) if spoke else ()
    leave = "read_all" in principal.scopes  # who may read everything may ask with narrower eyes
    if acting:
        if as_person is None or not (leave or as_person == principal.person_id or as_person in principal.may_act_for):
            return _refuse(Refusal.MAY_NOT_ACT_FOR, verdict)
        if spoke and spoke != as_person:
            return _refuse(Refusal.VOICE_CONTRADICTS, verdict)
        return (as_person,)
    if spoke is None:
        return (principal.person_id,) if principal.person_id else ()
    if leave or spoke == principal.person_id or spoke in principal.may_act_for:
        return (spoke,)
    if principal.person_id:
        return (spoke, principal.person_id)
    return _refuse(Refusal.MAY_NOT_ACT_FOR, verdict)


def _assurance(principal: Principal | None, verdict: VoiceVerdict | None) -> Assurance:
    if principal is None:
        return Assurance.VOICE if verdict else Assurance.NONE
    return Assurance.TOKEN_AND_VOICE if verdict else Assurance.TOKEN


def _refuse(code: Refusal, verdict: VoiceVerdict | None = None, **facts: str) -> ViewerRefused:
    return ViewerRefused(code, _SAYS[code].format(**facts), verdict)


async def known_hearers(graph: Graph, viewer: Viewer) -> frozenset[str]:
    """Those of the hearers whom who asks knows of, themselves included: by what they may see alone. Of anybody else it is not
    told whether they exist: who names an id, or plays a voice, would learn it."""
    alone = replace(
        viewer,
        hearers=(viewer.asker,) if viewer.asker else (),
        unknown_hearer=False,
        reads_all=viewer.asker is None and viewer.principal is not None and "read_all" in viewer.principal.scopes,
    )
    return await graph.read(_known, alone, viewer.hearers) | ({viewer.asker} if viewer.asker else frozenset())


async def _known(tx: Tx, alone: Viewer, ids: Sequence[str]) -> frozenset[str]:
    return await list_known(tx, await read_scope(tx, alone), ids)
