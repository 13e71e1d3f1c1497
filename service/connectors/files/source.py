"""What does a transcript file say, as clean text, whatever program wrote it?"""

from __future__ import annotations

import codecs
import json
import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any

from service.errors import VoicegraphError

MAX_BYTES = 100_000_000
"""A day of WhisperX JSON with every word is about 30 MB."""
MAX_NAME = 100
"""Characters of a speaker's name; what is longer is text, not a name."""
SAMPLE = 4_000
"""Bytes of the beginning that tell text from sound, and how text is encoded."""
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


class TranscriptUnreadable(VoicegraphError):
    code = "transcript_unreadable"
    says = "{source}, {place}: {what} `voicegraph formats` lists what is read; --format names one."
    http_status = 422


class Written:
    """A transcript file as text, and as JSON once that is asked for."""

    def __init__(self, text: str, name: str) -> None:
        """`name`: the file's, for errors, and to pick one recording of several."""
        self.text, self.name = text, name
        self._document: Any = None
        self._read = False

    @property
    def looks_like_json(self) -> bool:
        return self.text.lstrip().startswith(("{", "["))

    def document(self) -> Any:
        """The JSON it holds; of JSON lines their list. Raises TranscriptUnreadable with the line."""
        if not self._read:
            self._document = self._lines() if self._is_lines() else self._loads(self.text)
            self._read = True
        return self._document

    def peek(self) -> Any:
        """As `document`, and None for what is no JSON."""
        if not self.looks_like_json:
            return None
        try:
            return self.document()
        except TranscriptUnreadable:
            return None

    def refuse(self, place: str, what: str) -> TranscriptUnreadable:
        return TranscriptUnreadable(source=self.name, place=place, what=what)

    def _is_lines(self) -> bool:
        """Whether the first line is a whole object, and another begins after it."""
        first, _, rest = self.text.lstrip().partition("\n")
        return first.rstrip().endswith("}") and rest.lstrip().startswith("{")

    def _lines(self) -> list[Any]:
        numbered = enumerate(self.text.split("\n"), start=1)
        return [self._loads(line, number) for number, line in numbered if line.strip()]

    def _loads(self, text: str, line: int = 1) -> Any:
        try:
            return json.loads(text)
        except json.JSONDecodeError as problem:
            raise self.refuse(f"line {problem.lineno + line - 1}", f"not JSON ({problem.msg}).") from problem
        except (ValueError, RecursionError) as problem:  # a number of thousands of digits; thousands of brackets
            what = f"not JSON that can be read ({type(problem).__name__})."
            raise self.refuse("the whole file", what) from problem


def text_of(path: Path) -> str:
    """The file's text with `\\n` for every line end. Encoding: by mark, else UTF-8, else Windows-1252 as old tools write it.

    Raises TranscriptUnreadable."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            what = f"{size} bytes; the most is {MAX_BYTES}."
            raise TranscriptUnreadable(source=path.name, place="the whole file", what=what)
        data = path.read_bytes()
    except OSError as problem:
        raise TranscriptUnreadable(source=path.name, place="the whole file", what=f"{problem.strerror}.") from problem
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as problem:
        what = f"not text in {encoding} ({problem.reason})."
        raise TranscriptUnreadable(source=path.name, place=f"byte {problem.start}", what=what) from problem
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_text(begin: bytes) -> bool:
    """Whether a file that begins so is text: nothing in it that text has not, as every container of sound has."""
    if not begin or any(begin.startswith(mark) for mark, _ in BYTE_ORDER_MARKS[:4]):
        return bool(begin)
    if begin.count(0) > len(begin) // 4:  # UTF-16 without a mark, or sound
        text = begin[: len(begin) // 2 * 2].decode(
            "utf-16-le" if begin[1::2].count(0) > begin[0::2].count(0) else "utf-16-be", "replace"
        )
        return not any(unicodedata.category(c) in ("Cc", "Cn", "Co", "Cs") and c not in "\t\n\r\f" for c in text)
    return not any(byte < 32 and byte not in b"\t\n\r\f" for byte in begin)


def described(value: Any) -> str:
    """What an error says of a value: a number or a clock as it is, of anything else its kind alone. It may be what was said,
    and errors are read by whoever looks after the jobs."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return repr(value)[:40]
    if isinstance(value, str):
        return f"{value!r}" if _NUMBERS.fullmatch(value) else f"text of {len(value)} characters"
    return "a list" if isinstance(value, list) else "an object"


def clean(text: str) -> str:
    """One line with single blanks, without control characters and broken surrogates."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(_CONTROL.sub(" ", text).split())


_NUMBERS = re.compile(r"[-+0-9.,:> ]{0,40}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Unicode's category Cc."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


NOBODY = frozenset(
    (
        "unknown", "unknown speaker", "none", "null", "nil", "undefined", "nan", "n/a", "speaker", "guest", "anonymous",
        "unnamed", "unbekannt", "sprecher", "gast", "desconocido", "hablante", "invitado", "inconnu", "invité",
        "未知", "发言人", "说话人", "访客", "匿名",
    )
)  # fmt: skip
"""What programs write where they do not know who speaks. With a number behind it, it tells voices apart: "Speaker 1"."""


@lru_cache(maxsize=10_000)
def clean_name(name: str) -> str | None:
    """A speaker's name as data: one line, limited length; None when nothing is left."""
    return clean(name)[:MAX_NAME].strip() or None


@lru_cache(maxsize=10_000)
def speaker_label(name: str | None) -> str | None:
    """The label of a speaker; None also where it only says that nobody knows who it is: two unknown speakers are not one."""
    cleaned = clean_name(name or "")
    return None if cleaned is None or cleaned.strip(" <>[]()").casefold() in NOBODY else cleaned


def _encoding(data: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    sample = data[:SAMPLE]
    if sample.count(0) > len(sample) // 4:  # UTF-16 without a mark: every other byte of Western text is 0
        return "utf-16-le" if sample[1::2].count(0) > sample[0::2].count(0) else "utf-16-be"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
