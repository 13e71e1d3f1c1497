"""What do meeting tools write in WebVTT's name? YouTube's captions that roll, Meet's names on lines of their own, and Teams'
JSON inside cues."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from service.connectors.files.cues import Cue
from service.connectors.files.source import clean, speaker_label
from service.connectors.files.voices import NameConfig, looks_like_a_name, plain

_KARAOKE = re.compile(r"<[0-9]{1,2}(?::[0-9]{2})+\.[0-9]{3}><c[.>]")
_NAME_LINE = re.compile(r"^\(([^()]{1,100})\)$")
_USUAL = 0.5
"""Share of the cues that begin with a name in brackets, from which on these are names and not noises: "(laughter)"."""
_NOISES = frozenset(
    (
        "applause", "background noise", "cheering", "chuckle", "chuckles", "clapping", "cough", "coughing", "coughs",
        "crosstalk", "foreign language", "inaudible", "laughing", "laughs", "laughter", "music", "noise", "pause", "sigh",
        "sighing", "sighs", "silence", "speaking foreign language", "unintelligible",
    )
)  # fmt: skip
"""What captions write in brackets and is nobody's name; by hand."""
_CONTIGUOUS = 0.05
"""Seconds between two cues of rolling captions: they follow each other at once."""


def plain_cues(cues: Sequence[Cue]) -> list[Cue]:
    """The cues with what is said once, and by whom where only a flavour's own way tells it."""
    found = list(cues)
    if any(_KARAOKE.search(line) for cue in found for line in cue.lines):
        found = list(_without_rolling(found))
    if names := _names_alone(found):
        found = list(_named(found, names))
    return [_from_json(cue) for cue in found]


def _without_rolling(cues: Iterable[Cue]) -> Iterable[Cue]:
    """Each cue without the lines at its top that the one right before it showed last; what is new in a cue rolls in word by
    word, and stands again, whole, for a moment."""
    shown: list[str] = []
    end = float("-inf")
    for cue in cues:
        lines = [(line, plain(line)) for line in cue.lines]
        texts = [text for _, text in lines if text]
        again = 0
        if cue.segment.start <= end + _CONTIGUOUS:
            again = next((n for n in range(min(len(shown), len(texts)), 0, -1) if shown[-n:] == texts[:n]), 0)
        shown, end = texts or shown, cue.segment.end
        left = [line for line, text in lines if text][again:]
        if left:
            yield replace(cue, lines=left)


def _names_alone(cues: Sequence[Cue]) -> frozenset[str]:
    """The names in brackets on lines of their own; none where few cues begin with one."""
    spoken = [cue for cue in cues if any(line.strip() for line in cue.lines)]
    tops = [_in_brackets(next(line for line in cue.lines if line.strip())) for cue in spoken]
    often = Counter(name for name in tops if name)
    names = {name for name in often if looks_like_a_name(name) or often[name] >= NameConfig().repeated}
    named = sum(often[name] for name in names)
    if not named or named < _USUAL * len(spoken):
        return frozenset()
    inner = {name for cue in spoken for line in cue.lines if (name := _in_brackets(line)) and looks_like_a_name(name)}
    return frozenset(names | inner)


def _in_brackets(line: str) -> str | None:
    found = _NAME_LINE.match(plain(line))
    return found[1] if found and found[1].casefold() not in _NOISES else None


def _named(cues: Iterable[Cue], names: frozenset[str]) -> Iterable[Cue]:
    """A cue without a name at its top goes on with nobody's: whose it is, is not written there."""
    for cue in cues:
        said: list[tuple[str | None, str]] = []
        label: str | None = None
        for line in cue.lines:
            text = plain(line)
            name = _in_brackets(line)
            if name in names:
                label = speaker_label(name)
            elif text and text not in ("-", "–", "—"):
                if said and said[-1][0] == label:
                    said[-1] = (label, f"{said[-1][1]} {text}")
                else:
                    said.append((label, text))
        yield replace(cue, said=tuple(said))


def _from_json(cue: Cue) -> Cue:
    """Of Graph's metadataContent: {"speakerName", "spokenText", …}."""
    text = "\n".join(cue.lines).strip()
    if cue.said is not None or not text.startswith("{") or '"spokenText"' not in text:
        return cue
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return cue
    spoken, name = told.get("spokenText"), told.get("speakerName")
    if not isinstance(spoken, str):
        return cue
    return replace(cue, said=((speaker_label(name) if isinstance(name, str) else None, clean(spoken)),))
