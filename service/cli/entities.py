"""Commands about what is spoken of: entities, themes, and which names mean the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import Bars, plain, show, table

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.pipelines.entities import SessionEntities
    from service.types.entities import JoinedName, KnownEntity, Related, RelatedTheme, Theme
    from service.types.memory import Message
    from service.wiring import Services

AsPerson = Annotated[str | None, typer.Option("--as", metavar="PERSON", help="As this person may know it: a name or an id.")]
Entity = Annotated[str, typer.Argument(metavar="ENTITY", help="Id of an entity (`entities list` shows it).")]

entities = typer.Typer(help="What is spoken of: entities, themes, and names that mean the same.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(entities, name="entities")


@entities.command("read")
def read(
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this session. Default: all whose entities are not read yet.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Also those that are read.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Read what sessions speak of that were remembered before.

    `voicegraph ingest` does it by itself; this is for sessions from before, or after `voicegraph facts --again`.

    Example: voicegraph entities read
    """
    with Bars() as bar:

        async def work(services: Services) -> list[SessionEntities]:
            from service.graph.write_entities import list_sessions_without_entities

            remember, space = await services.entities(), services.settings.space
            found = await services.graph.read(list_sessions_without_entities, space, again=again)
            return [await remember(space, id, again=again, progress=bar(id[:8])) for id in ([session] if session else found)]

        done = with_services(work, space=space)
    rows = [(r.session_id, r.num_entities, r.num_mentions, "known already" if r.known_before else "read") for r in done]
    empty = "What every session speaks of is read. `--again` reads it anew."
    show(done, as_json, lambda: table(("session", "entities", "mentions", ""), rows, empty=empty))


@entities.command("list")
def list_(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only what is called so.")] = None,
    theme: Annotated[str | None, typer.Option(metavar="LABEL", help="Only of this theme.")] = None,
    first: Annotated[int, typer.Option(min=1, max=100, help="How many, the one spoken of last first.")] = 30,
    asker: AsPerson = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what is spoken of.

    Example: voicegraph entities list --theme travel --as Dana
    """

    async def work(services: Services) -> tuple[KnownEntity, ...]:
        from service.graph.entities import EntityFilters
        from service.graph.paging import Page
        from service.pipelines.known_entities import entities_page
        from service.types.names import normal

        filters = EntityFilters(theme=theme, name=None if name is None else normal(name))
        scope = await _scope(services, asker)
        return (await services.graph.read(entities_page, scope, page=Page(first=first), filters=filters)).items

    found = with_services(work, space=space)
    rows = [
        (e.name, e.type.value, e.theme, e.num_mentions, f"{e.last_at:%Y-%m-%d}", ", ".join(e.aliases) or None, e.id)
        for e in found
    ]
    columns = ("entity", "type", "theme", "mentions", "last", "also called", "id")
    show(plain(found), as_json, lambda: table(columns, rows, empty="Nothing is known to be spoken of."))


@entities.command("themes")
def themes(asker: AsPerson = None, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Show the themes of what is spoken of, those of late first, and what turns speak of together with them.

    Example: voicegraph entities themes --as Dana
    """

    async def work(services: Services) -> tuple[list[Theme], dict[str, tuple[RelatedTheme, ...]]]:
        from service.pipelines.known_entities import related_themes, themes_now

        scope = await _scope(services, asker)
        return await services.graph.read(themes_now, scope), await services.graph.read(related_themes, scope)

    found, related = with_services(work, space=space)
    near = {t.label: ", ".join(f"{r.label} {r.weight:.2f}" for r in related.get(t.label, ())[:3]) or None for t in found}
    rows = [(t.label, t.num_entities, t.num_mentions, f"{t.last_at:%Y-%m-%d}", f"{t.weight:.2f}", near[t.label]) for t in found]
    columns = ("theme", "entities", "mentions", "last", "weight", "together with")
    shown = [{**plain(t), "related": plain(related.get(t.label, ()))} for t in found]
    show(shown, as_json, lambda: table(columns, rows, empty="Nothing is known to be spoken of."))


@entities.command("about")
def about(
    entity: Entity,
    first: Annotated[int, typer.Option(min=1, max=100, help="How many messages, newest first.")] = 15,
    asker: AsPerson = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show where an entity is spoken of, and what together with it.

    Example: voicegraph entities about ENTITY-ID --as Dana
    """

    async def work(services: Services) -> tuple[KnownEntity, tuple[JoinedName, ...], tuple[Related, ...], list[Message]]:
        from service.errors import NotFound
        from service.graph.aliases import list_aliases
        from service.graph.entities import list_mentions
        from service.graph.messages import find_messages
        from service.graph.paging import Page
        from service.pipelines.known_entities import entities_by_id, related_entities

        scope, graph = await _scope(services, asker), services.graph
        known = (await graph.read(entities_by_id, scope, [entity])).get(entity)
        if known is None:
            raise NotFound(kind="entity", id=entity)
        joined = (await graph.read(list_aliases, scope, [known.id])).get(known.id, ())
        related = (await graph.read(related_entities, scope, [known.id])).get(known.id, ())
        ids = (await graph.read(list_mentions, scope, [known.id], page=Page(first=first)))[known.id].items
        messages = await graph.read(find_messages, scope, ids)
        return known, joined, related, [messages[id] for id in ids if id in messages]

    known, joined, related, messages = with_services(work, space=space)
    shown = {"entity": plain(known), "joined": plain(joined), "related": plain(related), "messages": plain(messages)}
    show(shown, as_json, lambda: _drawn(known, joined, related, messages))


@entities.command("same")
def same(
    entity: Entity,
    of: Annotated[str, typer.Argument(metavar="ENTITY", help="The entity that it is another name of.")],
    why: Annotated[str, typer.Option(metavar="TEXT", help="For whoever looks at it later.")] = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Say that two entities are one. No mention moves, and `apart` takes it back.

    Example: voicegraph entities same ENTITY-ID OTHER-ID
    """

    async def work(services: Services) -> None:
        from service.graph.write_entities import save_alias

        await services.graph.write(save_alias, services.settings.space, entity, of, by="voicegraph", why=why)

    with_services(work, space=space)
    show({"entity": entity, "of": of}, as_json, lambda: f"{entity} is another name of {of}.")


@entities.command("apart")
def apart(entity: Entity, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Take back that an entity is another name of one.

    Example: voicegraph entities apart ENTITY-ID
    """

    async def work(services: Services) -> None:
        from service.graph.write_entities import forget_alias

        await services.graph.write(forget_alias, services.settings.space, entity, by="voicegraph")

    with_services(work, space=space)
    show({"entity": entity}, as_json, lambda: f"{entity} is one of its own.")


async def _scope(services: Services, asker: str | None) -> ReadScope:
    from service.cli.who import scope_of

    return await scope_of(services, person=asker, voice=None, heard_by=(), heard_by_voices=())


def _drawn(known: KnownEntity, joined: tuple[JoinedName, ...], related: tuple[Related, ...], messages: list[Message]) -> Any:
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [Text(" · ".join([known.name, known.type.value, known.theme, *known.aliases]), style="bold")]
    if joined:
        parts += ["", table(("another name (`entities apart` takes it back)", "id"), [(j.name, j.id) for j in joined])]
    if related:
        parts += ["", table(("together with", "weight", ""), [(r.name, f"{r.weight:.2f}", r.strength.value) for r in related])]
    parts += ["", table(("said", "when", "message"), [(m.text, f"{m.said_at:%Y-%m-%d %H:%M}", m.id) for m in messages])]
    return Group(*parts)
