"""Fireflies, Zoom and Jitsi through the inbox: what is only pointed to is fetched, and one room has one session a meeting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from service.connectors.live import Delivery, connector
from service.connectors.live.fetching import FetchConfig, fetched
from service.connectors.live.joint import joint
from service.connectors.live.sources import Source, Sources
from service.graph.deliveries import StoredDelivery, meeting_id, save_deliveries
from service.graph.driver import Graph, Tx, changes, rows
from service.graph.meetings import lease_meetings
from service.graph.taking_in import deliveries_of
from service.pipelines import meeting
from service.pipelines.delivered import new_delivery
from service.pipelines.meeting import Meeting, MeetingWorkConfig
from service.pipelines.meeting_tapes import Tapes
from service.pipelines.meeting_voices import Listens, VoicesConfig
from service.pipelines.meetings import Meetings, MeetingsConfig
from tests.graph.meeting_builders import (
    BEGAN,
    SOURCE,
    Incidents,
    a_worker,
    inbox,
    meetings,
    nothing_fetched,
    sessions,
    sources_file,
    turns,
    writes_with,
)
from tests.unit.connectors.live.local_http import Answer, Asked, serving

PATIENCE = 20.0
ERRORS = "MATCH (d:Delivery {space: $space}) WHERE d.error IS NOT NULL RETURN d.error AS error"
FORGET_INBOX = "MATCH (n:Delivery|Meeting|MeetingWork {space: $space}) DETACH DELETE n"
SOUND_IN = "MATCH (f:Meeting {space: $space}) SET f.sound_in = [$place]"
MILLISECONDS = int(BEGAN.timestamp() * 1000)


def iso(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


async def deliver(graph: Graph, space: str, provider: str, body: Mapping[str, Any], *, at: float = 0.0) -> None:
    """`body` as the provider sends it, received `at` seconds after the meeting began."""
    delivery = Delivery({}, json.dumps(body).encode(), BEGAN + timedelta(seconds=at))
    source = Source(name=SOURCE, provider=provider, space=space)
    await graph.write(save_deliveries, [new_delivery(source, delivery, connector(provider).read(delivery))])


def line(text: str, at: float, id: str) -> dict[str, Any]:
    return {
        "event": "SPEECH",
        "type": "transcription-result",
        "room_name": "standup",
        "timestamp": MILLISECONDS + int(at * 1000),
        "participant": {"id": "e1", "name": "Ana"},
        "transcript": [{"text": text, "confidence": 1.0}],
        "is_interim": False,
        "message_id": id,
    }


def edge(event: str, at: float) -> dict[str, Any]:
    return {"event": event, "room_name": "standup", "timestamp": str(MILLISECONDS + int(at * 1000))}


@asynccontextmanager
async def working(
    graph: Graph, space: str, folder: Path, provider: str, answer: Callable[[Asked], Answer]
) -> AsyncIterator[tuple[Meetings, list[Asked]]]:
    """A worker that fetches from `answer`."""
    async with serving(answer) as (base, asked):
        config = FetchConfig(instead={"api.fireflies.ai": base, "zoom.us": base})

        work = MeetingWorkConfig(margin=0.0, first_delay=0.0)
        key = {"api_key": "env:KEY"} if provider == "fireflies" else {}
        async with a_worker(
            graph, space, folder, fetched=partial(fetched, config=config), work=work, provider=provider, **key
        ) as worker:
            yield worker, asked


async def all_taken_in(worker: Meetings, graph: Graph, space: str, *, num_turns: int = 0) -> None:
    """Also what is fetched meanwhile, and what is told a while after it came."""
    async with asyncio.timeout(PATIENCE):
        await worker.settle(PATIENCE)
        while "waiting" in await inbox(graph, space) or len(await turns(graph, space)) < num_turns:
            await asyncio.sleep(0.05)
            await worker.settle(PATIENCE)


async def test_a_fireflies_webhook_becomes_the_session_that_it_points_to(graph: Graph, space: str, tmp_path: Path) -> None:
    sentences = [
        {"index": 0, "speaker_id": 0, "speaker_name": "Ana", "text": "Hello.", "start_time": 0.5, "end_time": 1.25},
        {"index": 1, "speaker_id": 1, "speaker_name": "Ben", "text": "Hi.", "start_time": 2.0, "end_time": 2.5},
    ]
    transcript = {"id": "abc", "title": "Standup", "date": MILLISECONDS, "duration": 1.0, "sentences": sentences}
    answers = cycle([Answer(503), Answer(200, json.dumps({"data": {"transcript": transcript}}).encode())])
    webhook = {"event": "meeting.transcribed", "timestamp": MILLISECONDS, "meeting_id": "abc"}
    await deliver(graph, space, "fireflies", webhook, at=60.0)
    async with working(graph, space, tmp_path, "fireflies", lambda _: next(answers)) as (worker, asked):
        await all_taken_in(worker, graph, space, num_turns=2)
        await deliver(graph, space, "fireflies", webhook, at=61.0)  # known: the body is the same
        await all_taken_in(worker, graph, space)
    assert len(asked) == 2 and asked[-1].headers["authorization"] == "Bearer whsec_c2VjcmV0"
    assert [(t["label"], t["text"], t["start"], t["end"]) for t in await turns(graph, space)] == [
        ("Ana", "Hello.", 0.5, 1.25),
        ("Ben", "Hi.", 2.0, 2.5),
    ]
    (session,) = await sessions(graph, space)
    assert (session["title"], session["started_at"].timestamp() * 1000) == ("Standup", pytest.approx(MILLISECONDS, abs=1))
    assert await inbox(graph, space) == {"done": 2}


async def test_a_zoom_transcript_that_comes_after_the_end_is_in_the_meetings_session(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    meeting = {"uuid": "u==", "id": "84712639219", "topic": "Standup", "timezone": "Europe/Berlin", "start_time": iso(0)}
    ana = {"user_id": "7", "user_name": "Ana", "participant_user_id": "zoom-ana", "email": "ana@example.com"}

    def told(event: str, **more: Any) -> dict[str, Any]:
        return {"event": event, "payload": {"object": {**meeting, **more}}, "download_token": "for a day"}

    file = {"file_type": "TRANSCRIPT", "download_url": "https://zoom.us/rec/1", "recording_start": iso(40)}
    vtt = b"WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.500\nAna: Hello.\n\n2\n00:00:03.000 --> 00:00:04.000\nBen: Hi.\n"
    async with working(graph, space, tmp_path, "zoom", lambda _: Answer(200, vtt)) as (worker, asked):
        await deliver(graph, space, "zoom", told("meeting.started"))
        await deliver(graph, space, "zoom", told("meeting.participant_joined", participant={**ana, "join_time": iso(5)}), at=5)
        await deliver(graph, space, "zoom", told("meeting.ended", end_time=iso(600)), at=600)
        await all_taken_in(worker, graph, space)
        assert await sessions(graph, space) == []  # nothing was said, as far as is known
        for event in ("recording.completed", "recording.transcript_completed"):
            await deliver(graph, space, "zoom", told(event, recording_files=[file]), at=3600)
        await all_taken_in(worker, graph, space, num_turns=2)
    assert asked[0].headers["authorization"] == "Bearer for a day"
    assert [(t["label"], t["text"], t["start"], t["end"]) for t in await turns(graph, space)] == [
        ("Ana", "Hello.", 41.0, 42.5),
        ("Ben", "Hi.", 43.0, 44.0),
    ]
    (session,) = await sessions(graph, space)
    assert (session["title"], session["started_at"].timestamp() * 1000) == ("Standup", pytest.approx(MILLISECONDS, abs=1))


async def test_a_jitsi_room_has_a_session_for_each_meeting(graph: Graph, space: str, tmp_path: Path) -> None:
    async with working(graph, space, tmp_path, "jitsi", lambda _: Answer(500)) as (worker, _):
        for begin, text in ((0.0, "The first one."), (3000.0, "The second one.")):
            await deliver(graph, space, "jitsi", edge("START", begin), at=begin)
            await deliver(graph, space, "jitsi", line(text, begin + 5, f"m{begin}"), at=begin + 6)
            await deliver(graph, space, "jitsi", edge("END", begin + 60), at=begin + 60)
        await all_taken_in(worker, graph, space)
    found = await turns(graph, space)
    assert [(t["text"], t["start"]) for t in found] == [("The first one.", 5.0), ("The second one.", 5.0)]
    assert len({t["session"] for t in found}) == 2
    assert [session["status"] for session in await sessions(graph, space)] == ["complete", "complete"]


async def test_what_is_pointed_to_is_not_fetched_for_another_space(graph: Graph, space: str, tmp_path: Path) -> None:
    """The source's name was given to another space, with its key, between the look at the inbox and the fetch."""
    file = sources_file(tmp_path / "hooks.toml", space, provider="fireflies", api_key="env:KEY")
    sources = Sources(file, lambda name: "whsec_c2VjcmV0")
    await deliver(graph, space, "fireflies", {"meetingId": "ff1", "eventType": "Transcription completed"})
    now = datetime.now(UTC)
    of = [meeting_id(space, SOURCE, "ff1")]
    (feed,) = await graph.write(lease_meetings, of, worker="w", now=now, until=now + timedelta(hours=1))
    incidents, work = Incidents(), MeetingWorkConfig(margin=0.0)
    meeting = Meeting(writes_with(graph), feed, "w", sources, nothing_fetched, incidents, work, lambda: None)
    sources_file(file, f"{space}-other", provider="fireflies", api_key="env:KEY")
    await meeting.go()
    await meeting.go()  # what came of the fetch is looked at
    async with asyncio.timeout(PATIENCE):
        while not (found := await graph.read(rows, ERRORS, space=space)):
            await meeting.go()
    await meeting.stop()
    assert [row["error"].partition(":")[0] for row in found] == ["no_such_source"] and not incidents


async def test_two_bots_in_one_call_are_one_session_with_each_line_once(graph: Graph, space: str, tmp_path: Path) -> None:
    """MeetingBaas keys by bot; both have the call in their `extra`, in the URL of their sockets, and in nothing of their files.
    The second came 95 s after the first, and leaves before it."""
    lines = [(1, "Ana", "Shall we begin, the two of us?", 100.0), (2, "Ben", "Sounds good.", 104.0)]
    files = {}
    for bot, zero in (("b-1", 0.0), ("b-2", 95.0)):
        own = [(name, text, at - zero) for _, name, text, at in lines]
        utterances = [{"speaker": n, "text": t, "start": at, "end": at + 1.5, "words": []} for n, t, at in own]
        files[f"/{bot}"] = json.dumps({"bot_id": bot, "result": {"utterances": utterances}}).encode()
    source = Source(name=SOURCE, provider="meetingbaas", space=space, meeting_from="call")

    async def told(kind: str, bot: str, data: Mapping[str, Any], at: float, **query: str) -> None:
        body = {"event": kind, "bot_id": bot, "data": {"bot_id": bot, **data}}
        delivery = Delivery({}, json.dumps(body).encode(), BEGAN + timedelta(seconds=at), query=query)
        read = joint(connector("meetingbaas").read(delivery), delivery, source.meeting_from)
        await graph.write(save_deliveries, [new_delivery(source, delivery, read)])

    def answer(asked: Asked) -> Answer:
        return Answer(200, files[asked.path])

    async with serving(answer) as (base, _):
        work, config = MeetingWorkConfig(margin=0.0, first_delay=0.0), FetchConfig(instead={"store.example": base})
        get, by = partial(fetched, config=config), {"provider": "meetingbaas", "meeting_from": "call"}
        async with a_worker(graph, space, tmp_path, fetched=get, work=work, **by) as worker:
            for bot, zero in (("b-1", 0.0), ("b-2", 95.0)):
                status = {"code": "in_call_recording", "start_time": BEGAN.timestamp() + zero}
                await told("bot.status_change", bot, {"status": status, "extra": {"call": "c-7"}}, zero)
            for number, name, text, at in lines:
                for bot, zero, speaker in (("b-1", 0.0, number), ("b-2", 94.7, 3 - number)):  # each numbers them for itself
                    line = {"text": text, "isFinal": True, "utteranceStart": at - zero, "utteranceEnd": at - zero + 1.5}
                    segment = {**line, "words": [], "speaker": {"id": speaker, "name": name}}
                    await told("transcript.segment", bot, segment, at + 2.0, call="c-7")
            for bot, at in (("b-2", 200.0), ("b-1", 260.0)):
                done = {"transcription": f"https://store.example/{bot}", "extra": {"call": "c-7"}}
                await told("bot.completed", bot, done, at)
                await all_taken_in(worker, graph, space, num_turns=2)
    found = await turns(graph, space)
    assert [(t["label"], t["text"], t["start"]) for t in found] == [(n, t, pytest.approx(at, abs=0.5)) for _, n, t, at in lines]
    assert len({t["track"] for t in found}) == 2
    (session,) = await sessions(graph, space)
    assert session["status"] == "complete"


async def test_a_call_that_is_held_again_under_the_same_name_is_another_session(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    """A series' id in the metadata: the next call's bots are new. What comes late of a bot is of its own meeting, or none."""
    source, day = Source(name=SOURCE, provider="meetingbaas", space=space, meeting_from="call"), 3_600.0
    by: dict[str, Any] = {"provider": "meetingbaas", "meeting_from": "call"}

    async def told(kind: str, bot: str, data: Mapping[str, Any], at: float) -> None:
        body = {"event": kind, "bot_id": bot, "data": {"bot_id": bot, "extra": {"call": "weekly"}, **data}}
        delivery = Delivery({}, json.dumps(body).encode(), BEGAN + timedelta(seconds=at))
        read = joint(connector("meetingbaas").read(delivery), delivery, source.meeting_from)
        await graph.write(save_deliveries, [new_delivery(source, delivery, read)])

    async def line(bot: str, text: str, at: float, came: float) -> None:
        more = {"text": text, "isFinal": True, "utteranceStart": at, "utteranceEnd": at + 1.5, "words": []}
        await told("transcript.segment", bot, {**more, "speaker": {"id": 1, "name": "Ana"}}, came)

    async def held(bots: Sequence[str], text: str, zero: float) -> None:
        for bot in bots:
            status = {"code": "in_call_recording", "start_time": BEGAN.timestamp() + zero}
            await told("bot.status_change", bot, {"status": status}, zero + 1.0)
            await line(bot, text, 5.0, zero + 8.0)
        for bot in bots:
            await told("bot.completed", bot, {"duration_seconds": 60}, zero + 60.0)

    async with a_worker(graph, space, tmp_path, **by) as worker:
        await held(["b-1", "b-2"], "This was on Monday morning.", 0.0)
        await all_taken_in(worker, graph, space, num_turns=1)
        await line("b-2", "Nobody else has heard that.", 9.0, 600.0)
        status = {"code": "in_call_recording", "start_time": BEGAN.timestamp() + 8.0}
        await told("bot.status_change", "b-9", {"status": status}, 700.0)  # new, and there while it went on
        await line("b-9", "The third one alone.", 5.0, 701.0)
        await all_taken_in(worker, graph, space, num_turns=3)
    async with a_worker(graph, space, tmp_path, **by) as worker:
        await held(["b-3"], "And this was on Tuesday.", day)
        await all_taken_in(worker, graph, space, num_turns=4)
        await line("b-1", "Of Monday, but too late.", 11.0, day + 100.0)
        await all_taken_in(worker, graph, space)
    assert [row["error"].partition(":")[0] for row in await graph.read(rows, ERRORS, space=space)] == ["of_meeting_before"]
    await graph.write(changes, FORGET_INBOX, space=space)  # as after 72 hours
    async with a_worker(graph, space, tmp_path, **by) as worker:
        await held(["b-4"], "Wednesday it is.", 1.5 * day)
        await all_taken_in(worker, graph, space, num_turns=5)
    found = await turns(graph, space)
    assert [(t["text"], t["start"]) for t in found] == [
        ("This was on Monday morning.", 5.0),
        ("Nobody else has heard that.", 9.0),
        ("The third one alone.", 13.0),
        ("And this was on Tuesday.", 5.0),
        ("Wednesday it is.", 5.0),
    ]
    assert len({t["session"] for t in found[:3]}) == 1 and len({t["session"] for t in found}) == 3
    assert [session["status"] for session in await sessions(graph, space)] == ["complete"] * 3


async def test_a_meeting_that_waits_for_its_sound_is_not_folded_in_vain_and_the_next_in_its_room_waits_with_it(
    graph: Graph, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it is looked: what begins the next meeting is not to blame, and is not dead before the wait is over."""
    here, gone = Tapes(tmp_path / "here"), Tapes(tmp_path / "gone").place
    taken_up: list[str] = []

    async def counted(tx: Tx, id: str, *, first: int, limit: int) -> list[StoredDelivery]:
        taken_up.append(id)
        return await deliveries_of(tx, id, first=first, limit=limit)

    async def nothing() -> Any:
        raise AssertionError("nothing is heard here")

    monkeypatch.setattr(meeting, "deliveries_of", counted)
    listens = Listens(here, nothing, nothing, VoicesConfig())
    work = MeetingWorkConfig(margin=0.0, first_delay=0.0, attempts=2, for_sound=timedelta(seconds=4))
    more: dict[str, Any] = {"work": work, "config": MeetingsConfig(elsewhere=0.02), "provider": "jitsi", "listen": True}
    async with a_worker(graph, space, tmp_path, using=replace(writes_with(graph), listens=listens), **more) as worker:
        for body, at in ((edge("START", 0.0), 0.0), (line("The first.", 5.0, "m1"), 6.0), (edge("END", 60.0), 60.0)):
            await deliver(graph, space, "jitsi", body, at=at)
        await graph.write(changes, SOUND_IN, space=space, place=gone)
        looking = asyncio.create_task(worker.settle(PATIENCE))
        async with asyncio.timeout(PATIENCE):
            while not [one for one in await meetings(graph, space) if one.get("sound_awaited")]:  # noqa: ASYNC110 - it works aside
                await asyncio.sleep(0.05)
        await asyncio.sleep(1.0)
        assert len(taken_up) == 1
        await deliver(graph, space, "jitsi", edge("START", 3000.0), at=3000.0)
        await looking
        await all_taken_in(worker, graph, space)
        assert await inbox(graph, space) == {"done": 4}
        for body, at in ((line("The second.", 3005.0, "m2"), 3006.0), (edge("END", 3060.0), 3060.0)):
            await deliver(graph, space, "jitsi", body, at=at)
        await all_taken_in(worker, graph, space, num_turns=2)
    assert [session.get("sound_lost") for session in await sessions(graph, space)] == [True, None]
