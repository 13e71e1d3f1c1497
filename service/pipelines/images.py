"""Which of the images that a viewer may see show this? Found by words or by another image, whatever embeds them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from service.errors import InvalidInput, VoicegraphError
from service.graph.images import (
    count_images,
    find_image_vector,
    list_images_without_vector,
    nearest_images,
    save_image_vectors,
)
from service.graph.messages import find_messages, find_reasons
from service.types.audio import Samples
from service.types.images import FoundImage, ImageEmbedder, ImageHit, ImagesFound, Picture
from service.types.search import Filters
from service.types.told import Image

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph, Tx


@dataclass(frozen=True, slots=True)
class ImagesConfig:
    max_found: int = 50  # images shown at once
    batch: int = 32  # images embedded and written together; CLIP takes about 0.1 s each on one core
    max_bytes: int = 50_000_000  # of one file: what cameras write, raw


class NothingToGoBy(VoicegraphError):
    code = "nothing_to_go_by"
    says = "The image model {model} finds nothing in this picture to go by. Give words, or set `image_model` to a CLIP model."
    http_status = 422


@dataclass(frozen=True, slots=True)
class LookedFor:
    """What images are looked for by: one of the three."""

    words: str | None = None
    like: str | None = None
    """Id of an image: others like it."""
    picture: bytes | None = None
    """A picture of the asker's own, as a file."""

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.words, self.like, self.picture)) != 1:
            raise InvalidInput(what="what images are looked for by", given="none or several", needed="words, or an image")
        if self.words is not None and not self.words.strip():
            raise InvalidInput(what="the words", given="empty", needed="some words")


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

    @property
    def model(self) -> str:
        """Name of the embedding space that images are looked for in."""
        return self._embedder.embedding_space.name

    async def find(
        self, scope: ReadScope, by: LookedFor, filters: Filters | None = None, *, first: int = 10
    ) -> tuple[FoundImage, ...]:
        """The best `first` images, without the one that others like it are looked for by. None where that one is outside the
        scope or not embedded. Raises InvalidInput, NothingToGoBy, ImageUnreadable."""
        if not 0 < first <= self.config.max_found:
            raise InvalidInput(what="`first`", given=first, needed=f"1 to {self.config.max_found}")
        vector = await self._vector(scope, by)
        if vector is None:
            return ()
        more = 0 if by.like is None else 1
        found = await self._graph.read(nearest_images, scope, self.model, vector, filters or Filters(), first + more)
        return tuple(image for image in found if image.id != by.like)[:first]

    async def __call__(
        self, scope: ReadScope, by: LookedFor, filters: Filters | None = None, *, first: int = 10
    ) -> ImagesFound:
        """What `find` finds, with the messages that the images were shown with."""
        found = await self.find(scope, by, filters, first=first)
        return await self._graph.read(self._shown, scope, found)

    def content(self, path: Path) -> bytes:
        """A picture of the asker's own, to look by. Raises InvalidInput for a file larger than pictures are."""
        if (size := path.stat().st_size) > self.config.max_bytes:
            raise InvalidInput(what="the picture", given=f"{size} bytes", needed=f"at most {self.config.max_bytes}")
        return path.read_bytes()

    async def _shown(self, tx: Tx, scope: ReadScope, found: tuple[FoundImage, ...]) -> ImagesFound:
        ids = list(dict.fromkeys(image.message_id for image in found))
        messages, reasons = await find_messages(tx, scope, ids), await find_reasons(tx, scope, ids)
        hits = [
            ImageHit(image, messages[image.message_id], reasons[image.message_id])
            for image in found
            if image.message_id in messages and image.message_id in reasons
        ]
        return ImagesFound(tuple(hits), await count_images(tx, scope, self.model), self.model)

    async def _vector(self, scope: ReadScope, by: LookedFor) -> Samples | None:
        if by.like is not None:
            return await self._graph.read(find_image_vector, scope, self.model, by.like)
        if by.words is not None:
            looked_for: Samples = (await asyncio.to_thread(self._embedder.words, [by.words]))[0]
            return looked_for
        (seen,) = await asyncio.to_thread(self._embedder.pictures, [Picture(content=by.picture)])
        if seen is None:
            raise NothingToGoBy(model=self.model)
        return seen

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
