"""What is spoken of? A session's turns are read once its facts are, and its entities written some at a time; broken off
anywhere, it is done again and ends the same."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from service.graph.driver import Graph, Tx
from service.graph.erase_names import list_noted_names
from service.graph.spaces import lock_space
from service.graph.write_entities import (
    FactToRead,
    Mentioned,
    count_entities_of_session,
    finish_entities,
    forget_other_mentions,
    get_entities_by,
    list_facts_to_read,
    pairs_of,
    save_mentions,
    save_micro,
)
from service.graph.write_facts import get_session_to_read
from service.graph.write_macro import save_macro
from service.memory.erased_names import is_noted
from service.memory.left_brain.mentions import told_in
from service.memory.left_brain.themes import theme_of
from service.memory.left_brain.weights import WeightConfig
from service.pipelines.facts import turns_of
from service.types.audio import Progress
from service.types.entities import EntityReader, Mention

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EntitiesConfig:
    batch: int = 1_000  # mentions a write: about 0.1 s with the space locked
    pairs: int = 2_000  # pairs counted a write
    weights: WeightConfig = field(default_factory=WeightConfig)


@dataclass(frozen=True, slots=True)
class SessionEntities:
    session_id: str
    reader: str
    """Who read them."""
    num_mentions: int
    num_entities: int
    known_before: bool
    """They were there already; nothing was written."""


class RememberEntities:
    """One a process; sessions may be read side by side."""

    def __init__(self, graph: Graph, reader: EntityReader, config: EntitiesConfig | None = None) -> None:
        self._graph, self._reader = graph, reader
        self._config = config or EntitiesConfig()

    async def __call__(
        self, space: str, session_id: str, *, again: bool = False, progress: Progress = lambda share, stage: None
    ) -> SessionEntities:
        """Write what a complete session speaks of, unless it is written; `again`: in place of what is. Raises NotFound, and the
        reader's errors: the same call then goes on."""
        by = known_by = await self._graph.read(get_entities_by, space, session_id)
        if by is None or again:
            session = await self._graph.read(get_session_to_read, space, session_id)
            dropped, by = Counter[str](), self._reader.name
            mentions = await self._reader(turns_of(space, session), dropped)
            if dropped:
                log.info("mentions dropped: %s", ", ".join(f"{why}: {number}" for why, number in sorted(dropped.items())))
            facts = await self._graph.read(list_facts_to_read, space, session_id)
            while not await self._write(space, session_id, mentioned(mentions, facts), facts, progress):
                facts = await self._graph.read(list_facts_to_read, space, session_id)
        num_mentions, num_entities = await self._graph.read(count_entities_of_session, space, session_id)
        return SessionEntities(session_id, by, num_mentions, num_entities, known_by is not None and not again)

    async def _write(
        self, space: str, session_id: str, found: Sequence[Mentioned], facts: Sequence[FactToRead], progress: Progress
    ) -> bool:
        """False where the facts changed in the meantime: it is to be done again, with these."""
        half_life = self._config.weights.half_life_days
        for start in range(0, len(found), self._config.batch):
            await self._graph.write(_save, space, session_id, found[start : start + self._config.batch])
            progress(0.6 * min(1.0, (start + self._config.batch) / len(found)), "entities")
        await self._graph.write(forget_other_mentions, space, session_id, found, half_life_days=half_life)
        pairs = pairs_of(space, found)
        for start in range(0, len(pairs), self._config.pairs):
            await self._graph.write(save_micro, space, pairs[start : start + self._config.pairs], half_life_days=half_life)
            progress(0.6 + 0.4 * min(1.0, (start + self._config.pairs) / len(pairs)), "entities")
        await self._graph.write(save_macro, space, half_life_days=half_life)
        return await self._graph.write(finish_entities, space, session_id, self._reader.name, facts)


async def _save(tx: Tx, space: str, session_id: str, mentioned: Sequence[Mentioned]) -> None:
    """Without those of somebody who is erased: others called them, and their words stay."""
    await lock_space(tx, space)
    noted = await list_noted_names(tx, space, session_id)
    kept = [one for one in mentioned if not is_noted(session_id, noted, one.mention.surface)]
    await save_mentions(tx, space, session_id, kept)


def mentioned(mentions: Mapping[str, Sequence[Mention]], facts: Sequence[FactToRead]) -> list[Mentioned]:
    """In messages; and in a fact what its statement says that its own turn does not, but another that it is made from."""
    found = [Mentioned(id, m, theme_of(m.type, m.name)) for id, each in mentions.items() for m in each]
    for fact in facts:
        source, *context = fact.evidence
        own = {(m.type, m.name) for m in mentions.get(source, ())}
        others = {(m.type, m.name): m for id in context for m in mentions.get(id, ()) if (m.type, m.name) not in own}
        found += [Mentioned(fact.id, m, theme_of(m.type, m.name)) for m in told_in(fact.statement, list(others.values()))]
    return found
