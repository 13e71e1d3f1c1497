"""Does anything come back that must not? Through the schema, from hostile queries, and after an erasure.

`python -m tests.bench.trust [--quick] [--parts walk,hostile,erasure] [--json PATH]`. Each part stands in a file of its own:
trust_walk.py, trust_hostile.py and trust_erasure.py, with a function `run(report, *, quick)`."""

from __future__ import annotations

from importlib import import_module

from tests.bench.report import Report, arguments

PARTS = {
    "walk": "tests.bench.trust_walk",
    "hostile": "tests.bench.trust_hostile",
    "erasure": "tests.bench.trust_erasure",
}
"""What is measured; `--parts` chooses."""


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", default=",".join(PARTS), help="which of them, separated by commas")
    options = parser.parse_args()
    report = Report("trust")
    for part in options.parts.split(","):
        import_module(PARTS[part]).run(report, quick=options.quick)
    report.finish(options.json)


if __name__ == "__main__":
    main()
