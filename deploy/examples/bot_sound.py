"""A participant's sound, sent while they speak, and what they are called: over our own protocol's WebSocket.

    ffmpeg -re -i ana.ogg -f s16le -ar 16000 -ac 1 - |
        python bot_sound.py ws://127.0.0.1:8460/v1/hooks/mine "$MINE_TOKEN" Ana

A bot in a meeting has one such stream for each participant, on one connection. The source must `listen`, and have a secret
`token:…`, of which MINE_TOKEN is what follows. What was not kept when a connection broke is sent again on the next.
service/connectors/GENERIC.md has all fields. Needs `websockets`.
"""

import asyncio
import collections
import json
import struct
import sys
import uuid
from datetime import UTC, datetime

import websockets

RATE = 16_000
PIECE = 3_200  # bytes: 0.1 s of 16 bit, mono
REFUSED = (
    1008,
    1009,
)  # what its reason says, or a message that is too long, would close the next one, too


class Line:
    """Messages in order, across as many connections as it takes."""

    def __init__(self, url: str, secret: str) -> None:
        self.url, self.headers = f"{url}?acks=1", {"authorization": f"Bearer {secret}"}
        self.unkept: collections.deque[str | bytes] = collections.deque()
        self.more = asyncio.Event()
        self.over = False

    def send(self, message: str | bytes) -> None:
        self.unkept.append(message)
        self.more.set()

    async def run(self) -> None:
        while not self.over or self.unkept:
            try:
                async with websockets.connect(self.url, additional_headers=self.headers) as socket:
                    writing = asyncio.create_task(self.write(socket))
                    try:
                        await self.read(socket)
                    finally:
                        writing.cancel()
            except (OSError, websockets.ConnectionClosed) as problem:
                if isinstance(problem, websockets.ConnectionClosed) and problem.rcvd and problem.rcvd.code in REFUSED:
                    raise
                print(f"{problem}; again", file=sys.stderr)
                await asyncio.sleep(1)

    async def write(self, socket: websockets.ClientConnection) -> None:
        sent, self.dropped = 0, 0  # of this connection: messages sent, and messages kept and forgotten here
        while True:
            while sent - self.dropped < len(self.unkept):
                await socket.send(self.unkept[sent - self.dropped])
                sent += 1
            self.more.clear()
            await self.more.wait()

    async def read(self, socket: websockets.ClientConnection) -> None:
        async for message in socket:
            kept = json.loads(message)["kept"]
            while self.dropped < kept:
                self.unkept.popleft()
                self.dropped += 1
            if self.over and not self.unkept:
                return


async def main(url: str, secret: str, name: str) -> None:
    line, meeting, speaker = Line(url, secret), f"sound-{uuid.uuid4().hex[:8]}", {"handle": "p1", "name": name}
    running = asyncio.create_task(line.run())

    def tell(**event: object) -> None:
        line.send(json.dumps({"meeting": meeting, "at": datetime.now(UTC).isoformat(), **event}))

    tell(type="began", title=f"{name} speaks")
    tell(type="joined", speaker=speaker)
    told = 0
    while sound := await asyncio.to_thread(sys.stdin.buffer.read, PIECE):
        fields = {"encoding": "s16le", "sample_rate": RATE, "speaker": {"handle": "p1"}, "start": told / 2 / RATE}
        header = json.dumps({"meeting": meeting, "type": "heard", **fields}).encode()
        line.send(struct.pack("<I", len(header)) + header + sound[: len(sound) // 2 * 2])
        told += len(sound)
    tell(type="left", speaker={"handle": "p1"})
    tell(type="ended")
    line.over = True
    await running
    print(f"{meeting}: {told / 2 / RATE:.1f} s of {name}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
