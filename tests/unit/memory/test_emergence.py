"""Clusters that emerge from questions: they must be asked for together, by many, and fade when they are asked for no more."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.memory import emergence
from service.memory.emergence import Activation, Cluster, EmergenceConfig, coherence, emerged, promoted, threshold

GARDEN = ["rose", "tulip", "hedge", "lawn"]
THEMES = dict.fromkeys([*GARDEN, *(f"other {i}" for i in range(200))], "home") | {"boat": "travel"}


def asked(*activated: list[str]) -> list[Activation]:
    return [Activation(str(i), frozenset(entities)) for i, entities in enumerate(activated)]


def a_log(repeating: int, scattered: int, seed: int = 0) -> list[Activation]:
    """Questions about the garden among questions about anything, in a random order."""
    rng = random.Random(seed)
    log = [rng.sample(GARDEN, 3) for _ in range(repeating)]
    log += [[f"other {i}" for i in rng.sample(range(200), 4)] for _ in range(scattered)]
    rng.shuffle(log)
    return asked(*log)


def test_coherence_is_the_mean_jaccard_over_all_questions() -> None:
    log = asked(["a", "b"], ["a", "c"], ["d"])
    assert coherence({"a", "b"}, log) == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert coherence({"a"}, []) == 0.0


def test_the_threshold_falls_with_the_number_of_questions() -> None:
    assert threshold(200) == pytest.approx(0.02) and threshold(400) == pytest.approx(0.01)
    assert threshold(0) == threshold(1) == 1.0


@pytest.mark.parametrize(("repeating", "scattered"), [(4, 0), (5, 20), (10, 100), (20, 400)])
def test_what_is_asked_for_again_and_again_emerges(repeating: int, scattered: int) -> None:
    log = a_log(repeating, scattered)
    (cluster, *others) = emerged(log, THEMES)
    assert cluster.members == set(GARDEN) and promoted(cluster, log)
    assert cluster.theme == "home" and len(cluster.supporting) == repeating
    assert not [c for c in others if promoted(c, log)]


@pytest.mark.parametrize("scattered", [3, 50, 400])
def test_nothing_emerges_from_questions_about_anything(scattered: int) -> None:
    log = a_log(0, scattered)
    assert not [c for c in emerged(log, THEMES) if promoted(c, log)]


def test_it_fades_when_its_questions_expire() -> None:
    log = a_log(6, 100)
    assert [c for c in emerged(log, THEMES) if promoted(c, log)]
    garden = [one for one in log if one.entities & set(GARDEN)]
    later = [one for one in log if one not in garden[:4]]
    assert not [c for c in emerged(later, THEMES) if promoted(c, later)]


def test_a_burst_is_no_theme() -> None:
    """Asked on one day only, in one half of the log taken turn about."""
    log = [Activation(str(i), frozenset(GARDEN) if i % 2 == 0 else frozenset({f"other {i}"})) for i in range(20)]
    (cluster,) = emerged(log, THEMES)
    assert not promoted(cluster, log)


def test_a_cluster_lies_within_one_theme_and_no_entity_in_two() -> None:
    log = asked(*[["rose", "tulip", "hedge", "boat"]] * 6)
    (cluster,) = emerged(log, THEMES)
    assert cluster.members == {"rose", "tulip", "hedge"}


def test_too_large_is_peeled_to_what_is_told() -> None:
    everything = [f"other {i}" for i in range(30)]
    log = asked(*[[*GARDEN, *everything[i : i + 12]] for i in range(0, 18, 2)], *[GARDEN] * 6)
    for cluster in emerged(log, THEMES, EmergenceConfig(max_size=5)):
        assert len(cluster.members) <= 5


def test_how_coherent_it_is_is_asked_only_of_what_is_small_enough_to_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all others it would take the square of their number."""
    sizes: list[int] = []

    def seen(members: Collection[str], log: Sequence[Activation]) -> float:
        sizes.append(len(members))
        return coherence(members, log)

    monkeypatch.setattr(emergence, "coherence", seen)
    emerged(asked(*[[f"other {i}" for i in range(60)]] * 4), THEMES, EmergenceConfig(max_size=5))
    assert sizes and max(sizes) <= 5


@given(st.lists(st.frozensets(st.sampled_from([*GARDEN, "other 1", "other 2", "boat"]), max_size=5), max_size=12))
def test_clusters_are_connected_coherent_and_depend_on_no_order_of_names(log: list[frozenset[str]]) -> None:
    questions = [Activation(str(i), entities) for i, entities in enumerate(log)]
    found = emerged(questions, THEMES)
    members = [e for c in found for e in c.members]
    assert len(members) == len(set(members))
    for c in found:
        assert isinstance(c, Cluster) and c.coherence == coherence(c.members, questions) > threshold(len(questions))
        assert {THEMES[e] for e in c.members} == {c.theme}
    renamed = {e: f"z{i}" for i, e in enumerate(reversed(sorted(THEMES)))}
    other = emerged(
        [Activation(q.question, frozenset(renamed[e] for e in q.entities)) for q in questions],
        {renamed[e]: t for e, t in THEMES.items()},
    )
    assert sorted(round(c.coherence, 9) for c in other)[-1:] == sorted(round(c.coherence, 9) for c in found)[-1:]
