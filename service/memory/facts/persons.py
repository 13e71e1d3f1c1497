"""How does "I'm taking my sister" become a sentence about {speaker}?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from service.memory.facts.english import third_person
from service.memory.facts.phrases import Tree
from service.types.facts import ADDRESSEE, SPEAKER

Edits = dict[int, str]
"""Index of a token → what stands there instead; "" for nothing."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Whom I and you mean."""

    first: str = SPEAKER
    second: str = ADDRESSEE

    def turned(self) -> Roles:
        return Roles(self.second, self.first)


def persons(tree: Tree, roles: Roles, quoted: Collection[int] = ()) -> Edits:
    """Replaces I and you with all their forms, and lets the verbs agree. What is quoted stays as it was said."""
    edits: Edits = {}
    pronouns = _pronouns(roles)
    for index, token in enumerate(tree.tokens):
        if index in quoted:
            continue
        if token.pos in ("PRON", "PROPN", "NOUN", "INTJ", "X", "ADJ", "DET") and token.lower in pronouns:
            edits[index] = pronouns[token.lower]
            if token.dep in ("nsubj", "nsubjpass") and token.lower in ("i", "you"):
                agree(tree, index, edits)
        elif token.lower in ("guys", "all") and index and tree[index - 1].lower == "you":
            edits[index] = ""
    expand(tree, edits)
    return edits


def _pronouns(roles: Roles) -> Mapping[str, str]:
    first, second = roles.first, roles.second
    group = f"{first} and others"
    return {
        "i": first, "me": first, "my": f"{first}'s", "mine": f"{first}'s", "myself": "themself",
        "you": second, "your": f"{second}'s", "yours": f"{second}'s", "yourself": "themself", "yourselves": "themselves",
        "we": group, "us": group, "our": f"{first}'s", "ours": f"{first}'s", "ourselves": "themselves",
    }  # fmt: skip


def agree(tree: Tree, subject: int, edits: Edits) -> None:
    """Third person for the verb of `subject`, and for those coordinated with it; not after "Paul and I"."""
    if tree.coordinated(subject) or tree[subject].dep == "conj":
        return
    verb = tree[subject].head
    plain = tree.finite(verb) == verb
    waiting = [verb]
    while waiting:
        here = waiting.pop()
        finite = tree.finite(here)
        if finite is None and plain and tree[here].tag == "VB" and not tree.infinitive(here):
            finite = here  # "I love tea and hate coffee"
        if finite is not None:
            _in_third_person(tree, finite, here, edits)
        joined = [
            *tree.children(here, "conj"),
            *(c for noun in tree.children(here, "dobj") for c in tree.children(noun, "conj")),
        ]
        waiting.extend(c for c in joined if tree[c].pos in ("VERB", "AUX") and tree.subject(c) is None)


def _in_third_person(tree: Tree, finite: int, verb: int, edits: Edits) -> None:
    token = tree[finite]
    word = token.lower
    if token.tag == "MD" or word in ("'ll", "ca", "wo", "sha"):
        return
    if word == "were" and token.tag == "VBD":
        edits[finite] = "was"
    elif token.tag == "VBD" or word in ("'d", "was", "had", "did"):
        return
    elif word in ("am", "are", "'m", "'re", "m", "re"):
        edits[finite] = " is" if word.startswith("'") else "is"
    elif word in ("have", "'ve"):
        edits[finite] = " has" if word.startswith("'") else "has"
    elif token.tag in ("VBP", "VB") and not (finite == verb and word.endswith("'s")):
        edits[finite] = third_person(word)


def expand(tree: Tree, edits: Edits) -> None:
    """I'll → {speaker} will: a short form cannot hang on a slot."""
    for index, token in enumerate(tree.tokens):
        if not index or not token.text.startswith(("'", "’")) or (index - 1) not in edits or edits[index - 1] == "":
            continue
        if index in edits:  # agreed already
            edits[index] = " " + edits[index].strip()
        elif (full := full_form(tree, index)) is not None:
            edits[index] = " " + full


def full_form(tree: Tree, index: int) -> str | None:
    """ "'ll" → "will"; None for the possessive."""
    token = tree[index]
    match token.lower:
        case "'ll":
            return "will"
        case "'ve":
            return "have"
        case "'re":
            return "are"
        case "'m":
            return "is"
        case "'d":
            head = tree[token.head]
            return (
                "had" if head.tag == "VBN" or any(w.lower == "better" for w in tree.tokens[index + 1 : index + 2]) else "would"
            )
        case "'s" if token.tag != "POS":
            perfect = tree[token.head].tag == "VBN" and token.dep == "aux"
            following = tree[index + 1].lower if index + 1 < len(tree.tokens) else ""
            return "has" if perfect or token.lemma == "have" or following in ("been", "got") else "is"
    return None


def rendered(tree: Tree, kept: list[int], edits: Mapping[int, str]) -> str:
    """The tokens of `kept` in their order with their edits; braces of the text become parentheses."""
    out: list[str] = []
    last: int | None = None
    for index in kept:
        text = edits.get(index)
        if text is None:
            text = tree[index].text.translate(_BRACES)
        if text == "":
            continue
        if out and not text.startswith(" ") and _apart(tree, last, index):
            out.append(" ")
        out.append(text)
        last = index
    return "".join(out).strip()


_BRACES = str.maketrans("{}", "()")
_STICKS = ("'", "’", "n't", "n’t", ",", ".", "?", "!", ";", ":", ")", "%")


def _apart(tree: Tree, last: int | None, index: int) -> bool:
    """Whether a blank stands between two tokens: as in the text where they were neighbours, else as English is written."""
    if last is None:
        return False
    if last == index - 1:
        return tree[last].end < tree[index].begin
    if last < index and tree[last].end == tree[index].begin:
        return False
    return not tree[index].text.startswith(_STICKS)
