"""Commands about images shown with what was said: find them by words or by another image; show their files to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.questions import AskAs, ByOrTo, Explain, InSession, Options, SaidBy, SaidTo, Since, Until
from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table

if TYPE_CHECKING:
    from service.pipelines.images import Embedded
    from service.types.images import ImagesFound
    from service.wiring import Services

images = typer.Typer(rich_markup_mode=None, help="Images shown with what was said.")


def add_to(app: typer.Typer) -> None:
    app.add_typer(images, name="images")


@images.command("find")
def find(
    words: Annotated[str | None, typer.Argument(help="What they show.")] = None,
    like: Annotated[str | None, typer.Option(metavar="ID", help="An image instead of words: find others like it.")] = None,
    first: Annotated[int, typer.Option(help="How many, 50 at most.")] = 10,
    person: AskAs = None,
    by: SaidBy = None,
    to: SaidTo = None,
    by_or_to: ByOrTo = None,
    session: InSession = None,
    since: Since = None,
    until: Until = None,
    explain: Explain = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Find images by what they show, as far as the asker may see them.

    Example: voicegraph images find "a red boat" --as Dana --by Ben
    """
    options = Options.of(person, None, None, None, by, to, by_or_to, session, since, until, None)

    async def work(services: Services) -> ImagesFound:
        from service.pipelines.images import LookedFor

        by = LookedFor(words, like.removeprefix("Image:") if like else None)
        scope, filters = await options.scope(services), await options.filters(services)
        return await (await services.images())(scope, by, filters, first=first)

    found = with_services(work, space=space)
    show(found, as_json, lambda: _drawn(found, explain))


def _drawn(found: ImagesFound, explain: bool) -> Any:
    from rich.console import Group

    rows = []
    for hit in found.hits:
        one = hit.found
        seen = (hit.visible_because, f"{hit.message.said_at:%Y-%m-%d %H:%M}") if explain else ()
        rows.append((one.id, one.image.reference, one.image.caption, one.message_id, f"{one.score:.2f}", *seen))
    columns = ("id", "image", "shows", "message", "cosine", *(("seen because", "at") if explain else ()))
    drawn = table(columns, rows, empty="No image that may be seen here fits.")
    return Group(drawn, f"Of {found.visible} images that may be seen, compared by {found.model}.") if explain else drawn


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
