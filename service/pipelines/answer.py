"""What is the answer? Without a language model: the sentences that fit best, in their own words, with who and when; who it was,
by the edges. With one: its words, and only if they cite what was found."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from service.graph.people import find_people
from service.pipelines.viewer import ViewerRefused
from service.retrieval.attribution import Attributed, AttributionConfig, attributed
from service.retrieval.plan import content_words
from service.retrieval.undertakings import UNDERTAKES
from service.types.search import (
    Answer,
    AnswerStatus,
    AnswerWriter,
    Asked,
    Filters,
    Hit,
    Meant,
    QuestionType,
    SearchResult,
    Tool,
    Wants,
)

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph
    from service.pipelines.search import Search
    from service.types.people import Person

_SENTENCE = re.compile(r"[^.!?。！？…]+[.!?。！？…]*[\"'”’)]*")
_BY_MEANING = frozenset({Tool.DENSE, Tool.DENSE_CONTEXT})
_CONFIRMS = frozenset({Tool.PEOPLE, Tool.SOUND})


@dataclass(frozen=True, slots=True)
class AnswerConfig:
    max_citations: int = 3  # what is read out to somebody before they stop listening
    max_told: int = 6  # of what one told another, where that is all that is asked
    min_share: float = 0.5  # of the best sentence's score: what falls below is beside the point
    own_words: float = 1.5  # times the score of what somebody meant said themselves: "my key" is mine where I speak of it
    question_discount: float = 0.5  # a sentence that asks seldom answers
    min_overlap: float = 0.34  # of the question's words: one of two or three; fewer is a coincidence
    sufficient_cosine: Mapping[str, float] = field(default_factory=lambda: {"e5_small_v2_q": 0.85})
    """By embedding space: from here up a hit with fewer words in common answers too. On LoCoMo the best turn of a foreign
    conversation reaches 0.85 for 2 % of the questions, of the right one for 25 %. A model not listed has no such value."""
    attribution: AttributionConfig = field(default_factory=AttributionConfig)


@dataclass(frozen=True, slots=True)
class WhoSaid:
    """Who said something, or to whom it was said, the likeliest first; `result` is what it was looked for in."""

    wants: Wants
    people: tuple[Attributed, ...]
    result: SearchResult


@dataclass(frozen=True, slots=True)
class _Quote:
    hit: Hit
    sentence: str
    score: float


class Answerer:
    """One per process. Nothing it says is beyond the words of messages in the scope it is given."""

    def __init__(
        self, graph: Graph, search: Search, config: AnswerConfig | None = None, *, writer: AnswerWriter | None = None
    ) -> None:
        self._graph = graph
        self._search = search
        self._writer = writer
        self._config = config or AnswerConfig()

    async def __call__(
        self,
        scope: ReadScope | ViewerRefused,
        question: str,
        filters: Filters | None = None,
        *,
        asked_at: datetime | None = None,
        zone: str | None = None,
    ) -> Answer:
        """`not_allowed` for a viewer that was refused, `nothing_found` when nothing in the scope fits (whether there is
        something outside is not said). Raises InvalidInput as Search does, and what the writer raises."""
        if isinstance(scope, ViewerRefused):
            return Answer(AnswerStatus.NOT_ALLOWED, "", scope.reason, ())
        return await self.of(scope, question, await self._search(scope, question, filters, asked_at=asked_at, zone=zone))

    async def who(
        self,
        scope: ReadScope,
        said: str,
        filters: Filters | None = None,
        *,
        asked_at: datetime | None = None,
        zone: str | None = None,
    ) -> WhoSaid:
        """Who said it, in the words of a question ("who told Bo about the trip?") or of what was said ("the trip"); with a
        speaker in the question or in `filters`, to whom. Raises InvalidInput as Search does."""
        filters = filters or Filters()
        result = await self._search(scope, said, filters, asked_at=asked_at, zone=zone)
        meant = result.meant or Meant(said)
        wants = meant.wants or (Wants.ADDRESSEE if filters.speakers else Wants.SPEAKER)
        return WhoSaid(wants, self._attributed(result, replace(meant, wants=wants)), result)

    async def of(self, scope: ReadScope, question: str, result: SearchResult) -> Answer:
        """The answer from what a search has found already."""
        if not result.visible:
            return _nothing(result, "There is nothing here that everybody who hears the answer may know.")
        if self._writer is not None and result.asked is not None and result.hits:
            return await self._written(scope, self._writer, question, result.asked, result)
        return await self._extracted(scope, question, result)

    async def _written(
        self, scope: ReadScope, writer: AnswerWriter, question: str, asked: Asked, result: SearchResult
    ) -> Answer:
        hits = {hit.message.id: hit for hit in result.hits}
        evidence = await self._search.evidence(scope, {id: hit.score for id, hit in hits.items()})
        written = await writer(asked, evidence)
        if not written.text.strip():
            return replace(_nothing(result, "Nothing that you may know of answers this."), by=writer.name)
        if not written.citations or not set(written.citations) <= {one.id for one in evidence}:
            extracted = await self._extracted(scope, question, result)
            return replace(extracted, reason=f"{writer.name} cited what it was not given, and is not heard. {extracted.reason}")
        citations = tuple(hits[id] for id in dict.fromkeys(written.citations))
        reason = f"In the words of {writer.name}, from {len(citations)} of {len(result.hits)} messages found."
        return Answer(AnswerStatus.ANSWERED, written.text.strip(), reason, citations, result.rounds, writer.name)

    async def _extracted(self, scope: ReadScope, question: str, result: SearchResult) -> Answer:
        meant, asked = result.meant, result.asked
        if meant is not None and meant.wants is not None:
            people = self._attributed(result, meant)
            quotes = self._proofs(people[:1], meant)
            found = "Who it was is told by the edges of {n} of {all} messages found."
        elif asked is not None and asked.contentless:
            promised = asked.type is QuestionType.COMMITMENT and not asked.absent
            hits = [hit for hit in result.hits if not promised or UNDERTAKES in dict(hit.because)]
            quotes = tuple(_Quote(hit, (hit.message.text or "").strip(), hit.score) for hit in hits)
            quotes = quotes[: self._config.max_told]
            found = "What was said, by edges and time alone: the newest {n} of {all} messages found."
            if promised:
                found = "What was promised, the surest first: {n} of {all} messages found."
        else:
            quotes = self._quotes(question, result)
            found = "In the words of {n} of {all} messages found."
        if not quotes:
            return _nothing(result, "Nothing that you may know of answers this.")
        told = meant is not None and bool(meant.wants or meant.addressees)
        lines = await self._lines(scope, quotes, told=told)
        return Answer(
            AnswerStatus.ANSWERED,
            "\n".join(lines),
            found.format(n=len(quotes), all=len(result.hits)),
            tuple(quote.hit for quote in quotes),
            result.rounds,
        )

    async def _lines(self, scope: ReadScope, quotes: Sequence[_Quote], *, told: bool) -> list[str]:
        messages = [quote.hit.message for quote in quotes]
        ids = {m.speaker_id for m in messages if m.speaker_id} | {a.person_id for m in messages for a in m.addressees if told}
        people = await self._graph.read(find_people, scope, sorted(ids))
        lines = []
        for quote in quotes:
            to = [_called(a.person_id, people, scope, "you") for a in quote.hit.message.addressees] if told else []
            named = sorted({name for name in to if name})
            whom = f" to {' and '.join(named)}" if named else ""
            lines.append(f"{_who(quote.hit, people, scope)}{whom}, {_when(quote.hit)}: “{quote.sentence}”")
        return lines

    def _attributed(self, result: SearchResult, meant: Meant) -> tuple[Attributed, ...]:
        assert meant.wants is not None
        return attributed(
            result.hits, meant.subject, meant.wants,
            speakers=meant.speakers, addressees=meant.addressees, verbs=meant.verbs, named=meant.people,
            config=self._config.attribution,
        )  # fmt: skip

    def _proofs(self, people: Sequence[Attributed], meant: Meant) -> tuple[_Quote, ...]:
        """Of what the likeliest said, that which fits the question; none when nothing does, for nobody is named by chance."""
        asked = content_words(meant.subject)
        found = [self._quote(hit, asked) for one in people for hit in one.hits]
        return tuple(quote for quote in found if quote is not None)[: self._config.max_citations]

    def _quotes(self, question: str, result: SearchResult) -> tuple[_Quote, ...]:
        """One sentence of each message that fits, best first; where the question says who told whom, or how it sounded, of what
        the edges confirm or what sounds so, if that fits at all."""
        asked = content_words(result.meant.subject if result.meant and result.meant.subject else question)
        meant = result.meant.people if result.meant else ()
        quotes = [quote for hit in result.hits if (quote := self._quote(hit, asked, meant)) is not None]
        confirmed = [quote for quote in quotes if any(found.tool in _CONFIRMS for found in quote.hit.found)]
        quotes = sorted(confirmed or quotes, key=lambda quote: -quote.score)
        floor = quotes[0].score * self._config.min_share if quotes else 0.0
        return tuple(quote for quote in quotes[: self._config.max_citations] if quote.score >= floor)

    def _quote(self, hit: Hit, asked: frozenset[str], meant: Collection[str] = ()) -> _Quote | None:
        """The sentence of `hit` that shares most with the question; None when the hit does not answer at all."""
        sentences = sentences_of(hit.message.text or "")
        shared = [len(asked & content_words(sentence)) / max(1, len(asked)) for sentence in sentences]
        heard = any(found.tool is Tool.SOUND for found in hit.found)
        if not sentences or not (heard or max(shared) >= self._config.min_overlap or self._is_near(hit)):
            return None
        best = max(range(len(sentences)), key=lambda i: (shared[i] * self._weight(sentences[i]), len(sentences[i])))
        own = self._config.own_words if hit.message.speaker_id in meant else 1.0
        return _Quote(hit, sentences[best], (hit.score + shared[best]) * self._weight(sentences[best]) * own)

    def _is_near(self, hit: Hit) -> bool:
        enough = self._config.sufficient_cosine.get(self._search.text_space)
        cosines = [found.score for found in hit.found if found.tool in _BY_MEANING]
        return enough is not None and any(cosine >= enough for cosine in cosines)

    def _weight(self, sentence: str) -> float:
        return self._config.question_discount if sentence.rstrip("\"'”’)").endswith(("?", "？")) else 1.0


def sentences_of(text: str) -> tuple[str, ...]:
    return tuple(sentence.strip() for sentence in _SENTENCE.findall(text) if sentence.strip())


def _nothing(result: SearchResult, reason: str) -> Answer:
    return Answer(AnswerStatus.NOTHING_FOUND, "", reason, (), result.rounds)


def _who(hit: Hit, people: Mapping[str, Person], scope: ReadScope) -> str:
    speaker = hit.message.speaker_id
    if speaker is None:
        return "Somebody not recognised"
    return _called(speaker, people, scope, "You") or "Somebody without a name"


def _called(person: str, people: Mapping[str, Person], scope: ReadScope, asker: str) -> str | None:
    if person in scope.asker:
        return asker
    return people[person].display_name if person in people else None


def _when(hit: Hit) -> str:
    return f"{hit.message.said_at.day} {hit.message.said_at:%B %Y}"
