"""The whole way, on real speech: recordings in folders, measured, kept, and read by the service."""

from __future__ import annotations

import asyncio
import csv
import json
from collections import defaultdict
from pathlib import Path

import pytest

from service.cli.command_line import run
from service.demo.reference import household
from service.identity.thresholds import CAMPPLUS
from service.settings import Settings
from service.wiring import Models

SPEAKERS, EACH = 18, 3


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model_cache: Path) -> Path:
    """A data directory of its own."""
    monkeypatch.setenv("VOICEGRAPH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("VOICEGRAPH_CACHE_DIR", str(model_cache))
    return tmp_path / "data"


@pytest.mark.needs_shared
def test_thresholds_measured_on_recordings_are_those_the_service_uses(
    shared: Path, tmp_path: Path, machine: Path, model_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    speakers: dict[str, list[str]] = defaultdict(list)
    with (shared / "data/voices/manifest.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["set"] in ("libri_tc100", "libri_other") and float(row["seconds"]) > 3.2:
                speakers[row["speaker"]].append(row["path"])
    chosen = [(path, s) for s, paths in speakers.items() if len(paths) >= EACH for path in paths[:EACH]][: SPEAKERS * EACH]
    (tmp_path / "list.csv").write_text("path,speaker\n" + "".join(f"{shared / 'data' / p},{s}\n" for p, s in chosen))

    assert run(["calibrate", str(tmp_path / "list.csv"), "--json", "--picture", str(tmp_path / "det.png")]) == 0
    made = json.loads(capsys.readouterr().out)
    wideband = next(pair for pair in made["pairs"] if pair["pair"] == "wideband")
    assert made["num_speakers"] == SPEAKERS and wideband["num_impostor"] >= 1_000
    assert wideband["eer"] < 0.02
    assert (tmp_path / "det.png").read_bytes().startswith(b"\x89PNG")

    used = asyncio.run(Models(Settings(data_dir=machine, cache_dir=model_cache)).thresholds())
    suggested = next(s for s in wideband["suggested"] if s["people"] == 60)
    assert used.link(60) == pytest.approx(suggested["link"]) != CAMPPLUS.link(60)
    assert used.origin == made["origin"] and "labelled" in used.origin


def test_too_few_voices_are_refused_and_nothing_is_written(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = household().recordings[0]
    assert run(["calibrate", str(recording.path), "--unlabelled", "--json"]) == 1
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "too_few_trials"
    assert not (machine / "thresholds.json").exists()
