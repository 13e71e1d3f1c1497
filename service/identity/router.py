"""Whose turn is this? LINK to somebody known, CREATE somebody new, ASSIGN by its track, or leave UNRESOLVED.

`step` folds batches in spoken order and never looks ahead; `settle` decides, once the session is over, what only the whole
session can tell. Neither sees a transcript. Within a session two tracks are never bound to one person: a second track that
sounds like somebody already bound is left unresolved (`exclusive`), makes nobody new and becomes a Proposal. Turns without a
track (NO_TRACK: boundaries known, nobody's label) are decided each by its own voice and may share a person.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.identity.fold import Fold
from service.identity.rules import NO_TRACK, Floors, RouterConfig, paper_config
from service.identity.settlement import Settlement
from service.identity.state import FoldState, Pending, Proposal
from service.types.people import Decision, TurnEvidence

__all__ = ["NO_TRACK", "Floors", "FoldState", "Pending", "Proposal", "RouterConfig", "paper_config", "settle", "step"]


def step(state: FoldState, turns: Sequence[TurnEvidence], config: RouterConfig) -> tuple[FoldState, tuple[Decision, ...]]:
    """Decide `turns` in order of (start, message_id); one decision each, in that order. Causal and pure.

    Batches must not go back in time. Raises VoiceSpacesDiffer, BadVoiceVector."""
    fold = Fold(state, config)
    decisions = tuple(fold.take(turn) for turn in sorted(turns, key=lambda t: (t.start, t.message_id)))
    return fold.state(), decisions


def settle(state: FoldState, config: RouterConfig) -> tuple[FoldState, tuple[Decision, ...]]:
    """At the session's end: a track bound by now has its earlier turns Assigned; one never bound may Link or Create by its
    pooled voice; turns without a track go to the likeliest person heard in the session.

    Decisions only for turns that changed, in spoken order; the rest stays `pending` in the state and unresolved. Not causal,
    but pure; nothing is learnt. Raises VoiceSpacesDiffer, BadVoiceVector."""
    order = {p.evidence.message_id: (p.evidence.start, p.evidence.message_id) for p in state.pending}
    decided: list[Decision] = []
    decisions: tuple[Decision, ...] | None = None
    while state.pending and decisions != ():  # what one decision tells may decide another; each round leaves fewer
        state, decisions = Settlement(state, config).run()
        decided += decisions
    return state, tuple(sorted(decided, key=lambda d: order[d.message_id]))
