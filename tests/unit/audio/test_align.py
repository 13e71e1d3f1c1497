"""Words find their turns; none is lost, none is doubled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.audio.align import AlignConfig, joined, words_to_turns
from service.types.audio import Segment, SignalQuality, SpeakerTurn, Word

QUALITY = SignalQuality(level_dbfs=-20.0, snr_db=25.0, bandwidth_hz=7_000.0, clipped=0.0)


def a_turn(index: int, start: float, end: float, *, alone: tuple[tuple[float, float], ...] | None = None) -> SpeakerTurn:
    speech = tuple(Segment(*part) for part in (alone if alone is not None else ((start, end),)))
    return SpeakerTurn(index, Segment(start, end), f"track{index}", speech, 0.0, QUALITY, "wideband")


def a_word(text: str, start: float, end: float) -> Word:
    return Word(text, Segment(start, end))


def texts(turns: tuple[SpeakerTurn, ...]) -> list[str | None]:
    return [turn.text for turn in turns]


def test_each_word_goes_to_the_turn_it_lies_in() -> None:
    aligned = words_to_turns(
        [a_turn(0, 0, 2), a_turn(1, 2, 4)], [a_word("hello", 0.1, 0.5), a_word("there", 0.6, 1.0), a_word("hi", 2.2, 2.4)]
    )
    assert texts(aligned.turns) == ["hello there", "hi"]
    assert not aligned.dropped


def test_a_word_across_a_border_goes_where_more_of_it_lies() -> None:
    aligned = words_to_turns([a_turn(0, 0, 2), a_turn(1, 2, 4)], [a_word("late", 1.9, 2.5)])
    assert texts(aligned.turns) == [None, "late"]


def test_in_overlap_a_word_belongs_to_who_speaks_alone_at_its_middle() -> None:
    holder = a_turn(0, 0, 10, alone=((0, 4), (5, 10)))
    inserted = a_turn(1, 3.5, 5.5, alone=((4, 5),))
    aligned = words_to_turns([holder, inserted], [a_word("yes", 4.3, 4.6), a_word("well", 3.6, 3.9)])
    assert texts(aligned.turns) == ["well", "yes"]


def test_a_tie_goes_to_the_nearest_exclusive_speech_then_to_the_earlier_turn() -> None:
    first = a_turn(0, 0, 5, alone=((0, 3),))
    second = a_turn(1, 3, 8, alone=((5, 8),))
    aligned = words_to_turns([first, second], [a_word("early", 3.2, 3.6), a_word("late", 4.4, 4.8), a_word("even", 3.9, 4.1)])
    assert texts(aligned.turns) == ["early even", "late"]


def test_words_out_of_everybodys_speech_are_returned_as_dropped() -> None:
    words = [a_word("Thanks", 20.0, 20.4), a_word("for", 20.4, 20.6), a_word("watching!", 20.6, 21.0)]
    aligned = words_to_turns([a_turn(0, 0, 5)], words)
    assert aligned.dropped == tuple(words)
    assert texts(aligned.turns) == [None]


def test_a_word_just_beside_a_turn_is_still_its() -> None:
    aligned = words_to_turns([a_turn(0, 1, 5)], [a_word("so", 0.6, 0.9), a_word("far", 5.6, 5.9)])
    assert texts(aligned.turns) == ["so"]
    assert [word.text for word in aligned.dropped] == ["far"]


def test_words_past_the_end_of_the_audio_are_cut_to_it() -> None:
    aligned = words_to_turns([a_turn(0, 28, 30)], [a_word("end", 29.9, 30.02)], audio=Segment(0, 30))
    assert aligned.turns[0].words == (a_word("end", 29.9, 30),)


def test_words_far_past_the_end_of_the_audio_are_dropped() -> None:
    word = a_word("ghost", 40, 41)
    assert words_to_turns([a_turn(0, 28, 60)], [word], audio=Segment(0, 30)).dropped == (word,)


def test_without_turns_every_word_is_dropped() -> None:
    assert len(words_to_turns([], [a_word("who?", 0, 1)]).dropped) == 1


def test_language_and_words_are_filled_in_only_where_something_was_said() -> None:
    aligned = words_to_turns([a_turn(0, 0, 2), a_turn(1, 5, 6)], [a_word("ja", 0.1, 0.5)], language="de")
    assert [turn.language for turn in aligned.turns] == ["de", None]


def test_languages_without_spaces_are_joined_without_spaces() -> None:
    words = [a_word("今日", 0, 1), a_word("は", 1, 2)]
    assert (joined(words, "ja"), joined(words, "en")) == ("今日は", "今日 は")


moments = st.floats(0, 60, allow_nan=False)
spans = st.tuples(moments, moments).map(lambda pair: Segment(min(pair), max(pair)))


@given(turns=st.lists(spans, max_size=8), words=st.lists(spans, max_size=30), end=st.floats(1, 60))
def test_no_word_is_lost_or_doubled(turns: list[Segment], words: list[Segment], end: float) -> None:
    made = [a_turn(i, span.start, span.end) for i, span in enumerate(turns)]
    aligned = words_to_turns(made, [Word(str(i), span) for i, span in enumerate(words)], audio=Segment(0, end))
    kept = [word.text for turn in aligned.turns for word in turn.words] + [word.text for word in aligned.dropped]
    assert sorted(kept) == sorted(str(i) for i in range(len(words)))
    assert [turn.index for turn in aligned.turns] == list(range(len(turns)))


@given(turns=st.lists(spans, min_size=1, max_size=8), words=st.lists(spans, max_size=30))
def test_a_kept_word_is_within_reach_of_its_turn_and_in_order(turns: list[Segment], words: list[Segment]) -> None:
    made = [a_turn(i, span.start, span.end) for i, span in enumerate(turns)]
    for turn in words_to_turns(made, [Word("w", span) for span in words]).turns:
        assert list(turn.words) == sorted(turn.words, key=lambda word: word.segment)
        for word in turn.words:
            gap = max(turn.segment.start - word.segment.end, word.segment.start - turn.segment.end)
            assert gap <= AlignConfig().reach
