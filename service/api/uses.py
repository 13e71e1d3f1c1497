"""When was a token, or a grant, last used? Noted in memory with each request, and written down by the sweep of the service: who
asks waits for no write, and what is never used can be taken back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from service.api.tokens import list_tokens
from service.graph.driver import Graph
from service.graph.write_grants import save_uses
from service.pipelines.private_json import replaced


class Uses:
    """Of this process, since it last wrote them down."""

    def __init__(self, tokens_file: Path, file: Path) -> None:
        self._tokens_file, self._file = tokens_file, file
        self._tokens: dict[str, datetime] = {}
        self._grants: dict[str, datetime] = {}

    def of_token(self, id: str) -> None:
        self._tokens[id] = datetime.now(UTC)

    def of_grants(self, ids: Iterable[str]) -> None:
        self._grants.update(dict.fromkeys(ids, datetime.now(UTC)))

    async def write(self, graph: Graph) -> None:
        """Add them to what is known. What cannot be written now is written the next time."""
        tokens, grants = dict(self._tokens), dict(self._grants)
        if tokens:
            await asyncio.to_thread(_merge, self._file, tokens, self._tokens_file)
        if grants:
            await graph.write(save_uses, grants)
        for noted, written in ((self._tokens, tokens), (self._grants, grants)):
            for id, at in written.items():
                if noted.get(id) == at:
                    del noted[id]


def last_uses(file: Path) -> dict[str, datetime]:
    """Token id → when it was last used, UTC; of a file that is not there, or not whole, nothing is known."""
    try:
        return {id: datetime.fromisoformat(at) for id, at in json.loads(file.read_text(encoding="utf-8")).items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _merge(file: Path, uses: dict[str, datetime], tokens_file: Path) -> None:
    """Of tokens that there are, what is later."""
    there = {entry.id for entry in list_tokens(tokens_file)}
    with replaced(file) as write:
        known = last_uses(file)
        merged = {id: max(at, known.get(id, at)) for id, at in {**known, **uses}.items() if id in there}
        write({id: at.isoformat() for id, at in sorted(merged.items())})
