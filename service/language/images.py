"""How are images found by what they show? By their captions, offline; or by a CLIP model of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.errors import VoicegraphError
from service.types.audio import EmbeddingSpace, Samples, TextEmbedder
from service.types.images import ImageEmbedder, Picture


class ImageModelMissing(VoicegraphError):
    code = "image_model_missing"
    says = "The image model was looked for in {where} and is not there. {remedy}"
    http_status = 503


class ImageModelUnfit(VoicegraphError):
    code = "image_model_unfit"
    says = "The image model in {path} cannot be used: {what}."
    http_status = 503


class ImageUnreadable(VoicegraphError):
    code = "image_unreadable"
    says = "Image {position} (from 0) cannot be read: {what}. Give PNG, JPEG or another format that Pillow reads."
    http_status = 422


def load_image_embedder(text: TextEmbedder, source: Path | None = None, *, device: str = "auto") -> ImageEmbedder:
    """By captions through `text`; with `source`, the directory of a CLIP model, by what images show.

    Raises ImageModelMissing, ImageModelUnfit."""
    if source is None:
        return CaptionEmbedder(text)

    from service.language.clip import ClipEmbedder

    return ClipEmbedder.load(source, device=device)


class CaptionEmbedder:
    """An ImageEmbedder that has never seen an image: its caption stands for it, in the space of the text embedder."""

    def __init__(self, text: TextEmbedder) -> None:
        self._text = text

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._text.embedding_space

    def pictures(self, given: Sequence[Picture]) -> list[Samples | None]:
        captions = list(dict.fromkeys(picture.caption for picture in given if picture.caption))
        rows = dict(zip(captions, self._text.passages(captions), strict=True)) if captions else {}
        return [rows[picture.caption] if picture.caption else None for picture in given]

    def words(self, texts: Sequence[str]) -> Samples:
        return self._text.queries(texts)
