"""How good are identities? Figures over turns with known truth; every function is pure and takes parallel sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from service.errors import InvalidInput
from service.types.people import Assigned, Create, Decision, Link, Unresolved

Label = Hashable
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PrecisionRecall:
    precision: float
    recall: float
    num_decided: int
    """denominator of precision"""
    num_true: int
    """denominator of recall"""

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def b_cubed(clusters: Sequence[Label], gold: Sequence[Label], weights: Sequence[float] | None = None) -> PrecisionRecall:
    """B³ over items (Bagga and Baldwin 1998): of each item the share of its cluster that is its own, and of its own that
    is in its cluster; averaged, by `weights` (e.g. seconds) if given. None is no cluster: such an item stands alone."""
    precision, recall = b_cubed_items(clusters, gold, weights)
    weight = np.ones(len(gold)) if weights is None else np.asarray(weights, dtype=np.float64)
    total = float(weight.sum())
    return PrecisionRecall(float(precision @ weight / total), float(recall @ weight / total), len(gold), len(gold))


def b_cubed_items(
    clusters: Sequence[Label], gold: Sequence[Label], weights: Sequence[float] | None = None
) -> tuple[Numbers, Numbers]:
    """What b_cubed averages: precision and recall of each item, shape (items,) each."""
    _same_length(clusters, gold)
    weight = np.ones(len(gold)) if weights is None else np.asarray(weights, dtype=np.float64)
    names: list[Label] = [("alone", i) if c is None else ("in", c) for i, c in enumerate(clusters)]
    both, in_cluster, of_gold = Counter[Label](), Counter[Label](), Counter[Label]()
    for name, truth, w in zip(names, gold, weight.tolist(), strict=True):
        both[name, truth] += w
        in_cluster[name] += w
        of_gold[truth] += w
    shared = np.array([both[name, truth] for name, truth in zip(names, gold, strict=True)])
    precision = shared / np.array([in_cluster[name] for name in names])
    recall = shared / np.array([of_gold[truth] for truth in gold])
    return precision, recall


def one_to_one(clusters: Sequence[Label], gold: Sequence[Label], weights: Sequence[float] | None = None) -> dict[Label, Label]:
    """Cluster → gold speaker, one to one, so that as much as possible agrees (Hungarian). None is no cluster."""
    _same_length(clusters, gold)
    names = list(dict.fromkeys(c for c in clusters if c is not None))
    truths = list(dict.fromkeys(gold))
    agree = np.zeros((len(names), len(truths)))
    for cluster, truth, w in zip(clusters, gold, weights or [1.0] * len(gold), strict=True):
        if cluster is not None:
            agree[names.index(cluster), truths.index(truth)] += w
    rows, columns = linear_sum_assignment(-agree)
    return {names[r]: truths[c] for r, c in zip(rows, columns, strict=True) if agree[r, c] > 0}


def attributed(clusters: Sequence[Label], gold: Sequence[Label], weights: Sequence[float] | None = None) -> list[bool]:
    """For each item whether it was put down to its speaker under the best one-to-one mapping; None never was."""
    mapping = one_to_one(clusters, gold, weights)
    return [c is not None and mapping.get(c) == g for c, g in zip(clusters, gold, strict=True)]


@dataclass(frozen=True, slots=True)
class RoutingFigures:
    """EvoSpeakerMem's figures for one stream of decisions; shares in [0, 1], NaN where there was nothing to count."""

    create: PrecisionRecall
    """a CREATE is right when its speaker was never seen before"""
    link_precision: float
    """LINKs to the person that was first created for the turn's speaker"""
    known_user_resolution_recall: float
    """returning speakers' turns that went to the person first created for them"""
    fnur: float
    """false new user rate: returning speakers' turns that made a new person"""
    unresolved: float
    """turns left undecided (ours; the paper has no such outcome)"""
    clusters_per_gold: float
    """people made per speaker"""


def routing_figures(
    decisions: Sequence[Decision], gold: Sequence[Label], *, enrolled: dict[str, Label] | None = None
) -> RoutingFigures:
    """`decisions` in spoken order with the true speaker of each; `enrolled`: person → speaker, known before the stream.

    A person is whoever's turn created it, for ever, whatever is linked to it afterwards; if a speaker was created several
    times, the first counts."""
    num = routing_counts(decisions, gold, enrolled=enrolled)
    return RoutingFigures(
        PrecisionRecall(
            _share(num["right_create"], num["create"]), _share(num["right_create"], num["new"]), num["create"], num["new"]
        ),
        _share(num["right_link"], num["link"]),
        _share(num["resolved"], num["returning"]),
        _share(num["false_new"], num["returning"]),
        _share(num["unresolved"], len(gold)),
        _share(num["people"], num["speakers"]),
    )


def routing_counts(
    decisions: Sequence[Decision], gold: Sequence[Label], *, enrolled: dict[str, Label] | None = None
) -> Counter[str]:
    """What routing_figures are shares of, so that several streams can be added up: new and returning turns; create, link and
    unresolved decisions; right_create, right_link, resolved (right and returning), false_new; people and speakers.

    A turn left undecided makes nobody known: whoever's first turns were all left so is still new, though counted as new once.
    Decisions made at a session's end belong behind those made while it ran, as the person they name may be one of its last."""
    _same_length(decisions, gold)
    owner: dict[str, Label] = dict(enrolled or {})
    first: dict[Label, str] = {}
    for person, speaker in owner.items():
        first.setdefault(speaker, person)
    seen, heard = set(first), set(first)
    num = Counter[str]()
    for decision, speaker in zip(decisions, gold, strict=True):
        new = speaker not in seen
        num["returning"] += not new
        num["new"] += speaker not in heard
        heard.add(speaker)
        match decision:
            case Create(person_id=person):
                num["create"] += 1
                num["right_create" if new else "false_new"] += 1
                owner[person] = speaker
                first.setdefault(speaker, person)
            case Link(person_id=person) | Assigned(person_id=person):
                num["link"] += 1
                right = first.get(speaker) == person
                num["right_link"] += right
                num["resolved"] += right and not new
            case Unresolved():
                num["unresolved"] += 1
                continue
        seen.add(speaker)
    num["people"], num["speakers"] = len(owner), len(heard)
    return num


def wrong_authorisations(accepted: Sequence[str | None], owners: dict[str, Label], gold: Sequence[Label]) -> int:
    """How often an asker was let in as a person who is somebody else; None: not let in."""
    _same_length(accepted, gold)
    return sum(person is not None and owners.get(person) != asker for person, asker in zip(accepted, gold, strict=True))


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    threshold: float
    false_accepts: float
    false_rejects: float


def eer(genuine: Numbers, impostor: Numbers) -> OperatingPoint:
    """Where false rejects of `genuine` and false accepts of `impostor` scores meet; both rates are given, and their mean is
    the equal error rate. Accepted is a score at or above the threshold."""
    points = np.unique(np.concatenate([genuine, impostor]))
    rejects = np.searchsorted(np.sort(genuine), points, side="left") / len(genuine)
    accepts = 1.0 - np.searchsorted(np.sort(impostor), points, side="left") / len(impostor)
    best = int(np.argmin(np.abs(rejects - accepts)))
    return OperatingPoint(float(points[best]), float(accepts[best]), float(rejects[best]))


def equal_error_rate(genuine: Numbers, impostor: Numbers) -> float:
    """The EER as one figure in [0, 1]."""
    point = eer(genuine, impostor)
    return (point.false_accepts + point.false_rejects) / 2


def at_false_accepts(genuine: Numbers, impostor: Numbers, rate: float) -> OperatingPoint:
    """The lowest threshold at which at most `rate` of `impostor` scores are accepted."""
    ordered = np.sort(impostor)[::-1]
    allowed = int(np.floor(rate * len(ordered) + 1e-9))
    threshold = float(np.nextafter(ordered[allowed], np.inf)) if allowed < len(ordered) else float(ordered[-1])
    return OperatingPoint(threshold, float((impostor >= threshold).mean()), float((genuine < threshold).mean()))


def min_dcf(genuine: Numbers, impostor: Numbers, *, prior: float = 0.01) -> float:
    """Least normalised detection cost over all thresholds with equal costs and a target prior of `prior` (NIST SRE)."""
    points = np.append(np.unique(np.concatenate([genuine, impostor])), np.inf)
    rejects = np.searchsorted(np.sort(genuine), points, side="left") / len(genuine)
    accepts = 1.0 - np.searchsorted(np.sort(impostor), points, side="left") / len(impostor)
    cost = prior * rejects + (1 - prior) * accepts
    return float(cost.min() / min(prior, 1 - prior))


def bootstrap(
    items: Sequence[object],
    figure: Callable[[list[int]], float],
    *,
    groups: Sequence[Label] | None = None,
    rounds: int = 1000,
    seed: int = 0,
) -> tuple[float, float]:
    """95 % percentile interval of `figure(indices)` over resamples of items, or of whole `groups` (e.g. recordings)."""
    rng = np.random.default_rng(seed)
    if groups is None:
        units: list[list[int]] = [[i] for i in range(len(items))]
    else:
        _same_length(items, groups)
        units = [[i for i, g in enumerate(groups) if g == group] for group in dict.fromkeys(groups)]
    drawn = rng.integers(0, len(units), size=(rounds, len(units)))
    values = [figure([i for unit in row for i in units[unit]]) for row in drawn.tolist()]
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def share_interval(successes: int, total: int) -> tuple[float, float]:
    """95 % Wilson interval of a share; for a count of zero the upper bound is about 3 / n, as it should be."""
    if total == 0:
        return 0.0, 1.0
    z, p = 1.959964, successes / total
    centre, spread = p + z * z / (2 * total), z * float(np.sqrt(p * (1 - p) / total + z * z / (4 * total * total)))
    scale = 1 + z * z / total
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return (0.0 if successes == 0 else low), (1.0 if successes == total else high)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _same_length(one: Sequence[object], other: Sequence[object]) -> None:
    if len(one) != len(other):
        raise InvalidInput(what="the pair of sequences", given=f"{len(one)} and {len(other)} long", needed="equal lengths")
