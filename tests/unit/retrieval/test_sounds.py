"""Which questions ask for sounds, and what is near to what they are about?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.retrieval.plan import plan
from service.retrieval.sounds import NearConfig, asks_for_sounds, is_about, near, without_sounds
from service.types.sounds import SoundLabel


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("When was someone laughing about the trip?", {SoundLabel.LAUGHING}),
        ("Who giggled while Ana was whispering?", {SoundLabel.LAUGHING, SoundLabel.WHISPERING}),
        ("Worüber hat Ben gelacht?", {SoundLabel.LAUGHING}),
        ("Why did she shout at him?", {SoundLabel.SHOUTING}),
        ("When did Ben talk so fast?", {SoundLabel.FAST}),
        ("What was said when the phone rang?", {SoundLabel.RINGING}),
        ("What were we talking about while music was playing?", {SoundLabel.MUSIC}),
        ("Did the dog bark again, barking at the door?", {SoundLabel.DOG}),
        ("What music does Ana like?", set()),
        ("How fast is the train?", set()),
        ("When is my phone repaired?", set()),
        ("Who has a dog?", set()),
        ("", set()),
    ],
)
def test_a_question_names_sounds_by_how_they_are_spoken_of(question: str, labels: set[SoundLabel]) -> None:
    assert set(asks_for_sounds(question)) == labels


def test_what_is_left_of_a_question_is_what_the_sound_is_to_be_near_to() -> None:
    question = "When was someone laughing about the trip to Cork?"
    rest = without_sounds(plan(question, {}), asks_for_sounds(question))
    assert "laugh" not in rest.words and "trip" in rest.words and is_about(rest)
    alone = "When was somebody laughing?"
    assert not is_about(without_sounds(plan(alone, {}), asks_for_sounds(alone)))
    named = "When did Ana laugh?"
    assert not is_about(without_sounds(plan(named, {"1": ["Ana"]}), asks_for_sounds(named)))


def test_nearness_fades_with_the_distance_ends_at_the_session_and_leaves_out_what_is_far() -> None:
    scores = {("s", 10): 0.8, ("s", 40): 0.05, ("t", 11): 0.01}
    found = near([("s", 11), ("s", 13), ("s", 15), ("s", 41), ("t", 10)], scores)
    assert list(found) == [("s", 11), ("s", 13)] and found["s", 11] > found["s", 13]
    assert near([("s", 1)], {}) == near([], scores) == {}


places = st.tuples(st.sampled_from("ab"), st.integers(0, 30))


@settings(max_examples=40)
@given(st.lists(places, max_size=10), st.dictionaries(places, st.floats(0.0, 1.0), max_size=10))
def test_nothing_is_nearer_than_the_best_or_out_of_reach(
    wanted: list[tuple[str, int]], scores: dict[tuple[str, int], float]
) -> None:
    for (session, index), score in near(wanted, scores).items():
        reached = [s for (other, at), s in scores.items() if other == session and abs(at - index) <= NearConfig().reach]
        assert 0.0 < score <= max(reached)
