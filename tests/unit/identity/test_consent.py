"""Which voices may be kept, and how long."""

from __future__ import annotations

import pytest

from service.identity.consent import Keep, Refuse, may_keep
from service.types.people import AnonymousVoices, Consent, SpaceSettings


@pytest.mark.parametrize(
    ("consent", "anonymous", "answer"),
    [
        (Consent.UNKNOWN, AnonymousVoices.EXPIRE, Keep(30)),
        (Consent.UNKNOWN, AnonymousVoices.KEEP, Keep(None)),
        (Consent.UNKNOWN, AnonymousVoices.EPHEMERAL, Refuse("ephemeral")),
        *((Consent.GRANTED, a, Keep(None)) for a in AnonymousVoices),
        *((Consent.WITHDRAWN, a, Refuse("withdrawn")) for a in AnonymousVoices),
        *((Consent.OPTED_OUT, a, Refuse("opted_out")) for a in AnonymousVoices),
    ],
)
def test_a_voice_is_kept_only_as_its_person_and_space_allow(
    consent: Consent, anonymous: AnonymousVoices, answer: Keep | Refuse
) -> None:
    assert may_keep(consent, SpaceSettings("s", anonymous_voices=anonymous)) == answer


def test_the_space_says_how_long_an_anonymous_voice_stays() -> None:
    assert may_keep(Consent.UNKNOWN, SpaceSettings("s", anonymous_days=7, voice_days=90)) == Keep(7)


@pytest.mark.parametrize("consent", [Consent.UNKNOWN, Consent.GRANTED])
def test_a_space_says_how_long_after_it_was_heard_a_voice_is_kept_that_would_be_kept_for_good(consent: Consent) -> None:
    assert may_keep(consent, SpaceSettings("s", anonymous_voices=AnonymousVoices.KEEP, voice_days=90)) == Keep(90)
