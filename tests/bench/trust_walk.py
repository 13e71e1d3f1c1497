"""Does the whole schema show anything to somebody who may not know it, and does time tell what an answer does not?

`python -m tests.bench.trust --parts walk [--quick] [--json PATH]`. A space for each policy of access, and one more with the
same people, meetings and sentences; as every kind of principal, every way through the schema is asked for, and every id, word
and name in an answer is held against what an oracle reckons from the plain data (tests/api/tenancy_*.py). Then every place of a
query, mutation or subscription where an id can stand is given one of something hidden and one of nothing: the answers must be
the same. And 2,000 requests for the one or the other, in any order: their times must be."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeAlias

import numpy as np
from rich.console import Console
from rich.progress import Progress

from service.api.moments import MomentsConfig
from service.demo import __file__ as demo
from service.graph.driver import Graph, rows
from service.graph.forget_space import forget_space
from service.types.ids import derived, fresh
from service.types.people import VoiceAccess
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.api.tenancy_missing import calls, differences
from tests.api.tenancy_plain import GUESSED, SAME, plain
from tests.api.tenancy_secrets import Asker, Secrets
from tests.api.tenancy_walk import Ids, Verdict, arguments, askers, by_voice, walk, ways
from tests.api.tenancy_world import World, made, write
from tests.bench.report import Report
from tests.bench.search import services

POLICIES, QUICK_POLICIES = ("attended", "own", "addressed", "shared"), ("attended",)
HOUSEHOLD = Path(demo).parent / "household"
CLIPS = tuple((HOUSEHOLD / f"ask_{said}.ogg").read_bytes() for said in ("teapot_nora", "surprise_stranger"))
"""Nora's voice, whom the space knows as Ana, and one of nobody."""
TIMED, QUICK_TIMED = 2_000, 400
COMPARED = ("ana", "finn", "who only ingests", "who reads all", "the administrator", "assistant for ana", "ana heard by cleo")
QUICK_COMPARED = ("finn",)
"""As whom ids of hidden things are given."""
ENOUGH = 60
"""Requests of one way, half of them for each: by chance alone the AUC of so many is off 0.5 by 0.075 (one standard error)."""
WARM = 40
"""Requests before any is timed."""
SEED = 8
AT_ONCE = 4
"""Principals that walk at once: each waits for the database most of the time, and for even moments."""
ALOUD = 1
"""Ways through each root field that are asked for by voice: each is heard anew, a fifth of a second of all cores."""
TIMING = {
    "Message": ("message(id: {})", "explainIdentity(messageId: {})", "node(id: {})"),
    "Person": ("person(id: {})", "profile(personId: {})", "messages(first: 3, speakerId: {})"),
    "Session": ("session(id: {})", "messages(first: 3, sessionId: {})"),
    "Fact": ("fact(id: {})", "node(id: {})"),
    "Entity": ("entity(id: {})",),
    "Job": ("job(id: {})",),
}
LONG = 10_000
"""Turns of somebody hidden: all of them are looked through for one that may be read."""
SAY_MUCH = """
CREATE (a:Audience {id: $audience, space: $space, created_at: datetime(), public: false, num_readers: 0})
CREATE (p:Person {id: $person, space: $space, created_at: datetime(), display_name: 'Talker'})
CREATE (s:Session {id: $session, space: $space, created_at: datetime(), external_id: $session, started_at: datetime(),
  status: 'complete'})
WITH a, p, s UNWIND range(0, $turns - 1) AS i
CREATE (m:Message {id: randomUUID(), space: $space, created_at: datetime(), session_id: $session, index: i, text: 'so',
  said_at: datetime(), start: toFloat(i), end: i + 1.0, speaker_id: $person, audience: $audience})
CREATE (p)-[:SPEAKS]->(m), (m)-[:FOR]->(a), (m)-[:IN_SESSION]->(s)
"""
Timed: TypeAlias = dict[tuple[str, str], tuple[list[float], list[float]]]
"""By label and way of asking: seconds of an id of nothing, and of a hidden one."""
SELECTED = {"explainIdentity": "{ localSpeaker }", "profile": "{ complete }", "messages": "{ edges { node { id } } }"}


def run(report: Report, *, quick: bool) -> None:
    asyncio.run(_run(report, quick))


async def _run(report: Report, quick: bool) -> None:
    async with AsyncExitStack() as stack:
        given = await stack.enter_async_context(services())
        home = f"trust-{fresh()}"
        service = Services(given.settings.model_copy(update={"space": home}), given.graph)
        ana = (await service.heard(HOUSEHOLD / "enrol_nora.ogg")).embeddings[0].vector
        worlds = [
            await write(
                service, plain("red", access), space=home if access == "attended" else None, voices=VoiceAccess.OPEN,
                known_by={"ana": ana},
            )
            for access in (QUICK_POLICIES if quick else POLICIES)
        ]  # fmt: skip
        worlds.append(await write(service, plain("blue", "attended")))
        for world in worlds:
            stack.push_async_callback(forget_space, service.graph, world.space)
        async with serving(service, home) as api:
            everybody = {w.space: askers(api, w, worlds[-1]) for w in worlds[:-1]}
            secrets = Secrets({world.space: (world, await made(service.graph, world.space)) for world in worlds})
            await _walk(report, api, secrets, worlds, everybody, quick)
            await _compare(report, api, secrets, worlds, everybody[home], quick)
        async with serving(service, home, moments=MomentsConfig()) as api:
            await _time(report, api, secrets, worlds[0], askers(api, worlds[0], worlds[-1]), QUICK_TIMED if quick else TIMED)
        await service.close()


async def _walk(
    report: Report,
    api: Api,
    secrets: Secrets,
    worlds: Sequence[World],
    everybody: Mapping[str, Sequence[Asker]],
    quick: bool,
) -> None:
    verdict = Verdict()
    tours = list[tuple[Asker, Sequence[str]]]()
    for world in worlds[:-1]:
        given = arguments(Ids.few(secrets, world, worlds[-1]))
        every = list(ways(given, each=1 if quick else None))
        tours += [(asker, every) for asker in everybody[world.space]]
        if world.space == api.space:
            aloud = list(ways(given, each=ALOUD))
            tours += [(asker, aloud) for asker in await by_voice(api, world, *CLIPS)]
    places = asyncio.Semaphore(AT_ONCE)
    with Progress(console=Console(stderr=True)) as shown:
        bar = shown.add_task("principals", total=len(tours))

        async def tour(asker: Asker, requests: Sequence[str]) -> None:
            async with places:
                await walk(api, secrets, asker, requests, verdict)
            shown.advance(bar)

        async with asyncio.TaskGroup() as touring:
            for asker, requests in tours:
                touring.create_task(tour(asker, requests))
    fields = {name for _, requests in tours for request in requests for name in names_of(request)}
    for leak in verdict.leaks[:20]:
        print(leak)
    where = "schema_walk"
    report.add("checks", where, "ours", verdict.checks, "count", verdict.answers)
    report.add("leaks", where, "ours", len(verdict.leaks), "count", verdict.answers)
    report.add("values", where, "ours", verdict.fields, "count", verdict.answers)
    report.add("fields", where, "ours", len(fields), "count", verdict.answers)
    report.add("principals", where, "ours", len(tours), "count", verdict.answers)
    report.add("objects", where, "ours", len(secrets.everything), "count", verdict.answers)


async def _compare(
    report: Report, api: Api, secrets: Secrets, worlds: Sequence[World], everybody: Sequence[Asker], quick: bool
) -> None:
    """A hidden id and one of nothing."""
    compared, found, some = 0, list[str](), calls()
    names = (
        ("ana", "finn")
        if quick
        else ("ana", "finn", "who only ingests", "who reads all", "the administrator", "assistant for ana")
    )
    for asker in [a for a in everybody if a.name in names]:
        hidden = hidden_ids(secrets, asker, worlds)
        others = {"Person": asker.world.person("ana"), "Message": asker.world.message("kitchen", 0)}
        n, differ = await differences(api, asker.token, hidden, others, some, asker.headers)
        compared, found = compared + n, found + [f"{asker.name}: {one}" for one in differ]
    for one in found[:20]:
        print(one)
    report.add("checks", "schema_walk/hidden_or_nothing", "ours", compared, "count", compared)
    report.add("leaks", "schema_walk/hidden_or_nothing", "ours", len(found), "count", compared)
    report.add("places", "schema_walk/hidden_or_nothing", "ours", len(some), "count", compared)


def hidden_ids(secrets: Secrets, asker: Asker, worlds: Sequence[World]) -> dict[str, list[str]]:
    """By label, what they may not know: one of their own space, and one of another. For who may change everything of their own,
    of another only."""
    outside, found = secrets.outside(asker), dict[str, list[str]]()
    own, other = asker.world, worlds[-1] if asker.world is not worlds[-1] else worlds[0]
    for world in (other,) if asker.eyes.operator or asker.eyes.reads_all else (own, other):
        taken, merged = set[str](), set(map(world.person, (*SAME, *GUESSED)))
        for node in secrets.made[world.space][1]:
            if node["id"] in outside and node["label"] not in taken and node["id"] not in merged:
                taken.add(node["label"])
                found.setdefault(node["label"], []).append(node["id"])
    return found


async def _time(report: Report, api: Api, secrets: Secrets, world: World, everybody: Sequence[Asker], number: int) -> None:
    """As Finn, who knows few: of what the world holds, and of somebody who said much, in a session as long."""
    asker = next(a for a in everybody if a.name == "finn")
    outside = secrets.outside(asker) - set(map(world.person, (*SAME, *GUESSED)))  # an id of before a merge finds something
    hidden = {
        label: [n["id"] for n in secrets.made[world.space][1] if n["label"] == label and n["id"] in outside] for label in TIMING
    }
    _tell(report, "forbidden_or_missing", await _interleaved(api, asker.token, hidden, number))
    long = await _long(api.services.graph, world.space)
    _tell(report, f"forbidden_or_missing/turns={LONG}", await _interleaved(api, asker.token, long, number // 2))


async def _interleaved(api: Api, token: str | None, hidden: Mapping[str, Sequence[str]], number: int) -> Timed:
    """Seconds of requests by ids of nothing, and of what is `hidden` (by label), in any order; by way of asking."""
    chance = random.Random(SEED)
    ways = [(label, way) for label in hidden for way in TIMING[label]]
    taken: Timed = {way: ([], []) for way in ways}
    for count in range(WARM + number):
        label, way = ways[count // 2 % len(ways)] if count >= WARM else chance.choice(ways)
        is_hidden = chance.random() < 0.5
        id = chance.choice(hidden[label]) if is_hidden else derived("nothing", fresh())
        name = way.split("(")[0]
        query = f"query ($id: ID!) {{ {way.format('$id')} {SELECTED.get(name, '{ id }')} }}"  # parsed once, whatever the id
        began = time.perf_counter()
        await api.post(query, token, id=id)
        if count >= WARM:
            taken[label, way][is_hidden].append(time.perf_counter() - began)
    return taken


async def _long(graph: Graph, space: str) -> dict[str, list[str]]:
    """Somebody who said LONG turns in one session, of which nobody may read any."""
    ids = {"Person": fresh(), "Session": fresh()}
    await graph.write(rows, SAY_MUCH, space=space, person=ids["Person"], session=ids["Session"], audience=fresh(), turns=LONG)
    return {label: [id] for label, id in ids.items()}


def _tell(report: Report, where: str, taken: Timed) -> None:
    each = {way: (auc(*times), sum(map(len, times))) for way, times in taken.items() if all(times)}
    total = sum(n for _, n in each.values())
    mean = sum(value * n for value, n in each.values()) / total
    report.add("auc", where, "ours", mean, "share", total)
    (label, way), (value, n) = worst(each)
    report.add("auc_worst", f"{where}/{label}: {way.format('id')}", "ours", value, "share", n)
    for (label, way), (value, n) in sorted(each.items(), key=lambda one: -abs(one[1][0] - 0.5))[:3]:
        report.add("auc", f"{where}/{label}: {way.format('id')}", "ours", value, "share", n)
    for at, name in enumerate(("nothing", "hidden")):
        every = [seconds for times in taken.values() for seconds in times[at]]
        report.add("p50_ms", f"{where}/{name}", "ours", float(np.median(every)) * 1e3, "ms", len(every))


def worst(each: Mapping[tuple[str, str], tuple[float, int]]) -> tuple[tuple[str, str], tuple[float, int]]:
    """The way whose times tell most, with its AUC and number of requests; of those with ENOUGH of these, if any has. The mean
    of all would hide a single way that leaks."""
    some = {way: found for way, found in each.items() if found[1] >= ENOUGH} or each
    return max(some.items(), key=lambda one: abs(one[1][0] - 0.5))


def auc(missing: Sequence[float], hidden: Sequence[float]) -> float:
    """How often a hidden one took longer than a missing one, ties half: 0.5 tells nothing."""
    one, other = np.asarray(missing)[:, None], np.asarray(hidden)[None, :]
    return float(np.mean((other > one) + 0.5 * (other == one)))


def names_of(request: str) -> set[str]:
    """Names that are asked for in a request: of fields, of arguments and of types."""
    return {word.strip("(){}:,") for word in request.split() if word.strip("(){}:,").isidentifier()}
