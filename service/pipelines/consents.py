"""What follows when somebody says something about being known, heard or read? One transaction: it is written, obeyed, and
whoever refuses leaves the marks by which they are known again, whoever turns out to be them, too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from service.graph.driver import Graph, Tx
from service.graph.merges import list_merges
from service.graph.opt_outs import forget_opt_out, list_logins_of, save_account_marks, save_voice_marks
from service.graph.refusals import list_refused
from service.graph.spaces import bump_revision, lock_space
from service.graph.write_consents import find_state, list_encoders, list_one_voice, save_consent
from service.graph.write_corrections import Corrected, merge_people
from service.graph.write_reassignments import list_exemplars_of_people
from service.identity.consent import REFUSED
from service.identity.opt_outs import Marker
from service.identity.policies import recomputed
from service.pipelines.channel_means import remake_channel_means
from service.types.audio import EmbeddingSpace
from service.types.consents import VoiceMark
from service.types.ids import fresh
from service.types.people import Consent, ConsentPurpose, Exemplar, OptOuts, PersonVoice, SpaceSettings

OF_VOICES = frozenset({ConsentPurpose.REMEMBER_VOICE, ConsentPurpose.ATTRIBUTE})

Marks = list[tuple[EmbeddingSpace, tuple[VoiceMark, ...]]]
Kept = list[tuple[EmbeddingSpace, list[Exemplar]]]


async def record_consent(
    graph: Graph,
    *,
    space: str,
    person_id: str,
    state: Consent,
    text_version: str,
    channel: str,
    at: datetime | None = None,
    purpose: str = ConsentPurpose.REMEMBER_VOICE,
    evidence: str | None = None,
    recorded_by: str | None = None,
    marker: Callable[[], Marker] | None = None,
) -> str:
    """Id of the Consent. Withdrawn or opted out, the voice is gone when this returns, also from the means of the channels it
    was heard on; of INFER_PERSONA, what was inferred; of KEEP_AUDIO every sound. `at`: when they said it, now unless told; the
    newest of a purpose holds, which need not be this one (find_state tells). `marker`: makes the marks of who refuses to be
    known, and its key when there is none; None leaves no marks.

    Raises NotFound, InvalidInput (a time to come), KeyFileUnusable."""
    of_voice = ConsentPurpose(purpose) in OF_VOICES
    leaves = await asyncio.to_thread(marker) if marker is not None and of_voice and state in REFUSED else None

    async def save(tx: Tx) -> str:
        settings = await lock_space(tx, space)
        marks = await _marks(tx, settings, person_id, leaves) if leaves is not None else []
        consent_id = await save_consent(
            tx,
            space,
            person_id,
            state,
            text_version=text_version,
            channel=channel,
            at=at,
            purpose=purpose,
            evidence=evidence,
            recorded_by=recorded_by,
        )
        if of_voice and await find_state(tx, space, person_id, purpose) in REFUSED:
            for encoder, made in marks:
                await save_voice_marks(tx, space, person_id, encoder, made)
            if leaves is not None:
                logins = [leaves.account(space, *login) for login in await list_logins_of(tx, space, [person_id])]
                await save_account_marks(tx, space, person_id, logins, leaves.id)
            await remake_channel_means(tx, space)
        return consent_id

    return await graph.write(save)


async def merge_obeying(
    tx: Tx, space: str, person: str, into: str, marker: Marker | None, *, actor: str, why: str, confirmed: bool
) -> Corrected:
    """As merge_people. Where one of the two, or of who is one with them, refused to be known, the voice that goes leaves the
    marks that it would have left if they had been one when they refused; undoing the merge takes these away."""
    settings = await lock_space(tx, space)
    sets, correction = await list_merges(tx, space, [person, into]), fresh()
    both = sorted(sets.members(person) | sets.members(into))
    refused = await list_refused(tx, space, both, sorted(OF_VOICES))
    kept = await _kept(tx, settings, both) if refused and marker is not None else []
    done = await merge_people(tx, space, person, into, actor=actor, why=why, confirmed=confirmed, correction_id=correction)
    if not done.exemplars_lost:
        return done
    gone = frozenset(done.exemplars_lost)
    lost = [(encoder, [one for one in exemplars if one.id in gone]) for encoder, exemplars in kept]
    for encoder, made in _marked(settings, lost, marker) if marker is not None else ():
        for one in refused:
            await save_voice_marks(tx, space, one, encoder, made, correction=correction)
    await remake_channel_means(tx, space)
    return done


async def _marks(tx: Tx, settings: SpaceSettings, person_id: str, marker: Marker) -> Marks:
    """Of the voice that is about to go, in each embedding space that it is kept in."""
    return _marked(settings, await _kept(tx, settings, await list_one_voice(tx, settings.id, person_id)), marker)


async def _kept(tx: Tx, settings: SpaceSettings, people: Sequence[str]) -> Kept:
    """Nothing in a space that wants no marks of voices."""
    if settings.opt_outs is not OptOuts.VOICE:
        return []
    found: Kept = []
    for encoder in await list_encoders(tx, settings.id, people):
        voices = await list_exemplars_of_people(tx, settings.id, encoder, people)
        found.append((encoder, [exemplar for kept in voices.values() for exemplar in kept]))
    return found


def _marked(settings: SpaceSettings, kept: Kept, marker: Marker) -> Marks:
    found: Marks = []
    for encoder, exemplars in kept:
        if exemplars:
            voice = PersonVoice(exemplars[0].id, encoder, exemplars[0].vector, tuple(exemplars))
            found.append((encoder, marker.marks(recomputed(voice, settings.routing), settings.routing)))
    return found


async def remove_opt_out(graph: Graph, space: str, id: str) -> bool:
    """Nobody is known again by this mark any more; whether it was there."""

    async def remove(tx: Tx) -> bool:
        await lock_space(tx, space)
        gone = await forget_opt_out(tx, space, id)
        if gone:
            await bump_revision(tx, space)
        return gone

    return await graph.write(remove)
