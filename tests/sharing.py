"""How do the processes of one run share the tests, and one Neo4j? By file, the longest first; some files keep together.

Only with pytest-xdist and `-n` (`make test`); else the one process does everything in the order of the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SERVER_DIRECTORY = pytest.StashKey[Path]()
"""Of this run's embedded Neo4j."""

TOGETHER = {
    "services": ("tests/api/", "tests/graph/test_retention.py"),  # a service that starts sweeps what has had its time
    "own server": (
        "tests/graph/test_ingest_broken_off.py",
        "tests/graph/test_meetings_neo4j_killed.py",
        "tests/graph/test_migrate.py",
        "tests/graph/test_server.py",
    ),
    "exports": (  # models are exported into `model_cache`
        "tests/graph/test_ingest_models.py",
        "tests/unit/audio/test_diarise.py",
        "tests/unit/audio/test_encoders",
        "tests/unit/audio/test_segmentation.py",
    ),
    "graphiti": (  # it makes indexes of its own
        "tests/graph/test_engines.py",
        "tests/graph/test_engine_ingest.py",
        "tests/graph/test_cli_engines.py",
    ),
}
"""What one process does, as it makes something once or would be in the way of others: name → how the paths begin."""

LONG = ("services", "own server", "exports", "tests/graph/test_ingest_long.py", "tests/unit/test_house_rules.py")
"""What is begun first, or a process would be left with it when the other has ended."""


def share_of(nodeid: str) -> str:
    """What of the tests one process does as a whole: the name of a group, else a file."""
    path = nodeid.split("::", 1)[0]
    return next((name for name, starts in TOGETHER.items() if path.startswith(starts)), path)


def longest_first(nodeid: str) -> int:
    share = share_of(nodeid)
    return LONG.index(share) if share in LONG else len(LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Before another process starts: which directory the server is in."""
    node.workerinput["server_directory"] = str(node.config.stash[SERVER_DIRECTORY])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    class Shares(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return share_of(nodeid)

    config.option.loadscopereorder = False
    return Shares(config, log)
