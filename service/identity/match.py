"""What did comparing one voice with everybody known come to?"""

from __future__ import annotations

from dataclasses import dataclass

from service.identity.gallery import Cosines, Likeness, Positions


@dataclass(frozen=True, slots=True)
class Match:
    """A voice against every candidate of the gallery. `excess` = cosine - threshold decides, since thresholds differ from one
    to the next."""

    likeness: Likeness
    link: Cosines
    """τ_link against each"""
    excess: Cosines
    """-inf for who was speaking meanwhile"""
    blocked: bool
    """somebody is too alike for the voice to be new"""
    best: int | None
    """the likeliest candidate"""
    runner_up: float | None
    """excess of the next"""

    @property
    def cosines(self) -> Cosines:
        return self.likeness.cosines

    @property
    def members(self) -> Positions:
        """Who of each candidate it was, as a position in Gallery.voices."""
        return self.likeness.members
