"""What goes with somebody who is erased, and what is others' and stays?"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_schema.schema import EDGES, NODES
from service.memory.erased_names import (
    Names,
    holds,
    is_noted,
    is_word,
    named,
    names_of,
    notes,
    spans,
    without_names,
)
from service.memory.erasure import (
    KINDS,
    TELLS,
    Fate,
    facts_that_go,
    fate,
    is_elsewhere,
    is_left,
    named_elsewhere,
    redacted,
    survivors_of,
)
from service.types.erasure import FactSeen, Held, Needles

DEEP = "[" * 2_000, "[" * 500 + '"Dana"' + "]" * 500, '{"a":' * 990 + "1" + "}" * 990
DANA = "0199-77aa"
NEEDLES = Needles((DANA,), ("dana", "dana quill"))


def held(label: str, property: str, value: Any) -> Held:
    return Held("n", label, property, value)


@pytest.mark.parametrize("text", DEEP, ids=["open", "a name far below", "as deep as is read"])
def test_what_looks_like_deep_json_stops_no_erasing(text: str) -> None:
    """Anybody can say that, or name something so."""
    for label, property in (("Job", "result"), ("Session", "title")):
        assert is_left(held(label, property, text), NEEDLES) == ("Dana" in text)
        if "Dana" in text and property == "title":
            assert redacted(held(label, property, text), NEEDLES) == text.replace("Dana", "[erased]")


def test_a_name_that_somebody_else_has_or_that_is_a_word_is_not_theirs_alone() -> None:
    assert names_of(["Dana Quill", "DQX", None, "x"], ["Ben"]) == Names(("dana", "dana quill", "dqx"))
    assert names_of(["Dana Quill", "Dana"], ["Dana Smith"]) == Names(("dana quill",), (), ("dana",))
    assert names_of(["Will Smith", "the", "Al"], []) == Names(("will smith",), ("al", "the", "will"))
    assert names_of(["Dana"], [], ["Dana", "Paris office"]) == Names(("dana",), ("paris", "paris office")), "anybody types"
    assert names_of(["Melon"], [], words=["melon"]) == Names((), ("melon",))
    assert is_word("melon", ["The melon was sweet", "A Melon"]) and not is_word("dana", ["Ask Dana", "dana quill? no", "dana"])


def test_a_name_is_a_word_and_no_piece_of_one() -> None:
    assert holds("Ask DANA, please", ["dana"]) and holds("Dana's car", ["dana"]) and holds("Dana\n Quill", ["dana quill"])
    assert not holds("Danae and Bandana", ["dana"]) and not holds("anything", [])
    assert holds("Ask Will", ["will"]) and holds("will", ["will"]) and not holds("She will ask", ["will"])
    for words in ("{speaker} will go to Paris", "Who will bring it?", "What We Will Do", "Will you go", "WILL YOU GO"):
        assert not named(words, ["will"], ["will"] if words[0] == "{" else ())
    assert named("I asked Will twice", ["will"]) and named("Will", ["will"]) and named("Will is ill", ["will"], ["will"])
    assert without_names("will Will do it", ["dana"], ["will"]) == "will [erased] do it"


@pytest.mark.parametrize(
    ("name", "text", "mended"),
    [
        ("strauss", "tea with Strauß, then", "tea with [erased], then"),
        ("dana", "Ｄａｎａ ist da", "[erased] ist da"),
        ("josé", "Ask Jose\u0301, please", "Ask [erased], please"),
        ("dana quill", "Ask Dana \n\u00a0Quill", "Ask [erased]"),
        ("d@x.org", "Write to d@x.org, please", "Write to [erased], please"),
        ("o'brien", "Ask Mr o’Brien", "Ask Mr [erased]"),
        ("王伟", "我和王伟去", "我和[erased]去"),
        ("민수", "민수가 왔다", "[erased]가 왔다"),
    ],
)
def test_a_name_is_found_in_whatever_letters_it_is_written(name: str, text: str, mended: str) -> None:
    assert holds(text, [name]) and without_names(text, [name]) == mended and not holds(mended, [name])


@given(st.text(), st.sampled_from(["dana", "strauss", "josé", "王伟"]))
def test_where_a_name_stands_is_in_the_text_as_it_is_written(text: str, name: str) -> None:
    for start, end in spans(f"{text} {name} {text}", [name]):
        assert 0 <= start < end <= 2 * len(text) + len(name) + 2


def test_a_name_that_others_call_is_noted_where_they_do_and_not_read_out_of_it_again() -> None:
    names = Names(("dana", "dana quill", "王伟", "d@x.org"), ("will",))
    noted = notes("monday", ["Ask Dana and Will, please", "我和王伟去", "Write to d@x.org", "Quill"], names)
    assert len(noted) == 4 and not any(name in told for told in noted for name in ("dana", "will"))
    for told in ("Dana is fond of ladders", "{speaker} asked Will", "王伟很高", "Dana Quill's", "Will", "at d@x.org"):
        assert is_noted("monday", noted, told) and not is_noted("tuesday", noted, told)
    for told in ("{speaker} will go", "Danae is fond of ladders", "Quill is ill"):
        assert not is_noted("monday", noted, told)


def test_an_id_that_its_caller_chose_is_no_piece_of_a_word() -> None:
    needles = Needles(("ana",))
    assert not is_left(held("Session", "title", "banana ana-lysis"), needles)
    assert is_left(held("Event", "counts", '{"ana": 1}'), needles)
    assert not is_left(held("Message", "text", "ana"), needles), "what others said is theirs"


def test_a_fact_goes_without_support_and_stays_with_it() -> None:
    seen = [
        FactSeen("own", "{speaker} hid it", None, True, ("I hid it",)),
        FactSeen("owes", "The sapphire is safe", None, False, ("I hid the sapphire",), ("It is safe",)),
        FactSeen("kept", "It is safe", None, False, ("I hid the sapphire",), ("It is safe",)),
        FactSeen("about", "Dana likes ladders", None, False),
        FactSeen("value", "{speaker} calls", "Dana Quill", False),
        FactSeen("told", "{speaker} promised {addressee} a cake", None, False, told_them=True),
        FactSeen("told of others", "{speaker} promised a cake", None, False, told_them=True),
        FactSeen("namesake", "Kim likes ladders", None, False),
        FactSeen("of a shared name there", "Kim likes ladders", None, False, where_they_were=True),
    ]
    gone = {"own", "owes", "about", "value", "told", "of a shared name there"}
    names = Names(("dana", "dana quill"), ("will",), ("kim",))
    assert set(facts_that_go(seen, names)) == gone
    asked = FactSeen("asked", "{speaker} will go to Paris", None, False, where_they_were=True)
    assert facts_that_go([asked, replace(asked, statement="Will is ill")], names) == (), "a word"
    assert facts_that_go([replace(asked, statement="Will is ill", people=("will",))], names) == ("asked",)
    assert facts_that_go([FactSeen("far", "We asked Will", None, False)], names) == ()
    assert named_elsewhere(seen, names) == {"about", "value"}


def test_others_words_keep_the_name_and_nothing_keeps_the_id() -> None:
    assert not is_left(held("Message", "text", "Dana, come here"), NEEDLES)
    assert is_left(held("Message", "readers", f"x {DANA.replace('-', '')}"), NEEDLES)
    assert not is_left(held("Person", "id", DANA), NEEDLES) and not is_left(held("AuditEvent", "target", DANA), NEEDLES)
    assert is_left(held("AuditEvent", "why", "She is Dana Quill"), NEEDLES)
    assert not is_left(held("AuditEvent", "why", "Dana said so"), NEEDLES), "a first name in a reason may be anybody's"
    assert not is_left(held("Consent", "evidence", "Dana Quill's letter"), NEEDLES)
    assert fate(held("Entity", "normal_name", "dana's car"), NEEDLES) is Fate.GOES
    assert fate(held("Session", "title", "Tea with Dana"), NEEDLES) is Fate.STAYS
    assert fate(held("Query", "text", "What did Dana say?"), NEEDLES) is Fate.STAYS, "others asked it"
    assert is_elsewhere(held("Fact", "statement", "Dana is ill"), NEEDLES)
    assert not is_elsewhere(held("Query", "about", [DANA]), NEEDLES)


def test_every_string_of_the_graph_is_one_that_somebody_wrote_or_a_kind_of_something() -> None:
    strings = {p.name for one in (*NODES, *EDGES) for p in one.properties if p.type in ("string", "list<string>")}
    assert strings == TELLS | KINDS and not TELLS & KINDS
    link = Needles((DANA,), ("complete", "link"), ("plan",))
    for label, property, value in (("Session", "status", "complete"), ("SPEAKS", "decision", "link"), ("Fact", "kind", "plan")):
        assert not is_left(replace(held(label, property, value), there=True), link)
    record = json.dumps({"decision": "link", "name": "Link"})
    assert redacted(held("Correction", "record", record), link) == '{"decision": "link", "name": "[erased]"}'
    assert not is_left(replace(held("Session", "external_id", "plan"), there=True), link)


def test_a_word_is_looked_for_where_they_were_and_as_a_name() -> None:
    will, there = Needles((DANA,), ("will smith",), ("will",)), held("Session", "title", "Tea with Will")
    assert not is_left(there, will), "of another session"
    assert redacted(replace(there, there=True), will) == "Tea with [erased]"
    assert not is_left(replace(there, there=True, value="What we will do"), will)
    assert redacted(replace(there, property="said_to", value=["Will", "cleo"], there=True), will) == ["cleo"]
    marks = json.dumps([{"target": "Will"}, {"target": "what will be"}])
    assert json.loads(redacted(replace(there, property="marks", value=marks, there=True), will)) == [{"target": "what will be"}]
    record = json.dumps({"file": "Straußens Strauß", "n": 1})
    assert redacted(held("Job", "result", record), Needles((), ("strauss",))) == '{"file": "Straußens [erased]", "n": 1}'


def test_a_string_is_mended_where_it_stands() -> None:
    assert redacted(held("Session", "title", "Tea with Dana Quill and Ben"), NEEDLES) == "Tea with [erased] and Ben"
    assert redacted(held("Session", "roster", [DANA, "ben"]), NEEDLES) == ["ben"]
    assert redacted(held("SPEAKS", "runner_up_id", DANA), NEEDLES) is None
    assert redacted(held("Person", "named_by", DANA), NEEDLES) == "erased"
    assert redacted(held("LocalSpeaker", "label", "Dana (phone)"), NEEDLES) == "erased"
    rooms = [redacted(Held(f"4:x:{n}", "Session", "external_id", name), NEEDLES) for n, name in enumerate(("Dana", "dana"))]
    assert rooms == ["erased-0", "erased-1"], "no two sessions have one"
    marks = json.dumps([{"target": "Dana"}, {"target": "ladders"}])
    assert redacted(held("Message", "marks", marks), NEEDLES) == json.dumps([{"target": "ladders"}])
    assert redacted(held("Message", "marks", json.dumps([{"target": "Dana"}])), NEEDLES) is None


@given(st.text(), st.text(alphabet="danquil ABß’'-x\n", min_size=0), st.sampled_from(["title", "label", "why", "record"]))
def test_nothing_is_left_in_what_was_mended(before: str, after: str, property: str) -> None:
    """However it is written, one look finds it and the next does not."""
    told = held("Session", property, f"{before} Dana {after} {DANA} Dana\tQUILL {DANA.replace('-', '')}")
    assert is_left(told, NEEDLES)
    assert not is_left(held("Session", property, redacted(told, NEEDLES)), NEEDLES)


def a_correction(**record: Any) -> dict[str, Any]:
    scores = {"speaks": {"cosine": 0.5, "runner_up_id": DANA}, "uttered": {}, "decision": "link", "reason": None}
    turns = [{"message_id": m, "speaker_id": p, **scores} for m, p in (("m1", "ben"), ("m2", DANA), ("m3", None))]
    whole = {
        "revision": 3, "to": "cleo", "turns": turns, "counts": {"ben": [-1, -2.0], DANA: [-1, -2.0]}, "tracks": {
            "t1": {"person_id": DANA, "properties": {}}, "t2": {"person_id": "ben", "properties": {"runner_up_id": DANA}}},
        "exemplars": [{"id": "e", "owner": DANA, "now": None}, {"id": "f", "owner": "ben", "now": "cleo"}],
        "sessions": {"s": {"attendance": [[DANA]]}}, "names": {"x": DANA}, "not_same": [["cleo", DANA]], "split": None,
        **record,
    }  # fmt: skip
    people, messages = ["ben", "cleo", DANA], ["m1", "m2", "m3"]
    return {"id": "c", "kind": "reassign", "people": people, "messages": messages, "record": json.dumps(whole)}


def test_what_undoing_restores_is_of_survivors_only() -> None:
    kept = survivors_of(a_correction(), {DANA}, {"m3"})
    assert kept is not None and DANA not in json.dumps(kept) and "m3" not in json.dumps(kept)
    record = json.loads(kept["record"])
    assert kept["messages"] == ["m1"] and record["turns_erased"] == 2 and record["counts"] == {"ben": [-1, -2.0]}
    assert survivors_of(a_correction(), {"ben", DANA}, {"m3"}) is None
    merge = {"id": "c", "kind": "merge", "people": ["ben", DANA], "messages": [], "record": "{}"}
    assert survivors_of(merge, {DANA}, set()) is None


def test_that_somebody_is_a_bot_can_be_undone_when_another_who_was_marked_with_them_is_erased() -> None:
    record = {"bots": ["ben", DANA], "revision": 3}
    bots = {"id": "c", "kind": "bot", "people": ["ben", DANA], "messages": [], "record": json.dumps(record)}
    kept = survivors_of(bots, {DANA}, set())
    assert kept is not None and kept["people"] == ["ben"]
    assert json.loads(kept["record"]) == {"bots": ["ben"], "revision": 3}
    assert survivors_of(bots, {"ben", DANA}, set()) is None
