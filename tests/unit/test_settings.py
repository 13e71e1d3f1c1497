"""Settings say what is in force and where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.settings import BadSettings, load_settings, origins


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "NEO4J_URI",
        "NEO4J_USER",
        "NEO4J_USERNAME",
        "NEO4J_PASSWORD",
        "NEO4J_DATABASE",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_MODEL",
        "VOICEGRAPH_PORT",
        "VOICEGRAPH_SPACE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VOICEGRAPH_CONFIG", str(tmp_path / "voicegraph.toml"))


def source_of(name: str, **arguments: object) -> str:
    return next(o.source for o in origins(load_settings(**arguments), **arguments) if o.name == name)


def test_an_argument_wins_over_the_environment_which_wins_over_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "voicegraph.toml").write_text("port = 1111\n")
    assert load_settings().port == 1111
    monkeypatch.setenv("VOICEGRAPH_PORT", "2222")
    assert load_settings().port == 2222
    assert load_settings(port=3333).port == 3333


def test_each_value_names_its_source(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "voicegraph.toml").write_text('encoder = "ecapa"\n')
    monkeypatch.setenv("NEO4J_URI", "bolt://db:7687")
    assert source_of("port") == "default"
    assert source_of("neo4j_uri") == "environment"
    assert source_of("encoder").startswith("file ")
    assert source_of("space", space="lab") == "argument"


def test_the_server_is_named_as_neo4js_own_tools_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "neo4j+s://db:7687")
    monkeypatch.setenv("NEO4J_USERNAME", "ana")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret-word")
    settings = load_settings()
    assert (settings.neo4j_uri, settings.neo4j_user) == ("neo4j+s://db:7687", "ana")
    assert "secret-word" not in repr(settings)
    assert all("secret-word" not in str(origin.value) for origin in origins(settings))


def test_a_value_that_does_not_fit_is_named_with_what_was_given() -> None:
    with pytest.raises(BadSettings, match=r"port: .*given 99999"):
        load_settings(port=99999)


@pytest.mark.parametrize("line", ["neo4j_pasword = 'hunter2'", "neo4j_password = ['hunter2']", "api_key = 'hunter2'"])
def test_what_may_be_a_secret_is_not_quoted(tmp_path: Path, line: str) -> None:
    (tmp_path / "voicegraph.toml").write_text(f"{line}\n")
    with pytest.raises(BadSettings) as caught:
        load_settings()
    assert line.split()[0] in str(caught.value) and "hunter2" not in str(caught.value)


def test_a_misspelt_name_in_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "voicegraph.toml").write_text("prot = 1\n")
    with pytest.raises(BadSettings, match="prot"):
        load_settings()


def test_a_language_model_is_set_as_its_clients_name_it_and_its_key_is_stars(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not load_settings().uses_model_for("facts")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2\n")
    monkeypatch.setenv("VOICEGRAPH_OPENAI_USE", "facts, answers")
    settings = load_settings()
    assert settings.openai_base_url == "http://localhost:8000/v1"
    assert [settings.uses_model_for(use) for use in ("facts", "search", "answers")] == [True, False, True]
    assert settings.openai_api_key is not None and settings.openai_api_key.get_secret_value() == "sk-hunter2"
    assert "hunter2" not in repr(settings) + str([origin.value for origin in origins(settings)])
    assert source_of("openai_base_url") == source_of("openai_api_key") == "environment"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "sk hunter2"),
        ("OPENAI_API_KEY", "sk-hunter2é"),
        ("OPENAI_BASE_URL", "http://me:hunter2@localhost/v1"),
        ("OPENAI_BASE_URL", "http://localhost/v1?key=hunter2"),
        ("OPENAI_BASE_URL", "hunter2"),
    ],
)
def test_a_key_in_the_wrong_place_or_form_is_refused_and_not_quoted(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings, match=name.lower()) as caught:
        load_settings()
    assert "hunter2" not in str(caught.value)


def test_a_use_that_no_model_has_is_refused() -> None:
    with pytest.raises(BadSettings, match="memory is none of facts, search, answers"):
        load_settings(openai_use="facts,memory")
