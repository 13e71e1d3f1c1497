"""Commands about backends that deliver meetings: which may, whether they can, and what could not be taken in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import show, table
from service.errors import InvalidInput, VoicegraphError

if TYPE_CHECKING:
    from service.connectors.live.sources import Source, Sources
    from service.graph.deliveries import DeliveryShown
    from service.pipelines.dead_letters import Retried
    from service.wiring import Services

group = typer.Typer(no_args_is_help=True, help="Backends that deliver meetings.", rich_markup_mode=None)

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="Ids of dead letters, from `voicegraph hooks deliveries --dead`.")
]
AllOfThem = Annotated[bool, typer.Option("--all", help="All dead letters of the space, the oldest 1,000 at most.")]
SourceName = Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only of this source.")]
MOST = 1_000
"""Dead letters that `--all` means: each is read once more."""


def add_to(app: typer.Typer) -> None:
    app.add_typer(group, name="hooks")


@dataclass(frozen=True, slots=True)
class Checked:
    """One source, and whether it can deliver."""

    name: str
    provider: str
    space: str
    path: str
    listen: bool
    idle_minutes: float
    num_secrets: int
    problem: str | None


@group.command("list")
def list_all(as_json: AsJson = False) -> None:
    """Show which backends may deliver, and where. Secrets are not shown.

    Example: voicegraph hooks list
    """
    _show(_checked(), as_json)


@group.command()
def check(as_json: AsJson = False) -> None:
    """Say whether each source can deliver: its connector is there, its secrets are. Exit code 1 when one cannot.

    Example: voicegraph hooks check
    """
    found = _checked()
    _show(found, as_json)
    if any(one.problem for one in found):
        raise typer.Exit(1)


@group.command()
def deliveries(
    dead: Annotated[bool, typer.Option("--dead", help="Only dead letters.")] = False,
    source: SourceName = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what was delivered, newest first: ids, times and errors, not what it says.

    Example: voicegraph hooks deliveries --dead
    """

    async def work(services: Services) -> tuple[DeliveryShown, ...]:
        from service.graph.deliveries import DeliveryStatus, list_deliveries
        from service.graph.paging import Page

        statuses = (DeliveryStatus.DEAD,) if dead else tuple(DeliveryStatus)
        found = await services.graph.read(
            list_deliveries, services.settings.space, page=Page(first=limit), statuses=statuses, source=source
        )
        return found.items

    found = with_services(work, space=space)
    columns = ("id", "received", "source", "meeting", "status", "tries", "bytes", "error")
    rows = [
        (d.id, f"{d.received_at:%Y-%m-%d %H:%M:%S}", d.source, d.meeting, d.status, d.attempts, d.num_bytes, d.error)
        for d in found
    ]
    show(found, as_json, lambda: table(columns, rows, empty="Nothing was delivered, or it is deleted by now."))


@group.command()
def retry(ids: Ids = None, all_of_them: AllOfThem = False, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Have dead letters taken in after all, behind what came meanwhile, by the service that runs.

    Example: voicegraph hooks retry --all
    """

    async def work(services: Services) -> Retried:
        from service.pipelines.dead_letters import retry_dead_letters

        named = await _named(services, ids or [], all_of_them)
        return await retry_dead_letters(services.graph, services.sources, services.settings.space, named)

    done = with_services(work, space=space)
    still = "".join(f"\n{id}  {why}" for id, why in done.still_dead)
    said = f"{len(done.waiting)} wait to be taken in, {len(done.nothing)} said nothing and are gone, "
    show(done, as_json, lambda: f"{said}{len(done.still_dead)} cannot be read.{still}")


@group.command()
def forget(ids: Ids = None, all_of_them: AllOfThem = False, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Delete dead letters for good.

    Example: voicegraph hooks forget 5f2a…
    """

    async def work(services: Services) -> int:
        from service.graph.dead_letters import forget_dead

        named = await _named(services, ids or [], all_of_them)
        return await services.graph.write(forget_dead, services.settings.space, named)

    gone = with_services(work, space=space)
    show({"deleted": gone}, as_json, lambda: f"{gone} dead letters are deleted.")


async def _named(services: Services, ids: list[str], all_of_them: bool) -> list[str]:
    """Raises InvalidInput unless either some are named or all are meant."""
    from service.graph.dead_letters import list_dead
    from service.graph.paging import MAX_PAGE, Page

    if bool(ids) == all_of_them:
        raise InvalidInput(what="which dead letters", given="both or neither", needed="their ids, or --all")
    before = None
    while all_of_them and len(ids) < MOST:
        page = Page(last=MAX_PAGE, before=before)
        found = await services.graph.read(list_dead, services.settings.space, page=page)
        ids += [one.id for one in reversed(found.items)]
        if not found.has_previous:
            break
        before = found.cursors[0]
    return ids


def _checked() -> list[Checked]:
    """Raises SourcesUnreadable."""
    from service.connectors.live.sources import Sources
    from service.settings import load_settings, variable

    sources = Sources(load_settings().sources_file, variable)
    return [_check(source, sources) for source in sources.all().values()]


def _check(source: Source, sources: Sources) -> Checked:
    from service.connectors.live.checks import problem_of

    problem = problem_of(source, sources, datetime.now(UTC))
    try:
        num_secrets = len(sources.secrets(source))
    except VoicegraphError:  # told as its problem
        num_secrets = 0
    return Checked(
        name=source.name,
        provider=source.provider,
        space=source.space,
        path=f"/v1/hooks/{source.name}",
        listen=source.listen,
        idle_minutes=source.idle_minutes,
        num_secrets=num_secrets,
        problem=problem.message if problem is not None else None,
    )


def _show(found: list[Checked], as_json: bool) -> None:
    from service.settings import load_settings

    columns = ("source", "provider", "space", "POST or WebSocket to", "secrets", "sound", "ends after", "problem")
    rows = [
        (
            one.name,
            one.provider,
            one.space,
            one.path,
            one.num_secrets,
            "heard" if one.listen else "no",
            f"{one.idle_minutes:g} min",
            one.problem,
        )
        for one in found
    ]
    empty = f"No sources. Write them into {load_settings().sources_file}; README says how."
    show(found, as_json, lambda: table(columns, rows, empty=empty))
