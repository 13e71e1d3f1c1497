"""What of its speaker does a fact tell that a later one may supersede: where they live, what they do, eat, like, have?

Patterns over statements as the rules make them, in the third person. What may be true twice at once (two sisters, two
instruments) has its object in the attribute, and how things stand with it as the value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.memory.facts.english import JOBS
from service.memory.facts.phrases import Tense, Tree
from service.types.facts import SPEAKER, FactKind


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    value: str


_ME = re.escape(SPEAKER)
_OWN = f"{_ME}'s"
_STILL = r"(?:now |still |currently |just |really |always )*"
_END = r"(?:,?\s+(?:now|these\s+days|any\s*more|at\s+the\s+moment|currently|again|since\s+then|though))*[.!]?$"
_VALUE = rf"(?P<value>[^,;]+?){_END}"
_WHEN = rf"(?P<value>.+?){_END}"
_THING = rf"(?P<name>(?!to\b|when\b|that\b|how\b|if\b|it\b|with\b)[^,;]+?){_END}"
_FUNCTIONAL = (
    r"(?:new\s+|current\s+|full\s+|first\s+|last\s+|middle\s+|shoe\s+|home\s+|phone\s+|mobile\s+|cell\s+|work\s+|office\s+|e-?mail\s+|"
    r"street\s+|date\s+of\s+|maiden\s+|blood\s+)?(?:name|nickname|job|birthday|age|address|number|email|e-?mail|hometown|major|"
    r"size|password|salary|occupation|profession|title|height|weight|birth|nationality|religion|star\s+sign|budget|type)"
)
_APPOINTMENT = (
    r"(?:appointment|operation|surgery|interview|exam|viva|driving test|test|flight|train|check-?up|lesson|concert|recital|"
    r"graduation|party|wedding|match|birthday|first day|deadline|holiday)"
)
_BEFORE_IT = r"(?:[\w'-]+ ){0,3}?"
_RELATIVES = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|sons?|daughters?|child|children|kids?|twins?|brothers?|sisters?|"
    r"grandchild|grandchildren|grandsons?|granddaughters?|cousins?|nieces?|nephews?|flatmates?|roommates?)"
)
_PETS = r"(?:dogs?|cats?|rabbits?|parrots?|hamsters?|horses?|pon(?:y|ies)|tortoises?|kittens?|pupp(?:y|ies)|budgies?|chickens?)"
_FOOD = (
    r"(?:meat|fish|pork|beef|lamb|chicken|eggs?|dairy|milk|cheese|nuts?|sugar|bread|gluten|wheat|seafood|shellfish|alcohol|"
    r"coffee|tea|wine|beer|chocolate|sweets)"
)
_NUMBER = r"(?:a|an|no|one|two|three|four|five|six|seven|eight|\d+|twin)"

_STATES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (rf"^{_OWN} (?P<name>favou?rite [\w ]+?) (?:is|are|has been|would be)(?: now| still)? {_VALUE}", ""),
        (rf"^(?P<value>[^,;]+?) (?:is|are) (?:still |now )?{_OWN} (?P<name>favou?rite [\w ]+?){_END}", ""),
        (rf"^{_OWN} (?P<name>birthday|date of birth) is {_WHEN}", ""),
        (rf"^{_OWN} (?P<name>{_FUNCTIONAL}) (?:is|isn't|is not)(?: now| still)? {_VALUE}", ""),
        (rf"^{_OWN} (?P<name>{_BEFORE_IT}{_APPOINTMENT}) is (?:now )?(?P<value>(?:on|at|in|from) .*\d.*?){_END}", ""),
        (rf"^{_OWN} (?P<name>{_BEFORE_IT}{_APPOINTMENT}) (?:was|is|has been) (?:moved|put off|postponed|brought forward)"
         rf"(?: from .+?)? (?:to|until|till) (?P<value>.*\d.*?){_END}", ""),
        (rf"^{_ME} {_STILL}(?:lives|is living) (?:now )?(?:in|at|on|near|with) {_VALUE}", "lives in"),
        (rf"^{_ME} (?:has )?(?:just )?moved (?:back )?to {_VALUE}", "lives in"),
        (rf"^{_ME} {_STILL}(?:works|is working) (?:at|for|in) {_VALUE}", "works at"),
        (rf"^{_ME} (?:starts|started|is starting) (?:work |working )?at (?P<value>[^,;]+?)(?:, .*)?{_END}", "starts at"),
        (rf"^{_ME} {_STILL}(?:studies|is studying) {_VALUE}", "studies"),
        (rf"^{_ME} is (?P<value>\d{{1,3}}|[a-z]+(?:-[a-z]+)?)(?: years old){_END}", "age"),
        (rf"^{_ME} (?:is turning|turns|turned|will be|is) (?P<value>\d{{2}}|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
         rf"(?:-[a-z]+)?|eighteen|nineteen)(?:,? (?:on|in|next|this) .*)?{_END}", "age"),
        (rf"^{_ME} (?:comes|is) (?:originally )?from (?P<value>(?-i:[A-Z])[\w ]+?){_END}", "comes from"),
        (rf"^{_ME} was born (?:in|on) {_WHEN}", "born"),
        (rf"^{_ME} grew up (?:in|on|near) {_VALUE}", "grew up in"),
        (rf"^{_ME} is {_STILL}(?:a )?(?P<value>(?:not (?:a )?)?(?:vegetarian|vegan|teetotal|coeliac|pescatarian)){_END}",
         "diet"),
        (rf"^{_ME} is {_STILL}(?P<value>(?:not )?(?:married|engaged|divorced|single|widowed|separated|retired|pregnant)"
         rf"(?: to .+?)?){_END}", "status"),
        (rf"^{_ME} has {_STILL}(?:got )?(?P<value>{_NUMBER} (?:\w+ )?(?P<name>{_RELATIVES}|{_PETS})(?: .+?)?){_END}", "has"),
    )
)  # fmt: skip
_HOLDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (rf"^{_ME} (?P<value>is|isn't|is not) {_STILL}allergic to {_THING}", "allergy to"),
        (rf"^{_ME} (?P<value>is|isn't|is not) {_STILL}(?:afraid|scared|terrified|frightened) of {_THING}", "fear of"),
        (rf"^{_ME} {_STILL}(?P<value>eats?|doesn't eat|does not eat|can't eat|never eats|(?:has )?(?:stopped|started) eating)"
         rf" {_THING}", "eating"),
        (rf"^{_ME} {_STILL}(?P<value>(?:has )?given up|gave up|is giving up) (?P<name>{_FOOD}){_END}", "eating"),
        (rf"^{_ME} {_STILL}(?P<value>doesn't drink|does not drink|can't drink|never drinks"
         rf"|(?:has )?(?:stopped|started) drinking) {_THING}", "drinking"),
        (rf"^{_ME} {_STILL}(?P<value>plays|doesn't play|(?:has )?taken up|took up|(?:has )?(?:stopped|started) playing"
         rf"|is learning) {_THING}", "playing"),
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
    r"(?P<value>(?:doesn't |does not )?(?:really )?(?:loves?|likes?|hates?|enjoys?|dislikes?|adores?|prefers?"
    r"|loathes?|detests?)|can't (?:stand|bear|abide)"
    r"|is (?:not )?(?:\w+ )?(?:fond of|keen on|crazy about|a (?:big |huge )?fan of)) "
    r"(?P<name>(?!when\b|that\b|how\b|if\b|it\b)(?!.*\b(?:and|but|or) (?:loves?|likes?|hates?|dislikes?|prefers?|enjoys?)\b)"
    r"[^,;]+?)(?:,?\s+(?:now|these days|any ?more|at the moment|very much|a lot))*[.!]?$",
    re.IGNORECASE,
)


def attribute_of(statement: str, kind: FactKind, tree: Tree, head: int) -> Attribute | None:
    """What of the speaker it tells: "favourite food", "lives in", "feeling about coffee"; None for what supersedes nothing."""
    if kind in (FactKind.QUESTION, FactKind.COMMITMENT):
        return None
    if (job := _job(tree, head)) is not None:
        return Attribute("job", job)
    if any(tree[i].dep == "conj" and tree[i].pos in ("VERB", "AUX") for i in tree.subtree(head)):
        return None  # loves tea and hates coffee: two at once
    return _state(statement) or _holds(statement) or (_feeling(statement) if kind is FactKind.PREFERENCE else None)


def _state(statement: str) -> Attribute | None:
    for pattern, name in _STATES:
        if (match := pattern.match(statement)) is None:
            continue
        said = " ".join((match.groupdict().get("name") or "").lower().replace("favorite", "favourite").split())
        own = f"{name} {_singular(said)}".strip() if said else name
        whole = said.endswith(("birthday", "date of birth")) or name == "born" or _is_appointment(said)
        value = match["value"] if whole else _DATED.sub("", match["value"])
        return Attribute(own.removeprefix("new ").removeprefix("current "), value.strip())
    return None


def _holds(statement: str) -> Attribute | None:
    for pattern, name in _HOLDS:
        if (match := pattern.match(statement)) is not None:
            return Attribute(f"{name} {_bare(match['name'])}", match["value"].lower().removeprefix("has "))
    return None


def _feeling(statement: str) -> Attribute | None:
    match = _FEELING.match(statement)
    return None if match is None else Attribute(f"feeling about {_bare(match['name'])}", match["value"].lower())


def _bare(words: str) -> str:
    return re.sub(r"^(?:the|a|an|any) ", "", _DATED.sub("", words).lower())


def _singular(words: str) -> str:
    """Of relatives and animals: two cats are told of where one was."""
    if not re.fullmatch(rf"{_RELATIVES}|{_PETS}", words):
        return words
    whole = {
        "children": "child",
        "kids": "child",
        "kid": "child",
        "grandchildren": "grandchild",
        "ponies": "pony",
        "puppies": "puppy",
    }
    return whole.get(words, words.removesuffix("s"))


def _is_appointment(words: str) -> bool:
    return re.search(rf"{_APPOINTMENT}$", words) is not None


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
