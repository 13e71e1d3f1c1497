"""What of a person's turns may be somebody else's? Their turns by voice of a session and stretch of time, least alike first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.graph.access import ReadScope
from service.graph.driver import Graph
from service.graph.split_preview import TurnOfPerson, list_turns_of_person
from service.types.audio import Samples
from service.types.people import Exemplar


@dataclass(frozen=True, slots=True)
class SplitPreviewConfig:
    max_gap: float = 600.0  # seconds of silence; after ten minutes a diariser's voice is easily another person's


@dataclass(frozen=True, slots=True)
class Part:
    """Turns that probably go together: name them to Correct.split by `message_ids`, or a whole voice by `local_speaker`."""

    session_id: str
    local_speaker: str
    label: str | None
    message_ids: tuple[str, ...]
    """As far as the viewer may read them, in the order they were said."""
    start: float
    end: float
    """seconds from the start of the session"""
    net_speech: float
    cosine: float | None
    """Of the mean of this part's kept exemplars with the mean of the person's others, [-1, 1]; None without either."""
    num_exemplars: int


async def preview_split(
    graph: Graph, scope: ReadScope, person_id: str, config: SplitPreviewConfig | None = None
) -> tuple[Part, ...]:
    """Parts of what is put down to the person (and to everybody merged with them), the least alike first, those that cannot
    be compared last. Raises NotFound, also for somebody of whom the scope holds no turn."""
    turns, exemplars = await graph.read(list_turns_of_person, scope, person_id)
    parts = [_part(stretch, exemplars) for stretch in _stretches(turns, (config or SplitPreviewConfig()).max_gap)]
    return tuple(sorted(parts, key=lambda p: (p.cosine is None, p.cosine or 0.0)))


def _stretches(turns: Sequence[TurnOfPerson], max_gap: float) -> list[list[TurnOfPerson]]:
    """By session and voice, cut where nothing was said for long."""
    stretches: list[list[TurnOfPerson]] = []
    latest: dict[str, list[TurnOfPerson]] = {}
    for turn in turns:
        current = latest.get(turn.local_speaker)
        if current is None or turn.segment.start - current[-1].segment.end > max_gap:
            current = latest[turn.local_speaker] = []
            stretches.append(current)
        current.append(turn)
    return stretches


def _part(turns: Sequence[TurnOfPerson], exemplars: Sequence[Exemplar]) -> Part:
    ids = tuple(turn.message_id for turn in turns)
    own = [e.vector for e in exemplars if e.message_id in ids]
    others = [e.vector for e in exemplars if e.message_id not in ids]
    return Part(
        turns[0].session_id,
        turns[0].local_speaker,
        turns[0].label,
        ids,
        turns[0].segment.start,
        turns[-1].segment.end,
        sum(turn.net_speech for turn in turns),
        _cosine(own, others),
        len(own),
    )


def _cosine(own: Sequence[Samples], others: Sequence[Samples]) -> float | None:
    if not own or not others:
        return None
    one, other = np.sum(own, axis=0), np.sum(others, axis=0)
    return float(np.clip(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)), -1.0, 1.0))
