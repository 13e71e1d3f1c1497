"""How does a question become a full-text query? As words only: nothing a user writes is an operator."""

from __future__ import annotations

import re
import unicodedata

MAX_TERMS = 256
"""Lucene refuses a query of more than 1,024 clauses; the gate needs some of them."""

NAME_WEIGHT = 0.3
"""Of a word that names somebody. Fused Recall@15 on LoCoMo (661 questions, English analyzer): names left out 82.4 %, at 0.3
82.0, at 1 80.9; left out, what is said about a third person would not be found."""

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


def lucene_query(words: str, names: str = "") -> str:
    """The full-text query for the words and the names of a plan; empty when there is nothing to look for."""
    faint = [f"{name}^{NAME_WEIGHT}" for name in escaped(names).split()]
    return " ".join([*escaped(words).split(), *faint])
