"""Commands about images shown with what was said: find them by words or by another image; show their files to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.questions import AskAs
from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table

if TYPE_CHECKING:
    from service.pipelines.images import Embedded
    from service.types.images import FoundImage
    from service.wiring import Services

images = typer.Typer(rich_markup_mode=None, help="Images shown with what was said.")


def add_to(app: typer.Typer) -> None:
    app.add_typer(images, name="images")


@images.command("find")
def find(
    words: Annotated[str | None, typer.Argument(help="What they show.")] = None,
    like: Annotated[str | None, typer.Option(metavar="ID", help="An image instead of words: find others like it.")] = None,
    first: Annotated[int, typer.Option(help="How many.")] = 10,
    person: AskAs = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Find images by what they show, as far as the asker may see them.

    Example: voicegraph images find "a red boat" --as Dana
    """

    async def work(services: Services) -> list[FoundImage]:
        from service.cli.who import scope_of

        scope = await scope_of(services, person=person, voice=None, heard_by=(), heard_by_voices=())
        return await (await services.images()).find(scope, words=words, like=like, first=first)

    found = with_services(work, space=space)
    rows = [(i.id, i.image.reference, i.image.caption, i.message_id, f"{i.score:.2f}") for i in found]
    columns = ("id", "image", "shows", "message", "cosine")
    show(found, as_json, lambda: table(columns, rows, empty="No image that may be seen here fits."))


@images.command("embed")
def embed(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="Where the files are; nothing else is opened.")],
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show the image files of a folder to the image model that is set (`image_model`), by the names that transcripts call them.

    Example: voicegraph images embed album/
    """

    async def work(services: Services) -> Embedded:
        return await (await services.images()).embed(services.settings.space, folder)

    done = with_services(work, space=space)
    show(plain(done), as_json, lambda: f"{done.embedded} images embedded, {done.left_out} without a file there or a caption.")
