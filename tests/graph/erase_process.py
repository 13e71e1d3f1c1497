"""A sweep in a process of its own, to be killed in the middle: says after each of its transactions that it is done."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from service.graph.driver import Graph, GraphConfig
from service.types.erasure import Subject, SubjectKind
from tests.graph.erase_builders import Household


class Telling(Graph):
    """The same database; each write is told when it is committed."""

    async def write(self, work: Any, *args: Any, **kwargs: Any) -> Any:
        done = await super().write(work, *args, **kwargs)
        print(getattr(work, "__name__", "write"), flush=True)
        return done


async def main(space: str, folder: str, person: str) -> None:
    graph = await Graph.open(GraphConfig(os.environ["NEO4J_URI"], os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"]))
    household = Household(graph, space, Path(folder), person, "", "")
    telling = Telling(graph._driver, graph.config, graph.version)
    await household.eraser(batch=1, graph=telling).finish(space, Subject(SubjectKind.PERSON, person))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
