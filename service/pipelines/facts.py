"""What was said, as facts? A session's turns are read once it is complete, and the facts written some at a time; broken off
anywhere, it is done again and ends the same."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from service.errors import VoicegraphError
from service.graph.driver import Graph, Tx
from service.graph.erase_names import list_noted_names
from service.graph.spaces import lock_space
from service.graph.write_facts import (
    SessionToRead,
    TurnToRead,
    count_facts_of_session,
    finish_facts,
    get_session_to_read,
    save_facts,
)
from service.memory.audience import usable_before
from service.memory.erased_names import is_noted
from service.memory.statements import without_people
from service.types.audio import Progress, Samples, TextEmbedder
from service.types.facts import ADDRESSEE, SPEAKER, Fact, FactExtractor, FactTurn
from service.types.ids import derived


class UnfoundedFact(VoicegraphError):
    code = "unfounded_fact"
    says = "The extractor {extractor} gave a fact that cannot be kept: {why} (message {source}). Nothing of it was written."
    http_status = 500


@dataclass(frozen=True, slots=True)
class FactsConfig:
    batch: int = 128  # facts a write: under 0.2 s with the space locked
    max_context: int = 3  # turns beside the source (VoxPolyMem, facts)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    session_id: str
    extractor: str
    """Whose facts the session has."""
    num_facts: int
    known_before: bool
    """They were there already; nothing was written."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Why what might have been a fact is none, and how often; of this reading."""


class RememberFacts:
    """One a process; sessions may be read side by side."""

    def __init__(
        self, graph: Graph, extractor: FactExtractor, embedder: TextEmbedder | None, config: FactsConfig | None = None
    ) -> None:
        self._graph, self._extractor, self._embedder = graph, extractor, embedder
        self._config = config or FactsConfig()

    async def __call__(
        self, space: str, session_id: str, *, again: bool = False, progress: Progress = lambda share, stage: None
    ) -> SessionFacts:
        """Write the facts of a complete session, unless it has some; `again`: in place of those it has.

        Raises NotFound, UnfoundedFact, and the extractor's errors: the same call then goes on."""
        session = await self._graph.read(get_session_to_read, space, session_id)
        extractor, dropped = session.facts_by, Counter[str]()
        known = extractor is not None and not again
        while extractor is None or again:
            dropped, name = Counter[str](), self._extractor.name
            facts = founded(await self._extractor(turns_of(space, session), dropped), session, name, self._config)
            if await self._write(space, session_id, session, facts, progress):
                extractor = name
                break
            session = await self._graph.read(get_session_to_read, space, session_id)  # something else is said there by now
        number = await self._graph.read(count_facts_of_session, space, session_id)
        return SessionFacts(session_id, extractor, number, known, dict(sorted(dropped.items())))

    async def _write(
        self, space: str, session_id: str, session: SessionToRead, facts: Sequence[Fact], progress: Progress
    ) -> bool:
        """False where what they were read from changed meanwhile: it is to be read again."""
        for start in range(0, len(facts), self._config.batch):
            some = facts[start : start + self._config.batch]
            vectors = await asyncio.to_thread(self._embedded, some)
            await self._graph.write(self._save, space, session_id, some, vectors)
            progress((start + len(some)) / len(facts), "facts")
        return await self._graph.write(finish_facts, space, session, session_id, facts, self._extractor.name)

    async def _save(self, tx: Tx, space: str, session_id: str, facts: Sequence[Fact], vectors: Mapping[str, Samples]) -> None:
        """Without those that name somebody who is erased: others called them, and their words stay."""
        await lock_space(tx, space)
        noted = await list_noted_names(tx, space, session_id)
        kept = [f for f in facts if not any(is_noted(session_id, noted, text) for text in (f.statement, f.value) if text)]
        embedder = self._embedder.embedding_space.name if self._embedder else None
        await save_facts(tx, space, session_id, kept, extractor=self._extractor.name, embedder=embedder, vectors=vectors)

    def _embedded(self, facts: Sequence[Fact]) -> dict[str, Samples]:
        if self._embedder is None:
            return {}
        statements = list(dict.fromkeys(fact.statement for fact in facts))
        return dict(zip(statements, self._embedder.passages(list(map(without_people, statements))), strict=True))


def turns_of(space: str, session: SessionToRead) -> tuple[FactTurn, ...]:
    """As an extractor reads them: with each turn only what everybody who may read it may read, too."""
    audiences = [None if turn.public else turn.readers for turn in session.turns]
    return tuple(
        FactTurn(
            message_id=turn.message_id,
            voice=turn.voice,
            text=turn.text,
            said_at=turn.said_at,
            zone=session.zone,
            language=turn.language,
            may_use=usable_before(position, audiences),
            audience=_label(turn),
            space=space,
        )
        for position, turn in enumerate(session.turns)
    )


def _label(turn: TurnToRead) -> str | None:
    """None where nobody may read it yet: who will is not known to be the same for two of these."""
    if turn.public:
        return "public"
    return derived("readers", *sorted(turn.readers)) if turn.readers else None


def founded(facts: Sequence[Fact], session: SessionToRead, extractor: str, config: FactsConfig) -> tuple[Fact, ...]:
    """`facts`, each once. Raises UnfoundedFact where one rests on nothing that was given, or is no statement."""
    given = {turn.message_id for turn in session.turns}
    for fact in facts:
        for why in _faults(fact, given, config):
            raise UnfoundedFact(extractor=extractor, why=why, source=fact.source)
    return tuple({(fact.source, fact.kind, fact.statement): fact for fact in facts}.values())


def _faults(fact: Fact, given: set[str], config: FactsConfig) -> Iterator[str]:
    if not set(fact.evidence) <= given:
        yield "its evidence is not among the turns"
    if len(set(fact.evidence)) != len(fact.evidence) or len(fact.context) > config.max_context:
        yield f"a turn twice, or more than {config.max_context} beside its source"
    if not without_people(fact.statement):
        yield "it says nothing"
    if set(fact.statement.replace(SPEAKER, "").replace(ADDRESSEE, "")) & set("{}"):
        yield "a brace that is no slot"
