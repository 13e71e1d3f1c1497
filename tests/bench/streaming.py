"""How soon after somebody stopped speaking is their memory ready? Spoken questions in real time over /stream.

For each size (`--sizes 1000,10000,100000`; the last takes ten minutes to fill) a throwaway space is filled as `search` fills
one; three people of the demo's household are enrolled and may read 500, 2,500 or 20,000 of its messages. Their five spoken
questions go over a websocket as they were spoken, 100 ms at a time, with a second and a half of silence after each: by token
and voice, by token alone, and on ten streams at once; `load` is the machine's before each. Times are the service's own, from
the arrival of the last frame with speech; service, client and models share one process, and all of it this machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import websockets

import service.demo
from service.api.stream import StreamConfig
from service.audio import decode
from service.graph.driver import changes
from service.graph.forget_space import forget_space
from service.pipelines.recall import recalled
from service.settings import Settings
from service.types.audio import SAMPLE_RATE, Waveform
from service.types.ids import fresh
from service.wiring import Services
from tests.api.serving import Api, serving
from tests.bench.report import Report, arguments
from tests.bench.retrieval.embedded import Embedded
from tests.bench.search import Filled, a_corpus, fill
from tests.bench.search import services as search_services

T = TypeVar("T")
HOUSEHOLD = Path(service.demo.__file__).parent / "household"
CLIPS = {
    "ask_surprise_ben.ogg": "ben", "ask_teapot_ben.ogg": "ben", "ask_surprise_nora.ogg": "nora",
    "ask_teapot_nora.ogg": "nora", "ask_surprise_ruth.ogg": "ruth",
}  # fmt: skip
SIZES = {1_000: (200, 500), 10_000: (200, 2_500), 100_000: (200, 20_000)}  # messages → what each of the two viewers may read
DEFAULT, QUICK = "1000,10000", "1000"
PIECE = 0.1  # seconds
SILENCE = 1.5
TIMES, QUICK_TIMES = 6, 1  # that every question is asked on one stream
STREAMS = 10
MARK = 400.0  # ms after speech from which a memory may be told at all

MAY_READ = """
MATCH (:Person {id: $as})-[:MAY_READ]->(a:Audience)<-[:FOR]-(m:Message) MATCH (p:Person {id: $person})
MERGE (p)-[:MAY_READ]->(a) SET m.readers = m.readers + ' ' + replace($person, '-', '')
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one spoken question."""

    memory: dict[str, Any] | None
    matched: int
    """Events told of it while it was said."""
    put_off: bool
    """Something of what is only shown was put off."""


async def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument(
        "--sizes", help=f"messages, with commas; of {', '.join(map(str, SIZES))} (default {DEFAULT}; quick: {QUICK})"
    )
    asked = parser.parse_args()
    sizes = [int(size) for size in (asked.sizes or (QUICK if asked.quick else DEFAULT)).split(",")]
    report = Report("streaming")
    async with search_services() as found:
        service = Services(Settings(development=False, data_dir=found.settings.data_dir), found.graph)
        embedder = Embedded(await service.text_embedder(), service.settings.cache_dir)
        for size in sizes:
            corpus = a_corpus(embedder, report, quick=size < max(SIZES))
            await of_size(service, await fill(service.graph, corpus, size, SIZES[size]), size, report, quick=asked.quick)
    report.finish(asked.json)


async def of_size(service: Services, filled: Filled, size: int, report: Report, *, quick: bool) -> None:
    try:
        async with a_house(service, filled) as (api, people):
            await stages(service, filled, f"messages={size}", report, times=2 if quick else TIMES)
            await measure(api, people, f"messages={size}", report, times=QUICK_TIMES if quick else TIMES)
    finally:
        await forget_space(service.graph, filled.world.space)


@asynccontextmanager
async def a_house(service: Services, filled: Filled) -> AsyncIterator[tuple[Api, dict[str, str]]]:
    """A server whose models are loaded, and the ids of who was enrolled."""
    space, people = filled.world.space, {}
    for name in ("ben", "nora", "ruth"):
        people[name] = await service.enrol(
            space=space, name=name.title(), clip=HOUSEHOLD / f"enrol_{name}.ogg", text_version="1", channel="wideband"
        )
        await service.graph.write(changes, MAY_READ, person=people[name], **{"as": filled.world.person("zebedee")})
    patient = StreamConfig(rest_seconds=60.0)  # what comes late counts as late, not as missing
    async with serving(service, space, stream=patient) as api:
        await asyncio.gather(service.search(), service.vad(), service.recogniser())
        await listen(api, people, ["ask_surprise_ben.ogg"], voice=True)  # connections, plans and models are warm afterwards
        yield api, people


async def measure(api: Api, people: dict[str, str], store: str, report: Report, *, times: int) -> None:
    clips = list(CLIPS)
    for voice in (True, False):
        condition = f"{store}/streams=1/voice={'on' if voice else 'off'}"
        report.add("load", condition, "ours", os.getloadavg()[0], "processes", 1)
        before = time.process_time()
        asked = await listen(api, people, clips * times, voice=voice)
        cpu = (time.process_time() - before) / len(asked)
        told(report, condition, asked)
        report.add("cpu_ms_per_utterance", condition, "ours", 1_000 * cpu, "ms", len(asked))
    condition = f"{store}/streams={STREAMS}/voice=on"
    report.add("load", condition, "ours", os.getloadavg()[0], "processes", 1)
    each = [clips[i % len(clips) :] + clips[: i % len(clips)] for i in range(STREAMS)]
    heard = await asyncio.gather(
        *(late(0.3 * i, listen(api, people, some[: 1 if times == 1 else 3], voice=True)) for i, some in enumerate(each))
    )
    told(report, condition, [one for asked in heard for one in asked])


async def stages(service: Services, filled: Filled, store: str, report: Report, *, times: int) -> None:
    """CPU of this process for what stands between the last word and the memory, each by itself: times that a busy machine does
    not change. Neo4j's own is not in it."""
    recogniser, search = await asyncio.gather(service.recogniser(), service.search())
    assert recogniser is not None
    scope = await filled.world.scope("zebedee")
    cpu: dict[str, list[float]] = defaultdict(list)

    async def timed(stage: str, work: Callable[[], Awaitable[T]]) -> T:
        before = time.process_time()
        done = await work()
        cpu[stage].append(1_000 * (time.process_time() - before))
        return done

    for clip in list(CLIPS) * times:
        sound = Waveform(np.concatenate([block.samples for block in decode.blocks(HOUSEHOLD / clip, seconds=60)]))
        text = await timed("transcribe", lambda sound=sound: asyncio.to_thread(recogniser.quick, sound))
        await timed("voice", lambda sound=sound: service.heard_in(sound))
        found = await timed("look", lambda text=text: search.gather(scope, text))
        result = await timed("read", lambda found=found: search.shown(scope, found, 15))
        now = datetime.now(UTC)
        await timed("recall", lambda hits=result.hits, now=now: service.graph.read(recalled, scope, hits, now))
    for stage, values in cpu.items():
        report.add(f"{stage}_cpu_ms", store, "ours", float(np.median(values)), "ms", len(values))


async def late(seconds: float, work: Any) -> Any:
    """People do not begin to speak in one moment."""
    await asyncio.sleep(seconds)
    return await work


def told(report: Report, condition: str, asked: Sequence[Asked]) -> None:
    timings = [one.memory["timing"] for one in asked if one.memory is not None]
    report.add("answered", condition, "ours", len(timings) / len(asked), "share", len(asked))
    report.add("put_off", condition, "ours", sum(one.put_off for one in asked) / len(asked), "share", len(asked))
    for metric, name in (("ready", "readyMs"), ("transcribed", "transcribedMs"), ("found", "foundMs")):
        values = [timing[name] for timing in timings]
        if values:
            report.add(f"{metric}_p50_ms", condition, "ours", float(np.percentile(values, 50)), "ms", len(values))
            report.add(f"{metric}_p95_ms", condition, "ours", float(np.percentile(values, 95)), "ms", len(values))
    if timings:
        hidden, found = [t["hidden"] for t in timings], [t["foundMs"] <= MARK for t in timings]
        report.add("work_hidden", condition, "ours", float(np.mean(hidden)), "share", len(hidden))
        report.add("found_before_mark", condition, "ours", float(np.mean(found)), "share", len(found))
        tokens = [one.memory["tokens"] for one in asked if one.memory is not None]
        report.add("memory_tokens", condition, "ours", float(np.mean(tokens)), "tokens", len(tokens))


async def listen(api: Api, people: dict[str, str], clips: Sequence[str], *, voice: bool) -> list[Asked]:
    """One stream for each run of questions of one person, in real time."""
    asked: list[Asked] = []
    for clip in clips:
        token = api.token(f"{fresh()}@bench", person_id=people[CLIPS[clip]])
        async with websockets.connect(f"ws://127.0.0.1:{api.port}/stream") as socket:
            headers = {"authorization": f"Bearer {token}"}
            await socket.send(json.dumps({"type": "start", "headers": headers, "voice": voice}))
            await socket.recv()
            hearing = asyncio.create_task(heard(socket))
            began = time.perf_counter()
            for number, piece in enumerate(pieces(clip)):
                await asyncio.sleep(max(0.0, began + number * PIECE - time.perf_counter()))
                await socket.send(piece)
            await socket.send(json.dumps({"type": "end"}))
            asked.append(await hearing)
    return asked


async def heard(socket: Any) -> Asked:
    events = [json.loads(event) async for event in socket]
    memory = next((event for event in events if event["type"] == "memory"), None)
    kinds = [event["type"] for event in events]
    return Asked(memory, kinds.count("matched"), "put_off" in kinds)


def pieces(clip: str) -> list[bytes]:
    sound = np.concatenate([block.samples for block in decode.blocks(HOUSEHOLD / clip, seconds=60)])
    sound = np.concatenate([sound, np.zeros(round(SILENCE * SAMPLE_RATE), np.float32)])
    raw, step = (sound * 32767).astype("<i2").tobytes(), round(PIECE * SAMPLE_RATE) * 2
    return [raw[start : start + step] for start in range(0, len(raw), step)]


if __name__ == "__main__":
    asyncio.run(main())
