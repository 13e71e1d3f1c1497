"""The doctor looks without touching, and what it finds missing comes with the way to get it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.api.tokens import issue
from service.cli.checks import Check, State
from service.cli.command_line import run
from service.cli.doctor import (
    DoctorConfig,
    check_disk,
    check_language_model,
    check_models,
    check_opt_outs,
    check_packages,
)
from service.cli.doctor_access import check_issuers, check_tokens
from service.identity.opt_outs import Marker
from service.pipelines.key_files import load_key
from service.settings import load_settings
from tests.chat_server import serving
from tests.oidc_server import SigningKey, oidc_server


@pytest.fixture(autouse=True)
def a_machine_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VOICEGRAPH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("VOICEGRAPH_CACHE_DIR", str(tmp_path / "cache"))


def test_on_a_new_machine_all_that_is_missing_comes_by_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["doctor", "--json"]) == 0
    checks = {c["name"]: c for c in json.loads(capsys.readouterr().out)}
    assert checks["neo4j server"]["state"] == checks["speaker encoder"]["state"] == "later"
    assert checks["python"]["state"] == checks["onnxruntime"]["state"] == "ok"
    assert not list(tmp_path.iterdir()), "it made something"


def test_what_a_chosen_model_needs_is_missing_and_what_others_need_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.cli.doctor.installed", lambda name: None if name in ("speechbrain", "nemo-toolkit") else "1.0")
    checks = {c.name: c for c in check_packages(load_settings(encoder="ecapa"))}
    assert checks["speechbrain"].state is State.MISSING
    assert checks["nemo-toolkit"].state is State.OPTIONAL
    assert checks["speechbrain"].remedy == "pip install 'voicegraph[ecapa]'"


def test_a_full_disk_is_told_with_the_variable_that_moves_the_directory() -> None:
    checks = list(check_disk(load_settings(), DoctorConfig(min_free_gb=1e9)))
    assert [c.state for c in checks] == [State.MISSING, State.MISSING]
    assert "VOICEGRAPH_CACHE_DIR" in checks[1].remedy


def test_models_in_the_cache_are_named_with_their_file(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "campplus-1.onnx").touch()
    checks = {c.name: c for c in check_models(load_settings())}
    assert checks["speaker encoder"].state is State.OK and "campplus-1.onnx" in checks["speaker encoder"].found
    assert checks["segmentation"].state is State.LATER


def test_a_server_that_does_not_answer_is_missing_and_the_exit_code_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    assert run(["doctor", "--json"]) == 1
    assert next(c for c in json.loads(capsys.readouterr().out) if c["name"] == "neo4j server")["state"] == "missing"


def test_the_state_of_an_embedded_neo4j_is_told_without_starting_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["neo4j", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["running"] is False
    assert run(["neo4j", "stop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"stopped": False}
    assert not list(tmp_path.iterdir()), "it made something"


async def test_a_language_model_is_told_with_where_what_is_said_goes(tmp_path: Path) -> None:
    (none,) = await check_language_model(load_settings())
    assert (none.state, none.found) == (State.OK, "none: facts, rounds of search and answers by rules")
    with serving(key="sk-of-nobody") as server:

        async def checked(**more: object) -> Check:
            given = {"openai_base_url": server.url, "openai_api_key": "sk-of-nobody", "openai_model": "small", **more}
            (check,) = await check_language_model(load_settings(**given))
            assert "sk-of-nobody" not in check.found + check.remedy
            return check

        found = await checked(openai_use="answers")
        assert found.state is State.OK
        assert found.found == f"small for answers; what was said is sent to {server.url}; 0 tokens used today of 1000000"
        assert (await checked(openai_model="large")).remedy == "set OPENAI_MODEL to one of small"
        refused = await checked(openai_api_key="sk-of-somebody")
        assert refused.state is State.MISSING and "HTTP 401, invalid_api_key" in refused.found
        server.models = ()
        assert (await checked(openai_model="large")).state is State.OK, "hosts need not tell their models"
        assert server.asked == [] and not (tmp_path / "data").exists(), "it asked or made something"
    gone = await checked()
    assert gone.state is State.MISSING and "chat_unreachable" in gone.found


async def test_who_gets_in_is_told_and_a_provider_that_does_not_answer_is_missing(tmp_path: Path) -> None:
    settings = load_settings()
    assert "none" in check_tokens(settings).found and [c.found.split(":")[0] for c in await check_issuers(settings, 1.0)] == [
        "none"
    ]
    issue(settings.tokens_file, subject="boss", space="home", scopes=["admin", "read_all"])
    found = check_tokens(settings).found
    assert found == "1; 1 may read everything; 1 may administer; 1 never expire"
    with oidc_server() as idp:
        table = f'[issuers.{{}}]\nissuer = "{idp.issuer}{{}}"\naudience = "voicegraph"\nspace = "home"\n'
        settings.issuers_path.write_text(table.format("here", "") + table.format("gone", "/nowhere"))
        here, gone = await check_issuers(settings, 5.0)
        assert (here.state, gone.state) == (State.OK, State.MISSING) and "1 keys" in here.found and "404" in gone.found
        idp.keys = [SigningKey.made("p", "PS256")]
        (one, _) = await check_issuers(settings, 5.0)
        assert one.state is State.MISSING and "PS256" in one.found
    settings.issuers_path.write_text("[issuers")
    settings.tokens_file.chmod(0o644)
    (broken,) = await check_issuers(settings, 1.0)
    assert (broken.state, check_tokens(settings).state) == (State.MISSING, State.MISSING)


def test_whether_the_key_of_those_who_opted_out_is_here() -> None:
    settings = load_settings()
    mine = Marker(load_key(settings.opt_outs_key_file)).id
    assert check_opt_outs(settings, {}) == []
    assert [check.state for check in check_opt_outs(settings, {mine: 3})] == [State.OK]
    (lost,) = check_opt_outs(settings, {mine: 3, "another": 2})
    assert lost.state is State.MISSING and "2 of 5" in lost.found
    settings.opt_outs_key_file.chmod(0o644)
    (open_to_all,) = check_opt_outs(settings, {mine: 3})
    assert open_to_all.state is State.MISSING and "0600" in open_to_all.found
