"""Real files of others (cases/samples): what each of them says, or why it says nothing. Those written here stand in
transcripts.py, one for each trait."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.connectors.files import TranscriptUnreadable, read_transcript
from service.types.audio import Transcript

Turn = tuple[float, float, str | None, str]
"""start, end, label, how its text begins"""

GOLDEN: dict[str, tuple[str, int, int, int, Turn | None, Turn | None]] = {
    "awstranscribe__call_analytics.json": (
        "aws-call-analytics", 37, 2, 462, (0.04, 5.05, "AGENT", "Thank you for"), (181.94, 182.89, "AGENT", "Bye."),
    ),
    "awstranscribe__minimal_no_speakers.json": (
        "aws-transcribe", 3, 2, 4, (8.65, 8.98, "spk_0", "one"), (9.15, 9.76, "spk_0", "worst"),
    ),
    "ctm__pyannote.ctm": ("ctm", 1, 0, 3, (0.2, 1.1, None, "how are you"), (0.2, 1.1, None, "how are you")),
    "ctm__sctk_overlap.ctm": ("ctm", 1, 0, 18, (108.74, 115.08, None, "AMONG EACH"), (108.74, 115.08, None, "AMONG")),
    "fireflies__realtime_update.json": ("fireflies", 1, 1, 2, (0, 1.25, "Alice", "Hello world"), (0, 1.25, "Alice", "Hello")),
    "jitsi__transcription_result.json": (
        "jitsi", 1, 1, 2, (0, 0.8, "Participant 10a52c3f", "hello"), (0, 0.8, "Participant 10a52c3f", "hello world"),
    ),
    "recall__transcript_data.json": (
        "recall", 1, 1, 2, (12.34, 12.71, "Anna Kovář", "Hello there"), (12.34, 12.71, "Anna Kovář", "Hello"),
    ),
    "recall__transcript_null_participant.json": ("recall", 1, 0, 5, (0, 1.9, None, "so as I"), (0, 1.9, None, "so as")),
    "rttm__dscore_ref.rttm": ("rttm", 13, 2, 0, (0, 0.558, "speaker1", ""), (35.303, 41.046, "speaker2", "")),
    "speechmatics__batch_transcript.json": (
        "speechmatics", 5, 0, 17, (1.41, 2.37, None, "Tidy things up."), (11.74, 12.3, None, "Whyalla."),
    ),
    "speechmatics__diarization_reference.json": ("json", 9, 4, 9, (0, 3, "spk1", "hello"), (15, 20, "spk4", "good")),
    "speechmatics__empty.json": ("speechmatics", 0, 0, 0, None, None),
    "speechmatics__two_speakers.json": (
        "speechmatics", 2, 2, 4, (0.03, 2.04, "S1", "That's amazing."), (3, 3.2, "S2", "I know"),
    ),
    "stm__sctk_overlap.stm": (
        "stm", 6, 4, 30, (107.675, 110.695, "TBVSTT", "WITH AMONG"), (110.859, 115.267, "TBVSTT", "I I I SEEM"),
    ),
    "vexa__segment_glow_confirmed.json": ("vexa", 1, 1, 2, (1.5, 2.5, "Alice", "hello world"), (1.5, 2.5, "Alice", "hello")),
    "vexa__segment_pending.json": ("vexa", 0, 0, 0, None, None),
    "vexa__transcript_bundle_mutable.json": ("vexa", 1, 1, 2, (1.5, 2.5, "Alice", "hello"), (1.5, 2.5, "Alice", "hello")),
    "vexa__transcript_planted_misattribution.json": (
        "vexa", 3, 2, 25, (1, 3, "spk-vera", "Okay let's"), (8, 9.5, "spk-vera", "Sounds good"),
    ),
    "vexa__ws_transcript_bundle.json": ("vexa", 1, 1, 5, (0, 2, "Alice", "Hello from"), (0, 2, "Alice", "Hello from the")),
    "webvtt__bom.vtt": ("vtt", 4, 0, 12, (0.5, 7, None, "Caption text #1"), (16.32, 21.58, None, "Caption text #4")),
    "webvtt__comments.vtt": ("vtt", 5, 0, 20, (135, 137.632, None, "Ta en kopp varmt te."), (145, 150, None, "Ta en kopp")),
    "webvtt__cue_tags.vtt": ("vtt", 3, 0, 13, (16.5, 18.5, None, "When the moon hits"), (20.5, 21.5, None, "That's amore")),
    "webvtt__metadata_headers_multiline.vtt": (
        "vtt", 2, 0, 6, (0.5, 7, None, "Caption text #1"), (7, 11.89, None, "Caption text #2"),
    ),
    "webvtt__mismatched_spots.vtt": ("vtt", 1, 0, 1, (0, 20, None, "Text"), (0, 20, None, "Text")),
    "webvtt__missing_caption_text.vtt": (
        "vtt", 4, 0, 12, (0.5, 7, None, "Caption text #1"), (21.58, 23.88, None, "Caption text #5"),
    ),
    "webvtt__no_captions.vtt": ("vtt", 0, 0, 0, None, None),
    "webvtt__no_hours.vtt": ("vtt", 1, 0, 1, (0, 2, None, "Text"), (0, 2, None, "Text")),
    "webvtt__styles.vtt": ("vtt", 1, 0, 2, (0, 10, None, "Hello world."), (0, 10, None, "Hello world.")),
    "zoom__recording_cc.vtt": ("vtt", 100, 0, 1860, (68, 69, None, "This doesn't."), (724, 739, None, "Can those in")),
    "zoom__recording_transcript.vtt": (
        "vtt", 102, 5, 1912, (0.05, 1.79, "Mirela Dostal", "Hi!"), (728.76, 735.62, "Ivo Brandt", "why don't we"),
    ),
}  # fmt: skip
"""file → format, turns, labels, words, the first turn and the last"""

REFUSED = {
    "attendee__audio_per_participant.json": "bot_id, trigger, data",
    "attendee__transcript_update.json": "idempotency_key",
    "meetingbaas__speaker_state.json": "no date near the others",
    "recall__audio_separate_raw.json": "event, data",
    "rttm__pyannote_train.rttm": "describes 2 recordings",
    "vexa__audio_frame_named.json": "speakerIndex",
    "vexa__audio_frame_unnamed.json": "speakerIndex",
    "vexa__captured_frame_mixed.json": "pcm_len",
    "vexa__flagged_misattribution.json": "issue_id",
    "vexa__session_start.json": "session_uid",
    "vexa__teams_tile_trace.jsonl": "start or end is missing",
    "vexa__webhook_bot_failed.json": "event_id",
    "vexa__webhook_meeting_completed.json": "event_id",
    "vexa__webhook_signature_headers.json": "it has",
}
"""Sound, events of live meetings that are no transcript, and what needs a choice: file → what the refusal names."""


def turn(transcript: Transcript, place: int) -> tuple[list[float], str | None, str]:
    part = transcript.segments[place]
    return [part.segment.start, part.segment.end], part.label, part.text or ""


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", GOLDEN)
def test_real_files_say_what_they_say(shared: Path, name: str) -> None:
    format, turns, labels, words, *ends = GOLDEN[name]
    transcript = read_transcript(shared / "cases/samples" / name)
    assert (transcript.format, len(transcript.segments)) == (format, turns)
    assert len({part.label for part in transcript.segments if part.label}) == labels
    assert sum(len((part.text or "").split()) for part in transcript.segments) == words
    for place, wanted in zip((0, -1), ends, strict=True):
        if wanted is not None:
            times, label, text = turn(transcript, place)
            assert times == pytest.approx(list(wanted[:2]), abs=1e-3)
            assert label == wanted[2] and text.startswith(wanted[3])


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", REFUSED)
def test_real_files_that_are_no_transcript_are_refused_by_what_they_have(shared: Path, name: str) -> None:
    with pytest.raises(TranscriptUnreadable) as refusal:
        read_transcript(shared / "cases/samples" / name)
    assert REFUSED[name] in str(refusal.value.facts["what"]) and refusal.value.facts["place"]


@pytest.mark.needs_shared
def test_every_sample_that_is_no_sound_is_in_one_of_the_two_lists(shared: Path) -> None:
    samples = {path.name for path in (shared / "cases/samples").iterdir()} - {"INDEX.csv"}
    assert {name for name in samples if not name.endswith(".wav")} == set(GOLDEN) | set(REFUSED)


@pytest.mark.needs_shared
def test_a_recording_of_several_is_read_under_its_name(shared: Path, tmp_path: Path) -> None:
    copy = tmp_path / "filename2.rttm"
    copy.write_bytes((shared / "cases/samples/rttm__pyannote_train.rttm").read_bytes())
    assert [part.label for part in read_transcript(copy).segments] == ["speaker_B"]
