"""What belongs together in a parsed sentence: subtrees, subjects, the finite verb, noun phrases, clauses?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cached_property

from service.types.parsing import Sentence, Token

SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl", "csubj"})
AUXILIARIES = frozenset({"aux", "auxpass"})
NOUN_PARTS = frozenset({"det", "poss", "amod", "compound", "nummod", "nmod", "case", "quantmod", "predet"})


_CAUSING = frozenset({"help", "let", "make", "see", "watch", "hear", "have", "feel"})
"""It helps me relax: the verb after these agrees with nobody."""


_PUTTING_OFF = frozenset({"move", "postpone", "put", "delay", "shift", "push", "bring", "reschedule", "change"})
"""What was moved from Tuesday to Thursday is on the Thursday to come."""


class Tense(StrEnum):
    PAST = "past"
    OTHER = "other"
    NONE = "none"
    """No finite verb."""


class Tree:
    """A sentence with its children looked up; tokens by their index."""

    def __init__(self, sentence: Sentence) -> None:
        self.tokens: Sequence[Token] = sentence.tokens
        self._children: list[list[int]] = [[] for _ in self.tokens]
        for index, token in enumerate(self.tokens):
            if token.head != index:
                self._children[token.head].append(index)

    @cached_property
    def root(self) -> int | None:
        return next((i for i, token in enumerate(self.tokens) if token.head == i), None)

    def __getitem__(self, index: int) -> Token:
        return self.tokens[index]

    def children(self, index: int, *deps: str) -> list[int]:
        return [child for child in self._children[index] if not deps or self.tokens[child].dep in deps]

    def child(self, index: int, *deps: str) -> int | None:
        return next(iter(self.children(index, *deps)), None)

    def subtree(self, index: int, without: Iterable[int] = ()) -> list[int]:
        found, waiting, left_out = [], [index], set(without)
        while waiting:
            here = waiting.pop()
            found.append(here)
            waiting.extend(child for child in self._children[here] if child not in left_out)
        return sorted(found)

    def ancestors(self, index: int) -> Iterable[int]:
        while (head := self.tokens[index].head) != index:
            index = head
            yield index

    def subject(self, verb: int) -> int | None:
        return self.child(verb, "nsubj", "nsubjpass", "expl")

    def auxiliaries(self, verb: int) -> list[int]:
        """Those of the verb itself, without the "to" of an infinitive."""
        return [child for child in self.children(verb, *AUXILIARIES) if self.tokens[child].tag != "TO"]

    def infinitive(self, verb: int) -> bool:
        return any(self.tokens[child].tag == "TO" for child in self.children(verb, "aux"))

    def finite(self, verb: int) -> int | None:
        """The word of a verb group that agrees with the subject."""
        if self.infinitive(verb):
            return None
        auxiliaries = self.auxiliaries(verb)
        if auxiliaries:
            return auxiliaries[0]
        token = self.tokens[verb]
        if token.tag in ("VBP", "VBZ", "VBD", "MD"):
            return verb
        if token.tag != "VB" or self.subject(verb) is None:
            return None
        caused = token.dep in ("ccomp", "xcomp") and self.tokens[token.head].lemma in _CAUSING
        return None if caused else verb

    def negated(self, verb: int) -> bool:
        return any(self.tokens[c].lower in ("not", "n't", "never") for c in (*self.children(verb, "neg"),)) or any(
            self.children(aux, "neg") for aux in self.auxiliaries(verb)
        )

    def tense(self, verb: int) -> Tense:
        finite = self.finite(verb)
        if finite is None:
            return Tense.NONE
        if self.tokens[finite].tag == "VBD":
            return Tense.PAST
        perfect = self.tokens[finite].lemma == "have" and finite != verb and self.tokens[verb].tag in ("VBN", "VBD", "VBG")
        return Tense.PAST if perfect else Tense.OTHER

    def tense_at(self, index: int) -> Tense:
        """That of the nearest finite verb above."""
        for above in (index, *self.ancestors(index)):
            if self.tokens[above].pos in ("VERB", "AUX") and (tense := self.tense(above)) is not Tense.NONE:
                return tense
        return Tense.NONE

    def put_off_to(self, index: int) -> bool:
        """Whether something was moved to the time at `index`: said in the past, and mostly still ahead."""
        above = index
        for above in (index, *self.ancestors(index)):
            if self.tokens[above].pos in ("VERB", "AUX"):
                break
        to = any(self.tokens[i].lower in ("to", "until", "till") for i in range(max(0, index - 3), index))
        return to and self.tokens[above].lemma in _PUTTING_OFF

    def noun_phrase(self, head: int) -> list[int]:
        """The head with what stands before it and an "of …" behind it; no relative clauses, no coordination."""
        kept = [head]
        for child in self._children[head]:
            token = self.tokens[child]
            if (token.dep in NOUN_PARTS and child < head) or (token.dep == "prep" and token.lower == "of"):
                kept.extend(self.subtree(child))
        return sorted(kept)

    def coordinated(self, head: int) -> bool:
        return bool(self.children(head, "conj"))


def verbs(tree: Tree) -> list[int]:
    return [i for i, token in enumerate(tree.tokens) if token.pos in ("VERB", "AUX")]


def clause_heads(tree: Tree) -> list[int]:
    """The root, and the verbs coordinated with it that have a subject of their own; in the order of the sentence."""
    if tree.root is None:
        return []
    heads, waiting = [], [tree.root]
    while waiting:
        head = waiting.pop()
        heads.append(head)
        joined = [*tree.children(head, "conj", "parataxis"), *_spliced(tree, head)]
        waiting.extend(
            c for c in joined if tree[c].pos in ("VERB", "AUX") and tree.subject(c) is not None and tree.finite(c) is not None
        )
    return sorted(heads)


_TELLING = frozenset("say think guess suppose know mean believe tell ask hope bet reckon hear swear see".split())  # noqa: SIM905


def _spliced(tree: Tree, head: int) -> list[int]:
    """ "It's ugly, I'm sorry": what is joined by a comma alone is parsed as if the second told the first."""
    found = []
    for child in tree.children(head, "ccomp"):
        last = tree.subtree(child)[-1]
        comma = last + 1 < head and tree[last + 1].text in (",", ";", "-", "–", "—", ":")
        if child < head and comma and not tree.children(child, "mark") and tree[head].lemma not in _TELLING:
            found.append(child)
    return found


def clause(tree: Tree, head: int, others: Iterable[int]) -> list[int]:
    """Indices of the clause of `head` without those of the `others`, and without the "and" and commas at its ends."""
    kept = tree.subtree(head, [other for other in others if other != head])
    while kept and (tree[kept[0]].pos in ("CCONJ", "PUNCT", "SPACE") or tree[kept[0]].dep == "cc"):
        kept.pop(0)
    while kept and (tree[kept[-1]].pos in ("PUNCT", "CCONJ") and tree[kept[-1]].text not in ('"', "”", "%", ")")):
        kept.pop()
    return kept
