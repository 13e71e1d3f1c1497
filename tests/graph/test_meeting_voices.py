"""Who speaks in a meeting whose backend sends its sound: heard once it is over, and then the sound is gone."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from service.audio import decode
from service.graph.access import read_scope
from service.graph.deliveries import meeting_id, save_meetings
from service.graph.driver import Graph, rows
from service.graph.opt_outs import leave_account_marks
from service.graph.sessions import get_session
from service.graph.spaces import ensure_space
from service.graph.write_people import save_person
from service.identity.opt_outs import Marker
from service.identity.router import RouterConfig
from service.identity.thresholds import thresholds_for
from service.pipelines.accounts import Accounts
from service.pipelines.afterwards import Afterwards
from service.pipelines.consents import record_consent
from service.pipelines.gallery import GalleryReader
from service.pipelines.ingest import Ingest
from service.pipelines.meeting import MeetingWorkConfig
from service.pipelines.meeting import log as meeting_log
from service.pipelines.meeting_session import MeetingSessionConfig, WritesWith
from service.pipelines.meeting_tapes import Tapes
from service.pipelines.meeting_voices import Ears, Listens, VoicesConfig
from service.pipelines.meetings import MeetingsConfig
from service.types.audio import SAMPLE_RATE, Samples
from service.types.meeting import AccountKey, AudioEncoding, Heard, SoundFrom, Speaker
from service.types.people import Assurance, Consent, ConsentPurpose, SpaceSettings, Viewer
from tests import models
from tests.graph.meeting_builders import (
    ANA,
    BEGAN,
    BO,
    SOURCE,
    a_worker,
    began,
    deliver,
    delivery,
    ended,
    joined,
    meetings,
    said,
    sessions,
    turns,
    with_login,
)
from tests.warned import warned

PATIENCE = 60.0
FRAME = SAMPLE_RATE // 10


KEPT_VOICES = """
MATCH (e:Exemplar {space: $space})
MATCH (m:Message {id: e.message_id})
RETURN m.text AS text
"""
COUNTS = """
MATCH (p:Person {space: $space}) WHERE p.num_turns > 0
RETURN p.id AS id, p.num_turns AS turns, p.net_speech AS net_speech
ORDER BY id
"""
SPEAKERS = """
MATCH (m:Message {space: $space})
RETURN m.id AS id, COUNT { (m)<-[:SPEAKS]-() } AS speakers
"""
IDENTITIES = """
MATCH (l:LocalSpeaker {space: $space})
RETURN l.id AS id, COUNT { (l)-[:IS]->() } AS n
"""


def lines() -> list[tuple[Speaker, float, float]]:
    """Who speaks when in the sample: of each of the two, what is long enough to tell them apart by."""
    rttm = [line.split() for line in models.ami_sample().with_suffix(".rttm").read_text().splitlines() if line]
    who = {label: (ANA, BO)[n] for n, label in enumerate(dict.fromkeys(fields[7] for fields in rttm))}
    found = [(who[fields[7]], float(fields[3]), float(fields[3]) + float(fields[4])) for fields in rttm]
    return [line for line in found if line[2] - line[1] >= 1.0]


def sample() -> Samples:
    return np.concatenate([block.samples for block in decode.blocks(models.ami_sample(), seconds=30.0)])


def frames(samples: Samples, speaker: Speaker | None = None, encoding: AudioEncoding = AudioEncoding.S16) -> list[Heard]:
    kind = "<f4" if encoding is AudioEncoding.F32 else "<i2"
    scaled = samples if encoding is AudioEncoding.F32 else samples * 32767
    return [
        Heard(
            key="",
            data=scaled[at : at + FRAME].astype(kind).tobytes(),
            encoding=encoding,
            sample_rate=SAMPLE_RATE,
            speaker=speaker,
            start=BEGAN.timestamp() + at / SAMPLE_RATE,
        )
        for at in range(0, len(samples), FRAME)
    ]


def origin(space: str, connection: str = "c1") -> SoundFrom:
    return SoundFrom(space, SOURCE, meeting_id(space, SOURCE, "m1"), connection)


async def send(tapes: Tapes, space: str, pieces: Sequence[Heard], connection: str = "c1") -> None:
    for n, piece in enumerate(pieces):
        await tapes.hear(origin(space, connection), [piece], BEGAN + timedelta(seconds=(n + 1) * FRAME / SAMPLE_RATE))


def listens_with(graph: Graph, tapes: Tapes, *, batch: int = 64, marker: Marker | None = None) -> WritesWith:
    """Who is there may read at once, while the meeting goes on."""
    encoder = models.campplus()
    gallery, router = GalleryReader(graph, encoder.embedding_space), RouterConfig(thresholds=thresholds_for("campplus"))

    async def ears() -> Ears:
        return Ears(await asyncio.to_thread(models.segmenter), encoder)

    async def ingest() -> Ingest:
        return Ingest(graph, await asyncio.to_thread(models.segmenter), encoder, router=router, gallery=gallery)

    async def afterwards() -> Afterwards:
        return Afterwards(graph)

    listens = Listens(tapes, ears, ingest, VoicesConfig(batch), marker=lambda: marker)
    session = MeetingSessionConfig(read_every=0.0)
    return WritesWith(graph, gallery, router, encoder.embedding_space, None, afterwards, listens, session)


async def tell(graph: Graph, space: str) -> None:
    await deliver(graph, space, began(title="Weekly"), joined(ANA), joined(BO))
    for n, (who, start, end) in enumerate(lines()):
        await deliver(graph, space, said(who, f"Line {n}.", start, end), at=end)
    await deliver(graph, space, ended(), at=60.0)


async def test_who_speaks_is_heard_in_the_mixed_sound_and_the_sound_is_gone(graph: Graph, space: str, tmp_path: Path) -> None:
    tapes = Tapes(tmp_path / "meetings")
    await send(tapes, space, frames(sample()))
    await tell(graph, space)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    found = await turns(graph, space)
    assert [(t["text"], round(t["start"], 3)) for t in found] == [
        (f"Line {n}.", round(start, 3)) for n, (_, start, _) in enumerate(lines())
    ]
    people = {(t["label"], t["person"]) for t in found if t["person"]}
    assert {label for label, _ in people} == {"Ana Ruiz", "Bo"} and len(people) == len({person for _, person in people}) == 2
    assert not list((tmp_path / "meetings").rglob("*.*"))
    (session,) = await sessions(graph, space)
    assert session["status"] == "complete"


HEARD = """
MATCH (m:Message {space: $space})
RETURN m.text AS text, m {.net_speech, .snr_db, .level_dbfs, .bandwidth_hz, .overlapped, .channel, .speaker_id} AS heard
ORDER BY m.index
"""


async def test_what_was_heard_of_a_turn_stays_when_its_text_is_put_right_later(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    tapes = Tapes(tmp_path / "meetings")
    await send(tapes, space, frames(sample()))
    await tell(graph, space)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
        before, counted = await graph.read(rows, HEARD, space=space), await graph.read(rows, COUNTS, space=space)
        assert counted and all(row["heard"]["net_speech"] > 0 for row in before if row["heard"]["speaker_id"])
        who, start, end = lines()[0]
        await deliver(graph, space, said(who, "Line 0, put right.", start, end), at=70.0)
        await worker.settle(PATIENCE)
    after = await graph.read(rows, HEARD, space=space)
    assert after[0]["text"] == "Line 0, put right."
    assert [row["heard"] for row in after] == [row["heard"] for row in before]
    assert await graph.read(rows, COUNTS, space=space) == counted


async def test_each_is_heard_in_their_own_stream(graph: Graph, space: str, tmp_path: Path) -> None:
    whole, tapes = sample(), Tapes(tmp_path / "meetings")
    for who in (ANA, BO):
        own = np.zeros_like(whole)
        for speaker, start, end in lines():
            part = slice(round(start * SAMPLE_RATE), round(end * SAMPLE_RATE))
            if speaker is who:
                own[part] = whole[part]
        await send(tapes, space, frames(own, who, AudioEncoding.F32))
    await tell(graph, space)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    people = {(t["label"], t["person"]) for t in await turns(graph, space) if t["person"]}
    assert {label for label, _ in people} == {"Ana Ruiz", "Bo"} and len(people) == len({person for _, person in people}) == 2


async def test_where_the_source_is_not_listened_to_nobody_is_heard(graph: Graph, space: str, tmp_path: Path) -> None:
    tapes = Tapes(tmp_path / "meetings")
    await send(tapes, space, frames(sample()[: 5 * SAMPLE_RATE]))
    await tell(graph, space)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes)) as worker:
        await worker.settle(PATIENCE)
    assert {(t["person"], t["reason"]) for t in await turns(graph, space)} == {(None, "no_sound")}
    (meeting,) = await meetings(graph, space)
    assert meeting["status"] == "closed"


async def test_case_32_a_bots_voice_is_nobodys_and_is_learned_from_by_nobody(graph: Graph, space: str, tmp_path: Path) -> None:
    tapes, bot = Tapes(tmp_path / "meetings"), replace(BO, is_bot=True)
    await send(tapes, space, frames(sample()))
    await deliver(graph, space, began(title="Weekly"), joined(ANA), joined(bot))
    for n, (who, start, end) in enumerate(lines()):
        await deliver(graph, space, said(bot if who is BO else who, f"Line {n}.", start, end), at=end)
    await deliver(graph, space, ended(), at=60.0)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    found = await turns(graph, space)
    assert {t["reason"] for t in found if t["label"] == "Bo"} == {"bot"}
    assert {t["label"] for t in found if t["person"]} == {"Ana Ruiz"}


async def test_voices_at_one_device_are_told_apart(graph: Graph, space: str, tmp_path: Path) -> None:
    tapes, room = Tapes(tmp_path / "meetings"), Speaker("r", name="Board room", is_room=True)
    await send(tapes, space, frames(sample(), room))
    await deliver(graph, space, began(title="Weekly"), joined(room))
    for n, (_, start, end) in enumerate(lines()):
        await deliver(graph, space, said(room, f"Line {n}.", start, end), at=end)
    await deliver(graph, space, ended(), at=60.0)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    people = {(t["person"], who.name) for t, (who, *_) in zip(await turns(graph, space), lines(), strict=True) if t["person"]}
    assert len({name for _, name in people}) == len({person for person, _ in people}) == len(people) == 2


async def test_a_meeting_of_which_only_sound_came_is_a_recording(graph: Graph, space: str, tmp_path: Path) -> None:
    tapes = Tapes(tmp_path / "meetings")
    await send(tapes, space, frames(sample()))
    await deliver(graph, space, began(title="Weekly"), ended())
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    (session,) = await sessions(graph, space)
    assert (session["status"], session["title"], session["source"]) == ("complete", "Weekly", "live:generic")
    assert session["started_at"] == BEGAN
    assert len({t["person"] for t in await turns(graph, space) if t["person"]}) == 2
    assert not list((tmp_path / "meetings").rglob("*.*"))


async def test_a_meeting_of_which_nothing_was_ever_told_is_a_recording_once_it_is_silent(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    tapes = Tapes(tmp_path / "meetings")
    await send(tapes, space, frames(sample()))
    await graph.write(ensure_space, SpaceSettings(space))
    await graph.write(save_meetings, [delivery(space)])
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    (session,) = await sessions(graph, space)
    assert abs((session["started_at"] - BEGAN).total_seconds()) < 0.2
    assert len({t["person"] for t in await turns(graph, space) if t["person"]}) == 2


async def test_broken_off_while_it_is_heard_a_meeting_ends_as_if_it_were_not(graph: Graph, space: str, tmp_path: Path) -> None:
    tapes = Tapes(tmp_path / "meetings")
    await send(tapes, space, frames(sample()))
    await tell(graph, space)
    using = listens_with(graph, tapes, batch=1)
    async with a_worker(graph, space, tmp_path, using=using, listen=True) as worker:
        working = asyncio.create_task(worker.settle(PATIENCE))
        while not (heard := [t for t in await turns(graph, space) if t["reason"] != "no_sound"]):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        working.cancel()
    assert len(heard) < len(lines())
    assert list((tmp_path / "meetings").rglob("*.tape"))
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    found = await turns(graph, space)
    people = {(t["label"], t["person"]) for t in found if t["person"]}
    assert len(people) == len({label for label, _ in people}) == 2
    assert len(found) == len({t["index"] for t in found}) == len(lines())
    counts = {row["id"]: row["turns"] for row in await graph.read(rows, COUNTS, space=space)}
    assert counts == Counter(t["person"] for t in found if t["person"])
    assert not list((tmp_path / "meetings").rglob("*.tape"))


async def test_while_one_meeting_is_heard_others_are_taken_in(graph: Graph, space: str, tmp_path: Path) -> None:
    tapes = Tapes(tmp_path / "meetings")
    await send(tapes, space, frames(sample()))
    await tell(graph, space)
    using = listens_with(graph, tapes)
    assert using.listens is not None
    await using.listens.one.acquire()  # another is being heard for long
    config = MeetingsConfig(at_once=1)
    async with a_worker(graph, space, tmp_path, using=using, config=config, listen=True) as worker:
        working = asyncio.create_task(worker.settle(PATIENCE))
        while (await sessions(graph, space)) == []:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await deliver(graph, space, began(), said(ANA, "Meanwhile.", 1.0), ended(), meeting="m2")
        other = asyncio.create_task(worker.settle(PATIENCE))
        async with asyncio.timeout(PATIENCE):
            while [s["status"] for s in await sessions(graph, space)].count("complete") < 1:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        using.listens.one.release()
        await asyncio.gather(working, other)
    assert [s["status"] for s in await sessions(graph, space)] == ["complete"] * 2


async def test_what_a_login_said_while_the_meeting_went_on_a_voice_decides_at_its_end(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    tapes, ana = Tapes(tmp_path / "meetings"), with_login(ANA, "u-1")
    await graph.write(ensure_space, SpaceSettings(space))
    owner = "person of " + space
    await graph.write(save_person, space, owner, "Ana")
    await Accounts(graph, None).bind(space, AccountKey("zoom", "u-1"), owner, actor="owner", why="test")
    await send(tapes, space, frames(sample()))
    await deliver(graph, space, began(title="Weekly"), joined(ana), joined(BO))
    for n, (who, start, end) in enumerate(lines()):
        await deliver(graph, space, said(ana if who is ANA else who, f"Line {n}.", start, end), at=end)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True, idle_minutes=1_000.0) as worker:
        await worker.settle(PATIENCE)
        assert {t["person"] for t in await turns(graph, space)} == {owner, None}
    await deliver(graph, space, ended(), at=60.0)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    found = await turns(graph, space)
    heard = {t["person"] for t in found if t["label"] == "Ana Ruiz" and t["reason"] is None}
    assert len(heard) == 1 and owner not in heard  # nobody's voice that was known: proposed to be hers, not learned as hers
    speakers = await graph.read(rows, SPEAKERS, space=space)
    assert all(row["speakers"] <= 1 for row in speakers)
    assert all(row["n"] <= 1 for row in await graph.read(rows, IDENTITIES, space=space))


async def test_who_refuses_while_the_meeting_goes_on_is_not_listened_to_at_its_end(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    """What comes late was said before they did: it obeys, too. The other is heard as ever."""
    tapes = Tapes(tmp_path / "meetings")
    ana = f"{space}/ana"
    await graph.write(ensure_space, SpaceSettings(space))
    await graph.write(save_person, space, ana, "Ana")
    await Accounts(graph, None).bind(space, AccountKey("zoom", "u-1"), ana, actor="owner", why="test")
    her, he = with_login(ANA, "u-1"), with_login(BO, "u-2")
    await send(tapes, space, frames(sample()))
    await deliver(graph, space, began(title="Weekly"), joined(her), joined(he))
    told = [(her if who is ANA else he, n, start, end) for n, (who, start, end) in enumerate(lines())]
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True, idle_minutes=1_000.0) as worker:
        for who, n, start, end in told[:2]:
            await deliver(graph, space, said(who, f"Line {n}.", start, end), at=end)
        await worker.settle(PATIENCE)
        await record_consent(
            graph, space=space, person_id=ana, state=Consent.WITHDRAWN, text_version="1", channel="spoken",
            purpose=ConsentPurpose.ATTRIBUTE,
        )  # fmt: skip
        for who, n, start, end in told[2:]:
            await deliver(graph, space, said(who, f"Line {n}.", start, end), at=end)
        await worker.settle(PATIENCE)
    await deliver(graph, space, ended(), at=60.0)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, tapes), listen=True) as worker:
        await worker.settle(PATIENCE)
    (session,) = await sessions(graph, space)
    assert session["status"] == "complete"
    hers = {f"Line {n}." for who, n, _, _ in told if who is her}
    found = await turns(graph, space)
    assert {turn["text"] for turn in found if turn["person"] == ana} == hers, "by her login, and no voice had a part in it"
    kept = await graph.read(rows, KEPT_VOICES, space=space)
    assert kept and not {row["text"] for row in kept} & hers


async def test_with_the_login_of_who_opted_out_and_was_erased_nobody_is_listened_to(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    """Whatever their voice is like: nothing of it is known any more."""
    tapes, marker = Tapes(tmp_path / "meetings"), Marker(bytes(32))
    await graph.write(ensure_space, SpaceSettings(space))
    await graph.write(leave_account_marks, space, [marker.account(space, "zoom", "u-1")], marker.id)  # as an erasure does
    her = with_login(ANA, "u-1")
    await send(tapes, space, frames(sample()))
    await deliver(graph, space, began(title="Weekly"), joined(her), joined(BO))
    told = [(her if who is ANA else BO, n, start, end) for n, (who, start, end) in enumerate(lines())]
    for who, n, start, end in told:
        await deliver(graph, space, said(who, f"Line {n}.", start, end), at=end)
    await deliver(graph, space, ended(), at=60.0)
    using = listens_with(graph, tapes, marker=marker)
    async with a_worker(graph, space, tmp_path, using=using, listen=True) as worker:
        await worker.settle(PATIENCE)
    hers = {f"Line {n}." for who, n, _, _ in told if who is her}
    found = await turns(graph, space)
    assert {(turn["person"], turn["reason"]) for turn in found if turn["text"] in hers} == {(None, "no_sound")}
    assert any(turn["person"] for turn in found)
    kept = await graph.read(rows, KEPT_VOICES, space=space)
    assert kept and not {row["text"] for row in kept} & hers


async def test_a_meeting_whose_sound_lies_elsewhere_is_left_to_who_has_it(graph: Graph, space: str, tmp_path: Path) -> None:
    here, there = Tapes(tmp_path / "here"), Tapes(tmp_path / "there")
    await send(there, space, frames(sample()))
    await tell(graph, space)
    noted = delivery(space, ended())
    await graph.write(save_meetings, [noted], sound_in=there.place)
    quick = MeetingsConfig(elsewhere=0.2)
    async with a_worker(graph, space, tmp_path, using=listens_with(graph, here), config=quick, listen=True) as without:
        looking = asyncio.create_task(without.settle(PATIENCE))
        while not [one for one in await meetings(graph, space) if one.get("sound_awaited")]:  # noqa: ASYNC110 - it works aside
            await asyncio.sleep(0.05)
        assert [one["status"] for one in await sessions(graph, space)] == ["open"]
        async with a_worker(graph, space, tmp_path, using=listens_with(graph, there), config=quick, listen=True) as having:
            await asyncio.gather(having.settle(PATIENCE), looking)
    (session,), (meeting,) = await sessions(graph, space), await meetings(graph, space)
    assert (session["status"], session.get("sound_lost"), meeting["status"]) == ("complete", None, "closed")
    assert {t["label"] for t in await turns(graph, space) if t["person"]} == {"Ana Ruiz", "Bo"}
    assert not {"sound_in", "sound_awaited", "sound_lost"} & {name for name, value in meeting.items() if value is not None}


async def test_sound_that_nobody_brings_is_said_to_be_lost(graph: Graph, space: str, tmp_path: Path) -> None:
    here, gone = Tapes(tmp_path / "here"), Tapes(tmp_path / "gone").place
    await tell(graph, space)
    await graph.write(save_meetings, [delivery(space, ended())], sound_in=gone)
    quick = MeetingsConfig(elsewhere=0.05)
    work = MeetingWorkConfig(margin=0.0, for_sound=timedelta(seconds=1))
    using = listens_with(graph, here)
    with warned(meeting_log.name) as warnings:
        async with a_worker(graph, space, tmp_path, using=using, config=quick, work=work, listen=True) as worker:
            await worker.settle(PATIENCE)
    (session,), (meeting,) = await sessions(graph, space), await meetings(graph, space)
    assert (session["status"], session["sound_lost"], meeting["status"]) == ("complete", True, "closed")
    everything = Viewer(space, None, None, (), False, Assurance.TOKEN, reads_all=True)
    shown = await graph.read(get_session, await graph.read(read_scope, everything), session["id"])
    assert shown.sound_lost and meeting["sound_lost"] is not None
    assert [turn["text"] for turn in await turns(graph, space)] == [f"Line {n}." for n in range(len(lines()))]
    (told,) = [words for words in warnings if "without the sound" in words]
    assert meeting["id"] in told and gone in told
