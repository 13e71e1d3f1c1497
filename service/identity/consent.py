"""May this voice be kept, and for how long?

What an identity is without a kept voice (space setting `ephemeral`): a new voice still becomes a Person, known for the
length of its session through the fold's own memory (FoldState.passing), so that its turns hang together, can be named,
merged and erased. No exemplar is written and the next session does not recognise it: it makes another Person. Only a
human or an account joins the two.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.types.people import AnonymousVoices, Consent, SpaceSettings

REFUSED = frozenset({Consent.WITHDRAWN, Consent.OPTED_OUT})
"""States in which a voice is never learnt from, never linked by voice, and never opens anything."""


@dataclass(frozen=True, slots=True)
class Keep:
    expires_after_days: int | None
    """After it was written; under `voice_days` after it was last heard. None: until erased."""


@dataclass(frozen=True, slots=True)
class Refuse:
    reason: str
    """withdrawn | opted_out | ephemeral"""


def may_keep(consent: Consent, settings: SpaceSettings) -> Keep | Refuse:
    """Whether an exemplar of a voice in this consent state may be written; asked again inside the write transaction."""
    match consent:
        case Consent.WITHDRAWN | Consent.OPTED_OUT:
            return Refuse(consent.value)
        case Consent.GRANTED:
            return Keep(settings.voice_days)
        case Consent.UNKNOWN:
            return _unasked(settings)


def _unasked(settings: SpaceSettings) -> Keep | Refuse:
    match settings.anonymous_voices:
        case AnonymousVoices.EPHEMERAL:
            return Refuse("ephemeral")
        case AnonymousVoices.EXPIRE:
            return Keep(settings.anonymous_days)
        case AnonymousVoices.KEEP:
            return Keep(settings.voice_days)
