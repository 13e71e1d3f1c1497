"""What the collected samples of Recall.ai, Vexa, Attendee and MeetingBaas say when they are delivered live, to the letter."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from service.connectors.live import Read, SignatureWrong, connector
from service.connectors.live.signatures import canonical_json_headers
from service.types.meeting import AudioEncoding, Began, Ended, Heard, Spoke, Uttered
from tests.unit.connectors.live.told import kinds, read, refusal, said, sent

pytestmark = pytest.mark.needs_shared
IN_JUNE = datetime(2026, 6, 18, 10, 0, tzinfo=UTC)


def told(shared: Path, name: str, **more: Any) -> Read:
    return read(name.partition("__")[0], (shared / "cases/samples" / name).read_bytes(), **more)


LINES: dict[str, tuple[str | None, float, list[tuple[str | None, str | None, str, float, float, bool]]]] = {
    "recall__transcript_data.json": (
        "bot-1",
        datetime(2026, 3, 29, 1, 59, 46, tzinfo=UTC).timestamp(),
        [("200", "Anna Kovář", "Hello there", 12.34, 12.71, True)],
    ),
    "recall__transcript_null_participant.json": ("bot-1", 0, [(None, None, "so as I was saying", 0.0, 1.9, True)]),
    "vexa__transcript_bundle_mutable.json": (
        "42",
        0,
        [(None, "Alice", "hello world", 1.5, 2.5, True), (None, "Bob", "and then we", 3.0, 3.4, False)],
    ),
    "vexa__ws_transcript_bundle.json": (
        "42",
        datetime(2026, 3, 27, 10, tzinfo=UTC).timestamp(),
        [(None, "Alice", "Hello from the 0.10.6 bundle", 0.0, 2.0, True)],
    ),
    "vexa__segment_glow_confirmed.json": (
        "m",
        IN_JUNE.timestamp(),
        [(None, "Alice", "hello world", 1.5, 2.5, True)],
    ),
    "vexa__segment_pending.json": ("m", 0, [("sess-uid:ch-1:1", "Bob", "and then we", 3.0, 3.4, False)]),
    "vexa__transcript_planted_misattribution.json": (
        "flag-fixture-001",
        0,
        [
            (None, "spk-vera", "Okay let's get started with the agenda.", 1.0, 3.0, True),
            (None, "spk-anna", "This is Boris and I think we should ship it on Friday.", 4.2, 7.1, True),
            (None, "spk-vera", "Sounds good to me, thanks Boris.", 8.0, 9.5, True),
        ],
    ),
    "attendee__transcript_update.json": (
        "bot_abc123",
        1771401720.123,
        [("8:orgid:0001", "Zoë Müller", "Grüße aus dem Büro", 0.0, 2.14, True)],
    ),
}
"""File → meeting, what its times count from, and of each line handle, name, text, start, end, final."""


@pytest.mark.parametrize("name", LINES)
def test_a_sample_says_who_said_what_when(shared: Path, name: str) -> None:
    meeting, since, expected = LINES[name]
    found = told(shared, name, query={"meeting": "m"} if meeting == "m" else None)
    names = [event.speaker.name for event in found.events if isinstance(event, Uttered)]
    lines = [(h, n, text, s, e, f) for (h, text, s, e, f), n in zip(said(found.events, since), names, strict=True)]
    assert (found.meeting, lines) == (meeting, expected)
    assert all(event.key for event in found.events)


def test_a_confirmed_segment_has_what_the_pending_one_has_not(shared: Path) -> None:
    _, confirmed = told(shared, "vexa__segment_glow_confirmed.json", query={"meeting": "m"}).events
    (pending,) = told(shared, "vexa__segment_pending.json", query={"meeting": "m"}).events
    assert isinstance(confirmed, Uttered) and isinstance(pending, Uttered)
    assert confirmed.id == "sess-uid:ch-0:1:1500" and [w.text for w in confirmed.words] == ["hello", "world"]
    assert (confirmed.speaker.confidence, pending.speaker.confidence) == (1.0, 0.0)
    assert (confirmed.source, pending.source, pending.id) == ("platform", "diariser", None)


@pytest.mark.parametrize(
    ("name", "happened"),
    [
        ("vexa__session_start.json", [("Began", "42", IN_JUNE)]),
        ("vexa__webhook_meeting_completed.json", [("Began", "11367", IN_JUNE), ("Ended", "11367", IN_JUNE.replace(minute=42))]),
        ("vexa__webhook_bot_failed.json", [("Ended", "11368", datetime(2026, 6, 18, 10, 3, 12, tzinfo=UTC))]),
    ],
)
def test_a_sample_says_when_a_meeting_began_or_ended(shared: Path, name: str, happened: list[Any]) -> None:
    found = told(shared, name)
    assert [(type(event).__name__, found.meeting, event.at) for event in found.events] == happened


def test_what_else_the_webhooks_of_vexa_say(shared: Path) -> None:
    completed = told(shared, "vexa__webhook_meeting_completed.json")
    assert completed.delivery_key == "evt_5f3c1a9b8d2e4f6a7b0c1d2e3f4a5b6c"
    assert [(e.title, e.platform) for e in completed.events if isinstance(e, Began)] == [("Weekly sync", "google_meet")]
    failed = told(shared, "vexa__webhook_bot_failed.json")
    assert [e.failed for e in failed.events if isinstance(e, Ended)] == ["awaiting_admission_rejected"]


@pytest.mark.parametrize(("name", "track", "called"), [("named", "7", "Alice"), ("unnamed", "3", None)])
def test_a_frame_of_vexa_is_its_samples(shared: Path, name: str, track: str, called: str | None) -> None:
    golden = json.loads((shared / f"cases/samples/vexa__audio_frame_{name}.json").read_text())
    body = base64.b64decode(golden["bytes_b64"])
    assert hashlib.sha256(body).hexdigest() == golden["sha256"]
    (heard,) = read("vexa", body, binary=True, query={"meeting": "m"}).events
    assert isinstance(heard, Heard) and heard.speaker is not None
    assert (heard.speaker.handle, heard.speaker.name, heard.start) == (track, called, golden["ts"] / 1000)
    assert list(struct.unpack(f"<{len(golden['samples'])}f", heard.data)) == golden["samples"]


def test_sound_as_json_is_its_samples(shared: Path) -> None:
    names = ("vexa__captured_frame_mixed.json", "recall__audio_separate_raw.json", "attendee__audio_per_participant.json")
    vexa, recall, attendee = (told(shared, name, query={"meeting": "m"}).events[0] for name in names)
    assert isinstance(vexa, Heard) and isinstance(recall, Heard) and isinstance(attendee, Heard)
    assert (len(vexa.data), vexa.encoding, vexa.speaker) == (8 * 4, AudioEncoding.F32, None)
    assert (len(recall.data), recall.encoding, recall.sample_rate) == (160 * 2, AudioEncoding.S16, 16_000)
    assert recall.speaker is not None and (recall.speaker.handle, recall.speaker.name) == ("200", "Anna Kovář")
    assert attendee.speaker is not None and attendee.speaker.handle == "participant_abc123"
    assert attendee.data == recall.data and attendee.start == 1771401720.123


def test_who_speaks_in_two_units(shared: Path) -> None:
    found = told(shared, "meetingbaas__speaker_state.json", carried={"meeting": "b-1"})
    assert [(e.speaker.handle, e.speaker.name, e.start, e.end) for e in found.events if isinstance(e, Spoke)] == [
        ("1", "John Doe", 1709654321.5, None),
        (None, "Jane Smith", 1640995200.0, None),
    ]


def test_what_is_no_event_tells_nothing_or_is_refused(shared: Path) -> None:
    """A report about a segment, the headers of a delivery, a trace of a page."""
    for name in ("vexa__flagged_misattribution.json", "vexa__webhook_signature_headers.json"):
        assert told(shared, name) == Read(None, ())
    trace = (shared / "cases/samples/vexa__teams_tile_trace.jsonl").read_bytes()
    assert refusal("vexa", trace).facts["place"] == "the message"


def test_the_signature_of_the_sample_headers_is_not_of_another_body(shared: Path) -> None:
    headers = {
        k.lower(): v for k, v in json.loads((shared / "cases/samples/vexa__webhook_signature_headers.json").read_text()).items()
    }
    body = (shared / "cases/samples/vexa__webhook_meeting_completed.json").read_bytes()
    at = datetime.fromtimestamp(int(headers["x-webhook-timestamp"]), UTC)
    with pytest.raises(SignatureWrong):
        connector("vexa").verify(sent(body, headers=headers, received_at=at), ["whsec_demo_secret"], source="sales")


def test_an_attendee_delivery_with_letters_beyond_ascii_is_proved(shared: Path) -> None:
    document = json.loads((shared / "cases/samples/attendee__transcript_update.json").read_text())
    as_sent, secret = json.dumps(document).encode(), base64.b64encode(b"attendee-secret").decode()
    delivery = sent(as_sent, headers=canonical_json_headers(secret, body=as_sent))
    connector("attendee").verify(delivery, [secret], source="sales")
    assert kinds(connector("attendee").read(delivery).events) == ["Uttered"]
