"""Does a clause state, ask or order something, or nothing that anybody needs to remember?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from service.memory.facts.english import EMPTY_IMPERATIVES, EMPTY_STATES, EMPTY_VERBS, FUNCTION_WORDS, SMALL_TALK
from service.memory.facts.persons import Edits, rendered
from service.memory.facts.phrases import AUXILIARIES, SUBJECTS, Tree
from service.memory.facts.references import FORMS


class Shape(StrEnum):
    STATES = "states"
    ASKS = "asks"
    ORDERS = "orders"


def elliptic(trees: list[Tree]) -> bool:
    """ "I will", "she does": an answer that only repeats the verb of the question."""
    return len(trees) == 1 and not content(trees[0], range(len(trees[0].tokens)))


def content(tree: Tree, kept: Sequence[int]) -> list[int]:
    return [
        i
        for i in kept
        if tree[i].pos in ("NOUN", "PROPN", "VERB", "ADJ", "NUM", "ADV", "X") and tree[i].lower not in FUNCTION_WORDS
    ]


def shape_of(tree: Tree, head: int, kept: list[int], *, asks: bool, text: str) -> Shape | None:
    """None for what nobody needs to remember."""
    said_words = content(tree, kept)
    if not said_words:
        return None
    subject = tree.subject(head)
    if asks:
        finite = any(tree[i].tag in ("VBZ", "VBP", "VBD", "MD", "VB") for i in kept)
        about = any(tree[i].dep in SUBJECTS for i in kept) or tree[kept[0]].dep in AUXILIARIES
        return Shape.ASKS if finite and about and len(kept) > 2 and not SMALL_TALK.match(text) else None
    verb = tree.finite(head)
    ordered = verb is None or (tree[verb].lower == "do" and tree.negated(head))
    if subject is None and tree[head].tag == "VB" and head == tree.root and ordered:
        empty = tree[head].lemma.lower() in EMPTY_IMPERATIVES or len(said_words) < 2
        return None if empty or tree[kept[0]].lower == "let" else Shape.ORDERS
    if subject is None or verb is None or tree[head].pos not in ("VERB", "AUX"):
        return None
    subordinate = any(tree[c].lower != "because" for c in tree.children(head, "mark"))
    if tree[head].tag == "MD" or subordinate or (subject > verb and tree[subject].dep != "expl"):
        return None  # "Liars I can't.", "If the bank says yes.", "Here's a picture."
    if _EMPTY.search(text):
        return None
    said = [tree[i].lemma.lower() for i in said_words if i != subject]
    first = tree[subject].lower
    told = any(tree[i].lower in FORMS and tree[i].dep in ("dobj", "pobj") for i in kept)
    if tree[head].lemma in EMPTY_VERBS and not told and first in ("i", "you", "we") and set(said) <= EMPTY_VERBS:
        return None
    if tree[head].lemma == "be" and first in ("i", "you", "we") and said and set(said) <= EMPTY_STATES:
        return None
    if first in ("i", "you", "we") and not said:
        return None
    return Shape.STATES


_EMPTY = re.compile(
    r"\b(?:talk|speak)\s+to\s+you\b|\bsee\s+you\b|^(?:you|one)\s+(?:never\s+know|can\s+(?:always|never|only|just)|just|know|see)\b|^(?:turns\s+out|looks\s+like|sounds\s+like)\b|"
    r"\bit\s+is[.!]?$|^(?:then|so)\s+it's\b|\bsays?\s+that\b(?!\s+\w+\s+\w+)",
    re.IGNORECASE,
)


def ordered(tree: Tree, kept: list[int], head: int, edits: Edits) -> str:
    """to call the plumber; not to forget the hotel."""
    negative = tree.negated(head)
    dropped = {c for c in tree.children(head, "aux", "neg")} | {i for i in kept if tree[i].lower == "please"}
    before = [i for i in kept if i < head and i not in dropped]
    rest = [i for i in kept if i >= head and i not in dropped]
    edits = {**edits, head: tree[head].lower}
    tail = f" {rendered(tree, before, edits)}" if before else ""
    return f"{'not ' if negative else ''}to {rendered(tree, rest, edits)}{tail}".rstrip(" ,")
