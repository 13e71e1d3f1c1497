"""Does a question ask for how somebody sounded, and which sounds are near what it is about?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.retrieval.plan import Plan, content_words
from service.types.candidates import Place
from service.types.sounds import SoundLabel


@dataclass(frozen=True, slots=True)
class NearConfig:
    """By hand, 2026-11: somebody laughs at what was said a moment before, or says it laughing and is answered."""

    reach: int = 4  # turns of the same session
    fade: float = 0.85  # of the score, with each turn between
    share: float = 0.2  # of the nearest: what is further off sounded about something else


_TALK = r"(?:talk|speak|spoke)\w*"
_PATTERNS: Mapping[SoundLabel, re.Pattern[str]] = {
    label: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
    for label, pattern in {
        SoundLabel.LAUGHING: r"laugh(?:s|ed|ing|ter)?|giggl(?:e|es|ed|ing)|chuckl(?:e|es|ed|ing)|lachen|lacht|lachte|gelacht",
        SoundLabel.WHISPERING: r"whisper(?:s|ed|ing)?|flüstert?e?n?|geflüstert",
        SoundLabel.SHOUTING: r"shout(?:s|ed|ing)?|yell(?:s|ed|ing)?|scream(?:s|ed|ing)?",
        SoundLabel.SLOW: rf"{_TALK} (?:so |very |too |really )?slow(?:ly)?",
        SoundLabel.FAST: rf"{_TALK} (?:so |very |too |really )?(?:fast|quickly|hurriedly)",
        SoundLabel.COUGHING: r"cough(?:s|ed|ing)?",
        SoundLabel.CRYING: r"cry|cries|cried|crying|sob(?:s|bed|bing)?",
        SoundLabel.SINGING: r"singing|sang",
        SoundLabel.APPLAUSE: r"applaud(?:s|ed|ing)?|applause|clapp(?:ed|ing)",
        SoundLabel.MUSIC: r"music (?:was |is )?(?:playing|on|played)|music in the background|heard? (?:some )?music",
        SoundLabel.RINGING: r"(?:(?:tele)?phone|doorbell|bell|alarm) (?:was |is )?(?:ring\w*|rang|rung|went off)|ringing",
        SoundLabel.KNOCKING: r"knock(?:s|ed|ing)? (?:at|on) the door",
        SoundLabel.SIREN: r"sirens?",
        SoundLabel.DOG: r"(?:dogs? )?(?:was |were )?bark(?:s|ed|ing)",
        SoundLabel.CAT: r"(?:cats? )?(?:was |were )?meow(?:s|ed|ing)",
        SoundLabel.TYPING: r"typing",
    }.items()
}
"""English, and German for the two that are asked for most."""


def asks_for_sounds(question: str) -> tuple[SoundLabel, ...]:
    """The labels that it names, in their order; none for most questions."""
    return tuple(label for label, pattern in _PATTERNS.items() if pattern.search(question))


def without_sounds(planned: Plan, labels: Sequence[SoundLabel]) -> Plan:
    """What the question is about besides: "laughing" is looked for among sounds, and not among words."""

    def rest(text: str) -> str:
        for label in labels:
            text = _PATTERNS[label].sub(" ", text)
        return " ".join(text.split())

    words, meaning = rest(planned.words), rest(planned.meaning)
    return replace(planned, words=words or planned.words, meaning=meaning or planned.meaning, subject=rest(planned.subject))


def is_about(planned: Plan) -> bool:
    """Whether something is left that sounds can be near to."""
    return bool(content_words(planned.subject) - _NOBODY)


_NOBODY = content_words("somebody someone anybody anyone everybody everyone people heard hear sound sounds loud out time")


def near(places: Sequence[Place], scores: Mapping[Place, float], config: NearConfig = NearConfig()) -> dict[Place, float]:
    """Of `places`, those near the best of `scores` (how well what was said at a place answers, [0, 1]): with the best score
    within reach, faded with the distance, in [0, 1]."""
    found: dict[Place, float] = {}
    for session, index in places:
        steps = range(-config.reach, config.reach + 1)
        best = max(scores.get((session, index + step), 0.0) * config.fade ** abs(step) for step in steps)
        if best > 0.0:
            found[session, index] = best
    least = config.share * max(found.values(), default=0.0)
    return {place: score for place, score in found.items() if score >= least}
