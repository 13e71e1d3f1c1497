"""How long does it take until nothing is left of somebody who is erased, and do the others find what they found?

A space of 100,000 messages in 400 sessions (`--quick`: 5,000 in 50) is filled with made-up talk of 300 people; one of them
spoke in 40 sessions, and others speak of them by name. They are erased as the command does it. What is left is looked for
without the product's probe: every string of every node and edge is read and held against their ids, their names and words that
only they said, and those words are searched for by somebody who reads everything. Two others ask for what was said
in the same words before and after: one who was never with them, one who was; `again` says how much changes by itself, since
words weigh by how often all that is stored has them."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from service.graph.driver import Graph, changes, rows
from service.graph.forget_space import forget_space
from service.pipelines.erase import Erase
from service.pipelines.search import Search
from service.types.erasure import Subject, SubjectKind
from service.types.ids import fresh
from service.wiring import Services
from tests.bench.report import Report
from tests.bench.search import services
from tests.conftest import CREATE_SPACE
from tests.graph.fact_builders import Told, tell
from tests.graph.graph_builders import AWAIT_FULL_TEXT, AWAIT_INDEXES, HashedWords, Said, World, seed

SIZE, QUICK_SIZE = 100_000, 5_000
SESSIONS, QUICK_SESSIONS = 400, 50
WITH_THEM = 40  # sessions that whom is erased speaks in
PEOPLE = 300
PER_SESSION = 5  # people who talk in one session
QUESTIONS = 40
FACTS = 5  # messages to one fact
WORDS = 2_000  # words that the talk is made of
ERASED = "quillon"
PAGE = 5_000  # strings read at once

LIST_STRINGS = """
MATCH (n) WHERE n.space = $space AND elementId(n) > $after
WITH n ORDER BY elementId(n) LIMIT $limit
RETURN elementId(n) AS place, labels(n)[0] AS label, [key IN keys(n) WHERE NOT key STARTS WITH 'embedding__'
  AND NOT key STARTS WITH 'voiceprint__' AND NOT key STARTS WITH 'vector__' | [key, n[key]]] AS told
"""

LIST_EDGE_STRINGS = """
MATCH (n)-[r]->() WHERE n.space = $space AND any(key IN keys(r) WHERE toStringOrNull(r[key]) CONTAINS $id)
RETURN count(r) AS n
"""


@dataclass(frozen=True, slots=True)
class Talk:
    said: list[Said]
    facts: list[Told]
    alone: frozenset[str]
    """Words that nobody but who is erased said."""


def run(report: Report, *, quick: bool) -> None:
    asyncio.run(_run(report, QUICK_SIZE if quick else SIZE, QUICK_SESSIONS if quick else SESSIONS))


async def _run(report: Report, size: int, sessions: int) -> None:
    async with services() as service:
        space = f"bench-erasure-{fresh()}"
        await service.graph.write(changes, CREATE_SPACE, space=space)
        try:
            await measure(report, service, space, talk(size, sessions), size)
        finally:
            await forget_space(service.graph, space)


async def measure(report: Report, service: Services, space: str, made: Talk, size: int) -> None:
    graph, condition = service.graph, f"person/messages={size}"
    world = await seed(graph, space, [f"p{n}" for n in range(PEOPLE)] + [ERASED], made.said)
    for start in range(0, len(made.facts), 2_000):
        await tell(world, made.facts[start : start + 2_000], first=start)
    await ready(graph)
    stranger, friend = who_asks(made)
    asked = {name: questions_of(made, name) for name in (stranger, friend)}
    control = {name: await found(graph, world, name, asked[name]) for name in asked}
    before = {name: await found(graph, world, name, asked[name]) for name in asked}
    hers = {world.message(i) for i, said in enumerate(made.said) if said.by == ERASED}

    erase: Erase = await service.erase()
    subject = Subject(SubjectKind.PERSON, world.person(ERASED))
    started = time.perf_counter()
    begun = await erase.begin(space, subject, asked_by="bench")
    hidden = time.perf_counter() - started
    done = await erase.finish(space, subject)
    report.add("erasure_hidden_seconds", condition, "ours", hidden, "s", len(hers))
    report.add("erasure_seconds", condition, "ours", time.perf_counter() - started, "s", len(hers))
    assert begun.id == done.id and done.receipt is not None
    await ready(graph)
    report.add("remains_after_erasure", condition, "ours", await remains(graph, world, made), "count", size)

    after = {name: await found(graph, world, name, asked[name]) for name in asked}
    for name, who in ((stranger, "never_together"), (friend, "together")):
        for what, one, other in (("again", control, before), ("erased", before, after)):
            told = f"{condition}/{who}/{what}"
            pairs = [([id for id in a if id not in hers], b) for a, b in zip(one[name], other[name], strict=True)]
            first = sum(a[:1] != b[:1] for a, b in pairs)
            report.add("others_first_hit_changed", told, "ours", first, "count", len(pairs))
            kept = sum(len(set(a) & set(b)) for a, b in pairs) / max(1, sum(len(a) for a, _ in pairs))
            report.add("others_hits_lost", told, "ours", 1.0 - kept, "share", len(pairs))


def questions_of(made: Talk, name: str) -> list[str]:
    """What others said that `name` may read."""
    texts = [said.text for said in made.said if name in said.readers and said.by != ERASED and ERASED not in said.text.lower()]
    return texts[:: max(1, len(texts) // QUESTIONS)][:QUESTIONS]


def talk(size: int, sessions: int) -> Talk:
    drawn = np.random.default_rng(11)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdfgklmnprstvxz"][:WORDS]
    rare = iter(range(10**9))
    said: list[Said] = []
    facts: list[Told] = []
    alone = set()
    each = size // sessions
    for session in range(sessions):
        people = [f"p{n}" for n in drawn.choice(PEOPLE, PER_SESSION, replace=False)]
        people = [*people[:-1], ERASED] if session < WITH_THEM else people
        for turn in range(each):
            by = people[int(drawn.integers(len(people)))]
            text = " ".join(words[int(n)] for n in drawn.integers(len(words), size=9))
            if by == ERASED:
                alone.add(word := f"zq{next(rare)}")
                text = f"{text} {word}"
            elif turn % 10 == 0 and session < WITH_THEM:
                text = f"{ERASED.title()} {text}"
            said.append(Said(by, text, people, to=[people[0]], session=f"s{session}"))
            if turn % FACTS == 0:
                facts.append(Told(f"{text} again", [len(said) - 1, *([len(said) - 2] if turn else [])]))
    vectors = HashedWords().passages([one.text for one in said])
    return Talk([_with(one, vector) for one, vector in zip(said, vectors, strict=True)], facts, frozenset(alone))


def _with(said: Said, vector: np.ndarray) -> Said:
    return Said(said.by, said.text, said.readers, said.to, said.session, vector)


async def ready(graph: Graph) -> None:
    async with graph.session() as session:
        for query in (AWAIT_INDEXES, AWAIT_FULL_TEXT):
            await (await session.run(query)).consume()


def who_asks(made: Talk) -> tuple[str, str]:
    """Who was never with them, and who was most often."""
    with_them = [reader for said in made.said if ERASED in said.readers for reader in said.readers if reader != ERASED]
    friend = max(set(with_them), key=with_them.count)
    others = [reader for said in made.said for reader in said.readers if reader not in with_them and reader != ERASED]
    return max(set(others), key=others.count), friend


async def found(graph: Graph, world: World, name: str, questions: Sequence[str]) -> list[list[str]]:
    """Ids of what each question finds."""
    search, scope = Search(graph, HashedWords()), await world.scope(name)
    return [[hit.message.id for hit in (await search(scope, question)).hits] for question in questions]


async def remains(graph: Graph, world: World, made: Talk) -> int:
    """Strings and search results that still tell of them."""
    person = world.person(ERASED)
    told = re.compile(rf"(?i){person}|{person.replace('-', '')}|\b{ERASED}\b|\bzq\d+\b")
    left, after = 0, ""
    while page := await graph.patient(300.0).read(rows, LIST_STRINGS, space=world.space, after=after, limit=PAGE):
        after = page[-1]["place"]
        left += sum(_tells(row["label"], key, str(value), told, person) for row in page for key, value in row["told"])
    edges = await graph.patient(300.0).read(rows, LIST_EDGE_STRINGS, space=world.space, id=person)
    search, everything = Search(graph, HashedWords()), await world.scope(reads_all=True)
    for word in sorted(made.alone)[:QUESTIONS]:
        hits = (await search(everything, word)).hits
        left += sum(bool(told.search(hit.message.text or "")) and word in (hit.message.text or "") for hit in hits)
    return left + int(edges[0]["n"])


def _tells(label: str, key: str, value: str, told: re.Pattern[str], person: str) -> bool:
    """Others' words may call the name; the tombstone, the receipt and the audit have the id."""
    proof = label in ("Receipt", "AuditEvent", "Event") or (label == "Person" and key == "id" and value == person)
    name = label == "Message" and key == "text" and not re.search(r"\bzq\d+\b", value)
    return not proof and not name and bool(told.search(value))
