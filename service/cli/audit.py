"""The command that says whether a space is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import show, table

if TYPE_CHECKING:
    from service.pipelines.audit import LooseEnd
    from service.wiring import Services


def add_to(app: typer.Typer) -> None:
    app.command("audit")(audit)


def audit(space: SpaceName = None, as_json: AsJson = False) -> None:
    """Look for what hangs in the air: orphans, facts without a source, voiceprints out of date, fragments. Changes nothing.

    Ends with 1 where something is broken. Example: voicegraph audit
    """

    async def work(services: Services) -> tuple[LooseEnd, ...]:
        from service.pipelines.audit import audit as looked

        return await looked(services.graph, services.settings.space)

    found = with_services(work, space=space)
    rows = [(end.what, end.count, "broken" if end.is_fault else "", "\n".join(end.ids)) for end in found]
    show(found, as_json, lambda: table(("what", "number", "", "ids"), rows))
    if any(end.is_fault for end in found):
        raise typer.Exit(1)
