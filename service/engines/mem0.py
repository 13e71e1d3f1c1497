"""How does Mem0 stand under our index? In a process of its own, asked over a typed line protocol (`mem0_process.py`).

Its packages conflict with ours (protobuf), so it runs in an environment that the setting `mem0_python` names. Every message
is a memory as it was said (`infer=False`), its dense search is exact, and audiences are a filter inside it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from service.engines import mem0_process
from service.engines.mem0_process import Forget, Index, Kept, Nearest, Request
from service.engines.mem_search import EngineConfig, EngineMissing, Item, Wanted, mirror_space
from service.errors import VoicegraphError
from service.types.search import Ranked, Ranking

if TYPE_CHECKING:
    from service.graph.access import ReadScope

REMEDY = (
    f"Make an environment with mem0ai=={mem0_process.MEM0_VERSION} and qdrant-client, and set `mem0_python` to its Python. "
    "One process at a time can use it."
)


class EngineFailed(VoicegraphError):
    code = "engine_failed"
    says = "The engine {engine} failed: {reason}. What the graph holds is untouched; the same request may be made again."
    http_status = 503


@dataclass(frozen=True, slots=True)
class Mem0Config:
    batch: int = 64  # items a request: a quarter of a megabyte of JSON; 70 ms each measured with lemmas, 20 without
    start: float = 120.0  # seconds; importing it takes up to a minute on a busy machine
    answer: float = 120.0  # seconds; a batch takes some
    longest: int = 64 * 1024 * 1024  # bytes of an answer


class Mem0Search:
    """Made by `open`; one request at a time. Whose process has ended starts another with the next request."""

    def __init__(self, config: EngineConfig, mem0: Mem0Config) -> None:
        self._given, self._config = config, mem0
        self._process: asyncio.subprocess.Process | None = None
        self._number = mem0_process.START
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, config: EngineConfig, mem0: Mem0Config | None = None) -> Mem0Search:
        """Starts the process. Raises EngineMissing."""
        engine = cls(config, mem0 or Mem0Config())
        await engine._started()
        return engine

    async def _started(self) -> asyncio.subprocess.Process:
        """Raises EngineMissing."""
        python = self._given.python
        if python is None or not python.exists():
            raise EngineMissing(engine="mem0", reason="it has no interpreter", remedy=REMEDY)
        folder = self._given.data / "mem0"
        folder.mkdir(parents=True, exist_ok=True)
        self._process = process = await asyncio.create_subprocess_exec(
            python, "-I", Path(mem0_process.__file__), folder, str(self._given.text_space.dimension),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=self._config.longest,
        )  # fmt: skip
        try:
            ready = await self._answer(process, mem0_process.START, self._config.start)
        except EngineFailed as error:
            raise EngineMissing(engine="mem0", reason=f"its process did not start ({error.message})", remedy=REMEDY) from error
        except BaseException:
            self._end(process)  # nobody waits for it any more, and another could not open what it opens
            raise
        assert ready == mem0_process.READY
        return process

    @staticmethod
    def was_used(data: Path) -> bool:
        """Whether there may be something of Mem0's in the data directory."""
        return (data / "mem0").is_dir()

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), self._config.answer)
            except TimeoutError:
                process.kill()
                await process.wait()

    async def index(self, space: str, items: Sequence[Item]) -> None:
        for start in range(0, len(items), self._config.batch):
            kept = [
                Kept(item.id, item.audience, item.text, item.vector.tolist(), item.said_at.isoformat())
                for item in items[start : start + self._config.batch]
            ]
            await self._ask(Index(mirror_space(space), kept))

    async def nearest(self, scope: ReadScope, wanted: Wanted) -> Ranking:
        """Scores are Mem0's: of cosines here, since it has neither words nor entities to add."""
        if not scope.audiences or (wanted.pool is not None and not wanted.pool):
            return ()
        pool = None if wanted.pool is None else list(wanted.pool)
        asked = Nearest(mirror_space(scope.space), list(scope.audiences), wanted.words, wanted.vector.tolist(), wanted.k, pool)
        best: dict[str, float] = {}
        for id, score in await self._ask(asked):
            best.setdefault(id, score)
        return tuple(Ranked(id, score) for id, score in best.items())

    async def forget(self, space: str, ids: Sequence[str] | None = None) -> None:
        if ids is None or ids:
            await self._ask(Forget(mirror_space(space), None if ids is None else list(ids)))

    async def _ask(self, request: Request) -> Any:
        async with self._lock:
            process = self._process
            if process is None or process.returncode is not None:
                process = await self._started()
            assert process.stdin is not None
            self._number += 1
            process.stdin.write(mem0_process.to_line(self._number, request).encode() + b"\n")
            try:
                await process.stdin.drain()
            except (BrokenPipeError, ConnectionResetError) as error:
                self._end(process)
                raise EngineFailed(engine="mem0", reason="its process has ended") from error
            return await self._answer(process, self._number, self._config.answer)

    async def _answer(self, process: asyncio.subprocess.Process, number: int, seconds: float) -> Any:
        """The answer of this number: one before it was for somebody who does not wait any more. Raises EngineFailed; the
        process is ended where none came that is understood."""
        try:
            async with asyncio.timeout(seconds):
                answer = await self._next(process)
                while answer["number"] != number:
                    answer = await self._next(process)
        except (
            TimeoutError,
            EOFError,
            ValueError,
            KeyError,
            RecursionError,
        ) as error:  # ValueError: no JSON, or longer than `longest`
            self._end(process)
            reasons = {TimeoutError: f"no answer in {seconds:g} s", EOFError: "its process has ended"}
            reason = reasons.get(type(error), "an answer that is none")
            raise EngineFailed(engine="mem0", reason=reason) from error
        if "failed" in answer:
            raise EngineFailed(engine="mem0", reason=answer["failed"])
        return answer["done"]

    @staticmethod
    async def _next(process: asyncio.subprocess.Process) -> Any:
        """Raises EOFError, ValueError."""
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            raise EOFError
        return json.loads(line)

    def _end(self, process: asyncio.subprocess.Process) -> None:
        """The next request starts another."""
        self._process = None
        if process.returncode is None:
            process.kill()
