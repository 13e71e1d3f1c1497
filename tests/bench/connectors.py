"""How long does a transcript file take to be read, and does ten times the file take ten times as long?

`python -m tests.bench.connectors [--quick] [--parts files,fold,webhook,kill9] [--formats vtt,json] [--json PATH]`. Files: every
format at 2 MB and at 20 MB (quick: 0.2 and 2), CPU of this process from the file on disk to turns, its format found by content;
turns and words are counted against what was written. The others: see connector_fold.py, connector_webhook.py and
connector_kill9.py."""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from pathlib import Path

import webvtt

from service.connectors.files import read_transcript
from tests.bench import connector_fold, connector_kill9, connector_webhook
from tests.bench.connector_files import MAKE as KINDS
from tests.bench.connector_files import WORDS, made
from tests.bench.report import Report, arguments

SMALL, TIMES = 2_000_000, 10
WITHOUT_TEXT = {"rttm"}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--formats", default=",".join(KINDS), help="which of them, separated by commas")
    parser.add_argument("--parts", default=",".join(PARTS), help="which of them, separated by commas")
    options = parser.parse_args()
    report = Report("connectors")
    for part in options.parts.split(","):
        PARTS[part](report, options)
    report.finish(options.json)


def _files(report: Report, options: argparse.Namespace) -> None:
    small = SMALL // 10 if options.quick else SMALL
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.formats.split(","):
            _measure(report, kind, small, Path(folder) / "meeting")


def _webhook(report: Report, options: argparse.Namespace) -> None:
    connector_webhook.run(report, quick=options.quick)


def _fold(report: Report, options: argparse.Namespace) -> None:
    connector_fold.run(report, quick=options.quick)


def _kill9(report: Report, options: argparse.Namespace) -> None:
    connector_kill9.run(report, quick=options.quick)


PARTS = {"files": _files, "fold": _fold, "webhook": _webhook, "kill9": _kill9}
"""What is measured; `--parts` chooses."""


def _measure(report: Report, kind: str, small: int, path: Path) -> None:
    seconds, sizes, lost, words = [], [], 0, 0
    for size in (small, small * TIMES):
        content, turns = made(kind, size)
        path.write_text(content)
        sizes.append(path.stat().st_size)
        del content
        took, found = _read(path)
        seconds.append(took)
        words = turns * len(WORDS)
        lost += abs(found - (0 if kind in WITHOUT_TEXT else words))
    condition = f"{kind} {sizes[1] / 1e6:.1f} MB"
    report.add("parse_cpu_s", condition, "ours", seconds[1], "s", 1)
    report.add("parse_linear_ratio", kind, "ours", (seconds[1] / seconds[0]) / (sizes[1] / sizes[0]), "1 = linear", 1)
    report.add("words_lost_or_doubled", kind, "ours", lost, "words", words)
    if kind == "vtt":
        began = time.process_time()
        webvtt.read(path)
        report.add("parse_cpu_s", condition, "webvtt-py", time.process_time() - began, "s", 1)


def _read(path: Path) -> tuple[float, int]:
    """CPU seconds, and words found."""
    gc.collect()
    began = time.process_time()
    transcript = read_transcript(path)
    seconds = time.process_time() - began
    return seconds, sum(len((part.text or "").split()) for part in transcript.segments)


if __name__ == "__main__":
    main()
