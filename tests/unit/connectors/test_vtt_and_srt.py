"""Cues as real files have them: voices, names, tags, entities, comments, lost blank lines."""

from __future__ import annotations

from pathlib import Path

import pytest
import webvtt
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.files import TranscriptUnreadable, read_transcript, srt, vtt
from service.connectors.files.voices import names_in
from service.types.audio import Segment, Transcript


def read(text: str) -> Transcript:
    return vtt.parse("WEBVTT\n\n" + text, "talk.vtt")


def said(transcript: Transcript) -> list[tuple[str | None, str | None]]:
    return [(part.label, part.text) for part in transcript.segments]


def test_voice_tags_name_the_speaker_with_classes_and_entities() -> None:
    transcript = read(
        "00:01.000 --> 00:02.000\n<v.loud.first Esme &amp; Co>R&amp;D is <i>fine</i></v>\n\n"
        "00:03.000 --> 00:04.000\n<v Bob>\nok\nthen\n"
    )
    assert said(transcript) == [("Esme & Co", "R&D is fine"), ("Bob", "ok then")]


def test_two_voices_in_one_cue_share_its_time_by_their_length() -> None:
    transcript = read("00:00.000 --> 00:10.000\n<v A>12345678</v><v B>12</v>\n")
    assert [(part.label, part.segment) for part in transcript.segments] == [("A", Segment(0, 8)), ("B", Segment(8, 10))]


def test_karaoke_times_and_tags_are_stripped_and_entities_decoded_once() -> None:
    transcript = read("00:01.000 --> 00:02.000\nhi<00:00:01.040><c> everyone</c> &amp;lt;b&gt; 1 < 2\n")
    assert said(transcript) == [(None, "hi everyone &lt;b> 1 < 2")]


def test_hours_are_optional_and_unbounded() -> None:
    transcript = read("59:59.500 --> 01:00:01.000\na\n\n123:00:00.000 --> 123:00:01.000 align:start\nb\n")
    assert [part.segment for part in transcript.segments] == [Segment(3_599.5, 3_601), Segment(442_800, 442_801)]


def test_notes_styles_regions_and_header_lines_are_skipped() -> None:
    text = (
        "WEBVTT - a title\nKind: captions\nLanguage: de\n\nNOTE\nnot said\nnor this\n\nSTYLE\n::cue { color: red; }\n\n"
        "REGION\nid:fred\n\n1\n00:01.000 --> 00:02.000\nsaid\n\nNOTE not said either\n\n"
        "2\n00:03.000 --> 00:04.000\nNOTE that this is said\n"
    )
    transcript = vtt.parse(text, "talk.vtt")
    assert said(transcript) == [(None, "said"), (None, "NOTE that this is said")]
    assert transcript.language == "de"
    assert transcript.recovered == 0


def test_text_after_a_blank_line_is_kept_and_counted() -> None:
    transcript = read(
        "1\n00:01.000 --> 00:02.000\n\ncongratulations\n\n2\n00:03.000 --> 00:04.000\nfirst\n\nsecond\n\n"
        "00:05.000 --> 00:06.000\n\nlast\n"
    )
    assert said(transcript) == [(None, "congratulations"), (None, "first second"), (None, "last")]
    assert transcript.recovered == 3


def test_cues_without_blank_lines_between_them_are_kept_apart() -> None:
    transcript = read("1\n00:01.000 --> 00:02.000\nfirst\n2\n00:03.000 --> 00:04.000\n42\n00:05.000 --> 00:06.000\nlast\n")
    assert said(transcript) == [(None, "first"), (None, "42"), (None, "last")]


def test_a_cue_without_text_says_nothing() -> None:
    assert said(read("00:01.000 --> 00:02.000\n\n00:03.000 --> 00:04.000\nsaid\n")) == [(None, "said")]


def test_an_arrow_in_speech_is_speech() -> None:
    assert said(read("00:01.000 --> 00:02.000\nfrom here --> there\n")) == [(None, "from here --> there")]


def test_a_broken_time_is_refused_with_its_line() -> None:
    with pytest.raises(TranscriptUnreadable, match=r"talk\.vtt, line 6: the time '00:99\.000 --> 00:05\.000' cannot be read"):
        read("00:01.000 --> 00:02.000\nok\n\n00:99.000 --> 00:05.000\nbroken\n")


def test_an_end_before_its_start_is_a_moment_and_counted() -> None:
    transcript = read("00:05.000 --> 00:03.000\nodd\n")
    assert transcript.segments[0].segment == Segment(5, 5)
    assert transcript.recovered == 1


def test_a_header_alone_is_an_empty_transcript() -> None:
    assert vtt.parse("WEBVTT", "talk.vtt") == Transcript("vtt", ())


ZOOM = """
1
00:00.000 --> 00:02.000
Mirela Dostal: Hi!

2
00:02.000 --> 00:04.000
Dr. Paula van Orr: So here is the thing: it works.

3
00:04.000 --> 00:06.000
and goes on

4
00:06.000 --> 00:08.000
So the point is: good.
"""


def test_names_before_a_colon_are_speakers_where_the_file_is_written_so() -> None:
    assert said(read(ZOOM)) == [
        ("Mirela Dostal", "Hi!"),
        ("Dr. Paula van Orr", "So here is the thing: it works."),
        (None, "and goes on"),
        (None, "So the point is: good."),
    ]


def test_a_name_may_be_followed_by_several_lines() -> None:
    cues = "\n".join(f"00:{i:02}.000 --> 00:{i + 1:02}.000\nAna Lopez: first\nsecond\nthird\n" for i in range(2))
    assert said(read(cues)) == [("Ana Lopez", "first second third")] * 2


def test_a_single_colon_in_a_long_talk_is_no_speaker() -> None:
    cues = "\n".join(f"00:{i:02}.000 --> 00:{i + 1:02}.000\nline {i}\n" for i in range(10))
    transcript = read(cues + "\n00:20.000 --> 00:21.000\nWarning: this is speech\n")
    assert {part.label for part in transcript.segments} == {None}
    assert transcript.segments[-1].text == "Warning: this is speech"


def test_times_and_addresses_are_no_names() -> None:
    assert names_in([["at 10:30 we"], ["see https://x.org", "10:30 it is"]]) == frozenset()


def test_a_very_long_name_is_cut() -> None:
    transcript = read(f"00:01.000 --> 00:02.000\n<v {'x' * 5_000}>hello\n")
    assert len(transcript.segments[0].label or "") == 100


def test_srt_names_brackets_dashes_positions_and_a_missing_index() -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\n[SPEAKER_00]: {\\an8}<font color='red'>Hello</font>\n\n"
        "00:00:02,000 --> 00:00:03,500\n[SPEAKER_01]: Good day\n\n"
        "3\n00:00:04,000 --> 00:00:06,000 X1:40 X2:600\n- one\n- two\n"
    )
    transcript = srt.parse(text, "talk.srt")
    assert said(transcript) == [("SPEAKER_00", "Hello"), ("SPEAKER_01", "Good day"), (None, "one"), (None, "two")]
    assert transcript.segments[1].segment == Segment(2, 3.5)


def test_srt_speech_may_begin_like_a_comment() -> None:
    assert said(srt.parse("1\n00:00:01,000 --> 00:00:02,000\nok\n\nNOTE this\n", "t.srt")) == [(None, "ok NOTE this")]


def test_srt_without_a_time_is_refused() -> None:
    with pytest.raises(TranscriptUnreadable, match="-->"):
        srt.parse("hello\n", "talk.srt")


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
sentences = st.lists(words, min_size=1, max_size=6).map(" ".join)
names = st.from_regex(r"[A-Z][a-z]{1,8}( [A-Z][a-z]{1,8})?", fullmatch=True)
cues = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 9_999), names, sentences), min_size=1, max_size=8)


def clock(milliseconds: int, comma: str = ".") -> str:
    seconds, rest = divmod(milliseconds, 1_000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{comma}{rest:03}"


@given(cues)
def test_what_is_written_as_vtt_is_read_back(made: list[tuple[int, int, str, str]]) -> None:
    text = "".join(f"{clock(at)} --> {clock(at + length)}\n<v {name}>{said}</v>\n\n" for at, length, name, said in made)
    transcript = read(text)
    wanted = [(Segment(at / 1000, (at + length) / 1000), name, said) for at, length, name, said in made]
    wanted.sort(key=lambda cue: cue[0].start)
    assert [(part.label, part.text) for part in transcript.segments] == [(name, said) for _, name, said in wanted]
    for part, (segment, _, _) in zip(transcript.segments, wanted, strict=True):
        assert part.segment.start == pytest.approx(segment.start)
        assert part.segment.end == pytest.approx(segment.end)


@given(cues)
def test_what_is_written_as_srt_is_read_back(made: list[tuple[int, int, str, str]]) -> None:
    text = "".join(
        f"{i}\n{clock(at, ',')} --> {clock(at + length, ',')}\n{name}: {said}\n\n"
        for i, (at, length, name, said) in enumerate(made, start=1)
    )
    transcript = srt.parse(text, "talk.srt")
    wanted = sorted(made, key=lambda cue: cue[0])
    assert [(part.label, part.text) for part in transcript.segments] == [(name, said) for _, _, name, said in wanted]


@given(st.lists(st.one_of(st.just("00:01.000 --> 00:02.000"), st.just(""), st.just("NOTE x"), sentences, st.text(max_size=20))))
def test_any_lines_are_read_or_refused_with_a_line(lines: list[str]) -> None:
    for parse in (vtt.parse, srt.parse):
        try:
            transcript = parse("WEBVTT\n\n" + "\n".join(lines), "talk")
        except TranscriptUnreadable as refusal:
            assert str(refusal.facts["place"]).startswith("line ")
        else:
            assert all(part.text and part.segment.start <= part.segment.end for part in transcript.segments)


def test_a_well_formed_file_is_read_as_webvtt_py_reads_it() -> None:
    made = [(i * 1_500, 1_200, f"Name {i % 3}", f"word {i} said <i>so</i>") for i in range(40)]
    text = "WEBVTT\n\n" + "".join(
        f"{i}\n{clock(at)} --> {clock(at + n)}\n<v {name}>{said}</v>\n\n" for i, (at, n, name, said) in enumerate(made)
    )
    theirs = [(cue.start, cue.voice, cue.text) for cue in webvtt.from_string(text)]
    ours = [(clock(round(part.segment.start * 1000)), part.label, part.text) for part in vtt.parse(text, "t.vtt").segments]
    assert ours == theirs


@pytest.mark.needs_shared
@pytest.mark.parametrize(
    ("name", "count", "recovered", "labels"),
    [
        ("webvtt__bom.vtt", 4, 0, 0),
        ("webvtt__comments.vtt", 5, 0, 0),
        ("webvtt__cue_tags.vtt", 3, 0, 0),
        ("webvtt__metadata_headers_multiline.vtt", 2, 0, 0),
        ("webvtt__mismatched_spots.vtt", 1, 0, 0),
        ("webvtt__missing_caption_text.vtt", 4, 0, 0),
        ("webvtt__no_captions.vtt", 0, 0, 0),
        ("webvtt__no_hours.vtt", 1, 0, 0),
        ("webvtt__styles.vtt", 1, 0, 0),
        ("zoom__recording_cc.vtt", 100, 0, 0),
        ("zoom__recording_transcript.vtt", 102, 0, 5),
    ],
)
def test_real_files_are_read(shared: Path, name: str, count: int, recovered: int, labels: int) -> None:
    transcript = read_transcript(shared / "cases/samples" / name)
    assert (len(transcript.segments), transcript.recovered) == (count, recovered)
    assert len({part.label for part in transcript.segments if part.label}) == labels
    assert not any("<" in (part.text or "") for part in transcript.segments)
