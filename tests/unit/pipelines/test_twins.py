from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from service.pipelines.twins import Twinned, TwinsConfig, twins
from service.types.audio import SAMPLE_RATE, EmbeddingSpace, SpeakerEmbedding, SpeakerTurn, Waveform
from tests.builders import VOICE, a_heard_turn


def turns(*of: tuple[str, float, str]) -> list[SpeakerTurn]:
    return [replace(a_heard_turn(i, track, seconds=seconds), channel=channel) for i, (track, seconds, channel) in enumerate(of)]


def test_the_first_long_wideband_turns_of_each_voice_are_chosen() -> None:
    heard = turns(
        ("a", 4.0, "wideband"), ("b", 2.0, "wideband"), ("a", 4.0, "telephone"), ("a", 5.0, "wideband"), ("b", 3.0, "wideband"),
        ("a", 9.0, "wideband"), ("a", 9.0, "wideband"),
    )  # fmt: skip
    chosen = Twinned()
    assert [chosen(turn) for turn in heard] == [True, False, False, True, True, True, False]


class Listening:
    """An encoder that keeps what it is given: the level of each sound above 4 kHz, and its length."""

    embedding_space: EmbeddingSpace = VOICE

    def __init__(self) -> None:
        self.high: list[float] = []
        self.seconds: list[float] = []

    def __call__(self, waveforms: Sequence[Waveform]) -> list[SpeakerEmbedding]:
        for waveform in waveforms:
            power = np.abs(np.fft.rfft(waveform.samples)) ** 2
            above = np.fft.rfftfreq(len(waveform.samples), 1 / SAMPLE_RATE) > 4_000
            self.high.append(float(power[above].sum() / power.sum()))
            self.seconds.append(waveform.duration)
        return [SpeakerEmbedding(np.eye(VOICE.dimension, dtype=np.float32)[0], VOICE) for _ in waveforms]


def test_a_twin_is_the_turns_own_speech_without_what_a_telephone_leaves_out() -> None:
    noise = np.random.default_rng(0).standard_normal(60 * SAMPLE_RATE).astype(np.float32)
    long, short = a_heard_turn(3, "a", start=2.0, seconds=30.0), a_heard_turn(7, "b", start=40.0, seconds=4.0)
    encoder = Listening()
    made = twins(encoder, [(long, Waveform(noise)), (short, Waveform(noise))])
    assert set(made) == {3, 7}
    assert encoder.seconds == [TwinsConfig().embedded_to, 4.0]
    assert max(encoder.high) < 1e-3
    assert twins(encoder, []) == {}
