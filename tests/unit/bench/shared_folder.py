"""A small folder of voices as ../shared/data is laid out: two of the demo's household for the bank, two as real speakers."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.io import wavfile

from service.types.audio import SAMPLE_RATE
from tests.unit.audio.speech import household

BANK = ("path", "voice", "number", "conversation", "dia_id", "seconds", "speed", "text")
VOICES = (
    "path",
    "speaker",
    "source",
    "licence",
    "seconds",
    "transcript",
    "transcript_source",
    "set",
    "session",
    "utterance_id",
)


def manifests(folder: Path, bank: Mapping[str, int], real: Mapping[str, int]) -> Path:
    """`folder` with both manifests and no sound. `bank`, `real`: voice → utterances."""
    spoken = [("bank", v, n, f"bank/{v}/{n:03}.wav", 3.0) for v, count in bank.items() for n in range(count)]
    spoken += [("voices", v, n, f"voices/{v}/{n:03}.wav", 3.0) for v, count in real.items() for n in range(count)]
    return _write(folder, spoken)


def with_sound(folder: Path) -> Path:
    """`folder` with three turns each of the household as WAV."""
    spoken = []
    for corpus, people in (("bank", ("Nora", "Ben")), ("voices", ("Ruth", "Victor"))):
        for person in people:
            for number, samples in enumerate(household()[person][:3]):
                path = f"{corpus}/{person}/{number}.wav"
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                wavfile.write(folder / path, SAMPLE_RATE, (samples * 32_767).astype(np.int16))
                spoken.append((corpus, person, number, path, len(samples) / SAMPLE_RATE))
    return _write(folder, spoken)


def _write(folder: Path, spoken: Sequence[tuple[str, str, int, str, float]]) -> Path:
    for corpus, columns in (("bank", BANK), ("voices", VOICES)):
        (folder / corpus).mkdir(parents=True, exist_ok=True)
        with (folder / corpus / "manifest.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(_row(*of) for of in spoken if of[0] == corpus)
    return folder


def _row(corpus: str, voice: str, number: int, path: str, seconds: float) -> dict[str, object]:
    if corpus == "bank":
        turn = {"conversation": "conv-26", "dia_id": f"D1:{number + 1}", "speed": 1.0, "text": "Hello."}
        return {"path": path, "voice": voice, "number": number, "seconds": seconds, **turn}
    return {
        "path": path,
        "speaker": voice,
        "seconds": seconds,
        "set": "read",
        "session": "s1",
        "utterance_id": f"{voice}-{number}",
    }
