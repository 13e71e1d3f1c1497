"""Commands about how long what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

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
        int | None,
        typer.Option(min=0, max=3_650, help="Days that sessions are kept after they were held; 0: until they are erased."),
    ] = None,
    voice_days: Annotated[
        int | None,
        typer.Option(min=0, max=3_650, help="Days that voices are kept after they were last heard; 0: as long as they agree."),
    ] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Say how long sessions are kept, and voices of who agreed. What is older goes by the next sweep of `voicegraph serve`.

    Example: voicegraph retention set --session-days 365 --voice-days 1095
    """
    given = {"session_days": session_days, "voice_days": voice_days}
    changed: dict[str, Any] = {name: days or None for name, days in given.items() if days is not None}
    if not changed:
        raise typer.BadParameter("Say how long what is kept: --session-days, --voice-days, or both.")

    async def work(services: Services) -> SpaceSettings:
        from dataclasses import replace

        from service.graph.spaces import ensure_space, save_space
        from service.types.people import SpaceSettings

        before = await services.graph.write(ensure_space, SpaceSettings(services.settings.space))
        return await services.graph.write(save_space, replace(before, **changed))

    now = with_services(work, space=space)
    sessions = f"for {now.session_days} days" if now.session_days else "until they are erased"
    voices = f"for {now.voice_days} days after they were last heard" if now.voice_days else "as long as they agree"
    words = f"Sessions are kept {sessions}, voices of who agreed {voices}."
    show({"session_days": now.session_days, "voice_days": now.voice_days}, as_json, lambda: words)
