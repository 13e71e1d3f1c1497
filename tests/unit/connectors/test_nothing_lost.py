"""What a file says is read, or the file is refused: words are not left behind without a sign."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.connectors.files import TranscriptUnreadable, detect, named
from service.connectors.files.source import Written
from service.types.audio import Transcript


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
