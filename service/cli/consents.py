"""What the commands that record a consent, or that it was taken back, have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.running import with_services

if TYPE_CHECKING:
    from service.wiring import Services

Person = Annotated[str, typer.Argument(metavar="PERSON", help="A name or an id.")]
Version = Annotated[str, typer.Option("--consent", metavar="VERSION", help="Version of the text that they agreed to.")]
Channel = Annotated[str, typer.Option(help="How they said so: spoken, form, paper, …")]


def record(person: str, state: str, purpose: str, version: str, channel: str, space: str | None) -> Any:
    """The person's id. Raises NotFound, InvalidInput."""

    async def work(services: Services) -> str:
        from service.cli.who import the_person
        from service.pipelines.consents import record_consent
        from service.types.people import Consent, ConsentPurpose
        from service.types.plain import short

        one = await the_person(services, person)
        await record_consent(
            services.graph,
            space=services.settings.space,
            person_id=one,
            state=Consent(state),
            text_version=short("the version", version),
            channel=short("the channel", channel),
            purpose=ConsentPurpose(purpose).value,
        )
        return one

    return with_services(work, space=space)
