"""The memory prompt: never longer than its limit, the best first, every line with its sources."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from service.streaming.prompt import Brain, PromptConfig, Recalled, memory_prompt, tokens_of

SAID_AT = datetime(2026, 11, 2, 18, 30, tzinfo=UTC)


def said(text: str, score: float = 0.5, brain: Brain = Brain.LEFT) -> Recalled:
    return Recalled(brain, text, ("m1",), score, by="Ben", to=("Nora",), said_at=SAID_AT)


def test_a_line_says_who_told_whom_and_when_and_points_to_its_source() -> None:
    prompt = memory_prompt([said("The tuner\ncomes  on Friday.")])
    assert prompt.text.splitlines()[1:] == ["[1] 2 November 2026, Ben to Nora: The tuner comes on Friday."]
    assert prompt.lines[0].sources == ("m1",)


def test_the_best_come_first_and_the_right_part_last() -> None:
    lines = [said("worse", 0.2), said("often cheerful", 0.9, Brain.RIGHT), said("better", 0.7)]
    prompt = memory_prompt(lines)
    assert [one.text for one in prompt.lines] == ["better", "worse", "often cheerful"]
    numbers = [line.split("]")[0] for line in prompt.text.splitlines() if line.startswith("[")]
    assert numbers == ["[1", "[2", "[3"]


def test_a_long_turn_is_cut_between_words_and_short_ones_after_it_still_have_room() -> None:
    prompt = memory_prompt([said("word " * 200, 0.9), *(said(f"short one {i}", 0.5) for i in range(40))])
    assert prompt.lines[0].text.startswith("word") and "…" in prompt.text and len(prompt.lines) > 5
    assert not any(line.endswith("wor …") for line in prompt.text.splitlines())


def test_nothing_remembered_is_no_prompt() -> None:
    assert memory_prompt([]).text == "" and memory_prompt([]).tokens == 0


@given(
    st.lists(
        st.builds(said, st.text(max_size=400), st.floats(0, 1), st.sampled_from(Brain)),
        max_size=40,
    )
)
def test_whatever_is_remembered_it_is_no_longer_than_its_limit(recalled: list[Recalled]) -> None:
    config = PromptConfig()
    prompt = memory_prompt(recalled, config)
    assert prompt.tokens == tokens_of(prompt.text) <= config.max_tokens
    assert set(prompt.lines) <= set(recalled)
