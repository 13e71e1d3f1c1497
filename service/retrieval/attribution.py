"""Who said it, or to whom was it said? From hits and the edges they came with; nobody is guessed from the words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from service.retrieval.plan import content_words
from service.retrieval.question_words import words_of
from service.types.search import Hit, Wants


@dataclass(frozen=True, slots=True)
class AttributionConfig:
    overlap: float = 1.0  # of a hit's weight: the share of the question's words in it, beside its score in [0, 1]
    asking: float = 0.5  # of the weight of a hit that asks: who asks "are you going to Rome?" did not tell
    further: float = 0.3  # of the weight of each further hit of the same person, against the one before
    max_people: int = 5  # shown; who comes after them has hardly anything to do with it
    max_hits: int = 3  # of each


ASKING = words_of("ask asks asked asking gefragt preguntó invite invites invited")
"""With these a question is just what is looked for."""


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
    config: AttributionConfig = AttributionConfig(),
) -> tuple[Attributed, ...]:
    """The likeliest first. `said`: what it was about; `speakers` and `addressees`: whom the question names as such: only what
    they said counts, or what was said to them where the edges tell that of anything found; `verbs`: its words for saying."""
    asked = content_words(said)
    kept = _kept(hits, frozenset(speakers), frozenset(addressees))
    found: dict[tuple[str | None, str], list[tuple[float, Hit]]] = defaultdict(list)
    for hit in kept:
        weight = _weight(hit, asked, config, asks=bool(ASKING & set(verbs)))
        for person, voice, sure in _people(hit, wants):
            if person is None or person not in addressees or wants is Wants.ADDRESSEE:
                found[person, voice].append((weight * sure, hit))
    return tuple(_summed(found, config))[: config.max_people]


def _kept(hits: Sequence[Hit], speakers: frozenset[str], addressees: frozenset[str]) -> tuple[Hit, ...]:
    by = tuple(hit for hit in hits if not speakers or hit.message.speaker_id in speakers)
    to = tuple(hit for hit in by if addressees & {a.person_id for a in hit.message.addressees})
    return to or by if addressees else by


def _weight(hit: Hit, asked: frozenset[str], config: AttributionConfig, *, asks: bool) -> float:
    text = hit.message.text or ""
    share = len(asked & content_words(text)) / len(asked) if asked else 0.0
    asking = not asks and text.rstrip("\"'”’) ").endswith(("?", "？"))
    return (hit.score + config.overlap * share) * (config.asking if asking else 1.0)


def _people(hit: Hit, wants: Wants) -> Iterator[tuple[str | None, str, float]]:
    """Whom a hit speaks for, and how surely."""
    message = hit.message
    if wants is Wants.SPEAKER:
        yield message.speaker_id, "" if message.speaker_id else message.local_speaker, 1.0
    else:
        for to in message.addressees:
            yield to.person_id, "", to.confidence


def _summed(found: dict[tuple[str | None, str], list[tuple[float, Hit]]], config: AttributionConfig) -> list[Attributed]:
    whole = (1 + config.overlap) / (1 - config.further)
    people = []
    for (person, voice), weighted in found.items():
        weighted.sort(key=lambda entry: -entry[0])
        score = sum(weight * config.further**i for i, (weight, _) in enumerate(weighted)) / whole
        people.append(Attributed(person, voice, min(1.0, score), tuple(hit for _, hit in weighted[: config.max_hits])))
    return sorted(people, key=lambda one: (-one.score, one.person_id or "", one.voice))
