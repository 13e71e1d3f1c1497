"""RTTM as different tools write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.files import TranscriptUnreadable, read_transcript, rttm
from service.types.audio import Segment, TranscriptSegment


def test_nine_and_ten_columns_and_other_lines() -> None:
    text = (
        ";; a comment\nSPKR-INFO day 1 <NA> <NA> <NA> unknown ana <NA> <NA>\n"
        "SPEAKER day 1 2.00 1.50 <NA> <NA> ben <NA>\n"
        "LEXEME day 1 0.5 0.2 hello lex ana 0.9\nNON-SPEECH day 1 4.0 1.0 <NA> noise <NA> <NA> <NA>\n"
        "SPEAKER day 1 0.50 1.25 <NA> <NA> ana <NA> <NA>\n"
    )
    assert rttm.parse(text, "day.rttm").segments == (
        TranscriptSegment(Segment(0.5, 1.75), "ana", None),
        TranscriptSegment(Segment(2.0, 3.5), "ben", None),
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("SPEAKER day 1 0.5 1.0 <NA> <NA> Ana Maria Lopez <NA> <NA>", "12 columns"),
        ("SPEAKER day 1 0.5", "4 columns"),
        ("SPEAKER day 1 -0.5 1.0 <NA> <NA> ana <NA> <NA>", "'-0.5' is not a time"),
        ("SPEAKER day 1 0.5 nan <NA> <NA> ana <NA> <NA>", "text of 3 characters is not a time"),
        ("SPEAKER day 1 0,5 1.0 <NA> <NA> ana <NA> <NA>", "'0,5' is not a time"),
        ("TALKER day 1 0.5 1.0 <NA> <NA> ana <NA> <NA>", "10 columns"),
    ],
)
def test_a_line_that_breaks_the_format_is_refused_with_its_number(line: str, says: str) -> None:
    with pytest.raises(TranscriptUnreadable, match="line 2") as refused:
        rttm.parse(f";;\n{line}\n", "day.rttm")
    assert says in refused.value.message


def test_of_several_recordings_the_one_named_like_the_file_is_read() -> None:
    text = "".join(f"SPEAKER {day} 1 0 1 <NA> <NA> {day}-voice <NA> <NA>\n" for day in ("monday", "tuesday"))
    assert [part.label for part in rttm.parse(text, "tuesday.rttm").segments] == ["tuesday-voice"]
    with pytest.raises(TranscriptUnreadable, match="2 recordings"):
        rttm.parse(text, "week.rttm")


turns = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**5), st.sampled_from("abc")), max_size=10)


@given(turns)
def test_what_is_written_is_read_back(made: list[tuple[int, int, str]]) -> None:
    text = "".join(
        f"SPEAKER day 1 {start / 1000:.3f} {length / 1000:.3f} <NA> <NA> {label} <NA> <NA>\n" for start, length, label in made
    )
    found = rttm.parse(text, "day.rttm").segments
    assert sorted(part.label or "" for part in found) == sorted(label for *_, label in made)
    assert [part.segment.start for part in found] == sorted(start / 1000 for start, *_ in made)


@pytest.mark.needs_shared
def test_real_files_are_read(shared: Path) -> None:
    assert len(read_transcript(shared / "cases/samples/rttm__dscore_ref.rttm").segments) == 13
    for meeting in sorted((shared / "data/meetings").glob("*.rttm")):
        assert len({part.label for part in read_transcript(meeting).segments}) >= 2
