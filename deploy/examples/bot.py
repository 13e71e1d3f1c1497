"""A meeting bot in one page: type what is said as `Name: text`, and it is remembered while the meeting goes on.

    printf 'Ana: The rooftop garden opens on May 4th.\\nBo: I will order the soil.\\n' |
        python bot.py http://127.0.0.1:8460/v1/hooks/mine whsec_…

A real one has its words from a recogniser and its participants from the meeting, and does the same with them: one event a
message, signed, sent again until it is answered 2xx, always under its first id. service/connectors/GENERIC.md has all
events and fields. Standard library only.
"""

import base64
import hashlib
import hmac
import json
import sys
import time
import urllib.error
import urllib.request
import uuid
from datetime import UTC, datetime

TRIES = 8
AGAIN = (408, 429, 502, 503, 504)
KEPT = 500  # and not read, by a fault of theirs


class Bot:
    def __init__(self, url: str, secret: str, meeting: str) -> None:
        self.url, self.key, self.meeting = url, base64.b64decode(secret.removeprefix("whsec_")), meeting
        self.began = time.time()

    def tell(self, type: str, **fields: object) -> None:
        """One event, until it is kept. What it says is the same each time, and so is its id."""
        now = datetime.now(UTC).isoformat()
        body = json.dumps({"meeting": self.meeting, "type": type, "at": now, **fields}).encode()
        id = f"msg_{uuid.uuid4().hex}"
        for attempt in range(TRIES):
            wait = 0.5 * 2**attempt
            try:
                request = urllib.request.Request(self.url, body, self.signed(id, body))
                with urllib.request.urlopen(request, timeout=30):
                    return
            except urllib.error.HTTPError as answer:
                # 401: the secret; 404: the source; 422: the event, and its field is named
                if answer.code == KEPT:
                    print(f"{answer.code}: {answer.read().decode()}", file=sys.stderr)
                    return
                if answer.code not in AGAIN:
                    sys.exit(f"{answer.code}: {answer.read().decode()}")
                wait = float(answer.headers.get("retry-after", wait))
            except OSError as problem:
                print(f"not reached ({problem}); again in {wait:.0f} s", file=sys.stderr)
            time.sleep(wait)
        sys.exit(f"given up after {TRIES} tries")

    def signed(self, id: str, body: bytes) -> dict[str, str]:
        """Standard Webhooks: of id, time and body, for this try."""
        timestamp = str(int(time.time()))
        mac = hmac.digest(self.key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256)
        signature = f"v1,{base64.b64encode(mac).decode()}"
        headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
        return {"content-type": "application/json", **headers}


def main(url: str, secret: str) -> None:
    bot = Bot(url, secret, f"typed-{uuid.uuid4().hex[:8]}")
    handles: dict[str, str] = {}
    bot.tell("began", title="Typed")
    for number, line in enumerate(sys.stdin):
        name, _, text = line.partition(":")
        if not text.strip():
            continue
        if name not in handles:
            handles[name] = f"p{len(handles) + 1}"
            bot.tell("joined", speaker={"handle": handles[name], "name": name.strip()})
        end = time.time() - bot.began
        start = max(0.0, end - 0.4 * len(text.split()))
        bot.tell("uttered", id=f"u{number}", speaker={"handle": handles[name]}, text=text.strip(), start=start, end=end)
    bot.tell("ended")
    print(f"{bot.meeting}: {len(handles)} people")


if __name__ == "__main__":
    main(*sys.argv[1:3])
