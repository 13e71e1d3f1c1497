"""Recall.ai: words with the moment they were said, who is there, and what it only guesses is not believed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.connectors.live import SignatureWrong, connector
from service.connectors.live.signatures import webhook_id_headers
from service.types.audio import Segment
from service.types.meeting import NOBODY, AccountKey, AudioEncoding, Base, Began, Ended, Heard, Joined, Spoke, Uttered
from tests.unit.connectors.live.bots import (
    HELLO,
    SAMPLES,
    ZOE,
    base64_of,
    recall,
    recall_happened,
    recall_line,
    recall_words,
    stamp,
)
from tests.unit.connectors.live.told import NOW, SECOND, kinds, read, refusal, said, sent

WHSEC = "whsec_" + base64_of(b"a secret of 24 bytes, yes")


def line(body: Any) -> Uttered:
    (found,) = [event for event in read("recall", body).events if isinstance(event, Uttered)]
    return found


def test_words_are_a_line_of_the_bots_meeting() -> None:
    found = read("recall", recall_line(), headers={"webhook-id": "msg_1"})
    assert (found.meeting, found.delivery_key) == ("bot-1", "msg_1") and kinds(found.events) == ["Uttered"]
    assert said(found.events) == [("200", "Hello there all.", 12.34, 13.4, True)]
    told = line(recall_line())
    assert (told.base, told.language, told.source, told.speaker.name) == (Base.MEETING, "en", "platform", "Zoë Kovář")
    assert [(w.text, w.segment) for w in told.words] == [
        ("Hello", Segment(12.34, 12.71)),
        ("there", Segment(12.71, 13.0)),
        ("all.", Segment(13.0, 13.4)),
    ], "a word without times lies between its neighbours"


def test_the_moment_of_one_word_is_that_of_all_and_of_the_recordings_start() -> None:
    """A bot may record twice, and count from 0 each time: what counts from 1970 stays in order."""
    words = recall_words(("Hello", 12.0, 12.5), ("there", 13.0, 13.5), at="2026-11-30T09:00:12Z")
    began, told = read("recall", recall_line(words)).events
    assert isinstance(began, Began) and isinstance(told, Uttered) and began.at == NOW and told.base is Base.EPOCH
    assert said((told,), SECOND) == [("200", "Hello there", 12.0, 13.5, True)]
    assert [w.segment.start - SECOND for w in told.words] == [12.0, 13.0]
    later = recall_words(("Hi", 20.0, 20.1), at="2026-11-30T09:00:20.004Z")
    again, _ = read("recall", recall_line(later)).events
    assert again.key == began.key and again.at != began.at, "a recording begins once, whichever word tells it"


def test_the_id_of_a_sockets_opening_is_not_that_of_its_messages() -> None:
    """All of them would be one delivery."""
    headers = {"webhook-id": "msg_1", "svix-id": "msg_1"}
    assert read("recall", recall_line(), headers=headers, connection="c1").delivery_key is None
    assert read("recall", recall_line(), headers=headers).delivery_key == "msg_1"


def test_words_with_dates_alone_are_a_line_too() -> None:
    words = [{"text": "Hi", "start_timestamp": stamp(None, "2026-11-30T09:00:05Z"), "end_timestamp": None}]
    assert said((line(recall_line(words)),), SECOND) == [("200", "Hi", 5.0, 5.0, True)]


def test_a_partial_and_its_final_share_a_slot_of_their_speaker_and_nothing_else() -> None:
    partial, final = line(recall_line(final=False)), line(recall_line())
    assert not partial.final and partial.slot == final.slot and partial.id is final.id is None and partial.key != final.key
    other = line(recall_line(participant={**ZOE, "id": 300}))
    assert other.slot != final.slot


def test_case_2_the_same_line_to_two_endpoints_has_one_key() -> None:
    """Whatever the deliveries' ids are."""
    body = recall_line()
    other = json.loads(json.dumps(body))
    other["data"]["realtime_endpoint"]["id"] = "re-2"
    one, two = read("recall", body, headers={"webhook-id": "a"}), read("recall", other, headers={"webhook-id": "b"})
    assert one.delivery_key != two.delivery_key and one.events == two.events
    assert line(recall_line(recall_words(("Bye", 12.34, 12.71)))).key != one.events[0].key


@pytest.mark.parametrize("name", [None, "", "Unknown", "Speaker", "None"])
def test_case_10_and_11_who_spoke_before_the_bot_came_is_nobody(name: str | None) -> None:
    assert line(recall_line(participant={"id": None, "name": name, "is_host": None, "extra_data": None})).speaker == NOBODY
    assert line(recall_line(participant={**ZOE, "name": name})).speaker == replace(line(recall_line()).speaker, name=None)


def test_case_13_two_of_one_name_are_two() -> None:
    one, two = line(recall_line()), line(recall_line(participant={**ZOE, "id": 300}))
    assert one.speaker.name == two.speaker.name and one.speaker.handle != two.speaker.handle


def test_case_14_a_name_stays_as_it_was_shown() -> None:
    assert line(recall_line(participant={**ZOE, "name": "Jonny (Guest)"})).speaker.name == "Jonny (Guest)"
    assert line(recall_line(participant={**ZOE, "name": "  Zo\x00ë \n"})).speaker.name == "Zo ë"


def test_an_address_that_is_guessed_by_a_name_is_no_account() -> None:
    """Whoever calls themselves as an invitee would be taken for them."""
    speaker = line(recall_line(participant={**ZOE, "email": "zoe@example.com"})).speaker
    assert speaker.email is None and speaker.account is None


@pytest.mark.parametrize(
    ("extra", "account"),
    [
        ({"zoom": {"user_guid": "changes", "conf_user_id": "Ria"}}, AccountKey("recall:zoom", "Ria")),
        ({"microsoft_teams": {"user_id": "8:orgid:7"}}, AccountKey("recall:microsoft_teams", "8:orgid:7")),
        ({"zoom": {"user_guid": "changes", "guest": True}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_what_a_platform_says_is_one_account_in_every_meeting_is_one(extra: Any, account: AccountKey | None) -> None:
    assert line(recall_line(participant={**ZOE, "extra_data": extra})).speaker.account == account


def test_who_comes_goes_and_is_called_otherwise() -> None:
    for what, kind in (("join", "Joined"), ("leave", "Left"), ("update", "Renamed")):
        began, event = read("recall", recall_happened(what)).events
        assert kinds((began, event)) == ["Began", kind] and event.at == datetime(2026, 11, 30, 9, 0, 4, tzinfo=UTC)
        assert began.at == NOW
    (joined,) = read("recall", recall_happened("join", relative=None)).events
    assert isinstance(joined, Joined) and joined.speaker.is_host
    assert read("recall", recall_happened("webcam_on")).events == ()


def test_who_speaks_without_words() -> None:
    on, off = (read("recall", recall_happened(f"speech_{what}")).events[0] for what in ("on", "off"))
    assert isinstance(on, Spoke) and isinstance(off, Spoke)
    assert (on.start - SECOND, on.end, off.end) == (4.0, None, off.start)


def test_what_is_written_to_everyone_is_said_and_to_one_alone_is_not() -> None:
    (told,) = read("recall", recall_happened("chat_message", data={"text": "see the link", "to": "everyone"})).events
    assert isinstance(told, Uttered) and (told.text, told.source, told.start, told.end) == (
        "see the link",
        "chat",
        SECOND + 4,
        SECOND + 4,
    )
    for to in ("Bot", "", None):
        assert read("recall", recall_happened("chat_message", data={"text": "psst", "to": to})).events == ()


def test_the_end_is_when_the_bot_is_done_not_when_the_call_ended() -> None:
    at = "2026-11-30T09:30:00Z"
    ended = {
        code: read("recall", recall(f"bot.{code}", {"code": code, "sub_code": "x", "updated_at": at})).events
        for code in ("joining_call", "call_ended", "done", "fatal")
    }
    assert ended["joining_call"] == ended["call_ended"] == ()
    assert [(e.at, e.failed) for e in ended["done"] if isinstance(e, Ended)] == [(NOW.replace(minute=30), None)]
    assert [e.failed for e in ended["fatal"] if isinstance(e, Ended)] == ["x"]
    old = {"event": "bot.status_change", "data": {"bot_id": "bot-1", "status": {"code": "done", "created_at": at}}}
    assert read("recall", old) == replace(read("recall", old), meeting="bot-1") and kinds(read("recall", old).events) == [
        "Ended"
    ]
    assert kinds(read("recall", recall("recording.done", {"updated_at": at}, bot=None)).events) == ["Ended"]
    assert read("recall", recall("recording.done", {"updated_at": at})).events == ()


def test_sound_is_of_all_or_of_one() -> None:
    told = {"buffer": base64_of(SAMPLES), "timestamp": stamp(1.0, "2026-11-30T09:00:01Z")}
    (mixed,) = read("recall", recall("audio_mixed_raw.data", told)).events
    (own,) = read("recall", recall("audio_separate_raw.data", {**told, "participant": ZOE})).events
    assert isinstance(mixed, Heard) and isinstance(own, Heard) and mixed.speaker is None
    assert own.speaker is not None and own.speaker.handle == "200"
    for heard in (mixed, own):
        assert (heard.data, heard.encoding, heard.sample_rate, heard.channels) == (SAMPLES, AudioEncoding.S16, 16_000, 1)
        assert (heard.start, heard.base) == (SECOND + 1, Base.EPOCH)


def test_a_hello_says_once_what_the_sound_of_v1_10_is_of() -> None:
    hello = {"protocol_version": 1, "bot_id": "bot-1", "recording_id": "r", "separate_streams": True, "offset": 0.0}
    carried = read("recall", hello).carried
    found = read("recall", (16778240).to_bytes(4, "little") + SAMPLES, binary=True, carried=carried)
    (heard,) = found.events
    assert isinstance(heard, Heard) and found.meeting == "bot-1" and heard.data == SAMPLES and heard.start is None
    assert heard.speaker is not None and heard.speaker.handle == "16778240"
    mixed = read("recall", {**hello, "separate_streams": False}).carried
    (heard,) = read("recall", SAMPLES, binary=True, carried=mixed).events
    assert isinstance(heard, Heard) and heard.data == SAMPLES and heard.speaker is None
    assert "hello" in refusal("recall", SAMPLES, binary=True).message
    assert "9 bytes" in refusal("recall", SAMPLES + b"x", binary=True, carried=mixed).message


@pytest.mark.parametrize("kind", ["transcript.done", "transcript.provider_data", "sdk_upload.complete", "of.tomorrow"])
def test_what_is_not_known_is_no_error(kind: str) -> None:
    assert read("recall", recall(kind, {"anything": [1]})).events == ()


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"{", "the message"),
        ([], "the message"),
        ({"data": {}}, "event"),
        (recall("transcript.data", {"words": HELLO}, bot=None, recording=None), "data.bot.id"),  # type: ignore[arg-type]
        (recall_line(recall_words(("Hi", None, None))), "data.data.words"),
        (recall_line(recall_words(("Hi", 1e9, 1e9))), "data.data.words[0].start_timestamp.relative"),
        (recall_line([{"text": 7}]), "data.data.words[0].text"),
        (recall_line([{"text": "Hi", "start_timestamp": {"absolute": "soon"}}]), "data.data.words[0].start_timestamp.absolute"),
        (recall_happened("speech_on", absolute=None, relative=None), "data.data.timestamp"),
        (recall("audio_mixed_raw.data", {"buffer": "AA", "timestamp": stamp(1.0)}), "data.data.buffer"),
    ],
)
def test_what_is_broken_names_its_field(body: Any, place: str) -> None:
    problem = refusal("recall", body)
    assert problem.facts["place"] == place and "Hi" not in problem.message


def test_case_3_what_is_signed_are_the_bytes_and_of_a_socket_its_upgrade() -> None:
    for body in (json.dumps(recall_line(), ensure_ascii=False).encode(), b""):
        for prefix in ("webhook-", "svix-"):
            headers = webhook_id_headers(WHSEC, id="m", at=NOW, body=body, prefix=prefix)
            connector("recall").verify(sent(body, headers=headers), [WHSEC], source="sales")
            with pytest.raises(SignatureWrong):
                connector("recall").verify(sent(body + b" ", headers=headers), [WHSEC], source="sales")


def test_what_does_not_sign_has_a_secret_in_its_url_that_signs_nothing() -> None:
    verify = connector("recall").verify
    verify(sent(b"", query={"token": "open"}), [WHSEC, "token:open"], source="sales")
    for delivery in (sent(b"", query={"token": "wrong"}), sent(b"", query={"token": "open"}), sent(b"")):
        with pytest.raises(SignatureWrong):
            verify(delivery, [WHSEC], source="sales")
    forged = webhook_id_headers("whsec_" + base64_of(b"open"), id="m", at=NOW, body=b"{}")
    with pytest.raises(SignatureWrong):
        verify(sent(b"{}", headers=forged), [WHSEC, "token:open"], source="sales")


second = st.floats(0, 7200).map(lambda s: round(s, 2))
spoken = st.tuples(st.text(max_size=8), st.none() | second, st.none() | second)


@given(told=st.lists(spoken, max_size=8), dated=st.booleans())
@settings(max_examples=80, deadline=None)
def test_no_word_is_lost_or_made_up(told: list[tuple[str, float | None, float | None]], dated: bool) -> None:
    """Of a line with one word that has a time."""
    told = [("so", 7.0, 7.5), *told]
    body = recall_line(recall_words(*told, at="2026-11-30T09:00:12Z" if dated else None))
    texts = [" ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text).split()) for text, *_ in told]
    one = line(body)
    assert one.text == " ".join(filter(None, texts)) == " ".join(word.text for word in one.words)
    assert one.start <= one.end and all(one.start <= w.segment.start <= w.segment.end <= one.end for w in one.words)
