"""How does a question become a full-text query? As words only: nothing a user writes is an operator."""

from __future__ import annotations

import re
import unicodedata

MAX_TERMS = 256
"""Lucene refuses a query of more than 1,024 clauses; the gate needs some of them."""

_SPECIAL = re.compile(r'([+\-&|!(){}\[\]^"~*?:\\/])')
_WORD = re.compile(r"\w+")
_IDEOGRAPHS = re.compile(r"[\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")
_SAYS_SOMETHING = ("L", "N", "So")  # categories (of emoji: So) of which a chunk needs one, to leave a token after analysis


def escaped(text: str) -> str:
    """The words of `text` for a Lucene query, any of them may match; empty when no word is left.

    Lower case, so that AND, OR and NOT are words; special characters escaped (org.apache.lucene QueryParserBase.escape);
    what cannot be sent (control characters, lone surrogates) is a blank. At most MAX_TERMS terms are kept, from the start.
    """
    clean = "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") else c for c in text)
    kept: list[str] = []
    terms = 0
    for chunk in dict.fromkeys(clean.lower().split()):
        if not any(unicodedata.category(c).startswith(_SAYS_SOMETHING) for c in chunk):
            continue
        terms += max(1, len(_WORD.findall(chunk))) + len(_IDEOGRAPHS.findall(chunk))
        if terms > MAX_TERMS:
            break
        kept.append(_SPECIAL.sub(r"\\\1", chunk))
    return " ".join(kept)
