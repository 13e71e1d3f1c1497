"""What does a meeting's backend send, as events? One connector a provider, each stating what nothing downstream may guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from service import registry
from service.connectors.declared import DeclaredLive
from service.errors import VoicegraphError
from service.types.meeting import MeetingEvent

CONNECTORS: dict[str, str] = {
    "recall": "service.connectors.live.recall:CONNECTOR",
    "vexa": "service.connectors.live.vexa:CONNECTOR",
    "attendee": "service.connectors.live.attendee:CONNECTOR",
    "meetingbaas": "service.connectors.live.meetingbaas:CONNECTOR",
    "meetingbaas_v1": "service.connectors.live.meetingbaas_v1:CONNECTOR",
    "jitsi": "service.connectors.live.jitsi:CONNECTOR",
    "livekit": "service.connectors.live.livekit:CONNECTOR",
    "pipecat": "service.connectors.live.pipecat:CONNECTOR",
    "daily": "service.connectors.live.daily:CONNECTOR",
    "fireflies": "service.connectors.live.fireflies:CONNECTOR",
    "zoom": "service.connectors.live.zoom:CONNECTOR",
    "generic": "service.connectors.live.generic:CONNECTOR",
}
"""provider → "module:CONNECTOR", a LiveConnector."""


class SignatureWrong(VoicegraphError):
    code = "signature_wrong"
    says = "The delivery is not signed with a secret of the source {source}: {why}. Nothing was kept."
    http_status = 401

    @property
    def whatever_body(self) -> bool:
        """Whether no body would be signed by this: then it need not be read."""
        return bool(self.facts.get("whatever_body"))


class EventUnreadable(VoicegraphError):
    code = "event_unreadable"
    says = "{provider}, {place}: {what}"
    http_status = 422


@dataclass(frozen=True, slots=True)
class Delivery:
    """One HTTP request or one message of a WebSocket, as it came."""

    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    received_at: datetime
    binary: bool = False
    """A binary message of a WebSocket."""
    connection: str = ""
    """Of a WebSocket: an id of its own for each connection, by which labels and times that restart are told apart."""
    opened_at: datetime | None = None
    """When that connection began."""
    query: Mapping[str, str] | None = None
    """Of the URL."""
    carried: Mapping[str, str] | None = None
    """What was told to be carried to it, by the latest message before it on this connection that told so (Read.carried), or by
    what pointed to it (Fetch.carried). Kept with the delivery: reading it again needs it, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """What a delivery only points to. service.connectors.live.fetching gets it and makes a delivery of its own of it; that goes
    into the inbox and to `read` as any other; the one that pointed to it is done once that is saved."""

    what: str
    """"transcript" …; told back to `read`."""
    meeting: str
    url: str
    hosts: tuple[str, ...] = ()
    """Whose subdomains too are asked, by https only; none: any host with a public address."""
    query: Mapping[str, object] | None = None
    """Sent by POST as JSON (GraphQL); None: GET."""
    token: str | None = None
    """From the delivery itself, sent as Bearer."""
    needs_api_key: bool = False
    """Whether the source's `api_key` is sent as Bearer."""
    carried: Mapping[str, str] | None = None
    """What `read` needs beside the content to read it; told back to it."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a delivery says."""

    meeting: str | None
    """The provider's id of the meeting (of the bot in it, where that is all there is); None: it concerns no meeting."""
    events: tuple[MeetingEvent, ...]
    delivery_key: str | None = None
    """The provider's id of this delivery where a repeat of the delivery has the same; None: there is none."""
    fetches: tuple[Fetch, ...] = ()
    """What it points to, to be fetched; none: it says everything itself."""
    in_room: bool = False
    """Whether `meeting` names a room where one meeting follows another: what comes after the end of one is of the next."""
    carried: Mapping[str, str] | None = None
    """Of a message of a WebSocket: what the later ones of this connection need to be read, as a hello says once which meeting
    and sample rate they have; None: as before."""
    metadata: Mapping[str, object] | None = None
    """What whoever sent the bot has said of it, where the provider tells it with each event (DeclaredLive.metadata)."""


class LiveConnector(Protocol):
    declared: DeclaredLive

    def verify(self, delivery: Delivery, secrets: Sequence[str], *, source: str) -> None:
        """In constant time against each secret (several while they are being changed). Raises SignatureWrong."""
        ...

    def read(self, delivery: Delivery) -> Read:
        """Pure: the same for the same delivery. What is not known of a provider's newer events is no error: no events.
        Raises EventUnreadable, naming the field, for what is broken."""
        ...

    def answer(self, delivery: Delivery, secrets: Sequence[str]) -> Mapping[str, object] | None:
        """What the provider wants as the response (a challenge); None: nothing."""
        ...


def connector(provider: str) -> LiveConnector:
    """Raises UnknownPlugIn."""
    found: LiveConnector = registry.load(CONNECTORS, provider, kind="meeting backend")
    return found


def declared_live() -> list[DeclaredLive]:
    """What each connector states of itself, in the order of CONNECTORS."""
    return [connector(provider).declared for provider in CONNECTORS]
