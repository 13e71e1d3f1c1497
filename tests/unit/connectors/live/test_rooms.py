"""Jitsi, LiveKit, Daily and Pipecat: each says who came and who spoke when in its own way, and the same once it is read."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.connectors.live import SignatureWrong, connector
from service.connectors.live.signatures import decoded, jwt_headers, timestamp_body_headers, webhook_id_headers
from service.types.meeting import AccountKey, AudioEncoding, Base, Began, Ended, Heard, Joined, Left, Uttered
from tests.unit.connectors.live.told import NOW, SECOND, kinds, read, refusal, said, sent, with_

MILLISECONDS = int(SECOND * 1000)
ANA = {"id": "10a52c3f", "name": "Ana", "email": "typed@example.com", "identity_id": "u-7"}


# ---- Jitsi


def jitsi_line(text: str = "hello world", **more: Any) -> dict[str, Any]:
    return {
        "event": "SPEECH",
        "type": "transcription-result",
        "room_name": "standup@conference.example.com",
        "timestamp": MILLISECONDS,
        "participant": ANA,
        "transcript": [{"text": text, "confidence": 0.9}, {"text": "yellow world", "confidence": 0.1}],
        "language": "en-US",
        "is_interim": False,
        "message_id": "9b2f",
        "stability": 0,
        **more,
    }


def test_jigasi_tells_a_line_with_its_account_and_without_the_typed_address() -> None:
    found = read("jitsi", jitsi_line())
    assert found.meeting == "standup@conference.example.com" and found.in_room
    (line,) = found.events
    assert isinstance(line, Uttered)
    assert said(found.events, SECOND) == [("10a52c3f", "hello world", 0.0, 0.8, True)]
    assert (line.id, line.base, line.confidence, line.language) == ("9b2f", Base.EPOCH, 0.9, "en-US")
    assert line.speaker.account == AccountKey("jitsi", "u-7") and line.speaker.email is None


def test_jigasi_tells_comings_goings_begin_and_end() -> None:
    room = {"room_name": "standup", "timestamp": str(MILLISECONDS)}
    told = [read("jitsi", with_(room, event=event, participant=ANA)) for event in ("START", "JOIN", "LEAVE", "END")]
    assert [kinds(each.events) for each in told] == [["Began"], ["Joined"], ["Left"], ["Ended"]]
    assert {event.at for each in told for event in each.events} == {NOW}
    assert read("jitsi", with_(room, event="RAISE_HAND", participant=ANA)).events == ()


def test_jigasis_file_is_a_whole_meeting_known_by_when_it_began() -> None:
    event = {name: value for name, value in jitsi_line().items() if name not in ("room_name", "type")}
    whole = {
        "room_name": "standup@conference.example.com",
        "start_time": "2026-11-30T08:59:00Z",
        "end_time": "2026-11-30T09:30:00Z",
        "initial_participants": [ANA],
        "events": [event, with_(event, event="RAISE_HAND")],
    }
    found = read("jitsi", whole)
    assert kinds(found.events) == ["Began", "Joined", "Uttered", "Ended"]
    assert (found.meeting, found.in_room) == ("standup@conference.example.com 2026-11-30T08:59:00Z", False)
    assert said(found.events, SECOND) == [("10a52c3f", "hello world", 0.0, 0.8, True)]


def test_the_name_that_jitsi_gives_who_has_none_is_none_and_translations_are_no_second_line() -> None:
    (line,) = read("jitsi", jitsi_line(participant={"id": "a", "name": "Fellow Jitster"})).events
    assert isinstance(line, Uttered) and line.speaker.name is None
    assert read("jitsi", with_(jitsi_line(), type="translation-result", text="hallo")).events == ()


def test_what_the_opus_proxy_dispatches_belongs_to_its_session() -> None:
    told = {"sessionId": "s-1", "endpointId": "10a52c3f", "text": "hello world", "timestamp": MILLISECONDS, "language": "en"}
    found = read("jitsi", told)
    assert (found.meeting, found.in_room) == ("s-1", False)
    assert said(found.events, SECOND) == [("10a52c3f", "hello world", 0.0, 0.8, True)]


@pytest.mark.needs_shared
def test_the_opus_proxys_own_sample(shared: Path) -> None:
    body = (shared / "cases" / "samples" / "jitsi__transcription_result.json").read_bytes()
    found = read("jitsi", body, query={"meeting": "room 1"})
    assert found.meeting == "room 1"
    assert said(found.events, 1768341932.35) == [("10a52c3f", "hello world", 0.0, 0.8, True)]
    (line,) = found.events
    assert isinstance(line, Uttered) and (line.id, line.speaker.name) == ("item_123", None)
    assert refusal("jitsi", body).facts["place"] == "room_name"


def test_the_bridges_sound_is_placed_by_its_clock_from_when_the_first_packet_came() -> None:
    def packet(ticks: int, **more: Any) -> Any:
        media = {"tag": "10a52c3f-a0", "chunk": 1, "timestamp": ticks, "payload": base64.b64encode(b"opus").decode()}
        return read("jitsi", {"event": "media", "media": media}, query={"sessionId": "s"}, connection="c", **more)

    first = packet(8_000_000_000)
    (sound,) = first.events
    assert isinstance(sound, Heard) and first.carried is not None
    assert (sound.encoding, sound.sample_rate, sound.data, sound.start) == (AudioEncoding.OPUS, 48_000, b"opus", SECOND)
    assert sound.speaker is not None and sound.speaker.handle == "10a52c3f"
    later = packet(8_000_000_000 + 96_000, received_at=NOW + timedelta(seconds=9), carried=first.carried)
    (sound,) = later.events
    assert isinstance(sound, Heard) and sound.start == SECOND + 2.0 and later.carried is None


def test_a_bridge_that_asks_is_answered() -> None:
    jitsi = connector("jitsi")
    assert jitsi.answer(sent({"event": "ping", "id": 3}), ["s"]) == {"event": "pong", "id": 3}
    assert jitsi.answer(sent(jitsi_line('say "ping"')), ["s"]) is None


def test_jitsi_signs_nothing_so_the_secret_itself_is_asked_for() -> None:
    jitsi = connector("jitsi")
    jitsi.verify(sent(jitsi_line(), query={"token": "hush"}), ["old", "hush"], source="room")
    jitsi.verify(sent(jitsi_line(), headers={"authorization": "Bearer hush"}), ["hush"], source="room")
    for query in ({"token": "hus"}, {"token": "hushh"}, {"token": ""}, {}):
        with pytest.raises(SignatureWrong):
            jitsi.verify(sent(jitsi_line(), query=query), ["hush"], source="room")


def whisper(head: str, samples: bytes = b"\1\2\3\4") -> bytes:
    return head.encode().ljust(60, b"\0") + samples


def test_what_jigasi_sends_a_whisper_service_is_each_participants_sound() -> None:
    """Sixty bytes say whose it is and in which language, filled up with zeros; the rest is samples of 16 kHz."""
    found = read("jitsi", whisper("10a52c3f|en-US"), binary=True, connection="c", query={"meeting": "conn-1"})
    (heard,) = found.events
    assert isinstance(heard, Heard) and heard.speaker is not None and not found.in_room
    assert (found.meeting, heard.speaker.handle, heard.data) == ("conn-1", "10a52c3f", b"\1\2\3\4")
    assert (heard.encoding, heard.sample_rate, heard.channels, heard.start) == (AudioEncoding.S16, 16_000, 1, None)
    older = read("jitsi", whisper("room@conference.example.com/10a52c3f|null"), binary=True, query={"meeting": "conn-1"})
    assert isinstance(older.events[0], Heard) and older.events[0].speaker == heard.speaker


def test_a_single_byte_says_that_all_have_left() -> None:
    assert kinds(read("jitsi", b"\0", binary=True, query={"meeting": "conn-1"}).events) == ["Ended"]


@pytest.mark.parametrize(
    ("body", "query", "said"),
    [
        (whisper("10a52c3f|en"), {}, "sound has no meeting"),
        (whisper("10a52c3f"), {"meeting": "m"}, "participant|language"),
        (whisper("|en"), {"meeting": "m"}, "participant|language"),
        (whisper("room/|en"), {"meeting": "m"}, "participant|language"),
        (b"\xff" * 64, {"meeting": "m"}, "participant|language"),
        (whisper("10a52c3f|en", b""), {"meeting": "m"}, "samples of 2 bytes"),
        (whisper("10a52c3f|en", b"odd"), {"meeting": "m"}, "samples of 2 bytes"),
        (b"\1", {"meeting": "m"}, "participant|language"),
        (b"", {"meeting": "m"}, "participant|language"),
    ],
)
def test_a_binary_message_that_is_no_such_sound_is_refused(body: bytes, query: dict[str, str], said: str) -> None:
    assert said in str(refusal("jitsi", body, binary=True, query=query))


# ---- LiveKit

ROOM = {"sid": "RM_1", "name": "standup", "creationTime": str(int(SECOND))}
PERSON = {"sid": "PA_1", "identity": "ana@app", "name": "Ana", "joinedAt": str(int(SECOND)), "kind": "STANDARD"}


def livekit(event: str, **more: Any) -> dict[str, Any]:
    return {"event": event, "room": ROOM, "id": "EV_1", "createdAt": str(int(SECOND) + 60), **more}


def test_livekit_tells_comings_goings_begin_and_end_of_a_room_by_its_sid() -> None:
    told = [
        read("livekit", livekit("room_started")),
        read("livekit", livekit("participant_joined", participant=PERSON)),
        read("livekit", livekit("participant_left", participant=PERSON)),
        read("livekit", livekit("room_finished")),
    ]
    assert [kinds(each.events) for each in told] == [["Began"], ["Joined"], ["Left"], ["Ended"]]
    assert {(each.meeting, each.delivery_key, each.in_room) for each in told} == {("RM_1", "EV_1", False)}
    later = NOW + timedelta(seconds=60)
    assert [each.events[0].at for each in told] == [NOW, NOW, later, later]
    joined = told[1].events[0]
    assert isinstance(joined, Joined) and joined.speaker.handle == "ana@app" and joined.speaker.account is None
    assert read("livekit", livekit("track_published", participant=PERSON)).events == ()


@pytest.mark.parametrize("kind", ["AGENT", 4, "EGRESS", 2])
def test_an_agent_in_a_livekit_room_is_a_bot(kind: str | int) -> None:
    (joined,) = read("livekit", livekit("participant_joined", participant=with_(PERSON, kind=kind))).events
    assert isinstance(joined, Joined) and joined.speaker.is_bot
    (joined,) = read("livekit", livekit("participant_joined", participant=with_(PERSON, kind=1))).events
    assert isinstance(joined, Joined) and not joined.speaker.is_bot


def livekit_line(text: str, final: bool, **more: Any) -> dict[str, Any]:
    segment = {"id": "SG_1", "text": text, "startTime": "0", "endTime": "0", "final": final, "language": "en", **more}
    told = {"transcribedParticipantIdentity": "ana@app", "trackId": "TR_1", "segments": [segment]}
    return {"event": "transcription", "room": ROOM, "transcription": told, "at": MILLISECONDS}


def test_a_livekit_segment_keeps_its_id_from_partial_to_final() -> None:
    partial, final = (read("livekit", livekit_line(text, final)) for text, final in (("hello", False), ("hello world", True)))
    assert said(partial.events, SECOND) == [("ana@app", "hello", -0.4, 0.0, False)]
    assert said(final.events, SECOND) == [("ana@app", "hello world", -0.8, 0.0, True)]
    assert {e.id for each in (partial, final) for e in each.events if isinstance(e, Uttered)} == {"SG_1"}
    assert partial.events[0].key != final.events[0].key


def test_a_livekit_segments_own_times_give_its_length_and_startedat_its_place() -> None:
    timed = read("livekit", livekit_line("hello world", True, startTime="7000", endTime="9500"))
    assert said(timed.events, SECOND) == [("ana@app", "hello world", -2.5, 0.0, True)]
    placed = read("livekit", livekit_line("hello world", True, startedAt=MILLISECONDS - 3000))
    assert said(placed.events, SECOND) == [("ana@app", "hello world", -3.0, 0.0, True)]
    nonsense = read("livekit", livekit_line("hello world", True, startTime="0", endTime=str(MILLISECONDS)))
    assert said(nonsense.events, SECOND) == [("ana@app", "hello world", -0.8, 0.0, True)]


def test_a_livekit_text_stream_is_a_line() -> None:
    attributes = {"lk.segment_id": "SG_2", "lk.transcription_final": "false", "lk.transcribed_track_id": "TR_1"}
    told = {
        "event": "text_stream",
        "topic": "lk.transcription",
        "room": ROOM,
        "participant": {"identity": "ana@app"},
        "attributes": attributes,
        "text": "hello world",
    }
    found = read("livekit", told)
    assert said(found.events, SECOND) == [("ana@app", "hello world", -0.8, 0.0, False)]
    nameless = with_(told, attributes={"lk.transcription_final": "true"})
    assert refusal("livekit", nameless).facts["place"] == "at", "said again, it would be taken for a repeat"
    anonymous = read("livekit", with_(nameless, at=MILLISECONDS))
    (line,) = anonymous.events
    assert isinstance(line, Uttered) and (line.id, line.slot, line.final) == (None, "ana@app", True)


def test_livekits_token_is_of_this_body() -> None:
    body = json.dumps(livekit("room_started")).encode()
    headers = jwt_headers("APIkey:secret", at=NOW, body=body)
    connector("livekit").verify(sent(body, headers=headers), ["APIkey:old", "APIkey:secret"], source="lk")
    for other in (sent(body + b" ", headers=headers), sent(body, headers=headers, received_at=NOW + timedelta(hours=1))):
        with pytest.raises(SignatureWrong):
            connector("livekit").verify(other, ["APIkey:secret"], source="lk")


# ---- Daily


def daily(kind: str, **payload: Any) -> dict[str, Any]:
    payload = {"room": "standup", **payload}
    return {"version": "1.0.0", "type": kind, "id": f"{kind}-1", "payload": payload, "event_ts": SECOND + 1}


BEN = {"session_id": "0c0d", "user_id": "u-9", "user_name": "Ben", "owner": True, "joined_at": SECOND}


def test_daily_tells_comings_goings_begin_and_end_of_a_room() -> None:
    told = [
        read("daily", daily("meeting.started", start_ts=SECOND, meeting_id="f2aa")),
        read("daily", daily("participant.joined", **BEN)),
        read("daily", daily("participant.left", **BEN, duration=30.0)),
        read("daily", daily("meeting.ended", start_ts=SECOND, end_ts=SECOND + 40, meeting_id="f2aa")),
    ]
    assert {(each.meeting, each.in_room) for each in told} == {("standup", True)}
    began, joined, left, ended = (each.events[0] for each in told)
    assert isinstance(began, Began) and began.at == NOW
    assert isinstance(joined, Joined) and joined.at == NOW
    assert (joined.speaker.handle, joined.speaker.name, joined.speaker.is_host) == ("0c0d", "Ben", True)
    assert joined.speaker.account == AccountKey("daily", "u-9")
    assert isinstance(left, Left) and left.at == NOW + timedelta(seconds=30)
    assert isinstance(ended, Ended) and (ended.at, ended.duration) == (NOW + timedelta(seconds=40), 40.0)
    assert read("daily", daily("recording.started")).events == ()


def test_daily_has_no_account_for_who_came_without_a_token() -> None:
    (joined,) = read("daily", daily("participant.joined", **with_(BEN, user_id="0c0d"))).events
    assert isinstance(joined, Joined) and joined.speaker.account is None


def test_a_daily_transcription_message_replaces_the_participants_partials() -> None:
    def message(text: str, final: bool) -> Any:
        raw = {"is_final": final, "channel": {"alternatives": [{"transcript": text}]}}
        told = {"participantId": "0c0d", "text": text, "timestamp": "2026-11-30T09:00:00.000Z", "rawResponse": raw}
        return read("daily", daily("transcription-message", **told))

    partial, final = message("hello", False), message("hello world", True)
    assert said(partial.events, SECOND) == [("0c0d", "hello", -0.4, 0.0, False)]
    assert said(final.events, SECOND) == [("0c0d", "hello world", -0.8, 0.0, True)]
    assert {e.slot for each in (partial, final) for e in each.events if isinstance(e, Uttered)} == {"0c0d"}


def test_daily_signs_with_a_key_in_base64() -> None:
    secret, body = base64.b64encode(b"k" * 32).decode(), json.dumps(daily("meeting.started", start_ts=SECOND)).encode()
    headers = timestamp_body_headers(secret, at=NOW, body=body, prefix="", encoded=base64.b64encode, key=decoded)
    connector("daily").verify(sent(body, headers=headers), [secret], source="d")
    for other in (sent(body + b" ", headers=headers), sent(body, headers=headers, received_at=NOW + timedelta(minutes=6))):
        with pytest.raises(SignatureWrong):
            connector("daily").verify(other, [secret], source="d")


# ---- Pipecat


def frame(kind: str, **more: Any) -> dict[str, Any]:
    told = {"text": "hello world", "user_id": "0c0d", "timestamp": "2026-11-30T10:00:00+01:00", "language": "en"}
    return {"meeting": "m1", "frame": kind, **told, **more}


BOT_SAYS = {"meeting": "m1", "frame": "AggregatedTextFrame", "text": "Okay."}


def test_what_pipecats_bot_says_twice_is_said_twice_and_what_is_told_twice_once() -> None:
    """Neither of its sentences has a time."""
    rtvi = {"label": "rtvi-ai", "type": "bot-transcription", "data": {"text": "Okay."}}
    later = NOW + timedelta(seconds=40)
    for body in (BOT_SAYS, rtvi):
        for connection in ("", "c"):

            def told(id: str, body: Any = body, connection: str = connection, **more: Any) -> tuple[str | None, str]:
                named = {"headers": {"webhook-id": id}} if not connection else {}
                content = {**body, "id": id} if connection else body
                found = read("pipecat", content, query={"meeting": "m1"}, connection=connection, **named, **more)
                return found.delivery_key, found.events[0].key

            first, second, again = told("1"), told("2", received_at=later), told("1", received_at=later)
            assert first == again and None not in first and not set(first) & set(second)
            assert str(refusal("pipecat", body, connection=connection).facts["place"]).endswith("timestamp")
    joined = with_(frame("ParticipantJoined"), timestamp=None)
    assert refusal("pipecat", joined).facts["place"] == "timestamp"
    assert kinds(read("pipecat", with_(frame("InterimTranscriptionFrame"), timestamp=None)).events) == ["Uttered"]


def test_pipecats_frames_tell_partials_finals_and_what_the_bot_says() -> None:
    partial, final = read("pipecat", frame("InterimTranscriptionFrame")), read("pipecat", frame("TranscriptionFrame"))
    assert said(partial.events, SECOND) == [("0c0d", "hello world", -0.8, 0.0, False)]
    assert said(final.events, SECOND) == [("0c0d", "hello world", -0.8, 0.0, True)]
    (bot,) = read("pipecat", {**BOT_SAYS, "id": "7"}).events
    assert isinstance(bot, Uttered) and bot.speaker.is_bot and bot.speaker.handle == "bot"
    ends = [read("pipecat", {"meeting": "m1", "frame": name}) for name in ("StartFrame", "EndFrame", "LLMRunFrame")]
    assert [kinds(each.events) for each in ends] == [["Began"], ["Ended"], []]
    joined = read("pipecat", frame("ParticipantJoined", name="Ben"))
    assert isinstance(joined.events[0], Joined) and joined.events[0].speaker.name == "Ben"


def test_an_rtvi_message_is_a_line_of_the_meeting_in_the_url() -> None:
    told = {"text": "hello world", "user_id": "0c0d", "timestamp": "2026-11-30T09:00:00Z", "final": False}
    message = {"label": "rtvi-ai", "type": "user-transcription", "data": told}
    found = read("pipecat", message, query={"meeting": "m1"})
    assert found.meeting == "m1" and said(found.events, SECOND) == [("0c0d", "hello world", -0.8, 0.0, False)]
    assert refusal("pipecat", message).facts["place"] == "meeting"


def test_pipecats_sound_is_whole_samples() -> None:
    told = {"meeting": "m1", "frame": "UserAudioRawFrame", "sample_rate": 16000, "num_channels": 1, "user_id": "0c0d"}
    (sound,) = read("pipecat", with_(told, audio=base64.b64encode(b"\0\0\1\0").decode())).events
    assert isinstance(sound, Heard) and (sound.data, sound.sample_rate, sound.channels) == (b"\0\0\1\0", 16_000, 1)
    for audio in ("AAAA", "", "no base64!", 7):
        assert refusal("pipecat", with_(told, audio=audio)).facts["place"] == "audio"
    assert refusal("pipecat", with_(told, audio="AAAA", sample_rate=1e9)).facts["place"] == "sample_rate"


def test_what_passes_frames_on_signs_as_our_own_webhooks_or_shows_the_secret() -> None:
    secret, body = "whsec_" + base64.b64encode(b"k" * 24).decode(), json.dumps(frame("TranscriptionFrame")).encode()
    signed = webhook_id_headers(secret, id="msg_1", at=NOW, body=body)
    for provider in ("pipecat", "generic"):
        connector(provider).verify(sent(body, headers=signed), [secret], source="p")
        connector(provider).verify(sent(body, headers=signed), ["token:hush", secret], source="p")
        connector(provider).verify(sent(b"", headers={"authorization": "Bearer hush"}), [secret, "token:hush"], source="p")
        with pytest.raises(SignatureWrong):  # what signs is not sent
            connector(provider).verify(sent(b"", headers={"authorization": f"Bearer {secret}"}), [secret], source="p")
        for headers in (
            {"authorization": "Bearer no"},
            {},
            with_(signed, **{"webhook-id": "msg_2"}),
            {"authorization": secret},
        ):
            with pytest.raises(SignatureWrong):
                connector(provider).verify(sent(body, headers=headers), [secret], source="p")
    assert read("pipecat", body, headers=signed).delivery_key == "msg_1"
    assert read("pipecat", body, headers=signed, connection="c1").delivery_key is None


# ---- what is broken


@pytest.mark.parametrize(
    ("provider", "body", "place"),
    [
        ("jitsi", with_(jitsi_line(), timestamp="yesterday"), "timestamp"),
        ("jitsi", with_(jitsi_line(), timestamp=12), "timestamp"),
        ("jitsi", with_(jitsi_line(), participant="Ana"), "participant"),
        ("jitsi", {"event": "JOIN", "timestamp": MILLISECONDS, "participant": ANA}, "room_name"),
        ("livekit", livekit("participant_joined", participant={"sid": "PA"}), "participant.identity"),
        ("livekit", with_(livekit("room_started"), room={}), "room.sid"),
        ("livekit", livekit_line("x", True, endTime="soon"), "transcription.segments[0].endTime"),
        ("daily", daily("participant.joined", user_name="Ben"), "payload.session_id"),
        ("daily", daily("meeting.started", room=None, start_ts=SECOND), "payload.room"),
        ("daily", daily("meeting.started", start_ts=SECOND * 1000), "payload.start_ts"),
        ("pipecat", frame("TranscriptionFrame", timestamp="x"), "timestamp"),
        ("jitsi", b"\xff", "the message"),
        ("daily", b"[]", "the message"),
    ],
)
def test_what_is_broken_names_its_field_and_quotes_nothing_said(provider: str, body: Any, place: str) -> None:
    problem = refusal(provider, body)
    assert (problem.facts["provider"], problem.facts["place"]) == (provider, place)
    assert "hello" not in str(problem) and "Ana" not in str(problem)


def test_a_naive_time_is_no_time() -> None:
    """CASES 39: without a zone nobody knows when it was; what came says when it was delivered."""
    told = read("pipecat", frame("TranscriptionFrame", timestamp="2026-03-29T02:30:00"))
    assert said(told.events, SECOND) == [("0c0d", "hello world", -0.8, 0.0, True)]
    assert datetime(2026, 3, 29, 1, 30, tzinfo=UTC) not in {event.at for event in told.events}
