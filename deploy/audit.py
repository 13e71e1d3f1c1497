"""Is anything known against what the locks install? Asks the database of advisories (PyPI's, or OSV's with --osv) by pip-audit.

It needs the network: where the database is not reached, or does not know a package, that is said, and counts as no audit (exit
code 2; 1: something is known; 0: nothing is). Neo4j and its jars, the base images and the models are not in these locks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LOCKS = ("service.lock", "requirements.lock", "bootstrap.lock")
"""What the service runs, what development and tests need besides, and what installs both."""
PIP_AUDIT = "pip-audit==2.10.1"
UV = Path(sys.executable).with_name("uv")
CLEAN, KNOWN, NOT_AUDITED = 0, 1, 2


def main(arguments: list[str]) -> int:
    service = ["--vulnerability-service", "osv"] if "--osv" in arguments else []
    return max(audited(lock, service) for lock in LOCKS)


def audited(lock: str, service: list[str]) -> int:
    """The exit code of one lock; tells what was found."""
    command = [str(UV), "tool", "run", "--from", PIP_AUDIT, "pip-audit", "--requirement", str(HERE / lock)]
    options = ["--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off", *service]
    run = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    try:
        found = json.loads(run.stdout)["dependencies"]
    except (ValueError, KeyError):
        told = run.stderr.strip().splitlines()
        print(f"{lock}: not audited; pip-audit said: {told[-1][:300] if told else 'nothing'}", file=sys.stderr)
        print("It asks pypi.org, or with --osv api.osv.dev: run it where one of them can be reached.", file=sys.stderr)
        return NOT_AUDITED
    code, lines = judged(lock, found)
    print("\n".join(lines), file=sys.stdout if code == CLEAN else sys.stderr)
    return code


def judged(lock: str, dependencies: list[dict[str, Any]]) -> tuple[int, list[str]]:
    """The exit code and what to tell. What was left out is no clean audit, whatever else was found."""
    known = [(one["name"], one["version"], v) for one in dependencies for v in one.get("vulns", ())]
    skipped = [one["name"] for one in dependencies if "skip_reason" in one]
    lines = [
        f"{lock}: {name} {version}: {v['id']}, fixed in {', '.join(v.get('fix_versions') or ['none yet'])}"
        for name, version, v in known
    ]
    if skipped:
        told = ", ".join(skipped[:5]) + (" …" if len(skipped) > 5 else "")
        lines.append(f"{lock}: {len(skipped)} of {len(dependencies)} packages were not found in the database: {told}")
    if not lines:
        lines.append(f"{lock}: nothing is known against its {len(dependencies)} packages")
    return (KNOWN if known else NOT_AUDITED if skipped or not dependencies else CLEAN), lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
