"""What is a transcript format to the rest of the code? What it states of itself, how it is told from others, how it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from service.connectors.declared import Declared
from service.connectors.files.source import Written
from service.types.audio import Transcript


@dataclass(frozen=True, slots=True)
class TranscriptFormat:
    declared: Declared
    recognises: Callable[[Written], bool]
    """By what only this format has. Never raises."""
    read: Callable[[Written], Transcript]
    """Times in seconds, in order of start. Raises TranscriptUnreadable with the line or the field."""
