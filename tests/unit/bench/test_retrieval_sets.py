import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.retrieval.gold import pooled
from tests.bench.retrieval.locomo import cited, locomo
from tests.bench.retrieval.qmsum import qmsum

KNOWN = {"D1:3", "D8:6", "D9:17", "D11:26", "D30:5"}


@pytest.mark.parametrize(
    ("evidence", "turns"),
    [
        (["D1:3"], ("D1:3",)),
        (["D8:6; D9:17"], ("D8:6", "D9:17")),
        (["D9:17 D8:6 D1:3"], ("D9:17", "D8:6", "D1:3")),
        (["D:11:26"], ("D11:26",)),
        (["D30:05"], ("D30:5",)),
        (["D"], ()),
        (["D10:19", "D1:3"], ("D1:3",)),
        (["D1:3", "D1:3"], ("D1:3",)),
    ],
)
def test_dirty_evidence_names_the_turns_that_exist(evidence: list[str], turns: tuple[str, ...]):
    assert cited(evidence, KNOWN) == turns


@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_evidence_names_known_turns_once(evidence: list[str]):
    found = cited(evidence, KNOWN)
    assert set(found) <= KNOWN
    assert len(set(found)) == len(found)


def a_talk(folder: Path) -> Path:
    turns = [
        {"dia_id": f"D1:{n}", "speaker": ("Ana", "Bo")[n % 2], "text": f"Turn {n}.", "query": "the answer"} for n in (1, 2, 3)
    ]
    turns[1]["blip_caption"] = "a boat"
    questions = [
        {"question": "Which boat?", "answer": 7, "category": 4, "evidence": ["D1:2"]},
        {"question": "Wrong citation?", "answer": "yes", "category": 1, "evidence": ["D1:1"]},
        {"question": "Wrong answer?", "answer": "no", "category": 2, "evidence": ["D1:1"]},
        {"question": "No evidence?", "answer": "no", "category": 3, "evidence": []},
        {"question": "Swapped?", "adversarial_answer": "x", "category": 5, "evidence": ["D1:3"]},
    ]
    talk = {"session_1": turns, "session_1_date_time": "1:56 pm on 8 May, 2023", "session_2_date_time": "an orphan"}
    (folder / "locomo10.json").write_text(json.dumps([{"sample_id": "conv-1", "conversation": talk, "qa": questions}]))
    audit = [
        {"conv": "conv-1", "qa": 1, "type": "WRONG_CITATION", "correct": ["D1:2; D1:3"]},
        {"conv": "conv-1", "qa": 2, "type": "HALLUCINATION", "correct": ["D1:1"]},
    ]
    (folder / "locomo_audit_evidence.json").write_text(json.dumps(audit))
    return folder


def test_a_conversation_is_read_without_what_tells_answers(tmp_path: Path):
    (corpus,) = locomo(a_talk(tmp_path))
    assert [(t.id, t.speaker, t.text, t.caption) for t in corpus.turns] == [
        ("conv-1/D1:1", "Bo", "Turn 1.", ""),
        ("conv-1/D1:2", "Ana", "Turn 2.", "a boat"),
        ("conv-1/D1:3", "Bo", "Turn 3.", ""),
    ]
    assert {(t.session, t.at.isoformat() if t.at else None) for t in corpus.turns} == {("conv-1/1", "2023-05-08T13:56:00")}
    assert corpus.speakers == ("Bo", "Ana")
    assert "the answer" not in repr(corpus)


def test_the_audit_corrects_citations_and_drops_questions_that_are_wrong(tmp_path: Path):
    (corpus,) = locomo(a_talk(tmp_path))
    assert [(q.category, q.gold, q.corrected, q.answer) for q in corpus.questions] == [
        ("single_hop", ("conv-1/D1:2",), ("conv-1/D1:2",), "7"),
        ("multi_hop", ("conv-1/D1:1",), ("conv-1/D1:2", "conv-1/D1:3"), "yes"),
        ("temporal", ("conv-1/D1:1",), None, "no"),
        ("adversarial", ("conv-1/D1:3",), ("conv-1/D1:3",), ""),
    ]


def test_a_meeting_is_read_with_its_central_evidence(tmp_path: Path):
    asked = [
        {"q": "What of it?", "a": "This.", "ces": [1, 0, 1], "pes": [2], "span": [[0, 2]]},
        {"q": "Nothing?", "a": "", "ces": [], "pes": [], "span": []},
        {"q": "Not annotated?", "a": "", "span": []},
    ]
    turns = [["Grad C ", "Nice ."], ["Grad D", "OK ."], ["Grad C", "So ."]]
    meetings = [
        {"id": "Bed1", "domain": "Academic(icsi)", "turns": turns, "qa": asked},
        {"id": "covid", "domain": None, "turns": turns, "qa": asked[1:]},
    ]
    (tmp_path / "qmsum_evidence_train.json").write_text(json.dumps(meetings))
    (corpus,) = qmsum(tmp_path, "train")
    assert (corpus.id, corpus.domain, corpus.speakers, len(corpus.turns)) == ("Bed1", "icsi", ("Grad C", "Grad D"), 3)
    assert [(q.text, q.gold) for q in corpus.questions] == [("What of it?", ("Bed1/1", "Bed1/0"))]


def test_pooled_corpora_keep_their_folds(tmp_path: Path):
    (corpus,) = locomo(a_talk(tmp_path))
    together = pooled([corpus], "pool")
    assert together.turns == corpus.turns
    assert together.folds == {"conv-1/1": "conv-1"}


@pytest.mark.needs_shared
def test_the_sets_hold_what_their_papers_say(shared: Path):
    talks = locomo(shared / "data")
    asked = [q for c in talks for q in c.questions]
    assert (len(talks), sum(len(c.turns) for c in talks), len(asked), sum(len(q.gold) for q in asked)) == (
        10,
        5_882,
        1_982,
        2_820,
    )
    assert sum(q.corrected is not None for q in asked) == 1_883
    meetings = qmsum(shared / "data", "testval")
    assert (len(meetings), sum(len(c.turns) for c in meetings), sum(len(c.questions) for c in meetings)) == (70, 40_841, 480)
