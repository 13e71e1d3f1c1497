"""What does a turn show of its speaker? Feelings with target and cause, likes and dislikes, what they say they are: only what
they say of themselves, here and now; not what is asked, supposed, reported, or said of others (VoiceMem, Modify).

Of 81 marks that it found in 1,200 turns of LoCoMo, 74 were right, read by hand: 91 % [83, 96], 2026-11."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from service.memory.facts.english import words
from service.memory.facts.phrases import Tense, Tree, verbs
from service.memory.right_brain.lexicon import (
    ALWAYS,
    CAUSES,
    EXPERIENCES,
    FELT,
    INCLINED,
    LESS,
    LIKING,
    MARKS,
    MOMENTARY,
    MORE,
    NO_TARGETS,
    STATES,
    TOWARD,
    TRAIT_COMPOUNDS,
    TRAIT_NOUNS,
    TRAITS,
    Feeling,
)
from service.types.affect import Aspect, Emotion, Mark
from service.types.facts import ADDRESSEE
from service.types.parsing import Sentence

_SUPPOSED = frozenset({"would", "could", "might", "may", "'d", "should", "will", "'ll", "wo"})
_IF = frozenset({"if", "unless", "whether", "when", "whenever", "until", "till"})
_OWN_THOUGHT = frozenset({"think", "guess", "know", "suppose", "admit", "say", "mean", "tell", "realise", "realize", "find"})
_STILL = frozenset({"anymore", "longer"})
_FED_UP = re.compile(
    r"\bI(?:'ve had (?:it|enough)|(?:'m| am)(?: \w+)? (?:fed up|sick(?: and tired)?|done)) (?:with|of) "
    r"(?P<target>[\w' ]+?)(?:[.,!?;]|$)",
    re.IGNORECASE,
)
"""Idioms of anger without an adjective of feeling."""
_EDGE = re.compile(r"^(?:(?:the|a|an|some|any|all|this|that|these|those|such|so|much|really)\s+)+|[\s.,!?;:]+$", re.IGNORECASE)
_HABITS = frozenset({"late", "early", "hungry", "busy"})
_AHEAD = words("use have get got need want try hope wish plan pretend go gotta learn")
_POLITE = words("help hear see answer")
_PEOPLE = frozenset({"person", "guy", "girl", "woman", "man"})
_POINTING = frozenset({"this", "that", "these", "those", "your", "his", "her", "its", "their"})
_UNTOLD = words("it that this them him her")
_BECAUSE = frozenset({"because", "since", "as", "cause", "'cause"})


def marks(sentences: Sequence[Sentence]) -> tuple[Mark, ...]:
    """Of one turn, each once, the strongest first."""
    found: dict[tuple[object, ...], Mark] = {}
    for sentence in sentences:
        for mark in _of_sentence(sentence):
            key = (mark.aspect, mark.emotion, (mark.target or "").casefold())
            if key not in found or mark.intensity > found[key].intensity:
                found[key] = mark
    return tuple(sorted(found.values(), key=lambda m: -m.intensity))


def _of_sentence(sentence: Sentence) -> Iterator[Mark]:
    tree = Tree(sentence)
    lower = [token.lower for token in tree.tokens]
    if "?" in lower[-2:] or any(word in ('"', "“", "”", "''", "``") for word in lower):
        return
    text = " ".join(lower)
    fleeting = any(re.search(rf"\b{moment}\b", text) for moment in MOMENTARY)
    for head in _heads(tree):
        for mark in _of_verb(tree, head):
            if not (fleeting and mark.aspect is not Aspect.FEELING):
                yield mark
    plain = "".join(f" {t.text}" if i and t.begin > tree[i - 1].end else t.text for i, t in enumerate(tree.tokens))
    if (match := _FED_UP.search(plain)) is not None and (target := _clean(match["target"])) is not None:
        yield Mark(Aspect.FEELING, MARKS.fed_up, -MARKS.fed_up, Emotion.ANGER, target)


def _heads(tree: Tree) -> list[int]:
    """Verbs, and "like" where the parser takes it for a preposition: I really like the garden."""
    like = [i for i, t in enumerate(tree.tokens) if t.lower == "like" and t.dep in ("ROOT", "ccomp", "conj")]
    return sorted({*verbs(tree), *(i for i in like if tree.subject(i) is not None)})


def _of_verb(tree: Tree, head: int) -> Iterator[Mark]:
    if not _real(tree, head):
        return
    subject = _subject(tree, head)
    first = subject is not None and tree[subject].lower == "i"
    used = tree[head].lemma == "use" and tree.child(head, "xcomp") is not None
    if first and used:
        yield from _used_to(tree, head)
    elif first:
        yield from _said_of_oneself(tree, head)
    elif subject is not None:
        yield from _done_to_me(tree, head, subject)
        yield from _favourite(tree, head, subject)


def _said_of_oneself(tree: Tree, head: int) -> Iterator[Mark]:
    lemma = _lemma(tree, head)
    now = tree.tense(head) is not Tense.PAST or _perfect(tree, head)
    negated, over = _negated(tree, head)
    strength = _strength(tree, head)
    if lemma in LIKING and now:
        yield from _liking(tree, head, LIKING[lemma], negated, over, strength)
    elif (
        lemma in ("stand", "bear", "stomach")
        and negated
        and any(tree[a].lower in ("ca", "can", "could") for a in tree.auxiliaries(head))
    ):
        yield from _liking(tree, head, MARKS.unbearable, False, over, strength)
    elif lemma in EXPERIENCES and not negated:
        yield from _felt(tree, head, EXPERIENCES[lemma], strength)
    elif (
        lemma == "miss"
        and now
        and not negated
        and not tree.infinitive(head)
        and (who := _target(tree, tree.child(head, "dobj"))) is not None
    ):
        yield Mark(Aspect.FEELING, MARKS.missing, MARKS.missed, Emotion.SADNESS, who, _cause(tree, head))
    elif lemma in ("be", "feel", "get", "become", "seem") and now:
        yield from _states(tree, head, negated, over, strength)


def _states(tree: Tree, head: int, negated: bool, over: bool, strength: float) -> Iterator[Mark]:
    always = any(tree[c].lower in ALWAYS for c in tree.children(head, "advmod"))
    told = tree.children(head, "acomp", "attr", "oprd", "advmod", "prep", "prt")
    for child in [*told, *(c for one in told for c in tree.children(one, "conj")), head]:
        word, prepositions = tree[child].lower, [*tree.children(child, "prep"), *tree.children(head, "prep")]
        if word in ("afraid", "glad", "sorry") and tree.child(child, "ccomp", "xcomp") is not None:
            continue  # as one says so: I'm afraid I can't come, glad to hear it
        if word == "happy" and (offered := tree.child(child, "xcomp")) is not None and tree[offered].lemma in _POLITE:
            continue
        for preposition in prepositions:
            liking = INCLINED.get((word, tree[preposition].lower)) or INCLINED.get((tree[child].lemma, tree[preposition].lower))
            if liking and (target := _target(tree, tree.child(preposition, "pobj", "pcomp"))) is not None:
                yield _attitude(target, -liking if negated else liking, strength, over)
                return
        if (
            tree[child].dep == "prep"
            and word == "into"
            and not tree.infinitive(head)
            and (target := _target(tree, tree.child(child, "pobj", "pcomp")))
        ):
            yield _attitude(target, -MARKS.into if negated else MARKS.into, strength, over)
        if (trait := _trait(tree, child, always)) is not None and tree[head].lemma == "be":
            polarity = -1.0 if negated else 1.0
            yield Mark(Aspect.SELF, MARKS.trait, 0.0 if over else polarity, target=trait, changed=over)
        elif tree[head].lemma == "feel" and word in FELT and not negated:
            yield from _felt(tree, child, FELT[word], max(strength, _strength(tree, child)), above=head)
        elif word in STATES and not negated and child != head:
            yield from _felt(tree, child, STATES[word], max(strength, _strength(tree, child)), above=head)
        elif word in STATES and child == head and tree[head].lemma not in ("be", "feel", "get") and not negated:
            yield from _felt(tree, head, STATES[word], strength)
    if tree[head].lower in STATES and tree[head].tag in ("VBN", "VBD", "JJ") and not negated:
        yield from _felt(tree, head, STATES[tree[head].lower], strength)


def _done_to_me(tree: Tree, head: int, subject: int) -> Iterator[Mark]:
    """It annoys me; you make me happy; he drives me crazy."""
    me = tree.child(head, "dobj", "dative")
    lemma = tree[head].lemma
    if tree.tense(head) is Tense.PAST and not _perfect(tree, head):
        return
    negated, _ = _negated(tree, head)
    target, strength = _target(tree, subject), _strength(tree, head)
    if negated:
        return
    if me is not None and tree[me].lower == "me" and lemma in CAUSES:
        yield _feeling(CAUSES[lemma], strength, target, _cause(tree, head))
    elif lemma in ("make", "drive", "get"):
        objects = {tree[i].lower for i in tree.subtree(head)}
        state = next((tree[i].lower for i in tree.subtree(head) if i > head and tree[i].lower in STATES), None)
        if "me" in objects and state is not None:
            yield _feeling(STATES[state], strength, target, _cause(tree, head))
        elif "me" in objects and lemma == "drive" and objects & {"crazy", "mad", "insane", "nuts", "up"}:
            yield _feeling(Feeling(Emotion.ANGER, -MARKS.driven, MARKS.driven_arousal), strength, target, _cause(tree, head))


def _favourite(tree: Tree, head: int, subject: int) -> Iterator[Mark]:
    """My favourite drink is tea; tea is my favourite."""
    told = tree.child(head, "attr", "acomp", "oprd")
    if tree[head].lemma != "be" or told is None or tree.tense(head) is Tense.PAST:
        return
    for one, other in ((subject, told), (told, subject)):
        lower = [tree[i].lower for i in tree.subtree(one)]
        own = "my" in lower and bool({"favourite", "favorite"} & set(lower))
        if own and (target := _target(tree, other)) is not None and not tree.negated(head):
            yield _attitude(target, MARKS.favourite, 0.0, False)
            return


def _used_to(tree: Tree, head: int) -> Iterator[Mark]:
    """I used to love it: that is over; whether the opposite holds is not said."""
    inner = tree.child(head, "xcomp")
    assert inner is not None
    if tree[inner].lemma in LIKING and (target := _object(tree, inner)) is not None:
        yield Mark(Aspect.ATTITUDE, MARKS.over, 0.0, target=target, changed=True)
    for child in tree.children(inner, "acomp", "attr"):
        if (trait := _trait(tree, child, True)) is not None:
            yield Mark(Aspect.SELF, MARKS.over, 0.0, target=trait, changed=True)


def _liking(tree: Tree, head: int, liking: float, negated: bool, over: bool, strength: float) -> Iterator[Mark]:
    if (target := _object(tree, head)) is None:
        return
    polarity = -MARKS.not_liking * liking if negated and liking > 0 else 0.0 if negated else liking
    if polarity or over:
        yield _attitude(target, polarity, strength, over)


def _attitude(target: str, polarity: float, strength: float, over: bool) -> Mark:
    intensity = min(1.0, abs(polarity or MARKS.over) + strength)
    return Mark(Aspect.ATTITUDE, intensity, max(-1.0, min(1.0, polarity)), target=target, changed=over)


def _felt(tree: Tree, head: int, feeling: Feeling, strength: float, above: int | None = None) -> Iterator[Mark]:
    """With whom or what it is toward, and why; several where they are named."""
    targets: list[str | None] = []
    causes: list[str] = []
    for preposition in [*tree.children(head, "prep", "agent"), *(tree.children(above, "prep") if above is not None else ())]:
        inner = tree.child(preposition, "pobj", "pcomp")
        if inner is None:
            continue
        toward = tree[preposition].lower in TOWARD[feeling.emotion]
        if toward:
            targets += [_target(tree, one) for one in (inner, *tree.children(inner, "conj"))]
        else:
            causes.append(_words(tree, tree.subtree(inner)))
    if (inner := tree.child(head, "xcomp")) is not None and tree[head].pos == "ADJ":  # excited to see it
        causes.append(_words(tree, [i for i in tree.subtree(inner) if tree[i].dep != "punct"]))
    cause = _cause(tree, above if above is not None else head) or _short(next(iter(causes), ""))
    for target in list(filter(None, targets)) or (None,):
        yield _feeling(feeling, strength, target, cause)


def _feeling(feeling: Feeling, strength: float, target: str | None, cause: str | None) -> Mark:
    intensity = max(MARKS.least, min(1.0, feeling.intensity + strength))
    return Mark(Aspect.FEELING, intensity, feeling.valence, feeling.emotion, target, cause)


# ---- whether and how it is said


def _real(tree: Tree, head: int) -> bool:
    """Said as so by the speaker: nothing supposed above it, nothing that somebody else thinks or says."""
    for here in (head, *tree.ancestors(head)):
        if any(tree[a].lower in _SUPPOSED for a in tree.auxiliaries(here)):
            return False
        if any(tree[m].lower in _IF for m in tree.children(here, "mark", "advmod")) and tree[here].dep != "ROOT":
            return False
        if tree[here].dep in ("relcl", "acl", "csubj") or (tree[here].dep == "xcomp" and tree[tree[here].head].lemma in _AHEAD):
            return False
        if tree[here].dep in ("ccomp", "parataxis") and tree[here].head != here:
            above = tree[here].head
            subject = _subject(tree, above)
            if subject is not None and tree[subject].lower != "i":
                return False
            if tree[here].dep == "ccomp" and tree.negated(above):
                return False
            if tree[here].dep == "ccomp" and subject is not None and tree[above].lemma not in _OWN_THOUGHT:
                return False
    return True


def _subject(tree: Tree, head: int) -> int | None:
    """Its own, or of what it is coordinated with or an infinitive of."""
    for _ in range(4):
        if (subject := tree.subject(head)) is not None:
            return subject
        if tree[head].dep not in ("conj", "xcomp", "aux") or tree[head].head == head:
            return None
        head = tree[head].head
    return None


def _negated(tree: Tree, head: int) -> tuple[bool, bool]:
    """Whether it is denied, and whether as something that held before: no longer, not any more."""
    lower = [tree[i].lower for i in tree.subtree(head)]
    text = " ".join(lower)
    over = bool(_STILL & set(lower)) or "any more" in text or ("no longer" in text)
    return tree.negated(head) or "no longer" in text or (
        tree[head].dep == "xcomp" and tree.negated(tree[head].head)
    ), over  # fmt: skip


def _strength(tree: Tree, head: int) -> float:
    """What "so", "really" and "a bit" add to an intensity."""
    near = {tree[i].lower for i in tree.children(head, "advmod", "npadvmod", "amod")} | {
        tree[j].lower for i in tree.children(head, "advmod", "npadvmod") for j in tree.children(i)
    }
    return MARKS.more * bool(near & MORE) - MARKS.less * bool(near & LESS)


def _perfect(tree: Tree, head: int) -> bool:
    finite = tree.finite(head)
    return finite is not None and tree[finite].lemma in ("have", "'ve") and tree[finite].tag in ("VBP", "VBZ")


def _lemma(tree: Tree, head: int) -> str:
    lemma = tree[head].lemma.lower()
    return {"'m": "be", "loved": "love", "hated": "hate"}.get(lemma, lemma)


# ---- whom or what


def _object(tree: Tree, head: int) -> str | None:
    """I love tea; I love to hike; I love hiking."""
    if (thing := tree.child(head, "dobj", "pobj")) is not None:
        return _target(tree, thing)
    if tree[head].dep == "aux":  # "enjoy cooking" is parsed as if it were "am cooking"
        return _clean(_words(tree, [i for i in tree.subtree(tree[head].head, [head]) if i > head and tree[i].dep != "punct"]))
    inner = tree.child(head, "xcomp", "ccomp")
    if inner is None or tree.subject(inner) is not None:
        return None
    kept = [i for i in tree.subtree(inner) if tree[i].tag != "TO" and tree[i].dep not in ("advcl", "npadvmod", "mark", "punct")]
    return _clean(_words(tree, kept))


def _target(tree: Tree, head: int | None) -> str | None:
    if head is None:
        return None
    if tree[head].lower in ("you", "yourself"):
        return ADDRESSEE
    if tree[head].pos == "VERB" or tree[head].tag == "VBG":
        kept = [i for i in tree.subtree(head) if tree[i].dep not in ("advcl", "mark", "punct")]
        if any(tree[i].lower in _UNTOLD for i in kept):
            return None
        return _clean(_words(tree, kept))
    if tree[head].lower in NO_TARGETS or tree[head].pos not in ("NOUN", "PROPN"):
        return None
    if tree[head].pos == "NOUN" and (tree[head].lemma.lower() in NO_TARGETS or tree.children(head, "relcl")):
        return None
    if any(tree[i].lower in _POINTING for i in tree.noun_phrase(head)):
        return None  # which one, only what went before tells
    return _clean(_words(tree, tree.noun_phrase(head)))


def _clean(words: str) -> str | None:
    """Without articles, and own things without whose they are from the speaker's side: "my sister" is "my sister"."""
    bare = _EDGE.sub("", _EDGE.sub("", words)).strip()
    bare = re.sub(r"\b(?:any ?more|now|these days|very much|a lot|at all|again|too|either)$", "", bare, flags=re.I).strip()
    return bare if bare and tells_whom(bare) and len(bare.split()) <= 6 else None


def tells_whom(words: str) -> bool:
    """Whether they tell whom or what something is about, and do not only point to it: Ben, the sea; not everybody, not it."""
    return words.lower() not in NO_TARGETS


def _words(tree: Tree, indices: Sequence[int]) -> str:
    return "".join(
        f" {tree[i].text}" if n and tree[i].begin > tree[indices[n - 1]].end else tree[i].text for n, i in enumerate(indices)
    ).strip()


def _trait(tree: Tree, child: int, always: bool) -> str | None:
    word, lemma = tree[child].lower, tree[child].lemma.lower()
    if tree.children(child, "xcomp", "prep") and lemma not in _PEOPLE:
        return None  # too lazy to cook, always proud of you: of something, not of oneself
    if word in TRAITS and tree[child].dep in ("acomp", "attr", "conj", "oprd", "amod"):
        return TRAITS[word]
    if lemma in TRAIT_NOUNS:
        return lemma
    for modifier in tree.children(child, "compound", "amod", "poss"):
        if (found := TRAIT_COMPOUNDS.get((lemma, tree[modifier].lower))) is not None:
            return found
        if lemma in _PEOPLE and tree[modifier].lower in TRAITS:
            return TRAITS[tree[modifier].lower]
    if always and (word in STATES or word in _HABITS) and tree[child].dep in ("acomp", "attr", "conj", "advmod"):
        return f"always {word}"
    return None


def _cause(tree: Tree, head: int) -> str | None:
    """Because …, of the clause that the feeling stands in."""
    for child in tree.children(head, "advcl", "prep"):
        if any(tree[m].lower in _BECAUSE for m in (child, *tree.children(child, "mark", "advmod", "prep"))):
            kept = [i for i in tree.subtree(child) if tree[i].lower not in _BECAUSE and tree[i].dep != "punct"]
            return _short(_words(tree, kept))
    return None


def _short(words: str) -> str | None:
    return " ".join(words.split()[:12]) or None
