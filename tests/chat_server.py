"""A small real server that speaks /v1/chat/completions as hosts do: schemas checked, errors in their form, slow when told."""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from service.language.chat import Chat, ChatConfig
from service.language.chat_cache import AnswerCache
from service.language.chat_ledger import Ledger


@dataclass(frozen=True)
class Reply:
    """What the server does instead of answering."""

    status: int = 200
    content: str | None = "{}"
    finish: str = "stop"
    code: str | None = None
    parameter: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is, where it is given."""
    after: float = 0.0
    """Seconds."""


Model = Callable[[dict[str, Any]], Any]
"""The request's body → the answer, made into JSON unless it is a text."""


class ChatServer(ThreadingHTTPServer):
    """Answers with `model`, after what stands in `instead` was used up, in its order."""

    daemon_threads = True

    def __init__(self, model: Model = lambda body: {}, key: str = "") -> None:
        self.model = model
        self.key = key
        self.instead: deque[Reply] = deque()
        self.asked: list[dict[str, Any]] = []
        self.at_once = self.most_at_once = 0
        self.models: tuple[str, ...] = ("small",)
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.asked.append(body)
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            instead = server.instead.popleft() if server.instead else None
        reply = instead or self._answered(body)
        time.sleep(reply.after)
        with server.lock:
            server.at_once -= 1
        self._send(reply, body)

    def do_GET(self) -> None:
        known = self.path == "/v1/models" and self.server.models
        unlocked = not self.server.key or self.headers.get("Authorization") == f"Bearer {self.server.key}"
        told = {"object": "list", "data": [{"id": name, "object": "model"} for name in self.server.models]}
        reply = Reply(body=json.dumps(told).encode()) if known else Reply(404, code="not_found")
        self._send(reply if unlocked else Reply(401, code="invalid_api_key"), {})

    def _answered(self, body: dict[str, Any]) -> Reply:
        if self.path != "/v1/chat/completions":
            return Reply(404, code="not_found")
        if self.server.key and self.headers.get("Authorization") != f"Bearer {self.server.key}":
            return Reply(401, code="invalid_api_key")
        if (wrong := schema_problem(body)) is not None:
            return Reply(400, code=wrong, parameter="response_format")
        answer = self.server.model(body)
        return Reply(content=answer if isinstance(answer, str) else json.dumps(answer))

    def _send(self, reply: Reply, body: dict[str, Any]) -> None:
        sent = reply.body if reply.body is not None else json.dumps(_told(reply, body)).encode()
        try:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)
        except (BrokenPipeError, ConnectionResetError):  # who asked waits no longer
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


def _told(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    if reply.status != 200:
        return {"error": {"message": f"You sent: {json.dumps(body)}", "code": reply.code, "param": reply.parameter}}
    message = {"role": "assistant", "content": reply.content, "refusal": None}
    read, wrote = len(json.dumps(body["messages"])) // 4, len(reply.content or "") // 4
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
        "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
    }


def schema_problem(body: dict[str, Any]) -> str | None:
    """What strict mode would refuse: an object without `additionalProperties: false` or with properties not required."""
    form = body.get("response_format", {})
    told = form.get("json_schema", {})
    if form.get("type") != "json_schema" or told.get("strict") is not True or not told.get("name"):
        return "invalid_response_format"

    def fits(part: Any) -> bool:
        if isinstance(part, list):
            return all(fits(inner) for inner in part)
        if not isinstance(part, dict):
            return True
        if part.get("type") == "object" and (
            part.get("additionalProperties") is not False or set(part["required"]) != set(part["properties"])
        ):
            return False
        return "default" not in part and all(fits(inner) for inner in part.values())

    return None if fits(told["schema"]) else "invalid_json_schema"


@contextmanager
def serving(model: Model = lambda body: {}, key: str = "") -> Iterator[ChatServer]:
    server = ChatServer(model, key)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def a_chat(server: ChatServer, folder: Path, *, daily: int = 0, key: str = "", **config: Any) -> Chat:
    """A client that waits for nothing long."""
    made = ChatConfig(server.url, "small", key, **{"first_wait": 0.01, "timeout": 60.0, **config})
    return Chat(made, Ledger(folder / "chat.sqlite", daily), AnswerCache(folder / "chat"))
