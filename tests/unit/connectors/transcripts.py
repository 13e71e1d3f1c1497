"""One small meeting as every format would write it, with what makes each one hard to read: written here, nobody's words."""

from __future__ import annotations

import json
from typing import Any

Said = tuple[float, float, str | None, str]
"""start, end, label, text"""


def _json(document: Any) -> str:
    return json.dumps(document)


VTT_TEAMS = """WEBVTT

0f3c/12-0
-00:00:01.000 --> 00:00:02.000
<v Ana Ruiz>Hello &amp; welcome</v>

0f3c/12-1
00:00:02.500 --> 00:00:04.000
<v.loud Bo>Hi
there</v>

00:00:04.000 --> 00:00:05.000
nobody's line
"""

VTT_GRAPH = """WEBVTT

00:00:16.246 --> 00:00:17.726
{"startDateTime":"2026-03-02T09:51:37.4966667+00:00","speakerName":"Ana Ruiz","spokenText":"This is a test."}
"""

VTT_YOUTUBE = """WEBVTT
Kind: captions
Language: en

00:00:00.160 --> 00:00:02.310 align:start position:0%
\x20
hey<00:00:00.480><c> everyone</c><00:00:00.880><c> welcome</c>

00:00:02.310 --> 00:00:02.320 align:start position:0%
hey everyone welcome
\x20

00:00:02.320 --> 00:00:04.470 align:start position:0%
hey everyone welcome
back<00:00:02.560><c> to</c><00:00:02.800><c> it</c>

00:00:04.470 --> 00:00:04.480 align:start position:0%
back to it
\x20

00:00:09.000 --> 00:00:10.000 align:start position:0%
back to it
"""

VTT_MEET = """WEBVTT

00:00:08.000 --> 00:00:12.000
(Ana Ruiz)
I wanted to start

00:00:12.000 --> 00:00:16.000
(Ana Ruiz)
to. What is your
background?
-
(Bo)
Mine?
"""

ELAN = """<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT FORMAT="3.0" VERSION="3.0">
  <HEADER MEDIA_FILE="" TIME_UNITS="milliseconds"/>
  <TIME_ORDER>
    <TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="1000"/>
    <TIME_SLOT TIME_SLOT_ID="ts2"/>
    <TIME_SLOT TIME_SLOT_ID="ts3" TIME_VALUE="3000"/>
    <TIME_SLOT TIME_SLOT_ID="ts4" TIME_VALUE="1500"/>
    <TIME_SLOT TIME_SLOT_ID="ts5" TIME_VALUE="2500"/>
  </TIME_ORDER>
  <TIER LINGUISTIC_TYPE_REF="utterance" TIER_ID="text@ana" PARTICIPANT="Ana Ruiz">
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1" TIME_SLOT_REF2="ts2">
      <ANNOTATION_VALUE>first &amp; foremost</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a2" TIME_SLOT_REF1="ts2" TIME_SLOT_REF2="ts3">
      <ANNOTATION_VALUE>then this</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
  </TIER>
  <TIER LINGUISTIC_TYPE_REF="utterance" TIER_ID="text@bo">
    <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a3" TIME_SLOT_REF1="ts4" TIME_SLOT_REF2="ts5">
      <ANNOTATION_VALUE>meanwhile</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
  </TIER>
  <TIER LINGUISTIC_TYPE_REF="translation" TIER_ID="de@ana" PARENT_REF="text@ana" PARTICIPANT="Ana Ruiz">
    <ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a4" ANNOTATION_REF="a1">
      <ANNOTATION_VALUE>zuerst</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION>
  </TIER>
</ANNOTATION_DOCUMENT>
"""

CTM = """;; words
day A 0.20 0.30 how 0.9
day A 0.50 0.40 are NA
day A * * <ALT_BEGIN>
day A 0.90 0.20 you
day A * * <ALT>
day A 0.90 0.20 ewe
day A * * <ALT_END>
day A 5.00 0.50 breath 0.5 non-lex
day B 1.20 0.30 fine 0.9
"""

STM = """;; CATEGORY "0" "" ""
day 1 ana 1.00 2.00 <O,F0,F> WE {MEET / MET} (AGAIN) %HESITATION @ ON FRIDAY
day 1 bo 1.50 2.50 YES
day 1 inter_segment_gap 2.50 3.00 <O,,>
day 1 bo 3.00 4.00 <O> ignore_time_segment_in_scoring
"""

WHISPER = _json(
    {
        "text": " Hello there. There it is.",
        "segments": [
            {
                "id": 0,
                "seek": 0,
                "start": 0.0,
                "end": 2.4,
                "text": " Hello there. There",
                "avg_logprob": -0.2,
                "no_speech_prob": 0.01,
                "words": [
                    {"word": " Hello", "start": 0.0, "end": 0.5, "probability": 0.9},
                    {"word": " there.", "start": 0.5, "end": 1.2, "probability": 0.8},
                    {"word": " There", "start": 2.0, "end": 2.4, "probability": 0.8},
                ],
            },
            {
                "id": 1,
                "seek": 200,
                "start": 2.0,
                "end": 3.4,
                "text": " there it is.",
                "avg_logprob": -0.2,
                "no_speech_prob": 0.01,
                "words": [
                    {"word": " there", "start": 2.1, "end": 2.4, "probability": 0.9},
                    {"word": " it", "start": 2.5, "end": 2.8, "probability": 0.8},
                    {"word": " is.", "start": 2.8, "end": 3.4, "probability": 0.8},
                ],
            },
        ],
        "language": "en",
    }
)

FASTER_WHISPER = _json(
    [
        [1, 0, 0.0, 1.2, " Hello there.", [1, 2], -0.2, 1.1, 0.01, [[0.0, 0.5, " Hello", 0.9], [0.5, 1.2, " there.", 0.8]]],
        [2, 120, 1.2, 2.0, " Yes.", [3], -0.2, 1.1, 0.01, None],
    ]
)

FASTER_WHISPER_OBJECTS = _json(
    [
        {
            "id": 1,
            "seek": 0,
            "start": 0.0,
            "end": 1.2,
            "text": " Hello.",
            "avg_logprob": -0.2,
            "no_speech_prob": 0.01,
            "words": None,
        }
    ]
)

WHISPERX = _json(
    {
        "segments": [
            {
                "start": 0.0,
                "end": 3.0,
                "text": " in 2014. we met",
                "speaker": "SPEAKER_00",
                "words": [
                    {"word": "in", "start": 0.0, "end": 0.5, "score": 0.9, "speaker": "SPEAKER_00"},
                    {"word": "2014."},
                    {"word": "we", "start": 1.5, "end": 2.0, "score": 0.9, "speaker": "SPEAKER_00"},
                    {"word": "met", "start": 2.0, "end": 3.0, "score": 0.9, "speaker": "SPEAKER_01"},
                ],
            }
        ],
        "word_segments": [],
        "language": "en",
        "speaker_embeddings": {"SPEAKER_00": [0.123456789]},
    }
)

OPENAI = _json(
    {
        "text": "Agent: Thanks. Hi.",
        "segments": [
            {"type": "transcript.text.segment", "id": "seg_1", "start": 0.0, "end": 1.5, "text": "Thanks.", "speaker": "A"},
            {"type": "transcript.text.segment", "id": "seg_2", "start": 1.5, "end": 2.0, "text": " Hi.", "speaker": "B"},
        ],
        "usage": {"type": "duration", "seconds": 2},
    }
)


def _deepgram_words(*words: tuple[str, float, float, int | None]) -> list[dict[str, Any]]:
    return [
        {"word": w.lower().strip(".?"), "punctuated_word": w, "start": s, "end": e, "confidence": 0.9}
        | ({} if who is None else {"speaker": who, "speaker_confidence": 0.5})
        for w, s, e, who in words
    ]


DEEPGRAM = _json(
    {
        "metadata": {"request_id": "r1", "duration": 4.0, "channels": 1},
        "results": {
            "channels": [
                {
                    "alternatives": [
                        {
                            "transcript": "Hello there. Hi.",
                            "confidence": 0.9,
                            "words": _deepgram_words(("Hello", 0.1, 0.4, 0), ("there.", 0.4, 0.8, 0), ("Hi.", 1.0, 1.3, 1)),
                        }
                    ]
                }
            ],
            "utterances": [{"start": 0.1, "end": 0.8, "speaker": 0, "transcript": "Hello there.", "id": "u1", "words": []}],
        },
    }
)

DEEPGRAM_CHANNELS = _json(
    {
        "metadata": {"request_id": "r1", "channels": 2},
        "results": {
            "channels": [
                {"alternatives": [{"words": _deepgram_words(("Hello", 0.1, 0.4, None), ("there.", 0.4, 0.8, None))}]},
                {"alternatives": [{"words": _deepgram_words(("Hi.", 0.3, 0.6, None))}]},
            ]
        },
    }
)


def deepgram_live(words: list[dict[str, Any]], *, final: bool, request: str = "r1") -> dict[str, Any]:
    return {
        "type": "Results",
        "channel_index": [0, 1],
        "start": 0.0,
        "duration": 1.0,
        "is_final": final,
        "speech_final": final,
        "channel": {"alternatives": [{"transcript": "", "words": words}]},
        "metadata": {"request_id": request},
    }


DEEPGRAM_LIVE = "\n".join(
    _json(message)
    for message in (
        deepgram_live(_deepgram_words(("hell", 0.1, 0.3, None)), final=False),
        deepgram_live(_deepgram_words(("Hello.", 0.1, 0.4, None)), final=True),
        deepgram_live(_deepgram_words(("Hello", 0.1, 0.4, None)), final=False),
    )
)

ASSEMBLYAI = _json(
    {
        "id": "t1",
        "language_code": "en_us",
        "audio_url": "https://example.org/a.mp3",
        "status": "completed",
        "text": "Hello there. Hi.",
        "words": [
            {"text": "Hello", "start": 250, "end": 650, "confidence": 0.9, "speaker": "A"},
            {"text": "there.", "start": 650, "end": 900, "confidence": 0.9, "speaker": "A"},
            {"text": "Hi.", "start": 1200, "end": 1400, "confidence": 0.9, "speaker": "B"},
        ],
        "utterances": [
            {
                "speaker": "A",
                "start": 250,
                "end": 1400,
                "text": "Hello there. Hi.",
                "confidence": 0.9,
                "words": [
                    {"text": "Hello", "start": 250, "end": 650, "confidence": 0.9, "speaker": "A"},
                    {"text": "there.", "start": 650, "end": 900, "confidence": 0.9, "speaker": "A"},
                    {"text": "Hi.", "start": 1200, "end": 1400, "confidence": 0.9, "speaker": "B"},
                ],
            }
        ],
    }
)


def _aws(content: str, start: str | None, end: str | None, label: str | None) -> dict[str, Any]:
    times = {} if start is None else {"start_time": start, "end_time": end}
    kind = "punctuation" if start is None else "pronunciation"
    return {"type": kind, "alternatives": [{"content": content, "confidence": "0.99"}], **times} | (
        {"speaker_label": label} if label else {}
    )


AWS = _json(
    {
        "jobName": "j",
        "status": "COMPLETED",
        "results": {
            "transcripts": [{"transcript": "Hello. Hi?"}],
            "speaker_labels": {"speakers": 3, "segments": []},
            "items": [
                _aws("Hello", "0.50", "0.90", "spk_0"),
                _aws(".", None, None, "spk_0"),
                _aws("Hi", "1.00", "1.20", "spk_1"),
                _aws("?", None, None, "spk_1"),
            ],
        },
    }
)

AWS_OLD = _json(
    {
        "results": {
            "transcripts": [{"transcript": "Hello. Hi"}],
            "speaker_labels": {
                "speakers": 2,
                "segments": [
                    {"start_time": "0.5", "items": [{"start_time": "0.50", "end_time": "0.90", "speaker_label": "spk_0"}]},
                    {"start_time": "1.0", "items": [{"start_time": "1.00", "end_time": "1.20", "speaker_label": "spk_1"}]},
                ],
            },
            "items": [_aws("Hello", "0.50", "0.90", None), _aws(".", None, None, None), _aws("Hi", "1.00", "1.20", None)],
        }
    }
)

AWS_CALL = _json(
    {
        "JobStatus": "COMPLETED",
        "LanguageCode": "en-US",
        "Transcript": [
            {
                "Id": "x1",
                "ParticipantRole": "AGENT",
                "BeginOffsetMillis": 40,
                "EndOffsetMillis": 900,
                "Content": "Hello there.",
                "Items": [
                    {
                        "Type": "pronunciation",
                        "Content": "Hello",
                        "Confidence": 1.0,
                        "BeginOffsetMillis": 40,
                        "EndOffsetMillis": 400,
                    },
                    {
                        "Type": "pronunciation",
                        "Content": "there",
                        "Confidence": 1.0,
                        "BeginOffsetMillis": 400,
                        "EndOffsetMillis": 900,
                    },
                    {"Type": "punctuation", "Content": ".", "Confidence": 0.0},
                ],
            },
            {"Id": "x2", "ParticipantRole": "CUSTOMER", "BeginOffsetMillis": 700, "EndOffsetMillis": 1500, "Content": "Hi."},
        ],
    }
)

AZURE = _json(
    {
        "source": "a.wav",
        "timestamp": "2026-03-02T09:30:21Z",
        "durationInTicks": 41200000,
        "combinedRecognizedPhrases": [{"channel": 0, "display": "Hello, world. Hi."}],
        "recognizedPhrases": [
            {
                "recognitionStatus": "Success",
                "speaker": 1,
                "channel": 0,
                "offset": "PT0.07S",
                "duration": "PT1.59S",
                "offsetInTicks": 700000.0,
                "durationInTicks": 15900000.0,
                "nBest": [
                    {
                        "confidence": 0.9,
                        "lexical": "hello world",
                        "display": "Hello, world.",
                        "words": [
                            {"word": "hello", "offset": "PT0.09S", "duration": "PT0.48S", "confidence": 0.9},
                            {"word": "world", "offset": "PT0.59S", "duration": "PT1S", "confidence": 0.9},
                        ],
                    }
                ],
            },
            {"recognitionStatus": "Failure", "channel": 0, "offset": "PT1M", "duration": "PT1S", "nBest": []},
            {
                "recognitionStatus": "Success",
                "speaker": 2,
                "channel": 0,
                "offset": "PT1M2.5S",
                "duration": "PT0.5S",
                "nBest": [{"display": "Hi."}],
            },
        ],
    }
)

AZURE_FAST = _json(
    {
        "durationMilliseconds": 2000,
        "combinedPhrases": [{"text": "Hello."}],
        "phrases": [
            {"offsetMilliseconds": 500, "durationMilliseconds": 700, "text": "Hello.", "speaker": 1, "locale": "en-US"},
        ],
    }
)


def _google(word: str, start: str, end: str, tag: int | None = None) -> dict[str, Any]:
    return {"word": word, "startTime": start, "endTime": end} | ({} if tag is None else {"speakerTag": tag})


_HI, _THERE = ("hi", "0s", "0.300s"), ("there", "0.300s", "0.600s")
GOOGLE = _json(
    {
        "results": [
            {"alternatives": [{"transcript": "hi there", "words": [_google(*_HI), _google(*_THERE)]}]},
            {"alternatives": [{"words": [_google(*_HI, 1), _google(*_THERE, 2), _google("um", "0.6s", "0.7s", 0)]}]},
        ]
    }
)

GOOGLE_PLAIN = _json(
    {
        "results": [
            {
                "alternatives": [{"transcript": "hi there", "confidence": 0.9}],
                "resultEndTime": "2.500s",
                "languageCode": "en-us",
            },
            {"alternatives": [{"transcript": "and bye"}], "resultEndTime": "4s", "languageCode": "en-us"},
        ]
    }
)


def _speechmatics(content: str, start: float, end: float, speaker: str, kind: str = "word") -> dict[str, Any]:
    best = {"content": content, "confidence": 1.0, "language": "en", "speaker": speaker}
    return {"type": kind, "start_time": start, "end_time": end, "alternatives": [best]}


SPEECHMATICS = _json(
    {
        "format": "2.9",
        "job": {"id": "j"},
        "metadata": {"type": "transcription", "transcription_config": {"language": "en"}},
        "results": [
            _speechmatics("Good", 0.1, 0.4, "S1"),
            _speechmatics("day", 0.4, 0.6, "S1"),
            _speechmatics(".", 0.6, 0.6, "S1", "punctuation"),
            _speechmatics("What", 0.7, 0.9, "UU"),
            _speechmatics("?", 0.9, 0.9, "UU", "punctuation"),
        ],
        "speakers": [{"label": "S1", "speaker_identifiers": ["dm9pY2U="]}],
    }
)

FIREFLIES = _json(
    {
        "data": {
            "transcript": {
                "id": "t",
                "date": 1772442000000,
                "sentences": [
                    {
                        "index": 0,
                        "speaker_id": 0,
                        "speaker_name": "Camille",
                        "text": "Hello.",
                        "start_time": 0.5,
                        "end_time": 1.0,
                    },
                    {"speaker_id": 1, "speaker_name": "Camille", "text": "Hi.", "start_time": 1.0, "end_time": 1.5},
                    {"speaker_id": 2, "speaker_name": None, "text": "Yes?", "start_time": 2.0, "end_time": 2.5},
                ],
            }
        }
    }
)

_CHUNK = {"transcript_id": "t", "chunk_id": "c1", "speaker_name": "Ana", "start_time": 0.0}
FIREFLIES_LIVE = _json([{**_CHUNK, "text": "Hello wor", "end_time": 0.9}, {**_CHUNK, "text": "Hello world", "end_time": 1.25}])

TLDV = _json({"id": "x", "meetingId": "m", "data": [{"speaker": "Ana", "text": "Hello.", "startTime": 1, "endTime": 2.5}]})

OTTER = """Weekly
Mon, Mar 2, 2026

Ana Ruiz  0:03
Hello there,
everybody.

Unknown Speaker  0:15
Hi.

1:02:03
It is late.

Transcribed by https://otter.ai
"""

CSV = 'Start Time,Speaker Name,Text\n0:00:01,Ana,"Hello, ""all"""\n0:00:03,Bo,Hi.\n'
CSV_SEMICOLON = "start_ms;end_ms;text\n1500;2500;Größe\n"

VEXA = _json(
    {
        "type": "transcript",
        "meeting": {"id": 42},
        "start_time": "2026-03-02T10:00:00Z",
        "confirmed": [
            {"segment_id": "s:1", "speaker": "Ana", "text": "Hello", "start": 1.5, "end": 2.5, "completed": True},
            {"segment_id": "s:2", "speaker": "Bo", "text": "a link", "start": 1772445605, "end": 1772445605, "source": "chat"},
            {"segment_id": "s:1", "speaker": "Ana", "text": "Hello.", "start": 1.5, "end": 2.5, "completed": True},
        ],
        "pending": [
            {"segment_id": "s:9:pending", "speaker": "Bo", "text": "and th", "start": 3.0, "end": 3.4, "completed": False}
        ],
    }
)


def _recall(name: str | None, id: int | None, *words: tuple[str, float | None]) -> dict[str, Any]:
    return {
        "participant": {"id": id, "name": name},
        "words": [
            {"text": text, "start_timestamp": None, "end_timestamp": None}
            if at is None
            else {
                "text": text,
                "start_timestamp": {"relative": at, "absolute": f"2026-03-02T10:00:{at:06.3f}Z"},
                "end_timestamp": {"relative": at + 0.5, "absolute": None},
            }
            for text, at in words
        ],
    }


RECALL = _json(
    [
        _recall(None, None, ("so", 0.0)),
        _recall(None, 200, ("Hello", 12.0), ("there", None)),
        _recall("Anna Kovář", 200, ("Yes", 14.0)),
    ]
)

MEETINGBAAS = _json(
    {
        "bot_id": "b",
        "provider": "gladia",
        "result": {
            "utterances": [
                {
                    "text": "Hello.",
                    "language": "en",
                    "start": 0.5,
                    "end": 1.0,
                    "confidence": 0.9,
                    "speaker": "Ana",
                    "words": [{"word": "Hello.", "start": 0.5, "end": 1.0, "confidence": 0.9}],
                }
            ]
        },
    }
)


def _jitsi(text: str, at: int, *, interim: bool) -> dict[str, Any]:
    return {
        "type": "transcription-result",
        "event": "transcription-result",
        "timestamp": 1768341932000 + at,
        "participant": {"id": "10a52c3f", "tag": "10a52c3f-a0"},
        "transcript": [{"text": text, "confidence": 0.9}],
        "is_interim": interim,
        "message_id": f"m{at // 1000}",
    }


JITSI = _json(
    [_jitsi("hello", 100, interim=True), _jitsi("hello world", 500, interim=False), _jitsi("bye", 4000, interim=False)]
)

JSON = _json(
    {
        "entries": [
            {"id": "e1", "startMs": 500, "endMs": 1500, "speakerName": "Ana", "text": "Hello."},
            {"start": 2, "end": 3, "text": "Hi."},
        ]
    }
)

FIXTURES: dict[str, tuple[str, str, list[Said]]] = {
    "teams.vtt": (
        "vtt",
        VTT_TEAMS,
        [(0, 2, "Ana Ruiz", "Hello & welcome"), (2.5, 4, "Bo", "Hi there"), (4, 5, None, "nobody's line")],
    ),
    "graph.vtt": ("vtt", VTT_GRAPH, [(16.246, 17.726, "Ana Ruiz", "This is a test.")]),
    "youtube.vtt": (
        "vtt",
        VTT_YOUTUBE,
        [(0.16, 2.31, None, "hey everyone welcome"), (2.32, 4.47, None, "back to it"), (9, 10, None, "back to it")],
    ),
    "meet.vtt": (
        "vtt",
        VTT_MEET,
        [
            (8, 12, "Ana Ruiz", "I wanted to start"),
            (12, 15.394, "Ana Ruiz", "to. What is your background?"),
            (15.394, 16, "Bo", "Mine?"),
        ],
    ),
    "talk.srt": ("srt", "1\n00:00:01,000 --> 00:00:02,000\nGröße\n", [(1, 2, None, "Größe")]),
    "talk.eaf": (
        "elan",
        ELAN,
        [
            (1, 2, "Ana Ruiz", "first & foremost"),
            (1.5, 2.5, "bo", "meanwhile"),
            (2, 3, "Ana Ruiz", "then this"),
        ],
    ),
    "day.ctm": ("ctm", CTM, [(0.2, 1.1, "Channel A", "how are you"), (1.2, 1.5, "Channel B", "fine")]),
    "day.stm": ("stm", STM, [(1, 2, "ana", "WE MEET AGAIN ON FRIDAY"), (1.5, 2.5, "bo", "YES")]),
    "whisper.json": ("whisper", WHISPER, [(0, 2.4, None, "Hello there. There"), (2.5, 3.4, None, "it is.")]),
    "tuples.json": ("faster-whisper", FASTER_WHISPER, [(0, 1.2, None, "Hello there."), (1.2, 2, None, "Yes.")]),
    "objects.json": ("faster-whisper", FASTER_WHISPER_OBJECTS, [(0, 1.2, None, "Hello.")]),
    "whisperx.json": ("whisperx", WHISPERX, [(0, 2, "SPEAKER_00", "in 2014. we"), (2, 3, "SPEAKER_01", "met")]),
    "openai.json": ("openai-diarized", OPENAI, [(0, 1.5, "A", "Thanks."), (1.5, 2, "B", "Hi.")]),
    "deepgram.json": ("deepgram", DEEPGRAM, [(0.1, 0.8, "Speaker 0", "Hello there."), (1, 1.3, "Speaker 1", "Hi.")]),
    "deepgram-channels.json": (
        "deepgram",
        DEEPGRAM_CHANNELS,
        [(0.1, 0.8, "Channel 0", "Hello there."), (0.3, 0.6, "Channel 1", "Hi.")],
    ),
    "deepgram-live.jsonl": ("deepgram", DEEPGRAM_LIVE, [(0.1, 0.4, None, "Hello.")]),
    "assemblyai.json": ("assemblyai", ASSEMBLYAI, [(0.25, 0.9, "A", "Hello there."), (1.2, 1.4, "B", "Hi.")]),
    "aws.json": ("aws-transcribe", AWS, [(0.5, 0.9, "spk_0", "Hello."), (1, 1.2, "spk_1", "Hi?")]),
    "aws-old.json": ("aws-transcribe", AWS_OLD, [(0.5, 0.9, "spk_0", "Hello."), (1, 1.2, "spk_1", "Hi")]),
    "call.json": ("aws-call-analytics", AWS_CALL, [(0.04, 0.9, "AGENT", "Hello there."), (0.7, 1.5, "CUSTOMER", "Hi.")]),
    "azure.json": ("azure", AZURE, [(0.07, 1.66, "Speaker 1", "Hello, world."), (62.5, 63, "Speaker 2", "Hi.")]),
    "azure-fast.json": ("azure", AZURE_FAST, [(0.5, 1.2, "Speaker 1", "Hello.")]),
    "google.json": ("google", GOOGLE, [(0, 0.3, "Speaker 1", "hi"), (0.3, 0.6, "Speaker 2", "there"), (0.6, 0.7, None, "um")]),
    "google-plain.json": ("google", GOOGLE_PLAIN, [(0, 2.5, None, "hi there"), (2.5, 4, None, "and bye")]),
    "speechmatics.json": ("speechmatics", SPEECHMATICS, [(0.1, 0.6, "S1", "Good day."), (0.7, 0.9, None, "What?")]),
    "fireflies.json": (
        "fireflies",
        FIREFLIES,
        [(0.5, 1, "Camille (Speaker 0)", "Hello."), (1, 1.5, "Camille (Speaker 1)", "Hi."), (2, 2.5, "Speaker 2", "Yes?")],
    ),
    "fireflies-live.json": ("fireflies", FIREFLIES_LIVE, [(0, 1.25, "Ana", "Hello world")]),
    "tldv.json": ("tldv", TLDV, [(1, 2.5, "Ana", "Hello.")]),
    "otter.txt": (
        "otter",
        OTTER,
        [(3, 8, "Ana Ruiz", "Hello there, everybody."), (15, 18, None, "Hi."), (3723, 3724.2, None, "It is late.")],
    ),
    "table.csv": ("csv", CSV, [(1, 3, "Ana", 'Hello, "all"'), (3, 3.4, "Bo", "Hi.")]),
    "semicolon.csv": ("csv", CSV_SEMICOLON, [(1.5, 2.5, None, "Größe")]),
    "vexa.json": ("vexa", VEXA, [(1.5, 2.5, "Ana", "Hello."), (5, 5, "Bo", "a link")]),
    "recall.json": (
        "recall",
        RECALL,
        [(0, 0.5, None, "so"), (12, 12.5, "Anna Kovář", "Hello there"), (14, 14.5, "Anna Kovář", "Yes")],
    ),
    "meetingbaas.json": ("meetingbaas", MEETINGBAAS, [(0.5, 1, "Ana", "Hello.")]),
    "jitsi.json": (
        "jitsi",
        JITSI,
        [(0, 3.5, "Participant 10a52c3f", "hello world"), (3.5, 3.9, "Participant 10a52c3f", "bye")],
    ),
    "talk.json": ("json", JSON, [(0.5, 1.5, "Ana", "Hello."), (2, 3, None, "Hi.")]),
}
"""name of the file → its format, its content, and what it says"""
