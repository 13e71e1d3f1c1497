"""Which taggers of sounds are there, and how is one made ready to use?"""

from __future__ import annotations

from pathlib import Path

from service import registry
from service.types.sounds import SoundTagger

TAGGERS = {
    "signals": "service.audio.sounds.signals:SignalTagger",
    "yamnet": "service.audio.sounds.yamnet:YamnetTagger",
}
"""name → class with `load(*, cache, threads)`. `signals` needs nothing and hears laughter with deep gaps and steady tones
alone; `yamnet` needs voicegraph[sounds]."""


def tagger_name(name: str) -> str:
    """What the tagger `name` signs with, before it is loaded. Raises UnknownPlugIn."""
    signed: str = registry.load(TAGGERS, name, kind="tagger of sounds").name
    return signed


def load_tagger(name: str = "signals", *, cache: Path, threads: int = 1) -> SoundTagger:
    """The tagger `name`, its weights in memory. Raises UnknownPlugIn, ModelMissing, WeightsNotKnown."""
    tagger: SoundTagger = registry.load(TAGGERS, name, kind="tagger of sounds").load(cache=cache, threads=threads)
    return tagger
