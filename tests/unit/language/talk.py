"""Questions and evidence for tests of what a language model is shown, and what a model on the other side reads of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from service.language.prompts import CLOSED, OPENED
from service.types.search import Asked, Evidence, QuestionType

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def a_question(text: str = "Where does Ana keep the spare key?", **more: Any) -> Asked:
    return Asked(text, more.pop("type", QuestionType.LOOKUP), NOON, asker="Bo", **more)


def evidence(*texts: str) -> tuple[Evidence, ...]:
    """Ids m0, m1, …, said by Ana to Bo, a day apart."""
    return tuple(Evidence(f"m{i}", "Ana", ("Bo",), NOON - timedelta(days=9 - i), text, 0.3) for i, text in enumerate(texts))


def read(body: dict[str, Any]) -> Any:
    """The data of a request, as a model finds it between the fence; there is one fence, whatever people say."""
    shown = body["messages"][1]["content"]
    assert shown.count(OPENED) == shown.count(CLOSED) == 1
    return json.loads(shown.removeprefix(OPENED).removesuffix(CLOSED))
