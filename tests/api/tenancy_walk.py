"""As each kind of principal, every way through the schema: who they are, what they ask, and what showed that must not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from graphql import GraphQLObjectType, GraphQLSchema, is_required_argument

from service.api.limits import Limits
from service.api.schema import make_schema
from service.api.tokens import account_id
from service.graph.write_accounts import bind_account
from service.graph.write_grants import revoke_grant, save_grant
from service.types.meeting import AccountKey
from tests.api.schema_values import needed
from tests.api.schema_walk import Walk
from tests.api.serving import Api
from tests.api.tenancy_oracle import Eyes
from tests.api.tenancy_plain import BOT
from tests.api.tenancy_secrets import ID, Asker, Secrets, traces
from tests.api.tenancy_world import World
from tests.granting import a_grant, let
from tests.oidc_server import OidcServer

SCHEMA: GraphQLSchema = make_schema(development=True)._schema
assert SCHEMA.query_type is not None
QUERY: GraphQLObjectType = SCHEMA.query_type
WALK = Walk(SCHEMA, Limits.config.max_cost)
WORDS = '"garden doctor operation present grandmother soup bread wardrobe spring brother dentist train"'
TOGETHER = 4
"""Ways asked for in one request, where they cost little enough."""


def askers(api: Api, world: World, other: World) -> list[Asker]:
    """Each kind of principal that there is, for `world`; `other` is the same in a space of its own."""

    def token(name: str, of: World = world, **entry: Any) -> str:
        return api.token(name, space=of.space, **entry)

    def person(name: str, **eyes: Any) -> Asker:
        held = Eyes((name,), oneself=name, holder=name, **eyes)
        return Asker(name, world, token(name, person_id=world.person(name)), held, account=world.account(name))

    def heard(name: str, by: Sequence[str], *, stranger: bool = False, ids: Sequence[str] = ()) -> Asker:
        eyes = Eyes((name, *by), stranger=stranger, oneself=name, holder=name)
        headers = {"x-voicegraph-heard-by": ",".join((*map(world.person, by), *ids))}
        label = f"{name} heard by {', '.join((*by, *('a stranger' for _ in ids)))}"
        return Asker(
            label, world, token(f"{name} heard", person_id=world.person(name)), eyes, headers, world.account(f"{name} heard")
        )

    def helper(name: str, scopes: Sequence[str], acting: str, may: Sequence[str]) -> Asker:
        made = token(name, scopes=list(scopes), may_act_for=list(map(world.person, may)))
        return Asker(
            f"{name} for {acting}", world, made, Eyes((acting,), holder=acting),
            {"x-voicegraph-acting-for": world.person(acting)}, world.account(name),
        )  # fmt: skip

    nobody = Eyes()
    return [
        Asker("nobody with a token", world, token("nobody"), nobody, account=world.account("nobody")),
        *(person(name) for name in ("ana", "cleo", "dan", "gil")),
        person("eve"),  # one person with Evelyn, as somebody confirmed
        person("finn"),  # shown as one with Finley, by a guess
        Asker("the bot", world, token(BOT, person_id=world.person(BOT)), Eyes((BOT,), oneself=BOT, holder=BOT),
              account=world.account(BOT)),
        helper("assistant", ["ask"], "ana", ["ana", "ben"]),
        helper("assistant two", ["ask"], "ben", ["ana", "ben"]),
        helper("reader for one", ["ask", "read_all"], "cleo", []),
        heard("ana", ["ben"]),
        heard("ana", ["cleo"]),
        heard("cleo", [], stranger=True, ids=["nobody-known-here"]),
        heard("ben", [], stranger=True, ids=[other.person("ana")]),  # somebody of another space is nobody here
        heard("ana", [BOT]),
        Asker("who reads all", world, token("archive", scopes=["ask", "read_all"]), Eyes(reads_all=True),
              account=world.account("archive")),
        Asker("who reads all, heard by ana", world, token("archive", scopes=["ask", "read_all"]),
              Eyes(("ana",), reads_all=True, holder=None), {"x-voicegraph-heard-by": world.person("ana")},
              world.account("archive")),
        Asker("who only ingests", world, token("recorder", scopes=["ingest"]), Eyes(reads=False),
              account=world.account("recorder")),
        Asker("the administrator", world, token("boss", scopes=["admin"]), Eyes(operator=True), account=world.account("boss")),
        Asker("the administrator of the other space, as ana of this one", other,
              token("ana", of=other, person_id=world.person("ana"), scopes=["ask", "admin"]),
              Eyes(("somebody unknown",), oneself=None, holder=None, operator=True), account=other.account("ana")),
        Asker("ana of the other space", other, token("ana", of=other, person_id=other.person("ana")),
              Eyes(("ana",), oneself="ana", holder="ana"), account=other.account("ana")),
    ]  # fmt: skip


async def outsiders(api: Api, world: World, idp: OidcServer) -> list[Asker]:
    """Kinds for which more than a token must be there: who has none, in the space that the server takes those for; leave that
    has ended or was taken back; and a login of `idp`, bound to Ben."""
    graph, space, now = world.services.graph, world.space, datetime.now(UTC)
    login = AccountKey(idp.issuer, "login-of-ben")
    await graph.write(bind_account, space, login, world.person("ben"), actor="admin", why="why login", at=now)
    ended = a_grant(space, "late assistant", world.person("ana"))
    await graph.write(save_grant, replace(ended, at=now - timedelta(days=2), until=now - timedelta(days=1)))
    (taken,) = await let(graph, space, "former assistant", [world.person("ana")])
    await graph.write(revoke_grant, space, taken, actor="ana", why="why not", at=now)
    acting = {"x-voicegraph-acting-for": world.person("ana")}

    def without_leave(name: str) -> Asker:
        return Asker(f"{name} for ana", world, api.token(name, space=space), Eyes(reads=False), acting, world.account(name))

    return [
        Asker("nobody at all", world, None, Eyes()),
        without_leave("late assistant"),
        without_leave("former assistant"),
        Asker("ben by a provider's login", world, idp.token(login.subject), Eyes(("ben",), oneself="ben", holder="ben"),
              account=account_id(space, login.issuer, login.subject)),
    ]  # fmt: skip


async def by_voice(api: Api, world: World, own: bytes, strange: bytes) -> list[Asker]:
    """Who asks with a clip of a voice, in a space where that stands alone: Ana's `own`, and a voice that nobody has here. The
    space is the one that the server takes callers without a token for."""
    ana, ben = (api.token(f"{name} aloud", space=world.space, person_id=world.person(name)) for name in ("ana", "ben"))
    spoken = {"x-voicegraph-voice": await api.upload(own)}
    unknown = {"x-voicegraph-voice": await api.upload(strange)}
    return [
        Asker("nobody at all", world, None, Eyes()),
        Asker("ana by voice alone", world, None, Eyes(("ana",), oneself="ana", holder="ana"), spoken),
        Asker("a voice that nobody knows", world, None, Eyes(reads=False), unknown),
        Asker("ana by token and voice", world, ana, Eyes(("ana",), oneself="ana", holder="ana"),
              {"x-voicegraph-voice": await api.upload(own, ana)}, world.account("ana aloud")),
        Asker("ana's voice at ben's token", world, ben, Eyes(("ana", "ben"), holder="ben"),
              {"x-voicegraph-voice": await api.upload(own, ben)}, world.account("ben aloud")),
        Asker("ana with an unknown voice in the room", world, ana, Eyes(("ana",), stranger=True, oneself="ana", holder="ana"),
              {"x-voicegraph-heard-by-voices": await api.upload(strange, ana)}, world.account("ana aloud")),
    ]  # fmt: skip


@dataclass
class Ids:
    """By type of the schema, an id that may not show to most, one that may to many, and one of the other space."""

    of: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def few(cls, secrets: Secrets, world: World, other: World) -> Ids:
        found: dict[str, list[str]] = {}
        for one in (world, other):
            for label, wanted in (("Fact", 2), ("Entity", 2), ("Job", 1), ("Image", 1), ("PersonaNode", 1), ("Webhook", 1)):
                ids = [node["id"] for node in secrets.made[one.space][1] if node["label"] == label]
                found.setdefault(label, []).extend(ids[:wanted])
            found.setdefault("Message", []).extend(one.message(m, i) for m, i in (("diary", 0), ("kitchen", 2)))
            found.setdefault("Session", []).extend(map(one.session, ("diary", "kitchen")))
            found.setdefault("Person", []).extend(map(one.person, ("cleo", "evelyn", "gil")))
        return cls(found)


def arguments(ids: Ids) -> dict[str, list[str]]:
    """What is asked of the root fields: ids of things that the asker may not know, and words of what they may not read."""
    people, filters = json.dumps(ids.of["Person"]), f"filters: {{speakers: {json.dumps(ids.of['Person'])}}}"
    sessions = json.dumps(ids.of["Session"])
    every = [*ids.of["Message"], *ids.of["Fact"], *ids.of["Entity"]]

    def each(label: str, argument: str = "id", more: str = "") -> list[str]:
        return [f'{argument}: "{id}"{more}' for id in ids.of[label]]

    return {
        "search": [f"query: {WORDS}, first: 20, explain: true{f}" for f in ("", f", {filters}")],
        "ask": [f"question: {asked}, explain: true" for asked in (WORDS, '"What was said to me while I was out?"')],
        "who": [f"said: {WORDS}, explain: true", f"said: {WORDS}, explain: true, to: {people}"],
        "imageSearch": ['text: "a drawing", first: 20, explain: true', *each("Image", "image")],
        "sounds": ["first: 20", f"about: {WORDS}, first: 9, by: {people}", f"first: 9, sessions: {sessions}"],
        "timeline": each("Person", "person", ", first: 9"),
        "messages": ["first: 20", *each("Person", "speakerId", ", first: 9"), *each("Session", "sessionId", ", first: 9")],
        "facts": ["first: 20", *each("Person", "filters: {speaker", "}, first: 9")],
        "commitments": ["first: 20", *each("Person", "of", ", first: 9"), *each("Person", "to", ", first: 9")],
        "entities": ["first: 20"],
        "profile": each("Person", "personId"),
        "personas": ["", *each("Person", "personId")],
        "sharedPersonas": ["", *each("Person", "personId")],
        "affect": ["first: 9", *each("Person", "personId", ", first: 9")],
        "splitPreview": each("Person", "personId"),
        "explainIdentity": each("Message", "messageId"),
        **{name: ["first: 20", "last: 9"] for name in ("people", "sessions", "jobs")},
        "whoIsThis": ["first: 3"],
        **{name: ["first: 9"] for name in ("nameProposals", "accounts", "deliveries", "webhookDeliveries")},
        "corrections": ["first: 9, undoneToo: true"],
        **{label.lower(): each(label) for label in ("Message", "Session", "Person", "Fact", "Entity", "Job")},
        "node": [f'id: "{id}"' for id in every],
    }


def ways(given: Mapping[str, list[str]], *, only: Sequence[str] | None = None, each: int | None = None) -> Iterator[str]:
    """Every way through the schema, several in a request. `only`: of these root fields; `each`: some ways of each of them."""
    counted: Counter[str] = Counter()
    some = []
    for name, way in WALK.queries(QUERY, {**needing(QUERY), **given}):
        counted[name] += 1
        if (only is None or name in only) and (each is None or counted[name] <= each):
            some.append(way)
    return _requests(some)


def every_field(given: Mapping[str, list[str]]) -> Iterator[str]:
    """From every root field every field of every type below it, if not every way there: a third of what all ways cost."""
    return _requests([way for _, way in WALK.covering(QUERY, {**needing(QUERY), **given})])


def _requests(some: Sequence[str]) -> Iterator[str]:
    together: list[str] = []
    spent = 0
    for way in some:
        cost = WALK.cost(way)
        if together and (len(together) == TOGETHER or spent + cost > WALK.max_cost):
            yield _request(together)
            together, spent = [], 0
        together.append(way)
        spent += cost
    if together:
        yield _request(together)


def needing(root: GraphQLObjectType) -> dict[str, list[str]]:
    """Arguments of fields that need some, with ids of nothing: whatever comes into the schema is walked, too."""
    required = {
        name: [(one, argument) for one, argument in of.args.items() if is_required_argument(argument)]
        for name, of in root.fields.items()
    }
    return {
        name: [", ".join(f"{one}: {needed(f'{name}.{one}', argument)}" for one, argument in some).replace("$", "no ")]
        for name, some in required.items()
        if some
    }


def _request(some: Sequence[str]) -> str:
    return "{ " + " ".join(f"w{number}: {way}" for number, way in enumerate(some)) + " }"


@dataclass
class Verdict:
    """What a walk came to."""

    answers: int = 0
    fields: int = 0
    """Values that came back."""
    checks: int = 0
    """Values that came back, times what must not be among them."""
    leaks: list[str] = field(default_factory=list)
    shown: dict[str, set[str]] = field(default_factory=dict)
    """Asker → what showed of all that there is."""


async def walk(api: Api, secrets: Secrets, asker: Asker, requests: Sequence[str], verdict: Verdict) -> None:
    """Ask all of it as one of them."""
    outside, everything = secrets.outside(asker), secrets.everything
    for request in requests:
        answer = await api.post(request, asker.token, dict(asker.headers))
        judge(asker, request, answer, outside, everything, verdict)


def judge(asker: Asker, request: str, answer: object, outside: set[str], everything: set[str], verdict: Verdict) -> None:
    """`request` itself may name what must not show: only what it does not name can come back from elsewhere."""
    text = json.dumps(answer, ensure_ascii=False)
    found = traces(text)
    values = sum(1 for _ in _leaves(answer))
    verdict.answers += 1
    verdict.fields += values
    verdict.checks += values * len(outside)
    asked = set(ID.findall(request))
    verdict.leaks += [f"{asker.name} ({asker.world.plain.access}): {secret} by {request[:2000]}" for secret in
                      sorted((found & outside) - asked)]  # fmt: skip
    for error in (answer.get("errors") or []) if isinstance(answer, dict) else []:
        if error.get("extensions", {}).get("code") in (None, "unexpected"):
            verdict.leaks.append(f"{asker.name}: {error} by {request[:600]}")
    verdict.shown.setdefault(asker.name, set()).update(found & everything)


def _leaves(value: object) -> Iterator[object]:
    match value:
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case _:
            yield value
