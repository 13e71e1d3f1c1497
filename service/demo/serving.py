"""How does the service run inside this process, on a free port of this machine only?"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from service.errors import VoicegraphError

if TYPE_CHECKING:
    from service.wiring import Services


class ServiceDidNotStart(VoicegraphError):
    code = "service_did_not_start"
    says = "The service ended before it listened on {host}:{port}. Its messages stand above."
    http_status = 500


@asynccontextmanager
async def serving(services: Services, *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """The URL under which the service answers while this is open; port 0 takes any free one."""
    import uvicorn

    from service.app import create_app

    listener = socket.create_server((host, port))
    url = f"http://{host}:{listener.getsockname()[1]}"
    config = uvicorn.Config(create_app(services), log_level="warning", ws="websockets-sansio")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            if running.done():
                await running
                raise ServiceDidNotStart(host=host, port=port)
            await asyncio.sleep(0.02)
        yield url
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await running
        listener.close()
