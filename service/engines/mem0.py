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
    """Made by `open`; one request at a time."""

    def __init__(self, process: asyncio.subprocess.Process, config: Mem0Config) -> None:
        self._process, self._config = process, config
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, config: EngineConfig, mem0: Mem0Config | None = None) -> Mem0Search:
        """Starts the process. Raises EngineMissing."""
        python, mem0 = config.python, mem0 or Mem0Config()
        if python is None or not python.exists():
            raise EngineMissing(engine="mem0", reason="it has no interpreter", remedy=REMEDY)
        folder = config.data / "mem0"
        folder.mkdir(parents=True, exist_ok=True)
        process = await asyncio.create_subprocess_exec(
            python, "-I", Path(mem0_process.__file__), folder, str(config.text_space.dimension),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=mem0.longest,
        )  # fmt: skip
        engine = cls(process, mem0)
        try:
            ready = await engine._answer(mem0.start)
        except EngineFailed as error:
            raise EngineMissing(engine="mem0", reason=f"its process did not start ({error.message})", remedy=REMEDY) from error
        assert ready == mem0_process.READY
        return engine

    @staticmethod
    def was_used(data: Path) -> bool:
        """Whether there may be something of Mem0's in the data directory."""
        return (data / "mem0").is_dir()

    async def close(self) -> None:
        if self._process.returncode is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                await asyncio.wait_for(self._process.wait(), self._config.answer)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()

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
            assert self._process.stdin is not None
            self._process.stdin.write(mem0_process.to_line(request).encode() + b"\n")
            try:
                await self._process.stdin.drain()
            except (BrokenPipeError, ConnectionResetError) as error:
                raise EngineFailed(engine="mem0", reason="its process has ended") from error
            return await self._answer(self._config.answer)

    async def _answer(self, seconds: float) -> Any:
        """Raises EngineFailed; after an answer that did not come, the process is ended: the next could be that one."""
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), seconds)
        except TimeoutError as error:
            self._process.kill()
            raise EngineFailed(engine="mem0", reason=f"no answer in {seconds:g} s") from error
        if not line:
            raise EngineFailed(engine="mem0", reason="its process has ended")
        answer = json.loads(line)
        if "failed" in answer:
            raise EngineFailed(engine="mem0", reason=answer["failed"])
        return answer["done"]
