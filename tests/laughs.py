"""Sounds made by hand for tests: a laugh, a tone, talk that is neither; and a recording of them."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from service.types.audio import SAMPLE_RATE, Samples


def voice(seconds: float, pitch: float = 220.0, seed: int = 0) -> Samples:
    """A buzz with three formants, its pitch moving a little; peak 0.3."""
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    moving = pitch * (1 + 0.02 * np.sin(2 * np.pi * 4 * time + seed))
    phase = 2 * np.pi * np.cumsum(moving) / SAMPLE_RATE
    sound = np.zeros_like(time)
    for harmonic in range(1, 25):
        at = harmonic * pitch
        strength = sum(np.exp(-(((at - formant) / 250.0) ** 2)) for formant in (600.0, 1_300.0, 2_600.0)) + 0.02
        sound += strength * np.sin(harmonic * phase)
    return np.asarray(0.3 * sound / max(1e-9, np.abs(sound).max()), dtype=np.float32)


def laugh(bursts: int = 8, apart: float = 0.19, seed: int = 0) -> Samples:
    """ha-ha-ha: bursts of voice with quiet breath between them."""
    noise = np.random.default_rng(seed)
    parts = []
    for number in range(bursts):
        burst = voice(0.09, 280.0 - 6.0 * number, seed)
        breath = 0.001 * noise.standard_normal(round((apart - 0.09) * SAMPLE_RATE)).astype(np.float32)
        parts += [burst * np.hanning(len(burst)).astype(np.float32), breath]
    return np.concatenate(parts)


def talk(seconds: float, pitch: float = 120.0, gain: float = 1.0, seed: int = 0) -> Samples:
    """Syllables of uneven length and strength that hardly ever pause."""
    noise = np.random.default_rng(seed)
    sound = voice(seconds, pitch, seed)
    strength = np.interp(np.arange(len(sound)), *_syllables(len(sound), noise))
    breath = 0.004 * noise.standard_normal(len(sound))
    return np.asarray(gain * (sound * strength + breath), dtype=np.float32)


def tone(seconds: float, hertz: float = 1_400.0) -> Samples:
    return np.asarray(0.2 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE), dtype=np.float32)


def whisper(seconds: float, seed: int = 0) -> Samples:
    """Noise as loud as a quiet voice, with a voice's formants as good as gone."""
    noise = np.random.default_rng(seed).standard_normal(round(seconds * SAMPLE_RATE))
    return np.asarray(0.01 * noise, dtype=np.float32)


def recording(path: Path, placed: Sequence[tuple[float, Samples]], seconds: float) -> Path:
    """A WAV of `seconds`, each sound where it begins."""
    sound = np.zeros(round(seconds * SAMPLE_RATE), dtype=np.float32)
    for begin, samples in placed:
        first = round(begin * SAMPLE_RATE)
        sound[first : first + len(samples)] += samples[: len(sound) - first]
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((np.clip(sound, -1, 1) * 32_767).astype("<i2").tobytes())
    return path


def _syllables(samples: int, noise: np.random.Generator) -> tuple[list[int], list[float]]:
    places, strengths, at = [0], [0.5], 0
    while at < samples:
        at += int(noise.uniform(0.08, 0.35) * SAMPLE_RATE)
        places.append(at)
        strengths.append(float(noise.uniform(0.25, 1.0)))
    return places, strengths
