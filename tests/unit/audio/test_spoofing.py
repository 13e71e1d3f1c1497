"""A scorer of one's own is taken by its name; one that is set and missing is refused, never left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.audio.spoofing import SpoofScorerMissing, load_scorer
from service.identity.ask import AskConfig, verify
from service.settings import Settings
from service.types.audio import SpeakerEmbedding, Waveform
from service.types.people import VoiceOutcome
from service.wiring import Models
from tests.unit.identity.voices import SPACE, a_person, axis, gallery


class LoudIsPlayed:
    """A scorer that takes whatever is loud for played."""

    name = "loud"

    @classmethod
    def load(cls, *, cache: Path, threads: int) -> LoudIsPlayed:
        return cls()

    def __call__(self, waveform: Waveform) -> float:
        return float(np.abs(waveform.samples).max())


OURS = f"{__name__}:LoudIsPlayed"


def test_without_one_nothing_looks(tmp_path: Path) -> None:
    assert load_scorer("none", cache=tmp_path) is None


@pytest.mark.parametrize("name", ["aasist", "no_such_package.scorer:Scorer", "json:Scorer", "json:JSONDecoder"])
async def test_one_that_is_missing_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SpoofScorerMissing, match="spoof_scorer"):
        await Models(Settings(data_dir=tmp_path, spoof_scorer=name)).spoof_scorer()


async def test_one_of_ones_own_is_asked(tmp_path: Path) -> None:
    scorer = await Models(Settings(data_dir=tmp_path, spoof_scorer=OURS)).spoof_scorer()
    assert scorer is not None and scorer.name == "loud"
    assert scorer(Waveform(np.full(16_000, 0.9, np.float32))) > AskConfig().max_spoof


@pytest.mark.parametrize(
    ("spoof", "outcome"), [(None, "accept"), (0.2, "accept"), (0.7, "inconclusive"), (float("nan"), "inconclusive")]
)
def test_a_voice_that_is_perhaps_none_is_compared_with_nobody(spoof: float | None, outcome: str) -> None:
    known = gallery(a_person("ana", axis(0)), a_person("ben", axis(2)))
    verdict = verify(SpeakerEmbedding(axis(0), SPACE), 5.0, known, AskConfig(), spoof=spoof)
    assert verdict.outcome == VoiceOutcome(outcome)
    assert (verdict.person_id is None) == (verdict.scores.cosine is None) == (outcome != "accept")
