"""Who says what within a cue: voice tags, `Name: text`, dashes?"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from service.connectors.files.cues import Cue
from service.connectors.files.source import clean, clean_name, speaker_label
from service.connectors.files.words import divided
from service.types.audio import TranscriptSegment

_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?(?:\s([^<>]*))?>|(</v>)", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:c|i|b|u|v|s|lang|ruby|rt|font)(?:[.\s][^<>]*)?>"  # WebVTT's and SRT's formatting
    r"|<[0-9]{1,2}(?::[0-9]{2})+\.[0-9]{3}>"  # karaoke timestamps
    r"|\{\\[^{}]*\}",  # SubStation positions in SRT
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^\[?([^\W_][^:：<>\[\]]*?)\]?\s*(?::(?=\s|$)|：)\s*(.*)$")
_DASH = re.compile(r"^\s*[-–—]\s+")
_PARTICLES = frozenset({"al", "bin", "da", "de", "del", "den", "der", "di", "dos", "du", "el", "la", "le", "van", "von", "y"})
"""Written small inside names: Vincent van Gogh."""


@dataclass(frozen=True, slots=True)
class NameConfig:
    """When `Name: text` names a speaker: nothing in the formats says so, the whole file has to."""

    most_words: int = 5
    usual: float = 0.5
    """Where this share of the cues has a prefix, as Zoom writes them, one that looks like a name is believed …"""
    repeated: int = 3
    """… elsewhere, only one that comes this often."""


@dataclass(frozen=True, slots=True)
class _Part:
    label: str | None
    text: str


def segments_of(cues: Sequence[Cue], *, language: str | None = None) -> tuple[TranscriptSegment, ...]:
    """One segment for each voice of each cue, in order of time; a cue with several is divided by their texts' lengths."""
    spoken = [(cue, [_Part(*said) for said in cue.said] if cue.said is not None else list(_tagged(cue))) for cue in cues]
    if not any(part.label for _, parts in spoken for part in parts):
        names = names_in([[line for part in parts for line in _lines(part.text)] for _, parts in spoken])
        spoken = [(cue, list(_prefixed(parts, names))) for cue, parts in spoken]
    found = []
    for cue, parts in spoken:
        said = [part for part in parts if part.text]
        for part, segment in zip(said, divided([part.text for part in said], cue.segment), strict=True):
            found.append(TranscriptSegment(segment, speaker_label(part.label), clean(part.text), language=language))
    return tuple(sorted(found, key=lambda part: part.segment.start))


def names_in(cues: Sequence[Sequence[str]], config: NameConfig | None = None) -> frozenset[str]:
    """The prefixes before a colon that name speakers, judged over the lines of all cues of a file."""
    config = config or NameConfig()
    prefixes = [[name for line in lines if (name := _prefix(line, config))] for lines in cues]
    short = Counter(name for found in prefixes for name in found)
    usual = sum(1 for found in prefixes if found) >= config.usual * len(cues)
    return frozenset(name for name, n in short.items() if n >= config.repeated or (usual and looks_like_a_name(name)))


def _prefix(line: str, config: NameConfig) -> str | None:
    """What stands before a colon, if it is short enough for a name."""
    match = _PREFIX.match(_DASH.sub("", line))
    name = clean_name(match[1]) if match else None
    return name if name and len(name.split()) <= config.most_words else None


def looks_like_a_name(name: str) -> bool:
    """By its capitals, where its script has them."""
    words = name.split()
    return all(not word[0].islower() or word.lower() in _PARTICLES for word in words) and not words[0].islower()


def _tagged(cue: Cue) -> Iterator[_Part]:
    """The cue's text by voice tags, without any other tags, entities decoded once; lines are kept."""
    label: str | None = None
    position = 0
    text = "\n".join(cue.lines)
    for tag in _VOICE.finditer(text):
        yield _Part(label, plain(text[position : tag.start()]))
        label = None if tag[2] else clean_name(plain(tag[1] or ""))
        position = tag.end()
    yield _Part(label, plain(text[position:]))


def _prefixed(parts: Sequence[_Part], names: frozenset[str]) -> Iterator[_Part]:
    """The parts again, cut where a line begins with one of `names` or a dash."""
    for part in parts:
        label = part.label
        lines: list[str] = []
        for line in _lines(part.text):
            dash = _DASH.match(line)
            rest = line[dash.end() :] if dash else line
            match = _PREFIX.match(rest)
            name = clean_name(match[1]) if match else None
            if dash or name in names:
                yield _Part(label, "\n".join(lines))
                label, lines = (name, []) if name in names else (None, [])
            lines.append(match[2] if match and name in names else rest)
        yield _Part(label, "\n".join(lines))


def plain(text: str) -> str:
    """Clean lines without the formats' own tags, entities decoded once; other signs stay: "a < b and c > d" is said."""
    marked = "<" in text or "{" in text
    lines = (clean(html.unescape(_TAG.sub("", line) if marked else line)) for line in _lines(text))
    return "\n".join(line for line in lines if line)


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]
