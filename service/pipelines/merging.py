"""Who of a finished session is a fragment of somebody known? Read once, decided purely, written in one transaction with its
checkpoint: a run broken off before it merges, one broken off after it does not merge again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from service.graph.channels import list_live_exemplars
from service.graph.driver import Graph, Tx
from service.graph.write_merges import (
    Merged,
    MergeEvidence,
    Merging,
    NewMerge,
    Pair,
    list_at_once,
    read_merge_evidence,
    save_merging,
)
from service.graph.write_sessions import RevisionMoved
from service.identity.channels import channel_means
from service.identity.merging import Joined, MergeConfig, MergeResult, SessionEvidence, confirmations, merges
from service.identity.rules import RouterConfig
from service.pipelines.channel_means import MAX_PEOPLE, means_of, remake_channel_means
from service.pipelines.folding import Folding
from service.pipelines.gallery import Candidates, Voices
from service.types.audio import EmbeddingSpace
from service.types.people import ChannelMean, SpaceSettings, VoiceAccess


@dataclass(frozen=True, slots=True)
class _Known:
    candidates: Candidates
    evidence: MergeEvidence
    channels: Mapping[str, ChannelMean]
    """as the exemplars make them now"""


async def merge_session(
    graph: Graph,
    gallery: Voices,
    folding: Folding,
    settings: SpaceSettings,
    router: RouterConfig,
    config: MergeConfig | None = None,
) -> Merged | None:
    """Join fragments, propose what is less sure and make the channel means anew, once for the settled session of `folding`;
    None if that was done before. Begins again when people changed in between. `router`: whose policy and thresholds hold.

    Raises SessionBusy."""
    if folding.checkpoint.merged:
        return None
    config = replace(
        config or MergeConfig(),
        policy=router.policy,
        thresholds=router.thresholds,
        confirm=settings.voice_access is VoiceAccess.OPEN,
    )
    session = SessionEvidence.of(folding.checkpoint.fold)
    while True:
        known = await _read(graph, gallery, folding, session, config.confirm)
        fold = folding.checkpoint.fold.obeying(known.candidates.refusals)  # who refused meanwhile is not written down again
        session, after = SessionEvidence.of(fold), replace(folding.checkpoint, fold=fold, merged=True)
        result, confirmed = await _decided(graph, settings.id, known, session, config, router.floors.simultaneous)
        merging = Merging(
            space=settings.id,
            session_id=folding.session_id,
            encoder=folding.encoder,
            read_revision=known.candidates.revision,
            checkpoint_before=folding.stored,
            checkpoint=after.dumps(),
            people=session.people,
            merges=[NewMerge(m.person_id, m.into, m.cosine, (m.person_id, m.into) in confirmed) for m in result.merges],
            confirmations={edge: correction for edge, correction in known.evidence.unconfirmed.items() if edge in confirmed},
            proposals=result.proposals,
            channels=known.channels,
        )
        saved = await graph.write(_save, merging)
        if isinstance(saved, Merged):
            folding.checkpoint, folding.stored = after, merging.checkpoint
            return saved


async def _save(tx: Tx, merging: Merging) -> Merged | RevisionMoved:
    saved = await save_merging(tx, merging)
    if isinstance(saved, Merged) and saved.exemplars_lost:
        await remake_channel_means(tx, merging.space)
    return saved


async def _read(graph: Graph, gallery: Voices, folding: Folding, session: SessionEvidence, confirm: bool) -> _Known:
    """In a space too large to hold, the candidates are those near a voice heard in the session."""
    space, people = folding.space, sorted(session.people)
    candidates = await gallery(space, [], near=people)
    if candidates.population:
        heard = [e.vector for p in people if p in candidates.voices for e in candidates.voices[p].exemplars]
        pending = [t.embedding.vector for t in session.unresolved if t.embedding is not None]
        candidates = await gallery(space, [*heard, *pending], near=people)
    evidence = await graph.read(read_merge_evidence, space, people, confirm=confirm)
    return _Known(candidates, evidence, await _channels(graph, space, folding.encoder, candidates))


async def _channels(graph: Graph, space: str, encoder: EmbeddingSpace, candidates: Candidates) -> Mapping[str, ChannelMean]:
    if not candidates.population:
        return await asyncio.to_thread(means_of, candidates.voices)
    return channel_means(await graph.read(list_live_exemplars, space, encoder, MAX_PEOPLE))


async def _decided(
    graph: Graph, space: str, known: _Known, session: SessionEvidence, config: MergeConfig, seconds: float
) -> tuple[MergeResult, Sequence[Joined]]:
    """What to join, and which of those joined now or earlier to confirm. Until no two who were ever heard at once would be:
    only of those that would be, it is looked up."""
    evidence, apart = known.evidence, set[Pair](known.evidence.apart)
    voices = known.candidates.voices
    while True:
        about: dict[str, Any] = {
            "apart": frozenset(apart),
            "settled": evidence.settled,
            "channels": known.candidates.channels,
            "population": known.candidates.population,
        }
        result = await asyncio.to_thread(merges, voices, session, evidence.not_same, config, **about)
        joined = [*sorted(evidence.unconfirmed), *((m.person_id, m.into) for m in result.merges)]
        about |= {"sessions": evidence.sessions, "confirmed_as": evidence.confirmed_as}
        confirmed = await asyncio.to_thread(confirmations, voices, session, joined, evidence.not_same, config, **about)
        pairs = [*_joined(known.candidates, result), *_confirmed(evidence, confirmed)]
        at_once = await graph.read(list_at_once, space, pairs, seconds=seconds) - apart
        if not at_once:
            return result, confirmed
        apart |= at_once


def _confirmed(evidence: MergeEvidence, confirmed: Sequence[Joined]) -> list[tuple[str, str]]:
    """Every pair of people that the confirmations let read as one."""
    ends = evidence.confirmed_as
    of: dict[str, set[str]] = {}
    for person, end in ends.items():
        of.setdefault(end, set()).add(person)
    sides = [[{end, *of.get(end, ())} for end in (ends.get(person, person) for person in edge)] for edge in confirmed]
    return [(one, other) for fragment, whole in sides for one in sorted(fragment) for other in sorted(whole)]


def _joined(candidates: Candidates, result: MergeResult) -> list[tuple[str, str]]:
    """Every pair of members that the merges make one, the fragment's first."""
    sets: dict[str, set[str]] = {}
    for person, voice in candidates.voices.items():
        sets.setdefault(voice.same_as or person, {voice.same_as or person}).add(person)
    pairs = []
    for merge in result.merges:
        gone, into = sets.pop(merge.person_id, {merge.person_id}), sets.setdefault(merge.into, {merge.into})
        pairs += [(one, other) for one in sorted(gone) for other in sorted(into)]
        into |= gone
    return pairs
