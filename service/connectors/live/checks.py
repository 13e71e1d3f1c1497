"""Can this source deliver, as it is configured? The same answer for who asks on the command line and over GraphQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.connectors.declared import Signing
from service.connectors.live import connector
from service.connectors.live.signatures import check_secrets
from service.connectors.live.sources import Source, Sources
from service.errors import VoicegraphError


@dataclass(frozen=True, slots=True)
class Problem:
    code: str
    message: str


def problem_of(source: Source, sources: Sources, at: datetime) -> Problem | None:
    """What keeps it from delivering, or from delivering all; None: nothing. Reads its secrets, and tells none."""
    try:
        secrets = sources.secrets(source)
        check_secrets(connector(source.provider).verify, secrets, source=source.name, at=at)
        api_key = sources.api_key(source)
    except VoicegraphError as error:
        return Problem(error.code, str(error))
    declared = connector(source.provider).declared
    if not secrets and Signing.TOKEN not in declared.also:
        return Problem("no_secret", "It names no secret: nothing that it delivers can be proved.")
    if not secrets and not source.tokens:
        needed = "It names no secret: only who shows a token of ours with the scope `ingest` can deliver."
        return Problem("no_secret", needed)
    if declared.needs_api_key and not api_key:
        return Problem("no_api_key", "It has no api_key: the transcripts that it points to cannot be fetched.")
    return None
