"""What is the answer, in a language model's words? Nothing but the evidence, and every answer cites it."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.language.evidence_shown import EvidenceShown, question_shown, unknown_numbers
from service.language.prompts import ANSWER, fenced
from service.types.chat import ChatModel, Prompt
from service.types.search import Asked, Evidence, Written


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """As the model writes it."""

    answer: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnswerModelConfig:
    max_tokens: int = 400  # of a reply: three sentences and some numbers
    max_answer: int = 2_000  # characters; longer than anybody listens
    evidence: EvidenceShown = field(default_factory=EvidenceShown)


class AnswerModel:
    """An AnswerWriter."""

    def __init__(self, chat: ChatModel, config: AnswerModelConfig | None = None) -> None:
        self._chat = chat
        self._config = config or AnswerModelConfig()

    @property
    def name(self) -> str:
        return f"model:{self._chat.name}"

    async def __call__(self, asked: Asked, evidence: tuple[Evidence, ...]) -> Written:
        """Without evidence nothing is asked and nothing answered. An answer that cites nothing, or what was not given, is
        refused by ChatAnswerUnfit; also raises what the model raises."""
        if not evidence:
            return Written("", ())

        def problem(given: GivenAnswer) -> str | None:
            if bool(given.answer.strip()) != bool(given.citations):
                return "an answer has citations, and citations have an answer"
            if len(given.answer) > self._config.max_answer:
                return "answer is too long"
            return unknown_numbers("citations", given.citations, evidence)

        data = {**question_shown(asked), "evidence": self._config.evidence.numbered(evidence)}
        given = await self._chat(Prompt(ANSWER, fenced(data), GivenAnswer, self._config.max_tokens, problem))
        cited = tuple(evidence[number - 1].id for number in dict.fromkeys(given.citations))
        return Written(_printable(given.answer), cited)


def _printable(text: str) -> str:
    """Lines stay; other control characters go: the text is shown in terminals."""
    return "\n".join("".join(c for c in line if c.isprintable()) for line in text.strip().splitlines())
