"""What is to be done now that this was heard? Listening, speech tail, anticipation, searching (VoiceMem §3.3): one pure `step`.

Sound moves time; everything else that comes in is work coming back, in any order and as late as it likes. Work is asked for as
an action and comes back as an event that carries it. What came back for words, eyes or an utterance that are no longer the
current ones is left aside. Speech at any point is listening again; what is known of the utterance is kept, and what was
found for the same words, seen with the same eyes, is not looked for again.

In the pause the words go first: what they ask is looked for with the eyes that the voice left so far, while the voice is heard
to its end. Nothing is read, and nothing told, before that is known, and then only with these eyes. What is only shown while
somebody speaks may be put off, and comes back as `PutOff`; what is needed for the answer never is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

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
    Stage,
    Stale,
    Transcribe,
    Transcribed,
)


@dataclass(frozen=True, slots=True)
class MachineConfig:
    """Seconds of the stream."""

    settle: float = 0.096  # of silence after which all that was said is transcribed: three frames of the detector
    tail: float = 0.2  # of silence from which what was said is looked for (VoiceMem, §3.3)
    search: float = 0.4  # of silence from which what was found is told (VoiceMem, §3.3)
    partial: float = 1.0  # of new sound between two transcripts of an utterance that goes on
    voice: float = 2.0  # until the first look at its voice: 1 s against a profile has an EER of 2.5 %, 3 s of 0.4
    voice_again: float = 6.0  # between two further ones: each costs as much as a look for the answer, and seldom finds another
    again: float = 0.4  # after work that was put off, before it is asked for once more
    least_speech: float = 0.25  # in all; less is a cough or a door


@dataclass(frozen=True, slots=True)
class Heard:
    """What an utterance says, as far as `through`."""

    text: str
    through: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Whose eyes its voice leaves, as far as `through`."""

    eyes: Eyes | None
    through: float


@dataclass(frozen=True, slots=True)
class State:
    now: float = 0.0
    utterance: int = 0
    """Number of the current one, or of the last; from 1."""
    begin: float | None = None
    """Where it began; None: it is over."""
    until: float = 0.0
    """Where its last speech ended."""
    speech: float = 0.0
    """Seconds of speech in it."""
    heard: Heard | None = None
    seen: Seen | None = None
    found: Ask | None = None
    """What was looked for last and has come back."""
    matched: Ask | None = None
    """What was matched last, whether it has come back or not."""
    put_off: float = 0.0
    """When work was put off last."""
    transcribing: Transcribe | None = None
    identifying: Identify | None = None
    matching: Match | None = None
    looking: Look | None = None
    reading: Read | None = None
    config: MachineConfig = field(default_factory=MachineConfig)

    @property
    def silence(self) -> float:
        """Seconds since the utterance's last speech."""
        return self.now - self.until

    @property
    def stage(self) -> Stage:
        if self.begin is None or self.silence <= 0:
            return Stage.LISTENING
        if self.silence < self.config.tail:
            return Stage.SPEECH_TAIL
        return Stage.ANTICIPATION if self.silence < self.config.search else Stage.SEARCHING

    @property
    def so_far(self) -> Ask | None:
        """What the utterance asks as far as it is known; None without words, without a known voice, or of one refused."""
        if self.heard is None or self.seen is None or self.seen.eyes is None or not self.heard.text.strip():
            return None
        return Ask(self.utterance, self.heard.text, self.seen.eyes)

    @property
    def complete(self) -> bool:
        """Its words and its voice are known to the end of its speech."""
        return self.worded and self.seen is not None and self.seen.through >= self.until

    @property
    def worded(self) -> bool:
        """Its words are known to the end of its speech."""
        return self.heard is not None and self.heard.through >= self.until

    @property
    def ask(self) -> Ask | None:
        """What the utterance asks; None while its end is not transcribed, its voice not known, or its asker refused."""
        return self.so_far if self.complete else None

    @property
    def expected(self) -> Ask | None:
        """What the utterance asks, if its voice stays whose it was so far; None while its end is not transcribed."""
        return self.so_far if self.worded else None

    @property
    def paused(self) -> bool:
        """Speech has stopped, as far as one can tell."""
        return self.silence >= self.config.settle - _EPSILON

    @property
    def at_rest(self) -> bool:
        """Nothing is said and no work is out."""
        return self.begin is None and not (
            self.transcribing or self.identifying or self.matching or self.looking or self.reading
        )


_EPSILON = 1e-9
"""Seconds; sums of frames are not exact."""


def step(state: State, event: Event) -> tuple[State, tuple[Action, ...]]:
    """The state after `event`, and what is to be done now. Never raises; what does not belong to the state is left aside."""
    actions: tuple[Action, ...] = ()
    match event:
        case Sound():
            after = _sound(state, event)
        case Transcribed():
            after = _transcribed(state, event)
        case Identified():
            after = _identified(state, event)
        case Matched():
            after = replace(state, matching=None) if event.work == state.matching else state
        case Looked():
            after = _looked(state, event)
        case HasRead():
            after, actions = _has_read(state, event)
        case PutOff():
            after = _put_off(state, event)
        case Stale():
            after = replace(state, looking=None) if event.work == state.looking else state
    for plan in (_listen, _watch, _match, _look, _tell):
        after, more = plan(after)
        actions += more
    entered = (Enter(after.stage),) if after.stage is not state.stage else ()
    return after, (*entered, *actions)


def _sound(state: State, event: Sound) -> State:
    if event.until <= state.now:
        return state
    lasted = event.until - state.now
    if not event.speaking:
        return replace(state, now=event.until)
    if state.begin is None:
        began = replace(state, utterance=state.utterance + 1, begin=state.now)
        return replace(began, now=event.until, until=event.until, speech=lasted)
    return replace(state, now=event.until, until=event.until, speech=state.speech + lasted)


def _transcribed(state: State, event: Transcribed) -> State:
    if event.work != state.transcribing:
        return state
    after = replace(state, transcribing=None)
    if event.work.utterance != state.utterance or state.begin is None:
        return after
    return replace(after, heard=Heard(event.text, event.work.through))


def _identified(state: State, event: Identified) -> State:
    if event.work != state.identifying:
        return state
    after = replace(state, identifying=None)
    if event.work.utterance != state.utterance or state.begin is None:
        return after
    return replace(after, seen=Seen(event.eyes, event.work.through))


def _looked(state: State, event: Looked) -> State:
    if event.work != state.looking:
        return state
    current = state.begin is not None and event.work.ask.utterance == state.utterance
    return replace(state, looking=None, found=event.work.ask if current else state.found)


def _has_read(state: State, event: HasRead) -> tuple[State, tuple[Action, ...]]:
    """Told only while it is still what is asked, by the same eyes; whose eyes changed is looked for again."""
    if event.work != state.reading:
        return state, ()
    after = replace(state, reading=None)
    ask = event.work.ask
    if state.begin is None or ask.utterance != state.utterance or state.seen is None:
        return after, ()
    if event.eyes != ask.eyes:
        return replace(after, seen=replace(state.seen, eyes=event.eyes)) if state.seen.eyes == ask.eyes else after, ()
    if state.stage is Stage.SEARCHING and state.ask is not None and ask.serves(state.ask):
        return _over(after), (Deliver(ask),)
    return after, ()


def _over(state: State) -> State:
    return replace(state, begin=None, heard=None, seen=None, found=None, matched=None)


def _put_off(state: State, event: PutOff) -> State:
    """Asked for again in a while, should it still be wanted then."""
    match event.work:
        case Transcribe() if event.work == state.transcribing and not event.work.whole:
            return replace(state, transcribing=None, put_off=state.now)
        case Identify() if event.work == state.identifying and not event.work.whole:
            return replace(state, identifying=None, put_off=state.now)
        case Match() if event.work == state.matching:
            return replace(state, matching=None, put_off=state.now, matched=None)
        case _:
            return state


def _listen(state: State) -> tuple[State, tuple[Action, ...]]:
    """What was too little to be speech is forgotten; else its words, from time to time and once it has stopped."""
    if state.begin is None:
        return state, ()
    if state.silence >= state.config.tail and state.speech < state.config.least_speech:
        return _over(state), ()
    through = state.heard.through if state.heard else None
    if state.transcribing is not None or not _due(state, through, state.config.partial, state.config.settle):
        return state, ()
    work = Transcribe(state.utterance, state.begin, state.now, state.paused)
    return replace(state, transcribing=work), (work,)


def _watch(state: State) -> tuple[State, tuple[Action, ...]]:
    """To its end once it has stopped; a voice that is known already waits for the words to be heard first."""
    through = state.seen.through if state.seen else None
    every, settle = state.config.voice, state.config.settle
    if state.seen is not None:
        every, settle = state.config.voice_again, state.config.tail
    if state.begin is None or state.identifying is not None or not _due(state, through, every, settle):
        return state, ()
    work = Identify(state.utterance, state.begin, state.now, state.paused)
    return replace(state, identifying=work), (work,)


def _due(state: State, through: float | None, every: float, settle: float) -> bool:
    """Whether what is known through `through` is to be known anew: its end is missing and has come, with `settle` seconds of
    silence, or much was said since."""
    if state.speech < state.config.least_speech or (through is not None and through >= state.until):
        return False
    if state.silence >= settle - _EPSILON:
        return True
    since = state.begin if through is None else through
    speaks = state.silence <= 0  # else it may be the end, which is worth waiting for
    return speaks and since is not None and state.now - since >= every and not _waits(state)


def _waits(state: State) -> bool:
    return state.put_off > 0.0 and state.now - state.put_off < state.config.again


def _match(state: State) -> tuple[State, tuple[Action, ...]]:
    """With the eyes known so far: what is matched is told to whoever the stream tells, who is the asker's own client."""
    ask = state.so_far
    if state.begin is None or state.matching is not None or ask is None:
        return state, ()
    if (state.matched is not None and state.matched.serves(ask)) or _waits(state):
        return state, ()
    return replace(state, matched=ask, matching=Match(ask)), (Match(ask),)


def _look(state: State) -> tuple[State, tuple[Action, ...]]:
    """With the eyes known so far: should the voice turn out to be another's, what was found is of no use to anybody."""
    ask = state.expected
    if state.begin is None or ask is None or state.looking is not None or state.silence < state.config.tail:
        return state, ()
    if state.found is not None and state.found.serves(ask):
        return state, ()
    return replace(state, looking=Look(ask)), (Look(ask),)


def _tell(state: State) -> tuple[State, tuple[Action, ...]]:
    """Once the pause is long enough and nothing of the utterance is missing: what was found, or why there is nothing."""
    if state.begin is None or state.stage is not Stage.SEARCHING or state.heard is None or state.seen is None:
        return state, ()
    if not state.complete or state.reading is not None:
        return state, ()
    if not state.heard.text.strip():
        return _over(state), ()
    if state.seen.eyes is None:
        return _over(state), (Refuse(state.utterance),)
    ask = state.ask
    if ask is None or state.found is None or not state.found.serves(ask):
        return state, ()
    work = Read(state.found)
    return replace(state, reading=work), (work,)
