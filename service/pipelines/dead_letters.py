"""What could not be taken in, once more: after a fault of ours was mended, or a provider's. Behind what came meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from service.connectors.live import Read, connector
from service.connectors.live.joint import joint
from service.connectors.live.sources import NoSuchSource, Source, Sources
from service.errors import VoicegraphError
from service.graph.dead_letters import forget_dead, list_dead_letters, retry_dead
from service.graph.deliveries import NewDelivery, StoredDelivery, save_deliveries
from service.graph.driver import Graph, Tx
from service.pipelines.delivered import as_delivery, new_delivery
from service.pipelines.reception import check_read
from service.types.meeting import Heard


class BodyNotKept(VoicegraphError):
    code = "body_not_kept"
    says = "What was delivered was not kept: there may have been sound in it. Have it delivered again, or delete it."
    http_status = 409


@dataclass(frozen=True, slots=True)
class Retried:
    waiting: tuple[str, ...]
    """Ids of those that wait to be taken in again."""
    still_dead: tuple[tuple[str, str], ...]
    """(id, why) of those that cannot be read today either."""
    nothing: tuple[str, ...]
    """Ids of those that say nothing which concerns us, as it turns out, or are sound: they are gone."""


async def retry_dead_letters(graph: Graph, sources: Sources, space: str, ids: Sequence[str]) -> Retried:
    """Those of `ids` that are dead letters of `space`; others are left out. What could not be read when it came is read now."""
    now = datetime.now(UTC)
    waiting = await graph.write(retry_dead, space, ids, now=now)
    still_dead: list[tuple[str, str]] = []
    nothing: list[str] = []
    for letter in await graph.read(list_dead_letters, space, ids):
        try:
            again = _read(letter, sources, space)
        except VoicegraphError as error:
            still_dead.append((letter.id, f"{error.code}: {error.message}"))
            continue
        await graph.write(_replace, space, letter.id, again)
        if again is None:
            nothing.append(letter.id)
        else:
            waiting.append(again.id)
    return Retried(tuple(waiting), tuple(still_dead), tuple(nothing))


def _read(letter: StoredDelivery, sources: Sources, space: str) -> NewDelivery | None:
    """Raises BodyNotKept, EventUnreadable, SoundAmongOthers, NoMeeting, NoSuchSource, SourcesUnreadable."""
    if letter.body is None:
        raise BodyNotKept()
    source: Source = sources.get(letter.source)
    if (source.space, source.provider) != (space, letter.provider):  # the name may be another space's by now
        raise NoSuchSource(name=f"{letter.source} of {letter.provider}")
    delivery = as_delivery(letter)
    read: Read = joint(connector(letter.provider).read(delivery), delivery, source.meeting_from)
    check_read(read, source)
    if not (read.events or read.fetches) or any(isinstance(event, Heard) for event in read.events):
        return None
    return new_delivery(source, delivery, read)


async def _replace(tx: Tx, space: str, id: str, again: NewDelivery | None) -> None:
    await forget_dead(tx, space, [id])
    if again is not None:
        await save_deliveries(tx, [again])
