"""Whose turns are these? The fold of one session over the graph: per batch one read, one step, one write."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from service.graph.driver import Graph, Tx
from service.graph.voice_days import renew_voices
from service.graph.write_people import PersonWrite, VoiceWrite
from service.graph.write_sessions import ROUTER, SETTLEMENT, Batch, BatchSaved, NewMessage, RevisionMoved, save_batch
from service.identity.revisions import voice_changes
from service.identity.router import FoldState, RouterConfig, settle, step
from service.pipelines.gallery import Voices
from service.types.audio import EmbeddingSpace
from service.types.people import Decision, PersonVoice, TurnEvidence, Unresolved

Step = Callable[[FoldState], tuple[FoldState, tuple[Decision, ...]]]
Then = Callable[[Tx], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a session is written, and what its fold remembers beyond the graph."""

    next_index: int = 0
    """Index of the first turn not written."""
    settled: bool = False
    """All turns are written and what only the whole session could tell is decided; what is left is closing."""
    fold: FoldState = field(default_factory=FoldState)
    left_out: int = 0
    """Words heard so far that are no message's, less those of the transcript that are; once settled, all words left out."""
    mended: int = 0
    """Once settled: places where the transcript broke its format."""
    merged: bool = False
    """Once settled: fragments are joined and proposals made."""

    def dumps(self) -> str:
        """JSON, the same for the same state."""
        kept = {
            "next_index": self.next_index,
            "settled": self.settled,
            "fold": self.fold.to_checkpoint(),
            "left_out": self.left_out,
            "mended": self.mended,
            "merged": self.merged,
        }
        return json.dumps(kept, sort_keys=True, separators=(",", ":"))

    @classmethod
    def loads(cls, text: str | None) -> Checkpoint:
        if text is None:
            return cls()
        kept = json.loads(text)
        fold = FoldState.from_checkpoint(kept["fold"])
        return cls(kept["next_index"], kept["settled"], fold, kept["left_out"], kept["mended"], kept["merged"])


class Folding:
    """The fold of one open session; `checkpoint` is what the graph has."""

    def __init__(
        self,
        graph: Graph,
        gallery: Voices,
        config: RouterConfig,
        *,
        space: str,
        session_id: str,
        encoder: EmbeddingSpace,
        embedder: str | None,
        checkpoint: str | None,
        held: Then | None = None,
        hidden: bool = False,
    ) -> None:
        """`held`: goes into every transaction that writes the session, and raises where it is another's by now. `hidden`: as
        Batch's."""
        self.held, self._hidden = held, hidden
        self.checkpoint = Checkpoint.loads(checkpoint)
        self.stored = checkpoint
        self.space, self.session_id, self.encoder = space, session_id, encoder
        self._graph, self._gallery, self._embedder = graph, gallery, embedder
        self.config = config
        """May be another while nothing was decided."""

    async def take(self, messages: Sequence[NewMessage], evidence: Sequence[TurnEvidence], *, left_out: int = 0) -> None:
        """Decide and write the next turns, in spoken order. `left_out`: by how many words they change the checkpoint's."""
        await self._fold(
            lambda state: step(state, evidence, self.config),
            ROUTER,
            messages,
            evidence,
            next_index=messages[-1].turn.index + 1,
            left_out=left_out,
        )

    async def note(
        self,
        messages: Sequence[NewMessage],
        decisions: Sequence[Decision],
        *,
        next_index: int | None = None,
        bound: Mapping[str, Decision] | None = None,
        then: Then | None = None,
    ) -> None:
        """Write the next turns with decisions that no voice had a part in; the fold stays as it is.

        `next_index`: where some of `messages` were written before, and stand where they stood. `bound`: local speaker → why it
        is somebody. `then`: what else goes into the transaction."""
        fixed = tuple(decisions)
        following = messages[-1].turn.index + 1 if next_index is None else next_index
        await self._fold(
            lambda state: (state, fixed), ROUTER, messages, (), next_index=following, left_out=0, given=bound or {}, then=then
        )

    async def settle(self, *, left_out: int = 0, mended: int = 0) -> None:
        """Decide what only the whole session tells; no turn comes after."""
        pending = [p.evidence for p in self.checkpoint.fold.pending]
        await self._fold(
            lambda state: settle(state, self.config),
            SETTLEMENT,
            (),
            pending,
            next_index=self.checkpoint.next_index,
            settled=True,
            left_out=left_out,
            mended=mended,
        )

    async def _fold(
        self,
        decide: Step,
        by: str,
        messages: Sequence[NewMessage],
        evidence: Sequence[TurnEvidence],
        *,
        next_index: int,
        settled: bool = False,
        left_out: int,
        mended: int = 0,
        given: Mapping[str, Decision] = MappingProxyType({}),
        then: Then | None = None,
    ) -> None:
        """Until the people are still those the decisions rest on: each time they are not, another writer got on."""
        vectors = [turn.embedding.vector for turn in evidence if turn.embedding is not None]
        while True:
            candidates = await self._gallery(self.space, vectors, near=self.checkpoint.fold.bound.values())
            before = self.checkpoint.fold.with_gallery(
                candidates.voices, candidates.population, candidates.channels, candidates.refusals, candidates.former
            )
            after, decisions = await asyncio.to_thread(decide, before)
            checkpoint = Checkpoint(next_index, settled, after, self.checkpoint.left_out + left_out, mended)
            stored = checkpoint.dumps()
            changed = voice_changes(before, after)
            saved = await self._graph.write(
                _save,
                self.held,
                then,
                Batch(
                    space=self.space,
                    session_id=self.session_id,
                    encoder=self.encoder,
                    embedder=self._embedder,
                    read_revision=candidates.revision,
                    checkpoint_before=self.stored,
                    checkpoint=stored,
                    messages=messages,
                    decisions=decisions,
                    by=by,
                    bound={**_newly_bound(before, after, decisions), **given},
                    people=_counted(before, after),
                    voices=[VoiceWrite(c.voice, c.added, c.evicted) for c in changed],
                    hidden=self._hidden,
                ),
            )
            if isinstance(saved, BatchSaved):
                self.checkpoint, self.stored = checkpoint, stored
                kept = [c.voice for c in changed if c.voice.person_id in saved.kept]
                refused = [c.voice.person_id for c in changed if c.voice.person_id not in saved.kept]
                self._gallery.learnt(self.space, candidates.revision, saved.revision, kept, refused)
                return


async def _save(tx: Tx, held: Then | None, then: Then | None, batch: Batch) -> BatchSaved | RevisionMoved:
    saved = await save_batch(tx, batch)
    if isinstance(saved, BatchSaved):
        if batch.people:
            await renew_voices(tx, batch.space, [person.id for person in batch.people])
        for also in (held, then):
            if also is not None:
                await also(tx)
    return saved


def _newly_bound(before: FoldState, after: FoldState, decisions: Sequence[Decision]) -> dict[str, Decision]:
    """Tracks whose person was decided in this step, each with the first decision for that person."""
    bound: dict[str, Decision] = {}
    for decision in decisions:
        if isinstance(decision, Unresolved) or decision.track in bound:
            continue
        if after.bound.get(decision.track) == decision.person_id != before.bound.get(decision.track):
            bound[decision.track] = decision
    return bound


def _counted(before: FoldState, after: FoldState) -> list[PersonWrite]:
    """Everybody whose voice or counts changed, those too whose voice is only passing."""
    old: Mapping[str, PersonVoice] = before.candidates
    return [
        PersonWrite(person, voice.num_turns, voice.net_speech)
        for person, voice in sorted(after.candidates.items())
        if voice is not old.get(person)
    ]
