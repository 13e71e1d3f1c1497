"""What a backend tells live and once more in the transcript that is fetched when the meeting is over: CASES.md 6 and 10."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.connectors.live import Delivery, Fetch, connector
from service.connectors.live.fetched import delivery_of
from service.memory.meeting import MeetingState, Outcome, Turn, advance, configured, step
from tests.unit.connectors.live.bots import baas_line, baas_word
from tests.unit.connectors.live.told import NOW, read, sent
from tests.unit.memory.meeting.events import turns_of

Line = tuple[str | None, str, float]
"""Name, text, start; seconds."""
ANA, BO = {"id": 1, "name": "Ana"}, {"id": 2, "name": "Bo"}
SOON = "I think that is too early."
WHOLE = f"so we ship on Friday. {SOON} Then let us talk."


def folded(provider: str, deliveries: Sequence[Delivery]) -> list[Turn]:
    """As they stand once the meeting is over."""
    state = configured(MeetingState(), finals_hold=connector(provider).declared.finals_hold)
    outcomes: list[Outcome] = []
    now = NOW
    for delivery in deliveries:
        now += timedelta(seconds=3)
        state, told = step(state, connector(provider).read(delivery).events, now)
        outcomes += told
    return turns_of([*outcomes, *advance(state, now + timedelta(hours=2))[1]])


def said(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    return [(turn.track, turn.text) for turn in turns]


def baas_live(*parts: tuple[str, int | None], at: float, speaker: Mapping[str, Any] | None) -> Delivery:
    """A segment: its texts with the voice that each is of; two words a second."""
    words = [(word, label) for text, label in parts for word in text.split()]
    told = [
        baas_word(word, at + n / 2, **({} if label is None else {"speaker": label})) for n, (word, label) in enumerate(words)
    ]
    times: dict[str, Any] = {"utteranceStart": at, "utteranceEnd": at + len(words) / 2}
    return sent(baas_line(" ".join(text for text, _ in parts), words=told, speaker=speaker, **times))


def baas_file(*lines: Line | Sequence[Line], timed: bool = True) -> Delivery:
    """A list of lines is one utterance, the first one's."""
    utterances = []
    for line in lines:
        joined: Sequence[Any] = [line] if isinstance(line, tuple) else line
        words = [
            {"word": word, "start": start + n / 2, "end": start + n / 2 + 0.4}
            for _, text, start in joined
            for n, word in enumerate(text.split())
        ]
        name, text = joined[0][0], " ".join(text for _, text, _ in joined)
        times = {"start": joined[0][2], "end": words[-1]["end"]}
        utterances.append({"text": text, "speaker": name or "Unknown", "words": words if timed else [], **times})
    fetch = Fetch(what="transcription", meeting="b-1", url="https://store.example.com/t.json")
    return delivery_of(fetch, json.dumps({"bot_id": "b-1", "result": {"utterances": utterances}}).encode(), NOW)


class TestMeetingBaas:
    @pytest.mark.parametrize("second", ["Not yet!", SOON])
    def test_case_6_a_voice_that_was_cut_off_is_whom_the_transcript_names(self, second: str) -> None:
        first = "so we ship it now to all of them."
        live = baas_live((first, 0), (second, 1), at=12.0, speaker=ANA)
        file = baas_file(("Ana", first, 12.0), ("Bo", second, 16.5))
        assert said(folded("meetingbaas", [live, file])) == [("1", first), ("/Bo", second)]

    @pytest.mark.parametrize("timed", [True, False])
    @pytest.mark.parametrize("second", ["Not yet!", SOON])
    def test_case_6_one_line_of_the_transcript_is_all_that_was_told_live_of_it(self, second: str, timed: bool) -> None:
        live = baas_live(("so we ship.", 0), (second, 1), at=12.0, speaker=ANA)
        file = baas_file(("Ana", f"so we ship. {second}", 12.0), timed=timed)
        assert [turn.text for turn in folded("meetingbaas", [live, file])] == ["so we ship.", second]

    @pytest.mark.parametrize("timed", [True, False])
    @pytest.mark.parametrize(
        ("live", "at", "speaker", "told"),
        [
            ("so we ship on Friday.", 12.0, ANA, [("1", 12.0), ("/Ana", 14.5)]),
            (SOON, 14.5, BO, [("/Ana", 12.0), ("2", 14.5), ("/Ana", 17.5)]),
            ("Then let us talk.", 17.5, ANA, [("/Ana", 12.0), ("1", 17.5)]),
        ],
    )
    def test_case_6_of_a_line_of_the_transcript_the_rest_is_told_beside_what_came_live(
        self, live: str, at: float, speaker: Mapping[str, Any], told: list[tuple[str, float]], timed: bool
    ) -> None:
        file = baas_file(("Ana", WHOLE, 12.0), timed=timed)
        turns = folded("meetingbaas", [baas_live((live, None), at=at, speaker=speaker), file])
        assert " ".join(turn.text for turn in turns) == WHOLE
        assert [turn.track for turn in turns] == [track for track, _ in told]
        starts = [turn.segment.start + 12.0 - turns[0].segment.start for turn in turns]
        assert starts == pytest.approx([start for _, start in told], abs=0.1 if timed else 0.2)

    def test_case_10_unknown_by_an_id_is_unknown_of_the_transcript_however_short(self) -> None:
        unknown = {"id": 7, "name": "Unknown"}
        live = baas_live(("Sounds good.", None), at=12.0, speaker=unknown)
        assert said(folded("meetingbaas", [live, baas_file((None, "Sounds good.", 12.1))])) == [("7", "Sounds good.")]
        assert said(folded("meetingbaas", [live, baas_file(("Bo", "Sounds good.", 12.1))])) == [("7", "Sounds good.")]

    def test_two_who_say_yes_at_once_are_two_whoever_of_them_was_told_live(self) -> None:
        file = baas_file(("Ana", "Yes.", 12.0), ("Bo", "Yes.", 12.1))
        for speaker, at in ((ANA, 12.0), (BO, 12.1), (None, 12.0), ({"id": 7, "name": "Unknown"}, 12.0)):
            live = baas_live(("Yes.", None), at=at, speaker=speaker)
            assert len(folded("meetingbaas", [live, file])) == 2, speaker


def piece(n: int, name: str | None, text: str, start: float) -> Delivery:
    end = start + len(text.split()) / 2
    told = {
        "transcript_id": "abc123",
        "chunk_id": str(n),
        "text": text,
        "speaker_name": name,
        "start_time": start,
        "end_time": end,
    }
    return sent(told)


def sentences(*lines: Line) -> Delivery:
    (fetch,) = read("fireflies", {"event": "meeting.transcribed", "timestamp": 1, "meeting_id": "abc123"}).fetches
    ids = {name: str(n) for n, name in enumerate(dict.fromkeys(name for name, _, _ in lines))}
    told = [
        {
            "index": n,
            "speaker_id": ids[name],
            "speaker_name": name,
            "text": text,
            "start_time": start,
            "end_time": start + len(text.split()) / 2,
        }
        for n, (name, text, start) in enumerate(lines)
    ]
    transcript = {"id": "abc123", "title": "Standup", "date": NOW.timestamp() * 1000, "duration": 1.5, "sentences": told}
    return delivery_of(fetch, json.dumps({"data": {"transcript": transcript}}).encode(), NOW)


def test_fireflies_short_lines_are_told_once_and_by_id() -> None:
    lines: list[Line] = [("Ana", "Sounds good.", 1.0), ("Bo", "Thank you.", 2.5), ("Ana", "Bye.", 4.0)]
    live = [piece(0, "Ana", "Sounds good.", 1.0), piece(1, None, "Thank you.", 2.5)]
    turns = folded("fireflies", [*live, sentences(*lines)])
    assert said(turns) == [("0", "Sounds good."), ("1", "Thank you."), ("0", "Bye.")]


TEXTS = ["Yes.", "Not yet!", "Sounds good.", "Thank you.", "So we ship.", SOON, "I will send the numbers on Friday."]
WHO = ["Ana", "Bo", "Cem"]


@st.composite
def meetings(draw: st.DrawFn) -> list[tuple[str, str, float]]:
    """Nobody speaks while another does."""
    lines, start = [], 1.0
    for text in draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=7)):
        lines.append((draw(st.sampled_from(WHO)), text, start))
        start = round(start + len(text.split()) / 2 + draw(st.sampled_from([0.1, 0.7, 4.0])), 2)
    return lines


@settings(max_examples=60, deadline=None)
@given(st.data(), meetings())
def test_whatever_of_it_came_live_every_sentence_is_told_once(data: st.DataObject, lines: list[tuple[str, str, float]]) -> None:
    """By somebody's id, by an id or a voice without a name, or by nobody; and the transcript may have neighbours in one."""
    live = []
    for name, text, start in lines:
        by = {"id": WHO.index(name), "name": name}
        how = data.draw(st.sampled_from(["not", "named", "by id", "nobody"]))
        speaker = {"not": by, "named": by, "by id": {**by, "name": "Unknown"}, "nobody": None}[how]
        if how != "not":
            live.append(baas_live((text, None), at=start, speaker=speaker))
    turns = folded("meetingbaas", [*data.draw(st.permutations(live)), baas_file(*lines)])
    assert [turn.text for turn in turns] == [text for _, text, _ in lines]


@settings(max_examples=60, deadline=None)
@given(st.data(), meetings())
def test_a_transcript_that_has_neighbours_in_one_line_doubles_and_loses_no_word(
    data: st.DataObject, lines: list[tuple[str, str, float]]
) -> None:
    ana: list[Line] = [("Ana", text, start) for _, text, start in lines]
    live = [baas_live((text, None), at=start, speaker=ANA) for _, text, start in ana if data.draw(st.booleans())]
    cuts = sorted({0, len(ana), *data.draw(st.lists(st.integers(0, len(ana)), max_size=3))})
    turns = folded("meetingbaas", [*live, baas_file(*(ana[a:b] for a, b in pairwise(cuts)))])
    assert sorted(" ".join(turn.text for turn in turns).split()) == sorted(" ".join(text for _, text, _ in ana).split())


@settings(max_examples=60, deadline=None)
@given(st.data(), meetings())
def test_whatever_of_fireflies_came_live_every_sentence_is_told_once(
    data: st.DataObject, lines: list[tuple[str, str, float]]
) -> None:
    live = [
        piece(n, data.draw(st.sampled_from([name, None])), text, start)
        for n, (name, text, start) in enumerate(lines)
        if data.draw(st.booleans())
    ]
    assert [turn.text for turn in folded("fireflies", [*live, sentences(*lines)])] == [text for _, text, _ in lines]
