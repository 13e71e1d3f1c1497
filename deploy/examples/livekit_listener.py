"""Pass on the transcription of a LiveKit room. Needs `livekit`, a token that may subscribe, and passing_on.py beside it.

    [sources.room]                                 # hooks.toml of the service; LiveKit's own webhooks go to the same place
    provider = "livekit"
    space = "home"
    secrets = ["env:LIVEKIT_KEY_AND_SECRET"]       # <API key>:<API secret>, with which LiveKit signs, too

    python livekit_listener.py wss://my.livekit.cloud "$ROOM_TOKEN" https://…/v1/hooks/room "$LIVEKIT_KEY_AND_SECRET"

Comings and goings come from LiveKit's webhooks; this tells the words, which no webhook has."""

import asyncio
import sys
import time
from collections.abc import Mapping
from typing import Any

from passing_on import Sender, livekit_token

TOPIC = "lk.transcription"


def message_of(
    room: Mapping[str, str], identity: str, attributes: Mapping[str, str], text: str, *, at: float
) -> dict[str, Any]:
    """`at`: seconds since 1970 when the stream was over, which is just after the words were."""
    return {
        "event": "text_stream",
        "topic": TOPIC,
        "room": dict(room),
        "participant": {"identity": identity},
        "attributes": dict(attributes),
        "text": text,
        "at": int(at * 1000),
    }


async def listen(url: str, token: str, sender: Sender) -> None:
    """Until the room is left."""
    from livekit import rtc

    room, over, reading = rtc.Room(), asyncio.Event(), set[asyncio.Task[None]]()

    def whose(identity: str, attributes: Mapping[str, str]) -> str:
        """An agent tells what others said: the track says whose words they are."""
        track = attributes.get("lk.transcribed_track_id")
        found = (one.identity for one in room.remote_participants.values() if track in one.track_publications)
        return next(found, identity)

    async def read(reader: Any, identity: str) -> None:
        text, attributes = await reader.read_all(), reader.info.attributes or {}
        told = {"sid": await room.sid, "name": room.name}
        sender.put(message_of(told, whose(identity, attributes), attributes, text, at=time.time()))

    def begin(reader: Any, identity: str) -> None:
        task = asyncio.create_task(read(reader, identity))
        reading.add(task)
        task.add_done_callback(reading.discard)

    room.register_text_stream_handler(TOPIC, begin)
    room.on("disconnected", lambda *_: over.set())
    await room.connect(url, token)
    await over.wait()


async def main(url: str, token: str, hook: str, key_and_secret: str) -> None:
    key, _, secret = key_and_secret.partition(":")
    async with Sender(hook, livekit_token(key, secret)) as sender:
        await listen(url, token, sender)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
