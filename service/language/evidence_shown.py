"""How are a question and the evidence shown to a language model? By numbers and names: no id leaves the house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.types.search import Asked, Evidence


@dataclass(frozen=True, slots=True)
class EvidenceShown:
    max_text: int = 600  # characters of a message: fifteen of them stay below 3,000 tokens

    def numbered(self, evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
        """From 1, best first."""
        return [
            {
                "n": number,
                "by": one.by,
                "to": list(one.to),
                "at": f"{one.said_at:%A %Y-%m-%d %H:%M}",
                "text": one.text if len(one.text) <= self.max_text else f"{one.text[: self.max_text]}…",
            }
            for number, one in enumerate(evidence, 1)
        ]


def question_shown(asked: Asked) -> dict[str, Any]:
    return {"question": asked.question, "asker": asked.asker, "asked_at": f"{asked.asked_at:%A %Y-%m-%d %H:%M}"}


def unknown_numbers(field: str, numbers: Sequence[int], evidence: Sequence[Evidence]) -> str | None:
    """What is wrong with them, for the model; None: nothing."""
    if all(1 <= number <= len(evidence) for number in numbers):
        return None
    return f"{field} may only hold numbers of the evidence, 1 to {len(evidence)}"
