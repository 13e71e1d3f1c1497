"""Commands about how people feel and what they are like: agreeing to it, reading it, and showing it to them alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.consents import Channel, Person, Version, record
from service.cli.questions import time_of
from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table

if TYPE_CHECKING:
    from service.graph.personas import Felt
    from service.pipelines.personas import SessionFelt
    from service.pipelines.shares import SharedPersona
    from service.types.affect import Persona
    from service.wiring import Services

HeardBy = Annotated[
    list[str] | None, typer.Option("--heard-by", metavar="PERSON", help="Who hears it besides: then there is nothing to show.")
]
AskedAt = Annotated[str | None, typer.Option(metavar="TIME", help="As of when: what has faded by then is not shown. Now.")]

Trait = Annotated[str, typer.Argument(metavar="PERSONA", help="Id of what they are like (`persona show` shows it).")]
With = Annotated[str, typer.Option("--with", metavar="PERSON", help="Whom: a name or an id.")]

persona = typer.Typer(help="How people feel and what they are like, for themselves.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(persona, name="persona")


@persona.command()
def agree(
    person: Person, consent: Version, channel: Channel = "spoken", space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Record that somebody lets be inferred how they feel and what they are like. Without it nothing is.

    What was remembered before is read with `voicegraph persona read`.

    Example: voicegraph persona agree Nora --consent 2026-11
    """
    id, _ = record(person, "granted", "infer_persona", consent, channel, space)
    show({"id": id}, as_json, lambda: "Recorded. `voicegraph persona read` reads what was said before.")


@persona.command()
def withdraw(
    person: Person, consent: Version, channel: Channel = "spoken", space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Record that somebody took that back: what was inferred of them is gone at once.

    Example: voicegraph persona withdraw Nora --consent 2026-11
    """
    id, _ = record(person, "withdrawn", "infer_persona", consent, channel, space)
    show({"id": id}, as_json, lambda: "Recorded; what was inferred is gone.")


@persona.command("read")
def read(
    session: Annotated[str | None, typer.Option(metavar="ID", help="Only this session. Default: all not read yet.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Also turns that were read before.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Read how people felt who agreed to it, in sessions that were remembered before.

    `voicegraph ingest` does it by itself, and measures the sound, too; this is for sessions from before they agreed.

    Example: voicegraph persona read
    """

    async def work(services: Services) -> list[SessionFelt]:
        from service.graph.write_personas import list_sessions_to_feel

        remember, space = await services.personas(), services.settings.space
        found = [session] if session else await services.graph.read(list_sessions_to_feel, space, remember.reader, again=again)
        return [await remember(space, id, again=again) for id in found]

    done = with_services(work, space=space)
    rows = [(r.session_id, r.num_read, len(r.people)) for r in done]
    empty = "Everything of those who agreed is read. `--again` reads it anew."
    show(done, as_json, lambda: table(("session", "turns", "people"), rows, empty=empty))


@persona.command("show")
def show_(
    person: Person, heard_by: HeardBy = None, asked_at: AskedAt = None, space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Show what somebody is like, as they themselves may see it: what showed on several occasions.

    Example: voicegraph persona show Nora
    """

    now = time_of("--asked-at", asked_at) or datetime.now(UTC)

    async def work(services: Services) -> list[tuple[str, str, Persona]]:
        from service.cli.who import scope_of
        from service.graph.people import find_people
        from service.memory.right_brain import said
        from service.pipelines.personas import find_personas

        scope = await scope_of(services, person=person, voice=None, heard_by=heard_by or (), heard_by_voices=())
        found = await services.graph.read(find_personas, scope, None, now) or ()
        concerned = sorted({id for one in found if (id := said.person_of(one))})
        people = await services.graph.read(find_people, scope, concerned)
        names = {id: known.display_name for id, known in people.items()}
        return [(one.trait_of(scope.own[0]), said.in_words(one, names), one) for one in found]

    found = with_services(work, space=space)
    columns = ("what", "how strong", "messages", "sessions", "since", "last", "id")
    shown = [{"id": id, "text": words, **plain(one)} for id, words, one in found]
    empty = "Nothing has shown on several occasions, or they did not agree to it (`voicegraph persona agree`)."
    show(shown, as_json, lambda: table(columns, [_row(*one) for one in found], empty=empty))


@persona.command()
def share(person: Person, trait: Trait, with_: With, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Let one other person know of something that somebody is like, as it stands at any time, until `unshare`.

    Example: voicegraph persona share Nora PERSONA-ID --with Ben
    """
    to = _shared(person, trait, with_, space, share=True)
    show({"trait": trait, "with": to}, as_json, lambda: f"{with_} may know of it (`voicegraph persona shared {with_}`).")


@persona.command()
def unshare(person: Person, trait: Trait, with_: With, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Take that back.

    Example: voicegraph persona unshare Nora PERSONA-ID --with Ben
    """
    to = _shared(person, trait, with_, space, share=False)
    show({"trait": trait, "with": to}, as_json, lambda: f"{with_} may not know of it any more.")


@persona.command()
def shared(person: Person, heard_by: HeardBy = None, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Show what others let somebody know of what they are like, as that somebody may see it.

    Example: voicegraph persona shared Ben
    """

    async def work(services: Services) -> list[tuple[str | None, str, SharedPersona]]:
        from service.cli.who import scope_of
        from service.graph.people import find_people
        from service.memory.right_brain import said
        from service.pipelines.shares import find_shared

        scope = await scope_of(services, person=person, voice=None, heard_by=heard_by or (), heard_by_voices=())
        found = await services.graph.read(find_shared, scope, datetime.now(UTC))
        ids = {one.by for one in found} | {id for one in found if (id := said.person_of(one.persona))}
        people = await services.graph.read(find_people, scope, sorted(ids))
        names = {id: known.display_name for id, known in people.items()}
        return [(names.get(one.by), said.in_words(one.persona, names), one) for one in found]

    found = with_services(work, space=space)
    rows = [(by, words, f"{one.persona.intensity:.2f}", f"{one.at:%Y-%m-%d}") for by, words, one in found]
    shown = [{"by": one.by, "text": words, "intensity": one.persona.intensity, "at": plain(one.at)} for _, words, one in found]
    columns = ("who", "what", "how strong", "shared")
    show(shown, as_json, lambda: table(columns, rows, empty="Nobody lets them know of anything, or somebody else listens."))


@persona.command()
def felt(person: Person, heard_by: HeardBy = None, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Show how somebody was in what they said, the newest hundred, as they themselves may see it.

    Example: voicegraph persona felt Nora
    """

    async def work(services: Services) -> tuple[tuple[Felt, ...], dict[str, str | None]]:
        from service.cli.who import scope_of
        from service.graph.messages import find_messages
        from service.graph.paging import MAX_PAGE, Page
        from service.graph.personas import find_subject, list_felt

        scope = await scope_of(services, person=person, voice=None, heard_by=heard_by or (), heard_by_voices=())
        subject = await services.graph.read(find_subject, scope, None)
        paged = await services.graph.read(list_felt, scope, subject, page=Page(first=MAX_PAGE))
        messages = await services.graph.read(find_messages, scope, [one.message_id for one in paged.items])
        return paged.items, {id: message.text for id, message in messages.items()}

    found, texts = with_services(work, space=space)
    rows = [
        (f"{one.said_at:%Y-%m-%d %H:%M}", texts.get(one.message_id), f"{one.affect.valence:+.2f}", f"{one.affect.arousal:.2f}",
         one.affect.emotion, one.pitch and f"{one.pitch:.0f} Hz")
        for one in found
    ]  # fmt: skip
    shown = [{"text": texts.get(one.message_id), **plain(one)} for one in found]
    columns = ("said at", "message", "pleasant", "stirred", "says to feel", "pitch")
    show(shown, as_json, lambda: table(columns, rows, empty="No message of theirs was read for it."))


def _shared(person: str, trait: str, with_: str, space: str | None, *, share: bool) -> str:
    async def work(services: Services) -> str:
        from service.cli.who import scope_of, the_person
        from service.pipelines.shares import share_persona, unshare_persona

        scope = await scope_of(services, person=person, voice=None, heard_by=(), heard_by_voices=())
        to = await the_person(services, with_)
        if share:
            await services.graph.write(share_persona, scope, trait, to, datetime.now(UTC))
        else:
            await services.graph.write(unshare_persona, scope, trait, to, datetime.now(UTC))
        return to

    return with_services(work, space=space)


def _row(id: str, words: str, persona: Persona) -> tuple[Any, ...]:
    strength = f"{persona.intensity:.2f}"
    since, last = f"{persona.since:%Y-%m-%d}", f"{persona.last:%Y-%m-%d}"
    return words, strength, persona.support, persona.num_sessions, since, last, id
