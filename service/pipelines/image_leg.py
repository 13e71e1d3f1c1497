"""Which messages answer by what was shown with them? One search of a round, beside those by words, meaning, facts and edges."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from service.pipelines.images import Images, LookedFor
from service.retrieval.pictures import asks_for_images
from service.retrieval.ranking import Candidate, Pool
from service.types.candidates import Place
from service.types.search import Filters, Found, Layer, Tool

if TYPE_CHECKING:
    from service.graph.access import ReadScope

NEAREST = 15
"""Images that join the candidates of a round: as many as there are messages shown at most."""


@dataclass(frozen=True, slots=True)
class Pictured:
    """What images found, by the message that they were shown with; empty where they were not looked at."""

    found: Mapping[str, Found]
    places: tuple[Place, ...] = ()
    legs: tuple[str, ...] = ()

    def joined(self, pool: Pool) -> Pool:
        """`pool`, in which the ranker has put the messages: each says which of its images found it, and how well."""
        candidates = [
            replace(one, found=tuple(self.found.get(one.id, f) if f.tool is Tool.IMAGE else f for f in one.found))
            for one in pool.candidates
        ]
        return replace(pool, candidates=tuple(candidates), legs=(*pool.legs, *self.legs))

    def alone(self, visible: int) -> Pool:
        """The messages in the order of their images; scores are cosines, as [0, 1]."""
        ranked = [Candidate(id, (1 + found.score) / 2, (found,)) for id, found in self.found.items()]
        return Pool(tuple(ranked), visible, self.legs)


NOT_LOOKED = Pictured({})
ImagesWhenWanted = Callable[[], Awaitable[Images]]
"""A model of images is loaded for the first question that asks for some, and for no other."""


async def look_at_images(wanted: ImagesWhenWanted | None, scope: ReadScope, question: str, filters: Filters) -> Pictured:
    """Where a question asks for something shown, or only what images found is wanted."""
    if wanted is None or not (Layer.IMAGES in filters.layers or asks_for_images(question)):
        return NOT_LOOKED
    images = await wanted()
    found = await images.find(scope, LookedFor(words=question), filters, first=NEAREST)
    best: dict[str, Found] = {}
    for rank, image in enumerate(found, start=1):
        best.setdefault(image.message_id, Found(Tool.IMAGE, rank, image.score))
    places = tuple(dict.fromkeys(image.place for image in found))
    return Pictured(best, places, (f"image:{images.model}({len(found)})",))


def only_images(layers: Sequence[Layer]) -> bool:
    return set(layers) == {Layer.IMAGES}
