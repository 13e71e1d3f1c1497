"""The command line: what one types, and what one sees."""

from service.cli.command_line import app, main

__all__ = ["app", "main"]
