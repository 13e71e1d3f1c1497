"""What changed in people's voices, and which turns must be stepped again because people changed meanwhile?

A batch is read, folded and written. If the space's identity_revision moved in between, the write is refused and nothing of
it is kept: the caller reads the gallery again and steps the *whole batch* from the state before it. That is exact and
cheap (a batch is one read and at most a second of live speech); stepping only some turns is not exact, because each
decision changes the gallery, the bindings and the thresholds that the next one sees.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from service.identity.state import FoldState
from service.types.people import Exemplar, PersonVoice


@dataclass(frozen=True, slots=True)
class VoiceChange:
    """What a batch did to one person's voice: what the graph has to write."""

    voice: PersonVoice
    added: tuple[Exemplar, ...]
    evicted: tuple[str, ...]
    """ids of exemplars that no longer stand for the person"""
    created: bool


def voice_changes(before: FoldState, after: FoldState) -> tuple[VoiceChange, ...]:
    """People of `after.gallery` that differ from `before`, by id. Passing voices are not among them: they are not written."""
    changes = []
    for person_id in sorted(after.gallery):
        voice, old = after.gallery[person_id], before.gallery.get(person_id)
        if voice is old:
            continue
        had, has = {e.id for e in old.exemplars} if old else set(), {e.id for e in voice.exemplars}
        added = tuple(e for e in voice.exemplars if e.id not in had)
        changes.append(VoiceChange(voice, added, tuple(sorted(had - has)), old is None))
    return tuple(changes)


def follow(state: FoldState, merged: Mapping[str, str], gone: Collection[str] = ()) -> FoldState:
    """`state` after people were merged (from → into) or erased while its session was open: bindings follow the merge, and a
    track of somebody erased is free again. Two tracks that a *human* merged into one person may share it from now on."""

    def now(person_id: str) -> str:
        while person_id in merged:
            person_id = merged[person_id]
        return person_id

    heard: dict[str, int] = {}
    for person_id, turns in state.heard.items():
        if now(person_id) not in gone:
            heard[now(person_id)] = heard.get(now(person_id), 0) + turns
    return replace(
        state,
        bound={track: now(p) for track, p in state.bound.items() if now(p) not in gone},
        heard=heard,
        recent=tuple(replace(s, person_id=now(s.person_id)) for s in state.recent if now(s.person_id) not in gone),
        proposals={
            t: replace(p, person_id=now(p.person_id)) for t, p in state.proposals.items() if now(p.person_id) not in gone
        },
        passing={p: v for p, v in state.passing.items() if p not in merged and p not in gone},
    )
