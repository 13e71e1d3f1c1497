"""What is a promise by its words, and in which order is told what was promised?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from service.retrieval.undertakings import UNDERTAKES, UndertakingsConfig, undertaken, undertakes
from service.types.memory import Addressee, How, Message
from service.types.search import Ranked, Tool

CONFIG = UndertakingsConfig()
AT = datetime(2026, 5, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "I'll ring the plumber tomorrow.",
        "I’ll see to it.",
        "Okay, we will bring the salad.",
        "I promise it will be done by Friday.",
        "Leave it to me.",
        "I won't tell anybody.",
    ],
)
def test_what_is_surely_undertaken(text: str) -> None:
    assert undertakes(text) == CONFIG.sure


@pytest.mark.parametrize(
    "text",
    ["I could paint the fence.", "I can take you to the station.", "Let me carry that.", "I'm fetching the tent on Thursday."],
)
def test_what_is_offered(text: str) -> None:
    assert undertakes(text) == CONFIG.offered


@pytest.mark.parametrize(
    "text",
    [
        "I'll never understand him.",
        "I'll be sad when you go.",
        "I can speak French.",
        "Let me know.",
        "She'll bring the salad.",
        "I painted the fence.",
        "Can you take me to the station?",
        "",
    ],
)
def test_what_undertakes_nothing(text: str) -> None:
    assert undertakes(text) == 0


def said(id: str, text: str, day: int, to: float = 0.0) -> Message:
    addressees = (Addressee("bo", to, How.CALLER),) if to else ()
    at = AT + timedelta(days=day)
    return Message(id, "s", 0, text, "en", 0, 1, at, "ana", "voice", addressees, None, "link", 0.7, 0.2, 0.5)


def test_promises_go_first_kept_as_facts_before_those_told_by_words_and_newest_first() -> None:
    messages = [
        said("old", "I'll cook.", 1),
        said("new", "I'll wash up.", 3),
        said("talk", "It rained.", 4),
        said("fact", "Done.", 2),
    ]
    listed = tuple(Ranked(id, 1.0) for id in ("talk", "new", "old"))
    found = undertaken(listed, ["fact"], {m.id: m for m in messages})
    assert [one.id for one in found] == ["fact", "new", "old", "talk"]
    assert [one.found[0].tool for one in found] == [Tool.FACT_KIND, Tool.PEOPLE, Tool.PEOPLE, Tool.PEOPLE]
    assert [dict(one.because).get(UNDERTAKES) for one in found] == [CONFIG.kept_as_fact, CONFIG.sure, CONFIG.sure, None]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_what_was_promised_to_somebody_in_particular_goes_before_what_was_promised_to_all() -> None:
    messages = {m.id: m for m in (said("all", "I'll cook.", 3, to=0.3), said("bo", "I could cook.", 1, to=1.0))}
    assert [one.id for one in undertaken((), [], messages, ["bo"])] == ["bo", "all"]


def test_what_has_left_the_scope_since_it_was_listed_is_no_promise() -> None:
    assert [one.id for one in undertaken((Ranked("gone", 1.0),), ["gone"], {})] == ["gone"]
    assert undertaken((), ["gone"], {}) == ()
