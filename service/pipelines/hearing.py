"""Who speaks when in a recording? One stream of turns in spoken order, over all channels that hold different people."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from service.audio import decode
from service.audio.diarise import DiarisedBlock, Diariser, GivenSegment, given_turns
from service.audio.segmentation import Segmenter
from service.pipelines.stopwatch import Stopwatch
from service.pipelines.twins import Twinned, TwinsConfig
from service.pipelines.wording import Wording, names_speakers
from service.types.audio import Segment, SpeakerEmbedding, SpeakerEncoder, SpeakerTurn, Transcript, Waveform


@dataclass(frozen=True, slots=True)
class HearingConfig:
    decoded: float = 30.0  # seconds at a time: 2 MB
    stretch: float = 30.0  # seconds at least of turns that are recognised together: Whisper's window
    silence: float = 5.0  # seconds in which nobody speaks and nothing is recognised: Whisper invents words there
    margin: float = 0.5  # seconds of sound kept around a stretch: what alignment allows a word to stick out
    twins: TwinsConfig = field(default_factory=TwinsConfig)


class Stretch:
    """Turns that no other turn of their channel reaches into, with their sound; the text is found when first asked for."""

    def __init__(self, waveform: Waveform, turns: Sequence[SpeakerTurn]) -> None:
        self.waveform = waveform
        self.turns = tuple(turns)
        self.heard = 0
        """Words that a recogniser heard in it, once the text was asked for."""
        self._worded: dict[int, SpeakerTurn] | None = None

    def worded(self, turn: SpeakerTurn, wording: Wording) -> SpeakerTurn:
        if self._worded is None:
            worded = wording.give(self.waveform, self.turns)
            self._worded, self.heard = {t.index: t for t in worded.turns}, worded.heard
        return self._worded[turn.index]


@dataclass(frozen=True, slots=True)
class HeardTurn:
    turn: SpeakerTurn
    """Its `index` counts over all channels."""
    embedding: SpeakerEmbedding | None
    stretch: Stretch
    own_index: int
    """Of the turn within its channel."""
    twinned: bool = False
    """It is to be heard as a telephone would carry it, too."""

    @property
    def begins_stretch(self) -> bool:
        return self.own_index == self.stretch.turns[0].index

    @property
    def ends_stretch(self) -> bool:
        return self.own_index == self.stretch.turns[-1].index

    def worded(self, wording: Wording) -> SpeakerTurn:
        """The turn with its text. Heavy the first time for each stretch."""
        own = self.stretch.worded(replace(self.turn, index=self.own_index), wording)
        return replace(own, index=self.turn.index)


class Blocks(Protocol):
    """Sound from its start in pieces of `seconds`; the last may be shorter."""

    def __call__(self, *, seconds: float) -> Iterator[Waveform]: ...


Diarise = Callable[[Iterable[Waveform], str], Iterator[DiarisedBlock]]
"""Blocks of one channel and the prefix of its tracks' names → diarised blocks."""


def heard_turns(
    path: Path,
    channels: Sequence[int | None],
    diarise: Diarise,
    watch: Stopwatch,
    config: HearingConfig | None = None,
    sound: Blocks | None = None,
) -> Iterator[HeardTurn]:
    """All turns by their start, lazily: memory is that of one diarised block a channel. Deterministic. `sound`: in place of
    what is in the file, of one channel."""
    config = config or HearingConfig()
    sounds = {channel: sound or partial(decode.blocks, path, channel=channel) for channel in channels}
    streams = [_channel(sounds[channel], channel, diarise, watch, config) for channel in channels]
    in_order = heapq.merge(*streams, key=lambda heard: (heard.turn.segment, heard.turn.track))
    twinned = Twinned(config.twins)
    return (
        replace(heard, turn=replace(heard.turn, index=index), twinned=twinned(heard.turn))
        for index, heard in enumerate(in_order)
    )


def by_diariser(diariser: Diariser) -> Diarise:
    return lambda blocks, prefix: diariser(blocks, prefix=prefix)


def by_transcript(transcript: Transcript, encoder: SpeakerEncoder, segmenter: Segmenter) -> Diarise:
    """Boundaries and speakers as the transcript has them, net speech without the pauses inside them."""
    given = [GivenSegment(part.segment, part.label) for part in transcript.segments]
    return lambda blocks, prefix: given_turns(blocks, given, encoder, segmenter=segmenter)


def channels_of(path: Path, num_channels: int, transcript: Transcript | None) -> tuple[int | None, ...]:
    """Which channels to hear one by one. A transcript is of the whole recording: its words would be given out twice."""
    return (None,) if num_channels < 2 or transcript is not None else decode.tracks(path)


def unlabelled(transcript: Transcript | None, tracks: Iterable[str]) -> set[str]:
    """Of `tracks`, those that are nobody's by name: segments without a speaker in a transcript that names others."""
    if transcript is None or not names_speakers(transcript):
        return set()
    return set(tracks) - {part.label for part in transcript.segments if part.label}


def _channel(
    sound: Blocks, channel: int | None, diarise: Diarise, watch: Stopwatch, config: HearingConfig
) -> Iterator[HeardTurn]:
    blocks = watch.each("decode", sound(seconds=config.decoded))
    prefix = "" if channel is None else f"channel_{channel + 1}/"
    for block in watch.each("diarise", diarise(blocks, prefix)):
        embeddings = dict(zip((turn.index for turn in block.turns), block.embeddings, strict=True))
        for stretch in stretches(block.waveform, block.turns, config):
            for turn in stretch.turns:
                yield HeardTurn(turn, embeddings[turn.index], stretch, turn.index)


def stretches(waveform: Waveform, turns: Sequence[SpeakerTurn], config: HearingConfig) -> Iterator[Stretch]:
    """`turns` of a block in groups of about `stretch` seconds, cut where nobody's turn goes on."""
    group: list[SpeakerTurn] = []
    begin = waveform.start
    for turn in turns:
        end = max((t.segment.end for t in group), default=turn.segment.start)
        gap = turn.segment.start - end
        if group and gap >= 0 and (end - group[0].segment.start >= config.stretch or gap >= config.silence):
            yield _stretch(waveform, group, begin, end + gap / 2, config)
            begin, group = end + gap / 2, []
        group.append(turn)
    if group:
        yield _stretch(waveform, group, begin, waveform.segment.end, config)


def _stretch(waveform: Waveform, turns: Sequence[SpeakerTurn], begin: float, end: float, config: HearingConfig) -> Stretch:
    first, last = turns[0].segment.start - config.margin, max(turn.segment.end for turn in turns) + config.margin
    return Stretch(waveform.crop(Segment(max(begin, first), min(end, last))), turns)
