"""Which of the images that a viewer may see show this? Found by words or by another image, whatever embeds them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from service.errors import InvalidInput
from service.graph.images import (
    find_image_vector,
    list_images_without_vector,
    nearest_images,
    save_image_vectors,
)
from service.types.audio import Samples
from service.types.images import FoundImage, ImageEmbedder, Picture
from service.types.told import Image

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph


@dataclass(frozen=True, slots=True)
class ImagesConfig:
    max_found: int = 50  # images shown at once
    batch: int = 32  # images embedded and written together; CLIP takes about 0.1 s each on one core
    max_bytes: int = 50_000_000  # of one file: what cameras write, raw


@dataclass(frozen=True, slots=True)
class Embedded:
    embedded: int
    left_out: int
    """Without a caption, or without a file of that name in the folder."""


class Images:
    """By captions, which ingest embeds, nothing else is needed; a CLIP model is shown the files first, by `embed`."""

    def __init__(self, graph: Graph, embedder: ImageEmbedder, config: ImagesConfig | None = None) -> None:
        self._graph, self._embedder = graph, embedder
        self.config = config or ImagesConfig()

    async def find(
        self, scope: ReadScope, *, words: str | None = None, like: str | None = None, first: int = 10
    ) -> list[FoundImage]:
        """The best `first` images for `words`, or like the image of id `like` (without itself). None for an image that is
        outside the scope or not embedded. Raises InvalidInput."""
        if (words is None) == (like is None):
            raise InvalidInput(what="what images are looked for by", given="both or neither", needed="words, or an image")
        if not 0 < first <= self.config.max_found:
            raise InvalidInput(what="`first`", given=first, needed=f"1 to {self.config.max_found}")
        name = self._embedder.embedding_space.name
        if words is not None:
            (vector,) = await asyncio.to_thread(self._embedder.words, [words])
            return await self._graph.read(nearest_images, scope, name, vector, first)
        own = await self._graph.read(find_image_vector, scope, name, like or "")
        if own is None:
            return []
        found = await self._graph.read(nearest_images, scope, name, own, first + 1)
        return [image for image in found if image.id != like][:first]

    async def embed(self, space: str, folder: Path | None = None) -> Embedded:
        """Embed every image of `space` that is not yet: by its caption, and by the file in `folder` that its reference names.
        Nothing outside `folder` is opened, whatever a transcript calls its images. Raises ImageUnreadable."""
        name = self._embedder.embedding_space.name
        waiting = await self._graph.read(list_images_without_vector, space, name)
        done = 0
        for start in range(0, len(waiting), self.config.batch):
            vectors = await asyncio.to_thread(self._vectors, waiting[start : start + self.config.batch], folder)
            if vectors:
                await self._graph.write(save_image_vectors, space, name, vectors)
            done += len(vectors)
        return Embedded(done, len(waiting) - done)

    def _vectors(self, images: list[tuple[str, Image]], folder: Path | None) -> Mapping[str, Samples]:
        pictures = [Picture(image.caption, self._content(image.reference, folder)) for _, image in images]
        found = self._embedder.pictures(pictures)
        return {id: vector for (id, _), vector in zip(images, found, strict=True) if vector is not None}

    def _content(self, reference: str | None, folder: Path | None) -> bytes | None:
        if not reference or folder is None or "\0" in reference:
            return None
        path = (folder / reference).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file() or path.stat().st_size > self.config.max_bytes:
            return None
        return path.read_bytes()
