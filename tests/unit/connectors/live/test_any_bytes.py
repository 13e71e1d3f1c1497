"""Whatever is delivered to whichever connector: events with sane times, or an error that names its place; always the same."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.connectors.live import CONNECTORS, Delivery, EventUnreadable, Read, SignatureWrong, connector
from service.connectors.live.bodies import MEETING as LONGEST_MEETING
from service.connectors.live.fetched import MEETING, WHAT
from service.types.meeting import Spoke, Uttered
from tests.unit.connectors.live import bots
from tests.unit.connectors.live.test_after_the_meeting import PIECE, TRANSCRIPT, V1, V2, VTT, recorded, zoom
from tests.unit.connectors.live.test_rooms import ANA, BEN, PERSON, daily, frame, jitsi_line, livekit, livekit_line
from tests.unit.connectors.live.told import NOW, SECOND

PROVIDERS = list(CONNECTORS)
SEEDS: dict[str, list[Any]] = {
    "jitsi": [
        jitsi_line(),
        {"event": "JOIN", "room_name": "r", "timestamp": "1772442000000", "participant": ANA},
        {"room_name": "r", "start_time": "2026-11-30T08:59:00Z", "initial_participants": [ANA], "events": [jitsi_line()]},
        {"sessionId": "s", "endpointId": "e", "text": "hi", "timestamp": 1772442000000},
        {"event": "media", "media": {"tag": "e-a0", "timestamp": 48000, "payload": "AAAA"}, "sessionId": "s"},
    ],
    "livekit": [livekit("participant_joined", participant=PERSON), livekit_line("hi", True), livekit("room_started")],
    "daily": [daily("participant.left", **BEN, duration=3), daily("meeting.ended", start_ts=SECOND, end_ts=SECOND + 1)],
    "pipecat": [frame("TranscriptionFrame"), frame("UserAudioRawFrame", audio="AAAA", sample_rate=16000, num_channels=1)],
    "fireflies": [V1, V2, PIECE, {"data": {"transcript": TRANSCRIPT}}],
    "zoom": [zoom("meeting.started", start_time="2026-11-30T09:00:00Z"), recorded(("TRANSCRIPT", "2026-11-30T09:00:40Z")), VTT],
    "generic": [{"meeting": "m", "type": "uttered", "text": "hi", "start": 1, "end": 2}],
    **bots.SEEDS,
}
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([[], {}, "1e400", "NaN", SECOND, -1, 1e308])
)
carried = st.none() | st.fixed_dictionaries({WHAT: st.just("transcript"), MEETING: st.just("m"), "start": st.text(max_size=25)})


def spoiled(draw: st.DrawFn, value: Any) -> Any:
    """`value` with something in it replaced, left out, or put where it does not belong."""
    if draw(st.integers(0, 5)) == 0:
        return draw(leaves)
    if isinstance(value, dict):
        return {name: spoiled(draw, inner) for name, inner in value.items() if draw(st.integers(0, 9))}
    if isinstance(value, list):
        return [spoiled(draw, inner) for inner in value] * draw(st.integers(0, 2))
    return value


@st.composite
def bodies(draw: st.DrawFn, provider: str) -> bytes:
    seed = draw(st.sampled_from(SEEDS.get(provider) or SEEDS["generic"]))
    if isinstance(seed, str):
        at = draw(st.integers(0, len(seed)))
        return (seed[:at] + draw(st.text(max_size=5)) + seed[at + draw(st.integers(0, 4)) :]).encode("utf-8", "surrogatepass")
    return json.dumps(spoiled(draw, seed)).encode()


def told(provider: str, delivery: Delivery) -> Read | None:
    try:
        found = connector(provider).read(delivery)
    except EventUnreadable as problem:
        assert problem.facts["place"] and problem.facts["provider"]
        return None
    assert found.meeting is not None or not found.events
    assert found.meeting is None or 0 < len(found.meeting) <= 500
    for event in found.events:
        if isinstance(event, Uttered):
            assert event.text and event.key and math.isfinite(event.start) and event.start <= event.end
            assert event.end <= 4.2e9 and event.end - event.start <= LONGEST_MEETING
        elif isinstance(event, Spoke):
            assert math.isfinite(event.start)
    return found


@pytest.mark.parametrize("provider", PROVIDERS)
@given(body=st.binary(max_size=200), binary=st.booleans(), carried=carried)
@settings(max_examples=40, deadline=None)
def test_any_bytes_are_read_or_refused(provider: str, body: bytes, binary: bool, carried: dict[str, str] | None) -> None:
    told(provider, Delivery({}, body, NOW, binary=binary, carried=carried))


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), carried=carried)
@settings(max_examples=150, deadline=None)
def test_spoiled_messages_are_read_or_refused_and_always_the_same_way(
    provider: str, data: st.DataObject, carried: dict[str, str] | None
) -> None:
    body = data.draw(bodies(provider))
    delivery = Delivery({}, body, NOW, query={"meeting": "m"}, carried=carried)
    found = told(provider, delivery)
    assert found == told(provider, delivery)
    try:
        answer = connector(provider).answer(delivery, ["secret"])
    except (EventUnreadable, SignatureWrong):
        return
    assert answer is None or "pong" in str(answer)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_deep_and_huge_numbers_do_not_crash(provider: str) -> None:
    for body in (b"[" * 100_000, b"{" + b'"a":{' * 50_000, b'{"timestamp": ' + b"9" * 5_000 + b"}", b"\xff\xfe{\0}\0"):
        told(provider, Delivery({}, body, NOW, query={"meeting": "m"}))
