"""Who answers whom, to whom is it said, and what does a person find of it? The help channel, typed; the spoken set, with gold
labels and from sound. Each part can be run by itself: `tests.bench.irc`, `tests.bench.spoken`.

`python -m tests.bench.interaction [--quick] [--json PATH]`"""

from __future__ import annotations

from tests.bench import irc
from tests.bench.report import SHARED, Report, arguments
from tests.bench.spoken import run as spoken


def main() -> None:
    chosen = arguments(__doc__ or "").parse_args()
    report = Report("interaction")
    if SHARED.is_dir():
        irc.run(report, chosen.quick, SHARED)
    else:
        report.missing("the help channel", "put irc_replies.json into ../shared/data")
    spoken.run(report, chosen.quick)
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
