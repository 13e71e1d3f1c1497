"""Who is who over whole conversations, and who is shown what? LoCoMo-ID rebuilt, for every policy.

`python -m tests.bench.identity_memory [--quick] [--json PATH] [--plots DIR] [--encoder ecapa --weights DIR]`

Two voices (30 collections), four voices with contradicting stories (10), and one space of all of these and all real speakers;
histories clean, and under recording shifts. With OPENAI_BASE_URL questions are answered too (locomo_id/qa.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from service.graph import maven
from service.identity.thresholds import PAPER_VOICES, ChannelPair, Thresholds, constant, equal_false_accepts, thresholds_for
from service.language.embed import load_text_embedder
from tests.bench.chat import ReaderConfig
from tests.bench.locomo_id import plots, qa
from tests.bench.locomo_id.calibrated import CALIBRATED, calibrated
from tests.bench.locomo_id.collections import CLEAN, SHIFTED, Collection, Query, four_voice, one_space, two_voice
from tests.bench.locomo_id.conflicts import conflicting
from tests.bench.locomo_id.corpus import Conversation, conversations
from tests.bench.locomo_id.evaluate import OURS, PAPER_POLICIES, Heard, System, hear, ours, paper, routing_tally
from tests.bench.locomo_id.figures import ASKING, GATE, QA, RECALL, ROUTING, Tallies, add_b_cubed, add_figures
from tests.bench.locomo_id.gates import ALL_MEMORY, GATES, ORACLE, Shelf, asking_tally, authorise, gate_tally, plain_tally
from tests.bench.locomo_id.questions import PAPER_COUNTS, counts
from tests.bench.locomo_id.ranking import Library
from tests.bench.locomo_id.sweeps import swept, verification_scores
from tests.bench.locomo_id.voices import CACHE, SHARED, Bank
from tests.bench.report import Report, arguments

CONDITIONS: Mapping[str, tuple[str, str]] = {
    "clean": (CLEAN, CLEAN),
    "shifted": (SHIFTED, CLEAN),
    "shifted_asker": (SHIFTED, SHIFTED),
}
"""name → how the history and how the questions sound; the paper's are the first two."""
QUICK = "conv-30"
"""The shortest conversation."""
SPACE_SHARE = 5
"""In the one space every so many questions of LoCoMo are asked, and all of the real speakers'."""
SPACE_SYSTEMS: Mapping[str, frozenset[str]] = {
    "clean": frozenset({OURS, "gated"}),
    "shifted": frozenset({OURS, *PAPER_POLICIES}),
}
"""Tried in the one space: clean, the others are as in the collections, and `knn` alone takes as long as all the rest."""
QA_SHARE = {False: 0.05, True: 0.02}
"""Of the questions that a language model answers; by `quick`."""

T = TypeVar("T")
Group = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Bench:
    """What all measurements share."""

    report: Report
    bank: Bank
    library: Library
    systems: Sequence[System]
    reader: qa.Reader | None
    texts: Mapping[tuple[str, int, str], str]
    quick: bool


class Figures:
    """The tallies of one system in one condition."""

    def __init__(self) -> None:
        self.routing, self.asking, self.qa = Tallies(), Tallies(), Tallies()
        self.gates = {gate: Tallies() for gate in GATES}

    def add(self, bench: Bench, shelf: Shelf, system: System, queries: Sequence[Query], group: Group) -> Heard:
        if system.name == CALIBRATED:
            system = calibrated(system, shelf.collection, bench.bank)
        heard = hear(shelf.collection, system, bench.bank)
        accepted = authorise(heard, queries, system, bench.bank)
        self.routing.add_all(routing_tally(heard, group))
        self.asking.add_all(asking_tally(shelf, heard, queries, accepted, group))
        for gate, tallies in self.gates.items():
            if gate == "own_gate" or system.name == OURS:
                tallies.add_all(gate_tally(shelf, heard, queries, accepted, gate, group))
        if bench.reader is not None:
            tasks = qa.gated_tasks(shelf, heard, queries, accepted, bench.texts, QA_SHARE[bench.quick])
            self.qa.add(shelf.collection.group, bench.reader.tally(tasks))
        return heard

    def report(self, report: Report, condition: str, system: str, keep: Callable[[str], bool] = lambda group: True) -> None:
        """`keep`: the groups that count."""
        add_b_cubed(report, self.routing.only(keep), condition, system)
        add_figures(report, self.routing.only(keep), ROUTING, condition, system)
        add_figures(report, self.asking.only(keep), ASKING, condition, system)
        for gate, tallies in self.gates.items():
            add_figures(report, tallies.only(keep), (*GATE, *RECALL), f"{condition}/{gate}", system)
        add_figures(report, self.qa.only(keep), QA, f"{condition}/own_gate", system)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--encoder", default="campplus", help="campplus, ecapa or titanet")
    parser.add_argument("--weights", help="the encoder's weights: directory, file or model name")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--plots", type=Path, help="folder for the plots; the JSON's unless given")
    chosen = parser.parse_args()
    report = Report("identity_memory")
    folder = chosen.plots or (chosen.json.parent if chosen.json else None)
    run(report, chosen.quick, SHARED, chosen.cache, chosen.encoder, chosen.weights, folder)
    report.finish(chosen.json)


def run(
    report: Report,
    quick: bool,
    shared: Path = SHARED,
    cache: Path = CACHE,
    encoder: str = "campplus",
    weights: str | None = None,
    plots_folder: Path | None = None,
) -> None:
    """Everything about LoCoMo-ID; `quick`: the shortest conversation only, and no one space."""
    if not (shared / "locomo10.json").is_file():
        report.missing("LoCoMo-ID", "put locomo10.json, bank and voices into ../shared/data")
        return
    told = conversations(shared / "locomo10.json")
    report_texts(report, told)
    bench = _bench(report, told, quick, shared, cache, encoder, weights)
    few = [c for c in told if c.id == QUICK] if quick else list(told)
    for condition, (history, asked) in CONDITIONS.items():
        pairs = [c for c in two_voice(bench.bank, told, history, asked) if c.group in {f.id for f in few}]
        measure(bench, pairs, condition)
        if condition != "shifted_asker":
            fours = [c for c in four_voice(bench.bank, told, history, asked) if c.group in {f.id for f in few}]
            measure(bench, fours, f"four_speakers/{condition}")
    scores = {} if quick else in_one_space(bench, told)
    first = [c for c in two_voice(bench.bank, few if quick else told, SHIFTED) if c.name.endswith("/0")]
    points = swept(report, first, bench.bank, thresholds_for(encoder), _paper_thresholds(encoder), _progress)
    if plots_folder is not None:
        for path in plots.draw(plots_folder, points, scores):
            Console(stderr=True).print(f"drawn: {path}")


def report_texts(report: Report, told: Sequence[Conversation]) -> None:
    """What the rules made of LoCoMo's questions, beside what the paper counts."""
    made = counts(told)
    for kind, number in made.items():
        report.add(f"questions_{kind}", "locomo", OURS, number, "count", sum(made.values()))
        report.add(f"questions_{kind}", "locomo", "paper", PAPER_COUNTS[kind], "count", sum(PAPER_COUNTS.values()))
    changed = sum(len(conflicting(c).changed) for c in told)
    report.add("questions_changed_gold", "four_speakers", OURS, changed, "count", sum(made.values()))


def measure(bench: Bench, collections: Sequence[Collection], condition: str) -> None:
    """All systems over collections of which each conversation is one group."""
    figures = {system.name: Figures() for system in bench.systems}
    plain = {gate: Tallies() for gate in (ALL_MEMORY, *(ORACLE + gate for gate in GATES))}
    read = Tallies()
    for collection in _progress(collections, condition):
        shelf = Shelf(collection, bench.library)
        bench.library.prepare({(q.text, q.names) for q in collection.queries})

        def group(voice: str, name: str = collection.group) -> str:
            return name

        for system in bench.systems:
            figures[system.name].add(bench, shelf, system, collection.queries, group)
        for gate, tallies in plain.items():
            tallies.add_all(plain_tally(shelf, collection.queries, gate, group))
        if bench.reader is not None:
            tasks = qa.ungated_tasks(shelf, collection.queries, bench.texts, QA_SHARE[bench.quick])
            read.add(collection.group, bench.reader.tally(tasks))
    for name, figure in figures.items():
        figure.report(bench.report, condition, name)
    for gate, tallies in plain.items():
        add_figures(bench.report, tallies, RECALL, f"{condition}/{gate}", OURS)
    add_figures(bench.report, read, QA, f"{condition}/{ALL_MEMORY}", OURS)


def in_one_space(bench: Bench, told: Sequence[Conversation]) -> dict[str, tuple[object, ...]]:
    """All collections and all real speakers in one memory; groups are voices. Returns the scores of asking, shifted."""
    real = set(bench.bank.voices("real"))
    scores = {}
    for condition in ("clean", "shifted"):
        collection = one_space(bench.bank, told, *CONDITIONS[condition])
        queries = [q for q in collection.queries if not q.text or zlib.crc32(q.id.encode()) % SPACE_SHARE == 0]
        shelf = Shelf(collection, bench.library)
        name = f"one_space/{condition}"
        for system in _progress([s for s in bench.systems if s.name in SPACE_SYSTEMS[condition]], name):
            figures = Figures()
            heard = figures.add(bench, shelf, system, queries, lambda voice: voice)
            figures.report(bench.report, name, system.name)
            figures.report(bench.report, f"{name}/real", system.name, real.__contains__)
            if condition == "shifted":
                scores[system.name] = verification_scores(heard, queries, system, bench.bank)
        for gate in GATES:
            tallies = Tallies()
            tallies.add_all(plain_tally(shelf, queries, ORACLE + gate, lambda voice: voice))
            add_figures(bench.report, tallies, RECALL, f"{name}/{ORACLE}{gate}", OURS)
    return scores


def _bench(
    report: Report, told: Sequence[Conversation], quick: bool, shared: Path, cache: Path, encoder: str, weights: str | None
) -> Bench:
    bank = Bank(cache, shared, encoder=encoder, weights=weights)
    embedder = load_text_embedder(cache=cache, fetch=partial(maven.fetch, cache=cache / "maven"))
    library = Library([c for c in told if c.id == QUICK] if quick else told, embedder, cache)
    paper_by = _paper_thresholds(encoder)
    shipped = thresholds_for(encoder)
    systems = [
        ours(shipped),
        ours(shipped, tracks=True),
        replace(ours(shipped), name=CALIBRATED),
        *(paper(name, paper_by) for name in PAPER_POLICIES),
    ]
    config = ReaderConfig.from_environment()
    if config is None:
        report.missing("questions answered by a language model", "set OPENAI_BASE_URL (and OPENAI_API_KEY, OPENAI_MODEL)")
    return Bench(report, bank, library, systems, config and qa.Reader(config), qa.as_read(told) if config else {}, quick)


def _paper_thresholds(encoder: str) -> Thresholds:
    """The paper's two numbers on ECAPA; elsewhere those that as many pairs of strangers reach."""
    if encoder == "ecapa":
        return constant(encoder, link=0.489, update=0.58, origin="EvoSpeakerMem's τ_merge and τ_update")
    strangers = PAPER_VOICES if encoder == "campplus" else thresholds_for(encoder).pairs[ChannelPair.WIDEBAND]
    return equal_false_accepts(encoder, strangers)


def _progress(items: Sequence[T], what: str) -> Iterable[T]:
    return track(items, what, console=Console(stderr=True))


if __name__ == "__main__":
    main()
