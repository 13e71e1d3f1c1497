"""A made space and its twin, in small: what comes back is what the plain data says, whoever asks and however. The whole of it
is `python -m tests.bench.trust --parts walk`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import pytest
from graphql import FieldNode, TypeInfo, TypeInfoVisitor, Visitor, parse, visit

from service.graph.driver import rows
from service.memory.attendance import attendances
from service.memory.audience import readers as readers_of
from service.memory.interactions import Spoken, interactions
from service.types.audio import Segment
from service.types.ids import fresh
from service.types.memory import Attendance
from service.types.people import AccessPolicy, VoiceAccess
from tests.api.schema_walk import members_of
from tests.api.serving import Api, Socket, serving
from tests.api.tenancy_missing import calls, differences
from tests.api.tenancy_oracle import readers
from tests.api.tenancy_plain import BOT, GUESSED, SAME, Meeting, plain
from tests.api.tenancy_secrets import Asker, Secrets
from tests.api.tenancy_walk import (
    QUERY,
    SCHEMA,
    WALK,
    Ids,
    Verdict,
    arguments,
    askers,
    every_field,
    judge,
    needing,
    outsiders,
    walk,
)
from tests.api.tenancy_world import World, made, say, write
from tests.graph.searching import NEAR
from tests.oidc_server import SigningKey, oidc_server

MEETINGS = ("kitchen", "roof", "diary", "square")
KINDS = (
    "nobody at all",
    "nobody with a token",
    "ana",
    "cleo",
    "who reads all",
    "who only ingests",
    "the administrator",
    "assistant for ana",
    "late assistant for ana",
    "former assistant for ana",
    "ben by a provider's login",
)
"""One of each: without a token, a stranger, who was there, who came late, those who may read, add or change everything, leave
to ask that holds, has ended and was taken back, and a provider's token; tests/api/test_gate.py has who listens, too."""
OF_THE_OTHER = "the administrator of the other space, as ana of this one"
assert SCHEMA.subscription_type is not None
SUBSCRIPTION = SCHEMA.subscription_type
ISSUERS = """
[issuers.company]
issuer = "{issuer}"
audience = "voicegraph"
space = "{space}"
scopes = ["ask"]
algorithms = ["EdDSA"]
"""


@dataclass(frozen=True)
class Twins:
    api: Api
    red: World
    blue: World
    secrets: Secrets
    askers: dict[str, Asker]
    requests: list[str]
    """Every field from every root."""

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
async def twins(server: Api, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Twins]:
    """Over a server that takes callers without a token for the red space, and the tokens of a provider; with the models that
    there are."""
    space, data = f"test-red-{fresh()}", tmp_path_factory.mktemp("tenancy")
    services = copy(server.services)
    services.settings = server.services.settings.model_copy(update={"space": space, "data_dir": data})
    red = await write(services, plain("red", "attended", size=4).only(*MEETINGS), space=space, voices=VoiceAccess.OPEN)
    blue = await write(services, plain("blue", "attended", size=4).only("kitchen"))
    with oidc_server() as idp:
        idp.keys = [SigningKey.made("k1", "EdDSA")]
        (data / "issuers.toml").write_text(ISSUERS.format(issuer=idp.issuer, space=space))
        async with serving(services, space) as api:
            everybody = {asker.name: asker for asker in (*askers(api, red, blue), *await outsiders(api, red, idp))}
            secrets = Secrets({world.space: (world, await made(services.graph, world.space)) for world in (red, blue)})
            requests = list(every_field(arguments(Ids.few(secrets, red, blue))))
            yield Twins(api, red, blue, secrets, everybody, requests)


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


def test_the_walk_meets_every_field_that_is_reached_from_each_root() -> None:
    given = {
        **needing(QUERY),
        **arguments(Ids({label: ["x"] for label in ("Message", "Session", "Person", "Fact", "Entity", "Job", "Image")})),
    }
    met = dict[str, set[tuple[str, str]]]()
    for name, way in WALK.covering(QUERY, given):
        met.setdefault(name, set()).update(_fields_in(f"{{ {way} }}"))
    assert met.keys() == QUERY.fields.keys()
    for name, of in QUERY.fields.items():
        reached, coming = set[tuple[str, str]](), members_of(SCHEMA, of)
        while coming:
            one = coming.pop()
            if not reached & {(one.name, field) for field in one.fields}:
                reached |= {(one.name, field) for field in one.fields}
                coming += [other for field in one.fields.values() for other in members_of(SCHEMA, field)]
        assert reached - met[name] == set(), name


def _fields_in(request: str) -> set[tuple[str, str]]:
    info, found = TypeInfo(SCHEMA), set[tuple[str, str]]()

    class Fields(Visitor):
        def enter_field(self, node: FieldNode, *_: object) -> None:
            of = info.get_parent_type()
            assert of is not None
            found.add((of.name, node.name.value))

    visit(parse(request), TypeInfoVisitor(info, Fields()))
    return found


@pytest.mark.parametrize("name", [*KINDS, OF_THE_OTHER])
async def test_no_field_shows_what_the_plain_data_says_is_hidden(twins: Twins, name: str) -> None:
    """All ways to each of them, as 28 who ask, are `python -m tests.bench.trust --parts walk`'s."""
    asker, verdict = twins.askers[name], Verdict()
    await walk(twins.api, twins.secrets, asker, twins.requests[:: 3 if name == OF_THE_OTHER else 1], verdict)
    assert verdict.leaks == []
    assert asker.oracle.words & verdict.shown[name] or not asker.oracle.words, "what they may read is found, too"


(TOLD,) = WALK.trees(SUBSCRIPTION.fields["events"])
EVENTS = f'subscription {{ events(since: "$since") {TOLD} }}'


async def test_events_are_told_to_each_as_far_as_they_may_know_of_them(twins: Twins) -> None:
    """Their payloads are held against the plain data as answers are; what each must be told of, they are told of."""
    of_events = {node["id"] for _, nodes in twins.secrets.made.values() for node in nodes if node["label"] == "Event"}
    following = [asker for asker in map(twins.askers.__getitem__, [*KINDS, OF_THE_OTHER]) if asker.token is not None]
    told = await asyncio.gather(*(_events(twins, asker) for asker in following))
    for asker, payloads in zip(following, told, strict=True):
        verdict, outside = Verdict(), twins.secrets.outside(asker) - of_events
        judge(asker, EVENTS, payloads, outside, twins.secrets.everything, verdict)
        assert verdict.leaks == []
        assert _ready(payloads).items() <= _meetings(asker).items() and not _lacking(asker, payloads), asker.name
    kinds = {payload["data"]["events"]["__typename"] for payloads in told for payload in payloads}
    assert kinds >= {"SessionReady", "IdentityRevised", "NotAllowed"}


async def _events(twins: Twins, asker: Asker) -> list[Any]:
    """All of the last day, until nothing comes any more of what is there already."""
    since, found = (datetime.now(UTC) - timedelta(days=1)).isoformat(), list[Any]()
    async with twins.api.socket({"authorization": f"Bearer {asker.token}", **asker.headers}) as socket:
        assert (await socket.receive())["type"] == "connection_ack"
        await socket.subscribe("1", EVENTS.replace("$since", since))
        while (message := await _next(socket, 20.0 if _lacking(asker, found) else 1.0)) is not None:
            found.append(message["payload"])
    return found


async def _next(socket: Socket, seconds: float) -> Any:
    """None: nothing came, or nothing comes any more."""
    try:
        async with asyncio.timeout(seconds):
            message = await socket.receive()
    except TimeoutError:
        return None
    return message if message["type"] == "next" else None


def _ready(payloads: Sequence[Any]) -> dict[str, int]:
    """Sessions that are told to be complete, each with how many messages it has."""
    told = [payload["data"]["events"] for payload in payloads]
    return {one["sessionId"].partition(":")[2]: one["numMessages"] for one in told if one["__typename"] == "SessionReady"}


def _meetings(asker: Asker) -> dict[str, int]:
    """What the plain data says of these; of one they only were at, they may read nothing."""
    names = [meeting for meeting, _ in asker.oracle.readable]
    return {asker.world.session(name): names.count(name) for name in asker.oracle.meetings}


def _lacking(asker: Asker, payloads: Sequence[Any]) -> set[str]:
    """Sessions with something that they may read, and are not told of."""
    return {id for id, count in _meetings(asker).items() if count} - _ready(payloads).keys()


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
    before = [await twins.api.data(query.replace("$ana", twins.red.person("ana")), asker.token) for query in ASKED]
    hidden = plain("red", "attended", seed=3, size=4).only("attic")
    for world in (twins.red, twins.blue):
        await say(world, hidden)
    for query, answer in zip(ASKED, before, strict=True):
        again = await twins.api.data(query.replace("$ana", twins.red.person("ana")), asker.token)
        assert _moved(answer, again) == [], query


def _moved(before: Any, after: Any) -> list[str]:
    """What is other than it was. Scores are: rarity of words is counted over the whole index. So of what is scored
    the order must be the same where they were further apart than NEAR, and which ranks there are; not whose, of near ties."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return [one for key in before for one in _moved(before[key], after[key])]
    if not _is_scored(before) or not _is_scored(after):
        return [] if before == after else [f"{before} / {after}"]
    moved = [] if _ranks(before) == _ranks(after) else [f"ranks {_ranks(before)} / {_ranks(after)}"]
    place = {_unscored(one): number for number, one in enumerate(after)}
    if {_unscored(one) for one in before} != place.keys():
        return [*moved, f"{before} / {after}"]
    return moved + [
        f"{_unscored(one)} was before {_unscored(other)}"
        for one, other in combinations(before, 2)
        if one["score"] - other["score"] > NEAR * one["score"] and place[_unscored(one)] > place[_unscored(other)]
    ]


def _is_scored(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "score" in one for one in value)


def _ranks(scored: Sequence[Any]) -> list[tuple[str, int]]:
    return sorted((found["tool"], found["rank"]) for one in scored for found in one.get("found", ()))


def _unscored(one: Mapping[str, Any]) -> str:
    tools = sorted(found["tool"] for found in one.get("found", ()))
    return json.dumps({**one, "score": None, "found": tools}, sort_keys=True)
