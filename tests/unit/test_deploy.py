"""Do the deployment's files agree with the code: one version of Neo4j, settings that exist, packages of the lock?"""

from __future__ import annotations

import re
from pathlib import Path

from service.graph.server import embedded_version
from service.settings import PREFIX, Settings

DEPLOY = Path(__file__).parents[2] / "deploy"


def pinned(lock: str) -> set[str]:
    return set(re.findall(r"^([\w.-]+==[\w.+!-]+)", (DEPLOY / lock).read_text(), re.MULTILINE))


def test_compose_runs_the_neo4j_that_is_embedded() -> None:
    assert f"image: neo4j:{embedded_version()}-community" in (DEPLOY / "compose.yaml").read_text()


def test_every_variable_that_is_set_is_a_setting() -> None:
    text = (DEPLOY / "Dockerfile").read_text() + (DEPLOY / "compose.yaml").read_text()
    assert {name.lower() for name in re.findall(rf"\b{PREFIX}(\w+)[=:]", text)} <= set(Settings.model_fields)


def test_the_service_runs_what_was_tested() -> None:
    """Its lock is a part of the full one, and brings no torch."""
    service = pinned("service.lock")
    assert len(service) > 30
    assert service <= pinned("requirements.lock")
    assert not any(name.startswith("torch") for name in service)


def test_the_service_does_not_run_as_root() -> None:
    last = (DEPLOY / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    assert "USER voicegraph" in last
    assert "HEALTHCHECK" in last
