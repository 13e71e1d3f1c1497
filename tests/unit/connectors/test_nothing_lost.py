"""What a file says is read, or the file is refused: words are not left behind without a sign."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from service.connectors.files import TranscriptUnreadable, detect, from_start, named, read_transcript
from service.connectors.files.clock import with_ends
from service.connectors.files.runs import SpokenWord, turns_of
from service.connectors.files.source import Written
from service.types.audio import Segment, Transcript


def read(format: str, document: Any) -> Transcript:
    return named(format).read(Written(document if isinstance(document, str) else json.dumps(document), "talk"))


def said(transcript: Transcript) -> list[tuple[str | None, str | None]]:
    return [(part.label, part.text) for part in transcript.segments]


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (
            {"results": {"channels": [{"alternatives": [{"transcript": "hello there"}]}]}},
            "results.channels[0].alternatives[0].words",
        ),
        (
            [{"channel": {"alternatives": [{"transcript": "hello", "words": []}]}, "channel_index": [0, 1], "is_final": True}],
            "[0].channel.alternatives[0].words",
        ),
        ({"audio_url": "x", "text": "hello", "words": [], "utterances": [{"text": "hello"}]}, "utterances[0].words"),
        ({"audio_url": "x", "text": "hello", "words": []}, "words"),
        ({"results": {"transcripts": [{"transcript": "hello"}], "items": []}}, "results.items"),
        (
            {
                "recognizedPhrases": [{"offset": "PT1S", "duration": "PT1S", "nBest": []}],
                "combinedRecognizedPhrases": [{"display": "Hello."}],
            },
            "recognizedPhrases[0].nBest",
        ),
        ({"phrases": [], "combinedPhrases": [{"text": "Hello."}]}, "phrases"),
        ({"format": "2.9", "metadata": {"transcript": "hello"}, "results": []}, "results"),
        ({"text": "hello", "segments": [], "language": "en"}, "the whole file"),
        ({"segments": [], "word_segments": [{"word": "hello", "start": 0, "end": 1}]}, "the whole file"),
    ],
)
def test_text_without_turns_is_no_silence(document: Any, place: str) -> None:
    written = Written(json.dumps(document), "talk.json")
    with pytest.raises(TranscriptUnreadable) as refusal:
        detect(written).read(written)
    assert refusal.value.facts["place"] == place


def test_an_utterance_without_words_is_one_turn() -> None:
    utterance = {"text": "Hello there.", "start": 500, "end": 1500, "speaker": "A"}
    transcript = read("assemblyai", {"audio_url": "x", "text": "Hello there.", "words": [], "utterances": [utterance]})
    assert said(transcript) == [("A", "Hello there.")]
    assert (transcript.segments[0].segment.start, transcript.segments[0].segment.end) == (0.5, 1.5)


def test_what_is_told_only_by_words_is_text() -> None:
    item = {"Type": "pronunciation", "Content": "Hello", "BeginOffsetMillis": 0, "EndOffsetMillis": 500}
    turn = {"ParticipantRole": "AGENT", "BeginOffsetMillis": 0, "EndOffsetMillis": 900, "Items": [item]}
    assert said(read("aws-call-analytics", {"Transcript": [turn]})) == [("AGENT", "Hello")]


def test_the_list_that_has_something_is_read() -> None:
    document = {"segments": [], "utterances": [{"start": 0, "end": 1, "speaker": "Ana", "text": "Hello."}]}
    assert said(read("json", document)) == [("Ana", "Hello.")]


def result(*words: tuple[str, float, int | None]) -> dict[str, Any]:
    told = [
        {"word": word, "startTime": f"{at}s", "endTime": f"{at + 0.2:.1f}s"} | ({} if who is None else {"speakerTag": who})
        for word, at, who in words
    ]
    return {"alternatives": [{"transcript": " ".join(word for word, *_ in words), "words": told}]}


def test_a_result_with_speakers_stands_alone_only_where_it_repeats_all() -> None:
    first, second = (("hi", 0.1, 1), ("there", 0.4, 1)), (("good", 5.0, 2), ("day", 5.3, 2))
    apart = {"results": [result(*first), result(*second)]}
    assert said(read("google", apart)) == [("Speaker 1", "hi there"), ("Speaker 2", "good day")]
    repeated = {"results": [result(*first), result(*second), result(*first, *second)]}
    assert said(read("google", repeated)) == said(read("google", apart))
    before = {"results": [{"alternatives": [{"transcript": "hi there"}], "resultEndTime": "1s"}, result(*second)]}
    assert said(read("google", before)) == [(None, "hi there"), ("Speaker 2", "good day")]
    after = {"results": [result(*first), result(*first), result(("bye", 9.0, None))]}
    assert said(read("google", after)) == [("Speaker 1", "hi there"), (None, "bye")]


def test_labels_of_two_channels_are_two_people() -> None:
    def heard(channel: int, word: str, at: float) -> dict[str, Any]:
        words = [{"word": word, "start": at, "end": at + 0.5, "speaker": 0}]
        return {
            "channel": {"alternatives": [{"transcript": word, "words": words}]},
            "channel_index": [channel, 2],
            "is_final": True,
        }

    assert said(read("deepgram", [heard(0, "hello", 0.0), heard(1, "hi", 1.0)])) == [
        ("Channel 0 Speaker 0", "hello"),
        ("Channel 1 Speaker 0", "hi"),
    ]
    assert said(read("deepgram", [heard(1, "hello", 0.0), heard(1, "hi", 3.0)])) == [
        ("Speaker 0", "hello"),
        ("Speaker 0", "hi"),
    ]

    def word(channel: str, content: str, at: float, speaker: str) -> dict[str, Any]:
        best = [{"content": content, "speaker": speaker}]
        return {"type": "word", "channel": channel, "start_time": at, "end_time": at + 0.5, "alternatives": best}

    results = [word("agent", "hello", 0, "S1"), word("caller", "hi", 1, "S1"), word("caller", "hm", 2, "UU")]
    assert said(read("speechmatics", {"format": "2.9", "metadata": {}, "results": results})) == [
        ("agent S1", "hello"),
        ("caller S1", "hi"),
        (None, "hm"),
    ]


def cues(*texts: str) -> str:
    return "WEBVTT\n\n" + "".join(f"00:{2 * n:02}.000 --> 00:{2 * n + 2:02}.000\n{text}\n\n" for n, text in enumerate(texts))


def test_lines_under_a_name_are_read_as_any_others() -> None:
    meet = cues("(Ana Ruiz)\nTom &amp; Jerry aren&#39;t here", "(Bo)\nI like a < b and <i>c</i> > d")
    assert said(read("vtt", meet)) == [("Ana Ruiz", "Tom & Jerry aren't here"), ("Bo", "I like a < b and c > d")]


@pytest.mark.parametrize("noise", ["(sighs)", "(Laughter)", "(quietly)"])
def test_a_noise_is_nobody(noise: str) -> None:
    assert said(read("vtt", cues(f"{noise}\nI do not know.", "Me neither."))) == [
        (None, f"{noise} I do not know."),
        (None, "Me neither."),
    ]
    meet = cues(f"(Ana Ruiz)\n{noise}\nI do not know.", "(Bo)\nMe neither.")
    assert said(read("vtt", meet)) == [("Ana Ruiz", f"{noise} I do not know."), ("Bo", "Me neither.")]


def test_only_a_number_names_a_cue_of_srt() -> None:
    srt = "1\n00:00:01,000 --> 00:00:02,000\nHello\n\nthere my friend\n00:00:03,000 --> 00:00:04,000\nbye\n"
    transcript = read("srt", srt)
    assert said(transcript) == [(None, "Hello there my friend"), (None, "bye")] and transcript.recovered == 1


def test_a_number_before_a_time_is_said_unless_it_counts_on() -> None:
    assert said(read("vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHow many?\n42\n00:03.000 --> 00:04.000\nOh.\n")) == [
        (None, "How many? 42"),
        (None, "Oh."),
    ]
    counted = "WEBVTT\n\n1\n00:01.000 --> 00:02.000\nHow many?\n2\n00:03.000 --> 00:04.000\nOh.\n"
    assert said(read("vtt", counted)) == [(None, "How many?"), (None, "Oh.")]


def test_what_looks_like_a_label_or_a_clock_is_said() -> None:
    assert said(read("stm", "day 1 ana 1.00 2.00 <3 thanks a lot\n")) == [("ana", "<3 thanks a lot")]
    assert said(read("stm", "day 1 ana 1.00 2.00 <O,F0,F> thanks\n")) == [("ana", "thanks")]
    otter = "Ana Ruiz  0:03\nWhen does it leave?\n10:30\nThen we run.\n\nBo  0:15\nYes.\n\n1:02\nLate.\n"
    assert said(read("otter", otter)) == [
        ("Ana Ruiz", "When does it leave? 10:30 Then we run."),
        ("Bo", "Yes."),
        (None, "Late."),
    ]


def test_words_that_only_the_text_has_stay() -> None:
    words = [
        {"word": "hello", "start": 0, "end": 1, "speaker": "A"},
        {"word": "bye", "start": 3, "end": 4, "speaker": "B"},
    ]
    segment = {"start": 0, "end": 5, "text": "Well, hello to you bye now", "words": words}
    assert said(read("json", [segment])) == [("A", "Well, hello to you"), ("B", "bye now")]
    other = read("json", [{**segment, "text": "something else altogether"}])
    assert said(other) == [(None, "something else altogether")] and other.recovered == 1
    alone = read("json", [{**segment, "words": words[:1]}])
    assert said(alone) == [("A", "Well, hello to you bye now")]
    assert [word.text for word in alone.segments[0].words] == ["Well, hello to you bye now"]


def test_turns_last_as_long_as_what_is_said_in_any_script() -> None:
    chinese = "我们明天早上九点在火车站见面然后一起去博物馆好吗"
    found = with_ends([0.0, 100.0, 200.0], [chinese, chinese, "We meet at nine at the station tomorrow, is that fine?"])
    assert found[0].duration == pytest.approx(len(chinese) / 2 + 2)
    assert with_ends([0.0], ["สวัสดีครับ"])[0].duration == pytest.approx(10 / 5 / 2.5)


def test_words_count_from_where_their_segment_does() -> None:
    begin = 1_772_445_600.0
    words = [
        {"word": "hello", "start": begin + 1, "end": begin + 2},
        {"word": "there", "start": (begin + 2) * 1000, "end": None},
    ]
    segments = [
        {"start": begin, "end": begin + 3, "text": "hello there", "words": words},
        {"start": begin + 5, "end": begin + 6, "text": "yes", "words": [{"word": "yes", "start": 5.1, "end": 5.9}]},
    ]
    found = read("json", segments).segments
    times = [[word.segment.start, word.segment.end] for part in found for word in part.words]
    assert times == [[1, 2], [2, 3], [5.1, 5.9]]


def test_times_beyond_any_meeting_are_refused_with_their_place(tmp_path: Path) -> None:
    for start, end in ((1.0, 1e300), (-1e300, 1.0)):
        (tmp_path / "talk.csv").write_text(f"start,end,text\n0,1,Hello.\n{start},{end},Yes.\n")
        with pytest.raises(TranscriptUnreadable, match=r"turn \d \(from 0\)"):
            read_transcript(tmp_path / "talk.csv")


def test_what_begins_before_the_start_begins_there() -> None:
    found = from_start(read("json", [{"start": -2, "end": 1, "text": "Hello."}, {"start": 1, "end": 2, "text": "Yes."}]))
    assert [part.segment.start for part in found.segments] == [0, 1] and found.recovered == 1


def test_a_table_may_count_words_and_leave_a_text_empty() -> None:
    table = "Start,End,Transcript,words\n0,1,Hello there.,2\n1,2,,0\n2,3,Yes.,1\n"
    assert said(read("csv", table)) == [(None, "Hello there."), (None, "Yes.")]


def test_toolbox_tiers_say_what_refers_to_their_numbers() -> None:
    document = """<ANNOTATION_DOCUMENT><TIME_ORDER><TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="0"/>
    <TIME_SLOT TIME_SLOT_ID="b" TIME_VALUE="1000"/></TIME_ORDER>
    <TIER TIER_ID="ref@A"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="r1" TIME_SLOT_REF1="a" TIME_SLOT_REF2="b">
    <ANNOTATION_VALUE>story.001</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER>
    <TIER TIER_ID="tx@A" PARENT_REF="ref@A"><ANNOTATION><REF_ANNOTATION ANNOTATION_ID="t1" ANNOTATION_REF="r1">
    <ANNOTATION_VALUE>once upon a time</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER></ANNOTATION_DOCUMENT>"""
    assert said(read("elan", document)) == [("A", "once upon a time")]


def test_a_word_that_is_called_punctuation_is_not_glued_to_another() -> None:
    turn = turns_of(
        [SpokenWord("What", Segment(0, 1)), SpokenWord("now", None, glued=True), SpokenWord("?", None, glued=True)]
    )[0]
    assert turn.text == "What now?"
