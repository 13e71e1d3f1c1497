"""With what is a webhook signed? With a secret that stands nowhere: made, each time, of the webhook's id, which of its secrets
it is, and a key that this service has in a file of its own (mode 0600). Who reads the graph, or a dump of it, can sign nothing;
who has the file can, and whoever was shown a secret for that one webhook.

Several services that send from one graph need the same file. One whose file is another leaves the webhooks of the other alone
(`Webhook.key` says whose they are); a lost file means a new secret for each (`voicegraph webhooks rotate`)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import stat
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from service.connectors.live.signatures import WHSEC, webhook_id_headers
from service.errors import VoicegraphError
from service.graph.webhooks import Webhook
from service.pipelines.key_files import KEY_BYTES, make_key

BOTH_SIGN = timedelta(days=1)
"""After a new secret was made, the one before signs, too: the receiver is changed in between."""


class WebhookKeyUnusable(VoicegraphError):
    code = "webhook_key_unusable"
    says = "The key of the webhooks {path} {problem}. Restore it; or move it away and make each webhook a new secret."
    http_status = 500


@dataclass(frozen=True, slots=True)
class WebhookKey:
    key: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """Which key it is; tells nothing of it."""
        return hashlib.sha256(b"id of " + self.key).hexdigest()[:16]

    def secret(self, webhook_id: str, generation: int) -> str:
        """`whsec_` and base64, as Standard Webhooks writes it."""
        made = hmac.digest(self.key, f"webhook {webhook_id} {generation}".encode(), "sha256")
        return WHSEC + base64.b64encode(made).decode()

    def headers(self, webhook: Webhook, *, id: str, at: datetime, body: bytes) -> dict[str, str]:
        """What proves that `body` is from us and of now: signed with the newest secret, and with the one before for a day."""
        generations = [webhook.generation]
        if webhook.rotated_at is not None and at - webhook.rotated_at < BOTH_SIGN:
            generations.append(webhook.generation - 1)
        made = [webhook_id_headers(self.secret(webhook.id, g), id=id, at=at, body=body) for g in generations]
        return {**made[0], "webhook-signature": " ".join(one["webhook-signature"] for one in made)}


def load_key(path: Path) -> WebhookKey:
    """The key in the file, made there when there is none. Raises WebhookKeyUnusable when others may read it or it is none."""
    if not path.exists():
        make_key(path)
    key = find_key(path)
    assert key is not None
    return key


def find_key(path: Path) -> WebhookKey | None:
    """The key in the file; None where no webhook was made here yet. Raises WebhookKeyUnusable."""
    if not path.exists():
        return None
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise WebhookKeyUnusable(path=path, problem="may be read by others; it needs mode 0600")
    text = path.read_text(encoding="ascii", errors="replace").strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise WebhookKeyUnusable(path=path, problem=f"is not a key of {KEY_BYTES} bytes in hexadecimal")
    return WebhookKey(key)
