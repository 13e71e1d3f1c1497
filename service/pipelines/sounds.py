"""What is heard in the turns of those who agreed to it: how they speak, and what else sounds? A session's turns are listened to
once it is complete, where their speaker alone is heard; broken off anywhere, all of it is done again and ends the same."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from service.audio import decode
from service.audio.prosody import prosody
from service.audio.sounds.piece import PieceConfig, encoded
from service.audio.sounds.spectra import embedding
from service.graph.driver import Graph
from service.graph.spaces import get_space
from service.graph.write_audiences import PUBLIC
from service.graph.write_sounds import (
    SpokenBefore,
    TurnToHear,
    finish_sounds,
    list_manners_before,
    list_turns_to_hear,
    save_sounds,
)
from service.memory.manner import MannerConfig, Usually, manners, usually
from service.types.audio import Segment, Waveform
from service.types.sounds import HeardSound, Manner, Piece, SoundLabel, SoundTagger, Tagged


@dataclass(frozen=True, slots=True)
class SoundsConfig:
    batch: int = 200  # sounds a write: with their pieces some 4 MB
    decoded: float = 30.0  # seconds of sound in memory at a time, besides the turns that go over its edge
    longest: float = 60.0  # seconds of a turn that are listened to, from its start
    shortest: float = 0.4  # seconds in which the speaker alone is heard: less holds no laugh
    usual: int = 200  # turns of a speaker, the newest, that tell how they usually speak: some hours of talk
    manner: MannerConfig = field(default_factory=MannerConfig)
    piece: PieceConfig = field(default_factory=PieceConfig)


@dataclass(frozen=True, slots=True)
class SessionHeard:
    session_id: str
    num_turns: int
    """Listened to now; of people who did not agree none is."""
    num_sounds: int
    """Heard in them."""


@dataclass(frozen=True, slots=True)
class _Recording:
    sound: Path
    by_channel: bool
    given: bool
    keeps: bool


@dataclass(frozen=True, slots=True)
class _Heard:
    """One turn that was listened to."""

    turn: TurnToHear
    tagged: tuple[tuple[Tagged, Piece | None], ...]
    manner: Manner
    longest: Segment
    """Of the stretches in which the speaker alone is heard."""
    piece: Piece | None
    """Of that one."""


class RememberSounds:
    """One a process. `tagger`: made when somebody's turns are first to be listened to; most spaces never need it."""

    def __init__(
        self,
        graph: Graph,
        tagger: Callable[[], Awaitable[SoundTagger]],
        name: str,
        config: SoundsConfig | None = None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`name`: of the tagger, known before it is made."""
        self._graph, self._tagger, self._name, self._clock = graph, tagger, name, clock
        self._config = config or SoundsConfig()

    async def __call__(
        self, space: str, session_id: str, *, sound: Path, by_channel: bool = False, given: bool = False
    ) -> SessionHeard:
        """`by_channel`: the channels of the recording hold different people. `given`: a transcript came with it, which may say
        who speaks when; nobody listened for who speaks besides, so no piece is kept and nothing is heard in turns that overlap.
        Raises the decoder's errors, and the tagger's where it cannot be loaded."""
        turns = await self._graph.read(list_turns_to_hear, space, session_id, self._name)
        waiting = [turn for turn in turns if turn.pending]
        if not waiting:
            return SessionHeard(session_id, 0, 0)
        people = sorted({turn.person for turn in waiting if turn.person})
        before = await self._graph.read(list_manners_before, space, session_id, people, self._config.usual)
        keeps = (await self._graph.read(get_space, space)).keeps_sound and not given
        recording = _Recording(sound, by_channel, given, keeps)
        tagger = await self._tagger()
        sounds = await asyncio.to_thread(self._heard, turns, people, before, tagger, recording)
        kept = 0
        for start in range(0, len(sounds), self._config.batch):
            batch = sounds[start : start + self._config.batch]
            kept += await self._graph.write(save_sounds, space, batch, self._name, self._clock())
        await self._graph.write(finish_sounds, space, session_id, people, [sound for _, sound in sounds], self._name)
        return SessionHeard(session_id, len(waiting), kept)

    def _heard(
        self,
        turns: Sequence[TurnToHear],
        people: Sequence[str],
        before: Mapping[str, Sequence[SpokenBefore]],
        tagger: SoundTagger,
        recording: _Recording,
    ) -> list[tuple[str, HeardSound]]:
        """All turns of `people`, also those heard before: how somebody usually speaks is told by all of them."""
        channels = decode.tracks(recording.sound) if recording.by_channel else (None,)
        heard: list[_Heard] = []
        for channel in channels:
            on = [turn for turn in turns if channel is None or turn.track.startswith(f"channel_{channel + 1}/")]
            heard += self._on_channel(recording, channel, on, frozenset(people), tagger)
        usual = _usual(heard, before, self._config)
        return [pair for one in heard for pair in self._sounds(one, usual[_of(one.turn)])]

    def _on_channel(
        self,
        recording: _Recording,
        channel: int | None,
        turns: Sequence[TurnToHear],
        people: frozenset[str],
        tagger: SoundTagger,
    ) -> Iterator[_Heard]:
        sure = [turn for turn in turns if turn.person in people and not (recording.given and turn.overlapped > 0.0)]
        wanted = {turn.message_id: alone(turn, turns, self._config) for turn in sure}
        keeps = recording.keeps
        for turn, waveform in _cut(
            recording.sound, channel, [turn for turn in turns if wanted.get(turn.message_id)], self._config
        ):
            own = [waveform.crop(stretch) for stretch in wanted[turn.message_id]]
            own = [stretch for stretch in own if stretch.duration >= self._config.shortest]
            if own:
                found = [(tagged, self._piece(stretch, tagged.segment, keeps)) for stretch in own for tagged in tagger(stretch)]
                longest = max(own, key=lambda stretch: stretch.duration)
                piece = self._piece(longest, longest.segment, keeps)
                yield _Heard(turn, tuple(found), _manner(turn, own), longest.segment, piece)

    def _piece(self, waveform: Waveform, segment: Segment, keeps: bool) -> Piece | None:
        if not keeps:
            return None
        samples = waveform.crop(segment).samples
        return Piece(encoded(samples, self._config.piece), embedding(samples))

    def _sounds(self, heard: _Heard, usual: Usually) -> Iterator[tuple[str, HeardSound]]:
        """Each label once, where it is surest."""
        turn = heard.turn
        assert turn.person is not None, "turns of people alone are listened to"
        how = manners(heard.manner, usual, words=turn.words, net_speech=turn.net_speech, config=self._config.manner)
        found = [*heard.tagged, *((Tagged(label, heard.longest, score), heard.piece) for label, score in how.items())]
        best: dict[SoundLabel, tuple[Tagged, Piece | None]] = {}
        for tagged, piece in found:
            if tagged.label not in best or tagged.score > best[tagged.label][0].score:
                best[tagged.label] = tagged, piece
        yield from ((turn.person, HeardSound(turn.message_id, *best[label])) for label in sorted(best))


def alone(turn: TurnToHear, turns: Sequence[TurnToHear], config: SoundsConfig) -> tuple[Segment, ...]:
    """Where no other voice has a turn within this one; only such sound is listened to, and kept."""
    end = min(turn.end, turn.start + config.longest)
    free = [Segment(turn.start, end)]
    for other in turns:
        if other.track == turn.track or other.start >= end or other.end <= turn.start:
            continue
        cut = [(Segment(one.start, min(one.end, other.start)), Segment(max(one.start, other.end), one.end)) for one in free]
        free = [part for pair in cut for part in pair if part.end > part.start]
    return tuple(one for one in free if one.duration >= config.shortest)


def _cut(
    sound: Path, channel: int | None, turns: Sequence[TurnToHear], config: SoundsConfig
) -> Iterator[tuple[TurnToHear, Waveform]]:
    """Each turn with its sound, whole, also over the edges of what is decoded at a time; in the order in which they end."""
    open_: dict[str, list[Waveform]] = defaultdict(list)
    left = sorted(turns, key=lambda turn: turn.start)
    for block in decode.blocks(sound, seconds=config.decoded, channel=channel) if left else ():
        reached = [turn for turn in left if turn.start < block.segment.end]
        for turn in reached:
            open_[turn.message_id].append(block.crop(Segment(turn.start, min(turn.end, turn.start + config.longest))))
        done = [turn for turn in reached if turn.end <= block.segment.end]
        yield from ((turn, _joined(open_.pop(turn.message_id))) for turn in done)
        gone = {turn.message_id for turn in done}
        left = [turn for turn in left if turn.message_id not in gone]
    yield from ((turn, _joined(open_[turn.message_id])) for turn in left if turn.message_id in open_)


def _joined(pieces: Sequence[Waveform]) -> Waveform:
    return Waveform(np.concatenate([piece.samples for piece in pieces]), pieces[0].start)


def _manner(turn: TurnToHear, own: Sequence[Waveform]) -> Manner:
    joined = Waveform(np.concatenate([piece.samples for piece in own]), 0.0)
    made = prosody(joined, [joined.segment])
    if made is None:
        return Manner(turn.level, None, turn.rate, None)
    return Manner(made.level if turn.level is None else turn.level, made.pitch, turn.rate, made.voiced)


_Of = tuple[str, str | None, frozenset[str]]


def _of(turn: TurnToHear) -> _Of:
    """Person, channel, readers: of such turns it is the same what is usual."""
    return turn.person or "", turn.channel, turn.readers


def _usual(heard: Sequence[_Heard], before: Mapping[str, Sequence[SpokenBefore]], config: SoundsConfig) -> dict[_Of, Usually]:
    """Of this session and what was said before it, for each turn by what all of its readers may read: who is told that somebody
    spoke faster than usual is told of nothing else that they said."""
    spoken: dict[tuple[str, str | None], list[tuple[frozenset[str], Manner]]] = defaultdict(list)
    for one in heard:
        spoken[one.turn.person or "", one.turn.channel].append((one.turn.readers, one.manner))
    for person, earlier in before.items():
        for then in earlier:
            spoken[person, then.channel].append((then.readers, then.manner))

    def known(to: frozenset[str], person: str, channel: str | None) -> list[Manner]:
        return [manner for readers, manner in spoken[person, channel] if PUBLIC in readers or to <= readers]

    wanted = {_of(one.turn) for one in heard}
    return {(p, c, to): usually(known(to, p, c)[: config.usual], config.manner) for p, c, to in wanted}
