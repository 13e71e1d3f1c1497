"""Zoom and Fireflies: a webhook says where the transcript is, it is fetched, and what it says is told as of the meeting."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.connectors.live import Delivery, EventUnreadable, Fetch, Read, SignatureWrong, connector
from service.connectors.live.fetched import delivery_of
from service.connectors.live.fetching import FetchConfig, FetchFailed, FetchRefused, fetched
from service.connectors.live.fireflies import API
from service.connectors.live.signatures import body_headers, timestamp_body_headers
from service.types.meeting import AccountKey, Base, Began, Ended, Joined, Speaker, Uttered
from tests.unit.connectors.live.local_http import Answer, Asked, serving
from tests.unit.connectors.live.told import NOW, SECOND, kinds, read, refusal, said, sent, with_

VTT = (
    "WEBVTT\r\n\r\n1\r\n00:00:01.000 --> 00:00:02.500\r\nAna: Hello.\r\n\r\n2\r\n00:00:03.000 --> 00:00:04.000\r\nHi, Ana.\r\n"
)

# ---- Zoom

MEETING = {"uuid": "gsqg0HKxTQ2TxSVAxE9+0w==", "id": "84712639219", "topic": "Standup", "timezone": "Europe/Berlin"}
CEO = {"user_id": "16790528", "user_name": "Ana", "participant_user_id": "", "email": "ana@example.com"}


def zoom(event: str, **more: Any) -> dict[str, Any]:
    return {"event": event, "event_ts": int(SECOND * 1000), "payload": {"account_id": "a", "object": {**MEETING, **more}}}


def recorded(*files: tuple[str, str], event: str = "recording.transcript_completed") -> dict[str, Any]:
    told = [
        {"file_type": kind, "download_url": f"https://zoom.us/rec/{kind}", "recording_start": start} for kind, start in files
    ]
    return {**zoom(event, start_time="2026-11-30T09:00:00Z", recording_files=told), "download_token": "for a day"}


def zoom_headers(body: bytes, secret: str = "hush", at: datetime = NOW) -> dict[str, str]:
    return timestamp_body_headers(
        secret,
        at=at,
        body=body,
        header="x-zm-signature",
        timestamp_header="x-zm-request-timestamp",
        prefix="v0=",
        before="v0:",
        joint=":",
    )


def test_zoom_tells_comings_goings_begin_and_end_of_this_instance_of_a_meeting() -> None:
    told = [
        read("zoom", zoom("meeting.started", start_time="2026-11-30T09:00:00Z")),
        read("zoom", zoom("meeting.participant_joined", participant=with_(CEO, join_time="2026-11-30T09:00:00Z"))),
        read("zoom", zoom("meeting.participant_left", participant=with_(CEO, leave_time="2026-11-30T09:00:00Z"))),
        read("zoom", zoom("meeting.ended", end_time="2026-11-30T09:00:00Z")),
    ]
    assert [kinds(each.events) for each in told] == [["Began"], ["Joined"], ["Left"], ["Ended"]]
    assert {(each.meeting, each.events[0].at) for each in told} == {(MEETING["uuid"], NOW)}
    began = told[0].events[0]
    assert isinstance(began, Began) and (began.title, began.zone, began.platform) == ("Standup", "Europe/Berlin", "zoom")
    assert read("zoom", zoom("meeting.sharing_started")) == Read(None, ())


def test_zoom_vouches_for_the_address_of_who_is_signed_in_only() -> None:
    typed, known = (
        read("zoom", zoom("meeting.participant_joined", participant=with_(CEO, participant_user_id=id))).events[0]
        for id in ("", "BXE0adSx")
    )
    assert isinstance(typed, Joined) and isinstance(known, Joined)
    assert (typed.speaker.account, typed.speaker.email) == (None, None)
    assert known.speaker.account == AccountKey("zoom", "BXE0adSx")
    assert known.speaker.email == AccountKey("mailto", "ana@example.com")


def test_zoom_is_answered_its_challenge_with_the_secret_that_it_knows() -> None:
    body = json.dumps({"event": "endpoint.url_validation", "payload": {"plainToken": "qgg8"}}).encode()
    asked = sent(body, headers=zoom_headers(body, "new"))
    answer = connector("zoom").answer(asked, ["old", "new"])
    assert answer == {"plainToken": "qgg8", "encryptedToken": hmac.new(b"new", b"qgg8", hashlib.sha256).hexdigest()}
    with pytest.raises(SignatureWrong):
        connector("zoom").answer(asked, ["old"])
    assert connector("zoom").answer(sent(zoom("meeting.started")), ["new"]) is None
    assert connector("zoom").read(asked) == Read(None, ())


def test_zooms_signature_is_of_the_body_and_of_now() -> None:
    body = json.dumps(zoom("meeting.started")).encode()
    headers = zoom_headers(body)
    connector("zoom").verify(sent(body, headers=headers), ["old", "hush"], source="z")
    later = NOW + timedelta(minutes=6)
    for other in (sent(body + b" ", headers=headers), sent(body, headers=headers, received_at=later), sent(body)):
        with pytest.raises(SignatureWrong):
            connector("zoom").verify(other, ["hush"], source="z")


def test_a_zoom_transcript_counts_from_its_part_of_the_recording() -> None:
    """A recording that was paused has two parts; neither begins when the meeting does."""
    body = recorded(
        ("MP4", "2026-11-30T09:00:40Z"), ("TRANSCRIPT", "2026-11-30T09:00:40Z"), ("TRANSCRIPT", "2026-11-30T10:00:00Z")
    )
    asked = read("zoom", body)
    assert (asked.events, len(asked.fetches)) == ((), 2)
    parts = [connector("zoom").read(delivery_of(fetch, VTT.encode(), NOW)) for fetch in asked.fetches]
    assert {part.meeting for part in parts} == {MEETING["uuid"]} and parts[0].delivery_key != parts[1].delivery_key
    assert [kinds(part.events) for part in parts] == [["Began", "Uttered", "Uttered", "Ended"]] * 2
    first, second = (said(part.events, SECOND) for part in parts)
    assert first == [("Ana", "Hello.", 41.0, 42.5, True), (None, "Hi, Ana.", 43.0, 44.0, True)]
    assert [line[2] for line in second] == [3601.0, 3603.0]
    assert {part.events[0].at for part in parts} == {NOW}
    line = parts[0].events[1]
    assert isinstance(line, Uttered) and line.base is Base.EPOCH and line.speaker.account is None
    again = read("zoom", recorded(("TRANSCRIPT", "2026-11-30T09:00:40Z"), event="recording.completed"))
    assert connector("zoom").read(delivery_of(again.fetches[0], VTT.encode(), NOW)).delivery_key == parts[0].delivery_key


@pytest.mark.needs_shared
def test_a_real_zoom_transcript_is_told_from_when_it_was_recorded(shared: Path) -> None:
    (fetch,) = read("zoom", recorded(("TRANSCRIPT", "2026-11-30T09:00:00Z"))).fetches
    content = (shared / "cases" / "samples" / "zoom__recording_transcript.vtt").read_bytes()
    lines = said(connector("zoom").read(delivery_of(fetch, content, NOW)).events, SECOND)
    assert lines[:2] == [
        ("Mirela Dostal", "Hi!", 0.05, 1.79, True),
        ("Ivo Brandt", "Get this party started.", 2.07, 4.05, True),
    ]


# ---- Fireflies

V2 = {"event": "meeting.transcribed", "timestamp": int(SECOND * 1000), "meeting_id": "abc123"}
V1 = {"meetingId": "abc123", "eventType": "Transcription completed"}
PIECE = {
    "transcript_id": "abc123",
    "chunk_id": "c1",
    "text": "Hello wor",
    "speaker_name": "Ana",
    "start_time": 0.0,
    "end_time": 0.9,
}
TRANSCRIPT = {
    "id": "abc123",
    "title": "Standup",
    "date": int(SECOND * 1000),
    "duration": 1.5,
    "meeting_attendees": [
        {"displayName": "Ana", "name": None, "email": "Ana@Example.com"},
        {"displayName": None, "email": None},
    ],
    "sentences": [
        {"index": 0, "speaker_id": 0, "speaker_name": "Ana", "text": "Hello.", "start_time": 0.5, "end_time": 1.25},
        {"index": 1, "speaker_id": 1, "speaker_name": None, "text": "Hi.", "start_time": 2.0, "end_time": 2.5},
        {"index": 2, "speaker_id": None, "speaker_name": "Unknown", "text": "…", "start_time": 3, "end_time": 3},
    ],
}


@pytest.mark.parametrize("body", [V1, V2], ids=["v1", "v2"])
def test_a_fireflies_webhook_asks_for_the_transcript_with_the_sources_key(body: dict[str, Any]) -> None:
    asked = read("fireflies", body)
    (fetch,) = asked.fetches
    assert (asked.meeting, asked.events, fetch.url, fetch.needs_api_key) == ("abc123", (), API, True)
    assert fetch.query is not None and fetch.query["variables"] == {"id": "abc123"}


def test_other_fireflies_events_tell_nothing() -> None:
    assert read("fireflies", {**V2, "event": "meeting.summarized"}) == Read(None, ())


def test_a_fireflies_transcript_is_told_with_who_was_invited() -> None:
    (fetch,) = read("fireflies", V2).fetches
    content = json.dumps({"data": {"transcript": TRANSCRIPT}}).encode()
    found = connector("fireflies").read(delivery_of(fetch, content, NOW))
    assert found.meeting == "abc123" and found.delivery_key
    assert kinds(found.events) == ["Began", "Uttered", "Uttered", "Uttered", "Ended"]
    began, *_, ended = found.events
    assert isinstance(began, Began) and (began.at, began.title) == (NOW, "Standup")
    assert [(one.name, one.email) for one in began.invited] == [("Ana", AccountKey("mailto", "ana@example.com"))]
    assert isinstance(ended, Ended) and ended.duration == 90.0
    assert said(found.events) == [
        ("0", "Hello.", 0.5, 1.25, True),
        ("1", "Hi.", 2.0, 2.5, True),
        (None, "…", 3.0, 3.0, True),
    ]


def test_a_fireflies_transcript_that_is_not_there_is_said_so() -> None:
    (fetch,) = read("fireflies", V2).fetches
    with pytest.raises(EventUnreadable, match=r"data\.transcript"):
        connector("fireflies").read(delivery_of(fetch, b'{"data": {"transcript": null}}', NOW))


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_live_piece_of_fireflies_is_put_right_under_its_id(wrapped: bool) -> None:
    told = [with_(PIECE, text=text, end_time=end) for text, end in (("Hello wor", 0.9), ("Hello world", 1.25))]
    found = [read("fireflies", {"event": "transcription.broadcast", "data": one} if wrapped else one) for one in told]
    assert [said(each.events) for each in found] == [
        [(None, "Hello wor", 0.0, 0.9, True)],
        [(None, "Hello world", 0.0, 1.25, True)],
    ]
    assert {(e.id, e.speaker) for each in found for e in each.events if isinstance(e, Uttered)} == {
        ("chunk " + str(PIECE["chunk_id"]), Speaker(None, name="Ana"))
    }
    assert {each.meeting for each in found} == {"abc123"}


@pytest.mark.needs_shared
def test_fireflies_own_sample_of_live_pieces(shared: Path) -> None:
    pieces = json.loads((shared / "cases" / "samples" / "fireflies__realtime_update.json").read_bytes())
    found = [read("fireflies", piece) for piece in pieces]
    assert [said(each.events) for each in found] == [
        [(None, "Hello wor", 0.0, 0.9, True)],
        [(None, "Hello world", 0.0, 1.25, True)],
    ]


def test_fireflies_signs_the_body() -> None:
    body = json.dumps(V2).encode()
    connector("fireflies").verify(sent(body, headers=body_headers("hush", body=body)), ["old", "hush"], source="f")
    with pytest.raises(SignatureWrong):
        connector("fireflies").verify(sent(body, headers=body_headers("hush", body=body + b" ")), ["hush"], source="f")


@pytest.mark.parametrize(
    ("provider", "body", "place"),
    [
        ("zoom", zoom("meeting.participant_joined", participant={"user_name": "Ana"}), "payload.object.participant.user_id"),
        ("zoom", zoom("meeting.started", start_time="soon"), "payload.object.start_time"),
        ("zoom", zoom("recording.completed", recording_files=[{"file_type": "TRANSCRIPT"}]),
         "payload.object.recording_files[0].download_url"),
        ("zoom", {"event": "meeting.ended", "payload": {"object": {}}}, "payload.object.id"),
        ("fireflies", {"event": "meeting.transcribed"}, "meeting_id"),
        ("fireflies", with_(PIECE, start_time="x"), "start_time"),
        ("fireflies", with_(PIECE, start_time=SECOND, end_time=SECOND), "start_time"),
    ],
)  # fmt: skip
def test_what_is_broken_names_its_field(provider: str, body: Any, place: str) -> None:
    assert refusal(provider, body).facts["place"] == place


# ---- fetching


@asynccontextmanager
async def fetching(
    answer: Callable[[Asked], Answer], fetch: Fetch, **config: Any
) -> AsyncIterator[tuple[Callable[[], Any], list[Asked]]]:
    """Asks the real client, of a server of ours in the place of zoom.us and api.fireflies.ai."""
    async with serving(answer) as (base, asked):
        instead = {"zoom.us": base, "api.fireflies.ai": base}

        async def go(api_key: str | None = "key") -> Delivery:
            return await fetched(fetch, api_key=api_key, config=FetchConfig(instead=instead, **config))

        yield go, asked


def zoom_fetch() -> Fetch:
    (fetch,) = read("zoom", recorded(("TRANSCRIPT", "2026-11-30T09:00:00Z"))).fetches
    return fetch


def fireflies_fetch() -> Fetch:
    (fetch,) = read("fireflies", V2).fetches
    return fetch


async def test_a_download_is_asked_for_with_its_token_and_read() -> None:
    async with fetching(lambda _: Answer(200, VTT.encode()), zoom_fetch()) as (go, asked):
        delivery = await go()
    assert [(one.method, one.path, one.headers["authorization"]) for one in asked] == [
        ("GET", "/rec/TRANSCRIPT", "Bearer for a day")
    ]
    assert [line[1] for line in said(connector("zoom").read(delivery).events)] == ["Hello.", "Hi, Ana."]


async def test_an_api_is_asked_with_the_sources_key_and_read() -> None:
    content = json.dumps({"data": {"transcript": TRANSCRIPT}}).encode()
    async with fetching(lambda _: Answer(200, content), fireflies_fetch()) as (go, asked):
        delivery = await go()
    (one,) = asked
    assert (one.method, one.path, one.headers["authorization"]) == ("POST", "/graphql", "Bearer key")
    assert json.loads(one.body)["variables"] == {"id": "abc123"}
    assert len(connector("fireflies").read(delivery).events) == 5


async def test_a_redirect_is_followed_to_where_the_connector_allows_and_without_the_key_elsewhere() -> None:
    def answer(asked: Asked) -> Answer:
        if asked.path == "/rec/TRANSCRIPT":
            return Answer(302, location="/elsewhere")
        return Answer(200, VTT.encode())

    async with fetching(answer, zoom_fetch()) as (go, asked):
        await go()
    assert [(one.path, "authorization" in one.headers) for one in asked] == [("/rec/TRANSCRIPT", True), ("/elsewhere", True)]

    def astray(asked: Asked) -> Answer:
        return Answer(302, location="https://example.com/x")

    async with fetching(astray, zoom_fetch()) as (go, asked):
        with pytest.raises(FetchRefused, match=r"example\.com was not fetched: only zoom\.us, zoomgov\.com is asked"):
            await go()
    assert len(asked) == 1

    async with fetching(lambda _: Answer(302, location="/rec/TRANSCRIPT"), zoom_fetch()) as (go, asked):
        with pytest.raises(FetchRefused, match="more than 3 times"):
            await go()
    assert len(asked) == 4


@pytest.mark.parametrize(
    ("answer", "why", "again"),
    [
        (Answer(500), "it answered 500", True),
        (Answer(404), "it answered 404", True),
        (Answer(429), "it answered 429", True),
        (Answer(401), "it answered 401", False),
        (Answer(200, b"x" * 3000), "longer than 2000 bytes", False),
        (Answer(200, b"x", encoding="gzip"), "packed", False),
        (Answer(200, b"x", slow=5.0), "took longer than 0.5 s", True),
        (Answer(302), "leads on", False),
    ],
    ids=["500", "404", "429", "401", "long", "packed", "slow", "nowhere"],
)
async def test_what_is_not_got_says_why_and_whether_it_is_tried_again(answer: Answer, why: str, again: bool) -> None:
    whole = 0.5 if answer.slow else 20.0
    async with fetching(lambda _: answer, zoom_fetch(), max_bytes=2000, whole=whole) as (go, _):
        with pytest.raises((FetchFailed, FetchRefused), match=why) as problem:
            await go()
    assert problem.value.tries_again is again and "/rec/" not in str(problem.value)


async def test_an_api_that_answers_200_and_an_error_has_failed() -> None:
    content = json.dumps({"errors": [{"message": "of abc123", "code": "too_many_requests"}]}).encode()
    async with fetching(lambda _: Answer(200, content), fireflies_fetch()) as (go, _):
        with pytest.raises(FetchFailed, match="too_many_requests") as problem:
            await go()
    assert "of abc123" not in str(problem.value)
    async with fetching(lambda _: Answer(200, b"<html>"), fireflies_fetch()) as (go, _):
        with pytest.raises(FetchFailed, match="no JSON"):
            await go()


async def test_without_its_key_an_api_is_not_asked() -> None:
    async with fetching(lambda _: Answer(200), fireflies_fetch()) as (go, asked):
        with pytest.raises(FetchRefused, match="api_key"):
            await go(None)
    assert asked == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://zoom.us/x", "http is not https"),
        ("https://zoom.us.evil.example/x", "only zoom.us"),
        ("https://evilzoom.us/x", "only zoom.us"),
        ("https://zoom.us:8443/x", "a port"),
        ("https://me:secret@zoom.us/x", "a password"),
        ("https://zoom.us@evil.example/x", "a password"),
        ("ftp://zoom.us/x", "not https"),
        ("file:///etc/passwd", "none, or too long"),
        ("https://zoom.us/" + "x" * 5000, "too long"),
        ("not a url", "none, or too long"),
        ("https://", "none, or too long"),
    ],
)
async def test_only_https_of_the_connectors_hosts_is_asked(url: str, why: str) -> None:
    with pytest.raises(FetchRefused, match=why) as problem:
        await fetched(replace(zoom_fetch(), url=url), api_key=None)
    assert "secret@" not in str(problem.value)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "169.254.169.254", "10.0.0.1", "[::ffff:10.0.0.1]", "0.0.0.0"]
)
async def test_what_has_no_public_address_is_not_asked(host: str) -> None:
    with pytest.raises(FetchRefused, match="not public"):
        await fetched(Fetch(what="transcript", meeting="m", url=f"https://{host}/x"), api_key=None)


def test_nobody_can_send_what_looks_as_if_it_had_been_fetched() -> None:
    """What carries is told by connectors; headers, body and URL of a request tell nothing of it."""
    forged = sent(
        VTT.encode(), headers={"fetched": "transcript", "meeting": "m"}, query={"fetched": "transcript", "meeting": "m"}
    )
    with pytest.raises(EventUnreadable):
        connector("zoom").read(forged)
