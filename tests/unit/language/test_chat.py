"""A language model is asked with patience and within limits, and its answer is a record that fits or an error."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pytest

from service.language.chat import Chat, ChatAnswerUnfit, ChatCutOff, ChatRefused, ChatUnreachable
from service.language.chat_cache import AnswerCache
from service.language.chat_ledger import Ledger, TokensSpent
from service.types.chat import ChatModel, Prompt
from tests.chat_server import ChatServer, Reply, a_chat, serving

SECRET = "sk-of-nobody"
SAID = "the attic window is open"


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Item:
    colour: Colour
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[Item, ...]


RED = {"items": [{"colour": "red", "note": None}]}


def a_prompt(data: str = SAID, **more: object) -> Prompt[Items]:
    return Prompt("List the items.", data, Items, 100, **more)  # type: ignore[arg-type]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving(lambda body: RED) as server:
        yield server


async def test_the_answer_is_a_record_by_a_schema_that_strict_servers_take(server: ChatServer, tmp_path: Path) -> None:
    chat: ChatModel = a_chat(server, tmp_path)
    assert await chat(a_prompt()) == Items((Item(Colour.RED),))
    asked = server.asked[0]
    assert [m["role"] for m in asked["messages"]] == ["system", "user"]
    assert (asked["model"], asked["temperature"], chat.name) == ("small", 0, "small")


async def test_the_key_is_sent_and_shown_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", logger="service")
    caplog.set_level("INFO", logger="httpx")
    with serving(lambda body: RED, key=SECRET) as server:
        chat = a_chat(server, tmp_path, key=SECRET)
        assert await chat(a_prompt())
        with pytest.raises(ChatRefused, match="HTTP 401, invalid_api_key") as caught:
            await a_chat(server, tmp_path, key="another")(a_prompt())
    seen = caplog.text + repr(chat.config) + str(caught.value)
    assert SECRET not in seen and "another" not in seen


async def test_what_was_said_is_in_no_error_and_no_log(
    server: ChatServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Servers quote requests in their errors, and models in answers that do not fit."""
    caplog.set_level("INFO")
    chat = a_chat(server, tmp_path)
    server.instead.append(Reply(400, code=f"bad {SAID}"))
    with pytest.raises(ChatRefused) as refused:
        await chat(a_prompt())
    server.instead.extend([Reply(content=json.dumps({"items": [{"colour": SAID}]}))] * 2)
    with pytest.raises(ChatAnswerUnfit, match=r"items\.0\.colour: enum") as unfit:
        await chat(a_prompt())
    assert SAID not in str(refused.value) + str(unfit.value) + caplog.text


@pytest.mark.parametrize("status", [429, 500, 503, 529])
async def test_a_busy_server_is_asked_again(server: ChatServer, tmp_path: Path, status: int) -> None:
    server.instead.extend([Reply(status)] * 3)
    assert await a_chat(server, tmp_path)(a_prompt())
    assert len(server.asked) == 4


async def test_a_server_is_given_the_time_it_asks_for(server: ChatServer, tmp_path: Path) -> None:
    server.instead.append(Reply(429, headers={"Retry-After": "1"}))
    began = time.monotonic()
    assert await a_chat(server, tmp_path)(a_prompt())
    assert time.monotonic() - began >= 1.0


async def test_one_that_asks_for_too_long_or_never_recovers_is_given_up(server: ChatServer, tmp_path: Path) -> None:
    server.instead.append(Reply(429, headers={"Retry-After": "3600"}))
    with pytest.raises(ChatUnreachable, match="asked again in 3600 s"):
        await a_chat(server, tmp_path)(a_prompt())
    server.instead.extend([Reply(503)] * 9)
    with pytest.raises(ChatUnreachable, match="HTTP 503, attempt 4"):
        await a_chat(server, tmp_path)(a_prompt())
    assert len(server.asked) == 5


@pytest.mark.parametrize("reply", [Reply(404, code="model_not_found"), Reply(429, code="insufficient_quota"), Reply(307)])
async def test_what_asking_again_cannot_help_is_asked_once(server: ChatServer, tmp_path: Path, reply: Reply) -> None:
    server.instead.append(reply)
    with pytest.raises(ChatRefused, match=reply.code or "HTTP 307"):
        await a_chat(server, tmp_path)(a_prompt())
    assert len(server.asked) == 1


async def test_a_slow_server_times_out_as_a_whole(server: ChatServer, tmp_path: Path) -> None:
    server.instead.extend([Reply(after=1.0)] * 2)
    with pytest.raises(ChatUnreachable, match=r"TimeoutError|ReadTimeout"):
        await a_chat(server, tmp_path, timeout=0.2, attempts=2)(a_prompt())


async def test_nobody_listening_costs_no_tokens(tmp_path: Path) -> None:
    with serving() as server:
        chat = a_chat(server, tmp_path, daily=10_000)
    with pytest.raises(ChatUnreachable, match="ConnectError"):
        await chat(a_prompt())
    assert Ledger(tmp_path / "chat.sqlite", 10_000).spent() == 0


async def test_a_parameter_that_a_model_refuses_is_sent_otherwise_from_then_on(server: ChatServer, tmp_path: Path) -> None:
    server.instead.append(Reply(400, code="unsupported_parameter", parameter="max_tokens"))
    server.instead.append(Reply(400, code="unsupported_value", parameter="temperature"))
    chat = a_chat(server, tmp_path)
    assert await chat(a_prompt()) == await chat(a_prompt("another"))
    assert len(server.asked) == 4
    assert all("max_tokens" not in body and body["max_completion_tokens"] == 100 for body in server.asked[1:])
    assert all("temperature" not in body for body in server.asked[2:])


async def test_an_answer_with_a_fault_is_given_back_once_with_what_is_wrong(server: ChatServer, tmp_path: Path) -> None:
    server.instead.append(Reply(content="Sure! {"))
    assert await a_chat(server, tmp_path)(a_prompt())
    assert [m["role"] for m in server.asked[1]["messages"]] == ["system", "user", "assistant", "user"]
    with pytest.raises(ChatAnswerUnfit, match="no red please"):
        await a_chat(server, tmp_path)(a_prompt(problem=lambda items: "no red please"))


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(content=None), "no text"),
        (Reply(content=None, finish="content_filter"), "declined"),
        (Reply(body=b"<html>"), "not one of chat/completions"),
        (Reply(body=b'{"choices": []}'), "not one of chat/completions"),
        (Reply(body=b'{"choices": ["x"]}'), "not one of chat/completions"),
        (Reply(body=b"[]"), "not one of chat/completions"),
    ],
)
async def test_a_reply_without_an_answer_is_an_error(server: ChatServer, tmp_path: Path, reply: Reply, says: str) -> None:
    server.instead.append(reply)
    with pytest.raises(ChatAnswerUnfit, match=says):
        await a_chat(server, tmp_path)(a_prompt())


async def test_an_answer_cut_off_is_an_error_of_its_own(server: ChatServer, tmp_path: Path) -> None:
    server.instead.append(Reply(content='{"items": [', finish="length"))
    with pytest.raises(ChatCutOff, match="within 100 tokens"):
        await a_chat(server, tmp_path)(a_prompt())


async def test_no_more_is_asked_at_once_than_allowed(tmp_path: Path) -> None:
    two = threading.Barrier(2, timeout=60.0)

    def in_twos(body: object) -> object:
        two.wait()
        return RED

    with serving(in_twos) as server:
        chat = a_chat(server, tmp_path, at_once=2, timeout=90.0)
        await asyncio.gather(*(chat(a_prompt(str(i))) for i in range(6)))
        assert server.most_at_once == 2


async def test_an_answer_is_kept_for_its_space_and_goes_with_it(server: ChatServer, tmp_path: Path) -> None:
    chat = a_chat(server, tmp_path)
    for space in ("home", "home", "../home", "home"):
        assert await chat(a_prompt(), space=space) == Items((Item(Colour.RED),))
    assert len(server.asked) == 2
    kept = AnswerCache(tmp_path / "chat")
    kept.forget("home")
    kept.forget("home")
    await chat(a_prompt(), space="../home")
    assert len(server.asked) == 2
    await chat(a_prompt(), space="home")
    assert len(server.asked) == 3
    await chat(a_prompt(), space=None)
    assert len(server.asked) == 4
    made = await asyncio.to_thread(lambda: sorted(path.name for path in tmp_path.iterdir()))
    assert made == ["chat", "chat.sqlite"], "it wrote outside of its folder"


async def test_kept_answers_are_the_users_only_and_expire(server: ChatServer, tmp_path: Path) -> None:
    chat = a_chat(server, tmp_path)
    await chat(a_prompt(), space="home")
    (file,) = (tmp_path / "chat").glob("*/*")
    assert file.stat().st_mode & 0o077 == 0
    long_ago = time.time() - 31 * 86_400
    os.utime(file, (long_ago, long_ago))
    await chat(a_prompt(), space="home")
    assert len(server.asked) == 2
    os.utime(file, (long_ago, long_ago))
    AnswerCache(tmp_path / "chat").forget_expired()
    assert not list((tmp_path / "chat").glob("*/*"))


async def test_a_kept_answer_that_is_damaged_is_asked_for_again(server: ChatServer, tmp_path: Path) -> None:
    chat = a_chat(server, tmp_path)
    await chat(a_prompt(), space="home")
    (file,) = (tmp_path / "chat").glob("*/*")
    file.write_text('{"items": [')
    assert await chat(a_prompt(), space="home") == Items((Item(Colour.RED),))
    assert len(server.asked) == 2


async def test_an_answer_that_does_not_fit_is_not_kept(server: ChatServer, tmp_path: Path) -> None:
    server.instead.extend([Reply(content="{}")] * 2)
    chat = a_chat(server, tmp_path)
    with pytest.raises(ChatAnswerUnfit):
        await chat(a_prompt(), space="home")
    assert await chat(a_prompt(), space="home")


async def test_the_days_tokens_are_a_limit_for_all_processes_and_what_was_answered_stays(
    server: ChatServer, tmp_path: Path
) -> None:
    first, second = a_chat(server, tmp_path, daily=600), a_chat(server, tmp_path, daily=600)
    answered = [await chat(a_prompt(), space="home") for chat in (first, second)]
    spent = Ledger(tmp_path / "chat.sqlite", 600).spent()
    assert 0 < spent < 300, "put right by what the server says"
    with pytest.raises(TokensSpent, match=f"{spent} of the 600 tokens") as caught:
        await second(a_prompt("long " * 2_000))
    assert "openai_daily_tokens" in str(caught.value)
    assert len(server.asked) == 1
    assert await first(a_prompt(), space="home") == answered[0]


async def test_many_at_once_do_not_pass_the_limit(server: ChatServer, tmp_path: Path) -> None:
    chats = [a_chat(server, tmp_path, daily=700) for _ in range(8)]
    done = await asyncio.gather(*(chat(a_prompt(str(i))) for i, chat in enumerate(chats)), return_exceptions=True)
    assert any(isinstance(one, TokensSpent) for one in done) and any(isinstance(one, Items) for one in done)
    assert Ledger(tmp_path / "chat.sqlite", 700).spent() <= 700


async def test_a_closed_client_asks_nothing(server: ChatServer, tmp_path: Path) -> None:
    chat: Chat = a_chat(server, tmp_path)
    await chat.close()
    with pytest.raises(RuntimeError):
        await chat(a_prompt())
