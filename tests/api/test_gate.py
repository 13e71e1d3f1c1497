"""No path of the schema leads around the gate: as a stranger, as somebody else, from another space, by query, mutation and
subscription. What lies outside must not show in any byte of an answer, and must answer like what does not exist."""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from graphql import GraphQLInterfaceType, GraphQLObjectType

from service.api.jobs import JobType
from service.api.limits import Limits
from service.api.schema import make_schema
from service.graph.accounts import account_id
from service.graph.driver import Graph, changes, rows
from service.graph.images import Shown, save_images
from service.graph.jobs import JobStatus, NewJob, save_job
from service.graph.spaces import ensure_space
from service.graph.write_accounts import bind_account
from service.graph.write_entities import entity_id
from service.pipelines.entities import RememberEntities
from service.settings import Settings
from service.types.entities import EntityType
from service.types.events import EventKind
from service.types.ids import derived, fresh
from service.types.meeting import AccountKey
from service.types.people import SpaceSettings
from service.types.told import Image
from service.wiring import Services
from tests.api.schema_walk import Walk
from tests.api.serving import Api, serving
from tests.api.tenancy_walk import needing
from tests.graph.fact_builders import Told, fact_id, readers_of, tell
from tests.graph.graph_builders import Said, World, seed, unit_vectors
from tests.graph.identity_builders import bound, corrected, decided, exemplar, may_be, not_same, proposed, unname

schema = make_schema(development=True)._schema
WALK = Walk(schema, Limits.config.max_cost)
V = unit_vectors(8, seed=7)

SAID = [
    Said("ana", "Good morning everybody, breakfast is ready", ["*"], session="kitchen", vector=V[0]),
    Said(
        "ana",
        "The surprise party for grandmother is on Friday evening",
        ["ana", "ben"],
        to=["ben"],
        session="garden",
        vector=V[1],
    ),
    Said("ben", "I hid the presents behind the wardrobe", ["ana", "ben"], to=["ana"], session="garden", vector=V[2]),
    Said(None, "Somebody unresolved mumbles about presents", ["ana", "ben"], session="garden", vector=V[3]),
    Said("cleo", "The doctor says the knee needs an operation", ["cleo", "dan"], to=["dan"], session="attic", vector=V[4]),
    Said("dan", "Then we postpone the mountains until spring", ["cleo", "dan"], to=["cleo"], session="attic", vector=V[5]),
    Said("cleo", "A secret that is mine alone", ["cleo"], session="attic", vector=V[6]),
    Said("zoe", "Nobody knows what I am called", ["cleo", "dan"], session="attic", vector=V[7]),
]
NAMES = {"Anouk": ("ana", [1]), "Benedict": ("ben", [2]), "Maximilian": ("garden", [3]), "Cleopatra": ("cleo", [1, 4]),
         "Daniela": ("dan", [5]), "Zoelina": ("zoe", [7])}  # fmt: skip
"""Name → whom it is proposed for, and the turns that say so."""
TOLD = [
    Told("{speaker} says that breakfast is ready", [0]),
    Told(
        "{speaker} hides the gifts where coats hang", [2, 1], "commitment", attribute="hiding place", value="where coats hang"
    ),
    Told("Something murmured of gifts", [3], attribute="hiding place", value="murmured"),
    Told("the joint of {addressee} must be operated on", [4], "plan"),
    Told("{speaker} and {addressee} stay in the valley", [5, 4], "commitment", attribute="hiding place", value="the valley"),
    Told("{speaker} keeps it to herself", [6], "preference", attribute="hiding place", value="herself"),
    Told("{speaker} keeps the joint to herself", [4, 6], attribute="hiding place", value="joint"),
]
"""What is understood of it. The last is made from what Dan may read, too, and from what he may not."""
SHOWN = {0: "a table laid for breakfast", 1: "the cake with eighty candles", 4: "a radiograph of the joint", 6: "a diary"}
"""Which message an image was shown with, and what it shows."""
PROFILE = """profile(personId: "$id") { person { displayName aliases } background { now { text value } before { id text } }
  preferences { now { text } before { text } } commitments { id text evidence { text } } plans { id text history { text } } }"""
FELT = {"ana": 1, "ben": 2, "cleo": 6}
"""Who agreed to being understood, and a turn of theirs: what it shows of them is theirs alone, whoever may read the turn."""
SAVE_FELT = """
MATCH (m:Message {id: $message})
SET m.affect_of = m.speaker_id, m.affect_by = 'test-1', m.valence = 0.5, m.arousal = 0.5, m.marks = $marks
"""
SAVE_SOUND = """
MATCH (m:Message {id: $message})
CREATE (a:AudioMemory {id: $message + '/laughs', space: m.space, created_at: datetime(), of: m.speaker_id, label: 'laughing',
  start: m.start, end: m.end, score: 0.8, expires_at: datetime() + duration('P1D')})-[:ATTACHED_TO]->(m)
"""
"""Everybody laughs in whatever they say."""
GROUPS = {"ana": {"ana", "ben"}, "ben": {"ana", "ben"}, "cleo": {"cleo", "dan"}, "dan": {"cleo", "dan"}, None: set()}


@dataclass(frozen=True)
class House:
    api: Api
    world: World
    jobs: dict[str, str]
    """By account name, the id of a job."""
    corrections: dict[str, str]
    """By account name, the id of a correction."""
    proposals: dict[str, str]
    """By name, the id of its proposal."""
    entities: dict[str, set[str]]
    """By id, the messages that speak of it."""
    webhook: str
    """Id of one that is told of everything: for administrators alone."""
    answers: dict[tuple[str | None, tuple[tuple[str, str], ...]], dict[str, str]] = field(default_factory=dict)
    """By token and headers, what every way through the schema answered."""
    tokens: dict[str, str] = field(default_factory=dict)

    def token(self, name: str) -> str:
        """Of a person, the same each time."""
        if name not in self.tokens:
            self.tokens[name] = self.api.token(name, person_id=self.world.person(name))
        return self.tokens[name]

    def login(self, name: str) -> str:
        return account_id(self.world.space, AccountKey("zoom", f"{name}-at-zoom"))

    def outside(self, *names: str) -> set[str]:
        """Everything that may not show to who sees what `names` see: ids, texts, names, titles."""
        seen = {name for name in names if name}
        hidden = [i for i, s in enumerate(SAID) if "*" not in s.readers and not (seen and seen <= set(s.readers))]
        known = {s.by for i, s in enumerate(SAID) if i not in hidden} | {
            t for i, s in enumerate(SAID) if i not in hidden for t in s.to
        }
        sessions = {s.session for i, s in enumerate(SAID) if i not in hidden}
        people = {"ana", "ben", "cleo", "dan", "zoe"} - known - seen
        names = {name for name, (_, evidence) in NAMES.items() if set(evidence) & set(hidden)}
        rooms = {s.session for s in SAID} - sessions
        return {
            *(self.world.message(i) for i in hidden),
            *(SAID[i].text for i in hidden),
            *(caption for i, caption in SHOWN.items() if i in hidden),
            *(self.world.person(p) for p in people),
            *(p.title() for p in people),
            *(self.world.session(s) for s in rooms),
            *rooms,
            *(id for name, id in self.jobs.items() if name not in seen),
            *(id for name, id in self.corrections.items() if name not in seen),
            *(f"why {name} thought so" for name in self.corrections if name not in seen),
            *(self.webhook, "webhook.invalid"),
            *names,
            *(self.proposals[name] for name in names),
            *(f"{who}'s zither" for who in FELT if seen != {who}),
            *(f"{who}-at-zoom" for who in ("ana", "cleo") if seen != {who}),
            *(id for id, told in self.entities.items() if told <= {self.world.message(i) for i in hidden}),
            *(words for i in self.untold(seen) for words in (fact_id(self.world, i), TOLD[i].statement.split("}")[-1])),
        }

    def untold(self, seen: set[str]) -> list[int]:
        """Facts that are not all of `seen` to read."""
        readers = [set(readers_of(self.world, told)) for told in TOLD]
        return [i for i, who in enumerate(readers) if "*" not in who and not (seen and seen <= who)]


@pytest.fixture(scope="module")
async def house(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """A server whose default space is this file's, so that callers without a token meet it too."""
    space = f"test-{fresh()}"
    await graph.write(ensure_space, SpaceSettings(space))
    world = await seed(graph, space, ["ana", "ben", "cleo", "dan", "zoe"], SAID)
    await world.replies(2, 1)
    await world.replies(5, 4)
    await guesses(world)
    await tell(world, TOLD)
    for who, index in FELT.items():
        mark = {"aspect": "attitude", "intensity": 0.6, "polarity": 0.6, "target": f"{who}'s zither"}
        await graph.write(changes, SAVE_FELT, message=world.message(index), marks=json.dumps([mark]))
    services = Services(
        Settings(data_dir=tmp_path_factory.mktemp("data"), development=False, recogniser="none", space=space), graph
    )
    for index, said in enumerate(SAID):
        if said.by is not None:
            await graph.write(changes, SAVE_SOUND, message=world.message(index))
    vectors = (await services.text_embedder()).passages(list(SHOWN.values()))
    shown = {world.message(i): Shown([Image(None, c)], [v]) for (i, c), v in zip(SHOWN.items(), vectors, strict=True)}
    await graph.write(save_images, space, shown, "e5_small_v2_q")
    async with serving(services, space) as api:
        jobs = {}
        for name in ("ana", "cleo"):
            new = NewJob(space, derived("account", space, "local", name), fresh(), "ingest", "hash", "{}")
            job, _ = await graph.write(save_job, new, JobStatus.RUNNING, again=())
            jobs[name] = job.id
        accounts = {name: derived("account", space, "local", name) for name in ("ana", "cleo")}
        corrections = {
            name: await corrected(world, account, ["cleo", "ben", name], why=f"why {name} thought so", messages=[1, 4])
            for name, account in accounts.items()
        }
        for name in ("ana", "cleo"):
            login = AccountKey("zoom", f"{name}-at-zoom")
            why, now = f"why {name} thought so", datetime.now(UTC)
            await graph.write(bind_account, space, login, world.person(name), actor="admin", why=why, at=now)
        proposals = {name: await proposed(world, about, name, evidence) for name, (about, evidence) in NAMES.items()}
        url = "https://webhook.invalid/"
        made = await services.webhooks().add(space, url, tuple(EventKind), person=None, made_by="cleo's account")
        yield House(api, world, jobs, corrections, proposals, await spoken_of(services, world), made.webhook.id)


async def spoken_of(services: Services, world: World) -> dict[str, set[str]]:
    remember: RememberEntities = await services.entities()
    for session in dict.fromkeys(said.session for said in SAID):
        await remember(world.space, world.session(session))
    query = "MATCH (e:Entity {space: $space})-[:MENTIONED_IN]->(m:Message) RETURN e.id AS id, collect(m.id) AS told"
    return {row["id"]: set(row["told"]) for row in await world.graph.read(rows, query, space=world.space)}


async def guesses(world: World) -> None:
    """What is known and guessed of voices, across what one may see and what one may not."""
    await unname(world, "zoe")
    for who in ("ben", "cleo", "zoe"):
        await may_be(world, "garden", who)
    await may_be(world, "zoe", "ben")
    await may_be(world, "zoe", "dan")
    await not_same(world, "ana", "zoe")
    await bound(world, "garden", "cleo", runner_up_id=world.person("dan"), reason="why cleo thought so", by="cleo's account")
    for index, runner_up in ((1, "cleo"), (2, "dan"), (3, "cleo"), (4, "ana"), (5, "zoe")):
        await decided(world, index, runner_up_id=world.person(runner_up), reason="why cleo thought so", by="cleo's account")
    for person, index in (("ana", 1), ("ana", 4), ("ben", 2), ("ben", 5), ("cleo", 6), ("cleo", 1)):
        await exemplar(world, person, index)


def arguments(house: House, ids: Iterable[str]) -> dict[str, list[str]]:
    """What is asked of the root fields: ids the caller should not know, and words that are in what they may not read."""
    people = [house.world.person(p) for p in ("ana", "ben", "cleo", "dan")]
    some = [house.world.message(i) for i in (3, 4)]
    filters = f"filters: {{speakers: {json.dumps(people)}}}"
    words = '"surprise party presents doctor knee operation secret mountains breakfast"'
    return {
        "search": [f"query: {words}, first: 20, explain: true{f}" for f in ("", f", {filters}")],
        "ask": [f"question: {asked}, explain: true" for asked in (words, '"What was said to me while I was out?"')],
        "who": [f"said: {words}, explain: true, to: {json.dumps(people)}"],
        "imageSearch": [f"text: {words}, first: 20, explain: true"],
        "sounds": ["first: 20", f"about: {words}, first: 9"],
        "timeline": [f'person: "{p}", first: 9' for p in people[1:3]],
        "messages": ["first: 20", *(f'first: 9, speakerId: "{p}"' for p in people)],
        **{name: ["first: 9", "last: 9"] for name in ("people", "sessions", "jobs")},
        "whoIsThis": ["first: 3"],  # the voice of the garden, and Zoe
        "nameProposals": ["first: 9"],
        "corrections": ["first: 9, undoneToo: true"],
        "accounts": ["first: 9"],
        "facts": ["first: 20"],
        "entities": ["first: 20"],
        "commitments": [f'first: 9, to: "{people[3]}"'],
        "profile": [f'personId: "{people[0]}"'],  # the others by PROFILE, since its paths are many
        "splitPreview": [f'personId: "{people[0]}"'],
        "explainIdentity": [f'messageId: "{id}"' for id in some],
        **{name: [f'id: "{id}"' for id in ids] for name in ("person", "session", "message", "fact", "entity", "job", "node")},
    }


async def leaks(house: House, token: str | None, names: tuple[str, ...], headers: dict[str, str] | None = None) -> list[str]:
    """Every query whose answer shows something outside, and what it showed."""
    outside = house.outside(*names)
    answers = await answers_to(house, token, headers)
    assert len(answers) > 15
    return [f"{secret!r} by {query}" for query, answer in answers.items() for secret in outside if secret in answer]


def ways(house: House) -> list[str]:
    """Every way through the schema, four in a request, or as many as one may cost."""
    requests: list[list[str]] = [[]]
    spent = 0
    profiles = (PROFILE.replace("$id", house.world.person(p)) for p in ("ben", "cleo", "dan"))
    for way in (*profiles, *(way for _, way in WALK.queries(_query(), {**needing(_query()), **arguments(house, ["x"])}))):
        cost = WALK.cost(way)
        if len(requests[-1]) == 4 or spent + cost > WALK.max_cost:
            requests.append([])
            spent = 0
        requests[-1].append(way)
        spent += cost
    return ["{ " + " ".join(f"w{i}: {way}" for i, way in enumerate(some)) + " }" for some in requests]


async def answers_to(house: House, token: str | None, headers: dict[str, str] | None = None) -> dict[str, str]:
    """What every way through the schema answers, by query; asked once for each token and headers."""
    asked = (token, tuple(sorted((headers or {}).items())))
    if asked not in house.answers:
        house.answers[asked] = {query: readable(await house.api.http_text(query, token, headers)) for query in ways(house)}
    return house.answers[asked]


async def test_a_stranger_without_a_token_meets_only_what_is_public(house: House) -> None:
    assert await leaks(house, None, ()) == []


async def test_a_token_of_nobody_in_particular_meets_only_what_is_public(house: House) -> None:
    assert await leaks(house, house.api.token("nobody"), ()) == []


@pytest.mark.parametrize("name", ["ana", "cleo"])
async def test_a_person_meets_only_their_own_scope(house: House, name: str) -> None:
    assert await leaks(house, house.token(name), (name,)) == []


async def test_a_listener_from_outside_leaves_only_what_is_public(house: House) -> None:
    token = house.api.token("somebody", person_id=house.world.person("ana"))
    headers = {"x-voicegraph-heard-by": house.world.person("cleo")}
    assert await leaks(house, token, ("ana", "cleo"), headers) == []


async def test_the_same_person_seen_from_another_space_is_nobody(house: House) -> None:
    other = f"test-{fresh()}"
    await house.world.graph.write(ensure_space, SpaceSettings(other))
    token = house.api.token("ana", space=other, person_id=house.world.person("ana"), scopes=["ask", "admin"])
    for query, answer in (await answers_to(house, token)).items():
        assert "not_found" not in answer
        assert not any(s.text in answer or s.session in answer for s in SAID), query


async def test_the_walk_sees_what_may_be_seen(house: House) -> None:
    """Else the tests above would pass on an empty graph."""
    for given, seen in ((None, 1), (house.token("ana"), 4)):
        answers = await answers_to(house, given)
        unknown = "".join(answer for query, answer in answers.items() if ": whoIsThis(" in query)
        assert ("Somebody unresolved mumbles" in unknown, "Nobody knows" in unknown) == (given is not None, False)
        why = "".join(answer for query, answer in answers.items() if ": explainIdentity(" in query)
        assert ("bounded" in why, "Cleo" in why) == (given is not None, False)
        logins = "".join(answer for query, answer in answers.items() if ": accounts(" in query)
        assert ("ana-at-zoom" in logins, "cleo-at-zoom" in logins) == (given is not None, False)
        rest = "".join(answer for query, answer in answers.items() if ": corrections(" in query or ": nameProposals(" in query)
        assert ("why ana thought so" in rest, "Benedict" in rest) == (given is not None, given is not None)
        felt = "".join(answer for query, answer in answers.items() if ": affect" in query)
        assert {who for who in FELT if f"{who}'s zither" in felt} == ({"ana"} if given else set())
        told = "".join(answer for query, answer in answers.items() if ": facts(" in query or ": profile(" in query)
        assert sum(t.statement.split("}")[-1] in told for t in TOLD) == (3 if given else 1)
        spoken = "".join(answer for query, answer in answers.items() if ": entities(" in query)
        assert ("breakfast" in spoken, "wardrobe" in spoken, "knee" in spoken) == (True, given is not None, False)
        images = "".join(answer for query, answer in answers.items() if ": imageSearch(" in query)
        assert [caption in images for caption in SHOWN.values()] == [True, given is not None, False, False]
        for way in (": messages(", ": search(", ": sessions("):
            found = "".join(answer for query, answer in answers.items() if way in query)
            assert sum(s.text in found for s in SAID) == seen, way


async def test_an_id_outside_answers_like_one_that_does_not_exist(house: House) -> None:
    """For every Node type, by its own field and by node(id)."""
    world, kinds = house.world, {t.name for t in schema.get_possible_types(_node())}
    cleo = {
        "Person": world.person("cleo"),
        "Session": world.session("attic"),
        "Message": world.message(4),
        "Fact": fact_id(world, 4),
        "Entity": entity_id(world.space, EntityType.THING, "knee"),
        JobType.__strawberry_definition__.name: house.jobs["cleo"],  # type: ignore[attr-defined]
    }
    kinds -= {"Receipt"}  # nothing was erased here
    assert set(cleo) == kinds
    tokens = [None, house.api.token("nobody"), house.api.token("ana", person_id=world.person("ana"))]
    for kind, token in itertools.product(kinds, tokens):
        for query in (
            f"query($id: ID!) {{ {kind.lower()}(id: $id) {{ id }} }}",
            "query($id: ID!) { node(id: $id) { id __typename } }",
        ):
            for form in (cleo[kind], f"{kind}:{cleo[kind]}"):
                absent = form.replace(cleo[kind], fresh())
                assert await house.api.post(query, token, id=form) == await house.api.post(query, token, id=absent)
    owner = house.api.token("cleo", person_id=world.person("cleo"))
    for kind in kinds:
        data = await house.api.data("query($id: ID!) { node(id: $id) { id } }", owner, id=f"{kind}:{cleo[kind]}")
        assert data["node"]["id"] == f"{kind}:{cleo[kind]}"


async def test_a_query_over_a_websocket_meets_the_same_gate(house: House) -> None:
    cleo = house.api.token("cleo", person_id=house.world.person("cleo"))
    outside, seen = house.outside("cleo"), ""
    async with house.api.socket({"authorization": f"Bearer {cleo}"}) as socket:
        await socket.receive()
        for number, query in enumerate(ways(house)):
            answer = readable(json.dumps(await socket.results(str(number), query)))
            assert not [secret for secret in outside if secret in answer], query
            seen += answer
    assert "A secret that is mine alone" in seen


async def test_what_one_asker_may_see_leads_nowhere_else(house: House) -> None:
    """Two askers in one request: each answer is read on with its own asker's eyes, not with those of the request."""
    token = house.api.token("bot", may_act_for=[house.world.person("ana"), house.world.person("cleo")])
    fields = """{ ... on SearchResult { hits { message { text
      speaker { displayName messages(first: 20) { edges { node { text } } } }
      session { messages(first: 20) { edges { node { text } } } } } } } }"""
    query = (
        "{ "
        + " ".join(
            f'{name}: search(query: "presents operation", asker: {{actingFor: "{house.world.person(name)}"}}) {fields}'
            for name in ("ana", "cleo")
        )
        + " }"
    )
    data = await house.api.data(query, token)
    for name in ("ana", "cleo"):
        answer = json.dumps(data[name])
        assert not [s for s in house.outside(name) if s in answer]
        assert sum(s.text in answer for s in SAID) >= 3


async def test_errors_tell_nothing(house: House, caplog: pytest.LogCaptureFixture) -> None:
    query = """{ search(query: "knee operation \\\\ AND ) OR (text:*", filters: {since: "2026-01-01"}) {
      __typename ... on Problem { code message } } }"""
    answer = json.dumps(await house.api.post(query, house.api.token("nobody")))
    assert "Traceback" not in answer and "bolt" not in answer and "neo4j" not in answer.lower()
    assert "knee" not in caplog.text


def readable(answer: str) -> str:
    """The answer, and what its cursors say."""
    cursors = re.findall(r'"(?:cursor|startCursor|endCursor)": ?"([^"]+)"', answer)
    return answer + " ".join(base64.urlsafe_b64decode(c + "=" * (-len(c) % 4)).decode() for c in cursors)


def _query() -> GraphQLObjectType:
    assert schema.query_type is not None
    return schema.query_type


def _node() -> GraphQLInterfaceType:
    node = schema.get_type("Node")
    assert isinstance(node, GraphQLInterfaceType)
    return node
