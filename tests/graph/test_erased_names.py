"""Somebody is erased whose name is a word, or is called as anybody may call themselves: what others said stays."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from service.graph.driver import Graph, changes, rows
from service.graph.forget_inferred import INFER_PERSONA
from service.graph.write_consents import save_consent
from service.graph.write_people import name_person
from service.pipelines.entities import RememberEntities
from service.pipelines.facts import RememberFacts
from service.pipelines.naming import name_session
from service.pipelines.personas import RememberPersonas
from service.types.affect import Aspect, FeltTurn, Mark, SaidFeelings
from service.types.entities import EntityType, Mention, MentionKind
from service.types.erasure import Subject, SubjectKind
from service.types.facts import FactTurn
from service.types.people import Consent
from tests.graph.correction_builders import ingest, session_id
from tests.graph.erase_builders import Household
from tests.graph.fact_builders import Told, fact_id, tell
from tests.graph.graph_builders import Said, seed
from tests.graph.meeting_builders import EveryTurn

SAID = [
    Said("will", "I keep bees.", ["will", "ben"]),
    Said("ben", "Will keeps them well.", ["will", "ben"]),
    Said("ben", "The cake is in the box.", ["ben", "cleo"], session="tuesday"),
    Said("cleo", "I ordered it in the Glockenspiel.", ["ben", "cleo"], session="tuesday"),
    Said("ben", "Who is going to the Glockenspiel?", ["ben", "cleo"], session="tuesday"),
]
THERE, ELSEWHERE = [1], [2]
TOLD = [
    Told("{speaker} asked Will about honey", THERE),
    Told("Will is fond of bees", THERE),
    Told("{speaker} will bring a cake", THERE),
    Told("{speaker} will go to Paris", ELSEWHERE),
    Told("{speaker} asked Will about the way", ELSEWHERE),
    Told("The cake is in the box", ELSEWHERE),
    Told("The Glockenspiel is open", ELSEWHERE),
    Told("{speaker} ate in the Glockenspiel", ELSEWHERE),
]
GO, STAY, BELLS = {0, 1}, {2, 3, 4, 5}, {6, 7}
CALLED = [
    ("ben", "Dana, where is the ladder?"),
    ("dana", "It stands in the barn."),
    ("ben", "Dana is fond of ladders."),
    ("cleo", "The barn is locked."),
]
PLANT = """
MATCH (s:Session {id: $there, space: $space}), (t:Session {id: $elsewhere, space: $space})
MATCH (will:Person {id: $will, space: $space}), (meant:Fact {id: $meant, space: $space}), (far:Fact {id: $far, space: $space})
SET s.title = 'What Will will do', t.title = 'What we will do'
CREATE (:Entity {id: $space + '/will', space: $space, created_at: datetime(), type: 'person', normal_name: 'will'})
    -[:MENTIONED_IN {surface: 'Will', kind: 'name'}]->(meant),
  (:Entity {id: $space + '/box', space: $space, created_at: datetime(), type: 'thing', normal_name: 'the box'})
    -[:MENTIONED_IN {surface: 'the box', kind: 'noun'}]->(far),
  (:Query {id: $space + '/cake', space: $space, created_at: datetime(), text: 'Who will bring the cake?', asked_by: $ben}),
  (:Query {id: $space + '/strauss', space: $space, created_at: datetime(), text: 'Where is Herr Strauß?', asked_by: $ben}),
  (:Image {id: $space + '/image', space: $space, created_at: datetime(), caption: 'the cake, to be eaten', position: 0}),
  (:AuditEvent {id: $space + '/audit', space: $space, created_at: datetime(), actor: 'a', action: 'merge', target: 't',
    why: 'Will said it is the same'}),
  (:Account {id: $space + '/login', space: $space, created_at: datetime(), issuer: 'zoom', subject: 'u', name: 'is going'})
    -[:IS {by: 'admin', decision: 'assigned'}]->(will),
  (:Delivery {id: $space + '/dead', space: $space, created_at: datetime(), source: 'zoom', key: 'd', seq: -1, status: 'dead',
    body: '{"text": "it will be made of gold"}'}),
  (:Delivery {id: $space + '/hers', space: $space, created_at: datetime(), source: 'zoom', key: 'e', seq: -1, status: 'dead',
    body: $body})
"""
TEXTS = """
MATCH (n {space: $space}) WHERE n:Fact OR n:Query OR n:Image OR n:AuditEvent OR n:Session OR n:Delivery OR n:Entity
RETURN n.id AS id, coalesce(n.statement, n.text, n.caption, n.why, n.title, n.body, n.normal_name) AS text
"""


class ReadsDana:
    """An EntityReader that reads one name."""

    name = "names-1"

    async def __call__(self, turns: Sequence[FactTurn], dropped: Counter[str] | None = None) -> dict[str, tuple[Mention, ...]]:
        dana = Mention(EntityType.PERSON, "dana", "Dana", MentionKind.NAME)
        return {turn.message_id: (dana,) for turn in turns if "Dana" in turn.text}


class FeelsForDana:
    """A FeelingReader that reads the same of every turn."""

    name = "feels-1"

    async def __call__(self, turns: Sequence[FeltTurn], dropped: Counter[str] | None = None) -> dict[str, SaidFeelings]:
        marks = tuple(Mark(Aspect.ATTITUDE, 0.5, 1.0, target=target) for target in ("Dana", "ladders"))
        return {turn.message_id: SaidFeelings(0.5, 0.5, marks) for turn in turns}


async def texts(graph: Graph, space: str) -> dict[str, str]:
    return {row["id"]: row["text"] for row in await graph.read(rows, TEXTS, space=space) if "erase" not in str(row["id"])}


async def test_who_is_called_as_a_word_is_takes_no_words_of_others_along(graph: Graph, space: str, tmp_path: Path) -> None:
    """Will, who was also called The, Is and To; then somebody called Strauß; then Glockenspiel, who stands in many places."""
    world = await seed(graph, space, ["will", "ben", "cleo", "strauß", "glockenspiel"], SAID)
    await tell(world, TOLD)
    will, place = world.person("will"), [world.session(name) for name in ("monday", "tuesday")]
    await graph.write(
        changes, PLANT, space=space, there=place[0], elsewhere=place[1], meant=fact_id(world, 1), far=fact_id(world, 5),
        ben=world.person("ben"), will=will, body=json.dumps({"text": "Grüße von Strauß"}),
    )  # fmt: skip
    for name in ("the", "is", "to", "Will"):
        await graph.write(name_person, space, will, name, by=will)
    before, erase = await texts(graph, space), Household(graph, space, tmp_path, "", "", "").eraser(most_elsewhere=1)
    facts = [fact_id(world, n) for n in range(len(TOLD))]

    async def erased(name: str, *, although: bool = False) -> dict[str, str]:
        subject = Subject(SubjectKind.PERSON, world.person(name))
        done = await erase(space, subject, asked_by="x", why="asked", own=not although, although=although)
        assert done.complete is (name != "glockenspiel" or although) and (done.receipt is not None) is done.complete
        assert done.named_elsewhere == (0 if done.complete else 2)
        return await texts(graph, space)

    after = await erased("will")
    assert {n for n, id in enumerate(facts) if id in after} == STAY | BELLS
    changed = {id for id in before if before[id] != after.get(id)} - {facts[n] for n in GO}
    assert changed == {place[0], f"{space}/will"} and after[place[0]] == "What [erased] will do", "only where he was"

    after = await erased("strauß")
    assert f"{space}/hers" not in after and f"{space}/dead" in after and after[f"{space}/strauss"] == "Where is Herr [erased]?"

    after = await erased("glockenspiel")
    assert {n for n, id in enumerate(facts) if id in after} == STAY | BELLS, "it waits for an administrator, hidden"
    after = await erased("glockenspiel", although=True)
    assert {n for n, id in enumerate(facts) if id in after} == STAY


async def test_what_others_said_is_read_again_and_says_nothing_of_who_is_erased(
    graph: Graph, space: str, tmp_path: Path
) -> None:
    """Their words stay, with the name; names, facts and entities that are read out of them later are of nobody erased."""
    id = session_id(space, "monday")
    people = await ingest(graph, space, "monday", CALLED)
    household = Household(graph, space, tmp_path, people[1] or "", people[0] or "", people[3] or "")
    await graph.write(name_person, space, household.dana, "Dana", by="admin")
    done = await household.eraser()(space, Subject(SubjectKind.PERSON, household.dana), asked_by="admin")
    assert done.receipt and await household.left() == []

    facts = await RememberFacts(graph, EveryTurn(), None)(space, id, again=True)
    entities = await RememberEntities(graph, ReadsDana())(space, id, again=True)
    named = await name_session(graph, space, id)
    await graph.write(
        save_consent, space, household.ben, Consent.GRANTED, text_version="1", channel="form", at=datetime.now(UTC),
        purpose=INFER_PERSONA,
    )  # fmt: skip
    await RememberPersonas(graph, FeelsForDana())(space, id, again=True)
    assert await household.left() == []
    assert facts.num_facts == 1 and entities.num_mentions == 0
    marks = [json.loads(node["marks"]) for node in (await household.dump())["nodes"] if "marks" in node]
    assert [[mark["target"] for mark in each] for each in marks] == [["ladders"], ["ladders"]]
    called = {node["name"] for node in (await household.dump())["nodes"] if node["labels"] == ["NameProposal"]}
    assert called == {"track ben", "track cleo"} and len(named.proposals) == 2
