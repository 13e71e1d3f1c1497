"""The examples that pass on what Pipecat and LiveKit hear: what they send is signed, sent again until it is kept, and read."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from service.connectors.live import Delivery, Read, connector
from service.types.meeting import Uttered
from tests.unit.connectors.live.local_http import Answer, Asked, serving
from tests.unit.connectors.live.told import kinds, said

EXAMPLES = Path(__file__).parents[4] / "deploy" / "examples"
SECRET = "whsec_" + base64.b64encode(b"k" * 24).decode()
NAMES = ("passing_on", "pipecat_bot", "livekit_listener")


@dataclass
class TranscriptionFrame:
    """As Pipecat's, whose own were passed on when this was written (1.14): by its name and these fields it is known."""

    text: str
    user_id: str
    timestamp: str
    language: str | None = None


@dataclass
class AggregatedTextFrame:
    text: str
    will_be_spoken: bool = True


@dataclass
class EndFrame:
    pass


@pytest.fixture
def examples() -> Iterator[list[ModuleType]]:
    sys.path.insert(0, str(EXAMPLES))
    try:
        yield [import_module(name) for name in NAMES]
    finally:
        sys.path.remove(str(EXAMPLES))
        for name in NAMES:
            sys.modules.pop(name, None)


def read(provider: str, asked: Asked, secret: str) -> Read:
    delivery = Delivery(asked.headers, asked.body, datetime.now(UTC))
    connector(provider).verify(delivery, [secret], source="s")
    return connector(provider).read(delivery)


async def test_what_pipecat_hears_and_says_arrives_once_and_in_order(examples: list[ModuleType]) -> None:
    passing_on, pipecat_bot, _ = examples
    frames: list[Any] = [
        TranscriptionFrame("hello world", "u1", "2026-11-30T09:00:00.000+00:00", "en"),
        AggregatedTextFrame("Good morning."),
        AggregatedTextFrame("not said", will_be_spoken=False),
        EndFrame(),
    ]
    answers = iter([Answer(503), Answer(202), Answer(202), Answer(400), Answer(202)])
    sign = passing_on.standard_webhooks(SECRET)
    async with (
        serving(lambda _: next(answers)) as (base, asked),
        passing_on.Sender(base + "/v1/hooks/bot", sign, longest_wait=0.1) as sender,
    ):
        for frame in frames:
            if message := pipecat_bot.message_of("m42", frame):
                sender.put(message)
        sender.put(pipecat_bot.person("m42", "ParticipantJoined", "u1", "Ana"))
    assert len(asked) == 5 and asked[0].path == "/v1/hooks/bot"
    found = [read("pipecat", one, SECRET) for one in asked]
    assert found[0].delivery_key == found[1].delivery_key and {one.meeting for one in found} == {"m42"}
    told = [event for one in found[1:] for event in one.events]
    assert kinds(tuple(told)) == ["Uttered", "Uttered", "Ended", "Joined"]
    assert [(handle, text) for handle, text, *_ in said(tuple(told))] == [("u1", "hello world"), ("bot", "Good morning.")]
    assert isinstance(told[1], Uttered) and told[1].speaker.is_bot


async def test_what_is_said_in_a_livekit_room_arrives_signed_as_livekit_signs(examples: list[ModuleType]) -> None:
    passing_on, _, livekit_listener = examples
    attributes = {"lk.segment_id": "SG_1", "lk.transcription_final": "true"}
    room = {"sid": "RM_1", "name": "standup"}
    told = livekit_listener.message_of(room, "ana", attributes, "hello world", at=1_772_442_000.0)
    sign = passing_on.livekit_token("APIkey", "secret")
    async with serving(lambda _: Answer(202)) as (base, asked), passing_on.Sender(base, sign) as sender:
        sender.put(told)
    (one,) = asked
    found = read("livekit", one, "APIkey:secret")
    assert found.meeting == "RM_1" and said(found.events, 1_772_442_000.0) == [("ana", "hello world", -0.8, 0.0, True)]


@pytest.mark.parametrize(("status", "tries"), [(500, 1), (501, 1), (413, 1), (408, 2), (429, 2), (502, 2), (503, 2), (504, 2)])
async def test_what_is_kept_or_never_will_be_is_not_sent_again(examples: list[ModuleType], status: int, tries: int) -> None:
    passing_on, *_ = examples
    answers = iter([Answer(status), *[Answer(202)] * tries])
    sign = passing_on.standard_webhooks(SECRET)
    async with (
        serving(lambda _: next(answers)) as (base, asked),
        passing_on.Sender(base, sign, longest_wait=0.01) as sender,
    ):
        for n in range(2):
            sender.put({"n": n})
    assert [one.body for one in asked] == [b'{"n": 0}'] * tries + [b'{"n": 1}']
