"""Whom does "she" mean, and what is "it"? Only where hardly anything else can be meant: a fact about the wrong one is worse
than none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from service.memory.facts.english import FEMALE, JUDGING, MALE, MOVING, NO_REFERENTS, PEOPLE, PETS
from service.memory.facts.persons import Edits, agree, expand, rendered
from service.memory.facts.phrases import Tree
from service.types.facts import ADDRESSEE, SPEAKER

HE, SHE, IT, THEY = "he", "she", "it", "they"
FORMS = {
    "he": HE, "him": HE, "his": HE, "himself": HE, "she": SHE, "her": SHE, "hers": SHE, "herself": SHE,
    "it": IT, "its": IT, "itself": IT, "they": THEY, "them": THEY, "their": THEY, "theirs": THEY, "themselves": THEY,
}  # fmt: skip
POINTERS = frozenset({"this", "that", "these", "those"})
"""Alone they mostly point at a whole sentence, or at what can be seen: never resolved."""
_THINGS = frozenset({"ORG", "GPE", "LOC", "FAC", "PRODUCT", "WORK_OF_ART", "EVENT", "LANGUAGE", "NORP"})
_PLACES = frozenset({"GPE", "LOC", "FAC"})
_TIMES = frozenset({"DATE", "TIME", "CARDINAL", "PERCENT", "MONEY", "ORDINAL", "QUANTITY"})


@dataclass(frozen=True, slots=True)
class Mention:
    """Something named, which a pronoun may mean."""

    text: str
    """With the slots of its turn."""
    kinds: frozenset[str]
    """Which of he, she, it, they it may be called."""
    rank: int
    """What is spoken of before what is said of it: subject and object before the rest."""
    place: bool
    evidence: tuple[str, ...]
    """Ids of the messages that `text` is made from."""


def mentions(
    tree: Tree, edits: Edits, message_id: str, context: Mapping[int, Sequence[str]], taken: Collection[int]
) -> list[Mention]:
    """What `tree` names, with `edits` in place. `context`: the other messages that the edit of an index was made from;
    `taken`: indices that are part of a time."""
    found = [
        Mention(_small(edits[index]), frozenset({kind}), _rank(tree, index), False, _told([index], message_id, context))
        for index in context  # what a pronoun was taken for is spoken of again
        if (kind := FORMS.get(tree[index].lower)) is not None and tree[index].dep != "poss"
    ]
    for index, token in enumerate(tree.tokens):
        if token.pos not in ("NOUN", "PROPN") or token.dep in ("compound", "npadvmod", "intj", "nmod") or index in taken:
            continue
        if token.lemma.lower() in NO_REFERENTS or (token.entity in _TIMES and token.pos != "NOUN"):
            continue
        kinds = kinds_of(tree, index)
        phrase = tree.noun_phrase(index)
        if not kinds or any(tree[i].lower in FORMS and i not in edits for i in phrase):
            continue
        text = _definite(tree, phrase, edits)
        found.append(Mention(text, kinds, _rank(tree, index), token.entity in _PLACES, _told(phrase, message_id, context)))
        pair = [child for child in tree.children(index, "conj") if tree[child].pos in ("NOUN", "PROPN")]
        if len(pair) == 1 and token.dep != "conj":
            both = sorted({*phrase, *tree.noun_phrase(pair[0]), *tree.children(index, "cc")})
            if not any(tree[i].lower in FORMS and i not in edits for i in both):
                text = _definite(tree, both, edits)
                found.append(Mention(text, frozenset({THEY}), _rank(tree, index), False, _told(both, message_id, context)))
    return found


def _told(phrase: Sequence[int], message_id: str, context: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([message_id, *(id for index in phrase for id in context.get(index, ()))]))


def kinds_of(tree: Tree, index: int) -> frozenset[str]:
    token = tree[index]
    lemma = token.lemma.lower()
    if token.plural:
        return frozenset({THEY})
    if token.pos == "PROPN" and token.entity not in _THINGS - {"ORG"}:
        titles = {tree[c].lower.strip(".") for c in tree.children(index, "compound")} | {lemma}
        if titles & FEMALE:
            return frozenset({SHE})
        if titles & MALE:
            return frozenset({HE})
        if any(tree[c].dep == "det" for c in tree.children(index)):
            return frozenset({IT})
        return frozenset({HE, SHE})
    if lemma in FEMALE:
        return frozenset({SHE})
    if lemma in MALE:
        return frozenset({HE})
    if lemma in PEOPLE:
        return frozenset({HE, SHE, IT}) if lemma in PETS else frozenset({HE, SHE})
    return frozenset({IT})


def _rank(tree: Tree, index: int) -> int:
    token = tree[index]
    if token.dep == "conj":
        return _rank(tree, token.head)
    if token.dep == "ROOT":
        return 2
    main = token.head == tree.root or tree[token.head].dep in ("ccomp", "conj", "xcomp", "parataxis")
    return 2 if main and token.dep in ("nsubj", "nsubjpass", "dobj", "attr", "dative") else 1


def _definite(tree: Tree, phrase: list[int], edits: Edits) -> str:
    """ "A dog" is "the dog" once it was spoken of."""
    changed = dict(edits)
    for index in phrase:
        if tree[index].dep == "det" and tree[index].lower in ("a", "an", "any", "some", "every", "no", "which", "what"):
            changed[index] = "the"
        elif tree[index].dep == "det" and index == phrase[0]:
            changed[index] = tree[index].lower
    text = rendered(tree, phrase, changed)
    return _small(text)


def _small(text: str) -> str:
    first = text.partition(" ")[0]
    return first.lower() + text[len(first) :] if first in ("The", "This", "That", "These", "Those") else text


# ---- what a pronoun stands for


def open_pronouns(tree: Tree, kept: Sequence[int], edits: Edits, quoted: Collection[int]) -> list[int]:
    """Pronouns among `kept` that nothing before them in `kept` can be meant by."""
    found = []
    for position, index in enumerate(kept):
        token = tree[index]
        if index in edits or index in quoted or (token.text.isupper() and len(token.text) > 1):  # IT and US are names
            continue
        if (kind := FORMS.get(token.lower)) is not None and token.pos in ("PRON", "DET", "ADJ"):
            before = kept[:position]
            if any(i in edits and FORMS.get(tree[i].lower) == kind for i in before) or _announces(tree, index):
                continue
            if not any(kind in kinds_of(tree, i) for i in before if _names(tree, i, edits)) and not (
                kind == THEY and any(tree[i].pos in ("NOUN", "PROPN") and tree.coordinated(i) for i in before)
            ):
                found.append(index)
        elif token.lower == "that" and token.dep == "mark" and token.head < index:
            found.append(index)  # "he says that every time"
        elif token.lower in POINTERS and token.pos == "PRON" and token.dep not in ("mark", "relcl") and token.tag != "WDT":
            found.append(index)
    return found


def _announces(tree: Tree, index: int) -> bool:
    """ "I hate it when …" """
    following = tree[index + 1].lower if index + 1 < len(tree.tokens) else ""
    return tree[index].lower == "it" and tree[index].dep == "dobj" and following in ("when", "that", "if", "how")


def _names(tree: Tree, index: int, edits: Edits) -> bool:
    token = tree[index]
    return token.pos in ("NOUN", "PROPN") and index not in edits and token.lemma.lower() not in NO_REFERENTS


def resolve(
    tree: Tree, indices: Sequence[int], said_before: Sequence[Sequence[Mention]], edits: Edits, *, far: bool = False
) -> tuple[str, ...] | None:
    """Puts what each pronoun of `indices` means into `edits` and gives the messages that tell it; None if one stays open.

    `said_before`: the mentions of each sentence before, nearest first, with slots as this turn has them."""
    evidence: list[str] = []
    for index in indices:
        token = tree[index]
        kind = FORMS.get(token.lower)
        meant = None if kind is None or _nothing_meant(tree, index, far=far) else _meant(kind, said_before)
        if meant is None:
            return None
        owner = token.tag == "PRP$" or (token.lower in ("his", "its", "their") and token.dep == "poss")
        text = meant.text[:1].upper() + meant.text[1:] if token.text[:1].isupper() and index == 0 else meant.text
        edits[index] = (text + "'s" if not text.endswith("s") else text + "'") if owner else text
        evidence.extend(meant.evidence)
    expand(tree, edits)
    return tuple(dict.fromkeys(evidence))


def _nothing_meant(tree: Tree, index: int, *, far: bool) -> bool:
    """ "Do it" means a deed, "it's raining", "it takes", "it's late" mean nothing. `far`: nothing that it could mean was said
    in this turn or asked right before; then "it is so" mostly judges what was said."""
    token = tree[index]
    if token.lower != "it":
        return False
    head = tree[token.head]
    if token.dep == "dobj" and head.lemma in ("do", "make", "mean", "say", "know", "get", "think", "hear", "believe"):
        return True
    if token.dep in ("nsubj", "nsubjpass", "expl"):
        if head.lemma in MOVING or (far and (head.lemma == "be" or token.dep == "nsubjpass")):
            return True
        if (
            any(tree[c].dep in ("ccomp", "xcomp", "csubj", "advcl", "relcl") for c in tree.children(token.head))
            and head.lemma == "be"
        ):
            return True
        about = [tree[c] for c in tree.children(token.head, "attr", "acomp", "npadvmod")]
        return head.lemma == "be" and any(t.entity in _TIMES or t.lemma.lower() in JUDGING for t in about)
    return False


_BACK = {IT: 2, THEY: 4}
"""How many sentences back each is looked for; people stay spoken of for longer."""


def _meant(kind: str, said_before: Sequence[Sequence[Mention]]) -> Mention | None:
    """Of the nearest sentence that names anything fitting: the only one, or the only one of the highest rank."""
    for sentence in [sentence for sentence in said_before if sentence][: _BACK.get(kind)]:
        fitting = {mention.text.lower(): mention for mention in reversed(sentence) if kind in mention.kinds}
        if not fitting:
            continue
        best = max(mention.rank for mention in fitting.values())
        leading = [mention for mention in fitting.values() if mention.rank == best]
        return leading[0] if len(leading) == 1 else None
    return None


def place_meant(said_before: Sequence[Sequence[Mention]]) -> Mention | None:
    """The only place that was named lately: "there"."""
    places = {mention.text.lower(): mention for sentence in said_before for mention in sentence if mention.place}
    return next(iter(places.values())) if len(places) == 1 else None


def for_other_voice(mention: Mention, *, asked: bool) -> Mention | None:
    """A mention as whoever speaks next would say it: my sister is {addressee}'s then. "Your" is taken back in answers only."""
    has_first, has_second = SPEAKER in mention.text, ADDRESSEE in mention.text
    if not has_first and not has_second:
        return mention
    if has_second and not asked:
        return None
    turned = mention.text.replace(SPEAKER, "\0").replace(ADDRESSEE, SPEAKER).replace("\0", ADDRESSEE)
    return replace(mention, text=turned)


__all__ = ["Mention", "agree", "for_other_voice", "mentions", "open_pronouns", "place_meant", "resolve"]
