"""Whose are the pieces of voice of turns that change hands? Moved as consent allows, with everything that is made of exemplars
made anew: centroids, voiceprints, channel means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from graph_schema.schema import VOICE_SPACES
from service.graph.channels import list_channels, list_live_exemplars, save_channels
from service.graph.driver import Tx
from service.graph.voice_days import settle_voice_days
from service.graph.write_consents import forget_voiceprints
from service.graph.write_people import VoiceWrite, save_voices
from service.graph.write_reassignments import (
    ExemplarHeld,
    ExemplarMove,
    TurnHeld,
    list_exemplars_held,
    list_exemplars_of_people,
    list_voice_consents,
    move_exemplars,
)
from service.identity.channels import channel_means
from service.identity.consent import Keep, may_keep
from service.identity.policies import recomputed
from service.pipelines.channel_means import MAX_PEOPLE
from service.types.audio import EmbeddingSpace
from service.types.people import ChannelMean, Consent, PersonVoice, SpaceSettings


@dataclass(frozen=True, slots=True)
class ExemplarMoves:
    """Pieces of voice to move, and those that may not be kept."""

    moves: tuple[ExemplarMove, ...]
    gone: tuple[str, ...]
    encoders: frozenset[EmbeddingSpace]
    people: frozenset[str]
    """Whose voices change."""
    record: Sequence[Mapping[str, Any]] = ()

    async def save(self, tx: Tx, settings: SpaceSettings) -> None:
        """And make anew what rests on them. Channel means that were behind the exemplars already stay so, for the next session
        to make anew: an undo could not tell what they had been."""
        encoders = sorted(self.encoders, key=lambda e: (e.name, e.version))
        fresh = [encoder for encoder in encoders if await _is_fresh(tx, settings.id, encoder)]
        await move_exemplars(tx, settings.id, self.moves, self.gone)
        if settings.voice_days is not None:
            await settle_voice_days(tx, settings.id, sorted(self.people | {move.owner for move in self.moves}))
        for encoder in encoders:
            live = await list_exemplars_of_people(tx, settings.id, encoder, sorted(self.people))
            voices = [PersonVoice(p, encoder, exemplars[0].vector, exemplars) for p, exemplars in sorted(live.items())]
            await save_voices(tx, settings.id, encoder, [VoiceWrite(recomputed(v, settings.routing)) for v in voices])
        if self.encoders:
            await forget_voiceprints(tx, settings.id, sorted(self.people))
        for encoder in fresh:
            await save_channels(tx, settings.id, encoder, await _channel_means(tx, settings.id, encoder))


async def _channel_means(tx: Tx, space: str, encoder: EmbeddingSpace) -> dict[str, ChannelMean]:
    return channel_means(await list_live_exemplars(tx, space, encoder, MAX_PEOPLE))


async def _is_fresh(tx: Tx, space: str, encoder: EmbeddingSpace) -> bool:
    """Whether the space's channel means are what its exemplars make."""
    kept, made = await list_channels(tx, space, encoder), await _channel_means(tx, space, encoder)
    return kept.keys() == made.keys() and all(_same(kept[tag], made[tag]) for tag in made)


def _same(one: ChannelMean, other: ChannelMean) -> bool:
    counted = one.num_utterances == other.num_utterances and one.num_people == other.num_people
    return counted and np.allclose(one.vector, other.vector, rtol=0.0, atol=1e-6)


def encoder_of(exemplar: ExemplarHeld) -> EmbeddingSpace:
    return EmbeddingSpace(exemplar.encoder, exemplar.encoder_version, VOICE_SPACES[exemplar.encoder])


def expiry(consent: Consent, settings: SpaceSettings, before: datetime | None, now: datetime) -> datetime | None:
    """Until when a voice in this consent state may be kept that had to be gone at `before`: asked or not, never later than
    that while nobody has agreed. Of who agreed, settle_voice_days says it."""
    match may_keep(consent, settings):
        case Keep(expires_after_days=days) if consent is Consent.UNKNOWN:
            return before or (None if days is None else now + timedelta(days=days))
        case _:
            return None


async def exemplar_moves(
    tx: Tx, settings: SpaceSettings, turns: Sequence[TurnHeld], to: str | None, now: datetime
) -> ExemplarMoves:
    """To whom the turns go; a voice that is nobody's stays with its track, on the terms of those never asked."""
    by_message = {turn.message_id: turn for turn in turns}
    held = await list_exemplars_held(tx, settings.id, list(by_message))
    consent = Consent.UNKNOWN
    if to is not None:
        consent = (await list_voice_consents(tx, settings.id, [to]))[to]
    kept = isinstance(may_keep(consent, settings), Keep)
    moves, gone, record = [], [], []
    for exemplar in held:
        owner = to or by_message[exemplar.message_id].track
        if kept:
            expires_at = expiry(consent, settings, exemplar.expires_at, now)
            moves.append(ExemplarMove(exemplar.id, owner, consent, expires_at))
        else:
            gone.append(exemplar.id)
        record.append(
            {
                "id": exemplar.id,
                "owner": exemplar.owner,
                "of_person": exemplar.owner != by_message[exemplar.message_id].track,
                "consent": exemplar.consent,
                "expires_at": exemplar.expires_at.isoformat() if exemplar.expires_at else None,
                "now": owner if kept else None,
            }
        )
    owners = {exemplar.owner for exemplar in held} - {turn.track for turn in turns}
    people = frozenset(owners | ({to} if to else set()))
    return ExemplarMoves(tuple(moves), tuple(gone), frozenset(map(encoder_of, held)), people, record)
