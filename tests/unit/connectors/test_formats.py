"""Every format says what it says, is known by what only it has, and breaks with a place and nothing else."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.files import FORMATS, TranscriptUnreadable, declared, is_transcript, named, read_transcript
from service.connectors.files.__main__ import page
from service.connectors.files.source import Written
from service.types.audio import Segment, Transcript
from tests.unit.connectors.transcripts import DEEPGRAM_LIVE, FIXTURES, deepgram_live

ROOT = Path(__file__).parents[3]
GENERIC = {"json", "csv"}
"""What these know, others may know better."""


def read(name: str, content: str | None = None) -> Transcript:
    format, fixture, _ = FIXTURES[name]
    return named(format).read(Written(fixture if content is None else content, name))


def refused(name: str, content: str) -> TranscriptUnreadable:
    with pytest.raises(TranscriptUnreadable) as refusal:
        read(name, content)
    return refusal.value


@pytest.mark.parametrize("name", FIXTURES)
def test_a_file_says_who_said_what_when(name: str, tmp_path: Path) -> None:
    format, content, said = FIXTURES[name]
    path = tmp_path / "named otherwise.txt"
    path.write_text(content)
    transcript = read_transcript(path)
    assert transcript.format == format
    found = [(part.segment.start, part.segment.end, part.label, part.text) for part in transcript.segments]
    assert [(label, text) for *_, label, text in found] == [(label, text) for *_, label, text in said]
    assert [times for *times, _, _ in found] == [pytest.approx(times, abs=1e-3) for *times, _, _ in said]
    for part in transcript.segments:
        assert all(word.segment.start <= word.segment.end for word in part.words)
        assert not part.words or "".join(w.text for w in part.words) == (part.text or "").replace(" ", "")


@pytest.mark.parametrize("name", FIXTURES)
def test_a_file_is_known_by_one_format(name: str) -> None:
    format, content, _ = FIXTURES[name]
    knows = {known for known in FORMATS if named(known).recognises(Written(content, name))}
    assert knows - GENERIC == {format} - GENERIC and (format in knows or knows <= GENERIC)


def test_every_format_has_a_file_here() -> None:
    assert {format for format, _, _ in FIXTURES.values()} | {"rttm"} == set(FORMATS)
    assert [d.name for d in declared()] == list(FORMATS)


def test_the_page_of_formats_is_what_they_declare() -> None:
    assert page() == (ROOT / "service/connectors/FORMATS.md").read_text()


def test_words_keep_the_times_of_their_own() -> None:
    def times(name: str) -> list[tuple[str, float, float]]:
        words = [word for part in read(name).segments for word in part.words]
        return [(word.text, round(word.segment.start, 3), round(word.segment.end, 3)) for word in words]

    assert times("deepgram.json") == [("Hello", 0.1, 0.4), ("there.", 0.4, 0.8), ("Hi.", 1.0, 1.3)]
    assert times("aws.json") == [("Hello.", 0.5, 0.9), ("Hi?", 1.0, 1.2)]
    assert times("google.json") == [("hi", 0.0, 0.3), ("there", 0.3, 0.6), ("um", 0.6, 0.7)]
    assert times("azure.json") == [("Hello,", 0.09, 0.57), ("world.", 0.59, 1.59)]
    assert times("call.json") == [("Hello", 0.04, 0.4), ("there.", 0.4, 0.9)]
    assert times("google-plain.json") == []


@pytest.mark.parametrize("name", FIXTURES)
def test_words_lie_within_their_turn(name: str) -> None:
    for part in read(name).segments:
        for word in part.words:
            assert part.segment.start - 1e-6 <= word.segment.start <= word.segment.end <= part.segment.end + 1e-6


def test_the_start_is_taken_where_the_file_tells_it() -> None:
    assert read("fireflies.json").started_at == datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    assert read("vexa.json").started_at == datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
    assert read("recall.json").started_at == datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
    assert read("jitsi.json").started_at == datetime.fromtimestamp(1768341932.5, UTC)


def test_two_connections_in_one_file_are_refused_for_their_times_start_over() -> None:
    again = json.dumps(deepgram_live([{"word": "hi", "start": 0.1, "end": 0.2}], final=True, request="r2"))
    error = refused("deepgram-live.jsonl", f"{DEEPGRAM_LIVE}\n{again}")
    assert error.facts["place"] == "[3].metadata.request_id" and "one connection" in error.message


def test_voices_in_a_transcript_are_not_read() -> None:
    for name, secret in (("whisperx.json", "0.123456789"), ("speechmatics.json", "dm9pY2U=")):
        assert secret in FIXTURES[name][1] and secret not in repr(read(name))


@pytest.mark.parametrize(
    ("name", "old", "new", "place"),
    [
        ("deepgram.json", '"start": 0.4', '"start": "soon"', "results.channels[0].alternatives[0].words[1].start"),
        ("assemblyai.json", '"status": "completed"', '"status": "error"', "status"),
        ("aws.json", '"0.50"', '"half"', "results.items[0].start_time"),
        ("call.json", '"BeginOffsetMillis": 700, ', "", "Transcript[1].BeginOffsetMillis"),
        ("azure.json", '"PT1M2.5S"', '"62.5"', "recognizedPhrases[2].offset"),
        ("google.json", '"0.6s"', '"0.6"', "results[1].alternatives[0].words[2].startTime"),
        ("speechmatics.json", '"start_time": 0.7, ', "", "results[3].start_time"),
        ("fireflies.json", '"start_time": 1.0, ', "", "data.transcript.sentences[1].start_time"),
        ("tldv.json", '"endTime": 2.5', '"endTime": null', "data[0].startTime"),
        ("talk.eaf", 'TIME_VALUE="3000"', 'TIME_VALUE="3.0"', "time slot 2 (from 0)"),
        ("talk.eaf", 'TIME_SLOT_REF2="ts5"', 'TIME_SLOT_REF2="ts9"', "annotation 0 (from 0) of tier 1 (from 0)"),
        ("talk.eaf", "</TIME_ORDER>", "</TIME>", "line 10"),
        ("talk.eaf", "<HEADER", "<!DOCTYPE x><HEADER", "the whole file"),
        ("day.ctm", "1.20 0.30", "1,20 0.30", "line 10"),
        ("day.ctm", "day A 0.50 0.40 are NA", "day A 0.50", "line 3"),
        ("day.stm", "1.50 2.50", "1.50 late", "line 3"),
        ("table.csv", "0:00:03,Bo,Hi.", "soon,Bo,Hi.", "line 3, Start Time"),
        ("table.csv", "0:00:03,Bo,Hi.", "0:00:03,Bo,Hi.,more", "line 3"),
        ("table.csv", '"Hello, ""all"""', '"Hello', "line 3"),
        ("vexa.json", '"start_time": "2026-03-02T10:00:00Z"', '"start_time": null', "confirmed[1].start"),
        ("otter.txt", "  0:03", " at three", None),
    ],
)
def test_what_is_wrong_is_named_by_its_place(name: str, old: str, new: str, place: str | None) -> None:
    _, content, _ = FIXTURES[name]
    assert old in content
    if place is None:
        assert len(read(name, content.replace(old, new)).segments) == 2, "a line that is no header is what the one before said"
        return
    assert place == refused(name, content.replace(old, new, 1)).facts["place"]


def test_two_time_bases_in_one_list_are_refused() -> None:
    items = [{"start": 1.5, "end": 2, "text": "a"}, {"start": 1783728000, "end": 1783728001, "text": "b"}]
    assert refused("talk.json", json.dumps(items)).facts["place"] == "segment 0 (from 0)"


def test_local_times_go_on_until_the_clocks_are_put_back() -> None:
    header = "timestamp,speaker,text\n"
    ordered = f"{header}2026-10-25 01:30:00,Ana,a\n2026-10-25 02:30:00,Bo,b\n"
    transcript = named("csv").read(Written(ordered, "log.csv"))
    assert [part.segment.start for part in transcript.segments] == [0, 3600]
    assert transcript.started_at is None, "nobody said where the clock hung"
    with pytest.raises(TranscriptUnreadable, match=r"line 4.*local times go back"):
        named("csv").read(Written(f"{ordered}2026-10-25 01:35:00,Ana,c\n", "log.csv"))


def test_dates_with_zones_say_when_it_began() -> None:
    text = "timestamp;text\n2026-10-25T02:30:00+02:00;a\n2026-10-25T02:30:00+01:00;b\n"
    transcript = named("csv").read(Written(text, "log.csv"))
    assert [part.segment.start for part in transcript.segments] == [0, 3600]
    assert transcript.started_at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)


def test_times_that_go_on_from_another_recording_stay_as_written() -> None:
    transcript = named("json").read(Written('[{"start": 3600, "end": 3601, "text": "later"}]', "x.json"))
    assert transcript.segments[0].segment == Segment(3600, 3601)


def test_nobody_speaking_is_a_transcript() -> None:
    for name, content in (
        ("speechmatics.json", '{"format": "2.9", "metadata": {}, "results": []}'),
        ("whisper.json", '{"text": "", "segments": [], "language": "en"}'),
        ("tldv.json", '{"meetingId": "m", "data": []}'),
        ("deepgram.json", '{"results": {"channels": []}}'),
        ("azure.json", '{"recognizedPhrases": []}'),
    ):
        format = FIXTURES[name][0]
        assert named(format).recognises(Written(content, name)), name
        assert read(name, content).segments == (), name


@pytest.mark.parametrize(
    ("content", "is_one"),
    [
        (b"WEBVTT\n", True),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nhallo\n".encode("utf-16"), True),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", False),
        (b"ID3\x04\x00\x00\x00" + b"\xff\xfb" * 50, False),
        (b"These are the minutes of the meeting.\n" * 40, False),
        (b"", False),
    ],
)
def test_a_recording_is_told_from_a_transcript(tmp_path: Path, content: bytes, is_one: bool) -> None:
    (tmp_path / "x").write_bytes(content)
    assert is_transcript(tmp_path / "x") is is_one


# ---- whatever comes

EXTREMES = (
    10**400,
    1e308,
    -1e308,
    "0001-01-01T00:00:00+00:00",
    "9999-12-31T23:59:59+00:00",
    "1e999",
    -5,
    [None],
    "\ud800x",
    "99:99:99",
)
ANYTHING = (
    st.sampled_from(EXTREMES)
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.just([])
    | st.just({})
)


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[path[0]] = changed(document[path[0]], path[1:], value)
    return copy


JSON_NAMES = sorted(
    name for name, (_, content, _) in FIXTURES.items() if content.startswith(("{", "[")) and "jsonl" not in name
)
TEXT_NAMES = sorted(set(FIXTURES) - set(JSON_NAMES))


@given(st.data())
def test_a_field_that_is_anything_is_read_or_refused(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(JSON_NAMES))
    document = json.loads(FIXTURES[name][1])
    path = data.draw(st.sampled_from(places(document)))
    check(name, json.dumps(changed(document, path, data.draw(ANYTHING))))


@given(st.data())
def test_text_that_is_cut_and_mixed_is_read_or_refused(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(TEXT_NAMES))
    lines = FIXTURES[name][1].split("\n")
    mixed = data.draw(st.lists(st.sampled_from(lines) | st.text(max_size=12), max_size=12))
    check(name, "\n".join(mixed))


@given(st.sampled_from(sorted(FORMATS)), st.text(max_size=60))
def test_any_text_is_read_or_refused_by_every_format(format: str, text: str) -> None:
    written = Written(text, "any")
    assert named(format).recognises(written) in (True, False)
    try:
        named(format).read(written)
    except TranscriptUnreadable as refusal:
        assert refusal.facts["place"]


def check(name: str, content: str) -> None:
    """Read or refused; and no word that the file has not."""
    format = FIXTURES[name][0]
    written = Written(content, name)
    named(format).recognises(written)
    try:
        transcript = named(format).read(written)
    except TranscriptUnreadable as refusal:
        assert refusal.facts["place"]
        return
    there = re.sub(r"\W+", "", content.encode().decode("unicode_escape", "replace") + content + json.dumps(content)).casefold()
    for part in transcript.segments:
        assert part.segment.start <= part.segment.end
        for word in re.findall(r"[A-Za-z0-9]+", part.text or ""):
            assert word.casefold() in there, (word, content)
