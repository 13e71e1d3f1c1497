"""A recording that is processed again takes the place of what was there of it: who speaks stays who they are, nobody weighs
twice, nobody reads it twice, and nothing of the revision before is left (CASES.md 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.connectors.files import TranscriptDoesNotFit
from service.errors import InvalidInput, NotFound
from service.graph.access import read_scope
from service.graph.driver import Graph, changes, rows
from service.graph.dump import dump_space
from service.graph.paging import Page
from service.graph.receipts import SessionErased
from service.graph.sessions import list_sessions
from service.graph.spaces import save_space
from service.graph.succession import PartlyErased
from service.graph.write_people import name_person
from service.graph.write_sessions import SessionBusy, SessionConflict
from service.pipelines.erase import REVISION, Erase
from service.pipelines.ingest import IngestReport, IngestRequest, NothingHeard
from service.types.audio import SAMPLE_RATE, SpeakerEmbedding, SpeakerEncoder, Waveform
from service.types.erasure import Subject, SubjectKind
from service.types.ids import fresh
from service.types.people import Assurance, SpaceSettings, Viewer
from tests import models
from tests.builders import write_wav
from tests.graph.erase_builders import Household
from tests.graph.ingest_process import an_ingest
from tests.unit.audio.speech import a_clip

CLIPS = [("Nora", 0), ("Ben", 0), ("Nora", 3)]
VIENNA, PARIS = "Europe/Vienna", "Europe/Paris"
"""Of which one makes other content than the other, and nothing else."""
WEIGHTS = """
MATCH (p:Person {space: $space})
RETURN p.id AS id, p.kind AS kind, p.num_turns AS turns, p.net_speech AS seconds, p.voiceprint__campplus AS voice,
       COLLECT { MATCH (p)-[:HAS_EXEMPLAR]->(e:Exemplar) RETURN e.net_speech ORDER BY e.net_speech } AS exemplars
ORDER BY turns, seconds
"""
SPOKEN = """
MATCH (m:Message {space: $space, session_id: $session}) OPTIONAL MATCH (p:Person)-[:SPEAKS]->(m)
RETURN m.start AS start, p.id AS person, m.text AS text ORDER BY m.index
"""
NAMES = """
MATCH (p:Person {space: $space})
RETURN p.display_name AS name,
       COLLECT { MATCH (p)<-[:ABOUT]-(:NameProposal)-[:EVIDENCED_BY]->(m:Message) RETURN m.session_id } AS said
ORDER BY p.id
"""
RECEIPT = "MATCH (r:Receipt {space: $space, subject: $session}) RETURN r.asked_by AS by"
SEEN = "MATCH (m:Message {space: $space})-[:FOR]->(:Audience) RETURN collect(DISTINCT m.session_id) AS sessions"

LONG_AGO = """
MATCH (n:Session|Message {space: $space}) SET n.created_at = n.created_at - duration({minutes: 11})
"""


class Recording:
    """Two people who speak in turn, with a transcript of it, and the parts of it heard before in another room."""

    def __init__(self, graph: Graph, folder: Path) -> None:
        self.graph, self.folder = graph, folder
        pause, parts, cues, at = np.zeros(SAMPLE_RATE // 2, np.float32), [], ["WEBVTT", ""], 0.0
        for number, (who, clip) in enumerate(CLIPS):
            said = a_clip(who, clip, seconds=2.5).samples
            cues += [f"{_time(at)} --> {_time(at + len(said) / SAMPLE_RATE)}", f"<v {who}>It is number {number}", ""]
            parts += [said, pause]
            at += len(said) / SAMPLE_RATE + 0.5
        self.path = write_wav(folder / "kitchen.wav", np.concatenate(parts))
        self.transcript = folder / "kitchen.vtt"
        self.transcript.write_text("\n".join(cues))
        self.before = write_wav(folder / "before.wav", a_clip("Nora", 5, seconds=2.5).samples)

    def eraser(self, graph: Graph, space: str) -> Erase:
        return Household(graph, space, self.folder, "", "", "").eraser()

    async def ingest(
        self,
        space: str,
        *,
        worded: bool = False,
        erase: Erase | None = None,
        encoder: SpeakerEncoder | None = None,
        **given: Any,
    ) -> IngestReport:
        remember = an_ingest(self.graph, batch=2, erase=erase or self.eraser(self.graph, space), encoder=encoder)
        return await remember(IngestRequest(self.path, space, transcript=self.transcript if worded else None, **given))

    async def weights(self, space: str) -> list[dict[str, Any]]:
        return await self.graph.read(rows, WEIGHTS, space=space)

    async def people(self, space: str) -> dict[str, tuple[int, list[float]]]:
        """Person → turns, and seconds of each piece of voice."""
        return {row["id"]: (row["turns"], row["exemplars"]) for row in await self.weights(space)}

    async def spoken(self, space: str, session: str) -> list[dict[str, Any]]:
        return await self.graph.read(rows, SPOKEN, space=space, session=session)

    async def seen(self, space: str) -> list[str]:
        (row,) = await self.graph.read(rows, SEEN, space=space)
        return sorted(row["sessions"])


def _time(seconds: float) -> str:
    return f"00:{int(seconds // 60):02}:{seconds % 60:06.3f}"


@pytest.fixture
def recording(graph: Graph, tmp_path: Path) -> Recording:
    return Recording(graph, tmp_path)


async def test_a_revision_takes_the_place_of_the_one_before_and_everybody_weighs_as_after_one_ingest(
    recording: Recording, graph: Graph, space: str
) -> None:
    once = f"test-{fresh()}"
    await graph.write(save_space, SpaceSettings(once))
    for each in (space, once):
        await an_ingest(graph)(IngestRequest(recording.before, each))
    first = await recording.ingest(space)
    heard = await recording.spoken(space, first.session_id)
    ben = next(row["person"] for row in heard if row["person"] != heard[0]["person"])
    await graph.write(name_person, space, ben, "Benjamin", by="admin")
    people = {row["id"] for row in await recording.weights(space)}
    again = await recording.ingest(space, worded=True, again=True)
    assert (again.revision, again.already_complete, again.people_created, again.people_linked) == (2, False, 0, 2)
    assert again.session_id != first.session_id and await recording.seen(space) == sorted(
        {again.session_id} | {row["session_id"] for row in await _sessions(graph, space)}
    )
    await recording.ingest(once, worded=True)
    now, alone = await recording.weights(space), await recording.weights(once)
    assert {row["id"] for row in now} == people
    for one, other in zip(now, alone, strict=True):
        assert one["turns"] == other["turns"] and one["seconds"] == pytest.approx(other["seconds"])
        assert one["exemplars"] == pytest.approx(other["exemplars"]) and len(one["exemplars"]) >= 1
        assert np.dot(one["voice"], other["voice"]) == pytest.approx(1.0, abs=1e-6)
    said = await recording.spoken(space, again.session_id)
    assert [row["text"] for row in said] == [f"It is number {number}" for number in range(3)]
    assert {row["person"] for row in said} == {row["person"] for row in heard if row["person"]}
    dump = await graph.read(dump_space, space)
    kept = ("AuditEvent", "Erasure", "Receipt", "Event")
    left = [node for node in dump["nodes"] if first.session_id in str(node) and not set(node["labels"]) & set(kept)]
    assert not left and not await recording.spoken(space, first.session_id)


async def _sessions(graph: Graph, space: str) -> list[dict[str, Any]]:
    found = "MATCH (s:Session {space: $space}) RETURN s.id AS session_id, s.status AS status, s.revision AS revision"
    return await graph.read(rows, found, space=space)


async def test_after_a_revision_it_is_known_the_one_before_refused_without_its_id_too_and_a_third_takes_its_place(
    recording: Recording, graph: Graph, space: str
) -> None:
    deliver = partial(recording.ingest, space, worded=True, session_id=f"{space}-kitchen")
    first = await deliver()
    without_id = partial(recording.ingest, space, worded=True, zone=PARIS, again=True)
    with pytest.raises(SessionConflict, match="`again`"):
        await deliver(zone=VIENNA)
    with pytest.raises(SessionConflict, match=rf"it is session {first.session_id}\). Give the id that it has"):
        await without_id()
    same = await deliver(again=True)
    assert (same.session_id, same.already_complete, same.revision) == (first.session_id, True, 1)
    second = await deliver(zone=VIENNA, again=True)
    before = await graph.read(dump_space, space)
    for again in (False, True):
        known = await deliver(zone=VIENNA, again=again)
        assert (known.session_id, known.already_complete, known.revision) == (second.session_id, True, 2)
    with pytest.raises(SessionConflict, match=rf"it is revision 2, session {second.session_id}"):
        await deliver()
    with pytest.raises(SessionConflict, match=rf"it is session {second.session_id}\)"):
        await without_id()
    assert await graph.read(dump_space, space) == before
    people = await recording.people(space)
    third = await deliver(again=True)
    assert third.revision == 3 and third.session_id != first.session_id
    assert await recording.people(space) == people and await recording.seen(space) == [third.session_id]


class Newer:
    """Another version of the model of voices: whose voice it knows, it knows from nothing before."""

    embedding_space = replace(models.campplus().embedding_space, version="newer")

    def __call__(self, waveforms: Sequence[Waveform]) -> list[SpeakerEmbedding]:
        return [replace(heard, space=self.embedding_space) for heard in models.campplus()(waveforms)]


async def test_by_another_model_of_voices_everybody_is_who_they_were_and_has_the_name_that_they_gave(
    recording: Recording, graph: Graph, space: str
) -> None:
    recording.transcript.write_text(recording.transcript.read_text().replace("It is number 0", "Hello, my name is Nora."))
    first = await recording.ingest(space, worded=True)
    people, heard = await recording.people(space), await recording.spoken(space, first.session_id)
    names = await graph.read(rows, NAMES, space=space)
    again = await recording.ingest(space, worded=True, encoder=Newer(), again=True)
    assert again.revision == 2 and await recording.people(space) == people
    assert await recording.spoken(space, again.session_id) == heard
    assert await graph.read(rows, "MATCH (e:Exemplar {space: $space}) RETURN DISTINCT e.encoder_version AS v", space=space) == [
        {"v": "newer"}
    ]
    after = await graph.read(rows, NAMES, space=space)
    assert {row["name"] for row in names} == {"Nora", None} and [row["name"] for row in after] == [row["name"] for row in names]
    assert {session for row in after for session in row["said"]} == {again.session_id}


class Cut(Exception):
    """Stands for whatever ends a run in the middle."""


async def cut(step: Callable[..., Awaitable[Any]], *given: Any, after: bool) -> Any:
    if after:
        await step(*given)
    raise Cut


async def test_broken_off_anywhere_the_same_request_goes_on_and_nobody_sees_both(
    recording: Recording, graph: Graph, space: str
) -> None:
    before = (await recording.ingest(space, worded=True)).session_id
    people = await recording.people(space)

    def cut_heard(share: float, stage: str) -> None:
        if stage == "hear":
            raise Cut

    for number, (at, after, sees) in enumerate(
        [
            ("", False, "old"),
            ("supersede", False, "old"),
            ("supersede", True, ""),
            ("finish", False, "new"),
            ("finish", True, "new"),
        ]
    ):
        erase = recording.eraser(graph, space)
        if at:
            setattr(erase, at, partial(cut, getattr(erase, at), after=after))
        request = IngestRequest(recording.path, space, transcript=recording.transcript, zone=f"Etc/GMT-{number}", again=True)
        with pytest.raises(Cut):
            await an_ingest(graph, batch=2, erase=erase)(request, (lambda share, stage: None) if at else cut_heard)
        seen = await recording.seen(space)
        assert len(seen) == bool(sees) and (before in seen) == (sees == "old"), at
        report = await an_ingest(graph, batch=2, erase=recording.eraser(graph, space))(request)
        assert report.revision == number + 2 and await recording.seen(space) == [report.session_id]
        assert await recording.people(space) == people, at
        (kept,) = await graph.read(rows, "MATCH (s:Session {space: $space}) RETURN s {.*} AS s", space=space)
        assert kept["s"]["status"] == "complete" and "replaces" not in kept["s"] and "checkpoint" not in kept["s"]
        (receipt,) = await graph.read(rows, RECEIPT, space=space, session=before)
        assert receipt["by"] == REVISION
        before = report.session_id
    known = await an_ingest(graph)(replace(request, again=False))
    assert known.already_complete and known.session_id == before


async def test_nobody_reads_both_and_a_policy_that_came_later_opens_nothing(
    recording: Recording, graph: Graph, space: str
) -> None:
    first = await recording.ingest(space, worded=True)
    await graph.write(changes, "MATCH (s:Space {id: $space}) SET s.access = 'shared'", space=space)
    erase = recording.eraser(graph, space)
    seen: list[tuple[str, ...]] = []
    everything = Viewer(space, None, None, (), False, Assurance.TOKEN, True)

    async def look() -> None:
        scope = await graph.read(read_scope, everything)
        found = (await graph.read(partial(list_sessions, page=Page(first=10)), scope)).items
        seen.append(tuple(one.id for one in found if one.num_messages))

    async def watched(step: Callable[..., Awaitable[Any]], *given: Any) -> Any:
        await look()
        done = await step(*given)
        await look()
        return done

    for step in ("supersede", "finish"):
        setattr(erase, step, partial(watched, getattr(erase, step)))
    again = await recording.ingest(space, worded=True, zone=VIENNA, again=True, erase=erase)
    assert seen == [(first.session_id,), (), (again.session_id,), (again.session_id,)]
    (kept,) = await graph.read(rows, "MATCH (s:Session {space: $space}) RETURN s.access AS access", space=space)
    assert kept["access"] == SpaceSettings(space).access


async def test_what_was_erased_whole_or_in_part_is_not_brought_back(recording: Recording, graph: Graph, space: str) -> None:
    first = await recording.ingest(space, worded=True)
    erase = recording.eraser(graph, space)
    (message, *_) = await graph.read(rows, "MATCH (m:Message {space: $space}) RETURN m.id AS id ORDER BY m.index", space=space)
    await erase(space, Subject(SubjectKind.MESSAGE, message["id"]), asked_by="admin")
    before = await graph.read(dump_space, space)
    with pytest.raises(PartlyErased):
        await recording.ingest(space, worded=True, zone=VIENNA, again=True)
    assert await graph.read(dump_space, space) == before
    await erase(space, Subject(SubjectKind.SESSION, first.session_id), asked_by="admin")
    for again in (True, False):
        with pytest.raises(SessionErased):
            await recording.ingest(space, worded=True, zone=VIENNA, again=again)
    assert await recording.seen(space) == []


@pytest.mark.parametrize("kind", [SubjectKind.SESSION, SubjectKind.PERSON])
async def test_what_is_erased_while_a_revision_is_written_takes_that_with_it(
    recording: Recording, graph: Graph, space: str, kind: SubjectKind
) -> None:
    first = await recording.ingest(space, worded=True)
    erase, somebody = recording.eraser(graph, space), min(await recording.people(space))
    subject = Subject(kind, first.session_id if kind is SubjectKind.SESSION else somebody)

    async def erased(*given: Any) -> Any:
        assert (await erase(space, subject, asked_by="admin")).complete
        return await Erase.supersede(erase, *given)

    beside = recording.eraser(graph, space)
    setattr(beside, "supersede", erased)  # noqa: B010 - as it is erased by somebody else in between
    with pytest.raises(NotFound):
        await recording.ingest(space, worded=True, zone=VIENNA, again=True, erase=beside)
    left = [] if kind is SubjectKind.SESSION else [first.session_id]
    assert [row["session_id"] for row in await _sessions(graph, space)] == left == await recording.seen(space)
    with pytest.raises(SessionErased if kind is SubjectKind.SESSION else PartlyErased):
        await recording.ingest(space, worded=True, zone=PARIS, again=True)


async def test_a_revision_that_nobody_goes_on_with_stands_in_no_others_way(
    recording: Recording, graph: Graph, space: str
) -> None:
    await recording.ingest(space, worded=True)
    people = await recording.people(space)
    for number, after in enumerate((False, True)):
        erase = recording.eraser(graph, space)
        setattr(erase, "supersede", partial(cut, erase.supersede, after=after))  # noqa: B010 - killed there
        with pytest.raises(Cut):
            await recording.ingest(space, worded=True, zone=VIENNA, again=True, erase=erase)
        other = partial(recording.ingest, space, worded=True, zone=f"Etc/GMT-{number}", again=True)
        with pytest.raises(SessionBusy):
            await other()
        (begun,) = (row["session_id"] for row in await _sessions(graph, space) if row["status"] == "open")
        given = IngestRequest(recording.path, space, session_id=begun, transcript=recording.transcript, zone=VIENNA)
        with pytest.raises(InvalidInput, match="erase"):  # else it was closed beside what it replaces
            await an_ingest(graph)(given)
        await graph.write(changes, LONG_AGO, space=space)
        report = await other()
        assert await recording.seen(space) == [report.session_id] and await recording.people(space) == people
        assert [row["session_id"] for row in await _sessions(graph, space)] == [report.session_id]


async def test_a_revision_in_which_nobody_is_heard_takes_nobodys_place(
    recording: Recording, graph: Graph, space: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await recording.ingest(space, worded=True)
    before = await recording.spoken(space, first.session_id)
    monkeypatch.setattr("service.pipelines.ingest.heard_turns", lambda *given: iter(()))
    for _ in range(2):
        with pytest.raises(NothingHeard, match=f"session {first.session_id} has 3 turns"):
            await recording.ingest(space, worded=True, zone=VIENNA, again=True)
        assert await recording.spoken(space, first.session_id) == before and await recording.seen(space) == [first.session_id]


async def test_a_revision_that_fails_leaves_what_is_there_and_goes_with_it_when_another_takes_its_place(
    recording: Recording, graph: Graph, space: str
) -> None:
    first, good = await recording.ingest(space, worded=True), recording.transcript
    recording.transcript = recording.folder / "late.vtt"
    recording.transcript.write_text("WEBVTT\n\n00:10:00.000 --> 00:10:03.000\n<v Nora>Nobody hears this.\n")
    with pytest.raises(TranscriptDoesNotFit):
        await recording.ingest(space, worded=True, again=True)
    assert await recording.seen(space) == [first.session_id]
    recording.transcript = good
    again = await recording.ingest(space, worded=True, zone=VIENNA, again=True)
    assert [row["session_id"] for row in await _sessions(graph, space)] == [again.session_id] == await recording.seen(space)


async def test_two_at_once_make_one_revision(recording: Recording, graph: Graph, space: str) -> None:
    await recording.ingest(space, worded=True)
    people = await recording.people(space)
    both = [recording.ingest(space, worded=True, zone=VIENNA, again=True) for _ in range(2)]
    ended = await asyncio.gather(*both, return_exceptions=True)
    done = [one for one in ended if isinstance(one, IngestReport)]
    assert all(isinstance(one, SessionBusy | IngestReport) for one in ended) and done, ended
    assert await recording.seen(space) == [done[0].session_id]
    assert await recording.people(space) == people


async def test_a_transcript_alone_is_replaced_too(graph: Graph, space: str, tmp_path: Path) -> None:
    recording = Recording(graph, tmp_path)
    remember = an_ingest(graph, erase=recording.eraser(graph, space))
    request = IngestRequest(recording.transcript, space)
    first = await remember(request)
    again = await remember(replace(request, zone="Europe/Vienna", again=True))
    assert again.revision == 2 and await recording.seen(space) == [again.session_id] != [first.session_id]
    with pytest.raises(SessionConflict):
        await remember(IngestRequest(recording.path, space, transcript=recording.transcript))
