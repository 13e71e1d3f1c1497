import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.bench.chat import Chat, ModelFailed, ReaderConfig
from tests.bench.report import Report, Row
from tests.bench.retrieval import answers, peers
from tests.bench.retrieval.__main__ import fewer, show
from tests.bench.retrieval.evaluate import LOCOMO_GROUPS, QMSUM_GROUPS, add_rows, judged
from tests.bench.retrieval.gold import Corpus, Findings, Found
from tests.bench.retrieval.plots import draw
from tests.bench.retrieval.views import said
from tests.unit.bench.chat_model import Model, serving
from tests.unit.bench.test_retrieval_legs import Letters, a_corpus

CORPUS = a_corpus()
TOKENS = {turn.id: 10 for turn in CORPUS.turns}


def at_rank(rank: int, *, seconds: float | None = None, rounds: int = 1) -> Findings:
    """Each question's gold at `rank`, from 1, among turns that are none."""
    found = {}
    for question in CORPUS.questions:
        others = [turn.id for turn in CORPUS.turns if turn.id not in question.gold]
        found[question.id] = Found((*others[: rank - 1], *question.gold, *others[rank - 1 :]), seconds, rounds)
    return found


def rows_of(report: Report) -> dict[tuple[str, str, str], Row]:
    return {(row.metric, row.condition, row.system): row for row in report.rows}


def test_rows_tell_each_metric_of_each_system_and_the_gains_of_ours():
    report = Report("retrieval")
    found = {"ours": at_rank(2, seconds=0.25, rounds=2), "bm25": at_rank(9)}
    add_rows(report, judged("locomo", [CORPUS], found, TOKENS), LOCOMO_GROUPS)
    rows = rows_of(report)
    n = len(CORPUS.questions)
    assert (rows["recall_at_5", "locomo/all", "ours"].value, rows["recall_at_5", "locomo/all", "ours"].n) == (1.0, n)
    assert rows["recall_at_5", "locomo/open", "bm25"].value == 0.0
    assert rows["mrr", "locomo/cats_1_4", "ours"].value == 0.5
    assert rows["tokens_at_15", "locomo/all", "bm25"].value == 150
    assert rows["rounds", "locomo/all", "ours"].value == 2
    assert rows["p95_ms", "locomo/all", "ours"].value == pytest.approx(250)
    assert ("p95_ms", "locomo/all", "bm25") not in rows
    gain = rows["recall_at_5_over_bm25", "locomo/all", "ours"]
    assert (gain.value, gain.ci95) == (1.0, (1.0, 1.0))
    assert not any(condition == "locomo/multi_hop" for _, condition, _ in rows)


def test_corrected_citations_count_instead_and_wrong_questions_not_at_all():
    first, second, *others = CORPUS.questions
    elsewhere = dataclasses.replace(first, corrected=(CORPUS.turns[-1].id,))
    same = [dataclasses.replace(q, corrected=q.gold) for q in others]
    audited = Corpus("c", CORPUS.turns, (elsewhere, second, *same))
    of = judged("locomo_corrected", [audited], {"bm25": at_rank(1)}, TOKENS, corrected=True)
    assert len(of.questions) == len(CORPUS.questions) - 1
    assert of.systems["bm25"]["recall_at_5"].tolist() == [0.0, *(1.0 for _ in others)]


def test_a_system_that_was_not_asked_everything_is_refused():
    with pytest.raises(KeyError):
        judged("locomo", [CORPUS], {"bm25": dict(list(at_rank(1).items())[1:])}, TOKENS)


def test_intervals_of_meetings_are_over_meetings():
    of = judged("qmsum", [CORPUS], {"bm25": at_rank(3)}, TOKENS, by_corpus=True)
    assert of.clusters == ("c",) * len(CORPUS.questions)
    report = Report("retrieval")
    add_rows(report, of, QMSUM_GROUPS)
    row = rows_of(report)["mrr", "qmsum/testval", "bm25"]
    assert row.ci95 == pytest.approx((1 / 3, 1 / 3))


def test_fewer_questions_are_a_part_of_all():
    assert fewer(CORPUS).questions == CORPUS.questions


def test_tables_and_pictures_show_every_condition(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    report = Report("retrieval")
    found = {"ours": at_rank(2), "bm25": at_rank(9)}
    add_rows(report, judged("locomo", [CORPUS], found, TOKENS), LOCOMO_GROUPS)
    show(report)
    assert "locomo/open" in capsys.readouterr().out
    drawn = draw(tmp_path / "pictures", report.rows)
    assert {path.name for path in drawn} == {"locomo_recall.png", "locomo_groups.png", "locomo_gains.png"}
    assert all(path.stat().st_size > 5_000 for path in drawn)


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as server:
        yield server


def test_answers_are_judged_strictly_and_generously(model: Model):
    """The model answers with the last word of the first turn, "mine." or "0?"; the right answer of some holds more."""
    questions = tuple(
        dataclasses.replace(q, answer="It is mine." if i else "mine.", corrected=q.gold if i else None)
        for i, q in enumerate(CORPUS.questions[::2])
    )
    corpus = Corpus("c", CORPUS.turns, questions)
    found = {q.id: Found((CORPUS.turns[1].id, CORPUS.turns[7].id)) for q in questions}
    report, reader = Report("retrieval"), answers.Reader(Chat(ReaderConfig(model.url, "", "small")))
    answers.add_rows(report, "locomo", [corpus], {"ours": found, "again": found}, reader, share=1.0)
    rows = rows_of(report)
    n = len(questions)
    assert rows["answer_accuracy_strict", "locomo/cats_1_4", "ours"].value == pytest.approx(1 / n)
    assert rows["answer_accuracy_lenient", "locomo/cats_1_4", "ours"].value == 1.0
    assert rows["answer_accuracy_ceiling", "locomo/cats_1_4", "ours"].value == pytest.approx((n - 1) / n)
    assert len(model.asked) == 3 * n
    said_to_it = str(model.asked[0]["messages"])
    assert said(CORPUS)[1] in said_to_it


def test_a_model_that_fails_ends_the_measurement(model: Model):
    model.broken = True
    reader = answers.Reader(Chat(ReaderConfig(model.url, "", "small")))
    question = CORPUS.questions[0]
    with pytest.raises(ModelFailed, match="HTTP 500"):
        reader.verdicts([answers.Task(question, ("a turn",))], "read")


def test_peers_are_given_the_same_turns_and_vectors(tmp_path: Path):
    peers.write_task(tmp_path, [CORPUS], Letters())
    task = json.loads((tmp_path / "task.json").read_text())
    (store,) = task["stores"]
    assert [turn["text"] for turn in store["turns"]] == said(CORPUS)
    assert {(turn["by"], turn["to"]) for turn in store["turns"]} == {("Ana", "Bo"), ("Bo", "Ana")}
    vectors = np.load(tmp_path / "vectors.npz")
    assert vectors["passages"].shape == (len(task["passages"]), 26)
    assert set(store["people"]) <= set(task["passages"])
    assert [q["text"] for q in store["questions"]] == [q.text for q in CORPUS.questions]


def test_what_a_peer_gives_twice_counts_once(tmp_path: Path):
    (tmp_path / "found.json").write_text('{"q": {"ids": ["b", "a", "b"], "seconds": 0.5}}')
    assert peers.read_found(tmp_path / "found.json") == {"q": Found(("b", "a"), 0.5)}
