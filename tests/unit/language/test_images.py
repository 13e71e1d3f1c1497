"""Images and words in one space: by captions, and by a CLIP model (a tiny one with made weights, saved as real ones are)."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from service.language.images import (
    ImageModelMissing,
    ImageModelUnfit,
    ImageUnreadable,
    load_image_embedder,
)
from service.types.images import ImageEmbedder, Picture
from tests import models


def a_png(colour: tuple[int, int, int], size: int = 40) -> bytes:
    from PIL import Image

    made = io.BytesIO()
    Image.new("RGB", (size, size), colour).save(made, "PNG")
    return made.getvalue()


RED, BLUE = a_png((250, 10, 10)), a_png((10, 10, 250))


def a_clip_model(folder: Path, projection: int = 512) -> Path:
    """As `save_pretrained` writes CLIP: configuration, safetensors, tokenizer and image processor; random weights."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPProcessor, CLIPTokenizer

    folder.mkdir(exist_ok=True)
    letters = [*"abcdefghijklmnopqrstuvwxyz", *(f"{c}</w>" for c in "abcdefghijklmnopqrstuvwxyz")]
    vocabulary = {token: i for i, token in enumerate([*letters, "<|startoftext|>", "<|endoftext|>"])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer.from_pretrained(folder)
    small = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CLIPConfig(
        text_config={**small, "vocab_size": len(vocabulary), "max_position_embeddings": 77,
                     "bos_token_id": len(vocabulary) - 2, "eos_token_id": len(vocabulary) - 1},
        vision_config={**small, "image_size": 32, "patch_size": 16},
        projection_dim=projection,
    )  # fmt: skip
    torch.manual_seed(0)
    CLIPModel(config).save_pretrained(folder)
    size = {"height": 32, "width": 32}
    CLIPProcessor(CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=size), tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_clip_model(tmp_path_factory.mktemp("models") / "clip")


@pytest.fixture(scope="module")
def clip(clip_folder: Path) -> ImageEmbedder:
    return load_image_embedder(models.e5(), clip_folder, device="cpu")


def test_by_captions_an_image_is_near_what_is_looked_for() -> None:
    captions = load_image_embedder(models.e5())
    given = ["a red rowing boat on the shore", None, "a birthday cake with eighty candles"]
    boat, nothing, cake = captions.pictures([Picture(caption) for caption in given])
    (looked_for,) = captions.words(["the boat by the lake"])
    assert nothing is None and boat is not None and cake is not None
    assert looked_for @ boat > looked_for @ cake
    assert captions.embedding_space == models.e5().embedding_space


def test_clip_puts_images_and_words_into_one_space_of_unit_vectors(clip: ImageEmbedder) -> None:
    red, again, blue, nothing = clip.pictures(
        [Picture(content=RED), Picture("red", RED), Picture(content=BLUE), Picture("red")]
    )
    words = clip.words(["a red boat", "two oars and a rope " * 40, ""])
    assert nothing is None, "a caption is not an image"
    assert red is not None and again is not None and blue is not None
    assert words.shape == (3, clip.embedding_space.dimension) and words.dtype == np.float32
    assert np.linalg.norm([red, blue, *words], axis=1) == pytest.approx(1.0, abs=1e-4)
    assert red == pytest.approx(again, abs=1e-5) and red @ blue < 0.9999
    assert clip.words([]).shape == (0, 512) and clip.pictures([]) == []


def test_the_version_follows_the_weights(clip: ImageEmbedder, clip_folder: Path, tmp_path: Path) -> None:
    import torch
    from transformers import CLIPModel

    assert load_image_embedder(models.e5(), clip_folder).embedding_space == clip.embedding_space
    other = a_clip_model(tmp_path / "other")
    model = CLIPModel.from_pretrained(other)
    with torch.no_grad():
        model.visual_projection.weight += 0.01
    model.save_pretrained(other)
    assert load_image_embedder(models.e5(), other).embedding_space.version != clip.embedding_space.version


@pytest.mark.parametrize("content", [b"", b"not an image", RED[:60]])
def test_what_is_no_image_is_refused_with_its_place(clip: ImageEmbedder, content: bytes) -> None:
    with pytest.raises(ImageUnreadable) as refused:
        clip.pictures([Picture(content=RED), Picture(content=content)])
    assert refused.value.facts["position"] == 1


def test_a_model_that_is_not_there_or_of_another_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImageModelMissing):
        load_image_embedder(models.e5(), tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ImageModelUnfit, match="loader"):
        load_image_embedder(models.e5(), tmp_path / "empty")
    with pytest.raises(ImageModelUnfit, match="64 dimensions"):
        load_image_embedder(models.e5(), a_clip_model(tmp_path / "small", projection=64))
