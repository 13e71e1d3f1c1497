"""The line protocol with Mem0's process: what is asked arrives as asked, and what fails says nothing of what was said."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.engines.mem0 import Mem0Search
from service.engines.mem0_process import Forget, Index, Kept, Nearest, Request, from_line, serve, to_line
from service.engines.mem_search import EngineConfig, EngineMissing, Wanted, mirror_space, open_engine
from service.errors import VoicegraphError
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


@given(requests)
def test_a_request_arrives_as_it_was_asked_on_one_line(request: Request) -> None:
    line = to_line(request)
    assert "\n" not in line and from_line(line) == request


def answers(work: Any, *lines: str) -> list[dict[str, Any]]:
    written = io.StringIO()
    serve(work, lines, written)
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_each_request_has_one_answer_whatever_became_of_it() -> None:
    def work(request: Request) -> str:
        if isinstance(request, Forget):
            raise KeyError("my password is swordfish")
        return type(request).__name__

    got = answers(work, to_line(Forget("home", None)), to_line(Index("home", [])), '{"do": "Dance"}', "{}")
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
