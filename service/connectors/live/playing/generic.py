"""What does a bot send that speaks our own protocol?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from service.connectors.live.generic_schema import message
from service.connectors.live.playing import Played
from service.connectors.live.signatures import TOKEN, WHSEC, webhook_id_headers
from service.types.meeting import MeetingEvent


class GenericPlayer:
    """Every event, in JSON."""

    provider = "generic"

    def bodies(self, meeting: Played, event: MeetingEvent, *, id: str) -> tuple[bytes, ...]:
        return (json.dumps(message(meeting.id, [event]), ensure_ascii=False).encode(),)

    def headers(self, body: bytes, secret: str, *, at: datetime, id: str) -> Mapping[str, str]:
        """Signed with a secret that begins with whsec_; anything else is sent itself."""
        if secret.startswith(WHSEC):
            return webhook_id_headers(secret, id=id, at=at, body=body)
        return {"authorization": f"Bearer {secret.removeprefix(TOKEN)}", "webhook-id": id}


PLAYER = GenericPlayer()
