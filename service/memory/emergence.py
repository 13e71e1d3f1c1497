"""Which of the things asked about belong together? Clusters of entities that emerge from one asker's questions.

The coherence of H over the questions Q, each with the entities A_q that it activated, is
ρ(H) = 1/|Q| · Σ_q |A_q ∩ H| / |A_q ∪ H| (VoiceMem). It divides by all questions and so is tiny: what counts is |Q|·ρ(H), how
many questions' worth of agreement there is, and the threshold α falls as 1/|Q|. A cluster is a function of the questions that
have not expired: as they go, it fades."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True)
class EmergenceConfig:
    """Tried: at 200 questions of LoCoMo the upper quartile of ρ lies at 4 / |Q|, sizes 3 to 12."""

    agreement: float = 4.0  # α = agreement / |Q|
    few: int = 40  # questions: with fewer, 4 / |Q| asks for too much …
    few_agreement: float = 1.5  # … three questions that agree by half are enough
    few_together: int = 2  # questions that activate two entities both, for an edge between them …
    together: int = 3  # … and from `few` questions on, when many pairs meet twice by chance
    min_size: int = 3
    max_size: int = 12
    support: int = 3  # questions that activate at least two of it
    fit: float = 0.3  # mean Jaccard index with those: of LoCoMo's cliques the median is 0.25 to 0.37; of chance, 0.15
    covered: float = 0.6  # of its entities, the share that two supporting questions or more activate
    stable: float = 0.25  # of the agreement, the least share that the weaker half of the questions has


DEFAULT = EmergenceConfig()


@dataclass(frozen=True, slots=True)
class Activation:
    """One question and the entities that what it found speaks of."""

    question: str
    """Its id."""
    entities: frozenset[str]


@dataclass(frozen=True, slots=True)
class Cluster:
    theme: str
    members: frozenset[str]
    coherence: float
    """ρ, [0, 1]."""
    supporting: tuple[str, ...]
    """Ids of the questions that activated at least two of it, those that fit best first."""


def coherence(members: Collection[str], asked: Sequence[Activation]) -> float:
    """ρ(H): the mean over all questions of the Jaccard index of what each activated with `members`; 0 without questions."""
    inside = frozenset(members)
    return sum(_jaccard(inside, one.entities) for one in asked) / len(asked) if asked else 0.0


def threshold(num_questions: int, config: EmergenceConfig = DEFAULT) -> float:
    """α for so many questions."""
    if num_questions == 0:
        return 1.0
    agreement = config.few_agreement if num_questions < config.few else config.agreement
    return min(1.0, agreement / num_questions)


def emerged(asked: Sequence[Activation], themes: Mapping[str, str], config: EmergenceConfig = DEFAULT) -> tuple[Cluster, ...]:
    """The clusters that stand before the judge, the most coherent first; no entity in two. `themes`: of each entity the one
    that it belongs to: a cluster lies inside of one."""
    found = [
        cluster
        for theme in sorted(set(themes.values()))
        for connected in _components(_together(asked, themes, theme, config))
        if (cluster := _largest(theme, connected, asked, config)) is not None
    ]
    return tuple(sorted(found, key=lambda c: (-c.coherence, sorted(c.members))))


def promoted(cluster: Cluster, asked: Sequence[Activation], config: EmergenceConfig = DEFAULT) -> bool:
    """The judge: of a size to be told, asked for often enough, as a whole, by all of its entities, and in both halves of the
    questions?"""
    if not config.min_size <= len(cluster.members) <= config.max_size or len(cluster.supporting) < config.support:
        return False
    supporting = [one.entities for one in asked if one.question in set(cluster.supporting)]
    if sum(_jaccard(cluster.members, entities) for entities in supporting) < config.fit * len(supporting):
        return False
    times = Counter(e for entities in supporting for e in entities & cluster.members)
    if sum(times[e] >= 2 for e in cluster.members) < config.covered * len(cluster.members):
        return False
    halves = [sum(_jaccard(cluster.members, one.entities) for one in asked[start::2]) for start in (0, 1)]
    return min(halves) >= config.stable * sum(halves) / 2


def _together(
    asked: Sequence[Activation], themes: Mapping[str, str], theme: str, config: EmergenceConfig
) -> dict[str, set[str]]:
    """Entities of the theme, each with those that enough questions activate with it."""
    times: Counter[tuple[str, str]] = Counter()
    for one in asked:
        inside = sorted(e for e in one.entities if themes.get(e) == theme)
        times.update(combinations(inside, 2))
    enough = config.few_together if len(asked) < config.few else config.together
    near: defaultdict[str, set[str]] = defaultdict(set)
    for (a, b), number in times.items():
        if number >= enough:
            near[a].add(b)
            near[b].add(a)
    return dict(near)


def _components(near: Mapping[str, set[str]]) -> list[dict[str, set[str]]]:
    left, found = set(near), []
    while left:
        waiting, inside = [min(left)], set[str]()
        while waiting:
            here = waiting.pop()
            if here not in inside:
                inside.add(here)
                waiting.extend(near[here] - inside)
        left -= inside
        found.append({e: near[e] for e in inside})
    return found


def _largest(theme: str, near: Mapping[str, set[str]], asked: Sequence[Activation], config: EmergenceConfig) -> Cluster | None:
    """The largest H above α that peeling leaves: again and again the entity with the fewest neighbours goes (VoiceMem's code),
    or of equals the one that fewest questions activate; what comes apart thereby goes on as its largest part."""
    alpha = threshold(len(asked), config)
    asks = Counter(e for one in asked for e in one.entities)
    inside = {e: set(others) for e, others in near.items()}
    while len(inside) >= config.min_size:
        if len(inside) <= config.max_size and (rho := coherence(inside, asked)) > alpha:
            return Cluster(theme, frozenset(inside), rho, _supporting(frozenset(inside), asked))
        weakest = min(inside, key=lambda e: (len(inside[e]), asks[e], e))
        rest = {e: others - {weakest} for e, others in inside.items() if e != weakest}
        inside = max(_components(rest), key=lambda part: (len(part), sorted(part)), default={})
    return None


def _supporting(members: frozenset[str], asked: Sequence[Activation]) -> tuple[str, ...]:
    fitting = [(-_jaccard(members, one.entities), number, one.question) for number, one in enumerate(asked)
               if len(members & one.entities) >= 2]  # fmt: skip
    return tuple(question for _, _, question in sorted(fitting))


def _jaccard(one: Collection[str], other: frozenset[str]) -> float:
    shared = len(other & frozenset(one))
    return shared / (len(one) + len(other) - shared) if shared else 0.0
