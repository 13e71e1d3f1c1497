"""What is to blame where something cannot be written: itself, or what it is written with? Only what is to blame itself may be
left out. A database that is full, or a model that fails for everything, is well again later, and the words are still there."""

from __future__ import annotations

from collections.abc import Sequence

from service.connectors.live.sources import SourcesUnreadable
from service.errors import VoicegraphError
from service.graph.driver import is_databases
from service.types.audio import Samples, TextEmbedder

HARMLESS = "hello"
"""What any text embedder embeds."""


class ModelFailed(VoicegraphError):
    code = "model_failed"
    says = "A model fails whatever it is given, or is not there: {reason}. What is to be written waits until it is well again."
    http_status = 503


def embedded(embedder: TextEmbedder, texts: Sequence[str]) -> Samples:
    """As `embedder.passages`. Heavy. Raises ModelFailed where it cannot do any text, and its own error where it cannot do
    these."""
    try:
        return embedder.passages(texts)
    except Exception as error:
        try:
            embedder.passages([HARMLESS])
        except Exception:  # noqa: BLE001 - the first error is told
            raise ModelFailed(reason=repr(error)) from error
        raise


def is_its_own(error: Exception) -> bool:
    """Whether what was to be written is to blame: not the database, a model, the disk, the memory, the network or a setting."""
    return not (is_databases(error) or isinstance(error, ModelFailed | SourcesUnreadable | OSError | MemoryError))
