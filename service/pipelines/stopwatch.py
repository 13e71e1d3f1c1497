"""What did each stage cost? CPU seconds of the process, a stage inside another counted once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from service.types.audio import EmbeddingSpace, SpeakerEmbedding, SpeakerEncoder, Waveform

T = TypeVar("T")


class Stopwatch:
    """Stages may nest and may run in worker threads, one after the other. What else the process does at the same time is
    counted too: exact for a command or a benchmark, an upper bound in a busy server."""

    def __init__(self, clock: Callable[[], float] = time.process_time) -> None:
        self.seconds: dict[str, float] = {}
        self._clock = clock
        self._running: list[str] = []
        self._since = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._switch()
        self._running.append(name)
        try:
            yield
        finally:
            self._switch()
            self._running.pop()

    def each(self, name: str, items: Iterable[T]) -> Iterator[T]:
        """`items`, the work of making each of them counted under `name`."""
        iterator = iter(items)
        while True:
            with self.stage(name):
                try:
                    item = next(iterator)
                except StopIteration:
                    return
            yield item

    def _switch(self) -> None:
        """Book the time since the last switch under the innermost stage."""
        now = self._clock()
        if self._running:
            name = self._running[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now


class TimedEncoder:
    """A SpeakerEncoder whose work is counted under `voice`."""

    def __init__(self, encoder: SpeakerEncoder, stopwatch: Stopwatch) -> None:
        self._encoder, self._stopwatch = encoder, stopwatch

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._encoder.embedding_space

    def __call__(self, waveforms: Sequence[Waveform]) -> list[SpeakerEmbedding]:
        with self._stopwatch.stage("voice"):
            return self._encoder(waveforms)
