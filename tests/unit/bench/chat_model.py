"""A language model of the tests' own, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model(ThreadingHTTPServer):
    """Speaks chat/completions: answers with the last word of the first turn; judges by whether the answers are equal,
    or, when told to be generous, whether it is a part of the right one."""

    def __init__(self) -> None:
        self.asked: list[dict[str, object]] = []
        self.keys: list[str | None] = []
        self.broken = False
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.keys.append(self.headers.get("Authorization"))
        assert self.path == "/v1/chat/completions"
        reply = json.dumps({"choices": [{"message": {"role": "assistant", "content": self._said(body)}}]}).encode()
        self.send_response(500 if self.server.broken else 200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def _said(self, body: dict[str, list[dict[str, str]]]) -> str:
        lines = body["messages"][1]["content"].splitlines()
        if lines[0] == "Turns:":
            return "not mentioned" if lines[1] == "(nothing)" else lines[1].split()[-1]
        right, given = (line.partition(": ")[2] for line in lines[1:3])
        generous = "generous" in body["messages"][0]["content"]
        return "CORRECT" if right == given or (generous and given in right) else "WRONG"

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Model]:
    server = Model()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
