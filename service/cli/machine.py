"""Commands about this machine: the service, the database, the models, the settings."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson, SpaceName
from service.cli.shown import ERR, Bars, show, table
from service.errors import VoicegraphError

if TYPE_CHECKING:
    from service.graph.migrate import MigrationReport, MigrationStatus
    from service.graph.server import EmbeddedServer
    from service.settings import Settings

neo4j = typer.Typer(no_args_is_help=True, help="The embedded Neo4j of this user.", rich_markup_mode=None)


LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Hosts under which only this machine reaches the service."""


class ServerIsGiven(VoicegraphError):
    code = "server_is_given"
    says = "The settings name a Neo4j of their own, {uri}; this command is about the embedded one. Unset NEO4J_URI to use it."


def add_to(app: typer.Typer) -> None:
    for name, command in (
        ("serve", serve),
        ("migrate", migrate),
        ("doctor", doctor),
        ("settings", settings),
        ("export-encoder", export_encoder),
    ):
        app.command(name)(command)
    app.add_typer(neo4j, name="neo4j")


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. Default: the setting `host`.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; 0: any free one. Default: the setting `port`.")
    ] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Run the API until Ctrl-C.

    With the embedded Neo4j, unless NEO4J_URI names another.

    Example: voicegraph serve --port 8460
    """
    from service.app import serving
    from service.settings import load_settings
    from service.wiring import open_services

    async def run() -> None:
        loaded = load_settings(host=host, port=port, space=space)
        async with open_services(loaded) as services:
            with Bars() as bar:
                bar("models")(0.0, "loading; the first time they are made and fetched")
                await services.warm()
            async with serving(services, host=loaded.host, port=loaded.port) as url:
                await _served(url, loaded, as_json)

    with suppress(KeyboardInterrupt):
        asyncio.run(run())


async def _served(url: str, loaded: Settings, as_json: bool) -> None:
    there = {"api": f"{url}/graphql", "space": loaded.space, "ready": f"{url}/readyz"}
    in_browser = " (GraphiQL in a browser)" if loaded.development else ""
    show(there, as_json, lambda: f"Listening on {there['api']}{in_browser}")
    if loaded.development and loaded.host not in LOOPBACK:
        ERR.print("Others can reach this address: turn GraphiQL and introspection off with VOICEGRAPH_DEVELOPMENT=false.")
    await asyncio.Event().wait()


def migrate(
    status: Annotated[bool, typer.Option("--status", help="Only say what is applied and what is pending.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be applied.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database up to date. Safe to repeat.

    Example: voicegraph migrate --status
    """
    from service.graph import migrate as migrations
    from service.settings import load_settings
    from service.wiring import open_graph

    async def run() -> MigrationStatus | MigrationReport:
        async with open_graph(load_settings()) as graph:
            return await (migrations.status(graph) if status else migrations.apply(graph, dry_run))

    found = asyncio.run(run())
    show(found, as_json, lambda: _drawn(found))


def _drawn(found: MigrationStatus | MigrationReport) -> Any:
    from service.graph.migrate import MigrationStatus

    if isinstance(found, MigrationStatus):
        rows = [(a.source, "applied", f"{a.at:%Y-%m-%d %H:%M}") for a in found.applied]
        rows += [(p.source, "pending", "") for p in found.pending] + [(i, "populating", "") for i in found.populating]
        return table(("migration", "state", "when"), rows)
    if not found.applied:
        return "Nothing to do: the database has this version's schema."
    verb = "Would apply" if found.dry_run else "Applied"
    return f"{verb} {', '.join(m.source for m in found.applied)} in {found.seconds:.1f} s."


@neo4j.command()
def start(as_json: AsJson = False) -> None:
    """Start it, if it does not run yet.

    Example: voicegraph neo4j start
    """
    with Bars() as bar:
        report = bar("Neo4j")
        address = _server().start(lambda there, all: report(there / all, f"fetching jars, {there} of {all}"))
    shown = {"uri": address.uri, "http": address.http, "user": address.user, "started": address.started}
    show(
        shown, as_json, lambda: f"Neo4j {'started' if address.started else 'runs'}: {address.uri}, Browser at {address.browser}"
    )


@neo4j.command()
def stop(as_json: AsJson = False) -> None:
    """Stop it, in about a second; what was written stays.

    Example: voicegraph neo4j stop
    """
    stopped = _server().stop(fast=True)
    show({"stopped": stopped}, as_json, lambda: "Neo4j is stopped." if stopped else "No embedded Neo4j runs.")


@neo4j.command("status")
def neo4j_status(as_json: AsJson = False) -> None:
    """Say whether it runs, where, and how much memory it takes.

    Example: voicegraph neo4j status --json
    """
    found = _server().status()
    rows: list[tuple[str, object]] = [
        ("running", "yes" if found.running else "no"),
        ("version", found.version),
        ("directory", found.directory),
    ]
    if found.address and found.seconds is not None:
        rows += [("uri", found.address.uri), ("browser", found.address.browser), ("pid", found.pid)]
        rows += [("memory", f"{found.memory_mb} MB"), ("up", f"{found.seconds / 60:.0f} min"), ("java", found.java)]
    show(found, as_json, lambda: table(("", ""), rows))


@neo4j.command()
def browser(
    open_it: Annotated[bool, typer.Option("--open/--no-open", help="Open it in the web browser, if there is one.")] = True,
    as_json: AsJson = False,
) -> None:
    """Open Neo4j Browser connected, and say where the password is.

    Example: voicegraph neo4j browser --no-open
    """
    server = _server()
    address = server.start()
    there = {"url": address.browser, "user": address.user, "password_file": server.password_file}
    show(there, as_json, lambda: f"{address.browser}\nThe password is in {server.password_file}")
    if open_it and not as_json and typer.launch(server.browser_page().as_uri()):
        ERR.print("No web browser was found here; open the address yourself.")


def _server() -> EmbeddedServer:
    """Raises ServerIsGiven."""
    from service.settings import load_settings
    from service.wiring import embedded_server

    loaded = load_settings()
    if loaded.neo4j_uri:
        raise ServerIsGiven(uri=loaded.neo4j_uri)
    return embedded_server(loaded)


def settings(as_json: AsJson = False) -> None:
    """Show every setting and where it comes from.

    Example: voicegraph settings --json
    """
    from service.settings import load_settings, origins

    found = origins(load_settings())
    rows = [(o.name, o.value, o.source, o.variable, o.meaning) for o in found]
    show(found, as_json, lambda: table(("setting", "value", "from", "variable", "meaning"), rows))


def export_encoder(
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Also copy it here, for a machine without torch.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write CAM++ as a file that needs no torch.

    Example: voicegraph export-encoder --to campplus.onnx
    """
    import shutil

    from service.audio.encoders import export
    from service.settings import load_settings

    path = export(load_settings().cache_dir)
    if to is not None:
        path = Path(shutil.copy2(path, to))
    hint = f"{path}\nElsewhere: VOICEGRAPH_ENCODER_SOURCE={path.name}"
    show({"path": path, "bytes": path.stat().st_size}, as_json, lambda: hint)


def doctor(as_json: AsJson = False) -> None:
    """Say what is there, missing, and how to get it.

    What is installed, reachable, migrated and in use. Changes nothing.

    Example: voicegraph doctor
    """
    from service.cli.checks import State
    from service.cli.doctor import examine
    from service.settings import load_settings

    checks = asyncio.run(examine(load_settings()))
    rows = [(c.state.value, c.name, c.found, c.remedy) for c in checks]
    show(checks, as_json, lambda: table(("", "what", "found", "what to do"), rows))
    if any(c.state is State.MISSING for c in checks):
        raise typer.Exit(1)
