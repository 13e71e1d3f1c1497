"""What goes with somebody who is erased, and what is others' and stays?"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from service.memory.erasure import Fate, facts_that_go, fate, holds, is_left, names_of, redacted, survivors_of
from service.types.erasure import FactSeen, Held, Needles

DANA = "0199-77aa"
NEEDLES = Needles((DANA,), ("dana", "dana quill"))


def held(label: str, property: str, value: Any) -> Held:
    return Held("n", label, property, value)


def test_a_name_that_somebody_else_has_is_not_theirs_alone() -> None:
    assert names_of(["Dana Quill", "DQ", None, "x"], ["Ben"]) == (("dana", "dana quill", "dq"), ())
    assert names_of(["Dana Quill", "Dana"], ["Dana Smith"]) == (("dana quill",), ("dana",))


def test_a_name_is_a_word_and_no_piece_of_one() -> None:
    assert holds("Ask DANA, please", ["dana"]) and holds("Dana's car", ["dana"]) and holds("Dana\n Quill", ["dana quill"])
    assert not holds("Danae and Bandana", ["dana"]) and not holds("anything", [])
    assert holds("Ask Will", ["will"]) and holds("will", ["will"]) and not holds("She will ask", ["will"])


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
    assert set(facts_that_go(seen, ["dana", "dana quill"], ["kim"])) == gone


def test_others_words_keep_the_name_and_nothing_keeps_the_id() -> None:
    assert not is_left(held("Message", "text", "Dana, come here"), NEEDLES)
    assert is_left(held("Message", "readers", f"x {DANA.replace('-', '')}"), NEEDLES)
    assert not is_left(held("Person", "id", DANA), NEEDLES) and not is_left(held("AuditEvent", "target", DANA), NEEDLES)
    assert is_left(held("AuditEvent", "why", "She is Dana"), NEEDLES)
    assert fate(held("Entity", "normal_name", "dana's car"), NEEDLES) is Fate.GOES
    assert fate(held("Session", "title", "Tea with Dana"), NEEDLES) is Fate.STAYS


def test_a_string_is_mended_where_it_stands() -> None:
    assert redacted(held("Session", "title", "Tea with Dana Quill and Ben"), NEEDLES) == "Tea with [erased] and Ben"
    assert redacted(held("Session", "roster", [DANA, "ben"]), NEEDLES) == ["ben"]
    assert redacted(held("SPEAKS", "runner_up_id", DANA), NEEDLES) is None
    assert redacted(held("Person", "named_by", DANA), NEEDLES) == "erased"
    assert redacted(held("LocalSpeaker", "label", "Dana (phone)"), NEEDLES) == "erased"
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
