"""Is what was found enough, and what is searched for next? As a language model judges it, after each round."""

from __future__ import annotations

from dataclasses import dataclass, field

from service.language.evidence_shown import EvidenceShown, question_shown, unknown_numbers
from service.language.prompts import REVIEW, fenced, one_line
from service.types.chat import ChatModel, Prompt
from service.types.search import Asked, Done, Enough, Step, Tool


@dataclass(frozen=True, slots=True)
class Review:
    """As the model writes it."""

    missing: tuple[str, ...]
    enough: bool
    query: str
    extend: tuple[int, ...]
    neighbours: bool
    why: str


@dataclass(frozen=True, slots=True)
class RetrievalModelConfig:
    max_rounds: int = 3  # as VoxPolyMem
    max_query: int = 500  # characters; a question, not an essay
    max_extend: int = 2  # pieces of evidence whose words go with the query; more say everything and nothing
    max_tokens: int = 500  # of a reply: some short questions and a query
    max_why: int = 120  # characters, shown by `explain`
    evidence: EvidenceShown = field(default_factory=EvidenceShown)


class RetrievalModel:
    """A RetrievalPolicy. The first round searches for the question as it was asked: the ranker was fitted to that, and
    rewording can only lose words. What the edges alone say, and a search that found nothing, is not the model's to judge."""

    def __init__(self, chat: ChatModel, config: RetrievalModelConfig | None = None) -> None:
        self._chat = chat
        self._config = config or RetrievalModelConfig()

    @property
    def name(self) -> str:
        return f"model:{self._chat.name}"

    async def __call__(self, asked: Asked, done: tuple[Done, ...]) -> Step | Enough:
        """Raises what the model raises."""
        if not done:
            return Step(asked.question, "the question as it was asked", narrow=asked.directed or asked.contentless)
        if len(done) >= self._config.max_rounds:
            return Enough("no more rounds are made")
        last = done[-1]
        if not last.evidence:
            if last.step.narrow and not asked.contentless:
                return Step(asked.question, "nothing by the edges: without them")
            return Enough("nothing to go on from")
        if asked.contentless:
            return Enough("the edges and the time say it")
        return self._next(done, await self._chat(self._prompt(asked, done)))

    def _next(self, done: tuple[Done, ...], review: Review) -> Step | Enough:
        last, why = done[-1], one_line(review.why)[: self._config.max_why]
        if review.enough:
            return Enough(why)
        query, extend = one_line(review.query), tuple(last.evidence[number - 1].id for number in dict.fromkeys(review.extend))
        expand = (Tool.REPLIES, Tool.ENTITIES) if review.neighbours else ()
        if any((one.step.query, one.step.extend, one.step.expand) == (query, extend, expand) for one in done):
            return Enough("the same search would find the same")
        return Step(query, why, extend, expand, narrow=last.step.narrow)

    def _prompt(self, asked: Asked, done: tuple[Done, ...]) -> Prompt[Review]:
        config, evidence = self._config, done[-1].evidence
        known = {
            "type": asked.type.value,
            "said_by": asked.speakers,
            "said_to": asked.addressees,
            "also_named": asked.others,
            "parts": asked.parts,
            "times": [[time and time.isoformat() for time in window] for window in asked.windows],
        }
        data = {
            **question_shown(asked),
            "known": {name: value for name, value in known.items() if value},
            "rounds": [one.step.query for one in done],
            "evidence": config.evidence.numbered(evidence),
        }

        def problem(review: Review) -> str | None:
            if review.enough:
                return None
            if not 0 < len(one_line(review.query)) <= config.max_query:
                return f"query must have 1 to {config.max_query} characters unless enough is true"
            if len(review.extend) > config.max_extend:
                return f"extend holds more than {config.max_extend} numbers"
            return unknown_numbers("extend", review.extend, evidence)

        return Prompt(REVIEW, fenced(data), Review, config.max_tokens, problem)
