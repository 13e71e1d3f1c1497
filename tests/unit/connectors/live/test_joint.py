"""Two bots in one call are told of as one meeting, where whoever sent them says so in their metadata or in their URL."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from service.connectors.live import CONNECTORS, connector
from service.connectors.live.joint import joint, told_by
from service.connectors.live.sources import Sources, SourcesUnreadable, parse
from service.graph.driver import Graph
from service.pipelines.deliveries import Inbox
from service.pipelines.reception import Proved, Reception
from service.types.meeting import Began, Heard, Joined, Uttered, Withdrawn
from tests.unit.connectors.live.bots import (
    BAAS_HELLO,
    SAMPLES,
    V1_COMPLETE,
    ZOE,
    attendee_line,
    baas,
    baas_line,
    base64_of,
    recall,
    recall_line,
    stamp,
)
from tests.unit.connectors.live.told import read, sent
from tests.unit.memory.meeting.events import says, who

CALL = {"call": "c-7", "number": 12, "list": ["c-7"], "blank": " "}


def of_recall(told: dict[str, Any]) -> dict[str, Any]:
    return {**told, "data": {**told["data"], "bot": {"id": "bot-1", "metadata": CALL}}}


TOLD = {
    "recall, words": ("recall", of_recall(recall_line()), "bot-1"),
    "recall, status": (
        "recall",
        of_recall(recall("bot.done", {"code": "done"})),
        "bot-1",
    ),
    "attendee": ("attendee", {**attendee_line(), "bot_metadata": CALL}, "bot_1"),
    "meetingbaas": (
        "meetingbaas",
        baas("bot.status_change", extra=CALL, status={"code": "in_call_recording", "start_time": 1_796_029_200}),
        "b-1",
    ),
    "meetingbaas, its file": ("meetingbaas", baas("bot.completed", extra=CALL, transcription="https://a.example/t"), "b-1"),
    "meetingbaas_v1": ("meetingbaas_v1", {**V1_COMPLETE, "data": {**V1_COMPLETE["data"], "extra": CALL}}, "b-1"),
}


@pytest.mark.parametrize("kind", TOLD)
def test_a_field_of_the_bots_metadata_says_which_meeting_it_is_in(kind: str) -> None:
    provider, told, bot = TOLD[kind]
    assert connector(provider).declared.metadata is not None
    found = read(provider, told)
    assert found.meeting == bot and found.metadata == CALL
    delivery = sent(told)
    assert [joint(found, delivery, field).meeting for field in (None, "call", "number", "list", "blank", "nothing")] == [
        bot,
        "c-7",
        "12",
        bot,
        bot,
        bot,
    ]


@pytest.mark.parametrize(
    ("provider", "told"), [("recall", recall_line()), ("attendee", attendee_line()), ("meetingbaas", baas_line())]
)
def test_where_the_metadata_say_nothing_the_url_does(provider: str, told: dict[str, Any]) -> None:
    found, asked = read(provider, told), sent(told, query={"call": " c-7 ", "token": "t"})
    assert joint(found, asked, "call").meeting == "c-7"
    assert joint(found, asked, None) == joint(found, asked, "meeting") == joint(found, sent(told), "call") == found


def test_the_metadata_hold_over_the_url_which_nobody_signs() -> None:
    _, told, _ = TOLD["attendee"]
    assert joint(read("attendee", told), sent(told, query={"call": "another"}), "call").meeting == "c-7"


def test_metadata_of_any_shape_are_none_and_refuse_nothing() -> None:
    for odd in (None, "c-7", 7, ["c-7"]):
        told = {**attendee_line(), "bot_metadata": odd}
        assert read("attendee", told).metadata is None and joint(read("attendee", told), sent(told), "call").meeting == "bot_1"


def test_sound_is_of_the_call_and_of_the_bots_own_participants() -> None:
    inner = {"buffer": base64_of(SAMPLES), "timestamp": stamp(1.0), "participant": ZOE}
    told = of_recall(recall("audio_separate_raw.data", inner))
    found = joint(read("recall", told), sent(told), "call")
    (heard,) = found.events
    assert isinstance(heard, Heard) and heard.speaker is not None
    assert (found.meeting, heard.speaker.handle, heard.speaker.bot) == ("c-7", "200", "bot-1")
    carried = read("meetingbaas", BAAS_HELLO).carried
    mixed = read("meetingbaas", SAMPLES, binary=True, carried=carried, connection="c")
    whole = sent(SAMPLES, binary=True, carried=carried, connection="c", query={"call": "c-7"})
    assert mixed.meeting == "b-1" and joint(mixed, whole, "call").meeting == "c-7"


def test_each_id_is_the_bots_own() -> None:
    line = says(who("7", "Ana"), "Hello.", 1.0, id="u1", slot="s")
    events = (line, Joined(key="j", speaker=who("7")), Withdrawn(key="w", id="u1"), Began(key="b", invited=(who("7"),)))
    one, other = told_by(events, "one"), told_by(events, "other")
    for mine, theirs in zip(one, other, strict=True):
        assert mine != theirs
    uttered, joined, withdrawn, began = one
    assert isinstance(uttered, Uttered) and isinstance(joined, Joined) and isinstance(began, Began)
    assert isinstance(withdrawn, Withdrawn) and withdrawn.id == uttered.id and uttered.slot == "one s"
    assert {uttered.speaker.bot, joined.speaker.bot, *(speaker.bot for speaker in began.invited)} == {"one"}
    assert told_by(told_by((says(None, "Hi.", 1.0),), "one"), "one") == told_by((says(None, "Hi.", 1.0),), "one")


async def test_what_is_taken_in_goes_to_the_calls_meeting_and_not_to_the_bots(tmp_path: Path) -> None:
    (tmp_path / "hooks.toml").write_text('[sources.s]\nprovider = "attendee"\nspace = "home"\nmeeting_from = "call"\n')
    sources = Sources(tmp_path / "hooks.toml", lambda name: None)
    source = sources.get("s")
    reception = Reception(cast(Graph, None), sources, cast(Inbox, None), str)  # it is not kept here
    proved = Proved(source, connector("attendee"), ())
    for bot, call in (("bot_1", CALL), ("bot_2", CALL), ("bot_3", {})):
        found = await reception.sort(proved, sent({**attendee_line(), "bot_id": bot, "bot_metadata": call}))
        assert found.new is not None and found.new.meeting == ("c-7" if call else bot)


@pytest.mark.parametrize("provider", CONNECTORS)
def test_a_source_names_the_field_where_its_provider_has_such_metadata(provider: str) -> None:
    text = f'[sources.s]\nprovider = "{provider}"\nspace = "home"\nmeeting_from = '
    if connector(provider).declared.metadata is None:
        with pytest.raises(SourcesUnreadable, match=f"those of {provider} have not"):
            parse(f'{text}"call"', Path("hooks.toml"))
    else:
        assert parse(f'{text}"call"', Path("hooks.toml"))["s"].meeting_from == "call"
        for wrong in ("7", '" "', '["call"]'):
            with pytest.raises(SourcesUnreadable, match="meeting_from is the name of a field"):
                parse(f"{text}{wrong}", Path("hooks.toml"))
