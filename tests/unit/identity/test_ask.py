"""Who is let in by voice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.identity.ask import AskConfig, verify
from service.identity.policies import BadVoiceVector, VoiceSpacesDiffer
from service.identity.thresholds import ChannelPair
from service.types.audio import EmbeddingSpace, Samples, SpeakerEmbedding
from service.types.people import ChannelMean, Consent, PersonVoice, VoiceOutcome, VoiceVerdict
from tests.unit.identity.voices import SPACE, a_person, axis, between, gallery

KNOWN = gallery(a_person("ana", axis(0)), a_person("ben", axis(2)))


def ask(
    vector: Samples,
    known: dict[str, PersonVoice] | None = None,
    *,
    net_speech: float = 3.0,
    population: int = 0,
    channel: str = "wideband",
) -> VoiceVerdict:
    return verify(
        SpeakerEmbedding(vector, SPACE),
        net_speech,
        KNOWN if known is None else known,
        AskConfig(),
        population=population,
        channel=channel,
    )


def test_a_known_voice_is_accepted() -> None:
    verdict = ask(between(0.9))
    assert (verdict.outcome, verdict.person_id) == (VoiceOutcome.ACCEPT, "ana")


@pytest.mark.parametrize(
    ("vector", "outcome"),
    [
        (between(0.52), VoiceOutcome.INCONCLUSIVE),
        (between(0.30), VoiceOutcome.REJECT),
        (axis(5), VoiceOutcome.REJECT),
    ],
)
def test_what_is_not_alike_enough_names_nobody(vector: Samples, outcome: VoiceOutcome) -> None:
    verdict = ask(vector)
    assert (verdict.outcome, verdict.person_id) == (outcome, None)


def test_what_links_among_few_is_not_let_in_among_many() -> None:
    assert ask(between(0.6)).outcome is VoiceOutcome.ACCEPT
    assert ask(between(0.6), population=2_000).outcome is not VoiceOutcome.ACCEPT


def test_two_alike_let_in_neither() -> None:
    known = gallery(a_person("ana", between(0.99, 0, 1)), a_person("bea", between(0.97, 0, 2)))
    verdict = ask(axis(0), known)
    assert (verdict.outcome, verdict.person_id) == (VoiceOutcome.INCONCLUSIVE, None)


def test_too_little_speech_is_inconclusive_and_nobody_known_is_said_so() -> None:
    assert ask(axis(0), net_speech=0.5).outcome is VoiceOutcome.INCONCLUSIVE
    assert ask(axis(0), {}).outcome is VoiceOutcome.NOT_ENROLLED


@pytest.mark.parametrize("consent", [Consent.WITHDRAWN, Consent.OPTED_OUT])
def test_whoever_took_consent_back_opens_nothing(consent: Consent) -> None:
    verdict = ask(axis(0), gallery(a_person("ana", axis(0), consent=consent)))
    assert (verdict.outcome, verdict.person_id) == (VoiceOutcome.OPTED_OUT, None)


def test_a_telephone_pair_needs_more() -> None:
    known = gallery(a_person("ana", axis(0), channel="telephone"))
    assert ask(between(0.75), known, channel="telephone").outcome is not VoiceOutcome.ACCEPT
    assert ask(between(0.75), gallery(a_person("ana", axis(0)))).outcome is VoiceOutcome.ACCEPT


def test_with_the_means_of_both_channels_a_telephone_opens_what_a_clean_line_was_enrolled_for() -> None:
    means = {
        "telephone": ChannelMean("telephone", 0.7 * axis(7), 40, 20),
        "wideband": ChannelMean("wideband", 0.1 * axis(6), 40, 20),
    }
    voice = SpeakerEmbedding(between(0.4, 0, 7), SPACE)
    raw = verify(voice, 3.0, KNOWN, AskConfig(), channel="telephone")
    verdict = verify(voice, 3.0, KNOWN, AskConfig(), channel="telephone", channels=means)
    assert raw.outcome is VoiceOutcome.INCONCLUSIVE and raw.scores.channels == ChannelPair.CROSS
    assert (verdict.outcome, verdict.person_id) == (VoiceOutcome.ACCEPT, "ana")
    assert verdict.scores.channels == ChannelPair.COMPENSATED_CROSS and verdict.scores.runner_up_id == "ben"


def test_several_embeddings_of_one_question_are_averaged() -> None:
    parts = [SpeakerEmbedding(between(0.7, 0, i), SPACE) for i in (3, 4, 5)]
    verdict = verify(parts, 4.0, KNOWN, AskConfig())
    assert verdict.outcome is VoiceOutcome.ACCEPT
    assert verdict.scores.cosine is not None and verdict.scores.cosine > 0.85


def test_another_encoder_version_or_a_broken_vector_is_refused() -> None:
    other = SpeakerEmbedding(axis(0), EmbeddingSpace("campplus", "other", SPACE.dimension))
    with pytest.raises(VoiceSpacesDiffer):
        verify(other, 3.0, KNOWN, AskConfig())
    with pytest.raises(BadVoiceVector):
        ask(np.zeros(8, dtype=np.float32))


@given(cosine=st.floats(-1, 1), size=st.integers(0, 5_000))
def test_whoever_is_let_in_would_also_link(cosine: float, size: int) -> None:
    config = AskConfig()
    verdict = ask(between(cosine), population=size)
    if verdict.outcome is VoiceOutcome.ACCEPT:
        assert (verdict.scores.cosine or 0.0) >= config.thresholds.link(max(size, 2))
    assert (verdict.person_id is not None) == (verdict.outcome is VoiceOutcome.ACCEPT)


def test_asking_changes_nobody() -> None:
    before = {p: replace(v) for p, v in KNOWN.items()}
    ask(between(0.9))
    for person, voice in KNOWN.items():
        assert np.array_equal(before[person].centroid, voice.centroid) and before[person].exemplars == voice.exemplars
