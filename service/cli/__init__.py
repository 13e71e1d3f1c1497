"""The command line: what one types, and what one sees."""

from service.cli.command_line import main

__all__ = ["main"]
