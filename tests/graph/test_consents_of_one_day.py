"""What somebody says twice on one day: the last that was recorded holds, for whoever asks what they said. Nothing is said at
a time to come."""

from __future__ import annotations

import importlib
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import service.graph
from service.errors import InvalidInput
from service.graph.driver import Graph, rows
from service.graph.opt_outs import list_refusals
from service.graph.refusals import any_refused
from service.graph.write_consents import find_state, save_consent
from service.graph.write_people import save_person
from service.graph.write_reassignments import list_voice_consents
from service.pipelines.consents import record_consent
from service.types.ids import fresh
from service.types.people import Consent, ConsentPurpose

DAY = datetime(2026, 11, 2, tzinfo=UTC)
ELSEWHERE = DAY.astimezone(timezone(timedelta(hours=9)))
"""The same time, written otherwise."""
VOICE = ConsentPurpose.REMEMBER_VOICE.value
LAST = "ORDER BY c.at DESC, c.created_at DESC, c.state <> 'granted' DESC LIMIT 1"
COUNT = "MATCH (:Person {space: $space})-[:GAVE]->(c:Consent) RETURN count(c) AS count"


async def test_of_what_is_said_on_one_day_the_last_recorded_holds(graph: Graph, space: str) -> None:
    """Of eight people a toss of a coin is right for all in one of 256 runs."""
    people = [fresh() for _ in range(8)]
    said = [Consent.GRANTED, Consent.WITHDRAWN, Consent.GRANTED, Consent.OPTED_OUT, Consent.OPTED_OUT]
    for number, person in enumerate(people):
        await graph.write(save_person, space, person, f"Person {number}")
        for state, at in zip(said[: 2 + number % 4], (ELSEWHERE, DAY, DAY, ELSEWHERE, DAY), strict=False):
            await record_consent(graph, space=space, person_id=person, state=state, text_version="1", channel="form", at=at)
    last = {person: said[: 2 + number % 4][-1] for number, person in enumerate(people)}
    assert {person: await graph.read(find_state, space, person, VOICE) for person in people} == last
    assert await graph.read(list_voice_consents, space, people) == last
    refused = {person for person, state in last.items() if state is not Consent.GRANTED}
    assert (await graph.read(list_refusals, space))[0] == refused
    assert {p for p in people if await graph.read(any_refused, space, [p], VOICE)} == refused
    (found,) = await graph.read(rows, COUNT, space=space)
    assert found["count"] == 2 * (2 + 3 + 4 + 4), "the same said again is said once"


async def test_what_is_said_by_a_clock_ahead_of_ours_was_said_when_it_came(graph: Graph, space: str) -> None:
    ana, ahead = fresh(), datetime.now(UTC) + timedelta(minutes=4)
    await graph.write(save_person, space, ana, "Ana")
    said: dict[str, Any] = {"space": space, "person_id": ana, "text_version": "1", "channel": "form"}
    await record_consent(graph, **said, state=Consent.GRANTED, at=ahead)
    await record_consent(graph, **said, state=Consent.WITHDRAWN)
    assert await graph.read(find_state, space, ana, VOICE) is Consent.WITHDRAWN
    with pytest.raises(InvalidInput, match="time that has come"):
        await graph.write(
            save_consent, space, ana, Consent.GRANTED, text_version="1", channel="form", at=ahead + timedelta(minutes=2)
        )


def test_which_of_several_consents_holds_stands_in_one_place() -> None:
    folder = Path(service.graph.__path__[0])
    modules = [importlib.import_module(f"service.graph.{path.stem}") for path in folder.glob("*.py") if path.stem != "__init__"]
    sources = "".join(path.read_text() for path in folder.glob("*.py"))
    assert len(re.findall(r"\bc\.at DESC", sources)) == sources.count(LAST) == 1
    assert not re.search(r":GAVE\]->\(n:", sources)
    queries = [value for module in modules for value in vars(module).values() if isinstance(value, str)]
    assert sum("c.at DESC" in query for query in queries) > 10
    assert not any("<holds>" in query for query in queries if "c:Consent" in query)
