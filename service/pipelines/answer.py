"""What is the answer? Without a language model: the sentences that fit best, in their own words, with who and when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.graph.people import find_people
from service.pipelines.viewer import ViewerRefused
from service.retrieval.plan import content_words
from service.types.search import Answer, AnswerStatus, Filters, Hit, SearchResult, Tool

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph
    from service.pipelines.search import Search
    from service.types.people import Person

_SENTENCE = re.compile(r"[^.!?。！？…]+[.!?。！？…]*[\"'”’)]*")


@dataclass(frozen=True, slots=True)
class AnswerConfig:
    max_citations: int = 3  # what is read out to somebody before they stop listening
    min_share: float = 0.5  # of the best sentence's score: what falls below is beside the point
    question_discount: float = 0.5  # a sentence that asks seldom answers
    min_overlap: float = 0.34  # of the question's words: one of two or three; fewer is a coincidence
    sufficient_cosine: Mapping[str, float] = field(default_factory=lambda: {"e5_small_v2_q": 0.85})
    """By embedding space: from here up a hit with fewer words in common answers too. On LoCoMo the best turn of a foreign
    conversation reaches 0.85 for 2 % of the questions, of the right one for 25 %. A model not listed has no such value."""


@dataclass(frozen=True, slots=True)
class _Quote:
    hit: Hit
    sentence: str
    score: float


class Answerer:
    """One per process. Nothing it says is beyond the words of messages in the scope it is given."""

    def __init__(self, graph: Graph, search: Search, config: AnswerConfig | None = None) -> None:
        self._graph = graph
        self._search = search
        self._config = config or AnswerConfig()

    async def __call__(self, scope: ReadScope | ViewerRefused, question: str, filters: Filters | None = None) -> Answer:
        """`not_allowed` for a viewer that was refused, `nothing_found` when nothing in the scope fits (whether there is
        something outside is not said). Raises InvalidInput as Search does."""
        if isinstance(scope, ViewerRefused):
            return Answer(AnswerStatus.NOT_ALLOWED, "", scope.reason, ())
        return await self.of(scope, question, await self._search(scope, question, filters))

    async def of(self, scope: ReadScope, question: str, result: SearchResult) -> Answer:
        """The answer from what a search has found already."""
        if not result.visible:
            return Answer(
                AnswerStatus.NOTHING_FOUND, "", "There is nothing here that everybody who hears the answer may know.", ()
            )
        quotes = self._quotes(question, result)
        if not quotes:
            return Answer(AnswerStatus.NOTHING_FOUND, "", "Nothing that you may know of answers this.", ())
        speakers = [quote.hit.message.speaker_id for quote in quotes if quote.hit.message.speaker_id]
        people = await self._graph.read(find_people, scope, sorted(set(speakers)))
        lines = (f"{_who(quote.hit, people, scope)}, {_when(quote.hit)}: “{quote.sentence}”" for quote in quotes)
        return Answer(
            AnswerStatus.ANSWERED,
            "\n".join(lines),
            f"In the words of {len(quotes)} of {len(result.hits)} messages found.",
            tuple(quote.hit for quote in quotes),
        )

    def _quotes(self, question: str, result: SearchResult) -> tuple[_Quote, ...]:
        """One sentence of each message that fits, best first."""
        asked = content_words(question)
        quotes = [quote for hit in result.hits if (quote := self._quote(hit, asked)) is not None]
        quotes.sort(key=lambda quote: -quote.score)
        floor = quotes[0].score * self._config.min_share if quotes else 0.0
        return tuple(quote for quote in quotes[: self._config.max_citations] if quote.score >= floor)

    def _quote(self, hit: Hit, asked: frozenset[str]) -> _Quote | None:
        """The sentence of `hit` that shares most with the question; None when the hit does not answer at all."""
        sentences = sentences_of(hit.message.text or "")
        shared = [len(asked & content_words(sentence)) / max(1, len(asked)) for sentence in sentences]
        if not sentences or not (max(shared) >= self._config.min_overlap or self._is_near(hit)):
            return None
        best = max(range(len(sentences)), key=lambda i: (shared[i] * self._weight(sentences[i]), len(sentences[i])))
        return _Quote(hit, sentences[best], (hit.score + shared[best]) * self._weight(sentences[best]))

    def _is_near(self, hit: Hit) -> bool:
        enough = self._config.sufficient_cosine.get(self._search.text_space)
        cosines = [found.score for found in hit.found if found.tool is not Tool.BM25]
        return enough is not None and any(cosine >= enough for cosine in cosines)

    def _weight(self, sentence: str) -> float:
        return self._config.question_discount if sentence.rstrip("\"'”’)").endswith(("?", "？")) else 1.0


def sentences_of(text: str) -> tuple[str, ...]:
    return tuple(sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip())


def _who(hit: Hit, people: Mapping[str, Person], scope: ReadScope) -> str:
    speaker = hit.message.speaker_id
    if speaker is None:
        return "Somebody not recognised"
    if speaker in scope.asker:
        return "You"
    return (speaker in people and people[speaker].display_name) or "Somebody without a name"


def _when(hit: Hit) -> str:
    return f"{hit.message.said_at.day} {hit.message.said_at:%B %Y}"
