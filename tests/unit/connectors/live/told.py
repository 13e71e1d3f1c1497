"""Deliveries as tests make them, and what a connector says of them in few words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from service.connectors.live import Delivery, EventUnreadable, Read, connector
from service.types.meeting import MeetingEvent, Uttered

NOW = datetime(2026, 11, 30, 9, 0, 0, tzinfo=UTC)
SECOND = NOW.timestamp()


def sent(body: Any, **more: Any) -> Delivery:
    """`body`: bytes, or what is written as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Delivery(more.pop("headers", {}), content, more.pop("received_at", NOW), **more)


def read(provider: str, body: Any, **more: Any) -> Read:
    return connector(provider).read(sent(body, **more))


def refusal(provider: str, body: Any, **more: Any) -> EventUnreadable:
    """What it is refused with."""
    try:
        found = read(provider, body, **more)
    except EventUnreadable as problem:
        return problem
    raise AssertionError(f"not refused: {found}")


def said(events: tuple[MeetingEvent, ...], since: float = 0.0) -> list[tuple[str | None, str, float, float, bool]]:
    """handle, text, start and end since `since`, final: of each that has words."""
    return [
        (e.speaker.handle, e.text, round(e.start - since, 3), round(e.end - since, 3), e.final)
        for e in events
        if isinstance(e, Uttered)
    ]


def kinds(events: tuple[MeetingEvent, ...]) -> list[str]:
    return [type(event).__name__ for event in events]


def with_(told: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {**told, **more}
