from collections import Counter
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from service.identity.thresholds import CAMPPLUS
from service.types.audio import EmbeddingSpace, Samples
from tests.bench.locomo_id.collections import Collection, Query
from tests.bench.locomo_id.corpus import Conversation, Said, Talk
from tests.bench.locomo_id.evaluate import hear, ours
from tests.bench.locomo_id.gates import ALL_MEMORY, Shelf, asking_tally, gate_tally, plain_tally
from tests.bench.locomo_id.ranking import Lexicon, Library
from tests.unit.bench.collections_made import MadeVoices, a_query, two_sessions
from tests.unit.identity.voices import axis

OURS = ours(CAMPPLUS)


class LetterEmbedder:
    """Counts of letters: alike are texts with the same ones."""

    embedding_space = EmbeddingSpace("letters", "test", 26)

    def __init__(self) -> None:
        self.num_embedded = 0

    def passages(self, texts: list[str]) -> Samples:
        self.num_embedded += len(texts)
        counts = np.array([[text.lower().count(chr(97 + i)) + 0.01 for i in range(26)] for text in texts], dtype=np.float32)
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), dtype=np.float32)

    queries = passages


@pytest.fixture
def library(tmp_path: Path) -> Library:
    turns = tuple(
        Said(f"D1:{i + 1}", name, text)
        for i, (name, text) in enumerate(
            (("Ana", "I bought a violin"), ("Ben", "A violin, really?"), ("Ana", "From a shop in Rome"), ("Ben", "Nice"))
        )
    )
    return Library([Conversation("c", ("Ana", "Ben"), (Talk(1, datetime(2024, 1, 1), turns),), ())], LetterEmbedder(), tmp_path)


def shelf(library: Library, *queries: Query) -> Shelf:
    return Shelf(two_sessions(queries), library)


def everybody(voice: str) -> str:
    return "all"


def gated(shelf: Shelf, sounds: dict[str, Samples], accepted: list[str | None] | None = None) -> Counter[str]:
    """Through own_gate; `accepted`: as whose people the askers are let in, themselves unless given."""
    heard = hear(shelf.collection, OURS, MadeVoices(sounds))
    people = {voice: person for person, voice in reversed(heard.owners().items())}
    queries = shelf.collection.queries
    let_in = [people[q.asker] for q in queries] if accepted is None else [a and people[a] for a in accepted]
    tally = gate_tally(shelf, heard, queries, let_in, "own_gate", everybody)["all"]
    tally.update(asking_tally(shelf, heard, queries, let_in, everybody)["all"])
    return tally


def test_everybody_sees_what_they_said(library: Library):
    found = gated(shelf(library, a_query("ana", evidence=frozenset({"m0", "m1"}))), {})
    assert (found["hits"], found["foreign"], found["owned"], found["missing"]) == (3, 0, 3, 0)
    assert found["recall"] == 0.5
    assert (found["wrong"], found["refused"]) == (0, 0)


def test_a_turn_put_down_to_another_is_foreign_to_them_and_missing_to_its_speaker(library: Library):
    """m4 is ana's and sounds like ben."""
    found = gated(shelf(library, a_query("ana", "q1"), a_query("ben", "q2")), {"m4": axis(1)})
    assert (found["foreign"], found["missing"], found["owned"]) == (1, 1, 5)


def test_who_is_taken_for_another_sees_what_is_not_theirs(library: Library):
    found = gated(shelf(library, a_query("ben")), {}, accepted=["ana"])
    assert (found["foreign"], found["hits"], found["wrong"], found["refused"]) == (3, 3, 1, 1)
    assert found["owned"] == 0


def test_who_is_not_recognised_sees_nothing_and_was_refused(library: Library):
    found = gated(shelf(library, a_query("ben", evidence=frozenset({"m1"}))), {}, accepted=[None])
    assert (found["hits"], found["foreign"], found["wrong"], found["refused"]) == (0, 0, 0, 1)
    assert (found["recall"], found["with_gold"]) == (0, 1)


def test_who_never_spoke_cannot_be_refused_wrongly(library: Library):
    found = gated(shelf(library, a_query("eve")), {}, accepted=[None])
    assert (found["known"], found["refused"], found["wrong"]) == (0, 0, 0)


def test_no_gate_and_an_oracle_need_nobody_recognised(library: Library):
    query = Query("q", a_query("ana").utterance, "clean", "violin", ("Ana", "Ben"), frozenset({"m0", "m1"}), "", 4)
    made = shelf(library, query)
    made.docs[:4] = range(4)
    assert plain_tally(made, [query], ALL_MEMORY, everybody)["all"]["recall"] == 1.0
    assert plain_tally(made, [query], "oracle_own_gate", everybody)["all"]["recall"] == 0.5


def test_the_best_turns_share_words_with_the_question(library: Library):
    docs = np.arange(4)
    found = library.best("What violin did Ana buy?", ("Ana", "Ben"), docs, own=False)
    assert set(found[:2]) == {0, 1}
    assert library.best("What violin did Ana buy?", ("Ana", "Ben"), docs[2:], own=False)[0] in {0, 1}
    assert len(library.best("violin", (), docs, own=True, k=1)) == 1


def test_texts_are_embedded_once(tmp_path: Path):
    told = Conversation("c", ("Ana", "Ben"), (Talk(1, datetime(2024, 1, 1), (Said("D1:1", "Ana", "hello"),)),), ())
    first, again = LetterEmbedder(), LetterEmbedder()
    Library([told], first, tmp_path)
    Library([told], again, tmp_path)
    assert (first.num_embedded > 0, again.num_embedded) == (True, 0)


def test_a_rare_word_weighs_more_and_endings_do_not_count():
    lexicon = Lexicon(["the dogs walked", "a dog walks", "a cat walked", "rain"])
    scores = lexicon.scores("walking dog")
    assert scores[0] == pytest.approx(scores[1])
    assert scores[0] > scores[2] > scores[3] == 0
    assert lexicon.scores("", "dog")[0] == pytest.approx(0.3 * lexicon.scores("dog")[0])


def test_a_collection_needs_no_words_to_be_read(library: Library):
    made: Collection = two_sessions((a_query("ana"),))
    assert Shelf(made, library).hits(made.queries[0], np.arange(2), own=True).tolist() == [0, 1]
