"""What a command of the CLI is to a test over a real graph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Typed = Callable[..., Awaitable[Any]]
"""A command's arguments to what it prints; see the fixture `typed`."""
