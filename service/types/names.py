"""When are two names the same? In one form of their letters: for people, for what is spoken of, and for words of a question."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """NFKC, case-folded, with straight apostrophes."""
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def normal(name: str) -> str:
    """Folded, blanks single, no possessive, nothing that only stands around it."""
    return " ".join(folded(name).split()).removesuffix("'s").strip(" '\"-.,")
