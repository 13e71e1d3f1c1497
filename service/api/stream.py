"""How is a voice listened to while it speaks? A websocket: sound comes in, what is heard and remembered goes out.

First a text message, within ten seconds:

    {"type": "start", "headers": {"authorization": "Bearer …", "x-voicegraph-heard-by": "…"}, "voice": true,
     "zone": "Europe/Berlin", "remember": false, "title": "…"}

`headers` are those of any request (X-Voicegraph-Voice excepted: the stream is the voice). With `voice` (default, unless the
space never looks at voices) every utterance's voice is judged as that of an uploaded clip is; without, the token asks alone.
Then binary messages of PCM, 16 bit little-endian, mono, 16 kHz, in pieces of any length up to two seconds; silence is sent,
too, or taken for granted where nothing comes. {"type": "playback", "on": true} says that a loudspeaker plays what a machine
says, until it is false again: what comes meanwhile is heard as silence, so that no machine is taken for anybody.
{"type": "end"} asks for what is still to come and ends the stream. With `remember` (scope `ingest`) the whole is then ingested
like a file, however the stream ended, unless leave has ended. Out come the events of service.api.stream_json, `ready` before
them, and before a closing that the client might not expect `error`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from fastapi import APIRouter
from starlette.websockets import WebSocket, WebSocketDisconnect

from service.api.context import Context, Credentials, Runtime
from service.api.rates import address_of
from service.api.stream_closing import Closing, NotUnderstood, StreamIdle, StreamNeedsToken, StreamTooLong, close_for
from service.api.stream_json import as_json
from service.api.stream_recording import Recording
from service.api.streams import OpenStream, ReadsTooSlowly
from service.audio.vad import SpeechDetector
from service.errors import InvalidInput
from service.graph.spaces import find_space
from service.pipelines.listen import ListenConfig, Listener, Unheard
from service.pipelines.viewer import HeardVoice, ViewerRefused
from service.types.audio import SAMPLE_RATE, Samples, Waveform
from service.types.people import Viewer, VoiceAccess
from service.types.plain import short

SAMPLE_BYTES = 2


@dataclass(frozen=True, slots=True)
class StreamConfig:
    start_seconds: float = 10.0  # for `start` after the socket is open
    idle_seconds: float = 60.0  # without sound; a client that is there sends some, be it none long, or pings with it
    longest_seconds: float = 4 * 3600.0  # since it was opened; as a subscription
    send_seconds: float = 5.0  # for one event to be taken by the client's side
    rest_seconds: float = 10.0  # for what is still to come after `end`
    pause: float = 0.1  # seconds that the next piece may be late; then silence is taken for granted
    speed: float = 1.0  # times as fast as it was spoken that sound is taken at most; the rest waits with the client
    ahead: float = 1.0  # seconds that may come at once, after a hitch of the network
    waiting: int = 32  # messages read and not yet heard
    listen: ListenConfig = field(default_factory=ListenConfig)


@dataclass(frozen=True, slots=True)
class Start:
    credentials: Credentials
    voice: bool
    zone: str | None
    remember: bool
    title: str

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Start:
        """Raises NotUnderstood, InvalidInput."""
        told = _object(message)
        known = {"type": str, "headers": dict, "voice": bool, "zone": str, "remember": bool, "title": str}
        wrong = [name for name, value in told.items() if name not in known or not isinstance(value, known[name])]
        if told.get("type") != "start" or wrong:
            given = f"`{wrong[0][:40]}`" if wrong else "something else"
            raise NotUnderstood(what=f"{given} came first", needed='{"type": "start", …} with the fields it is documented with')
        credentials = Credentials.of(told.get("headers", {}))
        if credentials.asked.voice is not None:
            raise NotUnderstood(what="an uploaded voice was named", needed="none: the stream is the voice")
        title = short("title", told["title"]) if "title" in told else "Conversation"
        return cls(credentials, told.get("voice", True), told.get("zone"), told.get("remember", False), title)


def stream_router(runtime: Runtime, config: StreamConfig, origins: Sequence[str] = ()) -> APIRouter:
    """`origins`: whose pages may open one, beside the service's own."""
    router = APIRouter()

    @router.websocket("/stream")
    async def stream(socket: WebSocket) -> None:
        if not _same_origin(socket, origins):
            await socket.close(Closing.NOT_ALLOWED)  # before it is accepted: the handshake is refused
            return
        runtime.rates.take(address_of(socket))
        await socket.accept()
        try:
            await _serve(runtime, config, socket)
        except BaseException as error:  # noqa: BLE001 - told to the client, and raised again where the service is stopped
            await close_for(socket, error)

    return router


def _same_origin(socket: WebSocket, others: Sequence[str]) -> bool:
    """Pages of other origins have nobody's token, and are not to try."""
    origin = socket.headers.get("origin")
    return origin is None or origin in others or urlsplit(origin).netloc == socket.headers.get("host")


async def _serve(runtime: Runtime, config: StreamConfig, socket: WebSocket) -> None:
    start = await _start(config, socket)
    context = (await Context(runtime, start.credentials).prepared()).admit(socket)
    entry = context.entry
    if entry is None:
        raise StreamNeedsToken
    context.reader()
    account = context.allowed("ingest", "keep what is said on a stream").account_id if start.remember else None
    with runtime.streams.open(entry, start.credentials.asked) as stream:
        await socket.send_json({"type": "ready", "streamId": stream.id})
        async with AsyncExitStack() as until_closed:
            recording = None
            if account is not None:
                recording = Recording(context, stream, account=account, title=start.title, zone=start.zone)
                await until_closed.enter_async_context(recording)
            async with asyncio.TaskGroup() as tasks:
                sending = tasks.create_task(_send(config, socket, stream))
                await _listen(runtime, config, socket, start, context, stream, tasks, recording)
                stream.outbox.end()
                await sending
        if recording is not None and recording.job is not None:
            await socket.send_json({"type": "remembered", "jobId": recording.job})
    await socket.close(Closing.OVER)


async def _start(config: StreamConfig, socket: WebSocket) -> Start:
    try:
        async with asyncio.timeout(config.start_seconds):
            message = await socket.receive()
    except TimeoutError:
        raise StreamIdle(seconds=config.start_seconds) from None
    _present(message)
    return Start.of(message)


async def _listen(
    runtime: Runtime,
    config: StreamConfig,
    socket: WebSocket,
    start: Start,
    context: Context,
    stream: OpenStream,
    tasks: asyncio.TaskGroup,
    recording: Recording | None,
) -> None:
    """Until the client ends it."""
    services, loop = runtime.services, asyncio.get_running_loop()
    vad, search = await asyncio.gather(services.vad(), services.search())
    listener = Listener(
        services.graph, search,
        detector=SpeechDetector(vad), transcribe=_Words(runtime), asker=await _Asker.of(context, voice=start.voice),
        front=runtime.front, tell=stream.tell, tasks=tasks, zone=start.zone, config=config.listen,
    )  # fmt: skip
    came: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(config.waiting)
    reading = tasks.create_task(_receive(socket, came))
    opened = last = loop.time()
    plays = False  # a loudspeaker, what a machine says
    taken, patience = 0.0, config.pause  # seconds of sound and silence; until silence is taken for granted
    while True:
        if loop.time() - opened > config.longest_seconds:
            raise StreamTooLong(seconds=config.longest_seconds)
        try:
            message = await asyncio.wait_for(came.get(), patience)
        except TimeoutError:
            _still_there(config, last)
            heard = not listener.at_rest
            silence = patience if heard else max(0.0, loop.time() - opened - taken)
            samples, patience = np.zeros(round(silence * SAMPLE_RATE), np.float32), config.pause
        else:
            _present(message)
            sound = _sound(message)
            if isinstance(sound, bool):
                context.charge(1)
                plays = sound
                _still_there(config, last)
                continue
            last = loop.time()
            if sound is None:
                break
            samples, patience = np.zeros_like(sound) if plays else sound, config.pause + len(sound) / SAMPLE_RATE
            heard = True
        taken += len(samples) / SAMPLE_RATE
        if recording is not None:
            recording.keep(samples)
        if heard:
            await listener.hear(samples)
        await asyncio.sleep(max(0.0, taken / config.speed - (loop.time() - opened) - config.ahead))
    with suppress(TimeoutError):  # what is not ready by then is not told
        await asyncio.wait_for(listener.rest(), config.rest_seconds)
    reading.cancel()


def _still_there(config: StreamConfig, last: float) -> None:
    """Raises StreamIdle; `last`: when sound came last, in the time of the running loop."""
    if asyncio.get_running_loop().time() - last > config.idle_seconds:
        raise StreamIdle(seconds=config.idle_seconds)


async def _receive(socket: WebSocket, came: asyncio.Queue[Mapping[str, Any]]) -> None:
    while True:
        message = await socket.receive()
        await came.put(message)
        if message["type"] == "websocket.disconnect":  # what came before it is heard first
            return


def _present(message: Mapping[str, Any]) -> None:
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))


def _sound(message: Mapping[str, Any]) -> Samples | bool | None:
    """A bool: whether something is played from now on; None for `end`; raises NotUnderstood."""
    sound = message.get("bytes")
    if sound is None:
        match _object(message):
            case {"type": "end"}:
                return None
            case {"type": "playback", "on": bool(plays)}:
                return plays
        needed = 'sound, {"type": "playback", "on": true or false}, or {"type": "end"}'
        raise NotUnderstood(what="Another text message than `playback` and `end` came", needed=needed)
    if len(sound) % SAMPLE_BYTES:
        raise NotUnderstood(
            what=f"{len(sound)} bytes of sound came", needed="whole samples of 2 bytes: PCM, 16 bit, mono, 16 kHz"
        )
    return (np.frombuffer(sound, "<i2") / 32768).astype(np.float32)


def _object(message: Mapping[str, Any]) -> dict[str, Any]:
    try:
        told = json.loads(message.get("text") or "")
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise NotUnderstood(what="A message came that is no JSON object", needed='{"type": …}, or sound after `start`')
    return told


async def _send(config: StreamConfig, socket: WebSocket, stream: OpenStream) -> None:
    while (told := await stream.outbox.get()) is not None:
        try:
            async with asyncio.timeout(config.send_seconds):
                await socket.send_json(as_json(told))
        except TimeoutError:
            raise ReadsTooSlowly(waiting="Some") from None
        except RuntimeError:  # so the server says that the connection has ended already
            raise WebSocketDisconnect(1006) from None


class _Words:
    """A Transcriber: one at a time, whoever has finished first. What is only shown meanwhile is put off while others wait."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def __call__(self, waveform: Waveform, whole: bool) -> str | None:
        recogniser = await self._runtime.services.recogniser()
        if recogniser is None:
            raise InvalidInput(what="the setting `recogniser`", given="none", needed="one, for a stream's words")
        front = self._runtime.front
        if not whole and not front.spare:
            return None
        async with front.words.turn(urgent=True) if whole else front.showing(front.words):
            return await asyncio.to_thread(recogniser.quick, waveform)


class _Asker:
    """Judged as who asks over POST with an uploaded clip of this voice."""

    def __init__(self, context: Context, others: tuple[HeardVoice, ...], *, voice: bool) -> None:
        self._context, self._others, self._looks = context, others, voice

    @classmethod
    async def of(cls, context: Context, *, voice: bool) -> _Asker:
        space = await context.services.graph.read(find_space, context.space)
        never = space is not None and space.voice_access is VoiceAccess.NEVER
        return cls(context, await context.hearers(), voice=voice and not never)

    async def voice(self, waveform: Waveform, *, urgent: bool) -> HeardVoice | Unheard:
        front = self._context.runtime.front
        if not self._looks:
            return Unheard.NOT_LOOKED_AT
        if not urgent and not front.spare:
            return Unheard.PUT_OFF
        async with front.voices.turn(urgent=True) if urgent else front.showing(front.voices):
            return await self._context.services.heard_in(waveform)

    async def resolve(self, voice: HeardVoice | None) -> Viewer | ViewerRefused:
        return await self._context.renewed().viewer(voice, self._others)
