"""Small questions with what their searches found, for tests of the ranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from service.retrieval.signals import Hits, Signals
from service.types.candidates import Around, Place, Read
from service.types.facts import TimeSpan

MONDAY = "monday"
NOON = int(datetime(2026, 5, 4, 12, tzinfo=UTC).timestamp())


def a_read(index: int, text: str = "Well.", *, session: str = MONDAY, turn: float | None = 0.8, **known: object) -> Read:
    said_at, captions = known.pop("said_at", NOON + 4 * index), known.pop("captions", "")
    by, to, speaker = known.pop("by", False), known.pop("to", False), known.pop("speaker", f"p{index % 2}")
    further, context = known.pop("further", ()), known.pop("context", turn)
    assert not known, known
    return Read(f"{session}/{index}", (session, index), text, captions, said_at, speaker, by, to, (turn, *further), context)  # type: ignore[arg-type]


def signals(
    *read: Read,
    question: str = "What did they buy?",
    terms: Sequence[Mapping[Place, float]] = (),
    turn: Mapping[Place, float] | None = None,
    windows: Sequence[TimeSpan] = (),
    named: bool = False,
    fact_turn: Mapping[str, float] | None = None,
) -> Signals:
    """With all of `read` as what is around, too."""
    near = {one.place: one.turn[0] for one in read if one.turn[0] is not None} if turn is None else turn
    around = {one.place: Around(one.text, one.speaker_id) for one in read}
    hits = Hits(tuple(terms), (), near, {}, {}, fact_turn or {})
    return Signals(question, hits, read, around, tuple(windows), named)
