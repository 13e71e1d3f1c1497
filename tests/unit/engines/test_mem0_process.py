"""The line protocol with Mem0's process: what is asked arrives as asked, and what fails says nothing of what was said."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.engines.mem0 import EngineFailed, Mem0Config, Mem0Search
from service.engines.mem0_process import Forget, Index, Kept, Nearest, Request, from_line, serve, to_line, to_request
from service.engines.mem_search import EngineConfig, EngineMissing, Wanted, mirror_space, open_engine
from service.errors import VoicegraphError
from service.graph.access import ReadScope
from service.graph.driver import Graph
from service.registry import UnknownPlugIn
from service.types.audio import EmbeddingSpace

texts = some.text(max_size=20)
vectors = some.lists(some.floats(allow_nan=False, allow_infinity=False, width=32), max_size=4)
requests = some.one_of(
    some.builds(Index, texts, some.lists(some.builds(Kept, texts, texts, texts, vectors, texts), max_size=3)),
    some.builds(Nearest, texts, some.lists(texts), texts, vectors, some.integers(0, 100), some.none() | some.lists(texts)),
    some.builds(Forget, texts, some.none() | some.lists(texts)),
)


@given(some.integers(), requests)
def test_a_request_arrives_as_it_was_asked_on_one_line(number: int, request: Request) -> None:
    line = to_line(number, request)
    arrived, given = from_line(line)
    assert "\n" not in line and (arrived, to_request(given)) == (number, request)


def answers(work: Any, *lines: str) -> list[dict[str, Any]]:
    written = io.StringIO()
    serve(work, lines, written)
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_each_request_has_one_answer_whatever_became_of_it() -> None:
    def work(request: Request) -> str:
        if isinstance(request, Forget):
            raise KeyError("my password is swordfish")
        return type(request).__name__

    got = answers(work, to_line(7, Forget("home", None)), to_line(8, Index("home", [])), '{"number": 9, "do": "Dance"}', "{}")
    assert [answer.pop("number") for answer in got] == [7, 8, 9, None]
    assert got == [{"failed": "KeyError"}, {"done": "Index"}, {"failed": "KeyError"}, {"failed": "KeyError"}]


@pytest.mark.parametrize("python", [None, Path("/nowhere/python"), Path(sys.executable)])
async def test_without_a_python_that_has_mem0_the_engine_says_what_to_do(python: Path | None, tmp_path: Path) -> None:
    """The last of them is ours, which has none."""
    config = EngineConfig(cast(Graph, None), EmbeddingSpace("e5", "1", 4), tmp_path, python)
    with pytest.raises(EngineMissing, match="mem0_python"):
        await Mem0Search.open(config)


async def test_an_engine_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    config = EngineConfig(cast(Graph, None), EmbeddingSpace("e5", "1", 4), tmp_path)
    with pytest.raises(UnknownPlugIn) as refused:
        await open_engine("chroma", config)
    assert "graphiti, mem0, neo4j" in cast(VoicegraphError, refused.value).message


@given(texts, texts)
def test_two_spaces_are_two_names_of_letters_and_digits_for_an_engine(one: str, other: str) -> None:
    assert mirror_space(one).isalnum()
    assert (mirror_space(one) == mirror_space(other)) == (one == other)


def test_an_empty_question_has_words_for_an_engine_that_refuses_it() -> None:

    assert Wanted(" ", np.zeros(4, np.float32), 5).words == "?"


PROCESS = """#!{python}
import os, sys, time
sys.path.insert(0, {root!r})
from service.engines.mem0_process import READY, START, serve

def work(request):
    if request.text == "die":
        os._exit(1)
    time.sleep(0.3 if request.text == "slow" else 100 if request.text == "stuck" else 0)
    return [[request.text, 1.0]]

print('{{"number": 0, "done": "' + READY + '"}}', flush=True)
serve(work, sys.stdin, sys.stdout)
"""
"""Answers as Mem0's process does: with what was asked for, after a while, or never."""


@pytest.fixture
async def process(tmp_path: Path) -> AsyncIterator[Mem0Search]:
    python = tmp_path / "python"
    python.write_text(PROCESS.format(python=sys.executable, root=str(Path(__file__).parents[3])))
    python.chmod(0o700)
    config = EngineConfig(cast(Graph, None), EmbeddingSpace("e5", "1", 4), tmp_path, python)
    engine = await Mem0Search.open(config, Mem0Config(start=60.0, answer=3.0))
    yield engine
    await engine.close()


async def found(engine: Mem0Search, text: str) -> list[str]:
    scope = cast(ReadScope, SimpleNamespace(space="home", audiences=("everybody",)))
    return [one.id for one in await engine.nearest(scope, Wanted(text, np.zeros(4, np.float32), 5))]


async def test_what_follows_a_request_that_was_given_up_is_its_own_answer(process: Mem0Search) -> None:
    given_up = asyncio.create_task(found(process, "slow"))
    await asyncio.sleep(0.1)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert [await found(process, text) for text in ("one", "two")] == [["one"], ["two"]]


@pytest.mark.parametrize("text", ["die", "stuck"])
async def test_after_a_process_that_ended_or_hangs_the_next_request_has_another(process: Mem0Search, text: str) -> None:
    with pytest.raises(EngineFailed):
        await found(process, text)
    assert await found(process, "one") == ["one"]
