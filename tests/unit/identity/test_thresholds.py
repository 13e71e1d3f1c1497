"""What the thresholds promise for every gallery and channel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput
from service.identity.thresholds import (
    CAMPPLUS,
    ECAPA,
    THRESHOLDS,
    ChannelPair,
    FalseAccepts,
    UnknownEncoder,
    channel_pair,
    thresholds_for,
)

SIZES = st.integers(1, 100_000)
PAIRS = st.sampled_from(list(ChannelPair))


@given(size=SIZES, more=st.integers(0, 100_000), pair=PAIRS, name=st.sampled_from(sorted(THRESHOLDS)))
def test_thresholds_never_fall_as_people_join(size: int, more: int, pair: ChannelPair, name: str) -> None:
    thresholds = THRESHOLDS[name]
    for of in (thresholds.link, thresholds.access, thresholds.session_link):
        assert of(size + more, pair) >= of(size, pair)


@given(size=SIZES, pair=PAIRS, name=st.sampled_from(sorted(THRESHOLDS)))
def test_creating_lies_below_linking_and_asking_above(size: int, pair: ChannelPair, name: str) -> None:
    thresholds = THRESHOLDS[name]
    assert thresholds.create(size, pair) < thresholds.link(size, pair)
    assert thresholds.access(size, pair) > thresholds.link(size, pair) or thresholds.link(size, pair) == 0.95


@given(size=SIZES)
def test_the_telephone_is_stricter(size: int) -> None:
    assert CAMPPLUS.link(size, ChannelPair.TELEPHONE) > CAMPPLUS.link(size) > CAMPPLUS.link(size, ChannelPair.CROSS)


def test_the_papers_values_are_ecapas() -> None:
    assert ECAPA.link(5) == pytest.approx(0.489)
    assert ECAPA.update == 0.58


def test_a_small_wideband_gallery_links_from_half() -> None:
    assert CAMPPLUS.link(1) == CAMPPLUS.link(5) == pytest.approx(0.507)


def test_channels_are_paired_by_how_many_are_narrow() -> None:
    assert channel_pair("wideband", "room") is ChannelPair.WIDEBAND
    assert channel_pair("telephone", "room") is channel_pair("room", "telephone") is ChannelPair.CROSS
    assert channel_pair("telephone", "telephone") is ChannelPair.TELEPHONE


def test_an_unknown_encoder_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownEncoder, match="campplus, ecapa, titanet"):
        thresholds_for("ge2e")


def test_a_measured_tail_is_met_where_it_was_measured() -> None:
    impostors = np.random.default_rng(0).normal(0.1, 0.1, 200_000)
    tail = FalseAccepts.measured(impostors)
    for rate in (0.01, 0.003, 0.0002):
        assert (impostors >= tail.threshold(rate)).mean() == pytest.approx(rate, rel=0.25)
    assert tail.threshold(1e-7) > tail.threshold(1e-5) > tail.threshold(1e-4)


def test_too_few_pairs_measure_nothing() -> None:
    with pytest.raises(InvalidInput):
        FalseAccepts.measured(np.zeros(10))


@pytest.mark.parametrize("name", sorted(THRESHOLDS))
def test_every_threshold_says_where_it_is_from(name: str) -> None:
    assert len(THRESHOLDS[name].origin) > 40
