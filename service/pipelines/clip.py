"""Whose voice is in a short clip? The one that speaks most, and how much of the speech is somebody else's."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from service.audio.diarise import Diariser
from service.errors import VoicegraphError
from service.pipelines.viewer import HeardVoice
from service.types.audio import SpeakerEmbedding, SpeakerTurn, Waveform


class NobodySpeaks(VoicegraphError):
    code = "nobody_speaks"
    says = "In {seconds:.1f} s of sound nobody speaks for long enough to be told by voice; needed: one sentence, in quiet."
    http_status = 422


class SeveralVoices(VoicegraphError):
    code = "several_voices"
    says = "{share:.0%} of the clip's speech is another voice's; needed: a clip in which only one person speaks."
    http_status = 422


@dataclass(frozen=True, slots=True)
class ClipConfig:
    max_other: float = 0.15  # share of the speech that may be another voice's: a "thank you", not a conversation


@dataclass(frozen=True, slots=True)
class MainVoice:
    """Of the voice that speaks most: its turns in spoken order, those that could be embedded with their embeddings."""

    turns: tuple[SpeakerTurn, ...]
    embedded: tuple[tuple[SpeakerTurn, SpeakerEmbedding], ...]

    @property
    def net_speech(self) -> float:
        return sum(turn.net_speech for turn in self.turns)


def main_voice(diarise: Diariser, waveform: Waveform, config: ClipConfig | None = None) -> MainVoice:
    """Raises NobodySpeaks, and SeveralVoices when too much of the speech is not the main voice's."""
    tracks: dict[str, list[tuple[SpeakerTurn, SpeakerEmbedding | None]]] = defaultdict(list)
    for block in diarise([waveform]):
        for turn, embedding in zip(block.turns, block.embeddings, strict=True):
            tracks[turn.track].append((turn, embedding))
    speech = {track: sum(turn.net_speech for turn, _ in turns) for track, turns in tracks.items()}
    main = max(speech, key=lambda track: (speech[track], track), default=None)
    if main is None or not speech[main]:
        raise NobodySpeaks(seconds=waveform.duration)
    others = 1 - speech[main] / sum(speech.values())
    if others > (config or ClipConfig()).max_other:
        raise SeveralVoices(share=others)
    heard = tracks[main]
    return MainVoice(tuple(t for t, _ in heard), tuple((t, e) for t, e in heard if e is not None))


def heard_voice(diarise: Diariser, waveform: Waveform) -> HeardVoice:
    """The voice of a spoken question. Raises NobodySpeaks, SeveralVoices."""
    voice = main_voice(diarise, waveform)
    if not voice.embedded:
        raise NobodySpeaks(seconds=waveform.duration)
    channel = voice.embedded[0][0].channel
    return HeardVoice(tuple(e for _, e in voice.embedded), voice.net_speech, channel)
