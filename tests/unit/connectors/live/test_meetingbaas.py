"""MeetingBaas: one stream of partials, a hello that says whose it is, and a transcript that is fetched or comes whole (v1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.connectors.live import Read, SignatureWrong, connector
from service.connectors.live.fetched import delivery_of
from service.connectors.live.signatures import webhook_id_headers
from service.types.audio import Segment
from service.types.meeting import NOBODY, AudioEncoding, Base, Began, Ended, Heard, Speaker, Spoke, Uttered
from tests.unit.connectors.live.bots import (
    BAAS_FILE,
    BAAS_HELLO,
    SAMPLES,
    SPEAKING,
    V1_COMPLETE,
    baas,
    baas_line,
    baas_word,
    base64_of,
)
from tests.unit.connectors.live.told import NOW, SECOND, kinds, read, refusal, said, sent

WHSEC = "whsec_" + base64_of(b"a secret of 24 bytes, yes")
BOTH = ["meetingbaas", "meetingbaas_v1"]


def lines(**more: Any) -> list[Uttered]:
    return [event for event in read("meetingbaas", baas_line(**more)).events if isinstance(event, Uttered)]


def test_a_live_segment_is_a_line_of_the_bots_meeting() -> None:
    found = read(
        "meetingbaas", baas_line(words=[baas_word("Hello", 12.3), baas_word("everyone,", 12.8), baas_word("hi.", 13.4)])
    )
    assert found.meeting == "b-1" and said(found.events) == [("1", "Hello everyone, hi.", 12.3, 15.0, True)]
    (told,) = found.events
    assert isinstance(told, Uttered) and told.base is Base.MEETING and told.confidence == 0.97 and told.speaker.name == "John"
    assert [w.text for w in told.words] == ["Hello", "everyone,", "hi."] and told.words[0].confidence == 0.9


def test_the_id_of_a_sockets_opening_is_not_that_of_its_messages() -> None:
    assert read("meetingbaas", baas_line(), headers={"svix-id": "m"}, connection="c1").delivery_key is None
    assert read("meetingbaas", baas_line(), headers={"svix-id": "m"}).delivery_key == "m"


def test_a_newer_partial_or_the_final_takes_the_partials_place_whoever_speaks() -> None:
    (partial,), (final,) = lines(final=False, speaker=None), lines()
    assert not partial.final and final.final and partial.slot == final.slot is not None
    assert partial.speaker == NOBODY and partial.id is final.id is None


def test_case_15_a_segment_is_cut_where_the_voice_changes() -> None:
    """The name is of who speaks most; the other is a voice of the stream. One word alone is a slip."""
    words = [baas_word(text, 12.0 + n, speaker=who) for n, (text, who) in enumerate((("so", 0), ("we", 0), ("ship.", 0)))]
    words += [baas_word("Not", 15.0, speaker=1), baas_word("yet!", 16.0, speaker=1)]
    one, two = lines(text="so we ship. Not yet!", words=words)
    assert (one.speaker.handle, one.text) == ("1", "so we ship.") and (two.speaker.handle, two.text) == ("1", "Not yet!")
    assert one.speaker.scope == "" and two.speaker.scope != "" and two.speaker.name is None
    assert (one.start, two.start, two.end) == (12.0, 15.0, 16.4)
    slip = [*words[:1], {**words[1], "speaker": 1}, *words[2:3]]
    assert [each.text for each in lines(text="so we ship.", words=slip)] == ["so we ship."]
    assert len(lines(text="so we ship. Not yet! Or?", words=words)) == 1, "what the words do not say would be lost"


@pytest.mark.parametrize("name", [None, "", "Unknown"])
def test_case_10_unknown_is_told_by_the_id_that_stays(name: str | None) -> None:
    (known,), (nobody,) = lines(speaker={"name": name, "id": 7}), lines(speaker={"name": name, "id": None})
    assert (known.speaker.handle, known.speaker.name) == ("7", None) and nobody.speaker == NOBODY
    (named,) = lines(speaker={"name": "Bo", "id": None})
    assert named.speaker == Speaker(None, name="Bo")


def test_a_bot_begins_to_record_and_fails() -> None:
    status = {"code": "in_call_recording", "created_at": "2026-11-30T09:00:01Z", "start_time": int(SECOND)}
    (began,) = read("meetingbaas", baas("bot.status_change", status=status), headers={"svix-id": "m"}).events
    assert isinstance(began, Began) and began.at == NOW
    assert read("meetingbaas", baas("bot.status_change", status={"code": "joining"})).events == ()
    (failed,) = read("meetingbaas", baas("bot.failed", error_code="BOT_NOT_ACCEPTED", error_message="…")).events
    assert isinstance(failed, Ended) and failed.failed == "BOT_NOT_ACCEPTED"


def test_a_finished_bots_transcript_is_fetched_and_ends_the_meeting_when_it_was_read() -> None:
    body = baas("bot.completed", transcription="https://store.example.com/t.json?sig=1", duration_seconds=3600, mp4="https://x")
    found = read("meetingbaas", body)
    (fetch,) = found.fetches
    assert found.events == () and (fetch.meeting, fetch.url) == ("b-1", "https://store.example.com/t.json?sig=1")
    assert not fetch.needs_api_key and fetch.token is None, "the link is signed; no key goes anywhere"
    fetched = delivery_of(fetch, sent(BAAS_FILE).body, NOW)
    told = connector("meetingbaas").read(fetched)
    assert told.meeting == "b-1" and kinds(told.events) == ["Uttered", "Uttered", "Ended"]
    assert [event.speaker.name for event in told.events if isinstance(event, Uttered)] == ["John", None]
    assert said(told.events) == [(None, "Hello everyone", 0.5, 2.1, True), (None, "who is there?", 3.0, 4.0, True)]
    (without,) = read("meetingbaas", baas("bot.completed", transcription=None, duration_seconds=60)).events
    assert isinstance(without, Ended) and without.duration == 60


def test_v1_tells_all_at_the_end() -> None:
    found = read("meetingbaas_v1", V1_COMPLETE)
    assert found.meeting == "b-1" and kinds(found.events) == ["Uttered", "Ended"]
    assert said(found.events) == [(None, "Hello everyone", 1.5, 2.4, True)]
    told = found.events[0]
    assert isinstance(told, Uttered) and [w.segment for w in told.words] == [Segment(1.5, 1.9), Segment(2.0, 2.4)]
    (failed,) = read("meetingbaas_v1", baas("failed", error="meeting_not_found", message="…")).events
    assert isinstance(failed, Ended) and failed.failed == "meeting_not_found"
    assert read("meetingbaas_v1", baas("transcription_complete")) == Read(None, ())
    again = read("meetingbaas_v1", V1_COMPLETE)
    assert again.events == found.events


@pytest.mark.parametrize("provider", BOTH)
def test_a_hello_says_once_what_all_of_a_connection_is_of(provider: str) -> None:
    hello = read(provider, BAAS_HELLO)
    assert hello.events == () and hello.carried is not None
    (heard,) = read(provider, SAMPLES, binary=True, carried=hello.carried).events
    assert isinstance(heard, Heard) and (heard.data, heard.encoding, heard.sample_rate) == (SAMPLES, AudioEncoding.S16, 16_000)
    assert heard.speaker is None and heard.start is None
    assert read(provider, SPEAKING, carried=hello.carried).meeting == "b-1"
    assert "hello" in refusal(provider, SAMPLES, binary=True).message and "hello" in refusal(provider, SPEAKING).message


def test_v1_has_no_hello_and_says_it_in_the_url() -> None:
    found = read("meetingbaas_v1", SAMPLES, binary=True, query={"meeting": "b-1", "sample_rate": "16000"})
    assert found.meeting == "b-1" and [e.sample_rate for e in found.events if isinstance(e, Heard)] == [16_000]
    (usual,) = read("meetingbaas_v1", SAMPLES, binary=True, query={"meeting": "b-1"}).events
    assert isinstance(usual, Heard) and usual.sample_rate == 24_000


@pytest.mark.parametrize("provider", BOTH)
def test_case_41_who_speaks_is_told_in_seconds_or_in_milliseconds(provider: str) -> None:
    """One version says one and shows the other: each is read as what it can be."""
    john, other = read(provider, SPEAKING, query={"meeting": "b-1"}).events
    assert isinstance(john, Spoke) and isinstance(other, Spoke)
    assert (john.start - SECOND, john.end, john.speaker.handle, john.speaker.name) == (0.5, None, "1", "John")
    assert (other.start - SECOND, other.end, other.speaker.handle, other.speaker.name) == (1.0, other.start, "2", None)


@pytest.mark.parametrize("event", ["session.started", "error", "calendar.events_synced", "of.tomorrow"])
def test_what_is_not_known_is_no_error(event: str) -> None:
    assert read("meetingbaas", {"event": event, "bot_id": "b-1", "data": {"code": "x"}}).events == ()


@pytest.mark.parametrize(
    ("provider", "body", "place"),
    [
        ("meetingbaas", {"data": {}}, "event"),
        ("meetingbaas", {**baas_line(), "bot_id": None}, "data.bot_id"),
        ("meetingbaas", baas_line(utteranceStart="soon"), "data.utteranceStart"),
        ("meetingbaas", baas_line(utteranceStart=None), "data.utteranceStart"),
        ("meetingbaas", baas("bot.completed", duration_seconds=-1), "data.duration_seconds"),
        ("meetingbaas", [{"name": "Bo", "timestamp": None}], "[0].timestamp"),
        ("meetingbaas", [7], "[0]"),
        ("meetingbaas", {**BAAS_HELLO, "sample_rate": 7}, "sample_rate"),
        ("meetingbaas_v1", baas("complete", transcript=[{"speaker": "Bo", "words": []}]), "data.transcript[0].start_time"),
        ("meetingbaas_v1", {"event": "complete", "data": {"transcript": []}}, "data.bot_id"),
        ("meetingbaas_v1", b"[", "the message"),
    ],
)
def test_what_is_broken_names_its_field(provider: str, body: Any, place: str) -> None:
    assert refusal(provider, body, carried={"meeting": "b-1"}).facts["place"] == place


def test_webhooks_are_signed_callbacks_and_sockets_have_a_secret_of_their_own() -> None:
    verify, secrets = connector("meetingbaas").verify, [WHSEC, "token:open"]
    body = sent(baas("bot.failed", error_code="x")).body
    signed = webhook_id_headers(WHSEC, id="m", at=NOW, body=body, prefix="svix-")
    verify(sent(body, headers=signed), secrets, source="sales")
    verify(sent(body, headers={"x-mb-secret": "open"}), secrets, source="sales")
    verify(sent(b"", query={"token": "open"}), secrets, source="sales")
    for delivery in (
        sent(body + b" ", headers=signed),
        sent(body, headers={"x-mb-secret": "opened"}),
        sent(body, headers={**signed, "svix-signature": "v1,AAAA", "x-mb-secret": "wrong"}),
        sent(body),
    ):
        with pytest.raises(SignatureWrong):
            verify(delivery, secrets, source="sales")


def test_v1_has_the_key_itself() -> None:
    verify = connector("meetingbaas_v1").verify
    verify(sent(V1_COMPLETE, headers={"x-meeting-baas-api-key": "key"}), ["old", "key"], source="sales")
    verify(sent(b"", query={"token": "open"}), ["key", "token:open"], source="sales")
    for headers in ({}, {"x-meeting-baas-api-key": "keys"}, {"x-meeting-baas-api-key": "open"}):
        with pytest.raises(SignatureWrong):
            verify(sent(V1_COMPLETE, headers=headers), ["old", "key", "token:open"], source="sales")
    with pytest.raises(SignatureWrong):
        verify(sent(b"", query={"token": "key"}), ["key", "token:open"], source="sales")


told_words = st.lists(st.tuples(st.sampled_from(["so", "we", "ship", "it", "not", "yet"]), st.integers(0, 2)), max_size=12)


@given(told=told_words)
@settings(max_examples=80, deadline=None)
def test_cut_or_not_every_word_is_said_once_and_in_order(told: list[tuple[str, int]]) -> None:
    words = [baas_word(text, 12.0 + n, speaker=who) for n, (text, who) in enumerate(told)]
    text = " ".join(text for text, _ in told)
    found = lines(text=text, words=words)
    assert " ".join(each.text for each in found) == text
    assert [w.text for each in found for w in each.words] == [text for text, _ in told]
    assert all(each.start <= each.end for each in found)
