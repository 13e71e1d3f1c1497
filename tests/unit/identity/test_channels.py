"""What a channel's mean is made of, and what is left of a voice without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.identity.channels import ChannelsConfig, channel_means, compensated
from service.identity.policies import unit
from service.types.audio import Samples
from service.types.people import ChannelMean, Exemplar
from tests.unit.identity.voices import SPACE, an_exemplar, axis

TONE = 1.5
"""How much of every made voice is the channel's own direction, axis 0, beside a direction of length about 1."""


def voices(people: int, utterances: int, *, channel: str = "telephone", tone: float = TONE, seed: int = 0) -> list[Samples]:
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((people * utterances, SPACE.dimension)) / np.sqrt(SPACE.dimension) + tone * axis(0)
    return [unit(v.astype(np.float32), dimension=SPACE.dimension, what=channel) for v in drawn]


def kept(people: int, utterances: int, *, channel: str = "telephone", seed: int = 0) -> dict[str, list[Exemplar]]:
    vectors = voices(people, utterances, channel=channel, seed=seed)
    return {
        f"p{p}": [an_exemplar(f"{channel}-{p}-{u}", vectors[p * utterances + u], channel=channel) for u in range(utterances)]
        for p in range(people)
    }


def test_a_mean_needs_twenty_utterances_of_ten_people() -> None:
    assert set(channel_means(kept(10, 2))) == {"telephone"}
    assert channel_means(kept(9, 3)) == {}
    assert channel_means(kept(19, 1)) == {}


def test_a_mean_says_of_how_many_it_is() -> None:
    mean = channel_means(kept(12, 3))["telephone"]
    assert (mean.channel, mean.num_people, mean.num_utterances, mean.version) == ("telephone", 12, 36, 0)


def test_each_channel_has_its_own() -> None:
    exemplars = kept(10, 2)
    for person, more in kept(10, 2, channel="board room", seed=1).items():
        exemplars[person] += more
    assert set(channel_means(exemplars)) == {"board room", "telephone"}


def test_a_person_counts_once_however_much_they_say() -> None:
    few = kept(20, 1)
    much = few | {"p0": [replace(few["p0"][0], id=f"again-{i}") for i in range(50)]}
    one, other = (channel_means(e)["telephone"].vector for e in (few, much))
    assert np.allclose(one, other, atol=1e-6)


def test_twins_make_no_mean() -> None:
    twins = {p: [replace(e, twin_of="another") for e in of] for p, of in kept(20, 2).items()}
    assert channel_means(twins) == {}
    exemplars = kept(10, 2)
    before = channel_means(exemplars)["telephone"]
    exemplars["p0"].append(replace(exemplars["p1"][0], id="twin", twin_of="another"))
    after = channel_means(exemplars)["telephone"]
    assert np.array_equal(before.vector, after.vector) and before.num_utterances == after.num_utterances


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**16), people=st.integers(10, 20), utterances=st.integers(2, 4))
def test_a_mean_depends_on_what_is_kept_and_not_on_its_order(seed: int, people: int, utterances: int) -> None:
    exemplars = kept(people, utterances, seed=seed)
    rng = np.random.default_rng(seed)
    shuffled = {p: [exemplars[p][i] for i in rng.permutation(utterances)] for p in rng.permutation(sorted(exemplars)).tolist()}
    one, other = (channel_means(e)["telephone"] for e in (exemplars, shuffled))
    assert np.array_equal(one.vector, other.vector)


def test_a_mean_of_voices_that_have_nothing_in_common_takes_nothing_away() -> None:
    """Their average is chance: drawn to zero, or nearly."""
    rng = np.random.default_rng(3)
    drawn = rng.standard_normal((20, SPACE.dimension))
    exemplars = {f"p{i}": [an_exemplar(f"e{i}", unit(v, dimension=8, what="v"), channel="room")] for i, v in enumerate(drawn)}
    plain = np.stack([e[0].vector for e in exemplars.values()]).mean(axis=0)
    shrunk = channel_means(exemplars)["room"].vector
    assert np.linalg.norm(shrunk) < 0.5 * np.linalg.norm(plain)


def test_strangers_on_one_channel_are_strangers_again_without_its_mean() -> None:
    means = channel_means(kept(30, 2))
    raw = np.stack(voices(40, 1, seed=9))
    left = np.stack([v for v in (compensated(r, "telephone", means) for r in raw) if v is not None])
    among = ~np.eye(40, dtype=bool)
    assert (raw @ raw.T)[among].mean() > 0.6
    assert abs((left @ left.T)[among].mean()) < 0.1
    assert np.allclose(np.linalg.norm(left, axis=1), 1.0, atol=1e-6)


def test_what_has_no_mean_is_not_compensated() -> None:
    assert compensated(axis(1), "wideband", channel_means(kept(10, 2))) is None


def test_a_voice_that_is_nothing_but_the_channel_is_compared_raw() -> None:
    means = {"telephone": ChannelMean("telephone", axis(0), 20, 10)}
    assert compensated(axis(0), "telephone", means) is None


def test_nan_leaves_nothing_to_compare() -> None:
    means = {"telephone": ChannelMean("telephone", 0.5 * axis(0), 20, 10)}
    assert compensated(np.full(8, np.nan, dtype=np.float32), "telephone", means) is None


@pytest.mark.parametrize("people", [1, 2])
def test_a_lower_bar_is_a_choice(people: int) -> None:
    config = ChannelsConfig(min_utterances=1, min_people=1)
    (mean,) = channel_means(kept(people, 1), config).values()
    assert np.all(np.isfinite(mean.vector)) and np.linalg.norm(mean.vector) <= 1.0 + 1e-6
