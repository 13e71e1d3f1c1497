"""How are cues (a time, then lines of text) read, as WebVTT and SRT share them?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from service.connectors.files.source import TranscriptUnreadable, described
from service.types.audio import Segment

_TIME = r"(-)?(?:([0-9]{1,6}):)?([0-5]?[0-9]):([0-5]?[0-9])(?:[.,]([0-9]{1,9}))?"
TIMING = re.compile(rf"^\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?$")
"""Hours are optional and unbounded; settings or coordinates may follow. An arrow in speech does not match. Teams writes times
before the start with a minus."""
_NEARLY_TIMING = re.compile(r"^\s*-?[0-9][0-9:.,]*\s*-->")
_COMMENT = re.compile(r"^(?:NOTE(?:\s|$)|STYLE\s*$|REGION\s*$)")


@dataclass(slots=True)
class Cue:
    line: int
    """Of the timing, from 1."""
    segment: Segment
    lines: list[str] = field(default_factory=list)
    said: tuple[tuple[str | None, str], ...] | None = None
    """Who says what, where the cue tells it otherwise than in text with names: then `lines` is not read."""


@dataclass(slots=True)
class Cues:
    """Collects cues line by line. Lenient: text after a blank line is still the last cue's, and counted in `recovered`."""

    source: str
    comments: bool
    """Whether NOTE, STYLE and REGION blocks may stand between cues, and cues may have names (WebVTT): in SRT only numbers."""
    found: list[Cue] = field(default_factory=list)
    recovered: int = 0
    _paragraph: list[str] = field(default_factory=list)
    _attached: bool = False
    """Whether the paragraph stands right under its timing."""
    _skipping: bool = False
    _number: int | None = None
    """Of the last cue, where it has one."""

    def read(self, numbered: Iterable[tuple[int, str]]) -> Cues:
        """Raises TranscriptUnreadable at a timing that cannot be read."""
        for number, line in numbered:
            if timing := TIMING.match(line):
                self._end_paragraph(before_timing=True)
                self.found.append(Cue(number, self._segment(timing)))
                self._attached = True
            elif _NEARLY_TIMING.match(line):
                what = f"the time {described(line.strip())} cannot be read; needed: hh:mm:ss.mmm --> hh:mm:ss.mmm."
                raise TranscriptUnreadable(source=self.source, place=f"line {number}", what=what)
            elif not line.strip():
                if not (line and self._attached and not self._paragraph):  # rolling captions begin with a line of one blank
                    self._end_paragraph()
            elif self.comments and not self._attached and not self._paragraph and _COMMENT.match(line):
                self._skipping = True
            elif not self._skipping:
                self._paragraph.append(line)
        self._end_paragraph()
        return self

    def _segment(self, timing: re.Match[str]) -> Segment:
        start, end = _seconds(timing.groups()[:5]), _seconds(timing.groups()[5:])
        if end < start or start < 0:
            self.recovered += 1
        return Segment(max(start, 0.0), max(start, end, 0.0))

    def _end_paragraph(self, *, before_timing: bool = False) -> None:
        if before_timing:
            name = self._paragraph.pop().strip() if self._paragraph and self._is_identifier() else ""
            self._number = int(name) if _is_number(name) else None
        if self._paragraph:
            if not self._attached:
                self.recovered += 1
            if self.found:
                self.found[-1].lines += self._paragraph
        self._paragraph, self._attached, self._skipping = [], False, False

    def _is_identifier(self) -> bool:
        """Whether the last line before a timing names the cue rather than being text that lost its place."""
        last, alone = self._paragraph[-1].strip(), len(self._paragraph) == 1
        if _is_number(last) and not (alone and not self._attached):  # a number may be said, too: names of cues count on
            return self._number is not None and int(last) == self._number + 1 and not (alone and self._attached)
        if self._attached or not alone:
            return False
        return _is_number(last) or (self.comments and (not self.found or bool(self.found[-1].lines)))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1."""
    return enumerate(text.split("\n"), start=1)


def _seconds(time: tuple[str | None, ...]) -> float:
    minus, hours, minutes, seconds, fraction = time
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction or 0}")
    return -whole if minus else whole
