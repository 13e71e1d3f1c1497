"""Who delivers here, and what of it is kept? Proved, read, and in the inbox before it is acknowledged; sound goes elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar

from service.connectors.declared import Signing
from service.connectors.live import Delivery, EventUnreadable, LiveConnector, Read, SignatureWrong, connector
from service.connectors.live.joint import joint
from service.connectors.live.sources import Source, Sources
from service.errors import VoicegraphError
from service.graph.deliveries import Dead, NewDelivery, meeting_id, save_meetings
from service.graph.driver import Graph
from service.graph.spaces import ensure_space
from service.pipelines.delivered import harmless, may_hold_sound, new_delivery, unread_key
from service.pipelines.deliveries import Inbox, Incident
from service.types.meeting import AudioSink, Heard, SoundFrom
from service.types.people import SpaceSettings
from service.types.plain import is_plain

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReceptionConfig:
    inline_bytes: int = 64_000
    """A longer body is read in a thread, so that others are answered meanwhile: JSON of this size takes about a millisecond."""
    dead_days: float = 30.0
    """How long what cannot be taken in is kept for somebody to look at: a holiday and some."""
    touch_seconds: float = 60.0
    """How often a meeting of which only sound comes is said to go on: well below any source's `idle_minutes`."""
    max_meeting: int = 400
    """Characters of a provider's id of a meeting; URLs of meetings are among them."""


class SoundAmongOthers(VoicegraphError):
    code = "sound_among_others"
    says = "A message of the source {source} holds sound and other events. Nothing of it was kept; send sound alone."
    http_status = 422


class NoMeeting(VoicegraphError):
    code = "no_meeting"
    says = (
        "A delivery of the source {source} tells events and not of which meeting: one plain line of at most {most} characters."
    )
    http_status = 422


class NotRead(VoicegraphError):
    code = "delivery_not_read"
    says = (
        "The delivery was kept, and could not be read by a fault of ours; incident {incident}. It need not be delivered again."
    )
    http_status = 500


class Taken(StrEnum):
    """What became of a delivery."""

    KEPT = "kept"
    """Also of one that is known."""
    NOTHING = "nothing to keep"
    """It says nothing that concerns us."""
    SOUND = "sound"


@dataclass(frozen=True, slots=True)
class Shown:
    """A token of ours that may ingest."""

    id: str
    space: str

    def is_for(self, source: Source, using: LiveConnector) -> bool:
        """Where a provider signs what it sends, no token is taken instead: who may ingest may not say what others said."""
        is_named = not source.tokens or self.id in source.tokens
        return Signing.TOKEN in using.declared.also and self.space == source.space and is_named


@dataclass(frozen=True, slots=True)
class Proved:
    """A source whose delivery, or whose connection, is proved to be its own."""

    source: Source
    connector: LiveConnector
    secrets: Sequence[str]


@dataclass(frozen=True, slots=True)
class Sorted:
    """What one delivery comes to: at most one of the last three is there."""

    taken: Taken
    read: Read | None
    """None: it cannot be read."""
    new: NewDelivery | None = None
    dead: Dead | None = None
    problem: VoicegraphError | None = None
    """Why it is dead, or not kept at all."""


@dataclass(frozen=True, slots=True)
class Received:
    taken: Taken
    answer: Mapping[str, object] | None
    """What the provider wants as the response."""


def check_read(read: Read, source: Source, config: ReceptionConfig | None = None) -> None:
    """That what was read may be kept. Raises SoundAmongOthers, NoMeeting."""
    most = (config or ReceptionConfig()).max_meeting
    heard = sum(isinstance(event, Heard) for event in read.events)
    if heard and (heard < len(read.events) or read.fetches):
        raise SoundAmongOthers(source=source.name)
    if read.events or read.fetches:
        meeting = read.meeting or ""
        if not 0 < len(meeting) <= most or not is_plain(meeting):
            raise NoMeeting(source=source.name, most=most)


class Reception:
    """Where the deliveries of all sources come in."""

    def __init__(
        self,
        graph: Graph,
        sources: Sources,
        inbox: Inbox,
        incident: Incident,
        sink: AudioSink | None = None,
        config: ReceptionConfig | None = None,
    ) -> None:
        self._graph, self.sources, self.inbox, self.sink = graph, sources, inbox, sink
        self._incident = incident
        self._config = config or ReceptionConfig()
        self._touched: dict[str, datetime] = {}
        """Ids of meetings and spaces → when they were last seen to be there."""

    async def prove(self, name: str, delivery: Delivery, *, token: Shown | None = None) -> Proved:
        """Who delivers: by their signature, or by a token of ours where the source takes it. Raises NoSuchSource,
        SourcesUnreadable, SecretMissing, SecretUnusable, SignatureWrong."""
        found = self._found(name)
        if token is None or not token.is_for(found.source, found.connector):
            await self._apart(delivery, lambda: found.connector.verify(delivery, found.secrets, source=found.source.name))
        return found

    def check_head(self, name: str, delivery: Delivery, *, token: Shown | None = None) -> None:
        """Before its body is read, whether there is one that the head could prove. Raises as `prove`."""
        found = self._found(name)
        if token is not None and token.is_for(found.source, found.connector):
            return
        try:
            found.connector.verify(delivery, found.secrets, source=found.source.name)
        except SignatureWrong as problem:
            if problem.whatever_body:
                raise

    def _found(self, name: str) -> Proved:
        """The source, of which nothing is proved yet."""
        source = self.sources.get(name)
        return Proved(source, connector(source.provider), self.sources.secrets(source))

    async def receive(self, proved: Proved, delivery: Delivery) -> Received:
        """One request. What is signed rightly and cannot be read is kept as a dead letter, and then told. Raises InboxFull and
        NotKept, and EventUnreadable, NoMeeting, SoundAmongOthers, NotRead."""
        answer = proved.connector.answer(delivery, proved.secrets)
        await self.check_room(proved.source)
        found = await self.sort(proved, delivery)
        await self.keep(proved, [(delivery, found)])
        if found.problem is not None:
            raise found.problem
        return Received(found.taken, answer)

    async def check_room(self, source: Source) -> None:
        """Raises InboxFull and NotKept."""
        own = [(one.space, one.name) for one in self.sources.all().values()]
        await self.inbox.check_room(source.space, source.name, own=own)

    async def sort(self, proved: Proved, delivery: Delivery) -> Sorted:
        """What it comes to; nothing is written yet."""
        delivery = harmless(delivery, proved.secrets)
        try:
            read = await self._read(proved, delivery)
        except SoundAmongOthers as problem:  # the other events are to be sent again, without it
            return Sorted(Taken.NOTHING, None, problem=problem)
        except VoicegraphError as problem:
            return Sorted(Taken.KEPT, None, dead=await self._dead(proved.source, delivery, problem), problem=problem)
        if any(isinstance(event, Heard) for event in read.events):
            return Sorted(Taken.SOUND, read)
        if not (read.events or read.fetches):
            return Sorted(Taken.NOTHING, read)
        return Sorted(Taken.KEPT, read, new_delivery(proved.source, delivery, read))

    async def keep(self, proved: Proved, found: Sequence[tuple[Delivery, Sorted]]) -> None:
        """All of it is in the inbox, or at the sink, when this returns. Raises NotKept: then it is to come again whole."""
        new = [one.new for _, one in found if one.new is not None]
        dead = [one.dead for _, one in found if one.dead is not None]
        if new or dead:
            await self._ensure_space(proved.source.space, found[0][0].received_at)
            await self.inbox.keep(new, dead)
        for delivery, one in found:
            if one.taken is Taken.SOUND and one.read is not None:
                await self._hear(proved.source, delivery, one.read)

    async def _dead(self, source: Source, delivery: Delivery, problem: VoicegraphError) -> Dead:
        kept = replace(new_delivery(source, delivery, Read(None, ())), key=unread_key(delivery))
        until = delivery.received_at + timedelta(days=self._config.dead_days)
        has_sound = await self._apart(delivery, lambda: may_hold_sound(delivery))
        return Dead(kept, f"{problem.code}: {problem.message}", until, keeps_body=not has_sound)

    async def _read(self, proved: Proved, delivery: Delivery) -> Read:
        try:
            read = await self._apart(delivery, lambda: proved.connector.read(delivery))
        except EventUnreadable:
            raise
        except Exception as error:  # a fault of a connector must not lose what was delivered
            raise NotRead(incident=self._incident(error)) from error
        read = joint(read, delivery, proved.source.meeting_from)
        check_read(read, proved.source, self._config)
        return read

    async def _hear(self, source: Source, delivery: Delivery, read: Read) -> None:
        """Sound is kept only where the source's is taken in; the meeting goes on either way, also where nothing else comes."""
        assert read.meeting is not None
        id, now = meeting_id(source.space, source.name, read.meeting), delivery.received_at
        if self._is_new(id, now):
            await self._ensure_space(source.space, now)
            sound_in = self.sink.place if self.sink is not None and source.listen else None
            silent = new_delivery(source, replace(delivery, body=b""), read)
            await self._graph.write(save_meetings, [silent], sound_in=sound_in)
            self._touched[id] = now
        if self.sink is not None and source.listen:
            origin = SoundFrom(source.space, source.name, id, delivery.connection)
            pieces = [event for event in read.events if isinstance(event, Heard)]
            await self.sink.hear(origin, pieces, now)

    async def _ensure_space(self, space: str, now: datetime) -> None:
        if self._is_new(f"space {space}", now):
            await self._graph.write(ensure_space, SpaceSettings(space))
            self._touched[f"space {space}"] = now

    def _is_new(self, id: str, now: datetime) -> bool:
        """Whether it was not seen to be there in the last `touch_seconds`. Whoever sees to it notes it, once it is written."""
        since = now - timedelta(seconds=self._config.touch_seconds)
        if self._touched.get(id, since) > since:
            return False
        self._touched = {one: at for one, at in self._touched.items() if at > since}
        return True

    async def _apart(self, delivery: Delivery, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work) if len(delivery.body) > self._config.inline_bytes else work()
