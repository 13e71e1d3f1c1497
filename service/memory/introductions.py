"""Does somebody say in a text what they are called? And what only looks like it: possessives, questions, quotations, trades,
other people's names. Few are missed that matter and hardly one is made up: a name wrongly heard is worse than none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from service.memory.chinese_introductions import chinese_introductions
from service.memory.name_phrases import (
    AND,
    BACKWARDS,
    CONTINUES,
    GREETED_NAME,
    GREETS,
    NOUN_ENDINGS,
    OPENERS,
    PARTICLES,
    PHRASES,
    REPORTS,
    SAID_AFTER,
    TAGS,
    Introduction,
    Phrase,
    Says,
)
from service.memory.name_words import AMBIGUOUS, NOT_NAMES, TITLES

__all__ = ["MAX_TEXT", "Introduction", "Says", "introductions", "name_word", "unquoted"]

MAX_TEXT = 4_000
"""Characters that are looked at: about five minutes of talk, after which nobody introduces themself."""
MAX_NAME_WORDS = 4
GREETING_WORDS = 6
"""A sentence of so many words that begins with a greeting still greets the one after it: "Hello everybody! Ich bin Dana."."""

_DOTTED = re.compile(r"\b(mr|mrs|ms|dr|prof|sr|sra|srta|hr|fr|st|[A-ZÀ-Þ])\.(?=\s+\S)", re.IGNORECASE)
_QUOTED = re.compile(
    r"[\"“„«»「『‟][^\"“”„«»「」『』‟]{1,400}[\"”“»«」』]"
    r"|(?<![\w'])'(?=\w)(?:[^']|(?<=\w)'(?=\w)){1,400}'(?!\w)"  # single marks, without the apostrophes in between
)
_WHOLLY_QUOTED = re.compile(r"[\"“„«「][^\"“”„«»「」]+[\"”“»」]")
_MARK = "\ufffc"
_SENTENCE = re.compile(r"([^.!?。！？…\n]+)([.!?。！？…\n]*)")
_CLAUSE = re.compile(r"\s*(?:[,;:，；：、]|\s[—–-]+\s|[—–])\s*")


def introductions(text: str | None) -> tuple[Introduction, ...]:
    """What the speaker of `text` says about their own name, in order, each once."""
    if not text:
        return ()
    plain = unquoted(text)
    return tuple(dict.fromkeys((*_western(plain), *chinese_introductions(plain))))


def unquoted(text: str) -> str:
    """`text` (its first MAX_TEXT characters) in NFKC with straight apostrophes, and a mark in place of what is quoted: others
    said that. A text that is one quotation as a whole is only dressed so."""
    plain = unicodedata.normalize("NFKC", text[:MAX_TEXT])[: 2 * MAX_TEXT]
    plain = plain.replace("’", "'").replace("‘", "'").replace("ʼ", "'").strip()
    return plain[1:-1].strip() if _WHOLLY_QUOTED.fullmatch(plain) else _QUOTED.sub(_MARK, plain)


def _western(text: str) -> Iterator[Introduction]:
    greeted_before = False
    for sentence, marks in _SENTENCE.findall(_DOTTED.sub(r"\1", text)):
        clauses = [clause.strip(" ¿¡()[]*_") for clause in _CLAUSE.split(sentence)]
        asked = "?" in marks or "？" in marks
        reported = False
        greeted = greeted_before
        for position, clause in enumerate(clauses):
            found = _in_clause(clause, greeted)
            if found and not reported and not _taken_back(clauses[position + 1 :], asked=asked):
                yield found
            reported = reported or bool(REPORTS.search(clause)) or _MARK in clause
            greeted = greeted or bool(GREETS.match(clause))
        greeted_before = bool(GREETS.match(clauses[0])) and len(sentence.split()) <= GREETING_WORDS


def _in_clause(clause: str, greeted: bool) -> Introduction | None:
    rest = clause
    while opener := OPENERS.match(rest):
        rest = rest[opener.end() :]
        if opener["greets"] is not None:
            greeted, rest = True, GREETED_NAME.sub("", rest)
    for phrase in PHRASES:
        if opened := phrase.opens.match(rest):
            name = _name(rest[opened.end() :], phrase.closes)
            if name is not None:
                return _said(phrase, name, greeted)
            if phrase.closes is None:
                return None
    backwards = BACKWARDS.match(rest)
    if backwards and _name(backwards["name"], None) == backwards["name"] and (greeted or " " in backwards["name"]):
        return Introduction(backwards["name"], Says.IS)
    return None


def _said(phrase: Phrase, name: str, greeted: bool) -> Introduction | None:
    if phrase.only_greeted and not greeted:
        return None
    says = phrase.says
    if phrase.greeted and greeted and (" " in name or not name.casefold().endswith(NOUN_ENDINGS)):
        says = Says.IS
    if says is Says.IS and name.casefold() in AMBIGUOUS:
        says = Says.MAY_BE
    return Introduction(name, says)


def _name(rest: str, closes: re.Pattern[str] | None) -> str | None:
    """The name that `rest` begins with, if it is one and ends as one does."""
    tokens = rest.split()
    while tokens and tokens[0].casefold() in TITLES:
        tokens = tokens[1:]
    length = 0
    while length < len(tokens) and _belongs(tokens, length):
        length += 1
    name = tokens[:length]
    if not any(map(name_word, name)) or length > MAX_NAME_WORDS or NOT_NAMES.intersection(word.casefold() for word in name):
        return None
    return " ".join(name) if _may_end(tokens[length:], closes) else None


def _belongs(tokens: Sequence[str], place: int) -> bool:
    token = tokens[place]
    if name_word(token):
        return True
    if len(token) == 1 and token.isupper() and token != "I":
        return place > 0 or any(map(name_word, tokens[1:2]))
    return place > 0 and token in PARTICLES and any(map(name_word, tokens[place + 1 : place + 3]))


def name_word(token: str) -> bool:
    """Written as names are: O'Brien, Jean-Luc, McDonald; not USA, not Dana's."""
    if len(token) < 2 or not token[0].isupper() or token.endswith(("'s", "'", "-")) or token.startswith("I'"):
        return False
    letters = token.replace("'", "").replace("-", "")
    return letters.isalpha() and any(c.islower() for c in letters)


def _may_end(left: Sequence[str], closes: re.Pattern[str] | None) -> bool:
    """Whether a name may be over before `left`: not before "and Tom's mother"."""
    if closes is not None:
        return bool(closes.match(" ".join(left))) and (len(left) == 1 or left[1].casefold() in CONTINUES | {"to"})
    if not left:
        return True
    if left[0].casefold() in AND and len(left) > 1 and left[1][0].isupper() and left[1].split("'")[0] != "I":
        return False
    return left[0].casefold() in CONTINUES


def _taken_back(after: Sequence[str], *, asked: bool) -> bool:
    """Whether the clauses after a phrase make it a question or somebody else's words."""
    if after and SAID_AFTER.match(after[0]):
        return True
    return asked and (not after or bool(TAGS.match(after[0])))
