"""Commands that erase, and show what proves that it was done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import plain, show, table

if TYPE_CHECKING:
    from service.types.erasure import Erasing, Receipt, Subject
    from service.wiring import Services

erase = typer.Typer(no_args_is_help=True, help="Erase for good, with a receipt.", rich_markup_mode=None)
receipts = typer.Typer(no_args_is_help=True, help="What was erased, and what proves it.", rich_markup_mode=None)
erasures = typer.Typer(no_args_is_help=True, help="The ledger that a restored backup is brought up to.", rich_markup_mode=None)

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Why = Annotated[str, typer.Option(metavar="TEXT", help="For whoever looks at it later; stands in the receipt.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="Its id.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(erase, name="erase")
    app.add_typer(receipts, name="receipts")
    app.add_typer(erasures, name="erasures")


@erase.command("person")
def erase_person(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="A name or an id.")],
    yes: Yes = False,
    why: Why = "",
    although: Annotated[
        bool, typer.Option("--although-named-elsewhere", help="Also where many sessions that they were not in have the name.")
    ] = False,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Erase a person, with everybody merged with them: undo a wrong merge first. Others' messages keep their text.

    Example: voicegraph erase person Dana --why "asked for it by letter"
    """

    async def subject(services: Services) -> Subject:
        from service.cli.corrections import named_person
        from service.graph.erase import find_erasure
        from service.types.erasure import Subject, SubjectKind

        hidden = Subject(SubjectKind.PERSON, person)
        if await services.graph.read(find_erasure, services.settings.space, hidden) is not None:
            return hidden
        return Subject(SubjectKind.PERSON, await named_person(services, person))

    _erase(subject, yes, why, space, as_json, although)


@erase.command("session")
def erase_session(session: Id, yes: Yes = False, why: Why = "", space: SpaceName = None, as_json: AsJson = False) -> None:
    """Erase a session: its messages, facts, pieces of voice, and people known from it alone.

    Example: voicegraph erase session 0199-… --yes
    """
    _erase_id("session", session, yes, why, space, as_json)


@erase.command("message")
def erase_message(message: Id, yes: Yes = False, why: Why = "", space: SpaceName = None, as_json: AsJson = False) -> None:
    """Erase what a message says and what was made of it; its time and length stay.

    Example: voicegraph erase message 0199-…
    """
    _erase_id("message", message, yes, why, space, as_json)


@erase.command("fact")
def erase_fact(fact: Id, yes: Yes = False, why: Why = "", space: SpaceName = None, as_json: AsJson = False) -> None:
    """Erase a fact; reading its session again makes it no more.

    Example: voicegraph erase fact 0199-…
    """
    _erase_id("fact", fact, yes, why, space, as_json)


def _erase_id(kind: str, id: str, yes: bool, why: str, space: str | None, as_json: bool) -> None:
    async def subject(_: Services) -> Subject:
        from service.types.erasure import Subject, SubjectKind

        return Subject(SubjectKind(kind), id)

    _erase(subject, yes, why, space, as_json)


def _erase(subject: Any, yes: bool, why: str, space: str | None, as_json: bool, although: bool = False) -> None:
    async def look(services: Services) -> tuple[Subject, Mapping[str, int]]:
        from service.graph.erase import find_erasure

        one, space = await subject(services), services.settings.space
        begun = await services.graph.read(find_erasure, space, one)
        return one, {} if begun else await (await services.erase()).preview(space, one)

    async def work(services: Services) -> Erasing:
        from service.cli.who import ACCOUNT
        from service.types.plain import short

        reason = short("why", why) if why else ""
        erase, one = await services.erase(), await subject(services)
        return await erase(services.settings.space, one, asked_by=ACCOUNT, why=reason, although=although)

    if not yes:
        one, planned = with_services(look, space=space)
        parts = ", ".join(f"{what}: {count}" for what, count in planned.items() if count) or "hidden already"
        typer.confirm(f"This {one.kind.value} and what is of it goes for good ({parts}). Erase it?", abort=True, err=True)
    done = with_services(work, space=space)
    show(done, as_json, lambda: _told(done))


def _told(done: Erasing) -> str:
    if done.named_elsewhere:
        return (
            f"Hidden from everybody. {done.named_elsewhere} places where they were not have one of their names, which may be "
            f"a word or somebody else's: they stay as they are, and there is no receipt, until `voicegraph erase person "
            f"{done.subject.id} --although-named-elsewhere` has the name taken out there, too."
        )
    if done.receipt is None:
        what = "sessions that are still written, or jobs of theirs that are worked on"
        waits = f" It waits for {what}: {', '.join(done.waits_for)}." if done.waits_for else ""
        return f"Hidden from everybody.{waits} `voicegraph erasures resume` goes on; the receipt will be {done.id}."
    return f"Erased; nothing is left of it. `voicegraph receipts show {done.id}` shows the receipt."


@receipts.command("list")
def list_receipts(space: SpaceName = None, as_json: AsJson = False) -> None:
    """List what was erased, newest first.

    Example: voicegraph receipts list
    """

    async def work(services: Services) -> list[Receipt]:
        from service.cli.who import PAGE
        from service.graph.paging import Page
        from service.graph.receipts import list_receipts as listed

        found: list[Receipt] = []
        page = Page(first=PAGE)
        while True:
            paged = await services.graph.read(listed, services.settings.space, page=page)
            found += paged.items
            if not paged.has_next:
                return found
            page = Page(first=PAGE, after=paged.cursors[-1])

    found = with_services(work, space=space)
    rows = [(r.id, r.subject.kind.value, f"{r.asked_at:%Y-%m-%d %H:%M}", r.asked_by, sum(r.counts.values())) for r in found]
    show(found, as_json, lambda: table(("id", "what", "asked", "by", "gone"), rows, empty="Nothing was erased."))


@receipts.command("show")
def show_receipt(receipt: Id, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Show a receipt. With --json as it is handed out: `receipts verify` takes it.

    Example: voicegraph receipts show 0199-… --json > receipt.json
    """

    async def work(services: Services) -> Receipt:
        from service.errors import NotFound
        from service.graph.receipts import find_receipt

        found = await services.graph.read(find_receipt, services.settings.space, receipt)
        if found is None:
            raise NotFound(kind="receipt", id=receipt)
        return found

    from service.pipelines.receipts import portable

    found = with_services(work, space=space)
    show(portable(found), as_json, lambda: _drawn(json.loads(found.document)))


def _drawn(document: Mapping[str, Any]) -> Any:
    from rich.console import Group

    subject, probe = document["subject"], document["probe"]
    head = f"{subject['kind']} {plain(subject['id'])}, asked for {document['asked_at']}, gone {document['completed_at']}"
    counts = table(("gone", "number"), sorted(document["counts"].items()))
    stores = table(("where", "what was done"), sorted(document["stores"].items()))
    looked = ", ".join(f"{count} {what}" for what, count in sorted(probe["asked"].items()))
    found = sum(probe["found"].values())
    return Group(
        head, "", counts, "", stores, "", f"Looked for afterwards ({looked}): {found} found.", f"key {document['key']}"
    )


@receipts.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="As `receipts show --json` gave it.", exists=True)],
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The public key it must be signed with. Default: this machine's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a receipt is genuine and unchanged. Needs no database.

    Example: voicegraph receipts verify receipt.json
    """
    from service.pipelines.receipts import find_key, read_receipt, verified
    from service.settings import load_settings

    ours = find_key(load_settings().receipt_key_file)
    public = key or (ours.public if ours else None)
    document = verified(read_receipt(file), public)
    whose = "with the key given" if key else "with this machine's key" if ours else "with the key that it names itself"
    show(document, as_json, lambda: f"Genuine: signed {whose}, and unchanged since.")


@receipts.command("key")
def show_key(as_json: AsJson = False) -> None:
    """Show the public key of this machine's receipts, for whoever verifies them.

    Example: voicegraph receipts key
    """
    from service.pipelines.receipts import load_key
    from service.settings import load_settings

    key = load_key(load_settings().receipt_key_file).public
    show({"key": key}, as_json, lambda: key)


@erasures.command("export")
def export(
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="FILE", help="Where to. Default: printed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the ledger of erasures: ids only, a JSON object a line. Keep it apart from the backups that it is for.

    Example: voicegraph erasures export -o erasures.jsonl
    """
    from service.pipelines.erasure_ledger import Ledger
    from service.settings import load_settings

    lines = [entry.to_json() for entry in Ledger(load_settings().erasures_file).entries()]
    if out is not None:
        out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        show({"file": str(out), "erasures": len(lines)}, as_json, lambda: f"{len(lines)} erasures in {out}")
    elif as_json:
        show([json.loads(line) for line in lines], as_json, str)
    else:
        typer.echo("".join(f"{line}\n" for line in lines), nl=False)


@erasures.command("replay")
def replay(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="An exported ledger, taken into this one. Default: this one alone.", exists=True),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Erase again what the ledger says was erased and a restored backup brought back, also from sessions that stood there as
    still written. The service does it when it starts.

    Example: voicegraph erasures replay erasures.jsonl
    """

    async def work(services: Services) -> list[str]:
        from service.pipelines.erasure_ledger import Ledger

        erase = await services.erase()
        if file is not None:
            erase.adopt(Ledger(file).entries())
        again = await erase.replay(although_open=True)
        for space, subject in again:
            await erase.finish(space, subject)
        return [subject.id for _, subject in again]

    done = with_services(work)
    show({"erased": done}, as_json, lambda: f"{len(done)} erased again.")


@erasures.command("resume")
def resume(as_json: AsJson = False) -> None:
    """Go on with erasures that were broken off, or waited. The service does it every ten minutes.

    Example: voicegraph erasures resume
    """
    failed: list[str] = []

    async def work(services: Services) -> int:
        return await (await services.erase()).take_up(lambda error: failed.append(str(error)))

    done = with_services(work)
    show({"through": done, "not_yet": failed}, as_json, lambda: "\n".join([f"{done} through.", *failed]))
