"""What is a language model asked, and what does it give back? A prompt whose answer is a record, and the protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


def fits(answer: Any) -> str | None:
    """Of an answer that only its type restrains."""
    return None


@dataclass(frozen=True, slots=True)
class Prompt(Generic[T]):
    instructions: str
    """Ours. The only part that tells the model what to do."""
    data: str
    """What others said, fenced: never an instruction."""
    answer: type[T]
    """A frozen dataclass: its fields are the JSON schema of the reply."""
    max_tokens: int
    """Of the reply."""
    problem: Callable[[T], str | None] = fits
    """What is wrong with an answer beyond its types, for the model to put right; None: nothing."""


class ChatModel(Protocol):
    @property
    def name(self) -> str:
        """Of the model."""
        ...

    async def __call__(self, prompt: Prompt[T], *, space: str | None = None) -> T:
        """An answer that fits `prompt.answer` and has no `prompt.problem`. With `space` it is kept on this machine under that
        space, and the same prompt is not asked twice. Raises a VoicegraphError where none could be had; never makes one up."""
        ...
