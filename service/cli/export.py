"""The command that gives somebody everything that is kept of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import show
from service.errors import InvalidInput

if TYPE_CHECKING:
    from service.wiring import Services

export = typer.Typer(rich_markup_mode=None, help="What is kept, as a file.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(export, name="export")


@export.command("person")
def person(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="A name or an id.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="A new file, for its owner alone.")],
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Also what models made of voice and words: biometric data.")
    ] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Write everything that is kept of somebody, as they themselves may see it, as JSON. It is listed in the audit.

    Example: voicegraph export person Nora -o nora.json
    """
    if output.exists():
        raise InvalidInput(what="the file", given=f"{output}, which is there already", needed="a new one")

    async def work(services: Services) -> tuple[str, int]:
        from service.cli.who import ACCOUNT, scope_of
        from service.pipelines.export import export_person

        scope = await scope_of(services, person=person, voice=None, heard_by=(), heard_by_voices=())
        beside, size = output.with_name(f".{output.name}.part"), 0
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            tokens = services.settings.tokens_file
            async for piece in export_person(services.graph, scope, actor=ACCOUNT, tokens=tokens, vectors=vectors):
                size += file.write(piece)
        beside.replace(output)
        return scope.own[0], size

    id, size = with_services(work, space=space)
    shown = {"person_id": id, "file": str(output), "characters": size}
    show(shown, as_json, lambda: f"{output}: {size:,} characters. It holds what they said; keep it as such.")
