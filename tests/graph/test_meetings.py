"""What a meeting's backend delivers is in its session once, while the meeting goes on, and put right when more is known."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import DatabaseError, Neo4jError

from service.connectors.live import EventUnreadable
from service.connectors.live.sources import Sources, SourcesUnreadable
from service.graph.access import read_scope
from service.graph.deliveries import meeting_id, save_deliveries
from service.graph.driver import Graph, changes, rows
from service.graph.dump import Dump, dump_space, without_history
from service.graph.forget_space import forget_space
from service.graph.inbox import list_unknown
from service.graph.meetings import lease_meetings
from service.graph.paging import Page
from service.graph.spaces import ensure_space
from service.graph.write_meetings import save_changes
from service.pipelines import meeting, meeting_session
from service.pipelines.afterwards import Afterwards
from service.pipelines.blame import is_its_own
from service.pipelines.facts import RememberFacts
from service.pipelines.meetings import Meetings, MeetingsConfig
from service.types.audio import Samples
from service.types.meeting import Renamed, Speaker, Withdrawn
from service.types.people import Assurance, SpaceSettings, Viewer
from tests.graph.graph_builders import HashedWords
from tests.graph.meeting_builders import (
    ANA,
    BEGAN,
    BO,
    SOURCE,
    EveryTurn,
    Incidents,
    a_worker,
    began,
    deliver,
    delivery,
    ended,
    inbox,
    joined,
    meetings,
    nothing_fetched,
    said,
    sessions,
    sources_file,
    turns,
    writes_with,
)

PATIENCE = 60.0
GOES_ON: dict[str, Any] = {"idle_minutes": 1_000.0}
"""Of a source: its meetings, which began two hours ago, are not over only because nothing came since."""
CAROL = Speaker("c", name="Carol")
SETTLES = 2.05
"""Seconds after which a turn is told that came when the meeting's clock had been set to now (MeetingConfig.settle)."""

VOICES = "MATCH (l:LocalSpeaker {space: $space}) RETURN l.label AS label"
STATEMENTS = "MATCH (f:Fact {space: $space}) RETURN f.statement AS statement"
ERRORS = "MATCH (d:Delivery {space: $space, status: 'dead'}) RETURN d.error AS error"
WRITE_ANOTHER = """
MATCH (l:LocalSpeaker)-[:UTTERED]->(m:Message {space: $space, text: 'Two.'})-[:IN_SESSION]->(s:Session)
CREATE (n:Message {id: m.id + 'x'})
SET n += m {.*, id: m.id + 'x', index: 7}
MERGE (n)-[:IN_SESSION]->(s)
MERGE (l)-[:UTTERED]->(n)
"""
REPLACE_TAKEN_IN = """
MATCH (d:Delivery {space: $space, status: 'done'}) WHERE d.body CONTAINS $text
SET d.body = $body
"""
ALL_ERRORS = "MATCH (d:Delivery {space: $space}) RETURN d.error AS error"
FORGET_INBOX = "MATCH (n:Delivery|Meeting|MeetingWork {space: $space}) DETACH DELETE n"


def written(dump: Dump) -> Dump:
    """What of a space does not tell how it came to be."""
    dump = without_history(dump)
    history = {"Delivery", "Meeting", "Event"}
    return {**dump, "nodes": [node for node in dump["nodes"] if history.isdisjoint(node["labels"])]}


async def test_a_meeting_that_ended_is_a_complete_session_of_local_speakers(graph: Graph, space: str, tmp_path: Path) -> None:
    await deliver(graph, space, began(title="Weekly", zone="Europe/Vienna"))
    await deliver(graph, space, said(BO, "At nine?", 4.0), at=5.0)
    await deliver(graph, space, said(ANA, "The boiler man comes on Tuesday.", 1.0, 3.0), at=5.5)
    await deliver(graph, space, ended(), at=60.0)
    async with a_worker(graph, space, tmp_path) as worker:
        await worker.settle(PATIENCE)
    found = await turns(graph, space)
    assert [(t["index"], t["label"], t["text"], t["start"], t["end"]) for t in found] == [
        (0, "Ana Ruiz", "The boiler man comes on Tuesday.", 1.0, 3.0),
        (1, "Bo", "At nine?", 4.0, 5.0),
    ]
    assert {(t["person"], t["reason"], t["provenance"]) for t in found} == {(None, "no_sound", "live:generic")}
    (session,) = await sessions(graph, space)
    assert (session["status"], session["title"], session["zone"]) == ("complete", "Weekly", "Europe/Vienna")
    assert (session["source"], session["external_id"]) == ("live:generic", "crm:m1")
    assert session["started_at"] == BEGAN
    assert await inbox(graph, space) == {"done": 4}
    (meeting,) = await meetings(graph, space)
    assert (meeting["status"], meeting["session_id"]) == ("closed", session["id"])
    assert meeting["expires_at"] > datetime.now(UTC) + timedelta(hours=48)


async def test_what_is_said_is_written_while_the_meeting_goes_on(graph: Graph, space: str, tmp_path: Path) -> None:
    async with a_worker(graph, space, tmp_path, **GOES_ON) as worker:
        await deliver(graph, space, began(), said(ANA, "The boiler man comes.", 1.0), at=2.0)
        await worker.settle(PATIENCE)
        (turn,) = await turns(graph, space)
        (session,) = await sessions(graph, space)
        assert (turn["text"], session["status"]) == ("The boiler man comes.", "open")
        await deliver(graph, space, said(BO, "At nine?", 4.0), at=5.0)
        await worker.settle(PATIENCE)
        await asyncio.sleep(SETTLES)
        await worker.settle(PATIENCE)
        assert [t["text"] for t in await turns(graph, space)] == ["The boiler man comes.", "At nine?"]
    assert await inbox(graph, space) == {"done": 2}
    assert (await meetings(graph, space))[0].get("leased_by") is None, "who stops lets others go on at once"


async def test_what_was_written_is_put_right_where_it_stands(graph: Graph, space: str, tmp_path: Path) -> None:
    using = writes_with(graph, embedder=HashedWords())
    async with a_worker(graph, space, tmp_path, using=using, **GOES_ON) as worker:
        first = said(ANA, "The boiler man comes on Thursday.", 1.0)
        await deliver(graph, space, began(), first, said(BO, "At nine?", 4.0), said(ANA, "Never said.", 6.0), at=7.0)
        await worker.settle(PATIENCE)
        before = await turns(graph, space)
        await deliver(graph, space, replace(first, key="2", text="The boiler man comes on Tuesday.", revision=1), at=8.0)
        await deliver(graph, space, replace(said(BO, "At nine?", 4.0), key="3", speaker=CAROL, revision=1), at=8.1)
        await deliver(graph, space, Withdrawn(key="4", id="u6"), at=8.2)
        await deliver(graph, space, Renamed(key="5", speaker=replace(ANA, name="Ana Ruiz-Vidal")), at=8.3)
        await worker.settle(PATIENCE)
    after = await turns(graph, space)
    assert [(t["text"], t["label"]) for t in after] == [
        ("The boiler man comes on Tuesday.", "Ana Ruiz-Vidal"),
        ("At nine?", "Carol"),
    ]
    assert [t["id"] for t in after] == [t["id"] for t in before[:2]], "a message keeps its id, whatever becomes of it"
    assert [t["vector"] == b["vector"] for t, b in zip(after, before, strict=False)] == [False, True]
    left = await graph.read(rows, VOICES, space=space)
    assert {row["label"] for row in left} == {"Ana Ruiz-Vidal", "Carol"}, "a voice that says nothing is none"


async def test_however_it_is_delivered_and_broken_off_the_same_is_written(graph: Graph, space: str, tmp_path: Path) -> None:
    """Once in order by one worker; and some of them twice, in another order, a few at a time by a new worker each."""
    told = [
        delivery(space, began(title="Weekly"), at=0.0),
        *(delivery(space, said((ANA, BO)[n % 2], f"Sentence {n}.", float(n)), at=10.0 + n / 10) for n in range(8)),
        delivery(space, replace(said(ANA, "Sentence 2, better.", 2.0), revision=1), at=11.0),
        delivery(space, Withdrawn(key="w", id="u5"), at=11.1),
        delivery(space, ended(), at=12.0),
    ]
    await graph.write(save_deliveries, told)
    async with a_worker(graph, space, tmp_path) as worker:
        await worker.settle(PATIENCE)
    once = await graph.read(dump_space, space)
    await forget_space(graph, space)

    order = [0, 3, 1, 2, 5, 4, 6, 8, 7, 9, 10, 11]
    await graph.write(ensure_space, SpaceSettings(space))
    for some in (order[:3], order[3:5], order[:4], order[5:8], order[8:9], order[9:]):
        await graph.write(save_deliveries, [told[number] for number in some])
        async with a_worker(graph, space, tmp_path, **GOES_ON) as worker:
            await worker.settle(PATIENCE)
    async with a_worker(graph, space, tmp_path) as worker:
        await worker.settle(PATIENCE)
    again = await graph.read(dump_space, space)
    assert written(again) == written(once)
    assert len(await turns(graph, space)) == 7


async def test_two_workers_share_an_inbox_and_nothing_is_in_twice(graph: Graph, space: str, tmp_path: Path) -> None:
    async with a_worker(graph, space, tmp_path) as one, a_worker(graph, space, tmp_path) as other:
        for meeting in ("m1", "m2", "m3"):
            for n in range(6):
                await deliver(graph, space, said((ANA, BO)[n % 2], f"Sentence {n}.", float(n)), at=float(n), meeting=meeting)
            await deliver(graph, space, ended(), at=10.0, meeting=meeting)
        await asyncio.gather(one.settle(PATIENCE), other.settle(PATIENCE))
        await one.settle(PATIENCE)
    found = await turns(graph, space)
    assert Counter(t["text"] for t in found) == {f"Sentence {n}.": 3 for n in range(6)}
    assert await inbox(graph, space) == {"done": 21}


async def test_a_meeting_of_a_worker_that_is_gone_goes_on_when_its_lease_has_run_out(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    await deliver(graph, space, said(ANA, "The boiler man comes.", 1.0), at=2.0)
    (id,) = [meeting["id"] for meeting in await meetings(graph, space)]
    now = datetime.now(UTC)
    await graph.write(lease_meetings, [id], worker="gone", now=now, until=now + timedelta(seconds=1.5))
    async with a_worker(graph, space, tmp_path) as worker:
        await worker.settle(PATIENCE)
        assert await turns(graph, space) == []
        await asyncio.sleep(1.6)
        await worker.settle(PATIENCE)
        assert len(await turns(graph, space)) == 1


# ---- after the end


async def test_what_comes_after_the_end_puts_the_closed_session_right_with_all_that_was_read_of_it(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    facts = RememberFacts(graph, EveryTurn(), None)
    using = writes_with(graph, afterwards=Afterwards(graph, facts))
    async with a_worker(graph, space, tmp_path, using=using) as worker:
        promised = said(ANA, "I'll bring the ladder tomorrow.", 1.0)
        await deliver(graph, space, began(), promised, said(BO, "Thank you.", 4.0), ended(), at=60.0)
        await worker.settle(PATIENCE)
        assert "ladder" in str(await graph.read(rows, STATEMENTS, space=space))
        late = replace(promised, key="late", text="I'll bring the drill tomorrow.", revision=1)
        await deliver(graph, space, late, said(BO, "Which drill?", 5.0), at=600.0)
        await worker.settle(PATIENCE)
    found = await turns(graph, space)
    assert [(t["index"], t["text"]) for t in found] == [
        (0, "I'll bring the drill tomorrow."),
        (1, "Thank you."),
        (2, "Which drill?"),
    ]
    statements = str(await graph.read(rows, STATEMENTS, space=space))
    assert "drill" in statements and "ladder" not in statements
    (session,) = await sessions(graph, space)
    assert (session["status"], session["facts_by"] is not None) == ("complete", True)
    assert (await meetings(graph, space))[0]["status"] == "closed"


async def test_a_repeat_after_the_end_changes_nothing(graph: Graph, space: str, tmp_path: Path) -> None:
    one = said(ANA, "The boiler man comes.", 1.0)
    async with a_worker(graph, space, tmp_path) as worker:
        await deliver(graph, space, began(), one, ended(), at=60.0)
        await worker.settle(PATIENCE)
        before = written(await graph.read(dump_space, space))
        await deliver(graph, space, one, at=600.0)
        await worker.settle(PATIENCE)
        assert await inbox(graph, space) == {"done": 2}
    assert written(await graph.read(dump_space, space)) == before


async def test_what_comes_when_the_deliveries_are_kept_no_more_is_a_dead_letter(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    async with a_worker(graph, space, tmp_path) as worker:
        await deliver(graph, space, began(), said(ANA, "The boiler man comes.", 1.0), ended(), at=60.0)
        await worker.settle(PATIENCE)
        before = await turns(graph, space)
        await graph.write(changes, FORGET_INBOX, space=space)
        await deliver(graph, space, said(ANA, "No, he does not.", 5.0), at=600.0)
        await worker.settle(PATIENCE)
        assert await inbox(graph, space) == {"dead": 1}
    assert await turns(graph, space) == before
    (letter,) = await graph.read(rows, ERRORS, space=space)
    assert letter["error"].startswith("meeting_too_late: ")
    assert "does not" not in letter["error"]


async def test_a_meeting_that_nobody_ends_is_over_when_it_was_silent_for_long(graph: Graph, space: str, tmp_path: Path) -> None:
    await deliver(graph, space, said(ANA, "The boiler man comes.", 1.0), at=2.0)
    async with a_worker(graph, space, tmp_path, idle_minutes=119.0) as worker:
        await worker.settle(PATIENCE)
    assert (await sessions(graph, space))[0]["status"] == "complete"


async def test_a_meeting_without_a_word_leaves_no_session_and_nobody(graph: Graph, space: str, tmp_path: Path) -> None:
    await deliver(graph, space, began(title="Weekly"), joined(ANA), ended(), at=60.0)
    async with a_worker(graph, space, tmp_path) as worker:
        await worker.settle(PATIENCE)
    assert (await sessions(graph, space), await inbox(graph, space)) == ([], {"done": 1})
    assert (await meetings(graph, space))[0]["status"] == "closed"


# ---- what cannot be taken in


async def test_a_delivery_that_cannot_be_read_is_dead_and_the_others_of_its_meeting_are_taken_in(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    bad = replace(delivery(space, said(ANA, "x", 2.0)), body=b"{", key="bad")
    good = [delivery(space, said(ANA, f"Sentence {n}.", float(n)), at=float(n)) for n in (1, 3)]
    await graph.write(save_deliveries, [good[0], bad, good[1], delivery(space, ended(), at=9.0)])
    async with a_worker(graph, space, tmp_path) as worker:
        await worker.settle(PATIENCE)
    assert [t["text"] for t in await turns(graph, space)] == ["Sentence 1.", "Sentence 3."]
    assert await inbox(graph, space) == {"done": 3, "dead": 1}
    (letter,) = await graph.read(rows, ERRORS, space=space)
    assert letter["error"].startswith("event_unreadable: ")


# ---- programs, and what never was finished


async def test_a_programs_words_are_kept_and_nobody_is_asked_whose_they_are_or_told_facts_of_them(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    bot = Speaker("bot", name="Notetaker", is_bot=True)
    facts = RememberFacts(graph, EveryTurn(), None)
    async with a_worker(graph, space, tmp_path, using=writes_with(graph, afterwards=Afterwards(graph, facts))) as worker:
        await deliver(graph, space, began(), said(bot, "I'll bring the ladder tomorrow.", 1.0), at=2.0)
        await deliver(graph, space, said(ANA, "I'll bring the dr", 3.0, final=False), ended(), at=60.0)
        await worker.settle(PATIENCE)
    found = await turns(graph, space)
    assert [(t["label"], t["doubts"], t["reason"]) for t in found] == [
        ("Notetaker", ["bot"], "bot"),
        ("Ana Ruiz", ["partial"], "no_sound"),
    ]
    assert await graph.read(rows, STATEMENTS, space=space) == []
    viewer = Viewer(space, None, None, (), False, Assurance.TOKEN, reads_all=True)
    scope = await graph.read(read_scope, viewer)
    unknown = await graph.read(list_unknown, scope, page=Page(first=10))
    assert [voice.id for voice in unknown.items] == [found[1]["track"]]


async def test_a_turn_that_cannot_be_written_is_left_out_and_said_and_keeps_no_other_from_being_written(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    class Fragile(HashedWords):
        def passages(self, texts: Sequence[str]) -> Samples:
            if "This breaks it." in texts:
                raise ValueError("a model's fault")
            return super().passages(texts)

    lines = ["Sentence 1.", "This breaks it.", "Sentence 2."]
    for n, line in enumerate(lines):
        await deliver(graph, space, said(ANA, line, float(n)), at=float(n))
    await deliver(graph, space, ended(), at=9.0)
    quick = MeetingsConfig(again=0.05)
    async with a_worker(graph, space, tmp_path, using=writes_with(graph, embedder=Fragile()), config=quick) as worker:
        async with asyncio.timeout(PATIENCE):
            while not (found := await sessions(graph, space)) or found[0]["status"] != "complete":
                await worker.settle(PATIENCE)
                await asyncio.sleep(0.05)
    assert [(t["index"], t["text"]) for t in await turns(graph, space)] == [(0, "Sentence 1."), (1, "Sentence 2.")]
    assert found[0]["words_left_out"] == 3
    assert await inbox(graph, space) == {"done": 4}


async def _all_written(worker: Meetings, graph: Graph, space: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while not (found := await sessions(graph, space)) or found[0]["status"] != "complete":
            await worker.settle(PATIENCE)
            await asyncio.sleep(0.05)
    return found[0]


@pytest.mark.parametrize("ill", ["database", "database says no", "model", "disk"])
async def test_while_database_or_model_is_ill_nothing_is_left_out_and_no_delivery_is_dead(
    graph: Graph, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ill: str
) -> None:
    """More often than a delivery or a turn is tried that is bad itself."""
    times = Counter[str]()

    class Model(HashedWords):
        def passages(self, texts: Sequence[str]) -> Samples:
            times["model"] += 1
            if ill == "model" and times["model"] <= 30:
                raise RuntimeError("out of memory")
            return super().passages(texts)

    async def ill_save_changes(*given: Any, **named: Any) -> None:
        times["written"] += 1
        if times["written"] <= 14 and ill != "model":
            wrong = {"database": DatabaseError("no space left"), "disk": OSError("no space left")}
            raise wrong.get(ill) or Neo4jError._hydrate_neo4j(code="Neo.ClientError.General.InvalidArguments", message="no")
        await save_changes(*given, **named)

    monkeypatch.setattr(meeting_session, "save_changes", ill_save_changes)
    await deliver(graph, space, began(), *[said(ANA, f"Sentence {n}.", float(n)) for n in range(4)], at=5.0)
    await deliver(graph, space, ended(10.0), at=11.0)
    quick, using = MeetingsConfig(again=0.01, longest=0.05), writes_with(graph, embedder=Model())
    async with a_worker(graph, space, tmp_path, using=using, config=quick) as worker:
        session = await _all_written(worker, graph, space)
    assert [t["text"] for t in await turns(graph, space)] == [f"Sentence {n}." for n in range(4)]
    assert session["words_left_out"] == 0
    assert await inbox(graph, space) == {"done": 2}
    tried = await graph.read(rows, "MATCH (d:Delivery {space: $space}) RETURN max(d.attempts) AS n", space=space)
    assert tried == [{"n": 0}]


async def test_what_was_left_out_is_tried_once_more_before_the_end(graph: Graph, space: str, tmp_path: Path) -> None:
    class Once(HashedWords):
        is_ill = True

        def passages(self, texts: Sequence[str]) -> Samples:
            if self.is_ill and "This breaks it." in texts:
                raise ValueError("a model's fault")
            return super().passages(texts)

    model = Once()
    for n, line in enumerate(["Sentence 1.", "This breaks it.", "Sentence 2."]):
        await deliver(graph, space, said(ANA, line, float(n)), at=float(n))
    quick = MeetingsConfig(again=0.05)
    using = writes_with(graph, embedder=model)
    async with a_worker(graph, space, tmp_path, using=using, config=quick, **GOES_ON) as worker:
        async with asyncio.timeout(PATIENCE):
            while len(await turns(graph, space)) < 2:
                await worker.settle(PATIENCE)
                await asyncio.sleep(0.05)
        model.is_ill = False
        await deliver(graph, space, ended(), at=60.0)
        session = await _all_written(worker, graph, space)
    assert [t["text"] for t in await turns(graph, space)] == ["Sentence 1.", "This breaks it.", "Sentence 2."]
    assert session["words_left_out"] == 0


async def test_what_the_next_worker_has_not_told_yet_stays_as_the_one_before_wrote_it(
    graph: Graph, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of the one before is ahead; so it told a turn before its time, a partial too, and was killed."""

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # the driver takes no subclass
            return datetime.now(tz) + timedelta(seconds=30.0)

    def seconds() -> float:
        return (datetime.now(UTC) - BEGAN).total_seconds()

    id = "MATCH (m:Message {space: $space}) RETURN m.id AS id, m.created_at AS at ORDER BY m.index"
    with monkeypatch.context() as ahead:
        ahead.setattr(meeting, "datetime", Ahead)
        async with a_worker(graph, space, tmp_path, **GOES_ON) as first:
            await deliver(graph, space, began(), said(ANA, "One.", 1.0), at=2.0)
            await deliver(graph, space, said(BO, "Two.", 3.0), at=seconds())
            await first.settle(PATIENCE)
            before = await graph.read(rows, id, space=space)
            assert len(before) == 2
    async with a_worker(graph, space, tmp_path, **GOES_ON) as second:
        await second.settle(PATIENCE)
        assert await graph.read(rows, id, space=space) == before
        await deliver(graph, space, said(ANA, "Three.", 9.0), at=seconds() - SETTLES)
        await second.settle(PATIENCE)
        await asyncio.sleep(SETTLES)
        await second.settle(PATIENCE)
        assert (await graph.read(rows, id, space=space))[:2] == before
    assert [t["text"] for t in await turns(graph, space)] == ["One.", "Two.", "Three."]


async def test_what_is_no_turn_any_more_goes_though_who_wrote_it_was_killed(graph: Graph, space: str, tmp_path: Path) -> None:
    """Once the next one was told all that there is."""
    async with a_worker(graph, space, tmp_path, **GOES_ON) as first:
        await deliver(graph, space, began(), said(ANA, "One.", 1.0), said(BO, "Two.", 3.0), at=4.0)
        await first.settle(PATIENCE)
    await graph.write(changes, WRITE_ANOTHER, space=space)
    async with a_worker(graph, space, tmp_path) as second:
        await deliver(graph, space, ended(), at=60.0)
        await _all_written(second, graph, space)
    assert [t["text"] for t in await turns(graph, space)] == ["One.", "Two."]


async def test_a_setting_that_cannot_be_read_makes_nothing_ununderstood(graph: Graph, space: str, tmp_path: Path) -> None:
    """While it is being written, say. What was taken in is folded again once it can be."""
    async with a_worker(graph, space, tmp_path, **GOES_ON) as worker:
        await deliver(graph, space, began(), said(ANA, "One.", 1.0), at=2.0)
        await worker.settle(PATIENCE)
    await deliver(graph, space, said(BO, "Two.", 3.0), at=4.0)
    sources = Sources(sources_file(tmp_path / "hooks.toml", space, **GOES_ON), lambda name: "whsec_c2VjcmV0")
    right = sources.path.read_text()
    now, of = datetime.now(UTC), [meeting_id(space, SOURCE, "m1")]
    (feed,) = await graph.write(lease_meetings, of, worker="w", now=now, until=now + timedelta(hours=1))

    def at_it() -> meeting.Meeting:
        config = meeting.MeetingWorkConfig(margin=0.0)
        return meeting.Meeting(writes_with(graph), feed, "w", sources, nothing_fetched, Incidents(), config, lambda: None)

    sources.path.write_text(f"{right}[half")
    with pytest.raises(SourcesUnreadable):
        await at_it().go(tries=1)
    assert is_its_own(ValueError()) and not is_its_own(SourcesUnreadable(path=sources.path, problem="is no TOML"))
    sources.path.write_text(right)
    await at_it().go(tries=1)
    assert [turn["text"] for turn in await turns(graph, space)] == ["One.", "Two."]
    assert [row["error"] for row in await graph.read(rows, ALL_ERRORS, space=space)] == [None, None]


async def test_what_a_newer_program_does_not_understand_any_more_does_not_keep_the_meeting_from_going_on(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    async with a_worker(graph, space, tmp_path, **GOES_ON) as worker:
        await deliver(graph, space, began(), said(ANA, "One.", 1.0), at=2.0)
        await deliver(graph, space, said(BO, "Two.", 3.0), at=4.0)
        await worker.settle(PATIENCE)
    broken = '{"meeting": "m1", "type": "said in a way of before"}'
    await graph.write(changes, REPLACE_TAKEN_IN, space=space, body=broken, text="One.")
    incidents = Incidents()
    async with a_worker(graph, space, tmp_path, incidents=incidents, **GOES_ON) as worker:
        await deliver(graph, space, said(ANA, "Three.", 5.0), at=6.0)
        await worker.settle(PATIENCE)
    found = await turns(graph, space)
    assert [turn["text"] for turn in found] == ["One.", "Two.", "Three."] and len({turn["session"] for turn in found}) == 1
    assert await inbox(graph, space) == {"done": 3}
    errors = [row["error"] for row in await graph.read(rows, ALL_ERRORS, space=space)]
    assert [error.partition(":")[0] for error in errors if error] == ["event_unreadable"]
    assert [type(error) for error in incidents] == [EventUnreadable]
