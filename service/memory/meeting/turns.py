"""Which turns is an utterance?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from service.memory.meeting.outcomes import Doubt, Kind, Turn
from service.memory.meeting.people import Presence, nobody, track_of
from service.memory.meeting.state import Origin, Utterance
from service.memory.meeting.utterances import CHAT
from service.types.audio import Segment, Word
from service.types.meeting import Base


def turns_of(utterance: Utterance, origin: Origin, present: Callable[[str], Presence | None]) -> list[Turn]:
    """None for what is withdrawn or blank."""
    event = utterance.event
    if utterance.gone or not event.text.strip():
        return []
    start, end = (origin.seconds(time, event.base) for time in (event.start, event.end))
    segment = Segment(max(0.0, min(start, end)), max(0.0, start, end))
    track = track_of(event.speaker)
    presence = present(track) if track is not None else None
    doubts = (
        *((Doubt.PARTIAL,) if not event.final else ()),
        *((Doubt.NAMELESS,) if track is None else ()),
        *((Doubt.MENDED,) if segment != Segment(start, end) else ()),
    )
    turn = Turn(
        utterance.uid,
        track or nobody(utterance.uid),
        segment,
        event.text.strip(),
        tuple(_placed(word, origin, event.base) for word in event.words),
        event.language,
        event.confidence,
        Kind.CHAT if event.source == CHAT else Kind.SPEECH,
        event.speaker.is_bot or (presence is not None and presence.is_bot),
        event.source,
        event.speaker.confidence,
        doubts=doubts,
    )
    return [turn]


def _placed(word: Word, origin: Origin, base: Base) -> Word:
    start, end = (max(0.0, origin.seconds(time, base)) for time in (word.segment.start, word.segment.end))
    return replace(word, segment=Segment(start, max(start, end)))
