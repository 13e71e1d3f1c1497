"""Vexa: pending and confirmed under other ids, two time bases in one stream, names not earned yet, rooms, and sound."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.connectors.live import Delivery, SignatureWrong, connector
from service.connectors.live.signatures import timestamp_body_headers
from service.types.audio import Segment
from service.types.meeting import NOBODY, AudioEncoding, Base, Began, Ended, Heard, Speaker, Uttered, Withdrawn
from tests.unit.connectors.live.bots import (
    ABSOLUTE,
    FLOATS,
    MILLISECONDS,
    PENDING,
    base64_of,
    vexa_bundle,
    vexa_frame,
    vexa_segment,
    vexa_webhook,
)
from tests.unit.connectors.live.told import NOW, SECOND, kinds, read, refusal, said, sent


def lines(body: Any, **more: Any) -> list[Uttered]:
    return [event for event in read("vexa", body, **more).events if isinstance(event, Uttered)]


def line(**more: Any) -> Uttered:
    (found,) = lines(vexa_bundle(vexa_segment(**more)))
    return found


def test_a_bundle_is_lines_of_its_meeting() -> None:
    found = read("vexa", vexa_bundle(vexa_segment(), pending=(vexa_segment(**PENDING, start=3.0, end=3.4),)))
    assert found.meeting == "42" and found.delivery_key is None
    assert said(found.events) == [(None, "hello world", 1.5, 2.5, True), (None, "hello wor", 3.0, 3.4, False)]
    told = line()
    assert (told.id, told.base, told.language, told.source) == ("s1:ch-0:1:1500", Base.MEETING, "en", "platform")
    assert told.words[1].segment == Segment(2.0, 2.5) and told.words[1].confidence == 0.8


def test_case_4_pending_has_no_lasting_id_and_goes_when_it_is_confirmed() -> None:
    """The confirmed one has the start in its id, the pending one the word "pending": they share a slot, the turn's."""
    confirmed, pending = lines(vexa_bundle(vexa_segment(), pending=(vexa_segment(**PENDING),)))
    assert pending.id is None and not pending.final and confirmed.final
    assert pending.slot == confirmed.slot is not None
    other = line(segment_id="s1:ch-1:1:1500", speaker_key="ch-1:1")
    assert other.slot != confirmed.slot
    without = lines(vexa_bundle(vexa_segment(speaker_key=None), pending=(vexa_segment(**PENDING, speaker_key=None),)))
    assert [each.slot for each in without] == [confirmed.slot] * 2


def test_case_4_a_segment_told_again_keeps_its_id_and_the_later_bundle_holds() -> None:
    first = line()
    (again,) = lines(vexa_bundle(vexa_segment(text="hello, world", start=1.4), ts="2026-11-30T09:00:09Z"))
    assert again.id == first.id and again.revision > first.revision and again.key != first.key
    (named,) = lines(vexa_bundle(vexa_segment(segment_id=None)))
    (moved,) = lines(vexa_bundle(vexa_segment(segment_id=None, text="hello, world", start=1.52)))
    assert named.id == moved.id is not None, "without one, by speaker and start"


def test_case_1_and_2_the_same_bundle_twice_has_the_same_keys() -> None:
    body = vexa_bundle(vexa_segment(**ABSOLUTE), pending=(vexa_segment(**PENDING),))
    assert read("vexa", body).events == read("vexa", json.dumps(body, indent=2).encode()).events
    one = vexa_webhook("completed", "meeting.completed")
    four = [read("vexa", {**one, "event_id": f"evt_{n}", "created_at": f"2026-11-30T09:30:0{n}Z"}) for n in range(4)]
    assert len({found.delivery_key for found in four}) == 4 and len({found.events for found in four}) == 1
    typed, status = read("vexa", one), read("vexa", vexa_webhook("completed", "meeting.status_change"))
    assert typed.events == status.events, "the status and the event of its own say one thing"


def test_case_41_seconds_dates_and_epochs_come_to_one_base() -> None:
    """Each field as what it is, the date first."""
    told = [
        vexa_segment(**ABSOLUTE),
        vexa_segment(start=SECOND + 60, end=SECOND + 60, source="chat", words=[]),
        {"segment_id": "s1:ch-0:3:1", "text": "hi", "speaker": "Bo", "start": "2026-11-30T09:00:05Z", "end": 6.0},
        {"segment_id": "s1:ch-0:4:1", "text": "yes", "speaker": "Bo", "start_time": "2026-11-30T09:00:07Z", "end_time": 8},
        {"segment_id": "s1:ch-0:5:1", "text": "so", "speaker": "Bo", **ABSOLUTE, "start": None},
    ]
    found = lines(vexa_bundle(*told))
    assert {each.base for each in found} == {Base.EPOCH}
    begins = [round(each.start - SECOND, 3) for each in found]
    assert begins == [1.5, 60.0, 5.0, 7.0, 1.5] and all(0 <= each.end - each.start < 3 for each in found)
    assert found[0].words[0].segment.start - SECOND == 1.5, "its words moved with it"
    assert found[1].source == "chat" and found[1].start == found[1].end


def test_the_sessions_start_is_told_by_what_has_both_times() -> None:
    began = [event for event in read("vexa", vexa_bundle(vexa_segment(**ABSOLUTE))).events if isinstance(event, Began)]
    assert [event.at for event in began] == [NOW]
    start = {
        "type": "session_start",
        "session_uid": "s1",
        "meeting_id": "42",
        "platform": "zoom",
        "start_time": NOW.isoformat(),
    }
    (told,) = read("vexa", start).events
    assert isinstance(told, Began) and (told.at, told.platform) == (NOW, "zoom")


def test_a_name_that_is_not_earned_is_of_the_turn_alone() -> None:
    unearned = line(source="provisional-cluster-id", confidence=0)
    assert (unearned.speaker.handle, unearned.speaker.name, unearned.speaker.confidence) == ("s1:ch-0:1", "Zoë", 0.0)
    assert unearned.source == "diariser" and line().speaker == Speaker(None, name="Zoë", confidence=1.0)
    assert line(source="caption").source == "caption"


@pytest.mark.parametrize("name", [None, "", "Unknown", "Speaker", "guest"])
def test_case_10_unknown_is_of_its_turn_or_nobody(name: str | None) -> None:
    one, two = line(speaker=name), line(speaker=name, segment_id="s1:ch-0:2:9000")
    assert one.speaker.name is None and one.speaker.handle != two.speaker.handle
    assert line(speaker=name, segment_id=None, speaker_key=None).speaker == NOBODY


def test_case_12_a_room_is_told_as_one() -> None:
    assert line(speaker_kind="room").speaker.is_room and not line().speaker.is_room


def test_a_meeting_begins_and_ends_by_its_status() -> None:
    active = read("vexa", vexa_webhook("active", end_time=None))
    assert kinds(active.events) == ["Began"] and active.delivery_key == "evt_1"
    (began,) = active.events
    assert isinstance(began, Began) and (began.at, began.title, began.platform) == (NOW, "Weekly", "google_meet")
    assert kinds(read("vexa", vexa_webhook("completed")).events) == ["Began", "Ended"]
    failed = read("vexa", vexa_webhook("failed", "bot.failed", start_time=None, completion_reason="rejected")).events
    assert [(e.failed, e.at) for e in failed if isinstance(e, Ended)] == [("rejected", NOW.replace(minute=30))]
    old = {"event_type": "meeting.status_change", "meeting": vexa_webhook("completed")["data"]["meeting"]}
    assert read("vexa", old).events == read("vexa", vexa_webhook("completed")).events, "of a version without envelope"
    assert read("vexa", {"type": "bot_status", "status": "completed", "meeting_id": 42}).meeting == "42"
    assert kinds(read("vexa", {"type": "session_end", "session_uid": "s1", "meeting_id": "42"}).events) == ["Ended"]


def test_what_is_taken_back_is_told_by_its_id() -> None:
    found = read("vexa", {"type": "retract", "segment_ids": ["s1:ch-0:1:1500"]}, query={"meeting": "42"})
    assert [event.id for event in found.events if isinstance(event, Withdrawn)] == [line().id] and found.meeting == "42"


def test_what_does_not_say_its_meeting_has_it_from_the_start_of_the_connection_or_the_url() -> None:
    """The feed names segments and sessions; the row that both are of is not in it."""
    start = {"type": "session_start", "session_uid": "s1", "meeting_id": "42", "start_time": NOW.isoformat()}
    carried = read("vexa", start).carried
    told = {"type": "transcription_segment", "text": "hi", "start_time": 1.0, "end_time": 1.5, "speaker": "Bo"}
    assert read("vexa", told, carried=carried).meeting == read("vexa", told, query={"meeting": "42"}).meeting == "42"
    assert refusal("vexa", told).facts["place"] == "meeting.id"
    assert read("vexa", vexa_bundle(vexa_segment()), query={"meeting": "42"}).meeting == "42"
    assert refusal("vexa", vexa_bundle(vexa_segment()), query={"meeting": "7"}).facts["place"] == "meeting.id", "what is signed"


def test_frames_of_sound_have_a_track_or_are_of_all() -> None:
    frames = {
        name: read("vexa", body, binary=True, query={"meeting": "42"}, connection="c1")
        for name, body in (
            ("own", vexa_frame(3)),
            ("named", vexa_frame(7, name="Zoë Kovář")),
            ("mixed", vexa_frame(999)),
        )
    }
    for found in frames.values():
        (heard,) = found.events
        assert isinstance(heard, Heard) and found.meeting == "42"
        assert (heard.data, heard.encoding, heard.sample_rate) == (FLOATS, AudioEncoding.F32, 16_000)
        assert (heard.start, heard.base) == (MILLISECONDS / 1000, Base.EPOCH)
    (own,), (named,), (mixed,) = (found.events for found in frames.values())
    assert isinstance(own, Heard) and isinstance(named, Heard) and isinstance(mixed, Heard) and mixed.speaker is None
    assert own.speaker is not None and (own.speaker.handle, own.speaker.scope, own.speaker.name) == ("3", "c1", None)
    assert named.speaker is not None and (named.speaker.handle, named.speaker.name) == ("7", "Zoë Kovář")
    told = {"ts": MILLISECONDS, "speakerIndex": 3, "pcm": base64_of(FLOATS)}
    assert read("vexa", told, query={"meeting": "42"}, connection="c1").events == (own,)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        vexa_frame(3)[:11],
        vexa_frame(3)[:-1],
        vexa_frame(3, b""),
        vexa_frame(3, at=5.0),
        vexa_frame(3, at=float("nan")),
        vexa_frame(3, name="Zoë")[:17],
        b"\x01\0\0\x80" + b"\0" * 8 + b"\xff\xff\xff\xff",
        vexa_frame(3, name="Zoë").replace("ë".encode(), b"\xff\xff"),
    ],
)
def test_a_broken_frame_is_refused(body: bytes) -> None:
    assert refusal("vexa", body, binary=True, query={"meeting": "42"}).facts["place"] == "the binary message"


@given(
    track=st.integers(0, 0x7FFFFFFF),
    at=st.integers(1_000_000_000_000, 3_000_000_000_000),
    samples=st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=20),
    name=st.none() | st.text(max_size=20),
)
@settings(max_examples=60, deadline=None)
def test_a_frame_that_was_written_is_read(track: int, at: int, samples: list[float], name: str | None) -> None:
    data = struct.pack(f"<{len(samples)}f", *samples)
    delivery = Delivery({}, vexa_frame(track, data, name, float(at)), NOW, binary=True, query={"meeting": "42"})
    (heard,) = connector("vexa").read(delivery).events
    assert isinstance(heard, Heard) and heard.data == data and heard.start == at / 1000
    assert heard.speaker is None if track == 999 else heard.speaker is not None and heard.speaker.handle == str(track)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (vexa_bundle(vexa_segment(start=None)), "confirmed[0].start"),
        (vexa_bundle(vexa_segment(start="at noon")), "confirmed[0].start"),
        (vexa_bundle(vexa_segment(start=1e12, end=1e12)), "confirmed[0].start"),
        (vexa_bundle(vexa_segment(text=7)), "confirmed[0].text"),
        (vexa_bundle(vexa_segment(speaker=["Bo"])), "confirmed[0].speaker"),
        (vexa_bundle(vexa_segment(segment_id="s" * 501)), "confirmed[0].segment_id"),
        (vexa_bundle(confirmed=7), "confirmed"),
        ({"type": "retract", "segment_ids": [None]}, "segment_ids[0]"),
        (b"[1, 2]", "the message"),
    ],
)
def test_what_is_broken_names_its_field(body: Any, place: str) -> None:
    problem = refusal("vexa", body, query={"meeting": "42"})
    assert problem.facts["place"] == place and "noon" not in problem.message


def test_what_is_not_known_or_only_about_a_segment_tells_nothing() -> None:
    """A report of a wrong name has the segment's text, and is none."""
    for body in ({"issue_id": "i", **vexa_segment()}, {"type": "pong"}, {"event_type": "recording.completed", "recording": {}}):
        assert read("vexa", body, query={"meeting": "42"}).events == ()
    assert lines(vexa_bundle(vexa_segment(text="  "))) == []


def test_case_3_the_signature_is_of_time_and_body_and_the_bearer_of_old_versions_alone() -> None:
    body = json.dumps(vexa_bundle(vexa_segment()), ensure_ascii=False).encode()
    verify = connector("vexa").verify
    headers = {**timestamp_body_headers("hush", at=NOW, body=body), "authorization": "Bearer hush"}
    verify(sent(body, headers=headers), ["other", "hush"], source="sales")
    verify(sent(body, headers={"authorization": "Bearer hush"}), ["hush"], source="sales")
    wrong = [
        {},
        {"authorization": "Bearer hushh"},
        {"authorization": "hush"},
        {**headers, "x-webhook-signature": "sha256=00"},  # the bearer is no excuse for it
        timestamp_body_headers("hush", at=NOW.replace(hour=8), body=body),
    ]
    for given_headers in wrong:
        with pytest.raises(SignatureWrong):
            verify(sent(body, headers=given_headers), ["hush"], source="sales")
