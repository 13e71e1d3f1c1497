import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.bench.locomo_id.collections import SHIFTED, Collection, four_voice, one_space, two_voice
from tests.bench.locomo_id.corpus import Conversation, conversations
from tests.bench.locomo_id.voices import Bank


def test_evidence_is_cleaned_and_what_leaks_answers_is_left_out(tmp_path: Path):
    turn = {"speaker": "Ana", "dia_id": "D1:2", "text": "Look", "blip_caption": "a dog", "query": "my dog Rex"}
    talk = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023"}
    qa = {"question": "Which dog?", "answer": 7, "category": 1, "evidence": ["D:1:02; D9:9", "D"]}
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "c", "conversation": talk | {"session_2_date_time": "orphan"}, "qa": [qa]}]))
    (told,) = conversations(path)
    assert told.turns["D1:2"].text == "Look [shares a photo: a dog]"
    assert told.questions[0].evidence == ("D1:2",)
    assert told.questions[0].answer == "7"
    assert told.sessions[0].at.hour == 13


@pytest.fixture
def told(shared: Path) -> tuple[Conversation, ...]:
    return conversations(shared / "data" / "locomo10.json")


@pytest.fixture
def bank(shared: Path, tmp_path: Path) -> Bank:
    """Nothing is embedded: only the lists of who says what are read."""
    return Bank(tmp_path, shared / "data")


def asks_nothing_it_said(collection: Collection) -> bool:
    return not {t.utterance.id for t in collection.turns} & {q.utterance.id for q in collection.queries}


@pytest.mark.needs_shared
def test_two_voices_make_the_papers_thirty_collections(bank: Bank, told: tuple[Conversation, ...]):
    made = two_voice(bank, told, SHIFTED)
    assert (len(made), sum(len(c.turns) for c in made), sum(len(c.queries) for c in made)) == (30, 17_646, 5_958)
    assert all(len({t.voice for t in c.turns}) == 2 and asks_nothing_it_said(c) for c in made)
    assert all(t.shift != "clean" for c in made for t in c.turns)
    assert all(q.shift == "clean" for c in made for q in c.queries)
    assert all(q.evidence <= {t.id for t in c.turns} for c in made for q in c.queries)


@pytest.mark.needs_shared
def test_no_utterance_serves_again_while_others_of_its_voice_are_left(bank: Bank, told: tuple[Conversation, ...]):
    for collection in two_voice(bank, told, "clean")[:3]:
        served = Counter((t.voice, t.utterance.id) for t in collection.turns)
        assert len({v for v, _ in served}) == 2
        for voice in {v for v, _ in served}:
            times = [n for (v, _), n in served.items() if v == voice]
            assert max(times) - min(times) <= 1


@pytest.mark.needs_shared
def test_four_voices_tell_two_stories_in_mixed_order(bank: Bank, told: tuple[Conversation, ...]):
    made = four_voice(bank, told, "clean")
    assert len(made) == 10
    for collection in made:
        stories = [session.id.split("/")[2] for session in collection.sessions]
        assert sum(a != b for a, b in pairwise(stories)) > 2
        assert len({t.voice for t in collection.turns}) == 4
        assert [s.at for s in collection.sessions] == sorted(s.at for s in collection.sessions)
    assert sum(q.changed for c in made for q in c.queries) >= 200


@pytest.mark.needs_shared
def test_one_space_holds_all_and_no_voice_asks_with_what_it_said(bank: Bank, told: tuple[Conversation, ...]):
    space = one_space(bank, told, SHIFTED)
    assert asks_nothing_it_said(space)
    assert len(space.turns) > 17_646 + 2 * 5_882
    real = set(bank.voices("real"))
    assert len({t.voice for t in space.turns} & real) > 100
    assert len({t.id for t in space.turns}) == len(space.turns)
    assert len({q.id for q in space.queries}) == len(space.queries)
