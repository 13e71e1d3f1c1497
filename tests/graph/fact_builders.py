"""Facts for tests of the reads, written directly: of which messages they are made, and so who may read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from service.graph.driver import changes
from service.types.audio import Samples
from service.types.ids import derived
from tests.graph.graph_builders import SAVE_AUDIENCES, STARTED, TEXT_SPACE, World

SAVE_FACTS = """
UNWIND $facts AS row
MATCH (a:Audience {id: row.props.audience})
CREATE (f:Fact)-[:FOR]->(a)
SET f += row.props, f.created_at = $started
WITH f, row
UNWIND range(0, size(row.evidence) - 1) AS i
MATCH (m:Message {id: row.evidence[i]})
CREATE (f)-[:EVIDENCED_BY {role: CASE i WHEN 0 THEN 'source' ELSE 'context' END}]->(m)
"""


@dataclass(frozen=True, slots=True)
class Told:
    """A fact made from the messages `of`, the source first."""

    statement: str
    of: Sequence[int]
    kind: str = "statement"
    attribute: str | None = None
    value: str | None = None
    about: datetime | None = None
    vector: Samples | None = None


def readers_of(world: World, told: Told) -> tuple[str, ...]:
    """Names of who may read all that it is made from; "*" for everybody."""
    private = [set(world.said[i].readers) for i in told.of if "*" not in world.said[i].readers]
    return tuple(sorted(set.intersection(*private))) if private else ("*",)


def fact_id(world: World, index: int) -> str:
    return derived("fact", world.space, str(index))


async def tell(world: World, told: Sequence[Told], *, first: int = 0) -> None:
    """`first`: the number that their ids count from."""
    audiences = {world.audience(readers): readers for readers in (readers_of(world, t) for t in told)}
    await world.graph.write(
        changes, SAVE_AUDIENCES, space=world.space, started=STARTED,
        audiences=[{"id": id, "public": "*" in readers, "readers": [world.person(r) for r in readers if r != "*"]}
                   for id, readers in audiences.items()],
    )  # fmt: skip
    await world.graph.write(
        changes, SAVE_FACTS, started=STARTED,
        facts=[{"props": _props(world, i, t), "evidence": [world.message(m) for m in t.of]} for i, t in enumerate(told, first)],
    )  # fmt: skip


def _props(world: World, index: int, told: Told) -> dict[str, Any]:
    source, readers = world.said[told.of[0]], readers_of(world, told)
    days = list(dict.fromkeys(said.session for said in world.said))
    props: dict[str, Any] = {
        "id": fact_id(world, index),
        "space": world.space,
        "statement": told.statement,
        "kind": told.kind,
        "session_id": world.session(source.session),
        "said_at": STARTED + timedelta(days=days.index(source.session), seconds=4.0 * told.of[0]),
        "attribute": told.attribute,
        "value": told.value,
        "confidence": 1.0,
        "extractor": "test-1",
        "audience": world.audience(readers),
        "readers": " ".join("public" if r == "*" else world.person(r).replace("-", "") for r in readers),
    }
    if told.about is not None:
        props |= {
            "about_from": told.about,
            "about_to": told.about + timedelta(days=1),
            "about_precision": "day",
            "about_words": "then",
        }
    if told.vector is not None:
        props[f"embedding__{TEXT_SPACE}__turn"] = told.vector.tolist()
    return props
