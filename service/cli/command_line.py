"""Which commands are there, and how does the program end?"""

from __future__ import annotations

import sys

import typer

from service.cli import (
    accounts,
    audit,
    calibrate,
    consents,
    corrections,
    engines,
    entities,
    erasure,
    export,
    facts,
    grants,
    hooks,
    identity,
    images,
    machine,
    memory,
    personas,
    replay,
    retention,
    showing,
    sounds,
    tokens,
    webhooks,
)
from service.cli.shown import show_error
from service.errors import VoicegraphError

app = typer.Typer(
    name="voicegraph",
    help="The memory of who said what to whom.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
memory.add_to(app)
facts.add_to(app)
entities.add_to(app)
identity.add_to(app, memory.people)
images.add_to(app)
personas.add_to(app)
sounds.add_to(app)
consents.add_to(app)
retention.add_to(app)
export.add_to(app)
corrections.add_to(memory.people)
accounts.add_to(memory.people)
machine.add_to(app)
engines.add_to(app)
tokens.add_to(app)
grants.add_to(app)
webhooks.add_to(app)
hooks.add_to(app)
erasure.add_to(app)
audit.add_to(app)
app.command("calibrate")(calibrate.calibrate)
app.command("replay")(replay.replay)
showing.add_to(app)


def main() -> None:
    """Exit code 0: done · 1: `code: message` on standard error · 2: the command was not understood · 130: interrupted."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        code = app(args=arguments, prog_name="voicegraph", standalone_mode=False)
    except VoicegraphError as error:
        show_error(error.code, error.message, as_json)
        return 1
    except typer.Abort:
        return 130
    except typer.TyperException as error:
        show_error("usage", f"{error.format_message()} `voicegraph --help` lists the commands.", as_json)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return code if isinstance(code, int) else 0
