"""Commands about other engines than the graph: give the one that is set what it lacks, take everything out of all again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import Bars, plain, show

if TYPE_CHECKING:
    from service.pipelines.mirror import Mirrored
    from service.wiring import Services

engine = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="What another engine than the graph itself (setting `engine`) holds."
)


def add_to(app: typer.Typer) -> None:
    app.add_typer(engine, name="engine")


@engine.command("sync")
def sync(space: SpaceName = None, as_json: AsJson = False) -> None:
    """Give the engine every message that it lacks, or has for other readers.

    `voicegraph ingest` does it for each recording; this is for what was remembered before, and after corrections.

    Example: voicegraph engine sync
    """
    with Bars() as bar:

        async def work(services: Services) -> Mirrored:
            return await (await services.engines.mirror())(services.settings.space, progress=bar("messages"))

        done = with_services(work, space=space)
    show(plain(done), as_json, lambda: f"{done.messages} messages given to {done.engine}; it lacks {done.behind}.")


@engine.command("forget")
def forget(space: SpaceName = None, as_json: AsJson = False) -> None:
    """Take everything of the space out of every engine, set or not. The messages stay where they are, in the graph.

    Example: voicegraph engine forget --space home
    """

    async def work(services: Services) -> None:
        await services.engines.forget(services.settings.space)

    with_services(work, space=space)
    show({"forgotten": True}, as_json, lambda: "No engine holds anything of this space beside the graph any more.")
