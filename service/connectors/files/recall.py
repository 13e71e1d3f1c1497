"""What does a Recall.ai transcript say: as downloaded, or the events of a live meeting?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from service.connectors.declared import Declared, SpeakerScope, TimeBase, TimeUnit
from service.connectors.files.clock import moment
from service.connectors.files.columns import EPOCH
from service.connectors.files.fields import Field, first, has, span
from service.connectors.files.participants import Speaker, labels
from service.connectors.files.runs import SpokenWord, in_order, turns_of
from service.connectors.files.source import Written
from service.connectors.files.transcript_format import TranscriptFormat
from service.types.audio import Transcript

FINAL = "transcript.data"


def recognises(written: Written) -> bool:
    document = written.peek()
    item = first(document) if isinstance(document, list) else document
    return has(item, "participant", "words") or _is_event(item)


def read(written: Written) -> Transcript:
    """Of participants, by their ids, and of nobody where the participant is unknown; words without times between their
    neighbours. Raises TranscriptUnreadable, also for a part none of whose words has a time."""
    whole = Field.whole(written)
    parts = [part for item in (whole if isinstance(whole.value, list) else [whole]) if (part := _part(item)) is not None]
    speakers: list[Speaker] = [(p["participant"]["id"].key(), p["participant"]["name"].label()) for p in parts]
    called = labels(speakers)
    turns = []
    for part, speaker in zip(parts, speakers, strict=True):
        words = list(_words(part["words"], called[speaker]))
        if words and not any(word.time for word in words):
            raise part["words"].refuse("words of which one at least has start_timestamp.relative")
        language = part["language_code"].text() or part["language"].text()
        turns += turns_of(words, language=language)
    return Transcript("recall", in_order(turns), started_at=_began(parts))


def _part(item: Field) -> Field | None:
    """Of an event that is final, or of a downloaded transcript."""
    if not has(item.value, "event"):
        return item
    return item["data"]["data"] if item["event"].value == FINAL else None


def _words(words: Field, label: str | None) -> Iterable[SpokenWord]:
    for word in words:
        start, end = (word[f"{side}_timestamp"]["relative"].seconds() for side in ("start", "end"))
        yield SpokenWord(word["text"].text() or "", span(start, start if end is None else end), label)


def _began(parts: Iterable[Field]) -> datetime | None:
    """When the recording began, as the first word tells that has both its times."""
    for part in parts:
        for word in part["words"]:
            relative, absolute = word["start_timestamp"]["relative"].number(), word["start_timestamp"]["absolute"].value
            date = moment(absolute) if isinstance(absolute, str) else None
            if relative is not None and abs(relative) < EPOCH and date is not None and date.tzinfo is not None:
                return date - timedelta(seconds=relative)
    return None


def _is_event(item: object) -> bool:
    return (
        isinstance(item, dict)
        and str(item.get("event", "")).startswith("transcript.")
        and has(item.get("data"), "data")
        and has(item["data"]["data"], "words")
    )


RECALL = TranscriptFormat(
    Declared(
        "recall",
        "Recall.ai, downloads and live events",
        TimeUnit.SECONDS,
        TimeBase.RECORDING,
        SpeakerScope.PARTICIPANT,
        repeats="transcript.partial_data before transcript.data; only the latter is kept",
        times_words=True,
    ),
    recognises,
    read,
)
