"""What do people send over WebSockets who mean harm? Operations, streams and deliveries that are none: JSON of any depth and
form, bytes where text stands, half samples, what comes before its turn or never ends. Seeded, as `requests.py`."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import websockets
from websockets.asyncio.client import ClientConnection

from tests.hostile.requests import KINDS as REQUESTS
from tests.hostile.requests import Hostile, Sent
from tests.hostile.siege import House, Tally

PROTOCOL = "graphql-transport-ws"
SOURCE = "siege"
"""Of meetings, in the other space: whoever delivers to it may ingest there."""
BROKEN_OFF, FAULT = 1006, 1011
LONG = 30_000
"""Bytes: while so many are still on their way the end of a connection may be lost with them."""
PATIENCE = 20.0
"""Seconds in which a service that is there answers a ping, or has closed."""
QUIET = 0.1
"""Seconds without a message after which nothing more is waited for; what comes later is in the service's log alone."""
Message = str | bytes


@dataclass(frozen=True)
class Talk:
    """One connection, and all that is sent on it."""

    kind: str
    principal: str
    path: str
    messages: tuple[Message, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    protocol: str | None = None

    @property
    def sent(self) -> Sent:
        """As it is told in a tally."""
        text = b"\n".join(one.encode(errors="replace") if isinstance(one, str) else one for one in self.messages)
        return Sent(self.kind, self.principal, text, dict(self.headers), "GET", self.path)


def talks(by: Hostile, n: int) -> Iterator[Talk]:
    draw = random.Random(by.seed)
    kinds = list(KINDS)
    for i in range(n):
        talk = KINDS[kinds[i % len(kinds)]](by, draw, draw.choice(by.principals))
        yield replace(talk, kind=kinds[i % len(kinds)])


def _json(by: Hostile, draw: random.Random) -> str:
    """Of any form, or none."""
    deep = draw.choice((33, 400, 990, 100_000))
    return draw.choice(
        (
            "[" * deep,
            "[" * deep + "]" * deep,
            '{"type": ' * deep + "1" + "}" * deep,
            "",
            "null",
            "NaN",
            "[]",
            '{"type": null}',
            '{"type": {"type": []}}',
            '{"type": "start", "type": "end"}',
            "9" * 5_000,
            json.dumps({"type": by.text(draw)}),
            json.dumps({by.text(draw): by.text(draw)}),
            '{"type": "\\ud800"}',
            by.text(draw),
        )
    )


def _bytes(draw: random.Random) -> bytes:
    return draw.choice((b"", b"\x00", b"\xff\xfe\xfd", draw.randbytes(3_200), draw.randbytes(7), b"\x00" * 64_000, b'{"a": 1}'))


def _anything(by: Hostile, draw: random.Random) -> Message:
    return _json(by, draw) if draw.random() < 0.6 else _bytes(draw)


def _init(principal: str, **more: Any) -> str:
    token = {"authorization": f"Bearer ${principal}"} if principal else {}
    return json.dumps({"type": "connection_init", "payload": {**token, **more}})


def _subscribe(payload: Any, id: Any = "1") -> str:
    return json.dumps({"id": id, "type": "subscribe", "payload": payload})


def _operations(by: Hostile, draw: random.Random, principal: str) -> Talk:
    """What is posted otherwise, several at once, and on the same id again."""
    some = [
        REQUESTS[draw.choice(("query", "search", "id", "cursor", "depth", "fragment", "subscription"))](by, draw) for _ in "123"
    ]
    messages = [_subscribe(json.loads(sent.content), draw.choice(("1", str(number)))) for number, sent in enumerate(some)]
    return Talk("", principal, "/graphql", (_init(principal), *messages), protocol=PROTOCOL)


def _followed(by: Hostile, draw: random.Random, principal: str) -> Talk:
    id = json.dumps(draw.choice((*by.ids, by.text(draw))))
    since = json.dumps(draw.choice(("", "1999-01-01T00:00:00Z", "x")))
    of = draw.choice(
        (
            f"jobProgress(id: {id}) {{ __typename }}",
            f"listening(streamId: {id}) {{ __typename }}",
            f"events(since: {since}) {{ __typename ... on SessionReady {{ sessionId }} }}",
            'events(since: "2099-01-01T00:00:00Z", kinds: []) { __typename }',
        )
    )
    messages = [_subscribe({"query": f"subscription {{ {of} }}"}, str(number)) for number in range(draw.choice((1, 9)))]
    return Talk("", principal, "/graphql", (_init(principal), *messages), protocol=PROTOCOL)


def _misspoken(by: Hostile, draw: random.Random, principal: str) -> Talk:
    """No message of the protocol, or one before its turn."""
    begun = draw.choice(((), (_init(principal),), (_init(principal), _init(principal))))
    odd = draw.choice(
        (
            _anything(by, draw),
            json.dumps(
                {"type": draw.choice(("subscribe", "complete", "next", "pong", "connection_ack")), "id": draw.choice(by.ids)}
            ),
            _subscribe(
                draw.choice((None, [], "x", {"query": []}, {"query": "{ space { name } }", "variables": [1]})),
                draw.choice((1, "1")),
            ),
            _init(
                principal,
                **{
                    draw.choice(("x-voicegraph-heard-by", "x-voicegraph-nothing", "authorization")): draw.choice(
                        (1, [], None, {})
                    )
                },
            ),
        )
    )
    return Talk("", principal, "/graphql", (*begun, odd), protocol=draw.choice((PROTOCOL, PROTOCOL, "graphql-ws", None)))


def _start(by: Hostile, draw: random.Random, principal: str) -> str:
    headers: dict[str, Any] = {"authorization": f"Bearer ${principal}"} if principal else {}
    odd = draw.choice(
        (
            {},
            {},
            {"x-voicegraph-heard-by": draw.choice(by.ids)},
            {"x-voicegraph-voice": "x"},
            {"authorization": [1]},
            {"x-voicegraph-no": "1"},
        )
    )
    more = draw.choice(
        ({}, {"remember": True}, {"zone": by.text(draw)}, {"title": by.text(draw)}, {"voice": "yes"}, {"voice": False})
    )
    return json.dumps({"type": "start", "headers": headers | odd, **more})


def _begun(by: Hostile, draw: random.Random, principal: str) -> Talk:
    """A stream's first message, of any form."""
    return Talk("", principal, "/stream", (_anything(by, draw),))


def _streamed(by: Hostile, draw: random.Random, principal: str) -> Talk:
    """A stream that begins as it should, more or less."""
    odd = [_anything(by, draw) for _ in range(draw.choice((0, 1, 3)))]
    return Talk("", principal, "/stream", (_start(by, draw, principal), *odd, json.dumps({"type": "end"})))


def _delivered(by: Hostile, draw: random.Random, principal: str) -> Talk:
    """To a source that there is, and by those who may; and by others, and to others."""
    said = {
        "meeting": "m",
        "type": "uttered",
        "speaker": {"handle": by.text(draw)},
        "text": by.text(draw),
        "start": draw.choice((1, -1, 1e300, "x")),
    }
    some = [
        draw.choice((_anything(by, draw), json.dumps(said | {"end": draw.choice((2, None, 1e308))})))
        for _ in range(draw.choice((1, 4)))
    ]
    who = draw.choice((principal, "elsewhere", "elsewhere"))
    path = draw.choice((f"/v1/hooks/{SOURCE}", f"/v1/hooks/{SOURCE}?acks=1", "/v1/hooks/x", "/v1/hooks/..%2f"))
    return Talk("", who, path, tuple(some), {"authorization": f"Bearer ${who}"} if who else {})


def _knocked(by: Hostile, draw: random.Random, principal: str) -> Talk:
    """At any door."""
    path = draw.choice(("/graphql", "/stream", "/v1/uploads", "/healthz", "/", "/graphql/", "//stream", "/v1/export"))
    odd = draw.choice(
        (
            {},
            {"origin": "https://evil.example"},
            {"x-voicegraph-unknown": "1"},
            {"authorization": "Bearer a.b.c"},
            {"x-filler": "y" * 20_000},
        )
    )
    return Talk("", principal, path, (_anything(by, draw),), odd, draw.choice((PROTOCOL, None)))


KINDS: dict[str, Callable[[Hostile, random.Random, str], Talk]] = {
    "operations": _operations,
    "stream": _begun,
    "followed": _followed,
    "streamed": _streamed,
    "misspoken": _misspoken,
    "delivered": _delivered,
    "knocked": _knocked,
}


def take_deliveries(sources: Path, space: str) -> None:
    """To SOURCE, into `space`."""
    (sources.parent / "secret").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    secret = json.dumps(f"file:{sources.parent / 'secret'}")
    sources.write_text(f'[sources.{SOURCE}]\nprovider = "generic"\nspace = "{space}"\nsecrets = [{secret}]\n')


async def beset(address: str, house: House, some: Sequence[Talk], tally: Tally, *, at_once: int = 8) -> None:
    """Each of the talks with the service at `address` (ws://…), and what came of it."""
    shared = iter(some)

    async def worker() -> None:
        for talk in shared:
            await _talk(address, house, talk, tally)

    async with asyncio.TaskGroup() as workers:
        for _ in range(at_once):
            workers.create_task(worker())


async def _talk(address: str, house: House, talk: Talk, tally: Tally) -> None:
    sent, told = talk.sent, list[str]()
    headers = {name: _with_token(value, talk, house) for name, value in talk.headers.items()}
    messages = [_with_token(one, talk, house) if isinstance(one, str) else one for one in talk.messages]
    protocols: Any = [talk.protocol] if talk.protocol else None
    try:
        async with asyncio.timeout(PATIENCE):
            async with websockets.connect(
                f"{address}{talk.path}", subprotocols=protocols, additional_headers=headers
            ) as socket:
                told = await _told(socket, messages)
                code = socket.close_code
    except websockets.InvalidStatus as refused:
        status, told = refused.response.status_code, [(refused.response.body or b"").decode(errors="replace")]
        tally.statuses[status] += 1
        fault = f"{status} {told}" if status >= 500 else ""
    except (TimeoutError, websockets.InvalidHandshake, OSError) as error:
        fault = type(error).__name__
    else:
        tally.statuses[code or 0] += 1
        fault = (
            f"closed with {code}: {told[-1:]}"
            if code == FAULT or (code == BROKEN_OFF and len(sent.content) < LONG)
            else next(filter(_is_fault, told), "")
        )
    tally.answered += 1
    if fault:
        tally.faults.append((sent, fault))
    text, asked = " ".join(told), sent.content.decode(errors="replace") + str(talk.headers)
    tally.sent[talk.principal] |= {word for word in house.hidden[talk.principal] if word in asked}
    tally.leaks += [(sent, word) for word in house.hidden[talk.principal] - tally.sent[talk.principal] if word in text]


async def _told(socket: ClientConnection, messages: Sequence[Message]) -> list[str]:
    """All that is told, until nothing comes any more."""
    told: list[str] = []
    try:
        for message in messages:
            await socket.send(message)
        await (await socket.ping())
        while True:
            async with asyncio.timeout(QUIET):
                message = await socket.recv()
            told.append(message if isinstance(message, str) else repr(message))
    except websockets.ConnectionClosed:
        while True:  # what came before the end
            try:
                told.append(str(await socket.recv()))
            except websockets.ConnectionClosed:
                return told
    except TimeoutError:
        return told


def _with_token(text: str, talk: Talk, house: House) -> str:
    return text.replace(f"${talk.principal}", house.tokens[talk.principal]) if talk.principal else text


def _is_fault(message: str) -> bool:
    return any(f'"{word}"' in message for word in ("incident", "unexpected", "took_too_long")) or "incident" in message
