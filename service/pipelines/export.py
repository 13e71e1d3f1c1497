"""What does somebody have who asks for everything that is kept of them (GDPR, art. 15 and 20)? One JSON document, written as it
is read: no page of it waits in memory for the next. Only for themselves, and listed in the audit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from graph_schema.schema import NODES
from service.errors import VoicegraphError
from service.graph.access import ReadScope
from service.graph.audit import save_audit_event
from service.graph.driver import Graph
from service.graph.export import NOT_EXPORTED, SECTIONS, Section, list_names_and_logins, list_section
from service.graph.personas import find_subject
from service.pipelines.token_accounts import accounts_of
from service.pipelines.webhook_call import shown_url
from service.types.ids import fresh
from service.types.names import normal

FORMAT = "voicegraph-person-export/1"
_MADE = ("embedding", "vector", "voiceprint")
VECTORS = {
    node.label: frozenset(p.name for p in node.properties if p.type == "list<float>" and p.name.startswith(_MADE))
    for node in NODES
}
"""Label → properties that a model made and nobody can read: left out unless asked for."""

SHOWN = {("Webhook", "url"): shown_url}
"""(label, property) → how it is told wherever it is."""


@dataclass(frozen=True, slots=True)
class ExportConfig:
    page: int = 500  # nodes read at once: some 0.5 MB of text, with vectors 5 MB


class NotTheirs(VoicegraphError):
    code = "export_not_theirs"
    says = "Everything that is kept of somebody is for themselves: ask with that person's own token, and with nobody listening."
    http_status = 403


async def export_person(
    graph: Graph,
    scope: ReadScope,
    *,
    actor: str,
    tokens: Path,
    vectors: bool = False,
    config: ExportConfig = ExportConfig(),
) -> AsyncIterator[str]:
    """The document in pieces of text, once it is in the audit who had it. `scope`: of the person themselves; `tokens`: the file
    that says which accounts are theirs by tokens. Raises NotTheirs and TokensNotRead before the first piece.

    Who is merged with them unconfirmed is somebody else until that is confirmed. What others said is in it as far as they may
    read it; vectors only if asked for."""
    subject = await graph.read(find_subject, scope, None)
    if not subject:
        raise NotTheirs()
    person, at = scope.own[0], datetime.now(UTC)
    await graph.write(save_audit_event, scope.space, actor=actor, action="export", target=person, why="", occasion=fresh())
    called, accounts = await graph.read(list_names_and_logins, scope)
    accounts = sorted({*accounts, *await asyncio.to_thread(accounts_of, tokens, scope.space, scope.own)})
    names = sorted({normal(name) for name in called})
    head = {"format": FORMAT, "space": scope.space, "person_id": person, "at": at.isoformat(), "vectors": vectors}
    yield json.dumps(head, ensure_ascii=False)[:-1]
    for section in SECTIONS:
        yield f",\n{json.dumps(section.name)}: ["
        after, comma = "", "\n"
        while True:
            page = await graph.read(
                list_section, scope, section, names=names, accounts=accounts, after=after, limit=config.page
            )
            for row in page:
                yield comma + json.dumps(_told(section, row, vectors), ensure_ascii=False, sort_keys=True, default=_plain)
                comma = ",\n"
            if len(page) < config.page:
                break
            after = page[-1]["id"]
        yield "]"
    yield f',\n"not_exported": {json.dumps(NOT_EXPORTED, sort_keys=True)}}}\n'


def _told(section: Section, row: Mapping[str, Any], vectors: bool) -> dict[str, Any]:
    hidden = section.without | {"space"} | (frozenset() if vectors else VECTORS[section.label])
    told = {name: value for name, value in row["node"].items() if name not in hidden and value is not None}
    node = {name: shown(value) if (shown := SHOWN.get((section.label, name))) else value for name, value in told.items()}
    return {"id": row["id"], **node, **{name: value for name, value in row["more"].items() if value not in (None, [])}}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime) or hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(type(value).__name__)
