"""How do the searches of a round, and the rounds of a question, become one ranking?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from service.retrieval.ranking import Candidate
from service.types.search import Found, Ranking, Tool


@dataclass(frozen=True, slots=True)
class RoundsConfig:
    edges: float = 2.0  # added to the log odds of what the edges confirm: seven times as likely


@dataclass(frozen=True, slots=True)
class Gathered:
    """What the rounds so far have found."""

    candidates: tuple[Candidate, ...] = ()
    """Best first, no id twice."""
    since: Mapping[str, int] | None = None
    """Id → the round that first found it, from 1."""

    def and_then(self, number: int, found: Sequence[Candidate], *, same_question: bool) -> Gathered:
        """With a further round. One for the same question knows more of what it ranks, so its scores stand; of two
        questions the better score stands."""
        best = {candidate.id: candidate for candidate in self.candidates}
        for candidate in found:
            before = best.get(candidate.id)
            if before is None:
                best[candidate.id] = candidate
            else:
                stands = candidate if same_question or candidate.score > before.score else before
                best[candidate.id] = replace(stands, found=_together(before.found, candidate.found))
        since = {candidate.id: number for candidate in found} | dict(self.since or {})
        return Gathered(_ordered(best.values()), since)


def with_edges(
    wide: Sequence[Candidate], confirmed: Sequence[Candidate], config: RoundsConfig = RoundsConfig()
) -> tuple[Candidate, ...]:
    """One ranking of a round: `confirmed` is what the edges let through, which gains over what only words and meaning find.
    Not a filter: to whom something was said is often only inferred."""
    best = {candidate.id: candidate for candidate in wide}
    for rank, candidate in enumerate(confirmed, start=1):
        score = max(candidate.score, best[candidate.id].score) if candidate.id in best else candidate.score
        found = _together((*candidate.found, Found(Tool.PEOPLE, rank, 1.0)), ())
        because = (("edges", config.edges), *candidate.because)
        best[candidate.id] = Candidate(candidate.id, raised(score, config.edges), found, because)
    return _ordered(best.values())


def by_edges_alone(listed: Ranking) -> tuple[Candidate, ...]:
    """`listed` as it stands, for a question without words of what was said; scores say only the order, in [0.5, 1]."""
    return tuple(
        Candidate(ranked.id, 1 - (rank - 1) / (2 * len(listed)), (Found(Tool.PEOPLE, rank, ranked.score),))
        for rank, ranked in enumerate(listed, start=1)
    )


def raised(score: float, by: float) -> float:
    """`score` as a probability, with `by` added to its log odds."""
    clipped = min(1 - 1e-9, max(1e-9, score))
    return 1 / (1 + math.exp(-(math.log(clipped / (1 - clipped)) + by)))


def _ordered(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple(sorted(candidates, key=lambda candidate: (-candidate.score, candidate.id)))


def _together(first: Sequence[Found], second: Sequence[Found]) -> tuple[Found, ...]:
    """Each tool once, with the better rank."""
    best: dict[Tool, Found] = {}
    for found in (*first, *second):
        if found.tool not in best or found.rank < best[found.tool].rank:
            best[found.tool] = found
    return tuple(best.values())
