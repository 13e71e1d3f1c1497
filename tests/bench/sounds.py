"""How much laughter do the taggers of sounds find, and what do they take for it? Acted laughs among exclamations, and talk.

`python -m tests.bench.sounds [--quick] [--acted DIR] [--json PATH]`

Laughs by themselves, named as such, are not in ../shared/data. Debian's package hedgewars-data has some: fifteen voices of a
game, each with a folder of exclamations, one of them `Laugh.ogg` (GPL-2, so not in this project); `--acted` names that folder.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from service.audio import decode
from service.audio.encoders.embedding import ModelMissing
from service.audio.sounds import TAGGERS, load_tagger
from service.settings import load_settings
from service.types.audio import Waveform
from service.types.sounds import SoundLabel, SoundTagger
from tests.bench.report import SHARED, Report, arguments

ACTED = Path("/usr/share/games/hedgewars/Data/Sounds/voices")
TALK = {"voices": "data/voices/*/*.flac", "synthetic": "data/bank/**/*.ogg", "meetings": "data/meetings/*.flac"}


def run(report: Report, quick: bool, acted: Path) -> None:
    laughs, others = _acted(acted, 150 if quick else None)
    if not laughs:
        report.missing("laughter found", f"apt-get install hedgewars-data, or name a folder of such voices ({acted} has none)")
    for name in TAGGERS:
        try:
            tagger = load_tagger(name, cache=load_settings().cache_dir)
        except ModelMissing as error:
            report.missing(f"tagger {name}", error.message)
            continue
        if laughs:
            _score(report, name, tagger, laughs, others)
        for kind, pattern in TALK.items():
            files = sorted(SHARED.parent.glob(pattern))
            if files:
                _alarms(report, name, tagger, kind, random.Random(1).sample(files, min(len(files), 40 if quick else 300)))
            else:
                report.missing(f"talk taken for sounds: {kind}", "put the recordings into ../shared/data")


def _score(report: Report, name: str, tagger: SoundTagger, laughs: Sequence[Path], others: Sequence[Path]) -> None:
    found = sum(_laughs(tagger, path) for path in laughs)
    wrong = sum(_laughs(tagger, path) for path in others)
    condition = f"acted/{name}"
    report.add("laughter_recall", condition, "ours", found / len(laughs), "share", len(laughs), wilson(found, len(laughs)))
    called = found + wrong
    if called:
        report.add("laughter_precision", condition, "ours", found / called, "share", called, wilson(found, called))
    report.add("taken_for_laughter", condition, "ours", wrong / len(others), "share", len(others), wilson(wrong, len(others)))


def _alarms(report: Report, name: str, tagger: SoundTagger, kind: str, files: Iterable[Path]) -> None:
    """Talk in which nobody is known to laugh, and nothing known to sound."""
    seconds, cpu, clips, laughing, any_label = 0.0, 0.0, 0, 0, 0
    for path in files:
        waveform = _whole(path)
        began = time.process_time()
        labels = {tagged.label for tagged in tagger(waveform)}
        cpu += time.process_time() - began
        seconds, clips = seconds + waveform.duration, clips + 1
        laughing += SoundLabel.LAUGHING in labels
        any_label += bool(labels)
    condition = f"talk={kind}/{name}"
    report.add("taken_for_laughter", condition, "ours", laughing / clips, "share", clips, wilson(laughing, clips))
    report.add("taken_for_any_sound", condition, "ours", any_label / clips, "share", clips, wilson(any_label, clips))
    report.add("cpu_per_audio_second", condition, "ours", cpu / seconds, "s/s", round(seconds))


def _acted(folder: Path, most: int | None) -> tuple[list[Path], list[Path]]:
    """Laughs and the rest, each file once: voices share some by links."""
    files = sorted({path.resolve() for path in folder.glob("*/*.ogg") if path.is_file()})
    laughs = [path for path in files if path.stem.lower() == "laugh"]
    others = [path for path in files if path.stem.lower() != "laugh"]
    return laughs, others if most is None or len(others) <= most else random.Random(1).sample(others, most)


def _laughs(tagger: SoundTagger, path: Path) -> bool:
    return any(tagged.label is SoundLabel.LAUGHING for tagged in tagger(_whole(path)))


def _whole(path: Path) -> Waveform:
    return Waveform(np.concatenate([block.samples for block in decode.blocks(path, seconds=60)]))


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927)."""
    share, weight = right / n, z * z / n
    middle, half = (share + weight / 2) / (1 + weight), z * math.sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--acted", type=Path, default=ACTED, help="folder of voices, each a folder with a Laugh.ogg")
    chosen = parser.parse_args()
    report = Report("sounds")
    run(report, chosen.quick, chosen.acted)
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
