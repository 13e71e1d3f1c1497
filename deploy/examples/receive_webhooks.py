"""What happened? A receiver of Voicegraph's webhooks that believes only what is signed. Needs nothing but Python.

voicegraph webhooks add https://example.org/hook        # shows the secret, once
WEBHOOK_SECRET=whsec_… python receive_webhooks.py 8080  # behind whatever ends TLS for https://example.org/hook
"""

import base64
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ["WEBHOOK_SECRET"].split()]
"""Several while one is changed: `voicegraph webhooks rotate` makes the next, and for a day both sign."""
TOLERANCE = 300  # seconds that the clocks may differ, and that a delivery may be replayed by who overheard it
MAX_BYTES = 256 * 1024
seen: dict[str, float] = {}
"""Ids that were taken: each comes at least once, with the same id every time. Keep them where they outlive this process."""


def is_ours(headers, body: bytes) -> bool:
    """As standardwebhooks.com has it: HMAC-SHA256 over id, timestamp and the body as it came."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    signed = f"{id}.{timestamp}.".encode() + body
    given = [part[3:].encode() for part in headers.get("webhook-signature", "").split() if part.startswith("v1,")]
    expected = [base64.b64encode(hmac.digest(secret, signed, "sha256")) for secret in SECRETS]
    return any(hmac.compare_digest(one, other) for one in given for other in expected)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        body = self.rfile.read(length) if length <= MAX_BYTES else b""
        if not is_ours(self.headers, body):
            self.answer(401)
            return
        id = self.headers["webhook-id"]
        if id not in seen:
            seen[id] = time.time()
            event = json.loads(body)  # {"type": "session.ready", "timestamp": …, "data": {"space": …, "sessionId": …}}
            print(event["type"], json.dumps(event["data"]), flush=True)
        self.answer(204)  # soon: what takes long is done after it; anything but 2xx is sent again

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    print(f"Listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
