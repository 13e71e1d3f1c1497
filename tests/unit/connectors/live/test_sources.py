"""The file of sources says which backends may deliver; it holds no secret, and what is wrong in it is named."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.connectors.live.sources import NoSuchSource, SecretMissing, Source, Sources, SourcesUnreadable, parse

RIGHT = """
[sources.sales]
provider = "generic"
space = "home"
secrets = ["env:SALES", "file:{folder}/next"]
api_key = "env:KEY"
listen = true
idle_minutes = 5
"""


def written(folder: Path, text: str, **variables: str) -> Sources:
    (folder / "hooks.toml").write_text(text.replace("{folder}", str(folder)))
    return Sources(folder / "hooks.toml", variables.get)


def test_a_source_is_read_with_the_secrets_that_hold_now(tmp_path: Path) -> None:
    sources = written(tmp_path, RIGHT, SALES="one", KEY="k")
    (tmp_path / "next").write_text("two\n")
    source = sources.get("sales")
    assert source == Source(
        name="sales",
        provider="generic",
        space="home",
        secrets=("env:SALES", f"file:{tmp_path}/next"),
        api_key="env:KEY",
        listen=True,
        idle_minutes=5.0,
    )
    assert (sources.secrets(source), sources.api_key(source)) == (("one", "two"), "k")
    (tmp_path / "next").write_text("three")
    assert sources.secrets(source) == ("one", "three")


def test_a_changed_file_holds_at_the_next_delivery_and_a_missing_one_has_no_sources(tmp_path: Path) -> None:
    sources = written(tmp_path, RIGHT)
    assert set(sources.all()) == {"sales"}
    written(tmp_path, RIGHT.replace("sales", "sales-2"))
    os.utime(tmp_path / "hooks.toml", ns=(time.time_ns() + 1, time.time_ns() + 1))
    assert set(sources.all()) == {"sales-2"}
    (tmp_path / "hooks.toml").unlink()
    assert sources.all() == {}
    with pytest.raises(NoSuchSource, match="sales"):
        sources.get("sales")


@pytest.mark.parametrize(
    ("variables", "file"), [({}, "two"), ({"SALES": "  "}, "two"), ({"SALES": "one"}, None), ({"SALES": "one"}, " \n")]
)
def test_a_missing_secret_is_named_and_never_shown(tmp_path: Path, variables: dict[str, str], file: str | None) -> None:
    sources = written(tmp_path, RIGHT, **variables)
    if file is not None:
        (tmp_path / "next").write_text(file)
    with pytest.raises(SecretMissing) as missing:
        sources.secrets(sources.get("sales"))
    assert ("env:SALES" in str(missing.value)) != ("next" in str(missing.value))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[sources", "is no TOML"),
        ("x = 1", "besides tables"),
        ("[sources]\nsales = 1", "besides tables"),
        (RIGHT.replace("sales", '"Sales!"'), "a name is"),
        (RIGHT.replace("generic", "nobody"), "provider is none of"),
        (RIGHT.replace('space = "home"', ""), "space is missing"),
        (RIGHT.replace('"home"', '" "'), "space is missing"),
        (RIGHT.replace("listen = true", "listen = 1"), "listen is true or false"),
        (RIGHT.replace("= 5", "= 0"), "idle_minutes"),
        (RIGHT.replace("= 5", "= true"), "idle_minutes"),
        (RIGHT.replace("= 5", "= nan"), "idle_minutes"),
        (RIGHT.replace("listen =", "listens ="), "listens is none of"),
        (RIGHT.replace("env:SALES", "whsec_hunter2"), "never the secrets themselves"),
        (RIGHT.replace("env:KEY", "hunter2"), "never the key itself"),
        (RIGHT.replace('["env:SALES", "file:{folder}/next"]', '"env:SALES"'), "secrets is a list"),
        (RIGHT.replace("{folder}/next", "relative"), "secrets is a list"),
    ],
)
def test_what_is_wrong_is_named_and_no_secret_quoted(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SourcesUnreadable) as wrong:
        written(tmp_path, text).all()
    assert said in str(wrong.value) and "hunter2" not in str(wrong.value)


@given(st.text() | st.builds(RIGHT.replace, st.sampled_from(RIGHT.split()), st.text()))
def test_any_text_is_a_file_of_sources_or_refused(text: str) -> None:
    try:
        found = parse(text, Path("hooks.toml"))
    except SourcesUnreadable:
        return
    assert all(source.name == name and source.space.strip() for name, source in found.items())
