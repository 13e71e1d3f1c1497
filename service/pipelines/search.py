"""Which visible messages answer a question best? A plan, at most three rounds, and the best shown with why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from service.errors import InvalidInput, VoicegraphError
from service.graph.candidates import list_alike
from service.graph.directed import list_directed, list_of_kind, list_replies
from service.graph.messages import count_messages, find_messages, find_reasons
from service.graph.people import find_people
from service.graph.search import full_text
from service.pipelines.found_before import FoundBefore
from service.pipelines.image_leg import ImagesWhenWanted, look_at_images, only_images
from service.pipelines.named import people_named_in
from service.pipelines.one_round import Memory, OneRound, said_in
from service.pipelines.sound_leg import listen_for
from service.retrieval.lucene import escaped
from service.retrieval.newer import NewerConfig, asks_what_holds, newest_above
from service.retrieval.plan import EVER, NEVER, Plan, linking_terms, narrowing, plan
from service.retrieval.policy import Rules
from service.retrieval.presentation import PresentationConfig, present
from service.retrieval.ranking import Pool
from service.retrieval.rounds import Gathered, RoundsConfig, by_edges_alone, with_edges
from service.retrieval.undertakings import undertaken
from service.types.audio import TextEmbedder
from service.types.candidates import Place, Words
from service.types.facts import FactKind
from service.types.search import (
    Asked,
    Done,
    Enough,
    Evidence,
    Filters,
    Hit,
    Layer,
    Meant,
    QuestionType,
    Ranking,
    RetrievalPolicy,
    Round,
    SearchResult,
    Step,
    Tool,
    layers_of,
)

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph, Tx


class PolicyStrayed(VoicegraphError):
    code = "policy_strayed"
    says = "The retrieval policy {policy!r} went on from evidence that it was not given."
    http_status = 500


@dataclass(frozen=True, slots=True)
class SearchPipelineConfig:
    max_question: int = 2_000  # characters; a question, not a document
    max_rounds: int = 3  # as VoxPolyMem; whatever a policy wants
    years: tuple[int, int] = (1900, 2200)  # in which a question is asked; further out there is no room for "a century ago"
    directed: int = 200  # messages listed by edges alone: more than a question about them shows
    linked: int = 3  # best hits whose links are followed
    links: int = 20  # messages by each name or number that links
    read: int = 15  # hits that a policy sees after a round
    rounds: RoundsConfig = field(default_factory=RoundsConfig)
    newer: NewerConfig = field(default_factory=NewerConfig)
    presentation: PresentationConfig = field(default_factory=PresentationConfig)


@dataclass(frozen=True, slots=True)
class Searched:
    """All that the rounds found, best first, before anything is left out."""

    asked: Asked
    planned: Plan
    gathered: Gathered
    rounds: tuple[Round, ...]
    visible: int

    @property
    def legs(self) -> tuple[str, ...]:
        return tuple(leg for made in self.rounds for leg in made.legs)


class Search:
    """One per process; every call reads with the scope it is given and nothing else."""

    def __init__(
        self,
        graph: Graph,
        embedder: TextEmbedder,
        config: SearchPipelineConfig | None = None,
        *,
        policy: RetrievalPolicy | None = None,
        one_round: OneRound | None = None,
        images: ImagesWhenWanted | None = None,
        found_before: FoundBefore | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._graph = graph
        self._embedder = embedder
        self._round = one_round or OneRound(graph, embedder, found_before=found_before)
        self._images = images
        self._found_before = found_before
        self._policy = policy or Rules()
        self._clock = clock
        self.config = config or SearchPipelineConfig()

    @property
    def text_space(self) -> str:
        """Name of the embedding space asked."""
        return self._embedder.embedding_space.name

    async def __call__(
        self,
        scope: ReadScope,
        question: str,
        filters: Filters | None = None,
        first: int | None = None,
        *,
        asked_at: datetime | None = None,
        zone: str | None = None,
    ) -> SearchResult:
        """At most `first` (and max_hits) visible messages, best first. `asked_at` (now) and `zone` (UTC) tell what yesterday
        means. Raises InvalidInput for an empty question, one that is too long, and a negative `first`; anything may stand in
        the question."""
        if first is not None and first < 0:
            raise InvalidInput(what="`first`", given=first, needed="0 or more")
        return await self.shown(scope, await self.gather(scope, question, filters, asked_at=asked_at, zone=zone), first)

    async def shown(self, scope: ReadScope, found: Searched, first: int | None = None) -> SearchResult:
        """The best of what was gathered before, as `scope` holds it now."""
        hits = await self._shown(scope, found, first)
        planned = found.planned
        meant = Meant(
            planned.subject or planned.words, planned.people, planned.speakers, planned.addressees, planned.wants, planned.verbs
        )
        return SearchResult(hits, found.visible, found.legs, found.rounds, found.asked, meant)

    async def gather(
        self,
        scope: ReadScope,
        question: str,
        filters: Filters | None = None,
        *,
        asked_at: datetime | None = None,
        zone: str | None = None,
    ) -> Searched:
        """Every candidate of every round; what is shown of it is `__call__`'s."""
        question, filters = checked(question, self.config.max_question), filters or Filters()
        moment = self._moment(asked_at)
        planned, names = await self._graph.read(_plan, scope, question, moment, zone)
        asked = await self._asked(scope, question, moment, planned, names)
        so_far = _SoFar()
        while len(so_far.done) < self.config.max_rounds:
            step = await self._policy(asked, so_far.done)
            if isinstance(step, Enough):
                so_far = so_far.enough(step.why)
                break
            if not set(step.extend) <= {one.id for done in so_far.done for one in done.evidence}:
                raise PolicyStrayed(policy=self._policy.name)
            same = step.query == question
            aim = planned if same else (await self._graph.read(_plan, scope, step.query, moment, zone))[0]
            pool = await self._pool(scope, question, aim, filters, step, so_far)
            gathered = so_far.gathered.and_then(len(so_far.done) + 1, pool.candidates, same_question=same)
            so_far = so_far.and_then(step, pool, gathered, await self._evidence(scope, gathered))
        else:
            so_far = so_far.ended(f"no more than {self.config.max_rounds} rounds are made")
        return Searched(asked, planned, so_far.gathered, so_far.rounds, so_far.visible)

    async def _pool(self, scope: ReadScope, question: str, aim: Plan, filters: Filters, step: Step, so_far: _SoFar) -> Pool:
        """One round, with what images and sounds found where these were asked for."""
        pictured = await look_at_images(self._images, scope, step.query, filters)
        if only_images(filters.layers):
            return pictured.alone(await self._graph.read(count_messages, scope))
        aim, heard = await listen_for(self._graph, scope, aim, step.query, filters, self._clock())
        linked, _ = await asyncio.gather(
            self._beside(scope, question, step, so_far, filters),
            self._round.ahead(scope, aim, filters, step.extend, so_far.memory),
        )
        also = linked | dict.fromkeys(pictured.places, Tool.IMAGE)
        also |= dict.fromkeys(heard.places, Tool.SOUND)
        pool = await self._look(scope, aim, filters, step, also, so_far, step.query == question)
        if self._found_before is not None:
            pool = replace(pool, candidates=self._found_before.held(pool.candidates, pool.earlier))
        return _of_layers(pictured.joined(await heard.joined(self._graph, scope, pool)), filters.layers)

    def _moment(self, asked_at: datetime | None) -> datetime:
        first, last = self.config.years
        if asked_at is not None and not first <= asked_at.year <= last:
            raise InvalidInput(what="the time of asking", given=asked_at.year, needed=f"a year from {first} to {last}")
        return asked_at or self._clock()

    async def _beside(self, scope: ReadScope, question: str, step: Step, so_far: _SoFar, filters: Filters) -> dict[Place, Tool]:
        """Where something stands that the best so far is linked with: by replies, or by names and numbers that both have."""
        best = [one.id for one in so_far.gathered.candidates[: self.config.linked]] if step.expand else []
        by_words, by_reply = await asyncio.gather(
            self._linked(scope, question, best if Tool.ENTITIES in step.expand else (), so_far.memory, filters),
            self._graph.read(list_replies, scope, best) if best and Tool.REPLIES in step.expand else _nothing(),
        )
        found = dict.fromkeys((place for words in by_words for place in words), Tool.ENTITIES)
        return found | dict.fromkeys(by_reply, Tool.REPLIES)

    async def _linked(
        self, scope: ReadScope, question: str, ids: Sequence[str], memory: Memory, filters: Filters
    ) -> Sequence[Words]:
        """What has a name or a number of one of `ids`, for each of these."""
        terms = linking_terms(await said_in(self._graph, scope, ids, memory), question)
        if not terms:
            return ()
        return await self._graph.read(full_text, scope, [escaped(term) for term in terms], filters, self.config.links)

    async def _look(
        self,
        scope: ReadScope,
        planned: Plan,
        filters: Filters,
        step: Step,
        also: Mapping[Place, Tool],
        so_far: _SoFar,
        again: bool,
    ) -> Pool:
        """One round: by words and meaning; where the edges say more, among what they let through, too; by them alone where
        the question has no words of what was said."""
        narrowed = narrowing(planned, filters) if step.narrow else None
        if narrowed is None:
            return await self._round(scope, planned, filters, step.extend, also, again=again, memory=so_far.memory)
        if planned.by_edges:
            listed = await self._listed(scope, narrowed, planned)
            if planned.type is QuestionType.COMMITMENT and not planned.absent:
                return await self._graph.read(self._promised, scope, narrowed, listed)
            return Pool(by_edges_alone(listed), await self._graph.read(count_messages, scope), (f"people:{len(listed)}",))
        wide, among, away = await asyncio.gather(
            self._round(scope, planned, filters, step.extend, also, again=again, memory=so_far.memory),
            self._round(scope, planned, narrowed, step.extend, memory=so_far.memory),
            self._listed(scope, narrowed, planned) if planned.absent else _nothing(),
        )
        away_ids = {ranked.id for ranked in away}
        confirmed = [one for one in among.candidates if not planned.absent or one.id in away_ids]
        ranked = with_edges(wide.candidates, confirmed, self.config.rounds)
        return Pool(ranked, wide.visible, (*wide.legs, f"people:{len(confirmed)}"), wide.earlier)

    async def _listed(self, scope: ReadScope, narrowed: Filters, planned: Plan) -> Ranking:
        return await self._graph.read(list_directed, scope, narrowed, self.config.directed, away=planned.absent)

    async def _promised(self, tx: Tx, scope: ReadScope, narrowed: Filters, listed: Ranking) -> Pool:
        """What was promised goes first of what was said: by facts, of all times, and by its words, among what is listed."""
        kept = await list_of_kind(tx, scope, narrowed, (FactKind.COMMITMENT,), self.config.directed)
        messages = await find_messages(tx, scope, list(dict.fromkeys((*kept, *(one.id for one in listed)))))
        found = undertaken(listed, kept, messages, narrowed.addressees)
        return Pool(found, await count_messages(tx, scope), (f"people:{len(listed)}", f"fact_kind:{len(kept)}"))

    async def _asked(
        self, scope: ReadScope, question: str, moment: datetime, planned: Plan, names: Mapping[str, Sequence[str]]
    ) -> Asked:
        """What a policy and a writer are told of the question, people by name."""
        known = {id: called[0] for id, called in names.items() if called}
        unnamed = [id for id in (*scope.asker[:1], *planned.people) if id not in known]
        if unnamed and not isinstance(self._policy, Rules):
            people = await self._graph.read(find_people, scope, unnamed)
            known |= {id: person.display_name for id, person in people.items() if person.display_name}

        def called(ids: Sequence[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(known[id] for id in ids if id in known))

        roles = {*planned.speakers, *planned.addressees}
        return Asked(
            question,
            planned.type,
            moment,
            asker=next(iter(called(scope.asker)), None),
            speakers=called(planned.speakers),
            addressees=called(planned.addressees),
            others=called([id for id in planned.people if id not in roles]),
            windows=tuple((_closed(time.start), _closed(time.end)) for time in planned.windows),
            parts=planned.parts,
            absent=planned.absent,
            directed=planned.directed,
            contentless=planned.by_edges,
        )

    async def _evidence(self, scope: ReadScope, gathered: Gathered) -> tuple[Evidence, ...]:
        """The best so far, as the policy reads them; rules look at scores only, and are spared the reading."""
        best = gathered.candidates[: self.config.read]
        if isinstance(self._policy, Rules):
            return tuple(Evidence(one.id, None, (), _UNREAD, "", one.score) for one in best)
        return await self.evidence(scope, {one.id: one.score for one in best})

    async def evidence(self, scope: ReadScope, scores: Mapping[str, float]) -> tuple[Evidence, ...]:
        """Visible messages by id, in the order of `scores`, with names as who hears the answer may know them."""
        messages = await self._graph.read(find_messages, scope, list(scores))
        ids = {id for m in messages.values() for id in (m.speaker_id, *(to.person_id for to in m.addressees)) if id}
        people = await self._graph.read(find_people, scope, sorted(ids))
        called = {id: person.display_name for id, person in people.items() if person.display_name}
        return tuple(
            Evidence(
                id,
                called.get(messages[id].speaker_id or ""),
                tuple(called[to.person_id] for to in messages[id].addressees if to.person_id in called),
                messages[id].said_at,
                messages[id].text or "",
                score,
            )
            for id, score in scores.items()
            if id in messages
        )

    async def _shown(self, scope: ReadScope, found: Searched, first: int | None) -> tuple[Hit, ...]:
        gathered, planned, config = found.gathered, found.planned, self.config
        best = gathered.candidates[: config.presentation.max_hits]
        wanted = [candidate.id for candidate in best]
        messages, reasons = await asyncio.gather(
            self._graph.read(find_messages, scope, wanted), self._graph.read(find_reasons, scope, wanted)
        )
        least = config.newer.alike.get(self.text_space)
        plain = not (planned.directed or planned.by_edges or planned.type is QuestionType.OPEN)
        if least is not None and plain and asks_what_holds(found.asked.question):
            alike = await self._graph.read(list_alike, scope, self.text_space, wanted, least)
            best = newest_above(best, {id: message.said_at for id, message in messages.items()}, alike, config.newer)
        return present(best, messages, reasons, gathered.since, first, config.presentation)


_UNREAD = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _SoFar:
    gathered: Gathered = field(default_factory=Gathered)
    done: tuple[Done, ...] = ()
    rounds: tuple[Round, ...] = ()
    shown: frozenset[str] = frozenset()
    visible: int = 0
    memory: Memory = field(default_factory=Memory)

    def and_then(self, step: Step, pool: Pool, gathered: Gathered, evidence: tuple[Evidence, ...]) -> _SoFar:
        now = frozenset(one.id for one in evidence)
        made = Round(len(self.rounds) + 1, step.query, step.why, pool.legs, len(now - self.shown), sufficient=False)
        return _SoFar(
            gathered, (*self.done, Done(step, evidence)), (*self.rounds, made), self.shown | now, pool.visible, self.memory
        )

    def enough(self, why: str) -> _SoFar:
        """The policy wanted no further round: what was there after the last one was enough, as far as it can tell."""
        rounds = (*self.rounds[:-1], *(replace(last, sufficient=True) for last in self.rounds[-1:]))
        return replace(self, rounds=rounds).ended(why)

    def ended(self, why: str) -> _SoFar:
        return replace(self, rounds=(*self.rounds[:-1], *(replace(last, ended=why) for last in self.rounds[-1:])))


def _of_layers(pool: Pool, layers: Sequence[Layer]) -> Pool:
    """What one of `layers` found; all of it where none is asked for. What profiles tell are facts, and were read as such."""
    wanted = {Layer.FACTS if layer is Layer.PROFILES else layer for layer in layers}
    if not wanted:
        return pool
    return replace(pool, candidates=tuple(one for one in pool.candidates if wanted & set(layers_of(one.found))))


def _closed(time: datetime) -> datetime | None:
    return None if time in (NEVER, EVER) else time


async def _nothing() -> tuple[()]:
    return ()


async def _plan(
    tx: Tx, scope: ReadScope, question: str, asked_at: datetime, zone: str | None
) -> tuple[Plan, dict[str, tuple[str, ...]]]:
    names = await people_named_in(tx, scope, question)
    hearers = [id for ids in scope.hearers for id in ids if id not in scope.asker]
    return plan(question, names, scope.asker, hearers=hearers, asked_at=asked_at, zone=zone), names


def checked(question: str, max_question: int) -> str:
    """The question without blanks around it, half a surrogate pair replaced: JSON can hold one, a tokeniser and Neo4j cannot.

    Raises InvalidInput when nothing is left, or too much."""
    question = question.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    if not question:
        raise InvalidInput(what="the question", given="empty", needed="some words")
    if len(question) > max_question:
        raise InvalidInput(what="the question", given=f"{len(question)} characters", needed=f"at most {max_question}")
    return question
