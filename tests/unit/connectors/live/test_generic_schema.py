"""Our own protocol says what it was given, whole or not at all; and its JSON Schema is what it reads."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.hooks import HooksConfig
from service.api.http import HttpConfig
from service.connectors.live import EventUnreadable
from service.connectors.live.generic_fields import KINDS, SPEAKERS
from service.connectors.live.generic_schema import EVENTS, REQUIRED, binary, message, parse, read_binary, read_text, schema
from service.types.audio import Segment, Word
from service.types.meeting import NOBODY, AccountKey, Base, Heard, MeetingEvent, Speaker, Uttered
from tests.unit.connectors.live.meeting_events import events, heard

ROOT = Path(__file__).parents[4]
SCHEMA = schema()
HELLO = {"meeting": "m1", "type": "uttered", "text": "Hello.", "start": 1.0, "end": 1.6}


def refused(document: Any) -> EventUnreadable:
    with pytest.raises(EventUnreadable) as refusal:
        parse(document)
    return refusal.value


@given(st.lists(events, max_size=4))
def test_what_is_written_is_read_again(told: list[MeetingEvent]) -> None:
    assert read_text(json.dumps(message("m1", told)).encode()).events == tuple(told)


@given(heard())
def test_a_piece_of_sound_in_a_binary_message_is_what_it_is_in_json(piece: Heard) -> None:
    assert read_binary(binary("m1", piece)) == read_text(json.dumps(message("m1", [piece])).encode())


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for read in (read_text, read_binary):
        try:
            read(body)
        except EventUnreadable as refusal:
            assert refusal.facts["place"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([10**400, "\ud800", -1]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "start", "handle"]), inner, max_size=2)
    ),
    max_leaves=3,
)


@given(events, st.data())
def test_a_field_that_is_anything_is_read_or_refused_by_its_name(event: MeetingEvent, data: st.DataObject) -> None:
    document = message("m1", [event])
    name = data.draw(st.sampled_from(sorted({*document, *(field.name for field in fields(event))})))
    document[name] = data.draw(ANYTHING)
    try:
        (read,) = parse(document).events
    except EventUnreadable as refusal:
        place = str(refusal.facts["place"])
        assert place.split(".")[0].split("[")[0] in {name, "start", "end", "words", "text"} or name == "type", place
        return
    said = json.dumps(document, ensure_ascii=False)
    assert not isinstance(read, Uttered) or name == "text" or read.text in said or read.text in str(document)


def test_a_plain_event_is_all_that_a_bot_has_to_send() -> None:
    (event,) = parse(HELLO).events
    assert event == Uttered(key=event.key, speaker=NOBODY, text="Hello.", start=1, end=1.6, base=Base.MEETING)


def test_everything_that_an_utterance_may_have() -> None:
    speaker = {"handle": "7", "scope": "c2", "name": "Ana", "email": "Ana@Example.com", "is_host": True, "confidence": 0.5}
    word = {"text": "Hello.", "start": 1, "end": 1.6, "confidence": 0.9}
    sent = {**HELLO, "speaker": speaker, "id": "u1", "final": False, "revision": 2, "words": [word], "source": "caption"}
    (event,) = parse({"meeting": "m1", "events": [{name: sent[name] for name in sent if name != "meeting"}]}).events
    ana = Speaker("7", "c2", "Ana", email=AccountKey("mailto", "ana@example.com"), is_host=True, confidence=0.5)
    assert isinstance(event, Uttered)
    assert (event.speaker, event.id, event.final, event.revision, event.source) == (ana, "u1", False, 2, "caption")
    assert event.words == (Word("Hello.", Segment(1, 1.6), 0.9),)


@pytest.mark.parametrize("name", ["Unknown", "", "guest", "null"])
def test_a_name_that_only_says_that_nobody_knows_is_none(name: str) -> None:
    (event,) = parse({**HELLO, "speaker": {"handle": "7", "name": name}}).events
    assert isinstance(event, Uttered) and event.speaker == Speaker("7")


def test_the_same_thing_told_twice_has_the_same_key_and_another_has_another() -> None:
    (first,) = parse(HELLO).events
    (again,) = parse({name: HELLO[name] for name in reversed(HELLO)} | {"speaker": None, "base": "meeting"}).events
    (other,) = parse({**HELLO, "end": 1.7}).events
    (named,) = parse({**HELLO, "key": "mine"}).events
    assert first.key == again.key != other.key and named == replace(first, key="mine")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"type": "utered"}, "type"),
        ({"meeting": ""}, "meeting"),
        ({"meeting": 7}, "meeting"),
        ({"text": " "}, "text"),
        ({"text": "a" * 20_001}, "text"),
        ({"speeker": {}}, "speeker"),
        ({"speaker": "Ana"}, "speaker"),
        ({"speaker": {"id": "7"}}, "speaker.id"),
        ({"speaker": {"email": "ana"}}, "speaker.email"),
        ({"speaker": {"account": {"issuer": "zoom"}}}, "speaker.account.subject"),
        ({"end": 0.5}, "end"),
        ({"start": True}, "start"),
        ({"start": float("nan")}, "start"),
        ({"start": 1_772_442_000.0, "end": 1_772_442_001.0}, "start"),
        ({"base": "epoch"}, "start"),
        ({"base": "epoch", "start": 1_772_442_000_000, "end": 1_772_442_001_000}, "start"),
        ({"words": [{"text": "Hello.", "start": 2, "end": 1}]}, "words[0].end"),
        ({"at": "2026-03-02T09:00:00"}, "at"),
        ({"at": "yesterday"}, "at"),
        ({"confidence": 1.2}, "confidence"),
        ({"final": 1}, "final"),
        ({"source": "rumour"}, "source"),
        ({"events": []}, "type"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_by_its_field(change: dict[str, Any], place: str) -> None:
    assert refused({**HELLO, **change}).facts["place"] == place


def test_an_event_of_several_is_named_by_its_place_and_none_of_them_is_taken() -> None:
    spoken = {name: value for name, value in HELLO.items() if name != "meeting"}
    assert refused({"meeting": "m1", "events": [spoken, {**spoken, "text": 3}]}).facts["place"] == "events[1].text"


def test_every_field_of_every_event_is_in_the_table() -> None:
    for name, kind in EVENTS.items():
        assert {field.name for field in fields(kind)} <= set(KINDS), name
        assert set(REQUIRED.get(name, ())) <= {field.name for field in fields(kind)}
    assert set(EVENTS) == {kind.__name__.lower() for kind in MeetingEvent.__subclasses__()}


@given(st.lists(events, min_size=1, max_size=3))
def test_the_schema_allows_what_is_written(told: list[MeetingEvent]) -> None:
    document = json.loads(json.dumps(message("m1", told)))
    assert sum(allows(branch, document) for branch in SCHEMA["oneOf"]) == 1


def test_the_schema_refuses_what_is_not_read() -> None:
    changes: list[dict[str, Any]] = [
        {"type": "utered"},
        {"speeker": {}},
        {"text": None},
        {"speaker": {"id": "7"}},
        {"final": 1},
    ]
    for change in changes:
        assert not any(allows(branch, {**HELLO, **change}) for branch in SCHEMA["oneOf"]), change


def allows(stated: dict[str, Any], value: Any) -> bool:
    """What of JSON Schema is used here, as its specification has it."""
    kinds: dict[str, tuple[type, ...]] = {
        "object": (dict,), "array": (list,), "string": (str,), "number": (int, float), "integer": (int,), "boolean": (bool,),
    }  # fmt: skip
    if "$ref" in stated:
        named = SCHEMA["$defs"][stated["$ref"].removeprefix("#/$defs/")]
        own = {"properties": {**named["properties"], **stated.get("properties", {})}}
        own["required"] = [*named["required"], *stated.get("required", [])]
        is_closed = stated.get("unevaluatedProperties", named.get("additionalProperties")) is False
        return allows({**named, **own, "additionalProperties": not is_closed}, value)
    if "oneOf" in stated:
        return sum(allows(branch, value) for branch in stated["oneOf"]) == 1
    if "const" in stated or "enum" in stated:
        return value in stated.get("enum", [stated.get("const")])
    kind = stated["type"]
    if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if isinstance(value, dict):
        inside = stated["properties"]
        assert stated["additionalProperties"] is False
        known = all(name in inside and allows(inside[name], item) for name, item in value.items())
        return known and all(name in value for name in stated["required"])
    if isinstance(value, list):
        return len(value) <= stated.get("maxItems", len(value)) and all(allows(stated["items"], item) for item in value)
    if isinstance(value, str):
        return stated.get("minLength", 0) <= len(value) <= stated.get("maxLength", len(value))
    return isinstance(value, bool) or bool(stated.get("minimum", value) <= value <= stated.get("maximum", value))


# ---- the page


PAGE = (ROOT / "service/connectors/GENERIC.md").read_text()


def test_the_schema_that_is_handed_out_is_the_one_of_the_table() -> None:
    assert json.loads((ROOT / "service/connectors/generic.schema.json").read_text()) == SCHEMA


@pytest.mark.parametrize("shown", re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL), ids=lambda shown: shown[:60])
def test_what_the_page_shows_is_read(shown: str) -> None:
    document = json.loads(shown)
    if document.get("type") == "heard":
        header = json.dumps(document).encode()
        assert read_binary(struct.pack("<I", len(header)) + header + b"\0\0").events
    else:
        assert parse(document).events


def test_the_page_says_how_long_a_message_may_be() -> None:
    said = " ".join(PAGE.split())
    assert f"with 1009: a message over {HttpConfig().max_body_bytes // 1024} KB" in said
    megabytes = f"{HooksConfig().max_body_bytes // 1_000_000} MB"
    assert f"| 413 | over {megabytes};" in said and f"by POST, which takes {megabytes}" in said


def test_the_page_names_every_event_and_every_field_and_what_each_needs() -> None:
    lines = [[cell.strip() for cell in line.split("|")[1:]] for line in PAGE.splitlines() if line.startswith("| `")]
    rows = {name: columns[1:3] for columns in lines for name in re.findall(r"`(\w+)`", columns[0])}
    for name, kind in EVENTS.items():
        needs, may = (set(re.findall(r"`(\w+)`", column)) for column in rows[name])
        assert needs == set(REQUIRED.get(name, ())), name
        assert needs | may == {field.name for field in fields(kind)} - {"key", "at"}, name
    assert all(f"{name}" in PAGE for name in SPEAKERS)
