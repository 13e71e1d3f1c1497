"""What does the text model know of a word by itself? Makes service/retrieval/words.npz from the input table of e5-small-v2.

`python -m tests.bench.retrieval.words` takes the rows of whole English words out of the model (MIT), less what all have in
common (their mean and the two largest directions, which tell frequency; Mu and Viswanath, ICLR 2018), in the next 64
directions, as int8. The order of the model's vocabulary is kept: the more frequent a word, the earlier it stands.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from service.language.e5 import MODEL, TOKENIZER, unpacked
from service.settings import load_settings

SHIPPED = Path(__file__).parents[3] / "service" / "retrieval" / "words.npz"
DIMENSION = 64  # of 384; by themselves they rank LoCoMo's candidates as well as 128 or all (Recall@15, 500 questions)
COMMON = 2
FREQUENT = 8_000  # words that the directions are taken of


def main() -> None:
    folder = unpacked(load_settings().cache_dir, None)
    vocabulary: dict[str, int] = json.loads((folder / TOKENIZER).read_text())["model"]["vocab"]
    words = sorted((word for word in vocabulary if re.fullmatch(r"[a-z]{2,}", word)), key=vocabulary.__getitem__)
    rows = _table(folder / MODEL)[[vocabulary[word] for word in words]]
    rows -= rows.mean(axis=0)
    _, _, directions = np.linalg.svd(rows[:FREQUENT], full_matrices=False)
    vectors = rows @ directions[COMMON : COMMON + DIMENSION].T
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    small = np.round(127 * vectors / np.abs(vectors).max(axis=1, keepdims=True)).astype(np.int8)
    np.savez_compressed(SHIPPED, vectors=small, words=np.frombuffer("\n".join(words).encode(), dtype=np.uint8))
    print(len(words), "words,", SHIPPED.stat().st_size, "bytes")


def _table(path: Path) -> npt.NDArray[np.float32]:
    import onnx

    kept = {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer if "word_emb" in one.name}
    name = "embeddings.word_embeddings.weight"
    zero = kept[f"{name}_zero_point"].astype(np.float32)
    return np.asarray((kept[f"{name}_quantized"].astype(np.float32) - zero) * kept[f"{name}_scale"], dtype=np.float32)


if __name__ == "__main__":
    main()
