from collections.abc import Sequence
from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.types.audio import EmbeddingSpace, Samples
from tests.bench.retrieval.baselines import LOCOMO, QMSUM, learned, measured
from tests.bench.retrieval.fusion13 import FEATURES, LearnedConfig, Pool, candidates, dates_in, fit, ranked
from tests.bench.retrieval.gold import Corpus, Question, Turn
from tests.bench.retrieval.legs import Legs, ranks, rrf, z
from tests.bench.retrieval.views import VIEWS, names_in, without_names

THINGS = ("boat", "violin", "kite", "tent", "camera", "bicycle", "piano", "garden", "ladder", "radio")


class Letters:
    """A text's vector is how often it has each letter: close enough for texts that share words."""

    embedding_space = EmbeddingSpace("letters", "1", 26)

    def passages(self, texts: Sequence[str]) -> Samples:
        counts = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    queries = passages


def a_corpus(name: str = "c") -> Corpus:
    turns, questions = [], []
    for session in range(4):
        at = datetime(2023, 3 + session, 10, 18)
        for index in range(10):
            thing = THINGS[(3 * session + index) % 10]
            text = f"The {thing} number {session} is mine." if index % 2 else f"Do you like the {thing} of {session}?"
            turns.append(Turn(f"{name}/D{session}:{index}", f"{name}/{session}", index, ("Ana", "Bo")[index % 2], text, "", at))
    for turn in turns[1::6]:
        thing = turn.text.split()[1] if turn.index % 2 else turn.text.split()[4]
        questions.append(Question(f"{name}/{turn.id}", f"What did {turn.speaker} say of the {thing}?", "open", (turn.id,)))
    return Corpus(name, tuple(turns), tuple(questions))


def test_a_turn_is_shown_with_its_day_its_speaker_and_its_photo():
    at = datetime(2023, 5, 8, 13, 56)
    turns = (
        Turn("a", "1", 0, "Ana", "Look at this, Bo!", "a boat", at),
        Turn("b", "1", 1, "Bo", "Nice.", "", at),
        Turn("c", "2", 0, "Ana", "Later.", ""),
    )
    corpus = Corpus("c", turns, ())
    assert VIEWS["raw"](corpus)[0] == "Look at this, Bo!"
    assert VIEWS["said"](corpus)[0] == "[8 May, 2023] Ana: Look at this, Bo! [shares a photo: a boat]"
    assert VIEWS["after3"](corpus)[1] == "[8 May, 2023] Ana: Look at this, Bo! [shares a photo: a boat]\nBo: Nice."
    assert VIEWS["after3"](corpus)[2] == "Ana: Later."
    assert VIEWS["neutral"](corpus)[0] == "Look at this, ! [shares a photo: a boat]"


@pytest.mark.parametrize(
    ("text", "left", "named"),
    [
        ("What did Jon's dog eat?", "What did dog eat?", {"Jon"}),
        ("Where did Jonathan go?", "Where did Jonathan go?", set()),
        ("Do jon and Grad A agree?", "Do and agree?", {"Jon", "Grad A"}),
        ("Jon", "Jon", {"Jon"}),
    ],
)
def test_names_are_taken_out_whole(text: str, left: str, named: set[str]):
    names = ("Jon", "Grad A")
    assert without_names(names)(text) == left
    assert names_in(text, names) == named


def test_ranks_and_standard_scores():
    scores = np.array([[0.1, 0.9, 0.5, 0.9]], np.float32)
    assert ranks(scores).tolist() == [[3, 0, 2, 1]]
    assert z(scores).mean() == pytest.approx(0, abs=1e-6)
    assert not z(np.zeros((1, 4), np.float32)).any()
    fused = rrf(scores, np.array([[0.9, 0.8, 0.0, 0.1]], np.float32))
    assert fused.argmax() == 1
    assert fused[0, 1] == pytest.approx(1 / 61 + 1 / 62)


def test_every_baseline_ranks_every_question():
    models = {"e5": Letters(), "minilm": Letters()}
    corpora = [a_corpus("c"), a_corpus("d")]
    every = [Legs(corpus, models) for corpus in corpora]
    for table in (LOCOMO, QMSUM):
        for name, found in measured(table, every).items():
            assert set(found) == {q.id for c in corpora for q in c.questions}, name
            assert all(len(set(f.ids)) == len(f.ids) == 40 for f in found.values()), name
    words = measured({"bm25": LOCOMO["bm25"]}, every)["bm25"]
    assert all("/".join(id.split("/")[:2]) == id for f in words.values() for id in f.ids)
    hits = [q.gold[0] in words[q.id].ids[:5] for c in corpora for q in c.questions]
    assert sum(hits) > len(hits) / 2


def test_a_question_of_unknown_words_scores_nothing():
    corpus = a_corpus()
    asked = Corpus("c", corpus.turns, (Question("q", "Xyzzy?", "open", ("c/D0:0",)),))
    assert not Legs(asked, {}).bm25("raw").any()


@pytest.mark.parametrize(
    ("question", "windows"),
    [
        ("What happened on 8 May, 2023?", [(date(2023, 5, 8), date(2023, 5, 8))]),
        ("What happened on May 8th?", [(date(2022, 5, 8), date(2022, 5, 8)), (date(2023, 5, 8), date(2023, 5, 8))]),
        ("What happened in December 2023?", [(date(2023, 12, 1), date(2023, 12, 31))]),
        ("What happened in February?", [(date(2022, 2, 1), date(2022, 2, 28)), (date(2023, 2, 1), date(2023, 2, 28))]),
        ("What may happen to Ana?", []),
        ("What of the 31 June?", []),
    ],
)
def test_dates_that_a_question_names(question: str, windows: list[tuple[date, date]]):
    assert dates_in(question, [2022, 2023]) == windows


@given(st.text())
def test_any_question_has_dates_in_order(question: str):
    assert all(start <= end for start, end in dates_in(question, [2023, 2024]))


def test_weights_find_the_feature_that_tells_gold():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((200, 30, 3)).astype(np.float32)
    gold = np.zeros((200, 30), np.float32)
    gold[np.arange(200), features[:, :, 1].argmax(axis=1)] = 1
    pool = Pool(Corpus("c", (), ()), np.zeros((200, 30), np.intp), features, gold)
    weights = fit([pool], l2=1e-3)
    assert weights[1] > 5 * max(abs(weights[0]), abs(weights[2]))


def test_a_corpus_left_out_has_no_say_in_its_weights():
    """The learned ranking of one corpus stays what it is when that corpus's own gold is another."""
    models = {"e5": Letters()}
    first, second = a_corpus("c"), a_corpus("d")
    others = tuple(Question(q.id, q.text, q.category, (first.turns[-1].id,)) for q in first.questions)
    told_otherwise = Corpus("c", first.turns, others)
    config = LearnedConfig(pool=20)
    one = learned([Legs(first, models), Legs(second, models)], config)
    other = learned([Legs(told_otherwise, models), Legs(second, models)], config)
    assert {q.id: one[q.id] for q in first.questions} == {q.id: other[q.id] for q in first.questions}
    assert {q.id: one[q.id] for q in second.questions} != {q.id: other[q.id] for q in second.questions}


def test_candidates_carry_thirteen_features():
    pool = candidates(Legs(a_corpus(), {"e5": Letters()}), LearnedConfig(pool=12))
    assert len(FEATURES) == 13
    assert pool.features.shape == (7, 12, 13)
    assert pool.gold.sum() > 0
    assert len(ranked(pool, np.ones(13))["c/c/D0:1"].ids) == 12
