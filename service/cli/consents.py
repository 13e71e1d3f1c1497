"""Commands about what people agree to: recording it, or that it was taken back, and what was said so far."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.questions import time_of
from service.cli.running import AsJson, SpaceName, with_services
from service.cli.shown import show, table
from service.errors import NotFound
from service.types.people import Consent, ConsentPurpose

if TYPE_CHECKING:
    from service.types.consents import ConsentRecord, KnownOptOut
    from service.wiring import Services

Person = Annotated[str, typer.Argument(metavar="PERSON", help="A name or an id.")]
Version = Annotated[str, typer.Option("--consent", metavar="VERSION", help="Version of the text that they agreed to.")]
Channel = Annotated[str, typer.Option(help="How they said so: spoken, form, paper, …")]
Purpose = Annotated[
    ConsentPurpose,
    typer.Option(help="remember_voice: to be known again; attribute: to be told by voice at all; keep_audio; infer_persona"),
]
Evidence = Annotated[str | None, typer.Option(help="What proves it: where the form is, who heard it, …")]
SaidAt = Annotated[str | None, typer.Option("--said-at", metavar="TIME", help="When they said so. Now.")]

consent = typer.Typer(rich_markup_mode=None, help="What people agree to, and what they take back.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    app.add_typer(consent, name="consent")


def record(
    person: str,
    state: str,
    purpose: str,
    version: str,
    channel: str,
    space: str | None,
    evidence: str | None = None,
    said_at: str | None = None,
) -> Any:
    """The person's id, and the Consent that holds now: another, where they said it later. Raises NotFound, InvalidInput."""
    at = time_of("--said-at", said_at)

    async def work(services: Services) -> tuple[str, Consent]:
        from service.cli.who import ACCOUNT, the_person
        from service.graph.write_consents import find_state
        from service.pipelines.consents import record_consent
        from service.types.plain import short

        one = await the_person(services, person)
        await record_consent(
            services.graph,
            space=services.settings.space,
            person_id=one,
            state=Consent(state),
            text_version=short("the version", version),
            channel=short("the channel", channel),
            at=at,
            purpose=ConsentPurpose(purpose).value,
            evidence=short("the evidence", evidence) if evidence is not None else None,
            recorded_by=ACCOUNT,
            marker=services.marker,
        )
        return one, await services.graph.read(find_state, services.settings.space, one, purpose)

    return with_services(work, space=space)


def _told(recorded: tuple[str, Consent], said: Consent, purpose: ConsentPurpose, as_json: bool, words: str) -> None:
    id, holds = recorded
    if holds is not said:
        words = f"Recorded; but they said another thing later, which holds: {holds}."
    show({"id": id, "purpose": purpose.value, "state": holds.value}, as_json, lambda: words)


@consent.command()
def give(
    person: Person,
    consent: Version,
    purpose: Purpose = ConsentPurpose.REMEMBER_VOICE,
    channel: Channel = "spoken",
    evidence: Evidence = None,
    said_at: SaidAt = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Record that somebody agreed. It is theirs to say, and nobody's for them.

    Example: voicegraph consent give Nora --purpose remember_voice --consent 2026-11 --evidence "form 17"
    """
    recorded = record(person, "granted", purpose, consent, channel, space, evidence, said_at)
    _told(recorded, Consent.GRANTED, purpose, as_json, "Recorded.")


@consent.command()
def withdraw(
    person: Person,
    consent: Version,
    purpose: Purpose = ConsentPurpose.REMEMBER_VOICE,
    channel: Channel = "spoken",
    evidence: Evidence = None,
    said_at: SaidAt = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Record that somebody took it back: what rested on it is gone at once, also in a meeting that goes on.

    Example: voicegraph consent withdraw Nora --purpose attribute --consent 2026-11
    """
    recorded = record(person, "withdrawn", purpose, consent, channel, space, evidence, said_at)
    _told(recorded, Consent.WITHDRAWN, purpose, as_json, "Recorded; what rested on it is gone.")


@consent.command("opt-out")
def opt_out(
    person: Person,
    consent: Version,
    purpose: Purpose = ConsentPurpose.REMEMBER_VOICE,
    channel: Channel = "spoken",
    evidence: Evidence = None,
    said_at: SaidAt = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """Record that somebody never wants it again: as `withdraw`, and it outlives that they are erased.

    Example: voicegraph consent opt-out Nora --consent 2026-11
    """
    recorded = record(person, "opted_out", purpose, consent, channel, space, evidence, said_at)
    _told(recorded, Consent.OPTED_OUT, purpose, as_json, "Recorded, and it stands.")


@consent.command()
def history(person: Person, space: SpaceName = None, as_json: AsJson = False) -> None:
    """Show what somebody said so far, the newest first, with what proves it.

    Example: voicegraph consent history Nora
    """

    async def work(services: Services) -> list[ConsentRecord]:
        from service.cli.who import every, scope_of_all, the_person
        from service.graph.consents import list_consents
        from service.graph.people import list_same_people

        one = await the_person(services, person)
        same = await services.graph.read(list_same_people, await scope_of_all(services), [one])
        return await every(services, list_consents, subject=same)

    found = with_services(work, space=space)
    columns = ("said at", "to", "state", "text", "how", "evidence", "recorded by")
    rows = [
        (f"{one.said.at:%Y-%m-%d %H:%M}", one.said.purpose.value, one.said.state.value, one.said.text_version, one.said.channel,
         one.said.evidence, one.said.recorded_by)
        for one in found
    ]  # fmt: skip
    show(found, as_json, lambda: table(columns, rows, empty="They were never asked for anything."))


@consent.command("opt-outs")
def opt_outs(
    remove: Annotated[
        str | None, typer.Option(metavar="ID", help="Take one away: they changed their mind, or it blocks somebody else.")
    ] = None,
    space: SpaceName = None,
    as_json: AsJson = False,
) -> None:
    """List the marks by which those are known again who refused to be known; none is a voiceprint.

    Example: voicegraph consent opt-outs
    """

    async def work(services: Services) -> tuple[list[KnownOptOut], str | None]:
        from service.cli.who import scope_of_all
        from service.graph.opt_outs import list_known_opt_outs
        from service.pipelines.consents import remove_opt_out

        if remove is not None and not await remove_opt_out(services.graph, services.settings.space, remove):
            raise NotFound(kind="opt-out", id=remove)
        marker = services.known_marker()
        return await services.graph.read(list_known_opt_outs, await scope_of_all(services)), marker.id if marker else None

    found, key = with_services(work, space=space)
    columns = ("id", "of", "since", "person", "holds")
    rows = [
        (
            o.id,
            o.channel or o.kind,
            f"{o.created_at.astimezone(UTC):%Y-%m-%d}",
            o.person_id,
            "yes" if o.key == key else "no key",
        )
        for o in found
    ]
    shown = [{"id": o.id, "kind": o.kind, "channel": o.channel, "created_at": _plain(o.created_at), "person_id": o.person_id,
              "holds": o.key == key} for o in found]  # fmt: skip
    show(shown, as_json, lambda: table(columns, rows, empty="Nobody refused to be known, or none left a mark."))


def _plain(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
