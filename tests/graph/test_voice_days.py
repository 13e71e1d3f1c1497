"""A voice goes when its space has kept it as long after it was last heard as it keeps any, also of who agreed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from service.graph.driver import Graph, changes, rows
from service.graph.spaces import get_space, list_spaces_of_expired_voices, save_space
from service.pipelines.consents import record_consent
from service.pipelines.correct import Correct
from service.pipelines.expire import expire_voices
from service.types.ids import fresh
from service.types.people import AnonymousVoices, Consent
from tests.builders import a_session
from tests.graph.correction_builders import EMBEDDER
from tests.graph.test_folding import talk, write

HELD = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar)
RETURN p.id AS person, e.consent AS consent, p.voiceprint__campplus IS NOT NULL AS has_voiceprint,
       duration.inDays(datetime(), e.expires_at).days AS days
"""
SPOKEN = """
MATCH (p:Person)-[:SPEAKS]->(m:Message {space: $space}) RETURN DISTINCT p.id AS id, min(m.index) AS index ORDER BY index
"""
TURN_OF = "MATCH (:Person {space: $space, id: $person})-[:SPEAKS]->(m:Message) RETURN m.id AS id LIMIT 1"
AGE = """
MATCH (p:Person {space: $space, id: $person})-[:SPEAKS|HAS_EXEMPLAR]->(one:Message|Exemplar)
SET one.created_at = one.created_at - duration({days: $days})
WITH one WHERE one:Exemplar
SET one.expires_at = one.expires_at - duration({days: $days})
"""
SAID: dict[str, Any] = {"text_version": "1", "channel": "form"}


async def kept(graph: Graph, space: str) -> dict[str, set[int | None]]:
    """Person → in how many whole days pieces of their voice go; None: they have no such time."""
    found: dict[str, set[int | None]] = {}
    for row in await graph.read(rows, HELD, space=space):
        found.setdefault(row["person"], set()).add(row["days"])
    return found


async def policy(graph: Graph, space: str, **changed: Any) -> None:
    await graph.write(save_space, replace(await graph.read(get_space, space), **changed))


async def age(graph: Graph, space: str, person: str, days: int) -> None:
    await graph.write(changes, AGE, space=space, person=person, days=days)


async def two_who_agreed(graph: Graph, space: str) -> tuple[str, str]:
    await write(graph, a_session(space), [talk(("ana", "Hello."), ("ben", "Hi."))])
    ana, ben = [row["id"] for row in await graph.read(rows, SPOKEN, space=space)]
    for person in (ana, ben):
        await record_consent(graph, space=space, person_id=person, state=Consent.GRANTED, **SAID)
    return ana, ben


async def test_a_voice_is_kept_for_the_days_of_its_space_after_it_was_last_heard(graph: Graph, space: str) -> None:
    ana, ben = await two_who_agreed(graph, space)
    assert await kept(graph, space) == {ana: {None}, ben: {None}}
    await age(graph, space, ana, 60)
    await policy(graph, space, voice_days=90)
    assert await kept(graph, space) == {ana: {29}, ben: {89}}, "counted from when each was heard, not from the policy"
    await write(graph, a_session(space, id=fresh(), external_id="b"), [talk(("ana", "It is me again."))])
    assert await kept(graph, space) == {ana: {89}, ben: {89}}, "every piece of the voice, not the new one alone"
    await policy(graph, space, voice_days=10)
    assert await kept(graph, space) == {ana: {9}, ben: {9}}
    await policy(graph, space, voice_days=None)
    assert await kept(graph, space) == {ana: {None}, ben: {None}}


async def test_when_its_time_has_come_the_voice_is_gone_and_the_next_is_somebody_new(graph: Graph, space: str) -> None:
    ana, ben = await two_who_agreed(graph, space)
    await policy(graph, space, voice_days=90)
    await age(graph, space, ana, 89)
    now = datetime.now(UTC)
    in_two_days = now + timedelta(days=2)  # no service that sweeps meanwhile finds anything to do
    assert space in {one.id for one in await graph.read(list_spaces_of_expired_voices, in_two_days)}
    settings = await graph.read(get_space, space)
    assert await expire_voices(graph, settings, in_two_days) == [ana]
    assert await kept(graph, space) == {ben: {89}}
    assert await expire_voices(graph, settings, now + timedelta(days=91)) == [ben]
    voiceprints = "MATCH (p:Person {space: $space}) WHERE p.voiceprint__campplus IS NOT NULL RETURN count(p) AS left"
    assert await graph.read(rows, voiceprints, space=space) == [{"left": 0}]
    await write(graph, a_session(space, id=fresh(), external_id="b"), [talk(("ana", "It is me again."))])
    heard = {row["id"] for row in await graph.read(rows, SPOKEN, space=space)}
    assert {ana, ben} < heard and len(heard) == 3


async def test_people_never_asked_have_the_shorter_time(graph: Graph, space: str) -> None:
    await policy(graph, space, anonymous_voices=AnonymousVoices.EXPIRE, anonymous_days=30, voice_days=90)
    await write(graph, a_session(space), [talk(("ana", "Hello."))])
    (ana,) = [row["id"] for row in await graph.read(rows, SPOKEN, space=space)]
    assert await kept(graph, space) == {ana: {29}}
    await policy(graph, space, anonymous_voices=AnonymousVoices.KEEP)
    await write(graph, a_session(space, id=fresh(), external_id="b"), [talk(("cleo", "Good morning."))])
    cleo = next(row["id"] for row in await graph.read(rows, SPOKEN, space=space) if row["id"] != ana)
    assert await kept(graph, space) == {ana: {29}, cleo: {89}}
    await policy(graph, space, voice_days=60)
    assert await kept(graph, space) == {ana: {29}, cleo: {59}}
    await record_consent(graph, space=space, person_id=ana, state=Consent.GRANTED, **SAID)
    assert await kept(graph, space) == {ana: {59}, cleo: {59}}


async def test_whoever_is_heard_keeps_the_voices_they_are_merged_with_and_what_becomes_theirs_has_their_time(
    graph: Graph, space: str
) -> None:
    ana, ben = await two_who_agreed(graph, space)
    correct, (turn,) = Correct(graph, EMBEDDER), await graph.read(rows, TURN_OF, space=space, person=ben)
    await age(graph, space, ana, 60)
    await age(graph, space, ben, 20)
    await policy(graph, space, voice_days=90)
    done = await correct.reassign(space, [turn["id"]], ana, actor="test", why="heard it")
    assert await kept(graph, space) == {ana: {69}}, "she was heard then"
    await correct.undo(space, done.correction_id, actor="test")
    assert await kept(graph, space) == {ana: {29}, ben: {69}}
    await correct.merge(space, ben, ana, actor="test", why="heard it")
    await write(graph, a_session(space, id=fresh(), external_id="b"), [talk(("ana", "It is me again."))])
    assert await kept(graph, space) == {ana: {89}, ben: {89}}
