from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from service.errors import InvalidInput
from service.identity.calibration import Calibration, CalibrationConfig, PairFigures, TooFewTrials, Utterance, calibrate
from service.identity.thresholds import CAMPPLUS, ChannelPair
from service.pipelines.calibrate import (
    BrokenThresholds,
    CalibratedOtherwise,
    find_recordings,
    load_thresholds,
    save_thresholds,
)
from service.types.audio import EmbeddingSpace, Samples

SPACE = EmbeddingSpace("campplus", "weights-1", 192)


def voices(
    num_speakers: int, each: int, *, likeness: float = 0.85, sessions: int = 2, channel: str = "wideband", common: float = 0.0
) -> list[Utterance]:
    """Utterances of one speaker have a cosine of about `likeness` squared, of two about `common` squared."""
    rng = np.random.default_rng(5)

    def direction() -> Samples:
        drawn = rng.standard_normal(SPACE.dimension)
        return np.asarray(drawn / np.linalg.norm(drawn), dtype=np.float32)

    shared, made = direction(), []
    for speaker in range(num_speakers):
        own = direction()
        for i in range(each):
            vector = common * shared + likeness * own + np.sqrt(1 - likeness**2) * direction()
            vector /= np.linalg.norm(vector)
            made.append(
                Utterance(f"{channel}/{speaker}/{i}", f"s{speaker}", f"s{speaker}/{i % sessions}", channel, 4.0, vector)
            )
    return made


def calibrated(utterances: list[Utterance], *, labelled: bool = True) -> Calibration:
    return calibrate(utterances, CAMPPLUS, labelled=labelled, origin="a test")


def wideband(made: Calibration) -> PairFigures:
    return next(f for f in made.pairs if f.pair is ChannelPair.WIDEBAND)


def test_thresholds_lie_between_strangers_and_ones_own_and_rise_with_the_gallery() -> None:
    made = calibrated(voices(40, 4))
    figures = wideband(made)
    assert figures.eer == 0.0
    assert figures.impostor.max() < figures.suggested[-1].access < figures.genuine.min()
    links = [s.link for s in figures.suggested]
    assert links == sorted(links) and links[0] < links[-1]
    assert all(s.create <= s.link < s.access and s.link_misses == 0.0 for s in figures.suggested)
    assert made.thresholds.pairs[ChannelPair.TELEPHONE] == CAMPPLUS.pairs[ChannelPair.TELEPHONE]


def test_the_equal_error_rate_is_that_of_the_trials() -> None:
    """30 utterances of one voice each, half of which carry another's name: half of the genuine trials score like strangers."""
    mixed = [
        Utterance(u.id, f"named{i % 30}", u.session, u.channel, u.net_speech, u.vector)
        for i, u in enumerate(voices(60, 1, sessions=60) + voices(60, 1, sessions=60))
    ]
    figures = wideband(calibrated(mixed))
    genuine, impostor = figures.genuine, figures.impostor
    threshold = np.sort(np.concatenate([genuine, impostor]))
    gap = [abs((genuine < t).mean() - (impostor >= t).mean()) for t in threshold]
    at = threshold[int(np.argmin(gap))]
    assert figures.eer == pytest.approx(((genuine < at).mean() + (impostor >= at).mean()) / 2)
    assert figures.eer > 0.2


def test_voices_of_one_speaker_are_compared_across_recordings_where_there_are_several() -> None:
    several, one = voices(20, 4, sessions=2), voices(20, 4, sessions=1)
    assert wideband(calibrated(several)).num_genuine == 20 * 4
    assert wideband(calibrated(one)).num_genuine == 20 * 6


def test_without_labels_only_voices_of_one_recording_are_compared() -> None:
    utterances = [
        Utterance(u.id, u.speaker, f"meeting{int(u.speaker[1:]) // 10}", u.channel, u.net_speech, u.vector)
        for u in voices(40, 4)
    ]
    figures = wideband(calibrated(utterances, labelled=False))
    assert figures.num_impostor == 4 * (10 * 9 // 2) * 16
    assert figures.num_genuine == 40 * 6


@pytest.mark.parametrize("rate", [0.01, 0.001, 0.0001])
def test_without_labels_thresholds_only_ever_become_stricter(rate: float) -> None:
    easy = [Utterance(u.id, u.speaker, "a meeting", u.channel, u.net_speech, u.vector) for u in voices(30, 4, sessions=1)]
    shipped = CAMPPLUS.pairs[ChannelPair.WIDEBAND].threshold(rate)
    labelled = calibrated(voices(30, 4)).thresholds.pairs[ChannelPair.WIDEBAND].threshold(rate)
    assert labelled < shipped, "these voices are easier than real ones"
    unlabelled = calibrated(easy, labelled=False).thresholds.pairs[ChannelPair.WIDEBAND].threshold(rate)
    assert unlabelled == pytest.approx(shipped, abs=0.01)


def test_channels_with_enough_people_are_also_compared_without_what_they_have_in_common() -> None:
    wide, narrow = voices(30, 3), voices(30, 3, channel="telephone", common=1.2)
    figures = {f.pair: f for f in calibrated(wide + narrow).pairs}
    assert set(figures) == set(ChannelPair) - {ChannelPair.TWIN}
    assert figures[ChannelPair.TELEPHONE].impostor.mean() > 0.4
    assert abs(figures[ChannelPair.COMPENSATED].impostor.mean()) < 0.1


def test_too_few_trials_are_refused_with_what_was_given_and_needed() -> None:
    with pytest.raises(TooFewTrials, match=r"30 and 1000"):
        calibrated(voices(5, 3))
    with pytest.raises(TooFewTrials):
        calibrated([])


def test_thresholds_kept_in_the_file_are_those_read_back(tmp_path: Path) -> None:
    path, made = tmp_path / "kept" / "thresholds.json", calibrated(voices(40, 4)).thresholds
    assert load_thresholds(path, SPACE) == CAMPPLUS
    save_thresholds(path, SPACE, calibrated(voices(40, 4)))
    assert load_thresholds(path, SPACE) == made != CAMPPLUS
    save_thresholds(path, EmbeddingSpace("ecapa", "weights-9", 192), calibrated(voices(40, 4)))
    assert load_thresholds(path, SPACE) == made, "another encoder's entry stands beside it"


def test_thresholds_of_other_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.json"
    save_thresholds(path, SPACE, calibrated(voices(40, 4)))
    with pytest.raises(CalibratedOtherwise, match=r"weights-1.*weights-2"):
        load_thresholds(path, EmbeddingSpace("campplus", "weights-2", 192))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"campplus": 3}',
        '{"campplus": {"version": "weights-1"}}',
        '{"campplus": {"version": "weights-1", "pairs": {"no_such_pair": {}}}}',
    ],
)
def test_a_broken_file_is_named_and_not_taken_for_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "thresholds.json"
    path.write_text(text)
    with pytest.raises(BrokenThresholds, match=r"thresholds\.json"):
        load_thresholds(path, SPACE)


def test_recordings_are_found_by_folder_and_by_list(tmp_path: Path) -> None:
    for name in ("ana/1.wav", "ana/2.flac", "ben/1.wav", "ben/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    by_folder = find_recordings([tmp_path], labelled=True)
    assert [(r.speaker, r.path.name) for r in by_folder] == [("ana", "1.wav"), ("ana", "2.flac"), ("ben", "1.wav")]
    (tmp_path / "list.csv").write_text("path,speaker\nana/1.wav,Ana\n")
    assert [(r.speaker, r.path) for r in find_recordings([tmp_path / "list.csv"], labelled=True)] == [
        ("Ana", tmp_path / "ana/1.wav")
    ]
    assert {r.speaker for r in find_recordings([tmp_path], labelled=False)} == {None}
    with pytest.raises(InvalidInput, match="one folder a speaker"):
        find_recordings([tmp_path / "ana/1.wav"], labelled=True)
    (tmp_path / "bad.csv").write_text("file\nx\n")
    with pytest.raises(InvalidInput, match="path and speaker"):
        find_recordings([tmp_path / "bad.csv"], labelled=True)


def test_the_numbers_of_the_config_are_those_the_errors_name() -> None:
    config = CalibrationConfig()
    assert config.min_impostor * 0.01 >= 10, "the rate at which links are judged must rest on ten trials"
