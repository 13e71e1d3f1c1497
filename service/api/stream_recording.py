"""How is what is said on a stream kept? As it comes, beside the uploads, and written as messages while it lasts; at its end a
job goes on with it as with a file, however the stream ended, unless leave to do so has ended."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType

import numpy as np

from service.api.bearers import TokenExpired
from service.api.context import Context, NotAllowed, TokenNotAccepted
from service.api.spool import WAV_HEADER, Spool, StreamForgotten
from service.api.stream_closing import leaves
from service.api.stream_following import LEAVE_ENDED, ingest_kept
from service.api.streams import OpenStream
from service.pipelines.live import LIVE, Growing, give_up
from service.pipelines.stream_notes import StreamNote
from service.types.audio import SAMPLE_RATE, Samples


class Recording:
    """`async with`: what was kept in it is ingested at its end; `job` is the job's id then, None of silence alone."""

    def __init__(self, context: Context, stream: OpenStream, *, account: str, title: str, zone: str | None) -> None:
        self._runtime, self._context = context.runtime, context
        began = stream.opened_at.isoformat()
        self._note = StreamNote(stream.id, stream.space, account, stream.token_id, title, zone, began)
        self._limit = self._runtime.uploads.config.max_bytes
        self._samples, self._heard = 0, False
        self._sound: Growing | None = None
        """Once it is followed: what is shorter is written at its end."""
        self.job: str | None = None

    async def __aenter__(self) -> Recording:
        self._spool = Spool.begun(self._runtime.uploads.folder(self._note.account), self._note)
        self._spool.write(WAV_HEADER, limit=self._limit)
        return self

    def keep(self, samples: Samples) -> None:
        """Raises UploadTooLarge, NoRoom, StreamForgotten."""
        raw = (np.clip(samples, -1, 32767 / 32768) * 32768).astype("<i2").tobytes()
        self._spool.write(raw, limit=self._limit)
        self._samples += len(samples)
        self._heard = self._heard or bool(np.any(samples))
        if self._sound is not None:
            self._sound.wrote(len(raw))
        elif self._heard and self._samples >= LIVE.first * SAMPLE_RATE:
            self._sound = self._followed()

    def _followed(self) -> Growing:
        front, seconds = self._runtime.front, self._samples / SAMPLE_RATE
        sound = Growing(self._note.id, self._spool.path, len(WAV_HEADER), seconds=seconds, busy=lambda: front.crowded)
        self._runtime.following.begin(self._runtime.services, self._note, sound)
        return sound

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        kept = False
        try:
            if self._heard and not _leave_lost(error):
                with suppress(TokenExpired):  # nobody took leave back: until then it was given
                    self._context.renewed().allowed("ingest", "keep what is said on a stream")
                kept = True
        finally:
            if not kept:
                await self._left()
        if kept:
            self._runtime.following.over(self._note.id)
            self.job = (await ingest_kept(self._runtime.following, self._runtime.jobs, self._spool)).id

    async def _left(self) -> None:
        """Nothing is left of what is not ingested, but for turns that were written while it might be: for their speakers."""
        await self._runtime.following.stop(self._note.id)
        self._spool.discard()
        if self._sound is not None:
            await self._runtime.services.graph.write(give_up, self._note.space, self._note.session_id, LEAVE_ENDED)


def _leave_lost(error: BaseException | None) -> bool:
    return error is not None and any(isinstance(one, TokenNotAccepted | NotAllowed | StreamForgotten) for one in leaves(error))
