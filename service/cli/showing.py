"""The command that shows what all of this is for."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson
from service.cli.shown import Bars, show

if TYPE_CHECKING:
    from service.demo.run import Demo


def add_to(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    keep: Annotated[
        bool, typer.Option("--keep", help="Go on with what an earlier demo left, instead of beginning afresh.")
    ] = False,
    serve: Annotated[
        bool | None, typer.Option("--serve/--no-serve", help="Go on serving until Ctrl-C. Default: when a person watches.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show all of it in two or three minutes.

    Remembers a real telephone call and a made-up household, and asks about them by voice.

    Example: voicegraph demo --json > demo.json
    """
    from service.demo.run import SPACE, run
    from service.settings import load_settings

    watched = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    serves = watched if serve is None else serve

    def shown(result: Demo) -> None:
        bars.close()
        show(result, as_json, lambda: _drawn(result))

    ended = (KeyboardInterrupt,) if serves else ()  # how one that serves is meant to end
    with Bars() as bars, suppress(*ended):
        asyncio.run(run(load_settings(space=SPACE), bars, shown, keep=keep, serve=serves))


def _drawn(demo: Demo) -> Any:
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    from service.demo.tell import told

    where = demo.where
    serve = "running until Ctrl-C" if where.serving else "after: voicegraph serve --space demo"
    lines = [
        f"API and GraphiQL   {where.api}   ({serve})",
        "   with a token    voicegraph token create --as Nora --space demo",
        f"Neo4j Browser      {where.browser or 'that of your own server'}",
        "   its password    voicegraph neo4j browser",
        f"   and there       {where.show_graph}",
        f"Your own file      {where.try_own}",
    ]
    return Group(told(demo.story), Rule(f"Done in {demo.seconds:.0f} s. Where to go on"), Text("\n".join(lines)))
