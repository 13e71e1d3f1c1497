"""Events of meetings, of every kind and with everything that a field may hold: strategies for Hypothesis."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from service.connectors.files.source import clean, speaker_label
from service.types.audio import Segment, Word
from service.types.meeting import (
    NOBODY,
    AccountKey,
    AudioEncoding,
    Base,
    Began,
    Ended,
    Heard,
    Joined,
    Left,
    MeetingEvent,
    Renamed,
    Speaker,
    Spoke,
    Uttered,
    Withdrawn,
)

EPOCH = 1_772_442_000.0
"""2026-03-02 09:00 UTC."""

ids = st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=12).filter(lambda t: clean(t) == t)
names = st.sampled_from(["Ana Kovář", "李雷", "Dr. O'Neil (Guest)", "Bo"]) | ids.filter(lambda t: speaker_label(t) == t)
texts = st.sampled_from(["Hello there.", "R&D costs 3 < 4.", "Grüße 👋"]) | ids
keys = ids
shares = st.floats(0, 1)
zones = st.sampled_from(["Europe/Berlin", "America/New_York", "UTC"])
moments = st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC))
emails = st.sampled_from(["ana@example.com", "bo@example.org"])

accounts = st.builds(AccountKey, ids, ids)
speakers = st.just(NOBODY) | st.builds(
    Speaker,
    st.none() | ids,
    scope=st.just("") | ids,
    name=st.none() | names,
    account=st.none() | accounts,
    email=st.none() | st.builds(AccountKey, st.just("mailto"), emails),
    is_bot=st.booleans(),
    is_host=st.booleans(),
    confidence=st.none() | shares,
)
told: dict[str, Any] = {"key": keys, "at": st.none() | moments}


@st.composite
def spans(draw: st.DrawFn) -> dict[str, Any]:
    """start <= end of one base, whole milliseconds."""
    base = draw(st.sampled_from(Base))
    start = draw(st.integers(0, 36_000_000)) / 1000 + (EPOCH if base is Base.EPOCH else 0.0)
    return {"start": start, "end": start + draw(st.integers(0, 30_000)) / 1000, "base": base}


@st.composite
def uttered(draw: st.DrawFn) -> Uttered:
    times = draw(spans())
    inside = Segment(times["start"], times["end"])
    words = draw(st.lists(st.builds(Word, texts, st.just(inside), shares), max_size=3))
    return draw(
        st.builds(
            Uttered,
            **told,
            speaker=speakers,
            text=texts,
            id=st.none() | ids,
            slot=st.none() | ids,
            final=st.booleans(),
            revision=st.integers(0, 5),
            words=st.just(tuple(words)),
            language=st.none() | st.sampled_from(["en", "de"]),
            confidence=st.none() | shares,
            source=st.sampled_from(["platform", "caption", "diariser", "chat"]),
            **{name: st.just(value) for name, value in times.items()},
        )
    )


@st.composite
def spoke(draw: st.DrawFn) -> Spoke:
    times = draw(spans())
    end = draw(st.sampled_from([None, times["end"]]))
    return Spoke(key=draw(keys), at=draw(told["at"]), speaker=draw(speakers), start=times["start"], end=end, base=times["base"])


@st.composite
def heard(draw: st.DrawFn) -> Heard:
    times = draw(spans())
    return draw(
        st.builds(
            Heard,
            **told,
            data=st.binary(max_size=20),
            encoding=st.sampled_from(AudioEncoding),
            sample_rate=st.sampled_from([8_000, 16_000, 48_000]),
            channels=st.integers(1, 2),
            speaker=st.none() | speakers,
            start=st.sampled_from([None, times["start"]]),
            base=st.just(times["base"]),
        )
    )


people = {kind: st.builds(kind, **told, speaker=speakers) for kind in (Joined, Left, Renamed)}
began = st.builds(
    Began,
    **told,
    title=st.none() | names,
    zone=st.none() | zones,
    platform=st.none() | ids,
    invited=st.lists(speakers, max_size=3).map(tuple),
)
ended = st.builds(Ended, **told, failed=st.none() | ids, duration=st.none() | st.floats(0, 40_000).filter(math.isfinite))
withdrawn = st.builds(Withdrawn, **told, id=ids)
written = st.one_of(began, ended, *people.values(), spoke(), uttered(), withdrawn)
"""All but sound."""
events: st.SearchStrategy[MeetingEvent] = written | heard()
