"""Which tests show the right outcome of each case of CASES.md about deliveries, who spoke, labels, audio bytes, times, files,
and which read each of the collected samples? (Voices, 24 to 32, stand in tests/graph/test_cases_voiceprints.py.)"""

from __future__ import annotations

SECTIONS = {
    "Delivery and ordering": range(1, 8),
    "Who spoke": range(8, 18),
    "Diarisation labels": range(18, 24),
    "Audio bytes": range(33, 37),
    "Times": range(37, 42),
    "Files and text": range(42, 46),
}

SHOWN: dict[int, tuple[str, ...]] = {
    7: (
        "graph/test_ingest.py::test_the_same_file_twice_changes_nothing",
        "graph/test_again.py::test_a_revision_takes_the_place_of_the_one_before_and_everybody_weighs_as_after_one_ingest",
        "graph/test_again.py::test_broken_off_anywhere_the_same_request_goes_on_and_nobody_sees_both",
    ),
    18: ("unit/connectors/test_formats.py::test_two_connections_in_one_file_are_refused_for_their_times_start_over",),
    19: ("graph/test_written.py::test_whose_a_voice_of_one_run_is_holds_when_another_run_swaps_the_labels",),
    21: (
        "unit/connectors/test_formats.py::test_nobody_speaking_is_a_transcript",
        "graph/test_ingest.py::test_silence_is_a_session_without_messages",
        "graph/test_ingest.py::test_music_is_a_session_without_people",
    ),
    22: ("graph/test_ingest.py::test_a_transcript_of_a_silent_recording_is_left_out_and_said_so",),
    23: ("graph/test_ingest_long.py::test_four_hours_take_the_memory_of_a_block_and_people_keep_their_tracks",),
    33: (
        "unit/audio/test_decode.py::test_the_bytes_are_counted_whatever_size_the_header_claims",
        "unit/audio/test_decode.py::test_chunks_after_the_sound_are_not_heard",
        "unit/audio/test_decode.py::test_two_wavs_joined_are_both_heard_each_at_its_own_rate",
        "unit/audio/test_decode.py::test_a_truncated_wav_keeps_what_is_there",
        "unit/audio/test_decode.py::test_the_collected_wavs_are_all_heard_whole",
    ),
    34: (
        "unit/audio/test_decode.py::test_what_browsers_and_telephones_record_is_decoded",
        "unit/audio/test_decode.py::test_what_is_no_sound_is_refused_by_its_own_error",
    ),
    35: (
        "unit/audio/test_decode.py::test_rates_widths_and_forms_come_out_as_16_khz_of_the_same_sound",
        "unit/audio/test_decode.py::test_channels_with_different_people_are_kept_apart",
        "unit/audio/test_quality.py::test_a_telephone_voice_is_tagged_and_the_same_voice_in_the_room_is_not",
    ),
    36: ("unit/audio/test_quality.py::test_clipping_is_the_share_of_samples_at_full_scale",),
    37: ("unit/connectors/test_transcripts.py::test_a_last_cue_a_moment_past_the_end_is_cut_to_the_audio",),
    39: (
        "unit/connectors/test_formats.py::test_local_times_go_on_until_the_clocks_are_put_back",
        "unit/connectors/test_formats.py::test_dates_with_zones_say_when_it_began",
    ),
    40: ("unit/connectors/test_formats.py::test_times_that_go_on_from_another_recording_stay_as_written",),
    41: ("unit/connectors/test_formats.py::test_two_time_bases_in_one_list_are_refused",),
    42: (
        "unit/connectors/test_vtt_and_srt.py::test_text_after_a_blank_line_is_kept_and_counted",
        "unit/connectors/test_vtt_and_srt.py::test_cues_without_blank_lines_between_them_are_kept_apart",
        "unit/connectors/test_vtt_and_srt.py::test_a_name_may_be_followed_by_several_lines",
    ),
    43: (
        "unit/connectors/test_transcripts.py::test_every_usual_encoding_and_line_end_is_read",
        "unit/connectors/test_vtt_and_srt.py::test_notes_styles_regions_and_header_lines_are_skipped",
    ),
    44: (
        "unit/connectors/test_vtt_and_srt.py::test_karaoke_times_and_tags_are_stripped_and_entities_decoded_once",
        "unit/connectors/test_vtt_and_srt.py::test_voice_tags_name_the_speaker_with_classes_and_entities",
    ),
    45: (
        "unit/language/test_fact_model.py::test_the_model_is_shown_no_id_and_text_stays_data",
        "unit/language/test_retrieval_model.py::test_what_people_said_stays_inside_the_fence",
        "graph/test_written.py::test_a_name_that_would_break_a_query_is_a_name",
        "unit/connectors/test_vtt_and_srt.py::test_a_very_long_name_is_cut",
    ),
}
"""Case → tests, by their path under tests/, besides those that have its number in their name (test_case_9_…)."""

_LIVE = "unit/connectors/live/"
_BOTS = f"{_LIVE}test_samples_of_bots.py::"
LINES = f"{_BOTS}test_a_sample_says_who_said_what_when"
MEETINGS = f"{_BOTS}test_a_sample_says_when_a_meeting_began_or_ended"
FRAMES = f"{_BOTS}test_a_frame_of_vexa_is_its_samples"
PIECES = f"{_BOTS}test_sound_as_json_is_its_samples"
NO_EVENT = f"{_BOTS}test_what_is_no_event_tells_nothing_or_is_refused"

LIVE_SAMPLES = {
    "attendee__audio_per_participant.json": PIECES,
    "attendee__transcript_update.json": LINES,
    "fireflies__realtime_update.json": f"{_LIVE}test_after_the_meeting.py::test_fireflies_own_sample_of_live_pieces",
    "jitsi__transcription_result.json": f"{_LIVE}test_rooms.py::test_the_opus_proxys_own_sample",
    "meetingbaas__speaker_state.json": f"{_BOTS}test_who_speaks_in_two_units",
    "recall__audio_separate_raw.json": PIECES,
    "recall__transcript_data.json": LINES,
    "recall__transcript_null_participant.json": LINES,
    "vexa__audio_frame_named.json": FRAMES,
    "vexa__audio_frame_unnamed.json": FRAMES,
    "vexa__captured_frame_mixed.json": PIECES,
    "vexa__flagged_misattribution.json": NO_EVENT,
    "vexa__segment_glow_confirmed.json": LINES,
    "vexa__segment_pending.json": LINES,
    "vexa__session_start.json": MEETINGS,
    "vexa__teams_tile_trace.jsonl": NO_EVENT,
    "vexa__transcript_bundle_mutable.json": LINES,
    "vexa__transcript_planted_misattribution.json": LINES,
    "vexa__webhook_bot_failed.json": MEETINGS,
    "vexa__webhook_meeting_completed.json": MEETINGS,
    "vexa__webhook_signature_headers.json": f"{_BOTS}test_the_signature_of_the_sample_headers_is_not_of_another_body",
    "vexa__ws_transcript_bundle.json": LINES,
}
"""What live systems send → the test that delivers it to its connector. As files all samples are read, or refused by name, in
test_cases_files.py; sound in unit/audio/test_decode.py."""
