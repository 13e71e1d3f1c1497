"""Who said it, or to whom was it said? From hits and the edges they came with; nobody is guessed from the words."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.retrieval.plan import content_words
from service.retrieval.question_words import words_of
from service.types.search import Hit, Wants


@dataclass(frozen=True, slots=True)
class AttributionConfig:
    """Chosen on scenarios 1 to 3 of the spoken set (95 % of 41 questions name the right one); 93 % of 44 on 4 to 6."""

    overlap: float = 2.0  # of a hit's weight: the share of the question's words in it, beside its share of the best score
    own: float = 0.7  # of the weight of what the asker said: they hardly ask who it was, where it was them
    named: float = 0.7  # the same of whom the question names as neither: who is spoken of seldom spoke
    asking: float = 0.8  # of the weight of a hit that asks: who asks "are you going to Rome?" did not tell
    answering: float = 0.9  # of the weight that a question found would have, for who answers it: "who locks up?" "Me."
    offering: float = 1.3  # of the weight of a hit that offers, where that is asked: "I'll …", "we could …"
    max_people: int = 5  # shown; who comes after them has hardly anything to do with it
    max_hits: int = 3  # of each


ASKING = words_of("ask asks asked asking gefragt preguntó invite invites invited")
"""With these a question is just what is looked for."""


OFFERING = words_of(
    "offer offers offered volunteer volunteered promise promised suggest suggests suggested propose proposes proposed"
)
_OFFER = re.compile(
    r"\b(?:i(?:'ll|'d| will| would| can| could)|let me|let's|we(?:'ll| could| can| should)|shall (?:i|we)|why (?:don't|not)"
    r"|(?:what|how) (?:if|about)|want me to|maybe)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Attributed:
    """Somebody with what they said, or with what was said to them."""

    person_id: str | None
    """None: a voice not recognised, told apart by `voice`."""
    voice: str
    """Id of the LocalSpeaker, of a speaker; empty for an addressee."""
    score: float
    """Share of the best that anybody could have, [0, 1]; comparable within one question."""
    hits: tuple[Hit, ...]
    """Best first."""


def attributed(
    hits: Sequence[Hit],
    said: str,
    wants: Wants,
    *,
    speakers: Collection[str] = (),
    addressees: Collection[str] = (),
    verbs: Collection[str] = (),
    named: Collection[str] = (),
    config: AttributionConfig = AttributionConfig(),
) -> tuple[Attributed, ...]:
    """The likeliest first. `said`: what it was about; `speakers` and `addressees`: whom the question names as such: only what
    they said counts, or what was said to them where the edges tell that of anything found; `verbs`: its words for saying;
    `named`: all whom it names."""
    spoken_of = frozenset(named) - {*speakers, *addressees}
    kept = _kept(hits, frozenset(speakers), frozenset(addressees))
    rare = _rarity(content_words(said), hits)
    found: dict[tuple[str | None, str], list[tuple[float, Hit]]] = defaultdict(list)
    weights = _weights(kept, rare, config, set(verbs))
    for hit in kept:
        weight = weights[hit.message.id]
        for person, voice, sure in _people(hit, wants):
            if wants is Wants.ADDRESSEE:
                found[person, voice].append((weight * (1 + sure) / 2, hit))
            elif person is None or person not in addressees:
                own = hit.visible_because == "said_it"
                less = config.own if own else config.named if person in spoken_of else 1.0
                found[person, voice].append((weight * less, hit))
    return tuple(_by_best(found, config))[: config.max_people]


def _kept(hits: Sequence[Hit], speakers: frozenset[str], addressees: frozenset[str]) -> tuple[Hit, ...]:
    by = tuple(hit for hit in hits if not speakers or hit.message.speaker_id in speakers)
    to = tuple(hit for hit in by if addressees & {a.person_id for a in hit.message.addressees})
    return to or by if addressees else by


def _rarity(words: frozenset[str], hits: Sequence[Hit]) -> dict[str, float]:
    """What each of `words` tells: the fewer hits have it, the more; nothing, where none has."""
    texts = [content_words(hit.message.text or "") for hit in hits]
    seen = {word: sum(word in text for text in texts) for word in words}
    return {word: math.log1p(len(texts) / n) for word, n in seen.items() if n}


def _weights(kept: Sequence[Hit], rare: Mapping[str, float], config: AttributionConfig, verbs: set[str]) -> dict[str, float]:
    """By message id. Where not questions are looked for, a question's words are its answer's."""
    best = max((hit.score for hit in kept), default=0.0)
    weights = {hit.message.id: _weight(hit, best, rare, config, verbs) for hit in kept}
    asked = {} if verbs & (ASKING | OFFERING) else {h.message.id: weights[h.message.id] for h in kept if _asks(h)}
    for hit in kept:
        own, answers = weights[hit.message.id], hit.message.reply_to
        if hit.message.id in asked:
            weights[hit.message.id] = own * config.asking
        elif answers in asked:
            weights[hit.message.id] = max(own, asked[answers] * config.answering)
    return weights


def _asks(hit: Hit) -> bool:
    return (hit.message.text or "").rstrip("\"'”’) ").endswith(("?", "？"))


def _weight(hit: Hit, best: float, rare: Mapping[str, float], config: AttributionConfig, verbs: set[str]) -> float:
    text = hit.message.text or ""
    share = sum(rare[word] for word in rare.keys() & content_words(text)) / (sum(rare.values()) or 1.0)
    weight = hit.score / (best or 1.0) + config.overlap * share
    return weight * config.offering if verbs & OFFERING and _OFFER.search(text.replace("’", "'")) else weight


def _people(hit: Hit, wants: Wants) -> Iterator[tuple[str | None, str, float]]:
    """Whom a hit speaks for, and how surely."""
    message = hit.message
    if wants is Wants.SPEAKER:
        yield message.speaker_id, "" if message.speaker_id else message.local_speaker, 1.0
    else:
        for to in message.addressees:
            yield to.person_id, "", to.confidence


def _by_best(found: dict[tuple[str | None, str], list[tuple[float, Hit]]], config: AttributionConfig) -> list[Attributed]:
    """By the best that speaks for each: who says much of something is not who said this."""
    people = []
    for (person, voice), weighted in found.items():
        weighted.sort(key=lambda entry: -entry[0])
        score = min(1.0, weighted[0][0] / (1 + config.overlap))
        people.append(Attributed(person, voice, score, tuple(hit for _, hit in weighted[: config.max_hits])))
    return sorted(people, key=lambda one: (-one.score, one.person_id or "", one.voice))
