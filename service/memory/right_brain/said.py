"""How is an attitude or trait put in words? With {target} for whom it concerns, where that is a person: their name is the
viewer's to know or not."""

from __future__ import annotations

from collections.abc import Mapping

from service.types.affect import Aspect, Emotion, Persona

TARGET = "{target}"
SOMEBODY = "somebody"
"""Whom an attitude concerns, where the viewer knows no name of theirs."""

_OFTEN = {
    Emotion.JOY: "is often happy",
    Emotion.CALM: "is often calm",
    Emotion.SADNESS: "is often sad",
    Emotion.ANGER: "is often angry",
    Emotion.ANXIETY: "is often anxious",
    Emotion.TIREDNESS: "is often tired",
    Emotion.LONELINESS: "is often lonely",
}
_TOWARD = {
    Emotion.JOY: "is happy about",
    Emotion.CALM: "is calm about",
    Emotion.SADNESS: "is sad about",
    Emotion.ANGER: "is angry with",
    Emotion.ANXIETY: "is anxious about",
    Emotion.TIREDNESS: "is tired of",
    Emotion.LONELINESS: "is lonely for",
}
STRONG = 0.8
"""|polarity| from which liking is loving: that of the words "love" and "hate" in the lexicon, less a little."""


def description(persona: Persona) -> str:
    """Without a subject: "dislikes {target}", "is often anxious", "says to be shy"."""
    what = TARGET if (persona.target or "").startswith("person:") else persona.words or ""
    if persona.aspect is Aspect.SELF:
        return f"says {'not ' if persona.polarity < 0 else ''}to be {_with_article(what)}"
    if persona.aspect is Aspect.ATTITUDE:
        verbs = ("hates", "dislikes") if persona.polarity < 0 else ("loves", "likes")
        return f"{verbs[0] if abs(persona.polarity) >= STRONG else verbs[1]} {what}"
    assert persona.emotion is not None
    return _OFTEN[persona.emotion] if persona.target is None else f"{_TOWARD[persona.emotion]} {what}"


def person_of(persona: Persona) -> str | None:
    """Id of the person it concerns."""
    target = persona.target or ""
    return target.removeprefix("person:") if target.startswith("person:") else None


def in_words(persona: Persona, names: Mapping[str, str | None]) -> str:
    """The description with the name of whom it concerns; `names`: of people by id, those that the viewer may know."""
    return description(persona).replace(TARGET, names.get(person_of(persona) or "") or SOMEBODY)


def _with_article(what: str) -> str:
    """A trait of several words or of a noun is "a …"."""
    noun = what.endswith(("person", "owl", "bird", "riser", "ist", "ert", "er", "body", "holic", "worm", "ator", "die"))
    noun = noun and what not in ("sober", "clever")
    return f"{'an' if what[:1] in 'aeiou' else 'a'} {what}" if noun else what
