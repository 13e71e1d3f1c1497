"""What of a sound is kept as sound? A few seconds of it, as a small file."""

from __future__ import annotations

import io
from dataclasses import dataclass

import av
import numpy as np

from service.types.audio import SAMPLE_RATE, Samples


@dataclass(frozen=True, slots=True)
class PieceConfig:
    longest: float = 5.0  # seconds: a laugh and what it was about; 15 kB
    bits_per_second: int = 24_000  # wideband speech without audible loss


def encoded(samples: Samples, config: PieceConfig = PieceConfig()) -> bytes:
    """Ogg Opus of at most `longest` seconds, mono; the same samples give the same bytes."""
    samples = samples[: round(config.longest * SAMPLE_RATE)]
    file = io.BytesIO()
    with av.open(file, "w", format="ogg", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream("libopus", rate=SAMPLE_RATE, layout="mono", options={"application": "voip"})
        stream.bit_rate = config.bits_per_second
        whole = np.clip(samples * 32_767.0, -32_768, 32_767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(whole[None], format="s16", layout="mono")
        frame.sample_rate = SAMPLE_RATE
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    return file.getvalue()
