"""How does a CLIP model put images and words into one space? Through transformers, from a directory; nothing is fetched."""

from __future__ import annotations

import hashlib
import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from service.language.images import ImageModelMissing, ImageModelUnfit, ImageUnreadable
from service.types.audio import EmbeddingSpace, Samples
from service.types.images import Picture

SPACE = "clip_vit_b32"
DIMENSION = 512
"""Of ViT-B/32 and ViT-B/16, for which the graph has an index."""
MAX_PIXELS = 100_000_000
"""What a picture may unpack to: 400 MB; larger ones are made to fill memory."""
INSTALL = "Install voicegraph[images]."


class ClipEmbedder:
    """An ImageEmbedder. Images without content are left out, whatever their captions say."""

    def __init__(self, model: Any, processor: Any, version: str) -> None:
        self._model, self._processor = model, processor
        self._space = EmbeddingSpace(SPACE, version, DIMENSION)

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> ClipEmbedder:
        """`folder`: as `save_pretrained` writes it, model and processor. Raises ImageModelMissing, ImageModelUnfit."""
        if not folder.is_dir():
            raise ImageModelMissing(where=folder.absolute(), remedy="Give the directory of a CLIP model.")
        for package in ("torch", "transformers", "PIL"):
            if importlib.util.find_spec(package) is None:
                raise ImageModelMissing(where=f"the package {package}", remedy=INSTALL)
        import torch
        from transformers import CLIPModel, CLIPProcessor

        try:
            model = CLIPModel.from_pretrained(folder, local_files_only=True, use_safetensors=True)
            processor = CLIPProcessor.from_pretrained(folder, local_files_only=True, backend="pil")
        except (OSError, ValueError) as problem:
            raise ImageModelUnfit(path=folder, what=f"the loader said: {problem}") from problem
        if model.config.projection_dim != DIMENSION:
            raise ImageModelUnfit(path=folder, what=f"{model.config.projection_dim} dimensions; needed: {DIMENSION}")
        chosen = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
        ready: Any = model.train(False)
        return cls(ready.to(chosen), processor, _version(model, processor))

    @property
    def embedding_space(self) -> EmbeddingSpace:
        return self._space

    def pictures(self, given: Sequence[Picture]) -> list[Samples | None]:
        """Raises ImageUnreadable."""
        opened = {i: _opened(picture.content, i) for i, picture in enumerate(given) if picture.content is not None}
        if not opened:
            return [None] * len(given)
        inputs = self._processor(images=list(opened.values()), return_tensors="pt")
        rows = dict(zip(opened, self._rows(self._model.get_image_features, inputs), strict=True))
        return [rows.get(i) for i in range(len(given))]

    def words(self, texts: Sequence[str]) -> Samples:
        if not texts:
            return np.empty((0, DIMENSION), dtype=np.float32)
        longest = self._model.config.text_config.max_position_embeddings  # tokenizers do not always know it
        inputs = self._processor(text=list(texts), return_tensors="pt", padding=True, truncation=True, max_length=longest)
        return self._rows(self._model.get_text_features, inputs)

    def _rows(self, features: Any, inputs: Any) -> Samples:
        import torch

        with torch.inference_mode():
            found = features(**inputs.to(self._model.device))
        found = getattr(found, "pooler_output", found)  # transformers 5 answers with an object, 4 with the tensor
        return np.asarray(torch.nn.functional.normalize(found, dim=-1).cpu(), dtype=np.float32)


def _opened(content: bytes, position: int) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > MAX_PIXELS:
                raise ImageUnreadable(position=position, what=f"{image.width} × {image.height} pixels are too many")
            return image.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as problem:
        raise ImageUnreadable(position=position, what=str(problem)) from problem


def _version(model: Any, processor: Any) -> str:
    """Short hash of the weights and of what is done to an image before them."""
    digest = hashlib.sha256(repr(sorted(processor.image_processor.to_dict().items())).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:12]
