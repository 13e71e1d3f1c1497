"""How small a part of a store still holds what answers? Evidence kept and Recall@15 by the share of the messages in a pool.

A pool is a ranking of places, cut off. `index`: the product's own, the union of what words and vectors hit and what stands up
to three turns from it (service/retrieval/signals.py), of which it reads 300; so what is narrowed is not what the legs look at,
which is everything the asker may read, but what is read and ranked. `left_brain`: the same made of mentions of the entities
that the question names, by exact name, and nothing else: VoiceMem's way, which needs no vector. `both`: mentions as further
words of the index. `sessions`: whole sessions, the one with the best hit first.

`pool_share` is the least share, of those tried, at which no more than a point of Recall@15 is lost against ranking a pool of
WIDEST; the ranker is the one that ships, its features made anew of each pool.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from service.graph.driver import Graph
from service.memory.left_brain.mentions import SpokenTurn, mentions_of
from service.pipelines.one_round import OneRound, OneRoundConfig
from service.retrieval.ranking import Ranker
from service.retrieval.signals import Hits, Signals, SignalsConfig, worth_reading
from service.types.audio import TextEmbedder
from service.types.candidates import Place
from service.types.parsing import Parser
from tests.bench.pictures import figure
from tests.bench.report import Report, Row
from tests.bench.retrieval.corpus import Stored, forget, store
from tests.bench.retrieval.gold import Corpus
from tests.bench.retrieval.metrics import Resamples, recall
from tests.bench.retrieval.signals import Asked, asked

SHARES = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50)
POOLED_SHARES = (0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.10)
KINDS = ("index", "left_brain", "both", "sessions")
RANKED = ("index",)
"""Kinds whose pools are ranked, too: half a second of CPU a question each. Of the others the evidence kept tells enough."""
WIDEST = 600  # places ranked where nothing is cut off: most of a conversation, a tenth of all ten
SHOWN = 15
LOST = 0.01  # of Recall@15, that may be lost
EVERYWHERE = SignalsConfig(pool=100_000)


@dataclass(frozen=True)
class Pools:
    """Of one question: its signals, and the turn ids that each kind of pool holds, the likeliest first."""

    asked: Asked
    size: int
    """Messages in the store."""
    order: Mapping[str, Sequence[str]]


async def measure(
    report: Report, graph: Graph, embedder: TextEmbedder, parser: Parser, corpora: Sequence[Corpus], condition: str,
    shares: Sequence[float], pictures: Path | None,
) -> None:  # fmt: skip
    """Rows at `condition`/pool=KIND/share=…, and `pool_share` of the index at `condition`."""
    one_round = OneRound(graph, embedder, OneRoundConfig(signals=SignalsConfig(pool=WIDEST)))
    found: list[Pools] = []
    for corpus in track(corpora, f"{condition}: pools", console=Console(stderr=True)):
        stored = await store(graph, corpus, embedder, f"pools-{corpus.id}")
        mentions = mentioned(corpus, parser)
        found += [pools_of(one, stored, mentions, parser) for one in await asked(one_round, stored)]
        await forget(graph, stored.space)
    add_rows(report, condition, found, shares)
    if pictures:
        print("drawn:", draw(pictures, condition, report.rows))


def mentioned(corpus: Corpus, parser: Parser) -> dict[str, list[str]]:
    """Normalised name of an entity → ids of the turns that mention it."""
    by: dict[str, list[str]] = defaultdict(list)
    spoken = [SpokenTurn(turn.id, turn.text, "en", None) for turn in corpus.turns]
    for id, mentions in mentions_of(spoken, parser).items():
        for name in {mention.name for mention in mentions}:
            by[name].append(id)
    return dict(by)


def pools_of(one: Asked, stored: Stored, mentions: Mapping[str, Sequence[str]], parser: Parser) -> Pools:
    corpus, hits = stored.corpus, one.signals.hits
    at = {stored.place(turn): turn.id for turn in corpus.turns}
    question = next(q.text for q in corpus.questions if q.id == one.id)
    named = mentions_of([SpokenTurn("", question, "en", None)], parser).get("", ())
    turns = {id: place for place, id in at.items()}
    entities = tuple(
        dict.fromkeys((turns[id] for id in mentions[name]), log(1 + len(corpus.turns) / len(mentions[name])))
        for name in {mention.name for mention in named} & mentions.keys()
    )
    index = worth_reading(hits, EVERYWHERE)
    pools = {
        "index": index,
        "left_brain": worth_reading(Hits(entities, (), {}, {}), EVERYWHERE),
        "both": worth_reading(replace(hits, terms=(*hits.terms, *entities)), EVERYWHERE),
        "sessions": _by_session(index, at),
    }
    return Pools(one, len(at), {kind: [at[place] for place in places if place in at] for kind, places in pools.items()})


def _by_session(index: Sequence[Place], at: Iterable[Place]) -> list[Place]:
    """All of the session whose place stands first in `index`, then all of the next."""
    order = {session: rank for rank, session in enumerate(dict.fromkeys(session for session, _ in index))}
    return sorted((place for place in at if place[0] in order), key=lambda place: (order[place[0]], place[1]))


def add_rows(report: Report, condition: str, found: Sequence[Pools], shares: Sequence[float]) -> None:
    ranker, n = Ranker(), len(found)
    drawn = Resamples(n)
    whole = np.array([_recall(ranker, one.asked, None) for one in found])
    report.add("recall_at_15", f"{condition}/pool=all", "ours", whole.mean(), "share", n, drawn.interval(whole))
    least: dict[str, float] = {}
    for kind in KINDS:
        for share in shares:
            inside = [frozenset(one.order[kind][: round(share * one.size)]) for one in found]
            kept = np.array([
                sum(id in pool for id in one.asked.gold) / len(one.asked.gold) for one, pool in zip(found, inside, strict=True)
            ])  # fmt: skip
            held = np.array([len(pool) / one.size for one, pool in zip(found, inside, strict=True)])
            where = f"{condition}/pool={kind}/share={share:g}"
            report.add("evidence_kept", where, "ours", kept.mean(), "share", n, drawn.interval(kept))
            report.add("pool_size", where, "ours", held.mean(), "share", n)
            if kind not in RANKED:
                continue
            lost = whole - np.array([_recall(ranker, one.asked, pool) for one, pool in zip(found, inside, strict=True)])
            report.add("recall_at_15_lost", where, "ours", lost.mean(), "share", n, drawn.interval(lost))
            if lost.mean() <= LOST:
                least.setdefault(kind, share)
    for kind, share in least.items():
        report.add("pool_share", condition if kind == "index" else f"{condition}/pool={kind}", "ours", share, "share", n)


def _recall(ranker: Ranker, one: Asked, pool: frozenset[str] | None) -> float:
    """Recall@15 of what stands in `pool` as far as the round read it; None: of all it read."""
    rows = [row for row, id in enumerate(one.ids) if pool is None or id in pool]
    turn = {one.signals.read[row].id: one.ids[row] for row in rows}
    signals: Signals = replace(one.signals, read=tuple(one.signals.read[row] for row in rows))
    ranked = [turn[candidate.id] for candidate in ranker(signals)[:SHOWN]] if rows else []
    return recall(ranked, one.gold, SHOWN)


def draw(folder: Path, condition: str, rows: Sequence[Row]) -> Path:
    """Evidence kept over the share of the store, a line a kind of pool."""
    folder.mkdir(parents=True, exist_ok=True)
    axes, save = figure(folder, f"pools_{condition}")
    for kind in KINDS:
        start = f"{condition}/pool={kind}/share="
        for metric, style in (("evidence_kept", "o-"), ("recall_at_15_lost", "x:")):
            points = [
                (float(row.condition.removeprefix(start)), row.value)
                for row in rows
                if row.metric == metric and row.condition.startswith(start)
            ]
            label = kind if metric == "evidence_kept" else None
            if points:
                axes.plot(*zip(*points, strict=True), style, label=label, color=f"C{KINDS.index(kind)}", markersize=4)
    axes.set(xlabel="share of the store in the pool", ylabel="evidence kept (line), Recall@15 lost (dots)", title=condition)
    axes.legend()
    path: Path = save()
    return path
