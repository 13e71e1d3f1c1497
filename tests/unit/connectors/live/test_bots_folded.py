"""A meeting as each bot delivers it, twice and in no order, becomes the turns that were said: connector and fold together."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from service.connectors.live import Delivery, Fetch, connector
from service.connectors.live.fetched import delivery_of
from service.memory.meeting import Given, Gone, MeetingState, Revised, Turn, advance, step
from tests.unit.connectors.live.bots import (
    BAAS_HELLO,
    MILLISECONDS,
    ZOE,
    attendee_happened,
    attendee_line,
    baas_line,
    baas_word,
    recall_happened,
    recall_line,
    recall_words,
    vexa_bundle,
    vexa_segment,
    vexa_webhook,
)
from tests.unit.connectors.live.told import NOW, sent

BO = {**ZOE, "id": 300, "name": "Bo", "is_host": False}


def spoken(text: str, start: float) -> list[dict[str, Any]]:
    words = [(word, start + 0.4 * n, start + 0.4 * n + 0.3) for n, word in enumerate(text.split())]
    return recall_words(*words, at=(NOW + timedelta(seconds=start)).isoformat())


def vexa_line(n: int, name: str | None, text: str, start: float, **more: Any) -> dict[str, Any]:
    id = f"s1:ch-0:{n}:{'pending' if more.get('completed') is False else round(start * 1000)}"
    told = {"segment_id": id, "speaker": name, "speaker_key": f"ch-0:{n}", "text": text, "start": start, "end": start + 1.0}
    at = {f"absolute_{side}_time": (NOW + timedelta(seconds=told[side])).isoformat() for side in ("start", "end")}
    return {**vexa_segment(words=[]), **told, **at, **more}


def attendee_said(who: tuple[str, str | None], text: str, start: float) -> dict[str, Any]:
    times = {"timestamp_ms": MILLISECONDS - 123 + round(start * 1000), "duration_ms": 1000}
    return attendee_line(text, speaker_uuid=who[0], speaker_name=who[1], speaker_user_uuid=None, **times)


def baas_said(text: str, start: float, final: bool, speaker: dict[str, Any] | None) -> dict[str, Any]:
    times = {"utteranceStart": start, "utteranceEnd": start + 1.0}
    return baas_line(text, final, **times, words=[baas_word(w, start) for w in text.split()], speaker=speaker)


MEETINGS: dict[str, list[list[dict[str, Any]]]] = {
    "recall": [
        [recall_happened("join"), recall_line(spoken("so we", 1.0), final=False, participant={"id": None, "name": None})],
        [recall_line(spoken("so we ship", 1.0), participant={"id": None, "name": None})],
        [recall_line(spoken("hello", 4.0), final=False), recall_line(spoken("hello there", 4.0), final=False)],
        [recall_line(spoken("hello there all", 4.0)), recall_line(spoken("not yet", 7.0), participant=BO)],
    ],
    "vexa": [
        [vexa_bundle(pending=(vexa_line(1, None, "so we", 1.0, completed=False),))],
        [vexa_bundle(vexa_line(1, None, "so we ship", 1.0))],
        [vexa_bundle(pending=(vexa_line(2, "Zoë Kovář", "hello", 4.0, completed=False),), ts="2026-11-30T09:00:05Z")],
        [
            vexa_bundle(vexa_line(2, "Bo", "hello there all", 4.0), ts="2026-11-30T09:00:07Z"),
            vexa_bundle(vexa_line(2, "Zoë Kovář", "hello there all", 4.0), ts="2026-11-30T09:00:08Z"),
            vexa_bundle(vexa_line(3, "Bo", "not yet", 7.0), ts="2026-11-30T09:00:09Z"),
        ],
        [vexa_webhook("completed")],
    ],
    "attendee": [
        [attendee_happened("join"), attendee_said(("", None), "so we ship", 1.0)],
        [attendee_said(("p-1", "Zoë Kovář"), "hello there all", 4.0)],
        [attendee_said(("p-2", "Bo"), "not yet", 7.0)],
    ],
    "meetingbaas": [
        [baas_said("so we", 1.0, False, None)],
        [baas_said("so we ship", 1.0, True, None)],
        [baas_said("hello there", 4.0, False, {"name": "Bo", "id": 2})],
        [baas_said("hello there all", 4.0, True, {"name": "Zoë Kovář", "id": 1})],
        [baas_said("not yet", 7.0, True, {"name": "Bo", "id": 2})],
    ],
}
"""By what follows what for sure; deliveries of one list overtake each other."""
SAID = [(None, "so we ship", 1.0), ("Zoë Kovář", "hello there all", 4.0), ("Bo", "not yet", 7.0)]


def folded(provider: str, deliveries: Sequence[Delivery]) -> list[Turn]:
    """The turns as they stand once the meeting is over."""
    state, now = MeetingState(), NOW
    turns: dict[str, Turn] = {}
    outcomes: list[Any] = []
    for delivery in deliveries:
        now += timedelta(seconds=0.2)
        state, told = step(state, connector(provider).read(delivery).events, now)
        outcomes += told
    outcomes += advance(state, now + timedelta(hours=2))[1]
    for outcome in outcomes:
        match outcome:
            case Given(turn=turn) | Revised(turn=turn):
                turns[turn.key] = turn
            case Gone(key=key):
                del turns[key]
    return sorted(turns.values(), key=lambda turn: turn.segment.start)


def said(turns: Sequence[Turn]) -> list[tuple[str, float]]:
    return [(turn.text, round(turn.segment.start - turns[0].segment.start + 1.0, 2)) for turn in turns]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("provider", MEETINGS)
def test_case_1_and_2_and_4_and_5_twice_and_in_no_order_it_is_the_same_meeting(provider: str, seed: int) -> None:
    """Each delivery comes twice under other ids, those that may overtake each other do, and a partial comes after its final."""
    draw = random.Random(seed)
    deliveries: list[Delivery] = []
    for together in MEETINGS[provider]:
        bodies = [*together, *(together if seed else ())]
        draw.shuffle(bodies)
        deliveries += [sent(body, headers={"webhook-id": f"{draw.random()}"}) for body in bodies]
    late = [d for d in deliveries if b"pending" in d.body or b"partial" in d.body or b'"isFinal": false' in d.body]
    turns = folded(provider, [*deliveries, *(late if seed else ())])
    assert said(turns) == [(text, start) for _, text, start in SAID]
    assert all(turn.is_final for turn in turns)
    tracks = [turn.track for turn in turns]
    assert len(set(tracks)) == 3 and tracks[0].startswith("?") == (provider != "vexa")


def test_case_6_what_was_told_live_and_again_in_the_file_is_said_once() -> None:
    live = [sent(body) for together in MEETINGS["meetingbaas"] for body in together]
    utterances = [
        {"text": text, "start": start, "end": start + 1.0, "speaker": name or "Unknown", "words": []}
        for name, text, start in SAID
    ]
    utterances.append({"text": "what the socket lost", "start": 9.0, "end": 10.0, "speaker": "Bo", "words": []})
    fetch = Fetch(what="transcription", meeting="b-1", url="https://store.example.com/t.json")
    file = delivery_of(fetch, sent({"bot_id": "b-1", "result": {"utterances": utterances}}).body, NOW)
    turns = folded("meetingbaas", [sent(BAAS_HELLO), *live, file, file])
    assert said(turns) == [*((text, start) for _, text, start in SAID), ("what the socket lost", 9.0)]
