from collections.abc import Iterator

import pytest

from tests.bench.chat import ModelFailed, ReaderConfig
from tests.bench.locomo_id.collections import Query
from tests.bench.locomo_id.qa import Reader, Task, sample
from tests.unit.bench.chat_model import Model, serving
from tests.unit.bench.collections_made import an_utterance


@pytest.fixture
def model() -> Iterator[Model]:
    with serving() as server:
        yield server


def a_question(name: str, answer: str, category: int = 4) -> Query:
    return Query(name, an_utterance("ana"), "clean", "What did I buy?", ("Ana", "Ben"), frozenset(), answer, category)


def test_an_answer_is_right_when_the_model_says_so_and_the_asker_was_recognised(model: Model):
    tasks = [
        Task(a_question("q1", "violin"), ("I bought a violin",)),
        Task(a_question("q2", "violin"), ("I bought a trumpet",)),
        Task(a_question("q3", "violin"), ("I bought a violin",), authorised=False),
        Task(a_question("q4", "", category=5), ()),
    ]
    tally = Reader(ReaderConfig(model.url, "secret", "small")).tally(tasks)
    assert tally == {"answered": 4, "right_answers": 2}
    assert {body["model"] for body in model.asked} == {"small"}
    assert set(model.keys) == {"Bearer secret"}


def test_the_same_question_over_the_same_turns_is_asked_once(model: Model):
    reader = Reader(ReaderConfig(model.url, "", "small"))
    task = Task(a_question("q1", "violin"), ("I bought a violin",))
    reader.tally([task])
    asked = len(model.asked)
    assert reader.tally([task])["right_answers"] == 1
    assert len(model.asked) == asked == 2
    assert set(model.keys) == {None}


def test_a_model_that_fails_says_which_and_how(model: Model):
    model.broken = True
    with pytest.raises(ModelFailed, match=r"HTTP 500.*OPENAI_BASE_URL"):
        Reader(ReaderConfig(model.url, "", "small")).tally([Task(a_question("q1", "violin"), ("a violin",))])


def test_nothing_is_read_without_an_address(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert ReaderConfig.from_environment() is None
    monkeypatch.setenv("OPENAI_BASE_URL", "http://here/v1/")
    monkeypatch.setenv("OPENAI_MODEL", "small")
    config = ReaderConfig.from_environment()
    assert config is not None
    assert (config.url, config.model) == ("http://here/v1", "small")


def test_a_sample_is_the_same_in_every_run():
    questions = [a_question(f"q{i}", "") for i in range(1_000)]
    assert sample(questions, 0.1) == sample(questions, 0.1)
    assert 50 < len(sample(questions, 0.1)) < 150
