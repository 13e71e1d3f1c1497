"""Does it pay that a question remembers what its asker found before? A log that repeats itself, and one that does not.

Each line of a log is asked of the product over a real graph, and kept with what it found (`question_days`); what is judged is
asked with and without what was kept. `repeating`: each question three times in other words (tests/bench/wordings.py), judged
the third time, with everything else that is asked in between. `ordinary`: each question once, in an order by lot, as much
history as there is, and nothing to gain: what emergence must not harm. Scenarios 1 to 3 of the spoken set chose the numbers of
service/retrieval/found_before.py; 4 to 6 and LoCoMo did not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np

from service.graph.access import ReadScope, read_scope
from service.graph.driver import Graph
from service.pipelines.clusters import remember_question
from service.pipelines.found_before import FoundBefore
from service.pipelines.one_round import OneRound
from service.pipelines.search import Search
from service.types.audio import TextEmbedder
from service.types.people import Assurance, Viewer
from service.types.search import SearchResult
from tests.bench.report import Report
from tests.bench.retrieval.corpus import Stored, forget, store
from tests.bench.retrieval.gold import Corpus
from tests.bench.retrieval.metrics import Resamples, judge
from tests.bench.spoken import gold
from tests.bench.spoken.format import Scenario
from tests.bench.spoken.run import a_space, facts_of
from tests.bench.wordings import Entry, Wording, log_of

SHOWN = 15
DAYS = 30.0  # that questions are kept; a log is asked within minutes
METRICS = ("recall_at_5", "recall_at_15", "mrr")
WITH, WITHOUT = "ours", "ours_no_emergence"
Turns = Callable[[SearchResult], list[str]]


@dataclass
class Judged:
    """Of the lines judged, by system: one value a line and metric."""

    wording: list[Wording] = field(default_factory=list)
    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, system: str, turns: Sequence[str], wanted: Sequence[str], seconds: float) -> None:
        of = judge(turns, wanted)
        for metric in METRICS:
            self.values.setdefault(system, {}).setdefault(metric, []).append(of[metric])
        self.seconds.setdefault(system, []).append(seconds)


@dataclass(frozen=True)
class Log:
    """What one asker asks, in order, of one space."""

    entries: tuple[Entry, ...]
    gold: Mapping[str, tuple[str, ...]]
    """By question id: turns that answer it."""
    scope: ReadScope
    turns: Turns
    asked_at: datetime
    zone: str | None = None


class Asking:
    """The product with what was found before, and without."""

    def __init__(self, graph: Graph, embedder: TextEmbedder) -> None:
        self._graph = graph
        self._before = FoundBefore(graph, embedder)
        one_round = OneRound(graph, embedder, found_before=self._before)
        self._search = {
            WITH: Search(graph, embedder, one_round=one_round, found_before=self._before),
            WITHOUT: Search(graph, embedder),
        }

    async def __call__(self, log: Log, judged: Judged) -> None:
        """All lines, one after the other."""
        for number, entry in enumerate(log.entries):
            systems = [WITH, WITHOUT] if entry.last else [WITH]
            found: dict[str, SearchResult] = {}
            for system in systems[:: 1 if number % 2 else -1]:  # neither always finds the pages warm
                started = time.perf_counter()
                found[system] = await self._search[system](
                    log.scope, entry.text, first=SHOWN, asked_at=log.asked_at, zone=log.zone
                )
                if entry.last:
                    judged.add(system, log.turns(found[system]), log.gold[entry.question], time.perf_counter() - started)
            if entry.last:
                judged.wording.append(entry.wording)
            hits = found[WITH].hits
            again = await self._before.again(log.scope, entry.text, hits)
            await remember_question(self._graph, log.scope, entry.text, [hit.message.id for hit in hits], DAYS, again)


async def measure(
    report: Report, graph: Graph, embedder: TextEmbedder, scenarios: Sequence[Scenario], corpora: Sequence[Corpus]
) -> None:
    """`scenarios` of the spoken set, and `corpora` of LoCoMo; both logs of each."""
    asking = Asking(graph, embedder)
    for kind, log_by in (("repeating", log_of), ("ordinary", once)):
        judged = Judged()
        for scenario in scenarios:
            async with a_space(graph, scenario) as space:
                written = await gold.write(graph, scenario, space, embedder, remember=facts_of(graph, embedder))
                for log in await _logs_of(graph, scenario, written, log_by):
                    await asking(log, judged)
        if scenarios:
            add_rows(report, f"{kind}/spoken", judged)
        judged = Judged()
        for corpus in corpora:
            stored = await store(graph, corpus, embedder, f"emergence-{corpus.id}")
            await asking(await _log_of(stored, log_by), judged)
            await forget(graph, stored.space)
        if corpora:
            add_rows(report, f"{kind}/locomo", judged)


def once(questions: Sequence[tuple[str, str]], seed: int = 0) -> tuple[Entry, ...]:
    """Each as it was asked, in an order by lot; all of them judged."""
    order = np.random.default_rng(seed).permutation(len(questions))
    return tuple(Entry(questions[place][0], questions[place][1], Wording.AS_ASKED, last=True) for place in order)


async def _logs_of(
    graph: Graph, scenario: Scenario, written: gold.Written, log_by: Callable[[Sequence[tuple[str, str]]], tuple[Entry, ...]]
) -> list[Log]:
    """One of each asker."""
    with_evidence = [question for question in scenario.questions if question.evidence]

    def turns(found: SearchResult) -> list[str]:
        return [turn for hit in found.hits for turn in written.messages[hit.message.id]]

    logs = []
    for name in dict.fromkeys(question.asker for question in with_evidence):
        hers, person = [q for q in with_evidence if q.asker == name], written.people[name]
        scope = await graph.read(read_scope, Viewer(written.space, None, person, (person,), False, Assurance.TOKEN))
        entries, wanted = log_by([(q.id, q.text) for q in hers]), {q.id: q.evidence for q in hers}
        logs.append(Log(entries, wanted, scope, turns, scenario.asked_at, scenario.zone))
    return logs


async def _log_of(stored: Stored, log_by: Callable[[Sequence[tuple[str, str]]], tuple[Entry, ...]]) -> Log:
    """Of the one who was there and said nothing."""
    ids = {stored.message(turn.id): turn.id for turn in stored.corpus.turns}
    entries = log_by([(q.id, q.text) for q in stored.corpus.questions])
    afterwards = max(turn.at for turn in stored.corpus.turns if turn.at).replace(tzinfo=UTC) + timedelta(days=1)
    wanted = {q.id: q.gold for q in stored.corpus.questions}
    return Log(entries, wanted, await stored.scope(), lambda found: [ids[hit.message.id] for hit in found.hits], afterwards)


def add_rows(report: Report, condition: str, judged: Judged) -> None:
    """With and without, and the difference in pairs; by wording too, where there is more than one."""
    groups = {condition: list(range(len(judged.wording)))}
    if len(set(judged.wording)) > 1:
        groups |= {
            f"{condition}/{wording}": [place for place, of in enumerate(judged.wording) if of is wording] for wording in Wording
        }
    for name, rows in groups.items():
        if not rows:
            continue
        drawn = Resamples(len(rows))
        of = {s: {m: np.array(every)[rows] for m, every in metrics.items()} for s, metrics in judged.values.items()}
        for system, metrics in of.items():
            for metric, values in metrics.items():
                report.add(metric, name, system, values.mean(), "share", len(rows), drawn.interval(values))
        for metric in METRICS:
            gain = of[WITH][metric] - of[WITHOUT][metric]
            report.add(f"{metric}_over_no_emergence", name, WITH, gain.mean(), "share", len(rows), drawn.interval(gain))
    for system, seconds in judged.seconds.items():
        for percentile in (50, 95):
            taken = 1_000 * np.percentile(seconds, percentile)
            report.add(f"p{percentile}_ms", condition, system, float(taken), "ms", len(seconds))
