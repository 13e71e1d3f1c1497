"""What is kept of a delivery reads as it did, holds no secret, and has the key of its repeat."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.live import Delivery, Read
from service.connectors.live.sources import Source
from service.pipelines.delivered import harmless, may_hold_sound, new_delivery, repeat_key, unread_key
from service.pipelines.reception import NoMeeting, check_read
from service.types.meeting import Ended

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
SOURCE = Source(name="crm", provider="generic", space="home")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NAMES = st.sampled_from(
    [
        "authorization",
        "cookie",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "x-api-key",
        "x-event-type",
        "x-token-id",
    ]
)
TEXTS = st.dictionaries(NAMES | st.text(max_size=12), st.text(max_size=12) | st.just(SECRET) | st.just(f"Bearer {SECRET}"))


@given(headers=TEXTS, query=st.none() | TEXTS)
def test_no_secret_is_kept_and_what_connectors_read_is(headers: dict[str, str], query: dict[str, str] | None) -> None:
    kept = new_delivery(SOURCE, harmless(Delivery(headers, b"{}", NOW, query=query), [SECRET]), Read("m1", ()))
    assert SECRET not in repr(kept)
    assert not set(kept.headers) & {"authorization", "cookie", "webhook-signature", "x-api-key", "x-token-id"}
    for name in ("webhook-id", "webhook-timestamp", "x-event-type"):
        if SECRET not in headers.get(name, SECRET):
            assert kept.headers[name] == headers[name]
    assert (kept.query is None) == (query is None)


def test_a_repeat_has_the_same_key_and_another_delivery_another() -> None:
    one = Delivery({"x-event-id": "1"}, b'{"a": 1}', NOW)
    again = replace(one, headers={"x-event-id": "2"}, received_at=NOW + timedelta(hours=1))
    said = Read("m1", ())
    assert repeat_key(one, said) == repeat_key(again, said)
    others = [
        replace(one, body=b'{"a": 2}'),
        replace(one, connection="c1"),
        replace(one, connection="c2"),
        replace(one, binary=True),
        replace(one, carried={"meeting": "m2"}),
    ]
    assert len({repeat_key(other, said) for other in (one, *others)}) == 1 + len(others)
    with_id = replace(said, delivery_key="evt-1")
    assert repeat_key(one, with_id) == repeat_key(others[0], with_id) != repeat_key(one, replace(said, delivery_key="evt-2"))
    assert repeat_key(one, replace(said, delivery_key="\ud800"))


def test_what_cannot_be_read_is_one_on_whatever_connection_it_comes_again() -> None:
    one = Delivery({}, b"{", NOW, connection="c1", opened_at=NOW, query={"meeting": "m1"}, carried={"hello": "x"})
    assert unread_key(one) == unread_key(replace(one, connection="c2", opened_at=NOW + timedelta(hours=1)))
    others = [replace(one, body=b"["), replace(one, binary=True), replace(one, query=None), replace(one, carried=None)]
    assert len({unread_key(other) for other in (one, *others)}) == 1 + len(others)
    assert unread_key(one) != repeat_key(one, Read(None, ()))


@given(key=st.none() | st.text(max_size=5), connection=st.sampled_from(["", "c"]))
def test_the_same_said_of_another_meeting_is_no_repeat(key: str | None, connection: str) -> None:
    delivery = Delivery({}, b"{}", NOW, connection=connection)
    keys = {repeat_key(delivery, Read(meeting, (), delivery_key=key)) for meeting in ("m1", "m2", None)}
    assert len(keys) == 3


SAMPLES = base64.b64encode(bytes(range(64))).decode()
UNREADABLE: list[tuple[bytes, bool]] = [
    (b"\x00\x01\xff\xfe", True),
    (json.dumps({"type": "heard", "data": SAMPLES[:8]}).encode(), True),
    (json.dumps({"event": "audio_mixed_raw.data", "data": {"data": {"buffer": "AQ"}}}).encode(), True),
    (json.dumps({"trigger": "realtime_audio.mixed", "data": {"chunk": "!"}}).encode(), True),
    (json.dumps({"event": "media", "media": {"payload": SAMPLES}}).encode(), True),
    (json.dumps({"frame": "UserAudioRawFrame", "audio": SAMPLES}).encode(), True),
    (json.dumps({"speakerIndex": 0, "pcm": [0.25, -0.5]}).encode(), True),
    (b'{"type": "heard", "d\\u0061ta": "AQID"}', True),
    (b'{"type": "heard", "data": "AQID', True),
    (b"{'audio': b'AQID", True),
    (b'{"pcm": [-1, 2, ', True),
    (json.dumps({"of a newer version": {"deep": [{"waves": SAMPLES * 4}]}}).encode(), True),
    (b'{"waves": "' + SAMPLES.encode() * 4, True),
    (json.dumps({"waves": [0.1] * 200}).encode(), True),
    (b'{"waves": [' + b"0.1, " * 200, True),
    (b"{" * 100_000, False),
    (b"", False),
    (b'{"data": {"text": "Hello."}, "payload": [{"words": 3}], "audio": null}', False),
    (json.dumps({"text": "What was said, and more of it. " * 100}).encode(), False),
    (json.dumps({"url": "https://files.example.com/" + "a-long-name/" * 10, "times": [1.5] * 20}).encode(), False),
]


@pytest.mark.parametrize(("body", "may_hold"), UNREADABLE)
def test_what_cannot_be_read_and_may_be_sound_is_known_by_its_fields_and_looks(body: bytes, may_hold: bool) -> None:
    assert may_hold_sound(Delivery({}, body, NOW)) == may_hold
    assert may_hold_sound(Delivery({}, body, NOW, binary=True))


@pytest.mark.parametrize("meeting", [None, "", "m" * 401, "two\nlines", "\x00"])
def test_what_is_of_no_meeting_that_can_be_named_is_not_kept(meeting: str | None) -> None:
    event = Ended(key="k")
    with pytest.raises(NoMeeting):
        check_read(Read(meeting, (event,)), SOURCE)
    check_read(Read("m" * 400, (event,)), SOURCE)
    check_read(Read(meeting, ()), SOURCE)
