"""JSON of whisper, faster-whisper, WhisperX, and plain lists; broken numbers and missing fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.files import TranscriptUnreadable
from service.connectors.files.json_segments import parse
from service.types.audio import Segment, TranscriptSegment, Word
from service.types.told import Image, Told


def read(document: Any) -> tuple[TranscriptSegment, ...]:
    return parse(json.dumps(document), "talk.json").segments


def test_whisper_segments_have_text_words_and_language() -> None:
    transcript = parse(
        json.dumps(
            {
                "text": " Hello there.",
                "language": "en",
                "segments": [
                    {
                        "id": 0,
                        "start": 0.0,
                        "end": 1.2,
                        "text": " Hello there.",
                        "no_speech_prob": 0.01,
                        "words": [
                            {"word": " Hello", "start": 0.0, "end": 0.5, "probability": 0.9},
                            {"word": " there.", "start": 0.5, "end": 1.2, "probability": 0.8},
                        ],
                    }
                ],
            }
        ),
        "talk.json",
    )
    words = (Word("Hello", Segment(0.0, 0.5), 0.9), Word("there.", Segment(0.5, 1.2), 0.8))
    assert transcript.segments == (TranscriptSegment(Segment(0.0, 1.2), None, "Hello there.", words, "en", Told(key="0")),)
    assert transcript.language == "en"


def test_a_plain_list_is_read_in_order_of_time() -> None:
    found = read([{"start": 2, "end": 3, "speaker": 1, "text": "b"}, {"start": "0.5", "end": 1.0, "speaker": "A", "text": "a"}])
    assert [(part.label, part.text) for part in found] == [("A", "a"), ("1", "b")]


WHISPERX = {
    "start": 0.0,
    "end": 4.0,
    "text": "in 2014. we the met",
    "speaker": "SPEAKER_00",
    "words": [
        {"word": "in", "start": 0.0, "end": 1.0, "score": 0.9, "speaker": "SPEAKER_00"},
        {"word": "2014."},
        {"word": "we", "start": 2.0, "end": 2.5, "score": 0.9, "speaker": "SPEAKER_00"},
        {"word": "the", "score": 0.001},
        {"word": "met", "start": 3.0, "end": 4.0, "score": 0.9, "speaker": "SPEAKER_01"},
    ],
}


def test_whisperx_words_without_times_lie_between_their_neighbours() -> None:
    words = [word for part in read([WHISPERX]) for word in part.words]
    assert [word.text for word in words] == ["in", "2014.", "we", "the", "met"]
    assert words[1].segment == Segment(1.0, 2.0)
    assert words[3].segment == Segment(2.5, 3.0)


def test_whisperx_words_without_a_speaker_inherit_only_what_their_neighbours_agree_on() -> None:
    assert [(part.label, part.text) for part in read([WHISPERX])] == [
        ("SPEAKER_00", "in 2014. we"),
        (None, "the"),
        ("SPEAKER_01", "met"),
    ]


def test_words_without_any_speaker_have_the_segments() -> None:
    found = read([{"start": 0, "end": 1, "text": "hi", "speaker": "ana", "words": [{"word": "hi", "start": 0, "end": 1}]}])
    assert [part.label for part in found] == ["ana"]


def test_voice_embeddings_in_the_file_are_not_read() -> None:
    document = {"segments": [{"start": 0, "end": 1, "text": "hi"}], "speaker_embeddings": {"SPEAKER_00": [0.1] * 256}}
    assert "0.1" not in repr(parse(json.dumps(document), "talk.json"))


def test_what_is_told_beside_the_words_is_kept() -> None:
    boat, oars = {"url": "boat.jpg", "caption": "a  boat"}, {"reference": "oars.png"}
    look = {"start": 0, "end": 1, "speaker": "ana", "text": "Look.", "id": 7, "images": [boat, {}]}
    shows = {"start": 1, "end": 2, "text": "", "reply_to": 7, "addressed_to": ["ana", "ana", "?", " "], "images": [oars]}
    (one, two) = read([look, shows])
    assert one.told == Told(key="7", images=(Image("boat.jpg", "a boat"),))
    assert two.text is None, "an image alone is shown without a word"
    assert two.told == Told(answers="7", said_to=("ana", "?"), images=(Image("oars.png", None),))
    assert (one.told.captions, two.told.captions) == ("a boat", None)


def test_of_a_segment_that_is_cut_the_first_part_is_told_of() -> None:
    found = read([WHISPERX | {"id": "x", "images": [{"caption": "a slide"}]}])
    assert [part.told.key for part in found] == ["x", None, None]


def test_an_end_before_its_start_is_a_moment_and_counted() -> None:
    transcript = parse('[{"start": 3, "end": 2.5, "text": "odd"}]', "talk.json")
    assert transcript.segments[0].segment == Segment(3, 3)
    assert transcript.recovered == 1


def test_segments_without_text_say_nothing_but_times_alone_are_turns() -> None:
    found = read([{"start": 0, "end": 1, "text": "  "}, {"start": 1, "end": 2, "speaker": "ana"}])
    assert found == (TranscriptSegment(Segment(1, 2), "ana", None),)


def test_control_characters_and_broken_surrogates_are_taken_out() -> None:
    found = parse('[{"start": 0, "end": 1, "speaker": "a\\u0000b", "text": "x\\ud800y\\u0007 z"}]', "talk.json").segments
    assert (found[0].label, found[0].text) == ("a b", "x\ufffdy z")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "line 1"),
        ('[\n{"start": 0,\n"end" 1}]', "line 3"),
        ('{"results": []}', "the whole file"),
        ('"hello"', "the whole file"),
        ('[{"text": "no times"}]', "segment 0"),
        ('[{"start": 0, "end": NaN, "text": "x"}]', "segment 0 (from 0), end"),
        ('[{"start": 0, "end": 1e999, "text": "x"}]', "segment 0 (from 0), end"),
        ('[{"start": true, "end": 1, "text": "x"}]', "segment 0 (from 0), start"),
        ('[{"start": 0, "end": 1, "text": "x"}, 5]', "segment 1"),
        ('[{"start": 0, "end": 1, "text": 7}]', "segment 0"),
        ('[{"start": 0, "end": 1, "speaker": {}, "text": "x"}]', "segment 0"),
        ('[{"start": 0, "end": 1, "text": "x", "words": "abc"}]', "segment 0"),
        (
            '[{"start": 0, "end": 1, "text": "x", "words": [{"word": "x", "start": "soon", "end": 1}]}]',
            "word 0 (from 0), start",
        ),
        ('[{"start": 0, "end": 1, "text": "x", "images": {"caption": "a boat"}}]', "segment 0"),
        ('[{"start": 0, "end": 1, "text": "x", "images": [{"caption": 5}]}]', "segment 0"),
        ('[{"start": 0, "end": 1, "text": "x", "images": [{"url": "data:image/png;base64,AAAA"}]}]', "segment 0"),
        ('[{"start": 0, "end": 1, "text": "x", "reply_to": 1.5}]', "segment 0"),
        ('[{"start": 0, "end": 1, "text": "x", "addressed_to": [5]}]', "segment 0"),
        ("[" * 100_000, "the whole file"),
        ('[{"start": ' + "9" * 5_000 + "}]", "the whole file"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(TranscriptUnreadable) as refused:
        parse(text, "talk.json")
    assert place in str(refused.value.facts["place"])


KEYS = ("start", "end", "text", "speaker", "words", "word", "segments", "language")
TOLD = ("id", "reply_to", "addressed_to", "images", "url", "caption")

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from((*KEYS, *TOLD)), inner),
    max_leaves=20,
)


@given(anything)
def test_any_json_is_read_or_refused(document: Any) -> None:
    try:
        transcript = parse(json.dumps(document), "talk.json")
    except TranscriptUnreadable:
        return
    assert all(part.segment.start <= part.segment.end for part in transcript.segments)


times = st.floats(0, 1_000, allow_nan=False)


@given(st.lists(st.tuples(times, times, st.sampled_from(["ana", "ben", None]), st.from_regex(r"[a-z]{1,9}", fullmatch=True))))
def test_what_is_written_is_read_back(made: list[tuple[float, float, str | None, str]]) -> None:
    found = read([{"start": min(a, b), "end": max(a, b), "speaker": who, "text": text} for a, b, who, text in made])
    wanted = sorted(((min(a, b), max(a, b), who, text) for a, b, who, text in made), key=lambda part: part[0])
    assert [(part.segment.start, part.segment.end, part.label, part.text) for part in found] == wanted
