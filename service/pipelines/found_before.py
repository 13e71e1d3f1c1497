"""What did the asker find when they asked much the same before? Only their own questions, as long as these are kept, and only
what they may read now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from service.graph.questions import Again, list_found_before
from service.pipelines.named import people_named_in
from service.retrieval.found_before import DEFAULTS, FoundBeforeConfig, held_again
from service.retrieval.plan import plan
from service.retrieval.ranking import Candidate
from service.retrieval.sounds import asks_for_sounds
from service.types.audio import Samples, TextEmbedder
from service.types.candidates import Earlier
from service.types.search import Hit

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph


class FoundBefore:
    """One per process, where questions are kept. With an embedding model of which nobody knows when two questions are alike,
    it finds nothing and keeps nothing."""

    def __init__(
        self,
        graph: Graph,
        embedder: TextEmbedder,
        config: FoundBeforeConfig = DEFAULTS,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._graph, self._embedder, self._config, self._clock = graph, embedder, config, clock
        self._space = embedder.embedding_space.name
        self._least = config.alike.get(self._space)

    async def found(self, scope: ReadScope, vector: Samples, about: Sequence[str]) -> tuple[Earlier, ...]:
        """`vector`: of the question without names; `about`: ids of the people that it names."""
        if self._least is None:
            return ()
        return await self._graph.read(
            list_found_before, scope, self._space, vector, _others(scope, about), now=self._clock(), least=self._least,
            limit=self._config.questions,
        )  # fmt: skip

    def held(self, ranked: Sequence[Candidate], earlier: Sequence[Earlier]) -> tuple[Candidate, ...]:
        """`ranked`, with what was found likely before held likely again."""
        return tuple(ranked) if self._least is None else held_again(ranked, earlier, self._least, self._config)

    async def again(self, scope: ReadScope, question: str, hits: Sequence[Hit]) -> Again | None:
        """How `question` and what it found are known again, by scores that mean what `held` compares them with. None where
        the edges or images alone answer it, since their scores tell the order and nothing else; where it asks for sounds, which
        raise scores anew each time; and where nothing was found."""
        names = await self._graph.read(people_named_in, scope, question)
        planned = plan(question, names, scope.asker)
        if self._least is None or planned.by_edges or asks_for_sounds(question):
            return None
        scores = {hit.message.id: hit.score for hit in hits[: self._config.kept] if hit.because}
        if not scores:
            return None
        (vector,) = await asyncio.to_thread(self._embedder.queries, [planned.meaning])
        return Again(self._space, vector, _others(scope, planned.people), scores)


def _others(scope: ReadScope, about: Sequence[str]) -> tuple[str, ...]:
    """Without the asker, who is named by "I forgot: when …?" as well, in order."""
    return tuple(sorted(set(about) - set(scope.asker)))
