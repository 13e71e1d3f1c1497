"""Speak, and read what is remembered: a client of /stream. Needs `websockets`, and PCM on its standard input.

arecord -q -f S16_LE -r 16000 -c 1 -t raw | python listen.py ws://127.0.0.1:8460/stream "$TOKEN"
ffmpeg -re -i question.ogg -f s16le -ar 16000 -ac 1 - | python listen.py ws://127.0.0.1:8460/stream "$TOKEN"
"""

import asyncio
import json
import sys

import websockets

PIECE = 3_200  # bytes: 0.1 s of 16 kHz, 16 bit, mono


async def main(url: str, token: str) -> None:
    async with websockets.connect(url) as socket:
        await socket.send(json.dumps({"type": "start", "headers": {"authorization": f"Bearer {token}"}}))
        await asyncio.gather(speak(socket), read(socket))


async def speak(socket: websockets.ClientConnection) -> None:
    """In pieces, as the sound comes; a program that plays a file must keep to real time itself."""
    while sound := await asyncio.to_thread(sys.stdin.buffer.read, PIECE):
        await socket.send(sound[: len(sound) // 2 * 2])
    await socket.send(json.dumps({"type": "end"}))


async def read(socket: websockets.ClientConnection) -> None:
    async for message in socket:
        event = json.loads(message)
        match event["type"]:
            case "transcript":
                print(f"  {event['text']}")
            case "memory":
                print(f"{event['question']}\n{event['text']}\n({event['timing']['readyMs']:.0f} ms after the last word)")
            case "not_answered" | "error":
                print(f"{event['code']}: {event.get('reason') or event.get('message')}", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
