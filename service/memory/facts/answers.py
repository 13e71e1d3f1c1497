"""What does an answer say that is half in the question: "Are you coming?" "Yes." and "Where do you work?" "At the bakery."?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.memory.facts.english import PEOPLE, third_person
from service.memory.facts.persons import Edits, full_form, rendered
from service.memory.facts.phrases import AUXILIARIES, Tree
from service.memory.facts.utterances import Lead

_WH = frozenset({"what", "where", "when", "who", "whom", "how", "which", "why"})
_REQUESTS = frozenset({"can", "could", "will", "would"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as whoever answers it would say it: with I and you turned round, what it refers to in place."""

    tree: Tree
    edits: Edits
    """Slots already as the answerer's turn has them."""
    kept: tuple[int, ...]
    evidence: tuple[str, ...]

    @property
    def head(self) -> int:
        return self.tree.root or 0

    @property
    def wh(self) -> int | None:
        return next(
            (i for i in self.kept if self.tree[i].tag in ("WDT", "WP", "WP$", "WRB") and self.tree[i].lower in _WH), None
        )

    @property
    def request(self) -> bool:
        """Can you …? Could you …?"""
        first = self._inverted
        subject = self.tree.subject(self.head)
        return (
            self.wh is None
            and first is not None
            and self.tree[first].lower in _REQUESTS
            and subject is not None
            and self.tree[subject].lower == "you"
        )

    @property
    def _inverted(self) -> int | None:
        """The auxiliary, or the "be", that stands before its subject."""
        subject = self.tree.subject(self.head)
        if subject is None:
            return None
        before = [a for a in self.tree.auxiliaries(self.head) if a < subject]
        if before:
            return before[0]
        return self.head if self.tree[self.head].lemma == "be" and self.head < subject else None

    def promised(self) -> str | None:
        """{speaker} will …, of a request."""
        if not self.request:
            return None
        subject, first = self.tree.subject(self.head), self._inverted
        rest = [
            i
            for i in self.kept
            if i not in (subject, first) and i > (first or 0) and self.tree[i].lower not in ("please", "maybe")
        ]
        return f"{self._said(subject)} will {self._rest(rest)}."

    def stated(self, lead: Lead) -> str | None:
        """The question as a statement, said yes or no to; None where it cannot be turned into one."""
        if self.wh is not None or lead is Lead.NONE or self.request:
            return None
        return self._turned(negative=lead is Lead.NO, tail="")

    def fits(self, answer: Tree, *, dated: bool) -> bool:
        """Whether `answer` is of the kind that is asked after: a place, a time, a number, somebody."""
        wh = self.wh
        root = answer.root
        if wh is None or root is None:
            return False
        number = any(token.pos == "NUM" or token.lower in ("a", "an", "half") for token in answer.tokens)
        match self.tree[wh].lower:
            case "where":
                return answer[root].pos in ("ADP", "ADV") or answer[root].entity in ("GPE", "LOC", "FAC", "ORG")
            case "when":
                return dated or number
            case "how":
                return number
            case "who" | "whom":
                return any(t.pos in ("PROPN", "PRON") or t.lemma.lower() in PEOPLE for t in answer.tokens)
        return answer[root].pos in ("NOUN", "PROPN", "NUM", "ADP")

    def completed(self, answer: str) -> str | None:
        """A question after a thing, a time or a place with the `answer` in it."""
        wh = self.wh
        if wh is None or self.tree[wh].lower in ("why", "which"):
            return None
        token = self.tree[wh]
        if token.dep in ("nsubj", "nsubjpass") and token.lower in ("who", "what"):
            rest = [i for i in self.kept if i > wh]
            edits = dict(self.edits)
            if rest and (full := full_form(self.tree, rest[0])) is not None:
                edits[rest[0]] = full
            return f"{answer[:1].upper() + answer[1:]} {rendered(self.tree, rest, edits).rstrip('?. ')}."
        if (
            token.lower == "how"
            and wh + 1 < len(self.tree.tokens)
            and self.tree[wh + 1].lower not in ("long", "much", "many", "often", "far", "old")
        ):
            return None
        return self._turned(negative=False, tail=answer)

    def _turned(self, *, negative: bool, tail: str) -> str | None:
        subject, first = self.tree.subject(self.head), self._inverted
        if subject is None or first is None:
            return None
        of_subject = self.tree.subtree(subject)
        asked = self._asked_phrase()
        rest = [
            i
            for i in self.kept
            if i not in of_subject and i != first and i not in asked and i > first and self.tree[i].dep != "neg"
        ]
        tail = _without_double(self.tree, rest, tail)
        verb, auxiliary = self.tree[self.head], self.tree[first]
        said = self.edits.get(first, auxiliary.text).strip().lower()
        said = {"'s": "is", "’s": "is", "'re": "are", "'ve": "have", "'d": "did", "ca": "can", "wo": "will"}.get(said, said)
        edits = dict(self.edits)
        if auxiliary.lemma == "do" and first != self.head and not negative and said in ("do", "does"):
            edits[self.head] = third_person(verb.lemma) if said == "does" else verb.text
            said = ""
        elif negative:
            said += "not" if said == "can" else " not"
        parts = [rendered(self.tree, of_subject, edits), said, rendered(self.tree, rest, edits), tail]
        text = " ".join(part for part in parts if part).rstrip("?. ")
        return text[:1].upper() + text[1:] + "."

    def _asked_phrase(self) -> list[int]:
        """What the answer takes the place of: "how long", "what time", "where"."""
        wh = self.wh
        if wh is None:
            return []
        top = wh
        while self.tree[top].head != top and self.tree[top].head < self._first_verb() and self.tree[top].dep not in AUXILIARIES:
            top = self.tree[top].head
        return [i for i in self.tree.subtree(top) if i < self._first_verb()]

    def _first_verb(self) -> int:
        first = self._inverted
        return self.head if first is None else first

    def _said(self, index: int | None) -> str:
        return "" if index is None else rendered(self.tree, self.tree.subtree(index), self.edits)

    def _rest(self, kept: list[int]) -> str:
        return rendered(self.tree, kept, self.edits).rstrip("?. ")


def _without_double(tree: Tree, rest: list[int], tail: str) -> str:
    """ "Who did you go with?" "With Paul.": one "with" is enough."""
    words = [i for i in rest if tree[i].pos != "PUNCT"]
    if words and tail and tree[words[-1]].pos == "ADP" and tree[words[-1]].lower == tail.split()[0].lower():
        return " ".join(tail.split()[1:])
    return tail


def uncapitalised(text: str, tree: Tree) -> str:
    """The first word small, unless it is a name, a slot or I."""
    first = tree[0] if tree.tokens else None
    keep = (
        first is None
        or first.pos == "PROPN"
        or first.entity in ("PERSON", "GPE", "ORG", "LOC", "FAC")
        or not re.match(r"[A-Z][a-z]", text)
    )
    return text if keep else text[:1].lower() + text[1:]
