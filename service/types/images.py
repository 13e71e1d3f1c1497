"""Images as they are found: by words that say what they show, or by another image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from service.types.audio import EmbeddingSpace, Samples
from service.types.told import Image


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as an embedder reads it; it may go by either."""

    caption: str | None = None
    content: bytes | None = None
    """A file in any format that Pillow reads."""


@dataclass(frozen=True, slots=True)
class FoundImage:
    id: str
    message_id: str
    image: Image
    score: float
    """Cosine, [-1, 1]."""


class ImageEmbedder(Protocol):
    """Images and words in one space, L2-normalised: what lies near in it shows the same."""

    @property
    def embedding_space(self) -> EmbeddingSpace: ...

    def pictures(self, given: Sequence[Picture]) -> list[Samples | None]:
        """None where there is nothing it could go by."""
        ...

    def words(self, texts: Sequence[str]) -> Samples:
        """Rows for what somebody looks for, shape (n, dimension)."""
        ...
