"""What changed in people's voices, and which turns must be stepped again because people changed meanwhile?

A batch is read, folded and written. If the space's identity_revision moved in between, the write is refused and nothing of
it is kept: the caller reads the gallery again and steps the *whole batch* from the state before it. That is exact and
cheap (a batch is one read and at most a second of live speech); stepping only some turns is not exact, because each
decision changes the gallery, the bindings and the thresholds that the next one sees. An open session keeps naming the people
it bound: whom they are merged into meanwhile comes with the gallery (PersonVoice.same_as), and goes again with the merge.
"""

from __future__ import annotations

from dataclasses import dataclass

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
