"""Which voices, sounds and questions have had their time? Voices of people never asked, and sounds of who agreed, after the
days that the space allows; questions after the days that the service is set to keep them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from service.graph.deliveries import forget_expired_deliveries
from service.graph.driver import Graph, Tx
from service.graph.forget_sounds import forget_expired_sounds
from service.graph.left_meetings import close_left, mark_left
from service.graph.questions import forget_questions
from service.graph.spaces import list_spaces_of_expired_voices
from service.graph.voices import NEVER, changed_voices
from service.graph.write_consents import forget_expired_exemplars, list_encoders
from service.graph.write_people import VoiceWrite, save_voices
from service.identity.policies import recomputed
from service.pipelines.channel_means import remake_channel_means
from service.types.people import SpaceSettings

QUESTIONS = 5_000  # deleted in one transaction: some 0.1 s
SOUNDS = 1_000  # as QUESTIONS; with its piece each has 20 kB
DELIVERIES = 1_000  # as QUESTIONS; of a few kB each
LEFT = 20  # meetings closed in one transaction: of a thousand deliveries each
LEFT_FOR = timedelta(hours=72)  # as MeetingWorkConfig.kept: a name that was mistaken is seen by then
DEAD_FOR = timedelta(days=30)  # as ReceptionConfig.dead_days
SOURCE_GONE = "no_such_source: Its source was not configured any more."
LEFT_ALONE = timedelta(minutes=15)  # of a younger question, the process that kept it may still run with other settings


async def expire_all_voices(graph: Graph) -> None:
    """`expire_voices` in every space where one has had its time."""
    now = datetime.now(UTC)
    for settings in await graph.read(list_spaces_of_expired_voices, now=now):
        await expire_voices(graph, settings, now)


async def expire_voices(graph: Graph, settings: SpaceSettings, now: datetime | None = None) -> list[str]:
    """Delete every exemplar whose time has come, and make the centroids of who has others left anew, in one transaction.

    Ids of the people concerned. Run at the start of the service and of each ingest; costs one look into an index."""
    return await graph.write(_expire, settings, now or datetime.now(UTC))


async def _expire(tx: Tx, settings: SpaceSettings, now: datetime) -> list[str]:
    people = await forget_expired_exemplars(tx, settings.id, now)
    if people:
        for encoder in await list_encoders(tx, settings.id, people):
            left = await changed_voices(tx, settings.id, encoder, since=NEVER, ids=people)
            voices = [recomputed(voice, settings.routing) for person in people if (voice := left[person]) is not None]
            await save_voices(tx, settings.id, encoder, [VoiceWrite(voice) for voice in voices])
        await remake_channel_means(tx, settings.id)
    return people


async def expire_questions(graph: Graph, spaces: Sequence[str], days: float, now: datetime | None = None) -> int:
    """Delete what was kept longer than `days` or than it was to be; with 0 everything but what was just asked. How many."""
    keep, found, total = max(timedelta(days=days), LEFT_ALONE), QUESTIONS, 0
    while found == QUESTIONS:
        found = await graph.write(forget_questions, spaces, now=now or datetime.now(UTC), keep=keep, limit=QUESTIONS)
        total += found
    return total


async def expire_sounds(graph: Graph, spaces: Sequence[str], now: datetime | None = None) -> int:
    """Delete the sounds whose time has come; how many."""
    found, total = SOUNDS, 0
    while found == SOUNDS:
        found = await graph.write(forget_expired_sounds, spaces, now=now or datetime.now(UTC), limit=SOUNDS)
        total += found
    return total


async def close_left_meetings(
    graph: Graph, own: Sequence[tuple[str, str]], now: datetime | None = None, *, spaces: Sequence[str] | None = None
) -> int:
    """Close meetings (of `spaces`; None: of all) whose source, (space, name), has for a while been none of `own`; how many.
    Their sessions are left as they are: nobody reads on in what was delivered to a source that was taken away."""
    now = now or datetime.now(UTC)
    await graph.write(mark_left, own, now=now, spaces=spaces)
    found, total = LEFT, 0
    while found == LEFT:
        found = await graph.write(
            close_left,
            before=now - LEFT_FOR,
            now=now,
            dead_until=now + DEAD_FOR,
            error=SOURCE_GONE,
            limit=LEFT,
            spaces=spaces,
        )
        total += found
    return total


async def expire_deliveries(graph: Graph, now: datetime | None = None) -> int:
    """Delete what meetings' backends delivered and nobody needs to know again, in all spaces; how many deliveries."""
    found, total = DELIVERIES, 0
    while found == DELIVERIES:
        found = await graph.write(forget_expired_deliveries, now=now or datetime.now(UTC), limit=DELIVERIES)
        total += found
    return total
