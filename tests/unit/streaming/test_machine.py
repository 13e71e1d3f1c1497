"""The streaming machine: what is asked for, whom it sees for, and that nothing in any order makes it tell what it may not."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from service.streaming.machine import MachineConfig, State, step
from service.streaming.words import same_words, words_of
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

FRAME = 0.032
ANA, BEN = Eyes("ana", "what ana may see"), Eyes("ben", "what ben may see")
CONFIG = MachineConfig()


@dataclass
class Stream:
    """A machine with its work waiting to be answered; `frames` is called whenever sound comes in."""

    state: State = field(default_factory=State)
    actions: list[Action] = field(default_factory=list)
    out: list[Action] = field(default_factory=list)
    """Work that has not come back."""

    def take(self, event: Event) -> tuple[Action, ...]:
        self.state, actions = step(self.state, event)
        self.actions += actions
        self.out += [a for a in actions if not isinstance(a, Enter | Deliver | Refuse)]
        return actions

    def sound(self, seconds: float, speaking: bool) -> None:
        for _ in range(round(seconds / FRAME)):
            self.take(Sound(self.state.now + FRAME, speaking))

    def answer(self, work: Action, text: str, eyes: Eyes | None, now: Eyes | None = None) -> None:
        self.out.remove(work)
        self.take(came_back(work, text, eyes, now))

    def answer_all(self, text: str, eyes: Eyes | None) -> None:
        while self.out:
            self.answer(self.out[0], text, eyes, eyes)

    def put_off(self, work: Action) -> None:
        assert isinstance(work, Transcribe | Identify | Match)
        self.out.remove(work)
        self.take(PutOff(work))

    def told(self, kind: type) -> list[Action]:
        return [action for action in self.actions if isinstance(action, kind)]

    def stages(self) -> list[Stage]:
        return [action.stage for action in self.actions if isinstance(action, Enter)]


def came_back(work: Action, text: str, eyes: Eyes | None, now: Eyes | None) -> Event:
    match work:
        case Transcribe():
            return Transcribed(work, text)
        case Identify():
            return Identified(work, eyes)
        case Match():
            return Matched(work)
        case Look():
            return Looked(work)
        case Read():
            return HasRead(work, now)
    raise AssertionError(work)


def spoken(text: str = "When is the dentist?", eyes: Eyes | None = ANA, *, silence: float = 0.3) -> Stream:
    """A question of 1.5 s and some silence, everything that was asked for answered."""
    stream = Stream()
    stream.sound(1.5, True)
    stream.answer_all("When is", eyes)
    stream.sound(silence, False)
    stream.answer_all(text, eyes)
    return stream


def test_the_stages_follow_the_silence() -> None:
    stream = Stream()
    stream.sound(1.0, True)
    for _ in range(20):
        stream.take(Sound(stream.state.now + FRAME, False))
        silence = stream.state.silence
        expected = Stage.SPEECH_TAIL if silence < 0.2 else Stage.ANTICIPATION if silence < 0.4 else Stage.SEARCHING
        assert stream.state.stage is expected
    assert stream.stages() == [Stage.SPEECH_TAIL, Stage.ANTICIPATION, Stage.SEARCHING]


def test_while_somebody_speaks_words_and_voice_are_looked_at_from_time_to_time() -> None:
    stream = Stream()
    for _ in range(4):
        stream.sound(1.1, True)
        stream.answer_all("When is", ANA)
    assert len(stream.told(Transcribe)) == 4 and len(stream.told(Identify)) == 1
    assert len(stream.told(Match)) == 1 and not stream.told(Look)
    for _ in range(5):
        stream.sound(1.1, True)
        stream.answer_all("When is", ANA)
    assert len(stream.told(Transcribe)) == 9 and len(stream.told(Identify)) == 2


def test_in_the_pause_the_words_are_heard_first_and_looked_for_with_the_eyes_known_so_far() -> None:
    stream = Stream()
    stream.sound(2.2, True)
    stream.answer_all("When is", ANA)
    stream.sound(0.2, True)
    stream.sound(0.13, False)
    (words,) = stream.out
    assert isinstance(words, Transcribe) and words.whole
    stream.answer(words, "When is the dentist?", ANA)
    stream.answer_all("", ANA)  # what the words match
    stream.sound(0.1, False)
    voice = next(work for work in stream.out if isinstance(work, Identify))
    look = next(work for work in stream.out if isinstance(work, Look))
    assert voice.whole and look.ask == Ask(1, "When is the dentist?", ANA)
    stream.answer(look, "", ANA)
    stream.sound(0.5, False)
    assert not stream.told(Read), "its voice is not known to the end"
    stream.answer(voice, "", ANA)
    assert len(stream.told(Look)) == 1 and len(stream.told(Read)) == 1


def test_a_voice_that_is_not_known_yet_is_looked_at_at_once() -> None:
    stream = Stream()
    stream.sound(1.5, True)
    stream.answer_all("When is", ANA)
    stream.sound(0.13, False)
    assert {type(work) for work in stream.out} == {Transcribe, Identify}


def test_what_was_put_off_is_asked_for_again_in_a_while_and_what_the_answer_needs_is_not_put_off() -> None:
    stream = Stream()
    stream.sound(1.1, True)
    stream.put_off(stream.out[0])
    stream.sound(CONFIG.again - 2 * FRAME, True)
    assert not stream.out
    stream.sound(3 * FRAME, True)
    (work,) = stream.out
    assert isinstance(work, Transcribe) and not work.whole
    stream.answer(work, "When is", ANA)
    stream.sound(0.2, True)
    stream.sound(0.13, False)
    (whole,) = [work for work in stream.out if isinstance(work, Transcribe)]
    assert whole.whole
    before = stream.state
    assert step(before, PutOff(whole))[0] == before


def test_a_look_whose_turn_comes_too_late_does_not_count_as_made() -> None:
    stream = Stream()
    stream.sound(2.2, True)
    stream.answer_all("When is", ANA)
    stream.sound(0.2, True)
    stream.sound(0.25, False)
    for work in [work for work in stream.out if isinstance(work, Transcribe)]:
        stream.answer(work, "When is the dentist?", ANA)
    look = next(work for work in stream.out if isinstance(work, Look))
    stream.sound(0.2, True)
    stream.out.remove(look)
    stream.take(Stale(look))
    stream.sound(0.5, False)
    stream.answer_all("When is the dentist?", ANA)
    assert stream.told(Look) == [look, look] and len(stream.told(Deliver)) == 1


def test_what_is_found_in_the_pause_is_told_only_when_the_pause_was_long_enough() -> None:
    stream = spoken(silence=0.3)
    assert [a.ask.text for a in stream.told(Look) if isinstance(a, Look)] == ["When is the dentist?"]
    assert not stream.told(Read)
    stream.sound(0.15, False)
    stream.answer_all("", ANA)
    assert len(stream.told(Deliver)) == 1 and stream.state.at_rest and stream.state.stage is Stage.LISTENING


def test_speech_again_keeps_what_was_found_for_the_same_words() -> None:
    stream = spoken("When is the dentist?")
    stream.sound(0.3, True)  # "mm"
    stream.sound(0.5, False)
    stream.answer_all("when is the dentist", ANA)
    assert len(stream.told(Look)) == 1 and len(stream.told(Deliver)) == 1


def test_speech_again_with_further_words_is_looked_for_anew() -> None:
    stream = spoken("When is the dentist?")
    stream.sound(1.0, True)
    stream.sound(0.5, False)
    stream.answer_all("When is the dentist of Ben?", ANA)
    assert [a.ask.text for a in stream.told(Look) if isinstance(a, Look)] == [
        "When is the dentist?",
        "When is the dentist of Ben?",
    ]
    delivered = stream.told(Deliver)
    assert len(delivered) == 1 and isinstance(delivered[0], Deliver) and delivered[0].ask.text.endswith("Ben?")


def test_somebody_who_speaks_while_it_is_read_is_told_nothing() -> None:
    stream = spoken()
    stream.sound(0.15, False)
    (work,) = stream.out
    assert isinstance(work, Read)
    stream.sound(0.1, True)
    stream.answer(work, "", ANA, ANA)
    assert not stream.told(Deliver) and stream.state.stage is Stage.LISTENING


def test_when_what_may_be_seen_changed_meanwhile_it_is_looked_for_again() -> None:
    stream = spoken()
    stream.sound(0.15, False)
    (work,) = stream.out
    less = Eyes("ana", "less than before")
    stream.answer(work, "", ANA, less)
    assert not stream.told(Deliver) and isinstance(stream.out[-1], Look) and stream.out[-1].ask.eyes == less
    stream.answer_all("", less)
    (delivered,) = stream.told(Deliver)
    assert isinstance(delivered, Deliver) and delivered.ask.eyes == less


def test_who_may_see_nothing_is_told_so_and_nothing_is_looked_for() -> None:
    stream = spoken(eyes=None)
    stream.sound(0.2, False)
    stream.answer_all("When is the dentist?", None)
    assert stream.told(Refuse) == [Refuse(1)] and not stream.told(Look) and not stream.told(Match)


def test_a_cough_and_a_sound_without_words_are_forgotten() -> None:
    stream = Stream()
    stream.sound(0.16, True)
    stream.sound(0.5, False)
    assert not stream.told(Transcribe) and stream.state.at_rest
    stream = spoken("", ANA)
    stream.sound(0.2, False)
    assert stream.state.at_rest and not stream.told(Look)


def test_a_second_voice_at_the_end_is_not_shown_what_the_first_may_see() -> None:
    stream = Stream()
    stream.sound(2.2, True)
    stream.answer_all("When is", ANA)
    stream.sound(0.5, False)
    stream.answer_all("When is the dentist?", BEN)
    looks = [a.ask.eyes for a in (*stream.told(Look), *stream.told(Deliver)) if isinstance(a, Look | Deliver)]
    assert looks == [ANA, BEN, BEN] and [a.ask.eyes for a in stream.told(Read) if isinstance(a, Read)] == [BEN]


def test_commas_and_capitals_are_no_words() -> None:
    assert same_words("Well, when IS it?", "well when is it") and not same_words("When is it", "When was it")
    assert same_words("", "") and not same_words("?", "!") and words_of("Ben’s tea") == ("ben's", "tea")


# ---- any order

TEXTS = ("", "When is", "when is?", "When is the dentist?", "What did Ben say?")
answers = st.tuples(st.integers(0, 9), st.sampled_from(TEXTS), st.sampled_from([ANA, BEN, None]), st.booleans())
put_off = st.tuples(st.integers(0, 9))
moves = st.one_of(st.tuples(st.floats(0.01, 0.5), st.booleans()), answers, put_off)


@given(st.lists(moves, max_size=60))
@settings(max_examples=300)
def test_in_any_order_nothing_is_looked_for_or_told_for_the_wrong_words_or_eyes(played: list[tuple[object, ...]]) -> None:
    stream = Stream()
    heard: dict[int, tuple[float, str]] = {}
    seen: dict[int, tuple[float, Eyes | None]] = {}
    found: list[Ask] = []
    delivered: set[int] = set()
    for move in played:
        if len(move) == 2:
            seconds, speaking = move
            assert isinstance(seconds, float)
            event: Event = Sound(stream.state.now + seconds, bool(speaking))
        elif len(move) == 1:
            work = stream.out[int(str(move[0])) % len(stream.out)] if stream.out else None
            if isinstance(work, Look):
                event = Stale(work)
            elif isinstance(work, Match) or (isinstance(work, Transcribe | Identify) and not work.whole):
                event = PutOff(work)
            else:
                continue
            stream.out.remove(work)
        else:
            which, text, eyes, same = move
            assert isinstance(which, int) and isinstance(text, str) and (eyes is None or isinstance(eyes, Eyes))
            if not stream.out:
                continue
            work = stream.out.pop(which % len(stream.out))
            now = work.ask.eyes if isinstance(work, Read) and same else eyes
            event = came_back(work, text, eyes, now)
            if isinstance(event, Transcribed):
                heard[event.work.utterance] = (event.work.through, event.text)
            if isinstance(event, Identified):
                seen[event.work.utterance] = (event.work.through, event.eyes)
            if isinstance(event, Looked):
                found.append(event.work.ask)
            if isinstance(event, HasRead):
                utterance = event.work.ask.utterance
                if seen[utterance][1] == event.work.ask.eyes:
                    seen[utterance] = (seen[utterance][0], event.eyes)
        until = stream.state.until if not (isinstance(event, Sound) and event.speaking) else event.until
        for action in stream.take(event):
            match action:
                case Look(ask) | Read(ask) | Deliver(ask):
                    assert ask.utterance == stream.state.utterance
                    assert heard[ask.utterance][0] >= until and same_words(heard[ask.utterance][1], ask.text)
                    assert seen[ask.utterance][1] == ask.eyes
                    assert seen[ask.utterance][0] >= until or isinstance(action, Look)
                case _:
                    pass
            match action:
                case Look(ask):
                    assert stream.state.silence >= CONFIG.tail - 1e-9
                case Read(ask):
                    assert stream.state.silence >= CONFIG.search - 1e-9 and ask in found
                case Deliver(ask):
                    assert (
                        isinstance(event, HasRead) and event.eyes == ask.eyes and stream.state.silence >= CONFIG.search - 1e-9
                    )
                    assert ask.utterance not in delivered
                    delivered.add(ask.utterance)
                case Match(ask):
                    assert seen[ask.utterance][1] == ask.eyes
                case _:
                    pass
        kinds = [type(work) for work in stream.out]
        assert len(kinds) == len(set(kinds)), "two of a kind at once"


@given(st.lists(moves, max_size=40), st.sampled_from(TEXTS), st.sampled_from([ANA, None]))
def test_after_whatever_was_a_long_silence_ends_it(played: list[tuple[object, ...]], text: str, eyes: Eyes | None) -> None:
    stream = Stream()
    for move in played:
        if len(move) == 2:
            seconds, speaking = move
            assert isinstance(seconds, float)
            stream.take(Sound(stream.state.now + seconds, bool(speaking)))
        elif stream.out:
            stream.answer(stream.out[0], str(move[-1]), ANA, ANA)
    stream.answer_all(text, eyes)
    for _ in range(3):
        stream.take(Sound(stream.state.now + 1.0, False))
        stream.answer_all(text, eyes)
    assert stream.state.at_rest and not stream.out


@given(st.lists(st.tuples(st.floats(-1.0, 1.0), st.booleans()), max_size=30))
def test_sound_that_comes_twice_or_late_does_not_move_time_back(sounds: list[tuple[float, bool]]) -> None:
    stream, furthest = Stream(), 0.0
    for until, speaking in sounds:
        stream.take(Sound(furthest + until, speaking))
        assert stream.state.now >= furthest
        furthest = stream.state.now
