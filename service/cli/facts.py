"""Commands about what was understood: facts of what was said, what is known of a person, who promised what to whom."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import Bars, plain, show, table

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.pipelines.facts import SessionFacts
    from service.types.facts import KnownFact
    from service.types.profiles import Profile, Trait
    from service.wiring import Services

AsPerson = Annotated[str | None, typer.Option("--as", metavar="PERSON", help="As this person may know it: a name or an id.")]
COLUMNS = ("fact", "said at", "about", "id")


def add_to(app: typer.Typer) -> None:
    app.command("facts")(facts)
    app.command("profile")(profile)
    app.command("commitments")(commitments)


def facts(
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this session. Default: all that have none yet.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="In place of the facts that are there, too.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Read the facts of sessions that were remembered before.

    `voicegraph ingest` does it by itself; this is for sessions from before, and for another way of reading them.

    Example: voicegraph facts --session 0199-… --again
    """
    with Bars() as bar:

        async def work(services: Services) -> list[SessionFacts]:
            from service.graph.write_facts import list_sessions_to_read
            from service.pipelines.revise_facts import revise_facts

            remember, space = await services.facts(), services.settings.space
            ids = [session] if session else await services.graph.read(list_sessions_to_read, space, again=again)
            read = [await remember(space, id, again=again, progress=bar(id[:8])) for id in ids]
            await revise_facts(services.graph, space)
            return read

        done = with_services(work, space=space)
    rows = [
        (
            r.session_id,
            r.num_facts,
            ", ".join(f"{why}: {number}" for why, number in r.dropped.items()) or "–",
            r.extractor,
            "known already" if r.known_before else "remembered",
        )
        for r in done
    ]
    empty = "Every session has its facts. `--again` reads them anew."
    show(done, as_json, lambda: table(("session", "facts", "no facts", "read by", ""), rows, empty=empty))


def profile(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="A name or an id.")],
    asker: AsPerson = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show what somebody said of themselves, and what of it changed.

    Example: voicegraph profile Ruth --as Ben
    """

    async def work(services: Services) -> tuple[Profile, dict[str, str], frozenset[str]]:
        from service.cli.who import the_person
        from service.errors import NotFound
        from service.pipelines.profiles import facts_of, find_profile

        scope, one = await _scope(services, asker), await the_person(services, person)
        found = await services.graph.read(find_profile, scope, one)
        if found is None:
            raise NotFound(kind="person", id=person)
        return found, *await _told(services, scope, facts_of(found))

    found, texts, off = with_services(work, space=space)
    show({**plain(found), "texts": texts, "cancelled": sorted(off)}, as_json, lambda: _drawn(found, _marked(texts, off)))


def commitments(
    of: Annotated[str | None, typer.Option("--of", metavar="PERSON", help="Only of this person: a name or an id.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="PERSON", help="Only to this person: a name or an id.")] = None,
    asker: AsPerson = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Show who promised what to whom, newest first.

    Example: voicegraph commitments --of Ben --to Ruth
    """

    async def work(services: Services) -> tuple[list[KnownFact], dict[str, str], frozenset[str]]:
        from service.cli.who import the_person
        from service.graph.facts import FactFilters, list_facts
        from service.graph.paging import MAX_PAGE, Page
        from service.types.facts import FactKind

        one, other = [(await the_person(services, who),) if who else () for who in (of, to)]
        scope, filters = await _scope(services, asker), FactFilters(one, other, kinds=(FactKind.COMMITMENT,))
        found: list[KnownFact] = []
        page = Page(first=MAX_PAGE)
        while True:
            paged = await services.graph.read(list_facts, scope, page=page, filters=filters)
            found += paged.items
            if not paged.has_next:
                return found, *await _told(services, scope, found)
            page = Page(first=MAX_PAGE, after=paged.cursors[-1])

    found, texts, off = with_services(work, space=space)
    shown = [{"text": texts[fact.id], **plain(fact), "cancelled": fact.id in off} for fact in found]
    rows = _rows(found, _marked(texts, off))
    show(shown, as_json, lambda: table(COLUMNS, rows, empty="Nobody promised anything that is known."))


async def _scope(services: Services, asker: str | None) -> ReadScope:
    from service.cli.who import scope_of

    return await scope_of(services, person=asker, voice=None, heard_by=(), heard_by_voices=())


async def _told(services: Services, scope: ReadScope, facts: Sequence[KnownFact]) -> tuple[dict[str, str], frozenset[str]]:
    """Each in words, and ids of those that are off."""
    from service.pipelines.profiles import list_cancelled, read_out_all

    texts = await services.graph.read(read_out_all, scope, facts)
    return texts, await services.graph.read(list_cancelled, scope, facts)


def _marked(texts: Mapping[str, str], off: Collection[str]) -> dict[str, str]:
    return {id: f"{text} (cancelled)" if id in off else text for id, text in texts.items()}


def _rows(facts: Sequence[KnownFact], texts: Mapping[str, str]) -> list[tuple[Any, ...]]:
    return [
        (texts[fact.id], f"{fact.said_at:%Y-%m-%d %H:%M}", fact.about and f"{fact.about.start:%Y-%m-%d}", fact.id)
        for fact in facts
    ]


def _drawn(profile: Profile, texts: Mapping[str, str]) -> Any:
    from rich.console import Group
    from rich.text import Text

    person = profile.person
    parts: list[Any] = [Text(" · ".join([person.display_name or f"anonymous {person.id[:8]}", *person.aliases]), style="bold")]
    for title, traits in (("Background", profile.background), ("Preferences", profile.preferences)):
        if traits:
            rows = [_trait(trait, texts) for trait in traits]
            parts += ["", table((title, "since", "times said", "before"), rows)]
    for title, facts in (("Promised", profile.commitments), ("Plans", profile.plans)):
        if facts:
            parts += ["", table((title, *COLUMNS[1:]), _rows(facts, texts))]
    return Group(*parts) if len(parts) > 1 else Group(parts[0], "Nothing is known of what they said of themselves.")


def _trait(trait: Trait, texts: Mapping[str, str]) -> tuple[Any, ...]:
    now, before = ("; ".join(texts[fact.id] for fact in facts) for facts in (trait.now, trait.before))
    return now, f"{trait.since:%Y-%m-%d}", trait.num_said, before or None
