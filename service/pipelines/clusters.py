"""In which clusters do hits come? Those that emerged from the asker's own questions, made anew at each search; nothing of them
is stored but the questions, and these expire."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from service.graph.questions import Again, AskedBefore, list_asked_before, list_entities_of_messages, save_question
from service.memory.emergence import Activation, Cluster, EmergenceConfig, emerged, promoted
from service.pipelines.known_entities import entities_by_id
from service.types.entities import KnownEntity

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph, Tx


@dataclass(frozen=True, slots=True)
class ClustersConfig:
    activating: int = 5  # best hits whose entities are a question's; as EmergenceConfig was tried with
    questions: int = 400  # of one asker, the newest: a year of one a day
    named: int = 3  # entities in a label
    supporting: int = 5  # questions told with a cluster
    emergence: EmergenceConfig = field(default_factory=EmergenceConfig)


CONFIG = ClustersConfig()


@dataclass(frozen=True, slots=True)
class HitCluster:
    """Hits that belong together, by what their asker asks for."""

    label: str
    """Names of what it is about, as the asker may know them."""
    theme: str
    coherence: float
    """ρ over the asker's questions, [0, 1]."""
    supporting: tuple[str, ...]
    """Texts of the asker's questions, those that fit best first."""
    entities: tuple[str, ...]
    """Ids, the ones asked for most first."""
    messages: tuple[str, ...]
    """Ids of the hits, in their order."""


async def remember_question(
    graph: Graph, scope: ReadScope, question: str, hits: Sequence[str], days: float, again: Again | None = None
) -> None:
    """Keep it for so long, with what its hits (ids, best first) speak of, and how to find it `again`; `days` 0: not at all."""
    if days > 0 and scope.own:
        best, keep = hits[: CONFIG.activating], timedelta(days=days)
        await graph.write(save_question, scope, question.strip(), best, now=datetime.now(UTC), keep=keep, again=again)


async def clusters_of(graph: Graph, scope: ReadScope, messages: Sequence[str]) -> tuple[HitCluster, ...]:
    """The promoted clusters that these hits (ids, best first) belong to, each hit in the one that it shares most with."""
    asked, known = await graph.read(_asked, scope)
    found = await asyncio.to_thread(_found, asked, known)
    if not found:
        return ()
    placed = _placed(found, messages, await graph.read(_spoken_of, scope, messages))
    times = Counter(e for one in asked for e in one.entities)
    names = {id: entity.name for id, entity in known.items()}
    return tuple(_told(cluster, hits, asked, times, names) for cluster, hits in zip(found, placed, strict=True) if hits)


async def _asked(tx: Tx, scope: ReadScope) -> tuple[list[AskedBefore], dict[str, KnownEntity]]:
    """The asker's questions, the oldest first, and the entities that they touch."""
    asked = list(reversed(await list_asked_before(tx, scope, now=datetime.now(UTC), limit=CONFIG.questions)))
    touched = sorted({e for one in asked for e in one.entities})
    as_named = await entities_by_id(tx, scope, touched) if touched else {}
    asked = [replace(one, entities=_as_shown(one.entities, as_named)) for one in asked]
    return asked, {entity.id: entity for entity in as_named.values()}


def _found(asked: Sequence[AskedBefore], known: Mapping[str, KnownEntity]) -> list[Cluster]:
    activations = [Activation(one.id, one.entities) for one in asked]
    themes = {id: entity.theme for id, entity in known.items()}
    return [
        cluster
        for cluster in emerged(activations, themes, CONFIG.emergence)
        if promoted(cluster, activations, CONFIG.emergence)
    ]


async def _spoken_of(tx: Tx, scope: ReadScope, messages: Sequence[str]) -> dict[str, frozenset[str]]:
    """Entities of each message."""
    named = await list_entities_of_messages(tx, scope, messages)
    as_named = await entities_by_id(tx, scope, sorted({e for entities in named.values() for e in entities}))
    return {id: _as_shown(entities, as_named) for id, entities in named.items()}


def _as_shown(entities: Iterable[str], known: Mapping[str, KnownEntity]) -> frozenset[str]:
    """With aliases as what the asker sees them as."""
    return frozenset(known[e].id for e in entities if e in known)


def _placed(clusters: Sequence[Cluster], messages: Sequence[str], spoken: dict[str, frozenset[str]]) -> list[tuple[str, ...]]:
    placed: list[list[str]] = [[] for _ in clusters]
    for id in messages:
        shared = [len(cluster.members & spoken.get(id, frozenset())) for cluster in clusters]
        if max(shared):
            placed[shared.index(max(shared))].append(id)
    return [tuple(ids) for ids in placed]


def _told(
    cluster: Cluster, hits: tuple[str, ...], asked: Sequence[AskedBefore], times: Counter[str], names: dict[str, str]
) -> HitCluster:
    members = sorted(cluster.members, key=lambda e: (-times[e], names[e]))
    texts = {one.id: one.text for one in asked}
    supporting = tuple(dict.fromkeys(texts[id] for id in cluster.supporting))
    return HitCluster(
        label=", ".join(names[e] for e in members[: CONFIG.named]),
        theme=cluster.theme,
        coherence=cluster.coherence,
        supporting=supporting[: CONFIG.supporting],
        entities=tuple(members),
        messages=hits,
    )
