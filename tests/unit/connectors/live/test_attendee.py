"""Attendee: finals without ids, from two subscriptions under two keys, signed as what they say and not as they are sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.connectors.live import SignatureWrong, connector
from service.connectors.live.signatures import canonical_json_headers
from service.types.audio import Segment
from service.types.meeting import NOBODY, AccountKey, AudioEncoding, Base, Began, Ended, Heard, Joined, Spoke, Uttered
from tests.unit.connectors.live.bots import (
    MILLISECONDS,
    SAMPLES,
    attendee,
    attendee_happened,
    attendee_line,
    base64_of,
)
from tests.unit.connectors.live.told import NOW, SECOND, kinds, read, refusal, said, sent

SECRET = base64_of(b"a secret of 24 bytes, yes")


def line(**more: Any) -> Uttered:
    (found,) = read("attendee", attendee_line(**more)).events
    assert isinstance(found, Uttered)
    return found


def test_an_utterance_is_a_final_line_of_the_bots_meeting() -> None:
    found = read("attendee", attendee_line())
    assert (found.meeting, found.delivery_key) == ("bot_1", "k-1")
    assert said(found.events, SECOND) == [("8:orgid:0001", "Grüße aus dem Büro", 0.123, 2.263, True)]
    told = line()
    assert (told.base, told.id, told.slot, told.words) == (Base.EPOCH, None, None, ())
    assert told.speaker.account == AccountKey("attendee", "user-7") and told.speaker.name == "Zoë Müller"


def test_case_2_two_subscriptions_tell_one_utterance_under_one_key() -> None:
    one, two = (read("attendee", {**attendee_line(), "idempotency_key": key}) for key in ("a", "b"))
    assert one.delivery_key != two.delivery_key and one.events == two.events
    keys = {line(**more).key for more in ({}, {"timestamp_ms": MILLISECONDS + 1}, {"duration_ms": 1}, {"speaker_uuid": "x"})}
    assert len(keys) == 4 and line(transcription={"transcript": "other"}).key not in keys


@pytest.mark.parametrize("transcription", [None, {}, {"transcript": None}, {"transcript": "  "}])
def test_sound_without_words_is_no_line(transcription: Any) -> None:
    assert read("attendee", attendee_line(transcription=transcription)).events == ()


def test_words_lie_in_their_utterance_or_are_left_out() -> None:
    words = [{"word": "hi", "start": 0.1, "end": 0.3}, {"word": "there", "start": SECOND, "end": SECOND + 1}]
    told = line(transcription={"transcript": "hi there", "words": words})
    begin = MILLISECONDS / 1000
    assert told.text == "hi there" and [w.segment for w in told.words] == [Segment(begin + 0.1, begin + 0.3)]


@pytest.mark.parametrize("name", [None, "", "Unknown", "None"])
def test_case_10_and_11_nobody_is_nobody(name: str | None) -> None:
    assert line(speaker_uuid=None, speaker_name=name).speaker == NOBODY
    assert line(speaker_name=name).speaker.name is None and line(speaker_name=name).speaker.handle == "8:orgid:0001"


def test_case_17_who_sits_in_the_room_is_a_speaker_of_this_meeting_without_account() -> None:
    speaker = line(speaker_uuid="3f0c@local", speaker_user_uuid="8:orgid:room").speaker
    assert speaker.handle == "3f0c@local" and speaker.account is None


def test_who_comes_and_goes_and_speaks() -> None:
    for kind, name in (("join", "Joined"), ("leave", "Left")):
        (event,) = read("attendee", attendee_happened(kind)).events
        assert kinds((event,)) == [name] and event.at is not None and event.at.timestamp() == MILLISECONDS / 1000
    (joined,) = read("attendee", attendee_happened("join", participant_is_host=True)).events
    assert isinstance(joined, Joined) and joined.speaker.is_host and joined.speaker.account is None
    start, stop = (read("attendee", attendee_happened(f"speech_{what}")).events[0] for what in ("start", "stop"))
    assert isinstance(start, Spoke) and isinstance(stop, Spoke) and (start.end, stop.end) == (None, stop.start)
    assert read("attendee", attendee_happened("waved")).events == ()


def test_what_is_written_to_everyone_is_said_and_to_the_bot_alone_is_not() -> None:
    told = {"id": "c_1", "text": "see the link", "timestamp": int(SECOND), "sender_uuid": "p-1", "sender_name": "Zoë"}
    (found,) = read("attendee", attendee("chat_messages.update", {**told, "to": "everyone"})).events
    assert isinstance(found, Uttered) and (found.source, found.id, found.start, found.end) == ("chat", "c_1", SECOND, SECOND)
    assert found.speaker.handle == "p-1"
    for to in ("only_bot", None):
        assert read("attendee", attendee("chat_messages.update", {**told, "to": to})).events == ()


def test_a_meeting_begins_with_its_recording_and_ends_after_its_processing() -> None:
    def state(new: str, old: str | None = "joining", **more: Any) -> tuple[Any, ...]:
        data = {"new_state": new, "old_state": old, "created_at": "2026-11-30T09:00:00.5Z", **more}
        return read("attendee", attendee("bot.state_change", data)).events

    (began,) = state("joined_recording")
    assert isinstance(began, Began) and began.at == NOW.replace(microsecond=500_000)
    assert state("joined_recording", "joined_recording_paused") == state("joined_recording", "leaving_breakout_room") == ()
    assert state("post_processing") == (), "its last utterances may be on their way"
    (ended,) = state("ended", "post_processing")
    assert isinstance(ended, Ended) and ended.failed is None
    (failed,) = state("fatal_error", event_type="could_not_join", event_sub_type="meeting_not_found")
    assert isinstance(failed, Ended) and failed.failed == "meeting_not_found"


def test_sound_is_of_all_or_of_one_at_its_own_rate() -> None:
    told = {"chunk": base64_of(SAMPLES), "sample_rate": 8000, "timestamp_ms": MILLISECONDS, "sequence": 3}
    (mixed,) = read("attendee", attendee("realtime_audio.mixed", told)).events
    own_told = {**told, "participant_uuid": "p-1", "participant_name": "Zoë"}
    (own,) = read("attendee", attendee("realtime_audio.per_participant", own_told)).events
    assert isinstance(mixed, Heard) and isinstance(own, Heard) and mixed.speaker is None
    assert own.speaker is not None and (own.speaker.handle, own.speaker.name) == ("p-1", "Zoë")
    for heard in (mixed, own):
        assert (heard.data, heard.encoding, heard.sample_rate) == (SAMPLES, AudioEncoding.S16, 8_000)
        assert (heard.start, heard.base) == (MILLISECONDS / 1000, Base.EPOCH)


@pytest.mark.parametrize("trigger", ["calendar.events_update", "bot_logs.update", "realtime_video.per_participant", "tomorrow"])
def test_what_is_not_known_is_no_error(trigger: str) -> None:
    assert read("attendee", attendee(trigger, {"anything": 1})).events == ()


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"data": {}}, "trigger"),
        (attendee("transcript.update", [1]), "data"),  # type: ignore[arg-type]
        ({**attendee_line(), "bot_id": None}, "bot_id"),
        (attendee_line(timestamp_ms=None), "data.timestamp_ms"),
        (attendee_line(timestamp_ms=SECOND), "data.timestamp_ms"),
        (attendee_line(duration_ms="long"), "data.duration_ms"),
        (attendee_line(transcription={"transcript": 7}), "data.transcription.transcript"),
        (attendee("realtime_audio.mixed", {"chunk": "AA", "sample_rate": 8000}), "data.chunk"),
        (attendee("realtime_audio.mixed", {"chunk": base64_of(SAMPLES), "sample_rate": 1}), "data.sample_rate"),
        (
            attendee("realtime_audio.per_participant", {"chunk": base64_of(SAMPLES), "sample_rate": 8000}),
            "data.participant_uuid",
        ),
        (b"\xff", "the message"),
    ],
)
def test_what_is_broken_names_its_field(body: Any, place: str) -> None:
    assert refusal("attendee", body).facts["place"] == place


def test_case_3_what_is_signed_is_what_it_says_however_it_is_written() -> None:
    verify = connector("attendee").verify
    as_sent = json.dumps(attendee_line()).encode()
    headers = canonical_json_headers(SECRET, body=as_sent)
    assert b"\\u00fc" in as_sent and "ü".encode() not in as_sent
    verify(sent(as_sent, headers=headers), [SECRET], source="sales")
    verify(sent(json.dumps(attendee_line(), indent=1, ensure_ascii=False).encode(), headers=headers), [SECRET], source="sales")
    for body, given in ((json.dumps(attendee_line("Gruße")).encode(), headers), (as_sent, {})):
        with pytest.raises(SignatureWrong):
            verify(sent(body, headers=given), [SECRET], source="sales")


def test_a_socket_has_a_secret_of_its_own_in_its_url() -> None:
    verify = connector("attendee").verify
    verify(sent(b"", query={"token": "open"}), [SECRET, "token:open"], source="sales")
    for delivery, secrets in (
        (sent(b"", query={"token": "wrong"}), [SECRET, "token:open"]),
        (sent(b"", query={"token": SECRET}), [SECRET]),
        (sent(attendee_line(), query={}), [SECRET, "token:open"]),
    ):
        with pytest.raises(SignatureWrong):
            verify(delivery, secrets, source="sales")
