"""What are the turns of a meeting of which only a transcript is there? As written: who is what the file calls them, and nobody.

No person is made of text, and none is known by a label: anybody can type any name, and recognisers invent words where nobody
speaks. Such turns stay with their local speakers until somebody says whose they are."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from service.audio.decode import sha256
from service.connectors.files import from_start, is_transcript, read_transcript, words_of
from service.errors import VoicegraphError
from service.graph.write_sessions import NewMessage
from service.identity.rules import RouterConfig
from service.pipelines.folding import Folding
from service.pipelines.recording import IngestRequest
from service.pipelines.stopwatch import Stopwatch
from service.pipelines.wording import has_text
from service.types.audio import AudioInfo, Progress, Segment, SpeakerTurn, Transcript, TranscriptSegment
from service.types.people import Scores, Unresolved

NO_SOUND = "no_sound"
"""Why a turn is nobody's: it was never heard. And its `channel`."""
UNHEARD = "none"
HEARD_SHARE = 0.95
"""Of the progress, as IngestConfig.heard_share."""


class TranscriptWithoutWords(VoicegraphError):
    code = "transcript_without_words"
    says = (
        "{name} says who speaks when, and not what. Give its recording too: "
        "voicegraph ingest RECORDING --transcript {name}, and speech is recognised."
    )
    http_status = 422


@dataclass(frozen=True, slots=True)
class Written:
    """A transcript that is to be remembered without a sound."""

    request: IngestRequest
    """With the time of its start, where the transcript tells it and the caller does not."""
    info: AudioInfo
    """No channels, and as long as the transcript."""
    transcript: Transcript


def find_written(request: IngestRequest) -> Written | None:
    """None where `request.path` is no transcript, and so is to be heard. Heavy.

    Raises TranscriptUnreadable, TranscriptWithoutWords, UnknownPlugIn."""
    if request.transcript is not None or not (request.format or is_transcript(request.path)):
        return None
    transcript = from_start(read_transcript(request.path, format=request.format))
    if transcript.segments and not has_text(transcript) and not any(part.told.images for part in transcript.segments):
        raise TranscriptWithoutWords(name=request.path.name)
    duration = max((part.segment.end for part in transcript.segments), default=0.0)
    codec = f"transcript:{transcript.format}"
    info = AudioInfo(str(request.path), sha256(request.path), duration, channels=0, sample_rate=0, codec=codec)
    return Written(replace(request, started_at=request.started_at or transcript.started_at), info, transcript)


def written_turns(transcript: Transcript) -> list[SpeakerTurn]:
    """One a segment. Tracks are the labels; a segment without one is a track of its own: two that nobody names are not one."""
    parts = sorted(transcript.segments, key=lambda part: part.segment.start)
    together = _Together(parts)
    return [
        SpeakerTurn(
            index=index,
            segment=part.segment,
            track=part.label or f"unlabelled@{part.segment.start:.2f}#{index}",
            speech=(),
            overlapped=together.seconds(part.segment),
            quality=None,
            channel=UNHEARD,
            text=part.text,
            language=part.language or transcript.language,
            words=words_of(part) if part.text else (),
            told=part.told,
        )
        for index, part in enumerate(parts)
    ]


Make = Callable[[Sequence[SpeakerTurn], str], list[NewMessage]]
"""Some turns and their provenance → the messages they become. Heavy."""


async def note(
    written: Written,
    folding: Folding,
    router: RouterConfig,
    make: Make,
    watch: Stopwatch,
    progress: Progress,
    *,
    size: int,
) -> None:
    """Write all turns that no run before this one wrote, `size` at a time; `progress` up to 0.95."""
    turns = await asyncio.to_thread(written_turns, written.transcript)
    for first in range(folding.checkpoint.next_index, len(turns), size):
        batch = turns[first : first + size]
        with watch.stage("text"):
            messages = await asyncio.to_thread(make, batch, f"transcript:{written.transcript.format}")
        with watch.stage("graph"):
            await folding.note(messages, unheard(messages, router))
        progress(HEARD_SHARE * (batch[-1].index + 1) / len(turns), "hear")


def unheard(messages: Sequence[NewMessage], router: RouterConfig) -> list[Unresolved]:
    scores = Scores(None, None, None, router.policy, router.thresholds.encoder)
    return [Unresolved(message.id, message.local_speaker, scores, NO_SOUND) for message in messages]


class _Together:
    """For how long at least two segments go on at once."""

    def __init__(self, parts: Sequence[TranscriptSegment]) -> None:
        events = sorted([(p.segment.start, 1) for p in parts] + [(p.segment.end, -1) for p in parts])
        self._times: list[float] = [time for time, _ in events]
        counts = list(accumulate([change for _, change in events]))
        steps = [(after - before) * (count >= 2) for (before, after), count in zip(pairwise(self._times), counts, strict=False)]
        self._seconds: list[float] = list(accumulate(steps, initial=0.0))
        self._counts: list[int] = counts

    def seconds(self, segment: Segment) -> float:
        return max(0.0, self._until(segment.end) - self._until(segment.start)) if self._times else 0.0

    def _until(self, time: float) -> float:
        place = bisect_right(self._times, time) - 1
        return self._seconds[place] + (time - self._times[place] if self._counts[place] >= 2 else 0.0)
