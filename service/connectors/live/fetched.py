"""How does what was fetched come to its connector? As a delivery of its own, which carries what was asked for and for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from service.connectors.files.source import Written
from service.connectors.files.vtt import VTT
from service.connectors.live import Delivery, EventUnreadable, Fetch
from service.types.meeting import NOBODY, Base, Speaker, Uttered

WHAT, MEETING = "fetched", "meeting"
"""Keys of Delivery.carried that make it a fetched one. No sender can set them: they are told by connectors alone."""


@dataclass(frozen=True, slots=True)
class Fetched:
    what: str
    meeting: str
    carried: Mapping[str, str]


def delivery_of(fetch: Fetch, content: bytes, received_at: datetime) -> Delivery:
    """What goes into the inbox, and from there to `read`."""
    carried = {**(fetch.carried or {}), WHAT: fetch.what, MEETING: fetch.meeting}
    return Delivery({}, content, received_at, carried=carried)


def fetched_of(delivery: Delivery) -> Fetched | None:
    """None: somebody sent it."""
    carried = dict(delivery.carried or {})
    what, meeting = carried.pop(WHAT, None), carried.pop(MEETING, None)
    return None if what is None or meeting is None else Fetched(what, meeting, carried)


def as_text(delivery: Delivery, provider: str) -> str:
    """Raises EventUnreadable for what is not UTF-8."""
    try:
        text = delivery.body.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise EventUnreadable(provider=provider, place=f"byte {problem.start}", what="it is no UTF-8") from problem
    return text.replace("\r\n", "\n").replace("\r", "\n")


def said_in(vtt: str, provider: str, *, base: Base, offset: float) -> Iterator[Uttered]:
    """The cues of a WebVTT file, `offset` seconds later. A name is a label; two may share it. Raises TranscriptUnreadable."""
    for turn in VTT.read(Written(vtt, provider)).segments:
        if turn.text:
            yield Uttered(
                key="",
                speaker=NOBODY if turn.label is None else Speaker(turn.label, name=turn.label),
                text=turn.text,
                start=turn.segment.start + offset,
                end=turn.segment.end + offset,
                base=base,
                language=turn.language,
            )
