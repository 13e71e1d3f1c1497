"""Is it a statement, a plan, a preference or a commitment?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.memory.facts.english import LIKED, LIKING, NO_PROMISES, OFFERS, PLANNING, UNSURE
from service.memory.facts.phrases import Tense, Tree
from service.types.facts import FactKind


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
    if verb in ("stand", "bear", "abide") and modals & {"can", "ca", "could"} and tree.negated(head):
        return True
    lower = [tree[i].lower for i in kept]
    if "favourite" in lower or "favorite" in lower:
        return verb == "be"
    if "rather" in lower and modals & {"'d", "would"}:
        return True
    return bool(re.search(r"\b(?:fond of|fan of|keen on|crazy about)\b", " ".join(lower)))
