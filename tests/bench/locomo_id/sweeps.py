"""What does a threshold trade? Fragmentation against contamination, and both against who is let in, one value at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from service.identity.gallery import Gallery
from service.identity.policies import policy
from service.identity.thresholds import ChannelPair, Thresholds, constant
from tests.bench.locomo_id.collections import Collection, Query
from tests.bench.locomo_id.evaluate import PAPER_POLICIES, Heard, System, Voices, hear, ours, paper, routing_tally
from tests.bench.locomo_id.figures import ASKING, ROUTING, Tallies, add_b_cubed, add_figures
from tests.bench.locomo_id.gates import authorise
from tests.bench.report import Report

UPDATES = (-0.08, -0.04, 0.0, 0.04, 0.08, 0.12)
"""Around the policy's own: the paper has 0.50, 0.54, 0.58, 0.62, 0.66 on ECAPA."""
LINKS = (-0.16, -0.12, -0.08, -0.04, 0.0, 0.04, 0.08, 0.12)
"""Around the policy's own, which the paper never moved."""
OUR_LINKS = (0.1, 0.03, 0.01, 0.005, 0.002, 0.0005)
"""Budgets: how often a stranger's turn may be linked."""
Scores = npt.NDArray[np.float64]

ASKED = 10
"""Every so many questions of a collection are asked."""


Swept = tuple[str, float, System]
"""What is swept, its value, and who is tried with it."""
Progress = Callable[[Sequence[Swept], str], Iterable[Swept]]


@dataclass(frozen=True, slots=True)
class Point:
    """A system at one value of what is swept."""

    system: str
    parameter: str
    value: float
    tally: Counter[str]

    @property
    def contamination(self) -> float:
        """Share of other people's turns in a turn's cluster: 1 - B³ precision."""
        return 1 - self.tally["b3_precision"] / self.tally["turns"]

    @property
    def fragmentation(self) -> float:
        """Share of a speaker's turns that are elsewhere: 1 - B³ recall."""
        return 1 - self.tally["b3_recall"] / self.tally["turns"]


def swept(
    report: Report,
    collections: Sequence[Collection],
    voices: Voices,
    ours_by: Thresholds,
    paper_by: Thresholds,
    progress: Progress,
) -> list[Point]:
    """Each system at each value over `collections`: rows `sweep/update=…` and `sweep/link=…`."""
    points = []
    for parameter, value, system in progress(list(_systems(ours_by, paper_by)), "sweeping thresholds"):
        tallies = Tallies()
        for collection in collections:
            heard = hear(collection, system, voices)
            tally = routing_tally(heard, lambda voice: "all")["all"]
            tally.update(_asked(heard, collection, system, voices))
            tallies.add(collection.group, tally)
        condition = f"sweep/{parameter}={value:.4g}"
        add_b_cubed(report, tallies, condition, system.name)
        add_figures(report, tallies, (*ROUTING, *ASKING), condition, system.name)
        points.append(Point(system.name, parameter, value, tallies.total()))
    return points


def _systems(ours_by: Thresholds, paper_by: Thresholds) -> Iterable[Swept]:
    link = paper_by.link(1)

    def at(link: float, update: float) -> Thresholds:
        return constant(paper_by.encoder, link=link, update=update, origin="swept")

    for more in UPDATES:
        update = paper_by.update + more
        yield "update", update, paper("gated", at(link, update))
    for name in PAPER_POLICIES:
        for more in LINKS:
            yield "link", link + more, paper(name, at(link + more, max(paper_by.update, link + more)))
    for budget in OUR_LINKS:
        yield "link_budget", budget, ours(replace(ours_by, budgets=replace(ours_by.budgets, link=budget)))


def _asked(heard: Heard, collection: Collection, system: System, voices: Voices) -> Counter[str]:
    queries = collection.queries[::ASKED]
    owners, num = heard.owners(), Counter[str]()
    for query, person in zip(queries, authorise(heard, queries, system, voices), strict=True):
        right = person is not None and owners.get(person) == query.asker
        num.update(asked=1, known=1, wrong=person is not None and not right, refused=not right)
    return num


def verification_scores(heard: Heard, queries: Sequence[Query], system: System, voices: Voices) -> tuple[Scores, Scores]:
    """How alike questions are to the people known, as verify compares them: genuine scores (the asker's own people, the best of
    them) and impostor scores (everybody else). A score is the cosine less τ_access of its channels: 0 lets in."""
    people = list(heard.people.values())
    gallery = Gallery(people, policy(system.asking.policy), voices.space.dimension, heard.channels)
    owners, size = heard.owners(), len(gallery)
    owner_of = [owners[person.person_id] for person in people]

    def access(pair: ChannelPair) -> float:
        return system.asking.thresholds.access(size, pair)

    genuine: list[float] = []
    impostor: list[float] = []
    for query in queries:
        channel = voices.channel(query.utterance, query.shift)
        likeness = gallery.likeness(voices.embedding(query.utterance, query.shift), channel, access)
        excess = likeness.cosines - likeness.thresholds(access)
        own = np.array([owner_of[member] == query.asker for member in likeness.members])
        if own.any():
            genuine.append(float(excess[own].max()))
        impostor += excess[~own].tolist()
    return np.array(genuine), np.array(impostor)
