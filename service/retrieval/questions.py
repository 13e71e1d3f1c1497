"""What kind of answer does a question want, and who of those it names is to have said it to whom? Rules over its words.

English in full; German and Spanish for the plain forms ("Was hat Ana Bo gesagt?", "¿Quién le dijo a Bo …?"); of Chinese only
when, and while I was out. What the rules do not see is an ordinary question about everybody it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from service.retrieval.question_words import (
    ABSENT,
    AND,
    BE,
    BY,
    COMMITMENT,
    FROM,
    GERMAN_HAVE,
    HAVE,
    HEAR,
    IDEA,
    LEAD,
    LIST,
    MISSED,
    OPEN,
    PARTS,
    PROMISE,
    SAY,
    SKIPPED,
    SPANISH_SAY,
    TALK,
    TELL,
    TO,
    UNDERTAKEN,
    WHEN,
    WHO,
)
from service.types.search import QuestionType, Wants


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question, or somebody it names."""

    text: str
    """Lower case; of somebody as written."""
    people: tuple[str, ...] | None = None
    """Their ids; None: a word. Empty: the asker, where nobody in particular asks."""
    asker: bool = False
    owner: bool = False
    """Ana's, my: owns something, and says nothing by that."""


@dataclass(frozen=True, slots=True)
class Understood:
    """Ids of people throughout."""

    type: QuestionType
    speakers: tuple[str, ...] = ()
    addressees: tuple[str, ...] = ()
    mutual: bool = False
    """They spoke with one another: both are speakers and addressees."""
    wants: Wants | None = None
    absent: bool = False
    """What was said while the asker was not there."""
    verbs: frozenset[str] = frozenset()
    """Its word for saying, which says nothing about what was said; empty without one."""


def without_lead(question: str) -> str:
    """`question` without "can you tell me …": who is told by that is the asker, by whoever answers."""
    return LEAD.sub("", question, count=1)


def without_absence(question: str) -> tuple[str, bool]:
    """`question` without "while I was out", and whether it asks for what was said while the asker was not there."""
    rest = ABSENT.sub(" ", question)
    return rest, rest != question or bool(MISSED.search(question))


def parts(question: str) -> tuple[str, ...]:
    """The questions that it is made of; empty for a single one. Each after the first keeps whom the first names only by
    pronouns, which nothing here resolves: they are looked for beside the whole, never instead of it."""
    found = tuple(part.strip() for part in PARTS.split(question) if len(part.split()) >= 3)
    return found if len(found) > 1 else ()


def understand(question: str, words: Sequence[Word], *, absent: bool = False) -> Understood:
    """`words`: those of `question`, people in it marked."""
    roles = replace(_roles(_grouped(words)), absent=absent)
    if roles.wants is None and IDEA.search(question):
        roles = replace(roles, wants=Wants.SPEAKER, speakers=(), addressees=())
    return replace(roles, type=_type(question, roles))


def _type(question: str, roles: Understood) -> QuestionType:
    if roles.wants is not None:
        return QuestionType.WHO
    if WHEN.search(question):
        return QuestionType.TEMPORAL
    if UNDERTAKEN.search(question):
        return QuestionType.COMMITMENT
    if OPEN.search(question):
        return QuestionType.OPEN
    if (roles.verbs & PROMISE and (roles.speakers or roles.addressees)) or COMMITMENT.search(question):
        return QuestionType.COMMITMENT
    if roles.absent or roles.addressees or roles.mutual:
        return QuestionType.DIRECTED
    return QuestionType.LIST if LIST.search(question) else QuestionType.LOOKUP


def _grouped(words: Sequence[Word]) -> tuple[Word, ...]:
    """With "Ana, Bo and me" as one."""
    found: list[Word] = []
    position = 0
    while position < len(words):
        word = words[position]
        joins = found and found[-1].people is not None and not found[-1].owner
        if joins and word.text in AND and position + 1 < len(words) and (other := words[position + 1]).people is not None:
            found[-1] = replace(found[-1], people=(*(found[-1].people or ()), *(other.people or ())), text=f"{found[-1].text}+")
            found[-1] = replace(found[-1], owner=other.owner)
            position += 2
            continue
        found.append(word)
        position += 1
    return tuple(found)


def _roles(words: Sequence[Word]) -> Understood:
    """Of the first word for saying that says who spoke or to whom."""
    verbs = frozenset(w.text for w in words if w.people is None and w.text in (TELL | SAY | TALK | HEAR))
    for i, word in enumerate(words):
        if word.people is None and word.text in verbs:
            roles = _around(words, i)
            if roles is not None:
                return replace(roles, verbs=frozenset({word.text}))
    return Understood(QuestionType.LOOKUP)


def _around(words: Sequence[Word], verb: int) -> Understood | None:
    """Who spoke, and to whom, by the word for saying at `verb`; None when it tells neither."""
    text, tells = words[verb].text, words[verb].text in TELL
    before, after = _near(words, range(verb - 1, -1, -1)), _near(words, range(verb + 1, len(words)))
    to, by = _behind(words, verb, TO), _behind(words, verb, BY)
    if text in HEAR:
        return _heard(words, verb, before)
    if text in SPANISH_SAY:
        return _spanish(words, verb)
    if any(w.text in GERMAN_HAVE for w in words[:verb]):
        return _german(words, verb, to, tells)
    if _is_passive(words, verb):
        if before is not None and before.text in WHO and tells:
            return _made(_people(by), (), Wants.ADDRESSEE)
        return _made(_people(by), _people(before) if tells else _people(to))
    subject, addressee = before, (after if tells else to) or to
    if addressee is not None and addressee.people is None:
        addressee = None
    if subject is not None and subject.text in WHO:
        return _made((), _people(addressee), Wants.SPEAKER)
    if subject is None or subject.people is None:
        return _made((), _people(addressee)) if addressee is not None else None
    if addressee is None and _asks_whom(words, verb):
        return _made(_people(subject), (), Wants.ADDRESSEE)
    both = tuple(dict.fromkeys((*_people(subject), *_people(addressee))))
    if text in TALK and len(both) > 1:
        return replace(_made(both, both), mutual=True)
    return _made(_people(subject), _people(addressee))


def _heard(words: Sequence[Word], verb: int, before: Word | None) -> Understood | None:
    """What did Bo hear from Ana? Who did Bo hear it from?"""
    source = _behind(words, verb, FROM)
    if before is None or before.people is None:
        return None
    if source is None and _asks_whom(words, verb) and words[-1].text in FROM:
        return _made((), _people(before), Wants.SPEAKER)
    return _made(_people(source), _people(before)) if source else None


def _spanish(words: Sequence[Word], verb: int) -> Understood | None:
    """¿Qué le dijo Ana a Bo? ¿Quién le contó a Bo …? ¿A quién le dijo Ana …?"""
    to = _behind(words, verb, frozenset({"a"}))
    asked = next((i for i, w in enumerate(words[:verb]) if w.text in WHO), None)
    after = _near(words, range(verb + 1, len(words)))
    speaker = after if after is not None and after.people is not None and after is not to else None
    to = to or next((w for w in words[:verb] if w.asker and w.text.lower() == "me"), None)
    if asked is not None and asked > 0 and words[asked - 1].text == "a":
        return _made(_people(speaker), (), Wants.ADDRESSEE)
    if asked is not None:
        return _made((), _people(to), Wants.SPEAKER)
    return _made(_people(speaker), _people(to)) if speaker or to else None


def _german(words: Sequence[Word], verb: int, to: Word | None, tells: bool) -> Understood | None:
    """Was hat Ana Bo gesagt? Wer hat Bo davon erzählt? Wem hat Ana …? Who speaks stands before whom it is said to."""
    aux = next(i for i, w in enumerate(words[:verb]) if w.text in GERMAN_HAVE)
    named = [w for w in words[aux + 1 : verb] if w.people is not None and not w.owner]
    to = next((w for i, w in enumerate(words[:verb]) if w.people is not None and i and words[i - 1].text in TO), None)
    if to is not None:
        named.remove(to) if to in named else None
    asked = words[aux - 1].text if aux else ""
    if asked == "wem":
        return _made(_people(named[0] if named else None), (), Wants.ADDRESSEE)
    if asked == "wer":
        return _made((), _people(to or (named[0] if named else None)), Wants.SPEAKER)
    if not named and to is None:
        return None
    return _made(_people(named[0] if named else None), _people(to or (named[1] if len(named) > 1 else None)))


def _is_passive(words: Sequence[Word], verb: int) -> bool:
    """was told, been said; in a question with whom it is about between: was Bo told."""
    for word in reversed(words[max(0, verb - 4) : verb]):
        if word.text in BE:
            return not words[verb].text.endswith("ing")
        if word.people is None and word.text not in SKIPPED:
            return False
    return False


def _asks_whom(words: Sequence[Word], verb: int) -> bool:
    """who did Ana tell, whom has Ana told, to whom did Ana say."""
    opening = [w.text for w in words[:verb]]
    asked = next((i for i, text in enumerate(opening) if text in WHO), None)
    return asked is not None and any(text in HAVE or words[asked].text == "whom" for text in opening[asked + 1 :])


def _near(words: Sequence[Word], positions: range) -> Word | None:
    """The next somebody, or "who", with nothing but small words between."""
    for i in positions:
        word = words[i]
        if (word.people is not None and not word.owner) or word.text in WHO:
            return word
        if word.people is not None or word.text not in SKIPPED:
            return None
    return None


def _behind(words: Sequence[Word], verb: int, openers: frozenset[str]) -> Word | None:
    """Whoever stands right behind one of `openers`, somewhere behind the verb."""
    for opener, follows in pairwise(words[verb + 1 :]):
        if opener.text in openers and follows.people is not None and not follows.owner:
            return follows
    return None


def _people(word: Word | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.people or ())) if word is not None else ()


def _made(speakers: tuple[str, ...], addressees: tuple[str, ...], wants: Wants | None = None) -> Understood:
    return Understood(QuestionType.LOOKUP, speakers, addressees, wants=wants)
