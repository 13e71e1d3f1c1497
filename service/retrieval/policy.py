"""What is looked for next, and when is it enough? By rules on the type of a question and the scores of what was found."""

from __future__ import annotations

from dataclasses import dataclass

from service.types.search import Asked, Done, Enough, QuestionType, Step, Tool

SEVERAL = frozenset({QuestionType.LIST, QuestionType.OPEN})
"""Types of which one message is seldom the whole answer."""


@dataclass(frozen=True, slots=True)
class RulesConfig:
    max_rounds: int = 3  # as VoxPolyMem
    sure: float = 0.18  # score of the best hit from which one is enough: 1.36 rounds a question on the spoken set (403), where
    # what scores less is found worse (Recall@15 78 % against 92 %)
    several: float = 0.9  # the same for a question that asks for several things: practically always a second look
    unsettled: float = 0.1  # a third round only where the second left another best hit, and that below this


class Rules:
    """The policy without a language model; it looks at types and scores only, never at what was said."""

    name = "rules"

    def __init__(self, config: RulesConfig | None = None) -> None:
        self._config = config or RulesConfig()

    async def __call__(self, asked: Asked, done: tuple[Done, ...]) -> Step | Enough:
        if not done:
            return Step(asked.question, "the question as it was asked", narrow=asked.directed or asked.contentless)
        config, evidence, last = self._config, done[-1].evidence, done[-1].step
        if len(done) >= config.max_rounds:
            return Enough("no more rounds are made")
        if not evidence:
            if last.narrow and not asked.contentless:
                return Step(asked.question, "nothing by the edges: without them")
            return Enough("nothing to go on from")
        if asked.contentless:
            return Enough("the edges and the time say it")
        best = evidence[0]
        several = asked.type in SEVERAL or bool(asked.parts)
        if best.score >= (config.several if several else config.sure):
            return Enough("the best hit is good enough")
        if len(done) == 1:
            why = "several things are asked for" if several else "nothing found fits well"
            return Step(asked.question, why, extend=(best.id,), expand=(Tool.REPLIES, Tool.ENTITIES), narrow=last.narrow)
        moved = len(done[-2].evidence) > 0 and best.id != done[-2].evidence[0].id
        if moved and best.score < config.unsettled:
            return Step(asked.question, "the best hit is another one now", extend=(best.id,), narrow=last.narrow)
        return Enough("a further round would find the same")
