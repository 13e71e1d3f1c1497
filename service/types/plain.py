"""What may a name, a title or a key be? One plain line of some length: it is shown in lists, logs and prompts."""

from __future__ import annotations

import re
import unicodedata

from service.errors import InvalidInput

MAX_TEXT = 200
"""Characters."""

_UNSEEN = re.compile("[\u200b\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")
"""Tags and supplementary selectors, blanks without width, marks that turn the direction. Joiners, which scripts need, stay."""


def seen(text: str) -> str:
    """Without what no reader sees and a language model reads: whole sentences can be written in tags behind one letter."""
    return _UNSEEN.sub("", text)


def short(what: str, text: str) -> str:
    """`text` without blanks around it. Raises InvalidInput for an empty or a very long one, and for one that is not one plain
    line."""
    text = text.strip()
    if not 0 < len(text) <= MAX_TEXT:
        raise InvalidInput(what=what, given=f"{len(text)} characters", needed=f"1 to {MAX_TEXT}")
    if not is_plain(text):
        raise InvalidInput(what=what, given="a text with control characters", needed="one line without them")
    return text


def is_plain(text: str) -> bool:
    """One line without control characters, also not U+0000 to U+001F, and without halves of surrogate pairs."""
    return not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)
