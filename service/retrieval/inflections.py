"""As what else may a word of the question have been said? "Buy" as "bought", "researched" as "researching".

The full-text index keeps words as they are, since one stemmer would suit one language; so the question asks for all forms
of an English word. A form that is no word finds nothing and harms nothing. Words of other scripts stand for themselves.
"""

from __future__ import annotations

import re

MIN_LETTERS = 3
"""Shorter words have no ending to take off."""

_IRREGULAR = """
be am is are was were been being|become became|begin began begun|bite bit bitten|blow blew blown|break broke broken
bring brought|build built|buy bought|catch caught|choose chose chosen|come came|cost|cut|deal dealt|dig dug|do did done does
draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt
fight fought|find found|fly flew flown|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen
get got gotten|give gave given|go went gone goes|grow grew grown|hang hung|have has had|hear heard|hide hid hidden|hit
hold held|hurt|keep kept|know knew known|lead led|learn learnt|leave left|lend lent|let|lose lost|make made|mean meant
meet met|pay paid|put|read|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|sell sold
send sent|set|shake shook shaken|shine shone|shoot shot|show shown|shut|sing sang sung|sink sank sunk|sit sat|sleep slept
speak spoke spoken|spend spent|spread|stand stood|steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept
swim swam swum|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown
understand understood|wake woke woken|wear wore worn|win won|write wrote written
man men|woman women|child children kid kids|person people persons|foot feet|tooth teeth|mouse mice|life lives|wife wives
half halves|leaf leaves|knife knives|shelf shelves|self selves|wolf wolves|thief thieves|photo photos pic pics picture pictures
mom mother mum|dad father|pet pets
"""
_VOWELS = "aeiou"
_WORD = re.compile(r"[a-z]+")


def _table() -> dict[str, tuple[str, ...]]:
    families = [line.split() for line in re.split(r"[|\n]", _IRREGULAR) if line.strip()]
    return {word: tuple(family) for family in families for word in family}


_FAMILY = _table()


def forms(word: str) -> tuple[str, ...]:
    """`word`, lower-cased, first, then as what else it may stand in a text; alone where it has no English endings."""
    word = word.casefold()
    said = word.replace("’", "'")
    said = said.removesuffix("'s")
    if len(said) < MIN_LETTERS or not _WORD.fullmatch(said):
        return tuple(dict.fromkeys((word, said)))
    found, roots = dict.fromkeys((word, said)), [said]
    for known in roots:
        if known in _FAMILY:
            family = _FAMILY[known]
            return tuple(found | dict.fromkeys((known, *family, *_endings(family[0]))))
        bases = _bases(known)
        found |= dict.fromkeys((*bases, *(() if bases and known.endswith("ed") else _endings(known)[: 1 if bases else None])))
        roots.extend(base for base in bases if base not in roots)
    return tuple(found)


def _bases(word: str) -> tuple[str, ...]:
    """What `word` may be a form of, the likeliest first."""
    if word.endswith("ies") and len(word) > 4:
        return (word[:-3] + "y",)
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return (word[:-2],)
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return (word[:-1],)
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= MIN_LETTERS - 1 and any(c in _VOWELS + "y" for c in stem):
            if ending == "ed" and stem.endswith("i"):
                return (stem[:-1] + "y",)
            if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
                return (stem[:-1],)
            return (stem, stem + "e")
    return ()


def _endings(base: str) -> tuple[str, ...]:
    """Regular forms of `base`: with s first, then the past and -ing."""
    if base.endswith("e"):
        return (base + "s", base + "d", base[:-1] + "ing")
    if base.endswith("y") and len(base) > 1 and base[-2] not in _VOWELS:
        return (base[:-1] + "ies", base[:-1] + "ied", base + "ing")
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return (base + "es", base + "ed", base + "ing")
    regular = (base + "s", base + "ed", base + "ing")
    if len(base) >= MIN_LETTERS and base[-1] not in _VOWELS + "wxy" and base[-2] in _VOWELS and base[-3] not in _VOWELS:
        return (*regular, base + base[-1] + "ed", base + base[-1] + "ing")
    return regular
