"""How does a benchmark ask a language model? Over OpenAI-compatible chat/completions, where OPENAI_BASE_URL says."""

from __future__ import annotations

import os
from dataclasses import dataclass

import httpx

from service.errors import VoicegraphError


class ModelFailed(VoicegraphError):
    code = "reading_model_failed"
    says = "The model at {url} answered {problem}. Check OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL."


@dataclass(frozen=True, slots=True)
class ReaderConfig:
    url: str
    """up to and without /chat/completions"""
    key: str
    model: str
    timeout: float = 120.0
    """seconds for one answer"""
    at_once: int = 4
    """requests at a time"""

    @classmethod
    def from_environment(cls) -> ReaderConfig | None:
        """OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL; None without the first."""
        url = os.environ.get("OPENAI_BASE_URL")
        if not url:
            return None
        return cls(url.rstrip("/"), os.environ.get("OPENAI_API_KEY", ""), os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))


class Chat:
    """One question, one answer, at temperature 0; may be called by several threads."""

    def __init__(self, config: ReaderConfig) -> None:
        self.config = config
        headers = {"Authorization": f"Bearer {config.key}"} if config.key else {}
        self._client = httpx.Client(timeout=config.timeout, headers=headers)

    def __call__(self, system: str, user: str) -> str:
        """Raises ModelFailed."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = {"model": self.config.model, "messages": messages, "temperature": 0}
        url = f"{self.config.url}/chat/completions"
        try:
            response = self._client.post(url, json=body)
            response.raise_for_status()
            return str(response.json()["choices"][0]["message"]["content"])
        except httpx.HTTPStatusError as error:
            raise ModelFailed(url=url, problem=f"HTTP {error.response.status_code}") from error
        except (httpx.HTTPError, KeyError, IndexError, ValueError) as error:
            raise ModelFailed(url=url, problem=type(error).__name__) from error
