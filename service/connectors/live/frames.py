"""How is a piece of sound taken out of a message, so that what is broken is named and what is whole stays as it came?"""

from __future__ import annotations

import base64
import binascii

from service.connectors.files.fields import Field
from service.connectors.live import EventUnreadable
from service.types.meeting import AudioEncoding

BYTES = {AudioEncoding.S16: 2, AudioEncoding.F32: 4}
"""Of a sample."""
RATES = (8_000, 48_000)
"""Hz, of any provider: from a telephone to a studio."""


def base64_samples(field: Field, encoding: AudioEncoding = AudioEncoding.S16) -> bytes:
    """Raises TranscriptUnreadable for what is no base64 of whole samples."""
    try:
        data = base64.b64decode(field.value, validate=True) if isinstance(field.value, str) else b""
    except (binascii.Error, ValueError) as problem:
        raise field.refuse("base64") from problem
    if not data or len(data) % BYTES[encoding]:
        raise field.refuse(f"base64 of samples of {BYTES[encoding]} bytes")
    return data


def binary_samples(body: bytes, start: int, encoding: AudioEncoding, *, provider: str) -> bytes:
    """What stands in a binary message from byte `start`. Raises EventUnreadable."""
    data = body[start:]
    if not data or len(data) % BYTES[encoding]:
        what = f"{len(body)} bytes; needed: {start} and samples of {BYTES[encoding]} bytes"
        raise EventUnreadable(provider=provider, place="the binary message", what=f"{what}.")
    return data


def rate_of(field: Field) -> int:
    """Hz. Raises TranscriptUnreadable."""
    rate = field.number()
    if rate is None or not RATES[0] <= rate <= RATES[1] or rate != int(rate):
        raise field.refuse(f"a sample rate from {RATES[0]} to {RATES[1]} Hz")
    return int(rate)
