"""What can go wrong, said so that its reader can act on it: what was given, what was needed, what to do."""

from __future__ import annotations

from typing import ClassVar


class VoicegraphError(Exception):
    """Base of every expected error.

    A subclass stands beside the code that raises it and has a stable, unique snake_case `code`, an `http_status`, and
    a sentence `says` with the facts as format fields: `raise AudioTooShort(duration=0.31, minimum=0.80)`.
    """

    code: ClassVar[str] = "voicegraph_error"
    says: ClassVar[str] = ""
    http_status: ClassVar[int] = 400

    def __init__(self, **facts: object) -> None:
        self.facts = facts
        super().__init__(self.says.format(**facts))

    @property
    def message(self) -> str:
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class NotFound(VoicegraphError):
    """Also raised for what exists but lies outside the asker's scope: the two must be indistinguishable."""

    code = "not_found"
    says = "There is no {kind} {id} that you may see. Check the id, or ask as somebody who was there."
    http_status = 404


class InvalidInput(VoicegraphError):
    code = "invalid_input"
    says = "{what} was {given}; needed: {needed}."
    http_status = 422
