"""As whom does a command read? Whoever has the shell has the database: they read all, or as the person they name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from service.errors import InvalidInput, NotFound, VoicegraphError
from service.types.people import Principal

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.paging import Paged
    from service.wiring import Services

T = TypeVar("T")

PAGE = 100
"""Read at once; what lists print is not cut."""
ACCOUNT = "command-line"
SCOPES = frozenset({"read_all", "ask", "ingest", "admin"})


class AskerNotAccepted(VoicegraphError):
    code = "asker_not_accepted"
    says = "{reason}"
    http_status = 403


async def scope_of_all(services: Services) -> ReadScope:
    """Everything in the space, for who has the shell."""
    return await _scope(services)


async def every(services: Services, read: Callable[..., Awaitable[Paged[T]]], **narrowed: Any) -> list[T]:
    """Every item of a list that is read by pages, as who has the shell."""
    from service.graph.paging import Page

    found: list[T] = []
    scope, page = await scope_of_all(services), Page(first=PAGE)
    while True:
        paged = await services.graph.read(read, scope, page=page, **narrowed)
        found += paged.items
        if not paged.has_next:
            return found
        page = Page(first=PAGE, after=paged.cursors[-1])


async def scope_of(
    services: Services, *, person: str | None, voice: Path | None, heard_by: Sequence[str], heard_by_voices: Sequence[Path]
) -> ReadScope:
    """What `person` (a name or id), or whoever speaks in `voice`, may be told while `heard_by` (names or ids) and those
    who speak in `heard_by_voices` listen. Raises NotFound, InvalidInput, AskerNotAccepted."""
    return await _scope(
        services,
        voice=await services.heard(voice) if voice else None,
        as_person=await the_person(services, person) if person else None,
        heard_by=[await the_person(services, name) for name in heard_by],
        heard_by_voices=[await services.heard(clip) for clip in heard_by_voices],
    )


async def _scope(services: Services, **asked: Any) -> ReadScope:
    from service.graph.access import read_scope
    from service.pipelines.viewer import ViewerRefused, resolve_viewer

    principal = Principal(ACCOUNT, scopes=SCOPES, operator=True)
    space = services.settings.space
    viewer = await resolve_viewer(
        services.graph, services.voices, space=space, thresholds=services.thresholds, principal=principal, **asked
    )
    if isinstance(viewer, ViewerRefused):
        raise AskerNotAccepted(reason=viewer.reason)
    return await services.graph.read(read_scope, viewer)


async def the_person(services: Services, name_or_id: str) -> str:
    """The id of the one with this id, or else with this name in any case. Raises NotFound, and InvalidInput for a name
    of several."""
    from service.graph.people import find_person
    from service.pipelines.named import people_named_in

    scope = await scope_of_all(services)
    if await services.graph.read(find_person, scope, name_or_id) is not None:
        return name_or_id
    near = await services.graph.read(people_named_in, scope, name_or_id)
    found = [id for id, names in near.items() if name_or_id.casefold() in (name.casefold() for name in names)]
    if not found:
        raise NotFound(kind="person", id=name_or_id)
    if len(found) > 1:
        ids = ", ".join(found)
        raise InvalidInput(what="the person", given=f"{name_or_id!r}, the name of {ids}", needed="one of these ids")
    return found[0]
