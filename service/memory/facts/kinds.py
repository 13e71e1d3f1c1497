"""Is it a statement, a plan, a preference or a commitment? And what does it say that a later one may supersede?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from service.memory.facts.english import JOBS, LIKED, LIKING, NO_PROMISES, OFFERS, PLANNING, UNSURE
from service.memory.facts.phrases import Tense, Tree
from service.types.facts import SPEAKER, FactKind


def kind_of(tree: Tree, head: int, kept: Sequence[int], *, ahead: bool) -> FactKind:
    """`ahead`: whether its time lies after it was said."""
    subject = tree.subject(head)
    who = tree[subject].lower if subject is not None and not tree.coordinated(subject) else ""
    inner = _inner(tree, head)
    if _promises(tree, head, who):
        return FactKind.COMMITMENT
    if _plans(tree, head, who, ahead=ahead):
        return FactKind.PLAN
    if _likes(tree, head, kept):
        return FactKind.PREFERENCE
    if inner != head and tree[head].lemma in ("think", "know", "say", "guess", "hope") and _likes(tree, inner, kept):
        return FactKind.PREFERENCE
    return FactKind.STATEMENT


def _inner(tree: Tree, head: int) -> int:
    child = tree.child(head, "ccomp")
    return head if child is None else child


def _modals(tree: Tree, head: int) -> set[str]:
    return {tree[aux].lower for aux in tree.auxiliaries(head)}


def _promises(tree: Tree, head: int, who: str) -> bool:
    if who != "i":
        return False
    modals, verb = _modals(tree, head), tree[head].lemma
    unsure = any(tree[c].lower in UNSURE for c in tree.children(head, "advmod"))
    if verb in ("promise", "swear") and not modals and not tree.negated(head):
        return tree.child(head, "xcomp", "ccomp") is not None and tree.tense(head) is not Tense.PAST
    if tree.negated(head) or unsure:
        return False
    if modals & {"'ll", "will", "shall", "’ll"}:
        return verb not in NO_PROMISES and (verb != "get" or tree.child(head, "dobj") is not None)
    return bool(modals & {"can"}) and verb in OFFERS


def _plans(tree: Tree, head: int, who: str, *, ahead: bool) -> bool:
    verb, tag, modals = tree[head].lemma, tree[head].tag, _modals(tree, head)
    being = any(
        tree[aux].lemma in ("be", "'m", "'re") or tree[aux].lower in ("'m", "'re", "'s") for aux in tree.auxiliaries(head)
    )
    xcomp = tree.child(head, "xcomp")
    to = xcomp is not None and tree.infinitive(xcomp)
    past = tree.tense(head) is Tense.PAST
    if verb == "go" and tag == "VBG" and being and to:
        return not past
    if verb in PLANNING and to and not past and not modals & {"would", "'d"}:
        return True
    if verb == "think" and tag == "VBG" and being:
        return any(tree[c].lower in ("about", "of") for c in tree.children(head, "prep"))
    if verb in ("plan", "save") and tag == "VBG" and being:
        return True
    if modals & {"'ll", "will", "wo", "shall", "’ll"}:
        return True
    return tag == "VBG" and being and ahead and not past and who != "it"


def _likes(tree: Tree, head: int, kept: Sequence[int]) -> bool:
    verb, modals = tree[head].lemma, _modals(tree, head)
    if verb in LIKING or tree[head].lower in LIKED:
        return True
    if verb in ("stand", "bear") and modals & {"can", "ca", "could"} and tree.negated(head):
        return True
    lower = [tree[i].lower for i in kept]
    if "favourite" in lower or "favorite" in lower:
        return verb == "be"
    if "rather" in lower and modals & {"'d", "would"}:
        return True
    return bool(re.search(r"\b(?:fond of|fan of|keen on|crazy about)\b", " ".join(lower)))


# ---- what a newer one supersedes


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    value: str


_ME = re.escape(SPEAKER)
_OWN = f"{_ME}'s"
_STILL = r"(?:now |still |currently )?"
_FUNCTIONAL = (
    r"(?:new\s+|current\s+|full\s+|first\s+|last\s+|middle\s+|shoe\s+|home\s+|phone\s+|mobile\s+|cell\s+|work\s+|office\s+|e-?mail\s+|"
    r"street\s+|date\s+of\s+)?(?:name|nickname|job|birthday|age|address|number|email|e-?mail|hometown|major|size|password|salary|"
    r"occupation|profession|title|height|weight|birth|nationality|religion|star\s+sign|budget)"
)
_END = r"(?:,?\s+(?:now|these\s+days|any\s*more|at\s+the\s+moment|currently))*[.!]?$"
_VALUE = rf"(?P<value>[^,;]+?){_END}"
_STATES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (rf"^{_OWN} (?P<name>favou?rite [\w ]+?) (?:is|are|has been|would be)(?: now| still)? {_VALUE}", ""),
        (rf"^(?P<value>[^,;]+?) (?:is|are) (?:still |now )?{_OWN} (?P<name>favou?rite [\w ]+?){_END}", ""),
        (rf"^{_OWN} (?P<name>{_FUNCTIONAL}) (?:is|isn't|is not)(?: now| still)? {_VALUE}", ""),
        (rf"^{_ME} {_STILL}(?:lives|is living) (?:now )?(?:in|at|on|near|with) {_VALUE}", "lives in"),
        (rf"^{_ME} (?:has )?(?:just )?moved (?:back )?to {_VALUE}", "lives in"),
        (rf"^{_ME} {_STILL}(?:works|is working) (?:at|for) {_VALUE}", "works at"),
        (rf"^{_ME} is (?P<value>\d{{1,3}}|[a-z]+(?:-[a-z]+)?)(?: years old){_END}", "age"),
        (rf"^{_ME} (?:comes|is) (?:originally )?from (?P<value>[A-Z][\w ]+?){_END}", "comes from"),
    )
)  # fmt: skip
_DATED = re.compile(
    r"\s+(?:in|on|at|since|by|until|from|around|before|after|for)\s+(?:the\s+)?(?:\d|(?:jan|febr)uary|march|april|may|june|july|august|"
    r"(?:sept|nov|dec)ember|october|(?:mon|tues|wednes|thurs|fri|satur|sun)day|spring|summer|autumn|winter|week|weekend|time|"
    r"morning|afternoon|evening|night|christmas|easter)\b.*$",
    re.IGNORECASE,
)
"""What a value ends before: when it holds is told apart."""
_FEELING = re.compile(
    rf"^{_ME} (?:really |still |now |just |absolutely |always )*"
    r"(?P<value>(?:doesn't |does not )?(?:really )?(?:loves?|likes?|hates?|enjoys?|dislikes?|adores?|prefers?)|can't stand) "
    r"(?P<name>(?!to\b|when\b|that\b|how\b|if\b|it\b)[^,;]+?)"
    r"(?:,?\s+(?:now|these days|any ?more|at the moment|very much|a lot))*[.!]?$",
    re.IGNORECASE,
)


def _job(tree: Tree, head: int) -> str | None:
    """I work as a gardener; I'm a nurse."""
    subject = tree.subject(head)
    if subject is None or tree[subject].lower != "i" or tree.negated(head) or tree.tense(head) is Tense.PAST:
        return None
    noun = None
    if tree[head].lemma == "work" and (
        preposition := next((c for c in tree.children(head, "prep") if tree[c].lower == "as"), None)
    ):
        noun = tree.child(preposition, "pobj")
    elif tree[head].lemma == "be" and (told := tree.child(head, "attr")) is not None and tree[told].lemma.lower() in JOBS:
        noun = told
    return None if noun is None else " ".join(tree[i].lower for i in tree.noun_phrase(noun) if tree[i].dep != "det")


def attribute_of(statement: str, kind: FactKind, tree: Tree, head: int) -> Attribute | None:
    """What of the speaker it tells: "favourite food", "lives in", "feeling about coffee"; None for what supersedes nothing."""
    if kind in (FactKind.QUESTION, FactKind.COMMITMENT):
        return None
    if (job := _job(tree, head)) is not None:
        return Attribute("job", job)
    if any(tree[i].dep == "conj" and tree[i].pos in ("VERB", "AUX") for i in tree.subtree(head)):
        return None  # loves tea and hates coffee: two at once
    for pattern, name in _STATES:
        if (match := pattern.match(statement)) is not None:
            own = name or " ".join(match["name"].lower().replace("favorite", "favourite").split())
            return Attribute(own.removeprefix("new ").removeprefix("current "), _DATED.sub("", match["value"]).strip())
    if kind is FactKind.PREFERENCE and (match := _FEELING.match(statement)) is not None:
        about = re.sub(r"^(?:the|a|an) ", "", _DATED.sub("", match["name"]).lower())
        return Attribute(f"feeling about {about}", match["value"].lower())
    return None
