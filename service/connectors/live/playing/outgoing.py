"""What is sent of a meeting, whichever way, and what came back of it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from service.connectors.live.playing.recorded import Sending
from service.errors import VoicegraphError

Progress = Callable[[float, str], None]


class DeliveryRefused(VoicegraphError):
    code = "delivery_refused"
    says = "{url} answered {status} to delivery {number} ({kind}): {answer}"


class ServiceUnreached(VoicegraphError):
    code = "service_unreached"
    says = "{url} could not be reached: {why}. Start it (voicegraph serve), or correct --to."


class OnlyByHttp(VoicegraphError):
    code = "only_by_http"
    says = "{provider} signs the JSON of each delivery, and the opening of a WebSocket ({url}) has none. Give --to http://…."


@dataclass(frozen=True, slots=True)
class SendingConfig:
    tries: int = 8  # of one delivery; with waits that double from 0.5 s some two minutes: a service that restarts is back
    first_wait: float = 0.5  # seconds
    longest_wait: float = 60.0  # seconds, also of a Retry-After
    timeout: float = 30.0  # seconds for one answer

    def wait(self, attempt: int, retry_after: str | None = None) -> float:
        """Seconds before it is tried again, as the service asks, else by how often it was tried."""
        asked = float(retry_after) if retry_after is not None and retry_after.isdigit() else self.first_wait * 2**attempt
        return min(asked, self.longest_wait)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One delivery."""

    number: int
    """Of its event, from 0."""
    sending: Sending
    id: str
    body: bytes

    @property
    def kind(self) -> str:
        return kind(self.sending)


@dataclass(slots=True)
class Tally:
    cut: int = 0
    again: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    acks: list[float] = field(default_factory=list)
    """Milliseconds."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was sent and what came back."""

    deliveries: int
    """All of them acknowledged."""
    duplicates: int
    cut: int
    """Connections cut before the answer."""
    again: int
    """Deliveries that had to be repeated: after a cut, a 429, a 503, a lost connection."""
    statuses: Mapping[str, int]
    """Answers by HTTP status; "kept": acknowledged on a WebSocket."""
    left_out: Mapping[str, int]
    """Events by kind that this provider has no way to tell."""
    seconds: float
    ack_p50_ms: float | None
    """From sending to acknowledgement; None: nothing was sent."""
    ack_p95_ms: float | None


def kind(sending: Sending) -> str:
    return type(sending.event).__name__.lower()


def quantile(values: Sequence[float], share: float) -> float | None:
    return round(sorted(values)[min(len(values) - 1, int(len(values) * share))], 1) if values else None
