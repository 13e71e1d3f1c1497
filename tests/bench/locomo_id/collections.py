"""What is heard and asked in each collection: LoCoMo's turns and questions with voices, recordings and truth.

Two voices: each conversation with three pairs of voices, 30 collections. Four voices: each conversation and its parallel copy
(conflicts.py) in one memory, sessions by date and so mixed. One space: all of these and all real speakers at once, where a
voice is one person whatever names it has. Who speaks is known to the evaluation only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.bench.locomo_id.assign import RECORDINGS, Cast, Supply, four_voices, meetings, recording, two_voices, usable
from tests.bench.locomo_id.conflicts import Conflict, conflicting
from tests.bench.locomo_id.corpus import Conversation, Talk
from tests.bench.locomo_id.questions import asker_of, rewritten
from tests.bench.locomo_id.voices import Bank, Utterance

CLEAN = "clean"
SHIFTED = "shifted"
"""Conditions of the history. Questions are asked clean in both, as in the paper, unless said otherwise."""
PAUSE = 0.5
"""seconds between turns"""

Doc = tuple[str, int, str]
"""(conversation, story, dia_id): a turn's text, the same in all collections that tell it."""


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    start: float
    utterance: Utterance
    shift: str
    doc: Doc | None
    """None: a real speaker, whose words do not matter"""

    @property
    def voice(self) -> str:
        """The truth."""
        return self.utterance.voice

    @property
    def end(self) -> float:
        return self.start + self.utterance.seconds


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A question spoken by somebody."""

    id: str
    utterance: Utterance
    shift: str
    text: str
    """Empty for a real speaker, who asks for everything they said."""
    names: tuple[str, str] | tuple[()]
    """of the two who are known by name"""
    evidence: frozenset[str]
    """ids of turns of the same collection"""
    answer: str
    category: int
    changed: bool = False
    """The other story of the collection has another answer."""

    @property
    def asker(self) -> str:
        return self.utterance.voice


@dataclass(frozen=True, slots=True)
class Collection:
    name: str
    group: str
    """Conversation: collections of one are not independent."""
    sessions: tuple[Session, ...]
    """In order of time."""
    queries: tuple[Query, ...]

    @property
    def turns(self) -> list[Turn]:
        return [turn for session in self.sessions for turn in session.turns]


def two_voice(bank: Bank, conversations: Sequence[Conversation], condition: str, asked: str = CLEAN) -> list[Collection]:
    """The 30 collections; `asked`: shift of the questions, or SHIFTED for one of RECORDINGS each."""
    by_id = {c.id: c for c in conversations}
    casts = two_voices({c.id: c.speakers for c in conversations}, usable(bank))
    return [
        _collection(cast, [by_id[cast.conversation]], Supply(bank, cast.voices.values()), condition, asked) for cast in casts
    ]


def four_voice(bank: Bank, conversations: Sequence[Conversation], condition: str, asked: str = CLEAN) -> list[Collection]:
    """The ten collections of two contradicting stories."""
    told = {c.id: (c, conflicting(c)) for c in conversations}
    casts = four_voices({c.id: c.speakers for c in conversations}, usable(bank))
    return [_collection(cast, told[cast.conversation], Supply(bank, cast.voices.values()), condition, asked) for cast in casts]


def one_space(bank: Bank, conversations: Sequence[Conversation], condition: str, asked: str = CLEAN) -> Collection:
    """All collections of two and of four voices, and all real speakers, one after the other by date.

    One supply for all: what a voice asks with, it never said in any of them."""
    speakers = {c.id: c.speakers for c in conversations}
    told = {c.id: (c, conflicting(c)) for c in conversations}
    supply = Supply(bank, usable(bank))
    parts = []
    for cast in [*two_voices(speakers, usable(bank)), *four_voices(speakers, usable(bank))]:
        stories = told[cast.conversation] if cast.name.endswith("/four") else told[cast.conversation][:1]
        parts.append(_collection(cast, stories, supply, condition, asked))
    real = _real(bank, condition, min(s.at for p in parts for s in p.sessions))
    everything = [*parts, real]
    sessions = sorted((s for part in everything for s in part.sessions), key=lambda s: (s.at, s.id))
    return Collection("one_space", "one_space", tuple(sessions), tuple(q for part in everything for q in part.queries))


def _collection(
    cast: Cast, stories: Sequence[Conversation | Conflict], supply: Supply, condition: str, asked: str
) -> Collection:
    sessions: list[Session] = []
    queries: list[Query] = []
    changed = next((s.changed for s in stories if isinstance(s, Conflict)), frozenset[int]())
    for story, told in enumerate(stories):
        conversation = told.copy if isinstance(told, Conflict) else told
        voices = {name: cast.voices[story, name] for name in conversation.speakers}
        sessions += [_session(cast, story, talk, voices, supply, condition) for talk in conversation.sessions]
        queries += _queries(cast, story, conversation, voices, supply, changed, asked)
    return Collection(cast.name, cast.conversation, tuple(sorted(sessions, key=lambda s: (s.at, s.id))), tuple(queries))


def _session(cast: Cast, story: int, talk: Talk, voices: dict[str, str], supply: Supply, condition: str) -> Session:
    name = f"{cast.name}/{story}/{talk.number}"
    turns = []
    start = 0.0
    for said in talk.turns:
        voice = voices[said.speaker]
        shift = CLEAN if condition == CLEAN else recording(cast.name, name, voice, RECORDINGS)
        turn = Turn(
            f"{cast.name}/{story}/{said.dia_id}",
            start,
            supply.said(voice, shift),
            shift,
            (cast.conversation, story, said.dia_id),
        )
        turns.append(turn)
        start = turn.end + PAUSE
    return Session(name, talk.at, tuple(turns))


def _queries(
    cast: Cast,
    story: int,
    conversation: Conversation,
    voices: dict[str, str],
    supply: Supply,
    changed: frozenset[int],
    asked: str,
) -> Iterable[Query]:
    speaker_of = {dia_id: said.speaker for dia_id, said in conversation.turns.items()}
    for number, question in enumerate(conversation.questions):
        mine = rewritten(question, conversation.speakers)
        voice = voices[asker_of(mine, question, speaker_of, conversation.speakers)]
        name = f"{cast.name}/{story}/q{number}"
        shift = recording(cast.name, name, voice, RECORDINGS) if asked == SHIFTED else asked
        yield Query(
            name,
            supply.asked(voice, shift),
            shift,
            mine.text,
            conversation.speakers,
            frozenset(f"{cast.name}/{story}/{dia_id}" for dia_id in question.evidence),
            question.answer,
            question.category,
            number in changed,
        )


def _real(bank: Bank, condition: str, begins: datetime) -> Collection:
    """Real speakers in sessions of about four, one a day."""
    held, asked = meetings(bank, (CLEAN,) if condition == CLEAN else RECORDINGS)
    sessions = []
    for day, meeting in enumerate(held):
        turns: list[Turn] = []
        for number, (utterance, shift) in enumerate(meeting.turns):
            start = turns[-1].end + PAUSE if turns else 0.0
            turns.append(Turn(f"{meeting.name}/{number}", start, utterance, shift, None))
        sessions.append(Session(meeting.name, begins + timedelta(days=day), tuple(turns)))
    queries = [
        Query(f"real/q{number}", utterance, shift if condition != CLEAN else CLEAN, "", (), frozenset(), "", 0)
        for number, (utterance, shift) in enumerate(asked)
    ]
    return Collection("real", "real", tuple(sessions), tuple(queries))
