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
    PAPER_VOICES,
    THRESHOLDS,
    ChannelPair,
    FalseAccepts,
    UnknownEncoder,
    channel_pair,
    equal_false_accepts,
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


def test_compensated_pairs_are_told_apart_like_raw_ones() -> None:
    assert channel_pair("wideband", "room", compensated=True) is ChannelPair.COMPENSATED
    assert channel_pair("room", "telephone", compensated=True) is ChannelPair.COMPENSATED_CROSS
    assert channel_pair("telephone", "telephone", compensated=True) is ChannelPair.COMPENSATED_TELEPHONE


def test_a_twin_is_for_the_telephone_alone() -> None:
    assert channel_pair("telephone", "twin") is ChannelPair.TWIN
    assert channel_pair("wideband", "twin") is ChannelPair.WIDEBAND


@given(size=SIZES)
def test_learning_is_never_easier_than_linking_among_few(size: int) -> None:
    for pair in ChannelPair:
        assert CAMPPLUS.update_at(pair) >= CAMPPLUS.link(min(size, 20), pair)


@pytest.mark.parametrize("name", sorted(THRESHOLDS))
@pytest.mark.parametrize("pair", list(ChannelPair))
def test_every_encoder_has_a_threshold_for_every_pair(name: str, pair: ChannelPair) -> None:
    assert -1.0 < THRESHOLDS[name].link(5, pair) <= 0.95


def test_the_papers_constants_elsewhere_are_where_strangers_reach_as_often() -> None:
    impostors = np.random.default_rng(1).normal(0.2, 0.1, 300_000)
    paper = equal_false_accepts("campplus", FalseAccepts.measured(impostors))
    assert paper.link(5) == paper.link(10_000) == paper.create(5)
    assert (impostors >= paper.link(5)).mean() == pytest.approx(0.02, rel=0.1)
    assert (impostors >= paper.update).mean() == pytest.approx(0.003, rel=0.2)
    assert equal_false_accepts("campplus", PAPER_VOICES).link(1) == pytest.approx(0.422)


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
