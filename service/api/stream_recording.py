"""How is what is said on a stream kept? As it comes, beside the uploads; then it is ingested like a file, however the stream
ended, unless leave to do so has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import TracebackType

import numpy as np
from strawberry import ID

from service.api.context import Context, NotAllowed, TokenNotAccepted
from service.api.jobs import IngestInput, ingest
from service.api.stream_closing import leaves
from service.api.streams import OpenStream
from service.types.audio import Samples

WAV_HEADER = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\xff\xff\xff\xff"
"""Of PCM, 16 bit, mono, 16 kHz, whose length is not known yet."""
WAITING = 32
"""Pieces that wait for the disk; the stream waits for room."""


class Recording:
    """`async with`: what was kept in it is ingested at its end; `job` is the job's id then, None of silence alone."""

    def __init__(self, context: Context, stream: OpenStream, *, title: str, zone: str | None) -> None:
        self._context, self._stream, self._title, self._zone = context, stream, title, zone
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue(WAITING)
        self._heard = False
        self.job: str | None = None

    async def keep(self, samples: Samples) -> None:
        """Raises what Uploads.save did, if it did already."""
        await self._give((np.clip(samples, -1, 32767 / 32768) * 32768).astype("<i2").tobytes())
        self._heard = self._heard or bool(np.any(samples))

    async def __aenter__(self) -> Recording:
        self._saving = asyncio.create_task(self._context.save(self._sound()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._heard and not _leave_lost(error):
                self._context.renewed().allowed("ingest", "keep what is said on a stream")
                self.job = await self._ingested()
        finally:
            self._saving.cancel()  # nothing is left of what is not ingested
            await asyncio.wait([self._saving])

    async def _ingested(self) -> str:
        await self._give(None)
        upload = await self._saving
        wanted = IngestInput(upload_id=ID(upload.id), title=self._title, started_at=self._stream.opened_at, zone=self._zone)
        return (await ingest(self._context, wanted, f"stream {self._stream.id}")).id

    async def _give(self, piece: bytes | None) -> None:
        giving = asyncio.create_task(self._waiting.put(piece))
        try:
            await asyncio.wait([giving, self._saving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            giving.cancel()  # where the saving ended first, nobody makes room any more
        if self._saving.done():
            await self._saving

    async def _sound(self) -> AsyncIterator[bytes]:
        yield WAV_HEADER
        while (sound := await self._waiting.get()) is not None:
            yield sound


def _leave_lost(error: BaseException | None) -> bool:
    return error is not None and any(isinstance(one, TokenNotAccepted | NotAllowed) for one in leaves(error))
