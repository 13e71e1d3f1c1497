"""Is somebody told to shout, whisper or hurry only against how they themselves usually speak?"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from service.memory.manner import MannerConfig, Usually, manners, usually
from service.types.sounds import Manner, SoundLabel

CALM = [Manner(-26.0 + i % 3, 120.0 + i % 5, 2.5 + 0.1 * (i % 4), 0.6) for i in range(12)]


def of(turn: Manner, usual: Usually | None = None, words: int = 12, net_speech: float = 4.0) -> set[SoundLabel]:
    return set(manners(turn, usual or usually(CALM), words=words, net_speech=net_speech))


def test_louder_and_higher_than_usual_is_shouting_and_either_alone_is_not() -> None:
    assert of(Manner(-14.0, 190.0, 2.6, 0.7)) == {SoundLabel.SHOUTING}
    assert of(Manner(-14.0, 121.0, 2.6, 0.7)) == set()
    assert of(Manner(-26.0, 190.0, 2.6, 0.7)) == set()


def test_quiet_and_without_voice_is_whispering_unless_the_channel_never_lets_a_voice_through() -> None:
    assert of(Manner(-38.0, None, 2.6, 0.02)) == {SoundLabel.WHISPERING}
    assert of(Manner(-38.0, 120.0, 2.6, 0.5)) == set(), "quiet, but voiced"
    noisy = usually([Manner(-26.0, None, 2.5, 0.1) for _ in range(12)])
    assert of(Manner(-38.0, None, 2.6, 0.02), noisy) == set()


def test_pace_is_against_ones_own_and_a_short_turn_has_none() -> None:
    assert of(Manner(-26.0, 120.0, 4.4, 0.6)) == {SoundLabel.FAST}
    assert of(Manner(-26.0, 120.0, 1.4, 0.6)) == {SoundLabel.SLOW}
    assert of(Manner(-26.0, 120.0, 4.4, 0.6), words=3) == set()
    hurried = usually([Manner(-26.0, 120.0, 4.3 + 0.1 * (i % 3), 0.6) for i in range(12)])
    assert of(Manner(-26.0, 120.0, 4.4, 0.6), hurried) == set()


def test_of_somebody_heard_little_nothing_is_told() -> None:
    few = usually(CALM[: MannerConfig().least_usual - 1])
    assert of(Manner(-5.0, 400.0, 9.0, 0.0), few) == set()


number = st.none() | st.floats(-80.0, 500.0)


@settings(max_examples=40)
@given(
    st.lists(st.builds(Manner, number, number, number, number), max_size=12), st.builds(Manner, number, number, number, number)
)
def test_whatever_was_measured_scores_lie_between_half_and_one(turns: list[Manner], turn: Manner) -> None:
    heard = [m for m in turns if (m.pitch is None or m.pitch > 0) and (m.rate is None or m.rate > 0)]
    if (turn.pitch is None or turn.pitch > 0) and (turn.rate is None or turn.rate > 0):
        found = manners(turn, usually(heard), words=10, net_speech=3.0)
        assert all(0.5 <= score <= 1.0 for score in found.values())
        assert not {SoundLabel.FAST, SoundLabel.SLOW} <= set(found)
