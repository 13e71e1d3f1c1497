from __future__ import annotations

from datetime import UTC, datetime

from service.retrieval.presentation import PresentationConfig, present
from service.retrieval.ranking import Candidate
from service.types.memory import Message
from service.types.search import Found, Layer, Tool


def a_message(id: str) -> Message:
    at = datetime(2026, 5, 3, tzinfo=UTC)
    return Message(id, "s", 0, "text", "en", 0.0, 1.0, at, "p", "l", (), None, "link", 0.7, 0.2, 0.5)


HITS = [Candidate(f"m{i}", 1.0 - 0.04 * i, (Found(Tool.BM25, i + 1, 3.0),), (("words", 1.2),)) for i in range(25)]
MESSAGES = {f"m{i}": a_message(f"m{i}") for i in range(25)}
REASONS = dict.fromkeys(MESSAGES, "said_it")


def test_at_most_fifteen_are_kept_best_first() -> None:
    shown = present(HITS, MESSAGES, REASONS)
    assert [hit.message.id for hit in shown] == [f"m{i}" for i in range(15)]
    assert len(present(HITS, MESSAGES, REASONS, first=100)) == 15
    assert len(present(HITS, MESSAGES, REASONS, first=3)) == 3
    assert present(HITS, MESSAGES, REASONS, first=0) == ()


def test_what_is_too_far_down_is_left_out() -> None:
    shown = present(HITS, MESSAGES, REASONS, config=PresentationConfig(max_hits=100, min_relevance=0.5))
    assert min(hit.score for hit in shown) >= 0.5 and len(shown) == 13


def test_what_left_the_scope_since_is_passed_over() -> None:
    assert [h.message.id for h in present(HITS[:3], {"m1": MESSAGES["m1"]}, REASONS)] == ["m1"]
    assert present(HITS[:3], MESSAGES, {}) == ()


def test_a_hit_says_why_it_is_seen_and_who_found_it() -> None:
    hit = present(HITS[:1], MESSAGES, {"m0": "attended"})[0]
    assert (hit.visible_because, hit.found[0].tool, hit.found[0].rank) == ("attended", Tool.BM25, 1)
    assert (hit.round, hit.because, hit.layers) == (1, (("words", 1.2),), (Layer.INTERACTIONS,))
    assert present(HITS[:1], MESSAGES, REASONS, {"m0": 2})[0].round == 2
