"""Do the deployment's files agree with the code: one version of Neo4j, settings that exist, packages of the lock?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy import audit
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


def test_the_service_does_not_run_as_root_and_says_when_it_is_ill() -> None:
    last = (DEPLOY / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    joined = last.replace("\\\n", "")
    steps = dict(re.findall(r"^(USER|HEALTHCHECK|VOLUME|WORKDIR) (.+)$", joined, re.MULTILINE))
    assert int(steps["USER"]) >= 10_000 and f"--uid {steps['USER']} " in last
    assert "/readyz" in steps["HEALTHCHECK"]
    assert steps["VOLUME"] == steps["WORKDIR"] == "/data", "the one place where it writes"
    assert "VOICEGRAPH_DEVELOPMENT=false" in last
    assert not re.search(r"^(ADD|COPY (?!--from=(models|packages)))", last, re.MULTILINE), "of the tree only what was built"


def test_nothing_secret_is_in_an_image() -> None:
    assert (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()[0] == "*", "what is not named is not copied"
    assert not re.search(r"(PASSWORD|SECRET|TOKEN|KEY)=", (DEPLOY / "Dockerfile").read_text())


def test_the_containers_may_do_little() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    service, database = compose["services"]["voicegraph"], compose["services"]["neo4j"]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert [mount.partition(":")[0] for mount in service["tmpfs"]] == ["/tmp"] and "noexec" in service["tmpfs"][0]
    assert service["volumes"] == ["voicegraph:/data"]
    for one in (service, database):
        assert one["security_opt"] == ["no-new-privileges:true"] and one["pids_limit"] > 0
        assert not {"privileged", "network_mode", "pid", "cap_add", "devices"} & set(one)
        assert all(port.startswith("127.0.0.1:") for port in one["ports"]), "on this machine only"
        assert not any("docker.sock" in str(volume) for volume in one["volumes"])
    assert service["depends_on"]["neo4j"]["condition"] == "service_healthy" and "healthcheck" in database
    assert all("?" in value for value in (database["environment"]["NEO4J_AUTH"], service["environment"]["NEO4J_PASSWORD"]))


@pytest.mark.parametrize(
    ("dependencies", "code", "told"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], audit.CLEAN, "nothing is known against its 1"),
        ([{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}], audit.KNOWN, "CVE-1, fixed in 2"),
        ([{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "x"}], audit.NOT_AUDITED, "1 of 2"),
        ([], audit.NOT_AUDITED, ""),
    ],
)
def test_an_audit_that_looked_at_nothing_is_none(dependencies: list[dict[str, Any]], code: int, told: str) -> None:
    given, lines = audit.judged("a.lock", dependencies)
    assert given == code and told in "".join(lines)
