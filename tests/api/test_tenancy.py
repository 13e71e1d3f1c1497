"""A made space and its twin, in small: what comes back is what the plain data says, whoever asks and however. The whole of it
is `python -m tests.bench.trust --parts walk`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from service.graph.driver import rows
from service.memory.attendance import attendances
from service.memory.audience import readers as readers_of
from service.memory.interactions import Spoken, interactions
from service.types.audio import Segment
from service.types.memory import Attendance
from service.types.people import AccessPolicy
from tests.api.serving import Api
from tests.api.tenancy_missing import calls, differences, without_ids
from tests.api.tenancy_oracle import readers
from tests.api.tenancy_plain import BOT, GUESSED, SAME, Meeting, plain
from tests.api.tenancy_secrets import ID, Asker, Secrets
from tests.api.tenancy_walk import Ids, Verdict, arguments, askers, walk, ways
from tests.api.tenancy_world import World, made, say, write

MEETINGS = ("kitchen", "roof", "diary", "square")
WALKED = ("cleo", "the administrator of the other space, as ana of this one")
"""Who came late, and who asks for a person of another space; tests/api/test_gate.py has more of them."""


@dataclass(frozen=True)
class Twins:
    api: Api
    red: World
    blue: World
    secrets: Secrets
    askers: dict[str, Asker]

    def hidden(self, asker: Asker) -> dict[str, list[str]]:
        """By label, one thing that they may not know: of their own space where there is one, else of the other."""
        outside, found = self.secrets.outside(asker), dict[str, list[str]]()
        for world in (asker.world, self.blue):
            for node in self.secrets.made[world.space][1]:
                if node["id"] in outside - _merged(world) and node["label"] not in found:
                    found[node["label"]] = [node["id"]]
        return found


def _merged(world: World) -> set[str]:
    """Ids of before a merge: who knows whom they are shown as finds them by these, too."""
    return set(map(world.person, (*SAME, *GUESSED)))


@pytest.fixture(scope="module")
async def twins(server: Api) -> Twins:
    red = await write(server.services, plain("red", "attended", size=4).only(*MEETINGS))
    blue = await write(server.services, plain("blue", "attended", size=4).only("kitchen"))
    api = replace(server, space=red.space)
    everybody = {asker.name: asker for asker in askers(api, red, blue)}
    secrets = Secrets({world.space: (world, await made(server.services.graph, world.space)) for world in (red, blue)})
    return Twins(api, red, blue, secrets, everybody)


@pytest.mark.parametrize("access", list(AccessPolicy))
def test_who_may_read_is_decided_as_the_plain_data_says(access: AccessPolicy) -> None:
    space, widest = plain("red", access.value), 0
    for meeting in space.meetings:
        turns = [_spoken(meeting, index) for index in range(len(meeting.lines))]
        there = attendances(turns, [Attendance(who, (Segment(*when),), "caller") for who, when in meeting.there.items()])
        told = interactions(turns, {}, [a.person_id for a in there])
        for index, turn in enumerate(turns if not meeting.public else []):
            found = readers_of(turn, policy=access, addressees=told.addressees[turn.message_id], attendance=there, bots=[BOT])
            assert found == readers(space, meeting, index), (meeting.name, index)
            widest = max(widest, len(found))
    assert widest == {"own": 1, "addressed": 3}.get(access.value, 3)


def _spoken(meeting: Meeting, index: int) -> Spoken:
    line = meeting.lines[index]
    to = (*meeting.to_all, *line.to)
    return Spoken(f"m{index}", Segment(*meeting.span(index)), meeting.track(line), line.by, line.text, to)


@pytest.mark.parametrize("name", WALKED)
async def test_no_way_through_the_schema_shows_what_the_plain_data_says_is_hidden(twins: Twins, name: str) -> None:
    asker, verdict = twins.askers[name], Verdict()
    requests = list(ways(arguments(Ids.few(twins.secrets, twins.red, twins.blue)), each=1))
    await walk(twins.api, twins.secrets, asker, requests[:: 1 if name == "cleo" else 3], verdict)
    assert verdict.leaks == []
    assert asker.oracle.words & verdict.shown[name] or not asker.oracle.words, "what they may read is found, too"


@pytest.mark.parametrize("name", ["eve", "ana heard by cleo"])
async def test_page_by_page_comes_all_that_one_may_read_and_no_more(twins: Twins, name: str) -> None:
    asker, world = twins.askers[name], twins.red
    for way, size in ((("first", "after"), 3), (("last", "before"), 4)):
        for field, expected in (
            ("messages", {world.message(*place) for place in asker.oracle.readable}),
            ("sessions", {world.session(meeting) for meeting in asker.oracle.meetings}),
            ("facts", {id for id in twins.secrets.inside(asker) if id in _ids(twins, "Fact")}),
            ("entities", {id for id in twins.secrets.inside(asker) if id in _ids(twins, "Entity")}),
        ):
            found, total = await _paged(twins.api, asker, field, way, size)
            assert sorted(found) == sorted(expected), field
            assert total in (None, len(expected))


async def _paged(api: Api, asker: Asker, field: str, way: tuple[str, str], size: int) -> tuple[list[str], int | None]:
    found: list[str] = []
    count, cursor = way
    more, at, end = ("hasNextPage", "endCursor", "null") if count == "first" else ("hasPreviousPage", "startCursor", "null")
    while True:
        selected = f"{{ totalCount pageInfo {{ {more} {at} }} edges {{ node {{ id }} }} }}"
        query = f"{{ {field}({count}: {size}, {cursor}: {end}) {selected} }}"
        page = (await api.data(query, asker.token, dict(asker.headers)))[field]
        found += [edge["node"]["id"].partition(":")[2] for edge in page["edges"]]
        if not page["pageInfo"][more]:
            return found, page["totalCount"]
        end = json.dumps(page["pageInfo"][at])


def _ids(twins: Twins, label: str) -> set[str]:
    return {node["id"] for _, nodes in twins.secrets.made.values() for node in nodes if node["label"] == label}


PLACES = calls()
BY_SOMEBODY, BY_AN_ADMINISTRATOR = PLACES[::2], [call for call in PLACES[1::2] if call.root != "query"]
"""All places are `python -m tests.bench.trust --parts walk`'s."""


async def test_an_id_of_something_hidden_answers_like_one_of_nothing_wherever_an_id_can_stand(twins: Twins) -> None:
    """Also where something is to be changed, and nothing is."""
    asker = twins.askers["gil"]
    hidden, before = twins.hidden(asker), await _all_there_is(twins)
    others = {"Person": twins.red.person("gil"), "Message": twins.red.message("roof", 2)}
    compared, differing = await differences(twins.api, asker.token, hidden, others, BY_SOMEBODY)
    assert differing == [] and compared > 40
    assert await _all_there_is(twins) == before


async def test_who_administers_a_space_changes_nothing_of_another_and_cannot_tell_it_from_nothing(twins: Twins) -> None:
    scopes = ["ask", "ingest", "admin"]
    token = twins.api.token("ana", space=twins.blue.space, person_id=twins.blue.person("ana"), scopes=scopes)
    first = {label: [id] for _, nodes in [twins.secrets.made[twins.red.space]] for label, id in _one_of_each(nodes)}
    others = {"Person": twins.blue.person("ben"), "Message": twins.blue.message("kitchen", 0)}
    before = await _all_there_is(twins)
    compared, differing = await differences(twins.api, token, first, others, BY_AN_ADMINISTRATOR)
    assert differing == [] and compared > 15
    assert await _all_there_is(twins) == before


def _one_of_each(nodes: Any) -> list[tuple[str, str]]:
    return list({node["label"]: (node["label"], node["id"]) for node in nodes if node["id"]}.values())


STATE = """
MATCH (n {space: $space}) WHERE NOT n:Job AND NOT n:AuditEvent
OPTIONAL MATCH (n)-[r]->(m)
WITH n, type(r) AS type, m.id AS to ORDER BY n.id, type, to
RETURN collect([labels(n)[0], n.id, properties(n), type, to]) AS state
"""


async def _all_there_is(twins: Twins) -> list[str]:
    """Of both spaces, but for what only notes that somebody asked for something."""
    found = [await twins.api.services.graph.read(rows, STATE, space=world.space) for world in (twins.red, twins.blue)]
    return [str(one[0]["state"]) for one in found]


ASKED = (
    '{ viewer { ... on Viewer { numVisibleMessages } } messages(first: 5) { totalCount } people { totalCount edges { node {'
    " numTurns netSpeech } } } sessions { totalCount edges { node { numMessages } } } }",
    "{ themes { label numEntities numMentions related { label numMessages } } entities(first: 50) { edges { node { name"
    " numMentions related { name } } } } }",
    "{ facts(first: 50) { edges { node { text cancelled history { text } } } } }",
    '{ profile(personId: "$ana") { background { numSaid } preferences { numSaid } } }',
    '{ search(query: "garden present soup brother", explain: true) { ... on SearchResult { hits { score found { tool rank }'
    " message { id } } explanation { visible legs } } } }",
    '{ who(said: "the present for grandmother") { ... on WhoSaid { people { score person { id } } } } }',
    "{ whoIsThis(first: 5) { totalCount edges { node { numTurns } } } nameProposals(first: 5) { totalCount } }",
)  # fmt: skip


async def test_what_is_said_out_of_sight_changes_nothing_of_what_one_sees(twins: Twins) -> None:
    """The same sentences, in the same space among others and in another: no count moves, and no order."""
    asker = twins.askers["ana"]
    before = [await _answer(twins, asker, query) for query in ASKED]
    hidden = plain("red", "attended", seed=3, size=4).only("attic")
    for world in (twins.red, twins.blue):
        await say(world, hidden)
    for query, answer in zip(ASKED, before, strict=True):
        assert await _answer(twins, asker, query) == answer, query


async def _answer(twins: Twins, asker: Asker, query: str) -> str:
    answer = await twins.api.data(query.replace("$ana", twins.red.person("ana")), asker.token)
    return without_ids(answer, ID.findall(twins.red.person("ana"))[0])
