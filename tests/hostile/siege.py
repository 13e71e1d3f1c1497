"""A house with something to hide, who knocks at it, and what must not come out: a fault of the service, or words of others."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from service.api.schema import make_schema
from service.api.tokens import issue
from service.graph.driver import Graph
from service.graph.dump import Dump, dump_space
from service.graph.spaces import ensure_space
from service.types.people import SpaceSettings
from tests.graph.graph_builders import Said, World, seed, unit_vectors
from tests.hostile.requests import Hostile, Sent

PEOPLE = ["anoushka", "benedikta", "cleoxandra", "danilovic"]
ROOMS = {"kitchenette": PEOPLE[:2], "observatory": PEOPLE[2:]}
SUBJECTS = (
    "quince jelly",
    "telescope mirrors",
    "the doctor and the knee",
    "a surprise party",
    "the mountains in spring",
    "who pays",
)
V = unit_vectors(len(SUBJECTS) * 4, seed=11)


@dataclass(frozen=True)
class House:
    world: World
    tokens: Mapping[str, str]
    """By principal: a person who was in one of two rooms, a program that is nobody in particular, another space's operator."""
    hidden: Mapping[str, frozenset[str]]
    """By principal, `""` for those without a token: words, names and ids that must not come back to it."""

    def hostile(self, seed: int) -> Hostile:
        """Everybody knows the ids of everything, as from an old link."""
        ids = sorted(set().union(*(self.hidden[""], *self._ids())))
        return Hostile(
            make_schema(development=False)._schema,
            [id for id in ids if id.count("-") == 4],
            ("", "guest", "program", "elsewhere"),
            ("program", "elsewhere"),
            seed,
        )

    def _ids(self) -> Iterable[set[str]]:
        for i in range(len(self.world.said)):
            yield {self.world.message(i)}


async def remembered(graph: Graph, space: str) -> Dump:
    """All of the space, but the records of what somebody asked to be done and were refused."""
    dump = await graph.read(dump_space, space)
    return {**dump, "nodes": [node for node in dump["nodes"] if node["labels"] != ["Job"]]}


@dataclass
class Tally:
    answered: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[tuple[Sent, str]] = field(default_factory=list)
    """Requests that were answered by a fault of the service, and which."""
    sent: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """What is hidden and a principal has sent itself: that may be told to it again, in a job of its own for one."""
    leaks: list[tuple[Sent, str]] = field(default_factory=list)
    """Requests whose answer held what is hidden from who sent it, and what."""


async def furnished(graph: Graph, space: str, elsewhere: str, tokens_file: Path) -> House:
    """Two rooms in which each subject was spoken of, in words that stand nowhere else; and another space with an operator."""
    for one in (space, elsewhere):
        await graph.write(ensure_space, SpaceSettings(one))
    said = [
        Said(who, f"{subject} zq{room[:3]}{i}{who[:2]}", people, to=[other], session=room, vector=V[i])
        for room, people in ROOMS.items()
        for i, subject in enumerate(SUBJECTS)
        for who, other in (people, people[::-1])
    ]
    world = await seed(graph, space, PEOPLE, said)
    hidden = {
        room: frozenset(
            {
                *(text.text.rpartition(" ")[2] for text in said if text.session == room),
                *(world.message(i) for i, text in enumerate(said) if text.session == room),
                *(name.title() for name in people),
                *map(world.person, people),
                world.session(room),
                room,
            }
        )
        for room, people in ROOMS.items()
    }
    everything = frozenset().union(*hidden.values())
    given: dict[str, dict[str, Any]] = {
        "guest": {"space": space, "person_id": world.person(PEOPLE[0])},
        "program": {"space": space},
        "elsewhere": {"space": elsewhere, "scopes": ["admin", "read_all", "ingest", "ask"]},
    }
    tokens = {name: issue(tokens_file, subject=name, **entry)[0] for name, entry in given.items()}
    return House(
        world, tokens, {"": everything, "program": everything, "elsewhere": everything, "guest": hidden["observatory"]}
    )


async def besiege(client: httpx.AsyncClient, house: House, requests: Iterable[Sent], tally: Tally) -> AsyncIterator[Sent]:
    """Sends each of `requests`, and counts what came of it; yields after each."""
    for sent in requests:
        headers = {name: value.encode("latin-1") for name, value in sent.headers.items()}
        if sent.principal and "authorization" not in headers:
            headers["authorization"] = f"Bearer {house.tokens[sent.principal]}".encode()
        try:
            answer = await client.request(sent.method, sent.path, content=sent.content, headers=headers)
        except httpx.LocalProtocolError:  # this client does not send that
            yield sent
            continue
        except httpx.TransportError as error:
            if not _is_too_long(sent):  # whose connection is ended while it is still sent
                tally.faults.append((sent, type(error).__name__))
            yield sent
            continue
        tally.answered += 1
        tally.statuses[answer.status_code] += 1
        if fault := _fault(answer):
            tally.faults.append((sent, fault))
        body = f"{answer.text} {dict(answer.headers)}"
        asked, who = sent.content.decode(errors="replace") + str(sent.headers), _as_whom(sent)
        tally.sent[who] |= {word for word in house.hidden[who] if word in asked}
        tally.leaks += [(sent, word) for word in house.hidden[who] - tally.sent[who] if word in body]
        yield sent


def _as_whom(sent: Sent) -> str:
    return "" if "authorization" in sent.headers else sent.principal


def _is_too_long(sent: Sent) -> bool:
    return sum(map(len, sent.headers.values())) + len(sent.path) > 30_000


def _fault(answer: httpx.Response) -> str:
    """What of it is the service's own fault: a 5xx, an incident."""
    if answer.status_code >= 500:
        return f"{answer.status_code} {answer.text[:300]}"
    try:
        told = answer.json()
    except ValueError:
        return ""
    errors = told.get("errors") if isinstance(told, dict) else None
    for error in errors or ():
        extensions = error.get("extensions") or {}
        if "incident" in extensions or extensions.get("code") in ("unexpected", "took_too_long"):
            return json.dumps(error)[:300]
    return ""
