"""Is this the voice of somebody who refused to be known? Asked of a mark that is no voiceprint.

A mark is 128 signs of secret random projections of a voice, made with a key that stands in a file outside the database. Without
the key it is a random number: a stolen database tells nothing, and two spaces or two services cannot be joined by it if their
keys differ. With the key, and nothing less, it answers one question, "is this that voice?": what could not could not block
either. That is the trade-off, and it is the space's to take (`opt_outs`). Measured by `tests/bench/opt_outs.py` on 239 people
who read (LibriSpeech and VCTK, clips of 2-8 s, each mark of all clips but one; strangers blocked: 2 %, as set):

    signs  marks of  missed: clean  reverberated  telephone   made of a mark with its key: links to its person's new clip
      128         1             2 %           7 %       37 %  11 % (a voiceprint: 98 %)
      128        10             4 %          14 %       71 %
      128        50            12 %          31 %       83 %
      256        10             2 %           6 %       53 %  64 %
       64        50            40 %          65 %       97 %   0 %

More signs miss less and are more of a voiceprint. Whoever is missed is somebody new, on the terms of those never asked; over
the telephone that is most. Blocked by mistake is a voice of whom nothing is known yet: its turns stay nobody's, and enrolling
it has to be insisted on. Nobody is known across channels, and emotion, age and colds were not measured.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from service.identity.policies import policy
from service.identity.thresholds import TELEPHONE, TWIN, WIDEBAND
from service.types.audio import EmbeddingSpace, Samples
from service.types.consents import VoiceMark
from service.types.people import PersonVoice

Signs = npt.NDArray[np.bool_]
"""Shape (bits,)."""
_COMPARED = (WIDEBAND, TELEPHONE, TWIN)


@dataclass(frozen=True, slots=True)
class MarkConfig:
    bits: int = 128  # signs; see above
    false_blocks: float = 0.02
    """Of the voices of strangers, blocked by all marks of a space together. As Budgets.session_link: it costs a turn that stays
    nobody's, or an enrolment that somebody has to insist on."""
    strangers: Mapping[str, tuple[float, float]] = field(
        default_factory=lambda: {WIDEBAND: (61.5, 7.15), TELEPHONE: (45.2, 7.5), TWIN: (55.0, 7.0)}
    )
    """By the mark's channel: signs in which two strangers differ, mean and deviation; CAM++, measured as above. Other encoders
    were not measured."""

    def nearest_stranger(self, channel: str, marks: int) -> int:
        """A voice that differs from one of `marks` in this many signs, or fewer, is taken for its person."""
        mean, deviation = self.strangers[channel]
        return int(NormalDist(mean, deviation).inv_cdf(self.false_blocks / max(1, marks)) - 0.5)


@dataclass(frozen=True, slots=True)
class Marker:
    """Makes marks. `key`: secret, 32 bytes."""

    key: bytes = field(repr=False)
    config: MarkConfig = MarkConfig()

    @property
    def id(self) -> str:
        """Which key it is; tells nothing of it."""
        return hashlib.sha256(b"id of " + self.key).hexdigest()[:16]

    def marks(self, voice: PersonVoice, routing: str) -> tuple[VoiceMark, ...]:
        """One for each channel that stands for the person under the space's policy of routing."""
        rows = policy(routing).rows(voice)
        found: dict[str, VoiceMark] = {}
        for vector, channel in zip(rows.vectors, rows.channels, strict=True):
            side = channel if channel in (TELEPHONE, TWIN) else WIDEBAND
            found.setdefault(side, VoiceMark(side, np.packbits(self.signs(vector, voice.space)).tobytes(), self.id))
        return tuple(found.values())

    def signs(self, vector: Samples, space: EmbeddingSpace) -> Signs:
        """`vector`: shape (dimension,)."""
        signs: Signs = _projections(self.key, space, self.config.bits) @ vector > 0
        return signs

    def account(self, space: str, issuer: str, subject: str) -> str:
        """Of a login, hexadecimal."""
        return hmac.digest(self.key, "\0".join(("account", space, issuer, subject)).encode(), "sha256").hex()


class OptedOut:
    """The marks of a space, to compare voices of one embedding space with. Without any it matches nobody."""

    def __init__(self, marker: Marker | None = None, marks: Sequence[VoiceMark] = ()) -> None:
        """Marks of another key than the marker's are worth nothing and are left out."""
        self._marker = marker
        mine = [mark for mark in marks if marker is not None and mark.key == marker.id]
        self._signs = {channel: _stacked(mark.signs for mark in mine if mark.channel == channel) for channel in _COMPARED}
        self.size = len(mine)

    def matches(self, vector: Samples, channel: str, space: EmbeddingSpace) -> bool:
        """Whether this voice, heard on `channel`, is taken for somebody's who refused. Nobody is known across channels."""
        if self._marker is None or not self.size:
            return False
        sides = (TELEPHONE, TWIN) if channel == TELEPHONE else (WIDEBAND,)
        signs, config = self._marker.signs(vector, space), self._marker.config
        compared = sum(len(self._signs[side]) for side in sides)
        return any(
            bool(np.any((self._signs[side] != signs).sum(axis=1) <= config.nearest_stranger(side, compared)))
            for side in sides
            if len(self._signs[side])
        )


@dataclass(frozen=True, slots=True)
class Refusals:
    """Who may not be known by voice, as things stand; ids with those of everybody merged with them."""

    voices: frozenset[str] = frozenset()
    """Nothing is compared with their voice, kept or learnt of it."""
    attribution: frozenset[str] = frozenset()
    """Of these, whose turns are not put down to them by their track either."""
    marks: OptedOut = field(default_factory=OptedOut, compare=False)

    def __bool__(self) -> bool:
        return bool(self.voices) or self.marks.size > 0


def _stacked(packed: Iterable[bytes]) -> npt.NDArray[np.bool_]:
    """Shape (marks, bits)."""
    rows = [np.unpackbits(np.frombuffer(signs, np.uint8)).astype(bool) for signs in packed]
    return np.stack(rows) if rows else np.zeros((0, 0), dtype=bool)


@lru_cache(maxsize=8)
def _projections(key: bytes, space: EmbeddingSpace, bits: int) -> npt.NDArray[np.float32]:
    """Shape (bits, dimension), each number 1 or -1: of SHAKE-256, so that any version of any library makes the same."""
    named = b"voice\0" + f"{space.name}\0{space.version}\0".encode()
    stream = hashlib.shake_256(key + named).digest(bits * space.dimension // 8)
    return np.unpackbits(np.frombuffer(stream, np.uint8)).reshape(bits, space.dimension).astype(np.float32) * 2 - 1
