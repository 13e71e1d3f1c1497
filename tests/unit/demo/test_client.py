"""The demo speaks plain HTTP, and says what a service answered when it refuses."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from service.demo.client import Client, RequestFailed


class _Service(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/uploads":
            status, answer = 201, {"uploadId": body.decode(), "bytes": len(body)}
        elif b"forbidden" in body:
            status, answer = 401, {"errors": [{"message": "token_not_accepted"}]}
        elif b"broken" in body:
            status, answer = 200, {"data": None, "errors": [{"message": "no such field"}]}
        else:
            variables = json.loads(body)["variables"]
            status, answer = 200, {"data": {"token": self.headers["authorization"], **variables}}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_a_query_sends_its_variables_and_the_token(url: str) -> None:
    assert Client(url, "vg_1").query("{ x }", id="p1") == {"token": "Bearer vg_1", "id": "p1"}


def test_who_has_only_a_voice_sends_no_token(url: str) -> None:
    assert Client(url).query("{ x }") == {"token": None}


def test_an_upload_is_the_bytes_of_the_file(url: str, tmp_path: Path) -> None:
    (tmp_path / "clip").write_text("sound")
    assert Client(url).upload(tmp_path / "clip") == "sound"


@pytest.mark.parametrize(("query", "says"), [("forbidden", "401 .*token_not_accepted"), ("broken", "no such field")])
def test_a_refusal_is_an_error_with_the_services_words(url: str, query: str, says: str) -> None:
    with pytest.raises(RequestFailed, match=says):
        Client(url).query(query)
