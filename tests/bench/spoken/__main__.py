"""`python -m tests.bench.spoken`: check the scenarios (default), write them one line a turn, render them, or measure."""

from __future__ import annotations

import argparse
import json
import sys

from tests.bench.spoken.format import SCENARIOS, Kind, load_all, written
from tests.bench.spoken.validate import problems


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", action="store_true", help="write every scenario anew, one line a person, turn and question")
    chosen = parser.parse_args()
    if chosen.format:
        for path in sorted(SCENARIOS.glob("*.json")):
            path.write_text(written(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    found = []
    for scenario in load_all():
        kinds = {kind.value: sum(q.kind is kind for q in scenario.questions) for kind in Kind}
        words = sum(len(turn.text.split()) for turn in scenario.turns.values())
        print(f"{scenario.id}: {len(scenario.turns)} turns, {words} words, {len(scenario.questions)} questions {kinds}")
        found += problems(scenario)
    print("\n".join(found) or "nothing is wrong")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
