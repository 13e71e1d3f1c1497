"""How is a language model asked over the OpenAI-compatible chat/completions, so that its answer is a record or an error?"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx
from pydantic import TypeAdapter, ValidationError

from service.errors import VoicegraphError
from service.language.chat_cache import AnswerCache
from service.language.chat_ledger import Ledger
from service.types.chat import Prompt

log = logging.getLogger(__name__)
T = TypeVar("T")

BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed; 529 is what some hosts send when overloaded."""
RENAMED = {"max_tokens": "max_completion_tokens", "temperature": None}
"""Parameters that some models refuse (OpenAI's reasoning models), and what is sent instead; None: nothing."""
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,60}")


class ChatUnreachable(VoicegraphError):
    code = "chat_unreachable"
    says = "The language model at {url} could not be asked ({problem}, attempt {attempts}). Check OPENAI_BASE_URL."
    http_status = 503


class ChatRefused(VoicegraphError):
    code = "chat_refused"
    says = (
        "The language model at {url} refused the request (HTTP {status}{reason}). Check OPENAI_BASE_URL, OPENAI_API_KEY and "
        "OPENAI_MODEL ({model}); the server must know response_format json_schema."
    )
    http_status = 502


class ChatAnswerUnfit(VoicegraphError):
    code = "chat_answer_unfit"
    says = "The language model {model} gave no answer that fits {wanted}: {problem}. Try another OPENAI_MODEL."
    http_status = 502


class ChatCutOff(ChatAnswerUnfit):
    code = "chat_cut_off"
    says = "The language model {model} did not finish {wanted} within {max_tokens} tokens."


@dataclass(frozen=True, slots=True)
class ChatConfig:
    url: str
    """Up to and without /chat/completions."""
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0  # seconds for one answer as a whole; small models on a CPU need more: the setting openai_timeout
    connect: float = 10.0  # seconds until the server must have taken the call
    at_once: int = 4  # requests at a time; hosts limit them, and a local server takes one or two
    attempts: int = 4  # with waits of 0.5, 1 and 2 s an outage of some seconds is bridged
    first_wait: float = 0.5  # seconds, doubled each time, with up to half as much again at random
    max_wait: float = 30.0  # seconds; a server that asks for more is not waited for
    tries: int = 2  # answers asked for when one does not fit, the second with what was wrong
    bytes_a_token: float = 3.0  # English has about four, Chinese three: reserved rather too much, put right by the reply


class Chat:
    """A ChatModel. One per process and event loop; `close` it."""

    def __init__(self, config: ChatConfig, ledger: Ledger, kept: AnswerCache) -> None:
        self.config = config
        self._ledger = ledger
        self._kept = kept
        self._slots = asyncio.Semaphore(config.at_once)
        self._refused: set[str] = set()
        self._http = _client(config)

    @property
    def name(self) -> str:
        return self.config.model

    async def close(self) -> None:
        await self._http.aclose()

    async def __call__(self, prompt: Prompt[T], *, space: str | None = None) -> T:
        """Raises ChatUnreachable, ChatRefused, ChatAnswerUnfit, ChatCutOff, TokensSpent."""
        adapter: TypeAdapter[T] = TypeAdapter(prompt.answer)
        body = _body(self.config.model, prompt, adapter)
        key = hashlib.sha256(json.dumps([self.config.url, body], sort_keys=True).encode()).hexdigest()
        if space is not None and (found := await asyncio.to_thread(self._kept.find, space, key)) is not None:
            try:
                return adapter.validate_json(found)
            except ValidationError:
                log.warning("a kept answer is damaged and is asked for again: %s", key)
        async with self._slots:
            answer, content = await self._fitting(prompt, adapter, body)
        if space is not None:
            await asyncio.to_thread(self._kept.save, space, key, content)
        return answer

    async def _fitting(self, prompt: Prompt[T], adapter: TypeAdapter[T], body: Mapping[str, Any]) -> tuple[T, str]:
        """An answer without fault and how it was written; one that has a fault is given back once with what is wrong."""
        messages, wrong = list(body["messages"]), ""
        for _ in range(self.config.tries):
            content = self._content(await self._send({**body, "messages": messages}), prompt)
            try:
                answer = adapter.validate_json(content)
            except ValidationError as error:
                wrong = "; ".join(f"{_place(e['loc'])}: {e['type']}" for e in error.errors()[:3])
            else:
                wrong = prompt.problem(answer) or ""
                if not wrong:
                    return answer, content
            again = f"That answer is not usable ({wrong}). Answer the request again, as JSON that fits the schema."
            messages += [{"role": "assistant", "content": content}, {"role": "user", "content": again}]
        raise ChatAnswerUnfit(model=self.name, wanted=prompt.answer.__name__, problem=wrong)

    def _content(self, reply: Any, prompt: Prompt[T]) -> str:
        try:
            choice = reply["choices"][0]
            finished, message = choice.get("finish_reason"), choice["message"]
            content, refusal = message.get("content"), message.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError):
            problem = "the server's reply is not one of chat/completions"
            raise ChatAnswerUnfit(model=self.name, wanted=prompt.answer.__name__, problem=problem) from None
        if finished == "length":
            raise ChatCutOff(model=self.name, wanted=prompt.answer.__name__, max_tokens=prompt.max_tokens)
        if refusal or not isinstance(content, str):
            problem = "it declined" if refusal or finished == "content_filter" else "the reply has no text"
            raise ChatAnswerUnfit(model=self.name, wanted=prompt.answer.__name__, problem=problem)
        return content

    async def _send(self, body: Mapping[str, Any]) -> Any:
        """The reply as JSON; asks again where that may help, after waiting as the server says or ever longer."""
        url, problem = f"{self.config.url}/chat/completions", ""
        needed = int(len(json.dumps(body).encode()) / self.config.bytes_a_token) + int(body["max_tokens"])
        attempt = 0
        while attempt < self.config.attempts:
            day = await asyncio.to_thread(self._ledger.reserve, needed)
            try:
                async with asyncio.timeout(self.config.timeout):
                    response = await self._http.post(url, json=self._as_taken(body))
            except (httpx.RequestError, TimeoutError) as error:
                problem, wait = type(error).__name__, self._wait(attempt)
                if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):  # nothing was asked
                    await asyncio.to_thread(self._ledger.settle, day, needed, 0)
            else:
                used = _used(response, needed)
                await asyncio.to_thread(self._ledger.settle, day, needed, used)
                if response.is_success:
                    return _json(response)
                status, reason, parameter = response.status_code, *_reason(response)
                if status == 400 and parameter in RENAMED and parameter not in self._refused:
                    self._refused.add(parameter)
                    continue
                asked_wait = _retry_after(response)
                if status not in BUSY or reason == "insufficient_quota":
                    said = f", {reason}" if reason else ""
                    raise ChatRefused(url=url, status=status, reason=said, model=self.name)
                problem, wait = f"HTTP {status}", self._wait(attempt) if asked_wait is None else asked_wait
                if wait > self.config.max_wait:
                    problem = f"HTTP {status}, to be asked again in {wait:.0f} s"
                    raise ChatUnreachable(url=url, problem=problem, attempts=attempt + 1)
            attempt += 1
            if attempt < self.config.attempts:
                await asyncio.sleep(wait)
        raise ChatUnreachable(url=url, problem=problem, attempts=self.config.attempts)

    def _wait(self, attempt: int) -> float:
        return min(self.config.first_wait * 2.0**attempt * (1.0 + random.random() / 2), self.config.max_wait)

    def _as_taken(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """`body` without the parameters that this server has refused, or under their other names."""
        return {
            taken: value
            for name, value in body.items()
            if (taken := RENAMED[name] if name in self._refused else name) is not None
        }


def load_chat(config: ChatConfig, kept: Path, tokens: Path, daily: int) -> Chat:
    """Answers are kept in the folder `kept`, those too old forgotten now; tokens are counted in the file `tokens`."""
    cache = AnswerCache(kept)
    cache.forget_expired()
    return Chat(config, Ledger(tokens, daily), cache)


async def list_models(config: ChatConfig) -> frozenset[str]:
    """Names of the models that the host tells of; empty where it tells none. Raises ChatUnreachable, ChatRefused for a key."""
    url = f"{config.url}/models"
    try:
        async with _client(config) as http, asyncio.timeout(config.timeout):
            response = await http.get(url)
    except (httpx.RequestError, TimeoutError) as error:
        raise ChatUnreachable(url=url, problem=type(error).__name__, attempts=1) from None
    if response.status_code in (401, 403):
        reason = _reason(response)[0]
        raise ChatRefused(url=url, status=response.status_code, reason=f", {reason}" if reason else "", model=config.model)
    told = _json(response)
    listed = told.get("data") if response.is_success and isinstance(told, dict) else None
    return frozenset(str(one["id"]) for one in listed or () if isinstance(one, dict) and "id" in one)


def _client(config: ChatConfig) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        timeout=httpx.Timeout(config.timeout, connect=min(config.connect, config.timeout)),
        headers={"Authorization": f"Bearer {config.key}"} if config.key else {},
    )


def _body(model: str, prompt: Prompt[T], adapter: TypeAdapter[T]) -> dict[str, Any]:
    schema = {"name": prompt.answer.__name__, "strict": True, "schema": strict(adapter.json_schema())}
    return {
        "model": model,
        "messages": [{"role": "system", "content": prompt.instructions}, {"role": "user", "content": prompt.data}],
        "response_format": {"type": "json_schema", "json_schema": schema},
        "max_tokens": prompt.max_tokens,
        "temperature": 0,
    }


def _place(where: Sequence[int | str]) -> str:
    """In an answer: a field of ours by its name; a name that the model made up may be what somebody said, and is not repeated
    outside of the fence."""
    return (
        ".".join(str(part) if isinstance(part, int) or re.fullmatch(r"[a-z_]{1,30}", part) else "?" for part in where)
        or "the whole"
    )


def strict(schema: Any) -> Any:
    """A JSON schema as the strict mode of chat/completions wants it: every property required, no others, no defaults."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(part) for name, part in schema.items() if name not in ("default", "title")}
    if "properties" in schema:
        made["properties"] = {name: strict(part) for name, part in schema["properties"].items()}
        made |= {"required": list(schema["properties"]), "additionalProperties": False}
    return made


def _used(response: httpx.Response, reserved: int) -> int:
    """Tokens: as the reply says; nothing where the request was turned away; else what was reserved."""
    if not response.is_success:
        return 0 if response.status_code < 500 else reserved
    usage = _json(response).get("usage") if isinstance(_json(response), dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and total >= 0 else reserved


def _json(response: httpx.Response) -> Any:
    """None where the body is no JSON."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _reason(response: httpx.Response) -> tuple[str, str]:
    """The server's code for what is wrong and the parameter it concerns; not its sentence, which may quote what was asked."""
    body = _json(response)
    error = body.get("error") if isinstance(body, dict) else None
    told = error if isinstance(error, dict) else {}

    def plain(*names: str) -> str:
        return next((v for n in names if isinstance(v := told.get(n), str) and _CODE.fullmatch(v)), "")

    return plain("code", "type"), plain("param")


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds to wait as the server says (RFC 9110 §10.2.3); None where it does not."""
    said = response.headers.get("Retry-After", "").strip()
    if said.isdigit():
        return float(said)
    try:
        until = parsedate_to_datetime(said).timestamp()
    except (ValueError, TypeError):
        return None
    now = response.headers.get("Date", "")
    try:
        return max(0.0, until - parsedate_to_datetime(now).timestamp())
    except (ValueError, TypeError):
        return None
