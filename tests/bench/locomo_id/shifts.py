"""What does a voice sound like over a telephone, across a room, through a codec, among other people? Shifts of the recording,
made here and seeded by the utterance, so that every run hears the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import av
import numpy as np
from scipy import signal

from service.audio.encoders.embedding import version
from service.errors import VoicegraphError
from service.types.audio import SAMPLE_RATE, Samples

SHIFTS = ("clean", "telephone", "room", "codec", "noise")
SNR_DB = {"clean": 30.0, "telephone": 30.0, "room": 20.0, "codec": 30.0, "noise": 10.0}
"""What a turn of each is said to have: `noise` as mixed, `room` about what late reverberation leaves, the others as a quiet
recording; it matters only under `Floors.snr_db`."""

Rng = np.random.Generator


class CodecMissing(VoicegraphError):
    code = "codec_missing"
    says = "The shift needs the encoder {codec}, which this build of PyAV does not have. Install a wheel of av from PyPI."


@dataclass(frozen=True, slots=True)
class ShiftConfig:
    low: float = 300.0
    """Hz, of the telephone's band (ITU-T G.712)"""
    high: float = 3_400.0
    telephone_codec: str = "libopencore_amrnb"
    """AMR-NB; at 12.2 kbit/s it is GSM's enhanced full rate. PyAV has no encoder of the older GSM 06.10"""
    telephone_rate: int = 12_200
    """bit/s"""
    opus_rate: int = 12_000
    """bit/s, mode VoIP: what a bad connection of a meeting falls back to"""
    shortest_rt60: float = 0.4
    """seconds in which a room's sound falls by 60 dB: a furnished room"""
    longest_rt60: float = 0.8
    """a bare meeting room"""
    nearest: float = 1.5
    """metres from mouth to microphone, at least: a device on the table or shelf"""
    rooms: int = 24
    """rooms in all; an utterance is heard in one of them"""
    babble_voices: int = 6
    """others speaking at once: enough that none can be followed"""
    babble_snr_db: float = 10.0


CONFIG = ShiftConfig()
METHOD = "3: butterworth band, one image-source room an utterance, babble of whole clips looped"
"""Part of every shift's version: change it with the code below."""


def shift_version(shift: str, config: ShiftConfig = CONFIG) -> str:
    """Name of a shift together with how it was made; equal names mean equal sound."""
    return shift if shift == "clean" else f"{shift}-{version(METHOD, repr(sorted(asdict(config).items())))[:8]}"


def shifted(
    samples: Samples, shift: str, *, seed: int, others: Sequence[Samples] = (), config: ShiftConfig = CONFIG
) -> Samples:
    """`samples` (16 kHz) under `shift`, of the same length. `others`: clips of other voices, for `noise` alone.

    Raises CodecMissing."""
    rng = np.random.default_rng(seed)
    match shift:
        case "clean":
            return samples
        case "telephone":
            return _telephone(samples, config)
        case "room":
            return _in_room(samples, int(rng.integers(config.rooms)), config)
        case "codec":
            return _through(samples, "libopus", "libopus", SAMPLE_RATE, config.opus_rate, {"application": "voip"})
        case "noise":
            return _among(samples, others, rng, config)
    raise KeyError(shift)


def _telephone(samples: Samples, config: ShiftConfig) -> Samples:
    """Band-limited, to 8 kHz, through the codec, and back to 16 kHz as a decoder of a call delivers it."""
    band = signal.butter(6, [config.low, config.high], "bandpass", fs=SAMPLE_RATE, output="sos")
    narrow = signal.sosfilt(band, samples)
    eight = signal.resample_poly(narrow, 1, 2).astype(np.float32)
    coded = _through(eight, config.telephone_codec, "amrnb", 8_000, config.telephone_rate, {})
    return _fit(signal.resample_poly(coded, 2, 1).astype(np.float32), len(samples))


def _through(samples: Samples, encoder: str, decoder: str, rate: int, bit_rate: int, options: dict[str, str]) -> Samples:
    """`samples` at `rate` encoded and decoded again; the codec's delay is taken away."""
    try:
        encoding: Any = av.CodecContext.create(encoder, "w")
    except av.codec.codec.UnknownCodecError as error:
        raise CodecMissing(codec=encoder) from error
    encoding.sample_rate, encoding.layout, encoding.format = rate, "mono", "s16"
    encoding.bit_rate, encoding.options, encoding.time_base = bit_rate, options, Fraction(1, rate)
    encoding.open()
    decoding: Any = av.CodecContext.create(decoder, "r")
    decoding.sample_rate, decoding.layout = rate, "mono"
    if encoding.extradata:
        decoding.extradata = encoding.extradata
    resampler = av.AudioResampler(format="flt", layout="mono", rate=rate)
    heard: list[Samples] = []
    for packet in _packets(encoding, samples, rate):
        heard += [piece.to_ndarray().ravel() for frame in decoding.decode(packet) for piece in _plain(resampler, frame)]
    return _aligned(np.concatenate(heard), samples)


def _packets(encoding: Any, samples: Samples, rate: int) -> Iterator[Any]:
    """Packets of `samples` with 100 ms of silence behind, so that the codec's delay cuts nothing off."""
    size = encoding.frame_size or rate // 50
    whole = np.concatenate([samples, np.zeros(rate // 10 + size, np.float32)])
    whole = np.clip(whole[: len(whole) // size * size] * 32_767, -32_768, 32_767).astype(np.int16)
    for first in range(0, len(whole), size):
        frame = av.AudioFrame.from_ndarray(whole[None, first : first + size], format="s16", layout="mono")
        frame.sample_rate, frame.pts = rate, first
        yield from encoding.encode(frame)
    yield from encoding.encode(None)


def _plain(resampler: Any, frame: Any) -> list[Any]:
    frame.pts = None
    pieces: list[Any] = resampler.resample(frame)
    return pieces


def _aligned(heard: Samples, samples: Samples) -> Samples:
    """`heard` moved earlier by the delay, up to 50 ms, at which it is most like `samples`, and of their length."""
    most = min(len(samples) // 2, 800)
    found = signal.correlate(heard[: len(samples) + most], samples, mode="full", method="fft")[len(samples) - 1 :][:most]
    return _fit(heard[int(np.argmax(np.abs(found))) :], len(samples))


def _in_room(samples: Samples, room: int, config: ShiftConfig) -> Samples:
    """Heard across a room, at the same level as before."""
    wet = signal.fftconvolve(samples, _impulse_response(room, config))[: len(samples)]
    return np.asarray(wet * (_rms(samples) / max(_rms(wet), 1e-9)), np.float32)


@lru_cache(maxsize=64)
def _impulse_response(room: int, config: ShiftConfig) -> Samples:
    """From a mouth to a microphone in a box of four walls, floor and ceiling that take up sound alike, beginning with the
    direct sound: image sources (Allen and Berkley 1979), walls by Sabine from RT60, high-passed at 80 Hz against their DC."""
    rng = np.random.default_rng([room, 1979])
    size = rng.uniform((3.5, 3.0, 2.4), (8.0, 6.0, 3.4))
    rt60 = float(rng.uniform(config.shortest_rt60, config.longest_rt60))
    mouth, microphone = _apart(rng, size, config.nearest)
    volume, surface = size.prod(), 2 * (size[0] * size[1] + size[0] * size[2] + size[1] * size[2])
    reflection = np.sqrt(1 - min(0.95, 0.161 * volume / (surface * rt60)))
    reach = 343.0 * rt60
    along = [_images(mouth[axis], microphone[axis], size[axis], reach) for axis in range(3)]
    squares = along[0][0][:, None, None] ** 2 + along[1][0][None, :, None] ** 2 + along[2][0][None, None, :] ** 2
    bounces = along[0][1][:, None, None] + along[1][1][None, :, None] + along[2][1][None, None, :]
    distance = np.sqrt(squares)
    near = distance < reach
    delay = np.rint((distance[near] - distance.min()) / 343.0 * SAMPLE_RATE).astype(int)
    response = np.bincount(delay, weights=reflection ** bounces[near] / distance[near])
    audible = signal.sosfilt(signal.butter(2, 80.0, "highpass", fs=SAMPLE_RATE, output="sos"), response)
    times = np.arange(len(audible)) / SAMPLE_RATE
    return np.asarray(audible * 10 ** (-3 * times * (1 / rt60 - 1 / fall_time(audible))), np.float32)


def fall_time(response: np.ndarray) -> float:
    """Seconds in which a room's sound falls by 60 dB, from its fall between -5 and -35 dB (T30, ISO 3382). A box's images fall
    more slowly than Sabine says, by up to half."""
    left = np.cumsum(np.square(response, dtype=np.float64)[::-1])[::-1]
    level = 10 * np.log10(left / left[0] + 1e-12)
    return float(np.argmax(level < -35) - np.argmax(level < -5)) / SAMPLE_RATE * 2


def _images(mouth: float, microphone: float, size: float, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Along one axis: distances of the mouth's mirror images from the microphone, and how often each was reflected."""
    far = int(np.ceil(reach / (2 * size)))
    order = np.arange(-far, far + 1)
    places = np.concatenate([2 * order * size + mouth, 2 * order * size - mouth])
    bounces = np.concatenate([np.abs(2 * order), np.abs(2 * order - 1)])
    return places - microphone, bounces


def _apart(rng: Rng, size: np.ndarray, nearest: float) -> tuple[np.ndarray, np.ndarray]:
    """A mouth and a microphone half a metre from every wall, at least `nearest` apart."""
    while True:
        mouth, microphone = rng.uniform(0.5, size - 0.5, (2, 3))
        if np.linalg.norm(mouth - microphone) >= nearest:
            return mouth, microphone


def _among(samples: Samples, others: Sequence[Samples], rng: Rng, config: ShiftConfig) -> Samples:
    """With others talking, each as loud as the rest, `babble_snr_db` under the voice."""
    chosen = rng.choice(len(others), min(config.babble_voices, len(others)), replace=False)
    babble = np.zeros(len(samples), np.float64)
    for i in chosen.tolist():
        clip = np.roll(others[i], int(rng.integers(len(others[i]))))
        babble += np.resize(clip, len(samples)) / max(_rms(clip), 1e-9)
    level = _rms(samples) * 10 ** (-config.babble_snr_db / 20)
    return np.asarray(samples + babble * (level / max(_rms(babble), 1e-9)), np.float32)


def _rms(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


def _fit(samples: Samples, length: int) -> Samples:
    return np.pad(samples[:length], (0, max(0, length - len(samples))))
