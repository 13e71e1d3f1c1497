"""Commands about how long what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import show, table

if TYPE_CHECKING:
    from service.pipelines.retention import Kept
    from service.types.people import SpaceSettings
    from service.wiring import Services

retention = typer.Typer(rich_markup_mode=None, help="How long what is kept.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(retention, name="retention")


@retention.command("show")
def show_(
    html: Annotated[bool, typer.Option("--html", help="As a page, to be shown to whom it is of.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show the schedule: every place where personal data lives, and how long what is in it stays.

    Example: voicegraph retention show --html > schedule.html
    """

    async def work(services: Services) -> tuple[str, tuple[Kept, ...]]:
        from service.graph.spaces import find_space
        from service.pipelines.retention import schedule
        from service.types.people import SpaceSettings

        named = services.settings.space
        settings = await services.graph.read(find_space, named) or SpaceSettings(named)
        return named, schedule(settings, services.settings.question_days)

    named, kept = with_services(work, space=space)
    if html:
        from service.pipelines.retention_page import as_page

        typer.echo(as_page(named, kept), nl=False)
        return
    rows = [(one.store, one.holds, one.until) for one in kept]
    show(kept, as_json, lambda: table(("where", "what", "how long"), rows))


@retention.command("set")
def set_(
    session_days: Annotated[
        int, typer.Option(min=0, max=3_650, help="Days that sessions are kept after they were held; 0: until they are erased.")
    ],
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Say how long sessions are kept. Those that are older are erased by the next sweep of `voicegraph serve`.

    Example: voicegraph retention set --session-days 365
    """

    async def work(services: Services) -> SpaceSettings:
        from dataclasses import replace

        from service.graph.spaces import ensure_space, save_space
        from service.types.people import SpaceSettings

        before = await services.graph.write(ensure_space, SpaceSettings(services.settings.space))
        return await services.graph.write(save_space, replace(before, session_days=session_days or None))

    days = with_services(work, space=space).session_days
    words = f"Sessions are kept for {days} days." if days else "Sessions are kept until they are erased."
    show({"session_days": days}, as_json, lambda: words)
