"""What do commands have in common: options, the services they run with, and how an error ends them?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from service.wiring import Models, Services

T = TypeVar("T")

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
SpaceName = Annotated[str | None, typer.Option("--space", metavar="NAME", help="Tenant. Default: the setting `space`.")]
EncoderName = Annotated[
    str | None, typer.Option("--encoder", metavar="NAME", help="Speaker encoder: campplus, ecapa or titanet.")
]


def with_services(work: Callable[[Services], Awaitable[T]], **arguments: Any) -> T:
    """What `work` makes of the services of these settings; they are closed before this returns."""
    from service.settings import load_settings
    from service.wiring import open_services

    async def run() -> T:
        async with open_services(load_settings(**arguments)) as services:
            return await work(services)

    return asyncio.run(run())


def with_models(work: Callable[[Models], Awaitable[T]], **arguments: Any) -> T:
    """What `work` makes of the models of these settings; no database is touched."""
    from service.settings import load_settings
    from service.wiring import Models

    async def run() -> T:
        return await work(Models(load_settings(**arguments)))

    return asyncio.run(run())
