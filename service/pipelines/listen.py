"""What comes of a voice that is still speaking? Its sound goes through the streaming machine; what the machine asks for is done
by the product's own recogniser, voices, gate and search, and what it lets through is told.

Whoever asks is judged anew for every utterance, and once more before anything is told: token, voice and who else listens.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

import numpy as np

from service.audio.vad import FRAME_SECONDS, SpeechDetector
from service.errors import VoicegraphError
from service.graph.access import read_scope
from service.graph.entities import find_named_entities
from service.graph.people import find_people
from service.graph.search import full_text
from service.memory.left_brain.mentions import MentionConfig
from service.pipelines.desk import Front
from service.pipelines.named import people_named_in
from service.pipelines.recall import recalled
from service.pipelines.viewer import HeardVoice, Refusal, ViewerRefused
from service.retrieval.lucene import escaped
from service.retrieval.plan import content_words
from service.streaming.machine import MachineConfig, State, step
from service.streaming.prompt import MemoryPrompt, PromptConfig, memory_prompt
from service.streaming.told import (
    MemoryReady,
    NotAnswered,
    Shown,
    ShownLater,
    SpeakerHeard,
    StageEntered,
    TermsMatched,
    Timing,
    Told,
    WordsHeard,
)
from service.streaming.words import phrases_of, words_of
from service.streaming.work import (
    Action,
    Ask,
    Deliver,
    Enter,
    Event,
    Eyes,
    HasRead,
    Identified,
    Identify,
    Look,
    Looked,
    Match,
    Matched,
    PutOff,
    Read,
    Refuse,
    Sound,
    Stale,
    Transcribe,
    Transcribed,
)
from service.types.audio import SAMPLE_RATE, Samples, Waveform
from service.types.entities import NamedEntity
from service.types.people import Assurance, Viewer
from service.types.search import Filters

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Graph, Tx
    from service.pipelines.search import Search, Searched


@dataclass(frozen=True, slots=True)
class ListenConfig:
    before: float = 0.2  # seconds of sound before the first speech that is heard with it: the detector is late by some
    held: float = 40.0  # seconds of sound in memory; the recogniser hears 28 at most
    shown: int = 15  # hits that may go into the memory: as VoxPolyMem
    max_terms: int = 8  # the last said, matched while they are being said; and so many entities at most
    max_question: int = 1_000  # characters, the last said; 28 seconds of talk are some 500
    machine: MachineConfig = field(default_factory=MachineConfig)
    prompt: PromptConfig = field(default_factory=PromptConfig)


class Unheard(Enum):
    NOT_LOOKED_AT = auto()
    """Who asks here is told by their token alone."""
    PUT_OFF = auto()


class Asker(Protocol):
    """Who asks on this stream, as the service's front knows it."""

    async def voice(self, waveform: Waveform, *, urgent: bool) -> HeardVoice | Unheard:
        """The one voice in an utterance; only what is not `urgent` may be put off. Raises VoicegraphError (422) for several
        voices, or none that can be told."""
        ...

    async def resolve(self, voice: HeardVoice | None) -> Viewer | ViewerRefused:
        """Raises VoicegraphError when the caller's leave has ended."""
        ...


Transcriber = Callable[[Waveform, bool], Awaitable[str | None]]
"""An utterance, and whether it has ended, to its words; None: put off, of one that has not ended."""


@dataclass(frozen=True, slots=True)
class _Sight:
    """Who was found to ask, and what they may see."""

    viewer: Viewer
    scope: ReadScope


@dataclass(slots=True)
class _Work:
    """When one piece of work began and ended, seconds of the clock."""

    kind: type
    began: float
    ended: float


class Listener:
    """One a stream. `tell` is called with everything that is told, in order; it does not wait. Work runs in `tasks`: what goes
    wrong there ends the group, and so the stream."""

    def __init__(
        self,
        graph: Graph,
        search: Search,
        *,
        front: Front,
        detector: SpeechDetector,
        transcribe: Transcriber,
        asker: Asker,
        tell: Callable[[Told], None],
        tasks: asyncio.TaskGroup,
        zone: str | None = None,
        config: ListenConfig | None = None,
    ) -> None:
        self._graph, self._search, self._front = graph, search, front
        self._detector, self._transcribe = detector, transcribe
        self._asker, self._tell, self._tasks, self._zone = asker, tell, tasks, zone
        self._config = config or ListenConfig()
        self._state = State(config=self._config.machine)
        self._sound = np.zeros(0, np.float32)
        self._dropped = 0
        self._frames = 0
        self._spoke = self._now()
        self._resting = asyncio.Event()
        self._resting.set()
        self._forget()

    @property
    def at_rest(self) -> bool:
        """Nothing is said and no work is out."""
        return self._state.at_rest

    @property
    def heard(self) -> float:
        """Seconds of sound so far."""
        return self._frames * FRAME_SECONDS

    async def hear(self, samples: Samples) -> None:
        """The next sound, of any length, as it comes."""
        came = self._now()
        self._sound = np.concatenate([self._sound, samples])
        for speaking in await asyncio.to_thread(self._detector, samples):
            self._frames += 1
            if speaking:
                self._spoke = came
            self._take(Sound(self.heard, speaking))
        self._let_go()

    async def rest(self) -> None:
        """Until all that was said is answered; nothing is said meanwhile."""
        frame = np.zeros(round(FRAME_SECONDS * SAMPLE_RATE), np.float32)
        while not self._state.at_rest:
            if self._state.silence < 2 * self._config.machine.search:
                await self.hear(frame)
            else:
                self._resting.clear()
                await self._resting.wait()

    # ---- the machine

    def _take(self, event: Event) -> None:
        before = self._state.utterance
        self._state, actions = step(self._state, event)
        if self._state.utterance != before:
            self._forget()
        for action in actions:
            self._do(action)
        self._resting.set()

    def _forget(self) -> None:
        """What was known of the utterance before."""
        self._voice: HeardVoice | None = None
        self._sights: dict[Eyes, _Sight] = {}
        self._found: dict[Ask, Searched] = {}
        self._memories: dict[Ask, MemoryPrompt] = {}
        self._refused: ViewerRefused | None = None
        self._works: list[_Work] = []
        self._later: set[Shown] = set()

    def _do(self, action: Action) -> None:
        match action:
            case Enter(stage):
                self._tell(StageEntered(self.heard, self._state.utterance, stage))
            case Deliver(ask):
                self._tell(MemoryReady(self.heard, ask.utterance, ask.text, self._memories[ask], self._timing()))
            case Refuse(utterance):
                refused = self._refused
                if refused is not None:
                    self._tell(NotAnswered(self.heard, utterance, refused.code.value, refused.reason))
            case Transcribe():
                self._start(action, self._transcribed(action))
            case Identify():
                self._start(action, self._identified(action))
            case Match():
                self._start(action, self._matched(action))
            case Look():
                self._start(action, self._looked(action))
            case Read():
                self._start(action, self._read(action))

    def _start(self, action: Action, work: Awaitable[Event]) -> None:
        self._tasks.create_task(self._done(type(action), self._state.utterance, work))

    async def _done(self, kind: type, utterance: int, work: Awaitable[Event]) -> None:
        began = self._now()
        event = await work
        if isinstance(event, PutOff):
            self._shown_later(event)
        elif utterance == self._state.utterance:
            self._works.append(_Work(kind, began, self._now()))
        self._take(event)

    def _shown_later(self, event: PutOff) -> None:
        what = _SHOWN[type(event.work)]
        if what not in self._later:
            self._later.add(what)
            self._tell(ShownLater(self.heard, self._state.utterance, what))

    # ---- its work

    async def _transcribed(self, work: Transcribe) -> Event:
        text = await self._transcribe(self._between(work.begin, work.through), work.whole)
        if text is None:
            return PutOff(work)
        if work.utterance == self._state.utterance:
            self._tell(WordsHeard(self.heard, work.utterance, text, work.whole))
        return Transcribed(work, text[-self._config.max_question :])

    async def _identified(self, work: Identify) -> Event:
        try:
            heard = await self._asker.voice(self._between(work.begin, work.through), urgent=work.whole)
        except VoicegraphError as error:
            if error.http_status != UNUSABLE:
                raise
            self._turned_away(work.utterance, ViewerRefused(Refusal.VOICE_INCONCLUSIVE, error.message))
            return Identified(work, None)
        if heard is Unheard.PUT_OFF:
            return PutOff(work)
        voice = heard if isinstance(heard, HeardVoice) else None
        eyes = await self._see(work.utterance, voice)
        if voice is not None and work.utterance == self._state.utterance:
            self._voice = voice
            self._tell(await self._speaker(work.utterance, eyes))
        return Identified(work, eyes)

    async def _see(self, utterance: int, voice: HeardVoice | None) -> Eyes | None:
        """Whose eyes `voice` leaves as things stand now; None: nobody's."""
        viewer = await self._asker.resolve(voice)
        if isinstance(viewer, ViewerRefused):
            self._turned_away(utterance, viewer)
            return None
        scope = await self._graph.read(read_scope, viewer)
        eyes = Eyes(viewer.asker, fingerprint(scope))
        if utterance == self._state.utterance:
            self._sights[eyes] = _Sight(viewer, scope)
        return eyes

    def _turned_away(self, utterance: int, refused: ViewerRefused) -> None:
        if utterance == self._state.utterance:
            self._refused = refused

    async def _speaker(self, utterance: int, eyes: Eyes | None) -> SpeakerHeard:
        """Who speaks, if the asker may know them."""
        sight = self._sights.get(eyes) if eyes else None
        if sight is None or sight.viewer.asker is None or sight.viewer.assurance is not Assurance.TOKEN_AND_VOICE:
            return SpeakerHeard(self.heard, utterance, None, None, False)
        known = await self._graph.read(find_people, sight.scope, [sight.viewer.asker])
        person = known.get(sight.viewer.asker)
        if person is None:
            return SpeakerHeard(self.heard, utterance, None, None, True)
        return SpeakerHeard(self.heard, utterance, person.id, person.display_name, True)

    async def _matched(self, work: Match) -> Event:
        if self._front.crowded:
            return PutOff(work)
        if (sight := self._sights.get(work.ask.eyes)) is not None:
            matched = await self._graph.read(_match, sight.scope, work.ask.text, self._config.max_terms)
            if work.ask.utterance == self._state.utterance and any(matched):
                self._tell(TermsMatched(self.heard, work.ask.utterance, *matched))
        return Matched(work)

    async def _looked(self, work: Look) -> Event:
        async with self._front.looks.turn(urgent=True):
            sight, expected = self._sights.get(work.ask.eyes), self._state.expected
            if sight is None or expected is None or not work.ask.serves(expected):
                return Stale(work)
            found = await self._search.gather(sight.scope, work.ask.text, asked_at=datetime.now(UTC), zone=self._zone)
            if work.ask.utterance == self._state.utterance:
                self._found[work.ask] = found
        return Looked(work)

    async def _read(self, work: Read) -> Event:
        """With the eyes as they are now: whose token or consent ended meanwhile, or who may see less, is told no more."""
        eyes = await self._see(work.ask.utterance, self._voice)
        found, sight = self._found.get(work.ask), self._sights.get(work.ask.eyes)
        if eyes == work.ask.eyes and found is not None and sight is not None:
            result = await self._search.shown(sight.scope, found, self._config.shown)
            self._memories[work.ask] = memory_prompt(
                await self._graph.read(recalled, sight.scope, result.hits, datetime.now(UTC)), self._config.prompt
            )
        return HasRead(work, eyes)

    # ---- sound and time

    def _between(self, begin: float, end: float) -> Waveform:
        """The stream's sound, with some before it; what is not held any more is left out."""
        held = Waveform(self._sound, self._dropped / SAMPLE_RATE)
        first = max(0, round((begin - self._config.before - held.start) * SAMPLE_RATE))
        last = max(first, round((end - held.start) * SAMPLE_RATE))
        return Waveform(self._sound[first:last].copy(), held.start + first / SAMPLE_RATE)

    def _let_go(self) -> None:
        """Sound that nobody will ask for: beyond what is held, and before an utterance."""
        keep = self._config.held if self._state.begin is not None else 2 * self._config.before
        excess = len(self._sound) - round(keep * SAMPLE_RATE)
        if excess > SAMPLE_RATE:  # a second at a time, not each frame
            self._sound, self._dropped = self._sound[excess:].copy(), self._dropped + excess

    def _timing(self) -> Timing:
        end, mark = self._spoke, self._spoke + self._config.machine.search
        last = {work.kind: work.ended for work in self._works}
        all_of_it = sum(work.ended - work.began for work in self._works)
        early = sum(max(0.0, min(work.ended, mark) - work.began) for work in self._works)
        transcribed, found = (1_000 * (last.get(kind, end) - end) for kind in (Transcribe, Look))
        ready = 1_000 * (self._now() - end)
        return Timing(round(transcribed, 1), round(found, 1), round(ready, 1), early / all_of_it if all_of_it else 1.0)

    @staticmethod
    def _now() -> float:
        return time.perf_counter()


_SHOWN = {Transcribe: Shown.WORDS, Identify: Shown.VOICE, Match: Shown.MATCHES}

UNUSABLE = 422
"""http_status of errors about sound in which nobody can be told."""


def fingerprint(scope: ReadScope) -> str:
    """Equal for scopes that see the same."""
    seen = (
        scope.space, scope.asker, scope.own, scope.hearers, scope.themselves, scope.public_only, scope.reads_all,
        tuple(sorted(scope.audiences)),
    )  # fmt: skip
    return hashlib.sha256(repr(seen).encode()).hexdigest()


async def _match(
    tx: Tx, scope: ReadScope, text: str, max_terms: int
) -> tuple[tuple[tuple[str, str], ...], tuple[NamedEntity, ...], tuple[str, ...]]:
    """People and entities that `text` names, and its words that visible messages have."""
    named = await people_named_in(tx, scope, text)
    people = tuple((id, names[0]) for id, names in named.items() if names)
    taken = {part for names in named.values() for name in names for part in words_of(name)}
    terms = [word for word in dict.fromkeys(words_of(text)) if content_words(word) and word not in taken][-max_terms:]
    queries = {term: query for term in terms if (query := escaped(term))}
    found = await full_text(tx, scope, list(queries.values()), Filters(), 1) if queries else ()
    entities = await find_named_entities(tx, scope, phrases_of(text, MentionConfig().max_words), max_terms)
    return people, entities, tuple(term for term, hits in zip(queries, found, strict=True) if hits)
