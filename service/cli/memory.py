"""Commands about what is remembered: recordings go in, people, sessions and answers come out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from service.cli import questions
from service.cli.questions import time_of
from service.cli.running import AsJson, EncoderName, SpaceName, with_services
from service.cli.shown import Bars, plain, show, table
from service.errors import InvalidInput

if TYPE_CHECKING:
    from service.pipelines.ingest import IngestReport, IngestRequest
    from service.types.memory import Session
    from service.types.people import Heard, Person
    from service.wiring import Services

people = typer.Typer(rich_markup_mode=None)


def add_to(app: typer.Typer) -> None:
    app.command("ingest")(ingest)
    app.command("formats")(formats)
    for asking in (questions.ask, questions.search, questions.who):
        app.command()(asking)
    app.add_typer(people, name="people")
    app.command("sessions")(sessions)


def ingest(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Recordings, whatever FFmpeg decodes; or transcripts by themselves.")
    ],
    session: Annotated[str | None, typer.Option(metavar="ID", help="Your own id for the session (one FILE).")] = None,
    title: Annotated[str | None, typer.Option(help="Title of the session. Default: the file's name.")] = None,
    started_at: Annotated[str | None, typer.Option(metavar="TIME", help="When it began: ISO 8601 with its zone.")] = None,
    transcript: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Of the recording (one FILE); see `voicegraph formats`. Without: speech is recognised."
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of the transcript, from `voicegraph formats`. Default: by its content.")
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Where it is there with another transcript or date, or of other models: take its place. That is erased for "
            "good, and for each FILE the whole space looked through for what is left of it.",
        ),
    ] = False,
    space: SpaceName = None,
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Remember who said what to whom. The same file twice is remembered once.

    A transcript without its recording becomes turns that are nobody's yet: `voicegraph people who` lists their speakers as the
    file names them, `voicegraph people reassign --voice` says whose they are.

    Example: voicegraph ingest meeting.m4a --started-at 2026-11-02T18:30+01:00 --transcript meeting.vtt
    """
    if len(files) > 1 and (session or transcript):
        raise typer.BadParameter("--session and --transcript belong to one FILE; give them one at a time.")
    began = time_of("--started-at", started_at)

    def request(path: Path, space: str) -> IngestRequest:
        from service.pipelines.ingest import IngestRequest

        return IngestRequest(
            path=path,
            space=space,
            session_id=session,
            title=title or path.stem,
            started_at=began,
            transcript=transcript,
            format=format,
            again=again,
        )

    with Bars() as bar:

        async def work(services: Services) -> list[IngestReport]:
            remember = await services.ingest()
            return [await remember(request(path, services.settings.space), bar(path.name)) for path in files]

        reports = with_services(work, space=space, encoder=encoder)
    columns = (
        "file",
        "session",
        "",
        "messages",
        "people met",
        "people known",
        "facts",
        "no facts",
        "words left out",
        "captions mended",
        "seconds",
    )
    rows = []
    for path, r in zip(files, reports, strict=True):
        news = "known already" if r.already_complete else "remembered" if r.revision == 1 else f"revision {r.revision}"
        no_facts = ", ".join(f"{why}: {number}" for why, number in r.facts_dropped.items()) or "–"
        facts = (r.num_facts, no_facts)
        numbers = (r.num_messages, r.people_created, r.people_linked, *facts, r.words_left_out, r.captions_mended)
        rows.append((path.name, r.session_id, news, *numbers, f"{r.seconds:.1f}"))
    show([{"file": p, **plain(r)} for p, r in zip(files, reports, strict=True)], as_json, lambda: table(columns, rows))


def formats(as_json: AsJson = False) -> None:
    """List the transcript formats that are read, with what each one states of itself.

    Example: voicegraph formats
    """
    from service.connectors.files import declared

    found = declared()
    columns = ("format", "from", "times", "count from", "speakers", "ids", "word times")
    rows = [(d.name, d.source, d.times, d.base, d.speakers, d.utterance_ids, "yes" if d.times_words else None) for d in found]
    show(found, as_json, lambda: table(columns, rows))


@people.callback(invoke_without_command=True)
def list_people(context: typer.Context, space: SpaceName = None, as_json: AsJson = False) -> None:
    """List people; with a command below: name them, make voices known, put right who is who.

    Example: voicegraph people --space home
    """
    if context.invoked_subcommand is not None:
        return

    async def work(services: Services) -> list[tuple[Person, Heard]]:
        from service.cli.who import PAGE, every, scope_of_all
        from service.graph.people import heard_of, list_people
        from service.types.people import Heard

        found, scope = await every(services, list_people), await scope_of_all(services)
        heard: dict[str, Heard] = {}
        for first in range(0, len(found), PAGE):
            heard |= await services.graph.read(heard_of, scope, [person.id for person in found[first : first + PAGE]])
        return [(person, heard.get(person.id, Heard())) for person in found]

    found = with_services(work, space=space)
    columns = ("id", "name", "kind", "turns", "speech", "encoders")
    rows = [
        (p.id, p.display_name, p.kind, heard.num_turns, f"{heard.net_speech:.0f} s", ", ".join(p.encoders))
        for p, heard in found
    ]
    shown = [{**plain(p), **plain(heard)} for p, heard in found]
    show(shown, as_json, lambda: table(columns, rows, empty="Nobody is known yet. `voicegraph ingest FILE` listens."))


@people.command("name")
def name_person(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="An id from `voicegraph people`, or the name so far.")],
    name: Annotated[str, typer.Argument(help="The name to show.")],
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Give a person a name.

    Example: voicegraph people name 0199-… Dana
    """
    if not name.strip():
        raise InvalidInput(what="the name", given="empty", needed="at least one letter")

    async def work(services: Services) -> str:
        from service.cli.who import ACCOUNT, the_person
        from service.pipelines.enrol import rename

        one = await the_person(services, person)
        await rename(services.graph, space=services.settings.space, person_id=one, name=name, actor=ACCOUNT)
        return one

    id = with_services(work, space=space)
    show({"id": id, "name": name.strip()}, as_json, lambda: f"{id} is {name.strip()} now.")


@people.command()
def enrol(
    file: Annotated[Path, typer.Argument(exists=True, help="Ten seconds of the person's voice, alone.")],
    name: Annotated[str, typer.Option(help="Their name.")],
    consent: Annotated[str, typer.Option(metavar="VERSION", help="Version of the text that they agreed to.")],
    channel: Annotated[str, typer.Option(help="How they agreed: spoken, form, paper, …")] = "spoken",
    evidence: Annotated[str | None, typer.Option(help="What proves it: where the form is, who heard it, …")] = None,
    although_opted_out: Annotated[
        bool, typer.Option("--although-opted-out", help="Also a voice that is taken for that of somebody who refused.")
    ] = False,
    space: SpaceName = None,
    encoder: EncoderName = None,
    as_json: AsJson = False,
) -> None:
    """Make a voice known under a name. Only with that person's consent, which is recorded.

    Example: voicegraph people enrol nora.ogg --name Nora --consent 2026-11
    """

    async def work(services: Services) -> str:
        from service.cli.who import ACCOUNT

        return await services.enrol(
            space=services.settings.space,
            name=name,
            clip=file,
            text_version=consent,
            channel=channel,
            evidence=evidence,
            recorded_by=ACCOUNT,
            although_opted_out=although_opted_out,
        )

    id = with_services(work, space=space, encoder=encoder)
    show({"id": id, "name": name}, as_json, lambda: f"{name} is known now: {id}")


def sessions(space: SpaceName = None, as_json: AsJson = False) -> None:
    """List what is remembered, newest first.

    Example: voicegraph sessions --json
    """

    async def work(services: Services) -> list[Session]:
        from service.cli.who import every
        from service.graph.sessions import list_sessions

        return await every(services, list_sessions)

    found = with_services(work, space=space)
    columns = ("id", "title", "started", "length", "messages", "status")
    rows = [
        (s.id, s.title, f"{s.started_at:%Y-%m-%d %H:%M}", f"{s.duration:.0f} s", s.num_messages, s.status.value) for s in found
    ]
    show(found, as_json, lambda: table(columns, rows, empty="Nothing is remembered yet. `voicegraph ingest FILE` listens."))
