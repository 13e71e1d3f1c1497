"""Which format is it, how is its text encoded, and does it fit the audio?"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.files import TranscriptDoesNotFit, TranscriptUnreadable, fits, read_transcript, words_of
from service.connectors.files.words import between, spread
from service.registry import UnknownPlugIn
from service.types.audio import Segment, Transcript, TranscriptSegment, Word

VTT = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Zoë>Größe – 5 €\n"
SRT = "1\n00:00:01,000 --> 00:00:02,000\nGröße 5\n"
RTTM = "SPEAKER day 1 0.50 1.25 <NA> <NA> ana <NA> <NA>\n"
JSON = '[{"start": 0.5, "end": 1.5, "speaker": "ana", "text": "hello"}]'


def written(tmp_path: Path, content: str | bytes, name: str = "talk") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(("content", "format"), [(VTT, "vtt"), (SRT, "srt"), (RTTM, "rttm"), (JSON, "json")])
def test_the_format_is_found_by_content_whatever_the_name(tmp_path: Path, content: str, format: str) -> None:
    transcript = read_transcript(written(tmp_path, content, name="talk.txt"))
    assert transcript.format == format
    assert len(transcript.segments) == 1


def test_a_format_can_be_named(tmp_path: Path) -> None:
    assert read_transcript(written(tmp_path, SRT), format="srt").format == "srt"
    with pytest.raises(TranscriptUnreadable, match="WEBVTT"):
        read_transcript(written(tmp_path, SRT), format="vtt")
    with pytest.raises(UnknownPlugIn, match="json, meetingbaas, openai-diarized"):
        read_transcript(written(tmp_path, SRT), format="docx")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_usual_encoding_and_line_end_is_read(tmp_path: Path, encoding: str, line_end: str) -> None:
    content = VTT.replace("\n", line_end).encode(encoding)
    part = read_transcript(written(tmp_path, content)).segments[0]
    assert (part.label, part.text) == ("Zoë", "Größe – 5 €")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"   \n\n", "empty"),
        (b"just some words", "no transcript in a format that is known"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00" + bytes(200), "."),
        (bytes(range(256)) * 10, "."),
        (b"\xff\xfe\x00", "utf-16"),
    ],
    ids=["nothing", "blanks", "prose", "a recording", "bytes", "half a character"],
)
def test_what_is_no_transcript_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(TranscriptUnreadable, match=says):
        read_transcript(written(tmp_path, content))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TranscriptUnreadable, match=r"talk\.vtt.*No such file"):
        read_transcript(tmp_path / "talk.vtt")


def a_transcript(*spans: tuple[float, float]) -> Transcript:
    return Transcript("srt", tuple(TranscriptSegment(Segment(*span), None, "a few words") for span in spans))


def test_a_last_cue_a_moment_past_the_end_is_cut_to_the_audio() -> None:
    fitted = fits(a_transcript((0, 5), (28, 30.9)), 30.0)
    assert fitted.segments[-1].segment == Segment(28, 30.0)


@pytest.mark.parametrize("span", [(28, 33), (100, 101), (-3, 1)])
def test_times_outside_the_audio_do_not_fit(span: tuple[float, float]) -> None:
    with pytest.raises(TranscriptDoesNotFit, match=r"the audio lasts 30\.00 s"):
        fits(a_transcript((0, 5), span), 30.0)


def test_milliseconds_are_recognised_in_the_error() -> None:
    with pytest.raises(TranscriptDoesNotFit, match="milliseconds"):
        fits(a_transcript((0, 5_000), (20_000, 29_500)), 30.0)


def test_clocks_may_drift_over_a_long_recording() -> None:
    assert fits(a_transcript((3_590, 3_612)), 3_600.0).segments[0].segment == Segment(3_590, 3_600)


def test_a_moment_before_the_audio_is_cut_to_it() -> None:
    assert fits(a_transcript((-0.4, 2)), 30.0).segments[0].segment == Segment(0, 2)


def test_an_empty_transcript_fits_anything() -> None:
    assert fits(a_transcript(), 0.0).segments == ()


def test_words_without_times_are_spread_over_their_segment() -> None:
    words = words_of(TranscriptSegment(Segment(10, 14), "ana", "ab cdefg"))
    assert words == (Word("ab", Segment(10, 10 + 4 / 3)), Word("cdefg", Segment(10 + 4 / 3, 14)))


def test_words_without_text_are_none() -> None:
    assert words_of(TranscriptSegment(Segment(0, 1), "ana", None)) == ()


@given(st.text(), st.floats(0, 1e5), st.floats(0, 1e3))
def test_spread_words_follow_one_another_and_fill_the_segment(text: str, start: float, seconds: float) -> None:
    segment = Segment(start, start + seconds)
    words = spread(text, segment)
    assert [word.text for word in words] == text.split()
    edges = [edge for word in words for edge in (word.segment.start, word.segment.end)]
    assert edges == sorted(edges)
    assert not words or (edges[0], edges[-1]) == (segment.start, max(segment.end, edges[-2]))


@given(st.lists(st.one_of(st.none(), st.floats(1, 9)), min_size=1, max_size=12))
def test_words_between_timed_neighbours_get_times_in_order(starts: list[float | None]) -> None:
    ordered = iter(sorted(start for start in starts if start is not None))
    times = [None if start is None else (lambda t: Segment(t, t))(next(ordered)) for start in starts]
    filled = between(times, Segment(0, 10), [1] * len(times))
    assert all(time is None or time == got for time, got in zip(times, filled, strict=True))
    assert [part.start for part in filled] == sorted(part.start for part in filled)
    assert all(0 <= part.start <= part.end <= 10 for part in filled)


@given(st.binary(max_size=400))
def test_any_bytes_give_a_transcript_or_a_clear_refusal(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    try:
        read_transcript(path)
    except TranscriptUnreadable as refusal:
        assert refusal.facts["place"]
