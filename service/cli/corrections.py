"""Commands that put right who is who, and take that back."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import show, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from service.graph.corrections import Correction
    from service.pipelines.correct import Correct, Corrected
    from service.pipelines.split_preview import Part
    from service.types.memory import Session
    from service.types.people import Person
    from service.wiring import Services

SomebodyArgument = Annotated[str, typer.Argument(metavar="PERSON", help="A name or an id.")]
OtherArgument = Annotated[str, typer.Argument(metavar="OTHER", help="A name or an id.")]
WhyOption = Annotated[str, typer.Option(metavar="TEXT", help="For whoever looks at it later.")]
MessageOptions = Annotated[
    list[str] | None, typer.Option("--message", metavar="ID", help="A message, from --json. May be repeated.")
]
LABELS = {
    "merge": "one person",
    "split": "a new person",
    "reassign": "messages given",
    "not_same": "not the same",
    "bot": "a bot",
}


def add_to(people: typer.Typer) -> None:
    people.command("merge")(merge)
    people.command("split")(split)
    people.command("reassign")(reassign)
    people.command("not-same")(not_same)
    people.command("bot")(bot)
    people.command("corrections")(corrections)
    people.command("undo")(undo)


def merge(
    person: SomebodyArgument,
    into: Annotated[str, typer.Argument(metavar="INTO", help="Whom they are shown as from now on: a name or an id.")],
    confirmed: Annotated[
        bool, typer.Option("--confirmed/--unconfirmed", help="Confirmed: each may read what the other may.")
    ] = True,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Make two people one. No message moves, and undoing it is exact.

    Example: voicegraph people merge 0199-… Dana --why "the same voice on the phone"
    """

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        one, other = await named_person(services, person), await named_person(services, into)
        return await correct.merge(services.settings.space, one, other, actor=actor, why=why, confirmed=confirmed)

    _corrected(change, space, as_json, settling=False)


def not_same(
    person: SomebodyArgument, other: OtherArgument, why: WhyOption = "", space: SpaceName = None, as_json: AsJson = False
) -> None:
    """Say that two people are not the same: never merged nor proposed again.

    Example: voicegraph people not-same Nora Cora --why twins
    """

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        one, another = await named_person(services, person), await named_person(services, other)
        return await correct.not_same(services.settings.space, one, another, actor=actor, why=why)

    _corrected(change, space, as_json, settling=False)


def bot(person: SomebodyArgument, why: WhyOption = "", space: SpaceName = None, as_json: AsJson = False) -> None:
    """Say that somebody is a bot, as one that takes notes: it reads nothing, wherever it was, and needs no name.

    Example: voicegraph people bot Notetaker
    """

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        return await correct.bot(services.settings.space, await named_person(services, person), actor=actor, why=why)

    _corrected(change, space, as_json, settling=True)


def split(
    person: SomebodyArgument,
    message: MessageOptions = None,
    voice: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="All by this voice of a session, instead. May be repeated.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="How the new person is called, if known.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what may be split off, and change nothing.")] = False,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Split off what somebody else said: a new person, remembered not to be the same.

    Without --message and --voice it shows what may be split off, least like the rest of the person first.

    Example: voicegraph people split Dana --voice 0199-… --name Cora
    """
    if message and voice:
        raise typer.BadParameter("--message and --voice both say what is split off; give one of them.")
    if dry_run or not (message or voice):
        _split_preview(person, message or (), voice or (), space, as_json)
        return

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        one = await named_person(services, person)
        return await correct.split(
            services.settings.space,
            one,
            actor=actor,
            why=why,
            messages=message or (),
            local_speakers=voice or (),
            name=name,
        )

    _corrected(change, space, as_json, settling=True)


def _split_preview(person: str, messages: Sequence[str], voices: Sequence[str], space: str | None, as_json: bool) -> None:
    """What the person consists of; marked is what would go."""

    async def work(services: Services) -> tuple[tuple[Part, ...], dict[str, Session]]:
        from service.cli.who import scope_of_all
        from service.graph.sessions import find_sessions

        scope, one = await scope_of_all(services), await named_person(services, person)
        parts = await (await services.correct()).preview_split(scope, one)
        return parts, await services.graph.read(find_sessions, scope, sorted({p.session_id for p in parts}))

    parts, sessions = with_services(work, space=space)

    def going(part: Part) -> str | None:
        turns = len(part.message_ids) if part.local_speaker in voices else sum(id in messages for id in part.message_ids)
        return f"{turns} would go" if turns else None

    rows = [
        (
            p.local_speaker,
            sessions[p.session_id].title if p.session_id in sessions else p.session_id,
            p.label,
            f"{p.start:.0f} – {p.end:.0f} s",
            len(p.message_ids),
            f"{p.net_speech:.0f} s",
            None if p.cosine is None else f"{p.cosine:.2f}",
            p.num_exemplars,
            going(p),
        )
        for p in parts
    ]
    columns = ("voice", "session", "label", "from – to", "messages", "speech", "like the rest", "by pieces", "")
    show(parts, as_json, lambda: _with_hint(table(columns, rows), f"voicegraph people split {shlex.quote(person)} --voice ID"))


def _with_hint(drawn: RenderableType, command: str) -> RenderableType:
    from rich.console import Group

    return Group(drawn, "", f"`{command}` splits one of these voices off; --json tells their messages.")


def reassign(
    message: Annotated[
        list[str] | None, typer.Argument(metavar="MESSAGE", help="Ids of messages, as in `voicegraph ask … --json`.")
    ] = None,
    voice: Annotated[
        str | None, typer.Option(metavar="ID", help="Instead: what this voice of a session said and is nobody's yet.")
    ] = None,
    to: Annotated[str | None, typer.Option(metavar="PERSON", help="Whose they are: a name or an id.")] = None,
    new: Annotated[str | None, typer.Option(metavar="NAME", help="They are somebody's who was not known here before.")] = None,
    nobody: Annotated[bool, typer.Option("--nobody", help="They are not whose we thought; whose, nobody knows.")] = False,
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Give messages to somebody else, or to nobody. Who may read what is settled again at once.

    Example: voicegraph people reassign --voice 0199-… --to Dana
    """
    if bool(message) == bool(voice):
        raise typer.BadParameter("Say which messages: their ids, or --voice ID.")
    if (to is not None) + (new is not None) + nobody != 1:
        raise typer.BadParameter("Say whose the messages are: --to PERSON, --new NAME, or --nobody.")

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        whose = await named_person(services, to) if to else None
        turns = message or await _unresolved(services, voice or "")
        return await correct.reassign(services.settings.space, turns, whose, actor=actor, why=why, name=new)

    _corrected(change, space, as_json, settling=True)


async def _unresolved(services: Services, voice: str) -> Sequence[str]:
    """Messages of the voice that are nobody's; raises NotFound without any."""
    from service.cli.who import scope_of_all
    from service.errors import NotFound
    from service.graph.inbox import find_unknown

    found = await services.graph.read(find_unknown, await scope_of_all(services), [voice])
    if voice not in found or not found[voice].unresolved:
        raise NotFound(kind="unresolved voice", id=voice)
    return found[voice].unresolved


def undo(
    correction: Annotated[str, typer.Argument(metavar="CORRECTION", help="Its id, from `voicegraph people corrections`.")],
    why: WhyOption = "",
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Take a correction back: all is as it was, and what came since stays.

    Example: voicegraph people undo 0199-…
    """

    async def change(services: Services, correct: Correct, actor: str) -> Corrected:
        return await correct.undo(services.settings.space, correction, actor=actor, why=why)

    _corrected(change, space, as_json, settling=True, undone=True)


def corrections(
    undone: Annotated[bool, typer.Option("--undone", help="Also those that were taken back.")] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """List what was corrected and can be undone, newest first.

    Example: voicegraph people corrections --undone
    """

    async def work(services: Services) -> tuple[list[Correction], dict[str, Person]]:
        from service.cli.who import every, scope_of_all
        from service.graph.corrections import list_corrections
        from service.graph.people import find_people

        found: list[Correction] = await every(services, list_corrections, standing=not undone)
        people = sorted({person for correction in found for person in correction.people})
        return found, await services.graph.read(find_people, await scope_of_all(services), people)

    found, people = with_services(work, space=space)

    def called(person: str) -> str:
        return (person in people and people[person].display_name) or person

    columns = ("id", "what", "turns", "people", "by", "at", "why", "undone")
    rows = [
        (
            c.id,
            LABELS.get(c.kind, c.kind),
            c.num_turns,
            "\n".join(map(called, c.people)),
            c.actor,
            f"{c.created_at:%Y-%m-%d %H:%M}",
            c.why or None,
            c.undone_at and f"{c.undone_at:%Y-%m-%d %H:%M}",
        )
        for c in found
    ]
    show(found, as_json, lambda: table(columns, rows, empty="Nothing was corrected."))


def _corrected(
    change: Callable[[Services, Correct, str], Awaitable[Corrected]],
    space: str | None,
    as_json: bool,
    *,
    settling: bool,
    undone: bool = False,
) -> None:
    async def work(services: Services) -> Corrected:
        from service.cli.who import ACCOUNT

        return await change(services, await services.correct(settling=settling), ACCOUNT)

    done = with_services(work, space=space)
    show(done, as_json, lambda: _told(done, undone))


async def named_person(services: Services, name_or_id: str) -> str:
    """As `the_person`, and by id also somebody who is shown as another since a merge: to confirm it, or to split them."""
    from service.cli.who import the_person
    from service.graph.access import list_known_people

    known = await services.graph.read(list_known_people, services.settings.space, [name_or_id])
    return name_or_id if known else await the_person(services, name_or_id)


def _told(done: Corrected, undone: bool) -> str:
    what = LABELS.get(done.kind, done.kind) + (f", {done.person_id}" if done.person_id and not undone else "")
    number = "1 message" if done.num_turns == 1 else f"{done.num_turns} messages"
    turns = f"; {number} changed hands" if done.num_turns else ""
    if not undone:
        return f"{what}{turns}. `voicegraph people undo {done.correction_id}` takes it back."
    if done.num_turns_erased:
        turns += f"; {done.num_turns_erased} stay as they are, since they, or whom they were of, are erased"
    verdict = f" The two are remembered not to be the same ({done.verdict_id})." if done.verdict_id else ""
    return f"Taken back: {what}{turns}.{verdict}"
