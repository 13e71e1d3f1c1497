"""A service with sources of meetings, and who delivers to them in our own protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from service.api.hooks import HooksConfig
from service.connectors.live.signatures import webhook_id_headers
from service.graph.deliveries import DeliveryShown, list_deliveries
from service.graph.driver import Graph
from service.graph.paging import Page
from service.pipelines.deliveries import InboxConfig
from service.pipelines.meetings import MeetingsConfig
from service.settings import Settings
from service.types.ids import fresh
from service.wiring import Services
from tests.api.serving import Api, serving

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SENT = "bot-token-4f1c"
"""What is sent itself, where nothing can be signed."""
NEXT_SECRET = "whsec_c2Vjb25kLXNlY3JldC1vZi10aGUtc291cmNl"


@dataclass
class Backend:
    """Delivers to the source `crm` of the space; `secret` signs."""

    api: Api
    file: Path
    secret: str = SECRET
    lines: list[str] = field(default_factory=list)

    @property
    def graph(self) -> Graph:
        return self.api.services.graph

    @property
    def references(self) -> list[str]:
        return [f"file:{self.file.parent / name}" for name in ("secret", "sent")]

    def configure(self, name: str = "crm", /, **values: Any) -> None:
        """Write the sources' file with this source, `crm` and `generic` unless told otherwise."""
        table = {"provider": "generic", "space": self.api.space, "secrets": self.references, **values}
        self.lines.append(f"[sources.{name}]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in table.items()))
        self.file.write_text("\n".join(self.lines))

    async def post(
        self,
        body: Mapping[str, Any] | bytes,
        *,
        source: str = "crm",
        headers: Mapping[str, str | bytes] | None = None,
        id: str = "",
    ) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        signed = self.signed(content, id or fresh()) if headers is None else headers
        return await self.api.http.post(f"/v1/hooks/{source}", content=content, headers=dict(signed))

    def signed(self, content: bytes, id: str) -> Mapping[str, str]:
        return webhook_id_headers(self.secret, id=id, at=datetime.now(UTC), body=content)

    async def inbox(self) -> list[DeliveryShown]:
        """Oldest first."""
        return list((await self.graph.read(list_deliveries, self.api.space, page=Page(first=100))).items)[::-1]

    def of(self, space: str) -> Backend:
        """The same service with nothing but the source `crm`, in that space."""
        fresh_one = replace(self, api=replace(self.api, space=space), secret=SECRET, lines=[])
        fresh_one.configure()
        return fresh_one


@asynccontextmanager
async def delivering(
    graph: Graph, data: Path, *, deliveries: InboxConfig | None = None, hooks: HooksConfig | None = None, **settings: Any
) -> AsyncIterator[Backend]:
    """A service of its own, without sources yet, that takes nothing in: what is delivered waits in the inbox."""
    (data / "secret").write_text(SECRET)
    (data / "sent").write_text(f"token:{SENT}\n")
    services = Services(Settings(data_dir=data, development=False, recogniser="none", **settings), graph)
    async with serving(services, "", deliveries=deliveries, hooks=hooks, meetings=MeetingsConfig(most=0)) as api:
        yield Backend(api, services.settings.sources_file)


def said(text: str = "Hello.", meeting: str = "m1", start: float = 1.0, **fields: Any) -> dict[str, Any]:
    """A message of our own protocol: Ana says `text`."""
    speaker = {"handle": "7", "name": "Ana"}
    return {
        "meeting": meeting,
        "type": "uttered",
        "speaker": speaker,
        "text": text,
        "start": start,
        "end": start + 1.0,
        **fields,
    }
