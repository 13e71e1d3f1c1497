"""The command line tells what it can do, and fails so that a program and a person understand it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from service.cli import machine
from service.cli.command_line import app, run
from service.settings import load_settings

ROOT = Path(__file__).parents[3]


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that can be run, with what one types for it."""

    def walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
        children = getattr(command, "commands", {})
        if not children or command.invoke_without_command:
            yield path, command
        for name, child in children.items():
            yield from walk(f"{path} {name}", child)

    return walk("voicegraph", typer.main.get_command(app))


COMMANDS = dict(commands())


def test_the_promised_commands_are_there() -> None:
    promised = """serve, ingest, ask, explain, people, people name, people enrol, people who, people names,
        people accept-name, people reject-name, people merge, people split, people reassign, people not-same, people bot,
        people corrections, people undo, sessions, migrate, neo4j start, neo4j stop, neo4j status, neo4j browser, doctor,
        settings, export-encoder, calibrate, token create, token list, token revoke, demo, facts, profile, commitments,
        entities read, entities list, entities themes, entities about, entities same, entities apart,
        persona agree, persona withdraw, persona read, persona show, persona felt,
        persona share, persona unshare, persona shared, sounds agree, sounds withdraw, sounds find, sounds save, sounds keep,
        search, who, images find, images embed, engine sync, engine forget, formats,
        people account list, people account bind, people account unbind, people account shared,
        hooks list, hooks check, hooks deliveries, hooks retry, hooks forget, replay, webhooks add, webhooks list,
        webhooks remove,
        webhooks enable, webhooks rotate, webhooks deliveries, webhooks replay, webhooks test, token rotate,
        consent give, consent withdraw, consent opt-out, consent opt-outs, consent history, retention show, retention set,
        export person, erase person, erase session, erase message, erase fact, erasures export, erasures replay,
        erasures resume, receipts list, receipts show, receipts verify, receipts key, audit,
        grants add, grants list, grants revoke"""
    assert {c.removeprefix("voicegraph ") for c in COMMANDS} == {p.strip() for p in promised.split(",")}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_json_and_an_example_of_itself(name: str) -> None:
    command = COMMANDS[name]
    assert any("--json" in parameter.opts for parameter in command.params)
    example = re.search(r"Example: (.+)", command.help)
    assert example and example[1].startswith(name), command.help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_argument_says_what_it_is(name: str) -> None:
    assert all(getattr(p, "help", None) for p in COMMANDS[name].params if p.name != "context")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_printed_without_an_error(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*name.split()[1:], "--help"]) == 0
    assert "Example:" in capsys.readouterr().out


def test_it_starts_in_well_under_a_second() -> None:
    child = (
        "import resource, sys\n"
        "from service.cli.command_line import run\n"
        "run(['--help'])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_utime, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", child], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stderr) < 1.0, "seconds of processor time"


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["remember"]) == 2
    assert capsys.readouterr().err.startswith("usage: No such command 'remember'")


def test_a_usage_error_is_json_when_json_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ingest", "--json"]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["code"] == "usage" and "FILE" in error["message"]


def test_an_expected_error_prints_its_code_and_message(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEGRAPH_DATA_DIR", str(tmp_path))
    assert run(["token", "revoke", "nothing"]) == 1
    streams = capsys.readouterr()
    assert streams.err.startswith("no_such_token: There is no token nothing.") and not streams.out


def test_an_expected_error_is_json_when_json_was_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEGRAPH_DATA_DIR", str(tmp_path))
    assert run(["token", "revoke", "nothing", "--json"]) == 1
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "no_such_token"


@pytest.mark.parametrize("given", ["yesterday", "2026-11-02T18:30"])
def test_a_time_without_a_zone_is_refused(given: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["ingest", str(tmp_path / "a.wav"), "--started-at", given]) == 1
    assert "needed: a time with its zone" in capsys.readouterr().err


def test_two_files_with_one_session_are_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ingest", "a.wav", "b.wav", "--session", "s1"]) == 2
    assert "one FILE" in capsys.readouterr().err


@pytest.mark.parametrize("given", [[], ["--to", "Dana", "--nobody"], ["--to", "Dana", "--new", "Dora"]])
def test_messages_are_given_to_somebody_or_to_nobody(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["people", "reassign", "m1", *given]) == 2
    assert "--to PERSON, --new NAME, or --nobody" in capsys.readouterr().err


@pytest.mark.parametrize("given", [[], ["m1", "--voice", "v1"]])
def test_messages_to_give_are_named_or_a_voice_is(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["people", "reassign", *given, "--to", "Dana"]) == 2
    assert "their ids, or --voice ID" in capsys.readouterr().err


def test_messages_and_voices_to_split_off_at_once_are_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["people", "split", "Dana", "--message", "m1", "--voice", "v1"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_names_have_one_of_three_states(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["people", "names", "--status", "wrong"]) == 2
    assert "open, applied or rejected" in capsys.readouterr().err


def test_an_empty_question_is_refused_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "  "]) == 1
    assert capsys.readouterr().err.startswith("invalid_input: the question was empty")


def test_the_embedded_neo4j_is_left_alone_when_another_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://db.example:7687")
    assert run(["neo4j", "stop"]) == 1
    assert "bolt://db.example:7687" in capsys.readouterr().err


def test_a_token_is_made_listed_and_revoked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICEGRAPH_DATA_DIR", str(tmp_path))

    def said(*arguments: str) -> Any:
        assert run([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    made = said("token", "create", "kitchen", "--scope", "ask", "--days", "90", "--space", "home")
    assert made["token"].startswith("vg_")
    (listed,) = said("token", "list")
    assert listed["id"] == made["id"] and listed["scopes"] == ["ask"] and "sha256" not in listed
    assert said("token", "revoke", made["id"])["subject"] == "kitchen"
    assert said("token", "list") == []


def test_a_token_for_nobody_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["token", "create"]) == 2
    assert "Say who gets the token" in capsys.readouterr().err


def test_settings_say_where_each_value_comes_from(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEGRAPH_SPACE", "office")
    assert run(["settings", "--json"]) == 0
    space = next(s for s in json.loads(capsys.readouterr().out) if s["name"] == "space")
    assert (space["value"], space["source"], space["variable"]) == ("office", "environment", "VOICEGRAPH_SPACE")


@pytest.mark.parametrize(
    ("host", "development", "warned"), [("0.0.0.0", True, True), ("0.0.0.0", False, False), ("127.0.0.1", True, False)]
)
async def test_serving_to_others_with_graphiql_on_is_said(
    capsys: pytest.CaptureFixture[str], host: str, development: bool, warned: bool
) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await machine._served("http://host:1", load_settings(host=host, development=development), as_json=True)
    printed = capsys.readouterr()
    assert json.loads(printed.out)["api"] == "http://host:1/graphql"
    assert ("VOICEGRAPH_DEVELOPMENT=false" in printed.err) is warned
