"""How does a question about somebody become one that they ask themselves? By rule, as LoCoMo-ID does it.

"What did Ana buy?" asked by Ana is "What did I buy?". Of 1,986 questions LoCoMo-ID makes 1,371 first person singular and 22
plural and leaves 593. Its rule is not published; 1,371 is exactly the number of questions outside the adversarial category
that name one of the two speakers and not the other, so that is ours. Joint questions become plural here whenever both are
named together and nowhere else, which takes in more than 22. Adversarial questions stay as they are: their person was
swapped on purpose, and "I" would make the asker one who never said it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tests.bench.locomo_id.corpus import ADVERSARIAL, Asked, Conversation

PAPER_COUNTS = {"single": 1_371, "shared": 22, "verbatim": 593}


class Kind(StrEnum):
    SINGLE = "single"
    SHARED = "shared"
    VERBATIM = "verbatim"


@dataclass(frozen=True, slots=True)
class Rewritten:
    text: str
    kind: Kind
    person: str | None
    """Whose question it is; None where nobody in particular is meant."""


_FEMALE = frozenset({"Caroline", "Melanie", "Gina", "Maria", "Joanna", "Audrey", "Deborah", "Jolene"})
"""The speakers that LoCoMo's questions call she; the others are he. A pronoun of the other kind is somebody else's."""

_TO_I = {"does": "do", "is": "am", "has": "have", "doesn't": "don't", "hasn't": "haven't", "was": "was", "isn't": "am not"}
_TO_WE = {"does": "do", "is": "are", "has": "have", "was": "were", "doesn't": "don't", "hasn't": "haven't"}
_AUXILIARY = (
    r"do|does|did|am|is|are|was|were|has|have|had|will|would|can|could|might|may|should|"
    r"doesn't|didn't|hasn't|haven't|isn't|wasn't|couldn't|wouldn't"
)
_OBJECT_AFTER = re.compile(
    r"\b(?:to|for|with|by|about|of|from|at|on|in|than|like|as|toward|towards|between|and|help|helps|helped|helping|give|gives|"
    r"gave|given|giving|make|makes|made|inspire|inspires|inspired|motivate|motivates|motivated|bring|brings|brought|keep|keeps|kept|"
    r"let|lets|teach|teaches|taught|describe|describes|described|show|shows|showed|suggest|suggests|suggested|tell|tells|told|"
    r"ask|asks|asked|offer|offers|offered|recommend|recommends|recommended|remind|reminds|reminded|cause|causes|caused|"
    r"encourage|encourages|encouraged|influence|influenced|allow|allows|allowed|drive|drives|drove|join|joined|lead|led|meet|meeting|met|"
    r"support|supports|supported|prompt|prompted|excite|excites|enable|enables|enabled|interest|interests|happened to)\s$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\b(?:that|which|when|while|before|after|since|because|if|how|what|who|where|why|as)\s$", re.IGNORECASE)
_NO_NOUN = frozenset(
    re.findall(
        r"\w+", "to in on at for with by from about after before during when while since that and or as into of if than was is"
    )
)
"""Words after which "her" was "me" rather than "my"."""


def rewritten(asked: Asked, speakers: tuple[str, str]) -> Rewritten:
    """`asked` as the person it is about would put it."""
    named = [name for name in speakers if re.search(rf"\b{name}\b", asked.question)]
    if asked.category == ADVERSARIAL or not named:
        return Rewritten(asked.question, Kind.VERBATIM, None)
    if len(named) == 1:
        return Rewritten(_capital(first_person(asked.question, named[0])), Kind.SINGLE, named[0])
    together = first_person_plural(asked.question, speakers)
    if together is None:
        return Rewritten(asked.question, Kind.VERBATIM, None)
    return Rewritten(_capital(together), Kind.SHARED, None)


def first_person(question: str, name: str) -> str:
    """`question` with `name` and the pronouns that mean them in the first person singular."""
    text = re.sub(rf"\b{name}(?:['’]s|['’](?=\s))", "my", question)
    text = re.sub(rf"\b{name} and (?:his|her) (\w+(?: friends?\b)?)", r"my \1 and I", text)
    text = re.sub(rf"\b{name} and ([A-Z]\w+)(?!['’])", r"\1 and I", text)
    text = re.sub(rf"\b({_AUXILIARY}) {name}\b", lambda m: f"{_agree(m[1], _TO_I)} I", text, flags=re.IGNORECASE)
    while (found := re.search(rf"\b{name}\b", text)) is not None:
        before, after = text[: found.start()], text[found.end() :]
        subject = _CLAUSE.search(before) or not _OBJECT_AFTER.search(before)
        text = f"{before}I{_agreeing(after)}" if subject else f"{before}me{after}"
    he, his, him = ("she", "her", "her") if name in _FEMALE else ("he", "his", "him")
    text = re.sub(rf"\b({_AUXILIARY}) {he}\b", lambda m: f"{_agree(m[1], _TO_I)} I", text)
    text = re.sub(rf"\b{he}['’]s\b", "I'm", text)
    while (found := re.search(rf"\b{he}\b", text)) is not None:
        text = f"{text[: found.start()]}I{_agreeing(text[found.end() :])}"
    text = re.sub(rf"\b{him}self\b", "myself", text)
    if his == him:
        return re.sub(r"\bher\b(?=(\s+\w+)?)", lambda m: _my_or_me(m[1]), text)
    return re.sub(rf"\b{him}\b", "me", re.sub(rf"\b{his}\b", "my", text))


def first_person_plural(question: str, speakers: tuple[str, str]) -> str | None:
    """`question` with both speakers as "we"; None unless they are named together, once, and by nobody else's side."""
    one, other = speakers
    pair = rf"(?<!, )\b(?:{one} and {other}|{other} and {one})\b"
    found = re.findall(pair, question)
    if len(found) != 1 or len(re.findall(rf"\b(?:{one}|{other})\b", question)) != 2:
        return None
    text = re.sub(rf"{pair}(?:['’]s|['’](?=\s))", "our", question)
    text = re.sub(rf"\b(for|between|of|to|with|motivated|inspired|describe) (?:both )?{pair}", r"\1 us", text)
    text = re.sub(rf"\b({_AUXILIARY}) both {pair}", lambda m: f"{_agree(m[1], _TO_WE)} we both", text, flags=re.IGNORECASE)
    text = re.sub(rf"\b({_AUXILIARY}) {pair}", lambda m: f"{_agree(m[1], _TO_WE)} we", text, flags=re.IGNORECASE)
    text = re.sub(rf"\bboth {pair}", "we both", text)
    text = re.sub(pair, "we", text)
    for third, first in (("their", "our"), ("they", "we"), ("them", "us")):
        text = re.sub(rf"\b{third}\b", first, text)
    return text


def counts(all_conversations: Iterable[Conversation]) -> dict[str, int]:
    """How many questions became what, to be laid beside PAPER_COUNTS."""
    kinds = Counter(rewritten(asked, c.speakers).kind for c in all_conversations for asked in c.questions)
    return {kind.value: kinds[kind] for kind in Kind}


def asker_of(question: Rewritten, asked: Asked, speaker_of: dict[str, str], speakers: Sequence[str]) -> str:
    """Who asks: whom it is about; of a question about nobody in particular, who said most of its evidence."""
    if question.person is not None:
        return question.person
    said = Counter(speaker_of[dia_id] for dia_id in asked.evidence)
    return max(speakers, key=lambda name: (said[name], -speakers.index(name)))


def _agree(auxiliary: str, table: dict[str, str]) -> str:
    changed = table.get(auxiliary.lower(), auxiliary.lower())
    return changed.capitalize() if auxiliary[0].isupper() else changed


def _agreeing(after: str) -> str:
    """What follows a new "I": its verb, perhaps after an adverb, without the ending of the third person."""
    found = re.match(
        r"(\s+(?:\w+ly\s+|always\s+|often\s+|also\s+|usually\s+|still\s+|just\s+)?)([a-z]+)\b(.*)", after, re.DOTALL
    )
    if found is None:
        return after
    verb = found[2]
    return f"{found[1]}{_TO_I.get(verb, _bare(verb))}{found[3]}"


def _bare(verb: str) -> str:
    if not verb.endswith("s") or verb.endswith(("ss", "us", "is", "as", "os")) or len(verb) < 4:
        return verb
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("oes", "ches", "shes", "sses", "xes", "zes")) else verb[:-1]


def _my_or_me(next_word: str | None) -> str:
    return "me" if next_word is None or next_word.strip() in _NO_NOUN else "my"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
