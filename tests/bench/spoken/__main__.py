"""`python -m tests.bench.spoken`: check the scenarios (default), write them one line a turn, render them, or measure."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from tests.bench.report import Report, arguments
from tests.bench.spoken.format import SCENARIOS, Kind, load_all, written
from tests.bench.spoken.render import Studio
from tests.bench.spoken.run import run
from tests.bench.spoken.validate import problems
from tests.models import CACHE


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--format", action="store_true", help="write every scenario anew, one line a person, turn and question")
    parser.add_argument("--render", nargs="*", metavar="WHAT", help="scenarios (4) or sessions (4/s2) to speak; none: all")
    parser.add_argument("--measure", action="store_true", help="ask every question; --quick: of the first scenario")
    chosen = parser.parse_args()
    if chosen.format:
        for path in sorted(SCENARIOS.glob("*.json")):
            path.write_text(written(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    if chosen.render is not None:
        render(chosen.render)
    if chosen.measure:
        report = Report("spoken")
        run(report, chosen.quick)
        report.finish(chosen.json)
    found = []
    for scenario in load_all():
        kinds = {kind.value: sum(q.kind is kind for q in scenario.questions) for kind in Kind}
        words = sum(len(turn.text.split()) for turn in scenario.turns.values())
        print(f"{scenario.id}: {len(scenario.turns)} turns, {words} words, {len(scenario.questions)} questions {kinds}")
        found += problems(scenario)
    print("\n".join(found) or "nothing is wrong")
    sys.exit(bool(found))


def render(wanted: Sequence[str]) -> None:
    studio = Studio(CACHE)
    for scenario in load_all():
        sessions = [s for s in scenario.sessions if not wanted or {scenario.id, f"{scenario.id}/{s.id}"} & set(wanted)]
        if sessions:
            studio.render(scenario, sessions)


if __name__ == "__main__":
    main()
