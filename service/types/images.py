"""Images as they are found: by words that say what they show, or by another image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from service.types.audio import EmbeddingSpace, Samples
from service.types.candidates import Place
from service.types.memory import Message
from service.types.told import Image


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as an embedder reads it; it may go by either."""

    caption: str | None = None
    content: bytes | None = None
    """A file in any format that Pillow reads."""


@dataclass(frozen=True, slots=True)
class KnownImage:
    """An image as it stands in the graph."""

    id: str
    image: Image


@dataclass(frozen=True, slots=True)
class FoundImage:
    id: str
    message_id: str
    image: Image
    score: float
    """Cosine, [-1, 1]."""
    place: Place
    """Where it was shown: of its message."""


@dataclass(frozen=True, slots=True)
class ImageHit:
    """An image with the message that it was shown with."""

    found: FoundImage
    message: Message
    visible_because: str
    """As of a Hit: of the message, which is what may be read or not."""


@dataclass(frozen=True, slots=True)
class ImagesFound:
    hits: tuple[ImageHit, ...]
    """Best first."""
    visible: int
    """How many images the scope holds that what looked can tell apart: those with an embedding."""
    model: str
    """Name of the embedding space that they were looked for in: a text embedder's where captions stand for images."""


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
