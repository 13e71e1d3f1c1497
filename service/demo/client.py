"""How does the demo talk to the service? As any other program: uploads and GraphQL over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from service.errors import VoicegraphError


class RequestFailed(VoicegraphError):
    code = "request_failed"
    says = "{url} answered: {answer}"
    http_status = 502


@dataclass(frozen=True, slots=True)
class Client:
    url: str
    """Of the service, without a slash at the end."""
    token: str | None = field(default=None, repr=False)
    """None: somebody who has nothing but their voice."""
    timeout: float = 60.0
    """Seconds; the first request that needs a model waits for it to load."""

    def upload(self, path: Path) -> str:
        """Id of the upload; raises RequestFailed."""
        return str(self._post("/v1/uploads", path.read_bytes(), "application/octet-stream")["uploadId"])

    def query(self, document: str, **variables: Any) -> dict[str, Any]:
        """`data` of the answer; raises RequestFailed when there are errors instead."""
        body = json.dumps({"query": document, "variables": variables}).encode()
        answer = self._post("/graphql", body, "application/json")
        if answer.get("errors"):
            raise RequestFailed(url=f"{self.url}/graphql", answer="; ".join(e["message"] for e in answer["errors"]))
        data: dict[str, Any] = answer["data"]
        return data

    def _post(self, path: str, body: bytes, content_type: str) -> dict[str, Any]:
        headers = {"content-type": content_type} | ({"authorization": f"Bearer {self.token}"} if self.token else {})
        request = Request(self.url + path, body, headers)
        try:
            with urlopen(request, timeout=self.timeout) as response:
                answer: dict[str, Any] = json.load(response)
        except HTTPError as error:
            answer_text = error.read().decode(errors="replace")[:500]
            raise RequestFailed(url=self.url + path, answer=f"{error.code} {answer_text}") from None
        return answer
