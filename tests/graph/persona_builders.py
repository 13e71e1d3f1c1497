"""Three days on which Ana says what she likes and whom she is angry with; who agrees to what, and the reading of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from service.graph.driver import Graph
from service.graph.forget_inferred import INFER_PERSONA
from service.graph.write_consents import save_consent
from service.graph.write_personas import list_sessions_to_feel
from service.memory.right_brain.reader import READER, LexiconReader
from service.pipelines.personas import PersonasConfig, RememberPersonas
from service.types.parsing import Parser
from service.types.people import Consent
from tests.graph.graph_builders import STARTED, Said, World, seed

EVERYBODY = ["ana", "ben"]
SAID = [
    line
    for day in ("monday", "tuesday", "wednesday")
    for line in (
        Said("ana", "I love hiking.", EVERYBODY, to=["ben"], session=day),
        Said("ana", "I'm so angry with you.", EVERYBODY, to=["ben"], session=day),
        Said("ben", "I hate hiking.", EVERYBODY, to=["ana"], session=day),
        Said("ana", "The train leaves at nine.", EVERYBODY, to=["ben"], session=day),
    )
]
SOON = STARTED + timedelta(days=10)


async def told(graph: Graph, space: str, said: Sequence[Said] = SAID) -> World:
    return await seed(graph, space, ["ana", "ben", "cleo"], said)


def remember(graph: Graph, parser: Parser, batch: int = 2) -> RememberPersonas:
    async def made() -> Parser:
        return parser

    return RememberPersonas(graph, LexiconReader(made), PersonasConfig(batch=batch))


async def agree(world: World, name: str, state: Consent = Consent.GRANTED, at: datetime | None = None) -> None:
    when = at or datetime.now(UTC)
    person = world.person(name)
    await world.graph.write(
        save_consent, world.space, person, state, text_version="1", channel="form", at=when, purpose=INFER_PERSONA
    )


async def read_all(world: World, parser: Parser) -> int:
    read = remember(world.graph, parser)
    sessions = await world.graph.read(list_sessions_to_feel, world.space, READER)
    return sum([(await read(world.space, session)).num_read for session in sessions])
