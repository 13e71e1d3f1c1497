"""Is a voice spoken here and now, or played, or made by a machine? The scorer that the setting `spoof_scorer` names says so.

None is shipped: no package that we found brings the weights of one (2026-11), and features of the signal alone, which nothing
here has measured against attacks, are not sold as protection. service/identity/VOICES.md says what a voice proves without."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from service.errors import VoicegraphError
from service.types.audio import SpoofScorer

NONE = "none"
SCORERS: dict[str, str] = {}
"""name → "module:Class" with `load(*, cache, threads)`. A scorer of one's own is named by its "module:Class" in the setting."""


class SpoofScorerMissing(VoicegraphError):
    code = "spoof_scorer_missing"
    says = (
        "The setting `spoof_scorer` names {name!r}, which {problem}. Install it, or set `none`: a played voice is then taken "
        "for a voice. None is shipped: it is a class with `load(*, cache, threads)` that gives a waveform a score from 0 to 1."
    )
    http_status = 500


def load_scorer(name: str, *, cache: Path, threads: int = 1) -> SpoofScorer | None:
    """None for `none`. Raises SpoofScorerMissing: who asked for protection must not go on without it."""
    if name == NONE:
        return None
    module, colon, attribute = SCORERS.get(name, name).partition(":")
    if not colon:
        raise SpoofScorerMissing(name=name, problem="is no module:Class")
    try:
        loaded: SpoofScorer = getattr(import_module(module), attribute).load(cache=cache, threads=threads)
    except ImportError:
        raise SpoofScorerMissing(name=name, problem="is not installed") from None
    except AttributeError:
        raise SpoofScorerMissing(name=name, problem="has no such class, or one without `load`") from None
    return loaded
