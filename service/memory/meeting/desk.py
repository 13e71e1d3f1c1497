"""How is one delivery worked into what is known? A working copy of the state, which one step changes and then puts back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from service.memory.meeting.around import Around
from service.memory.meeting.marks import Mark
from service.memory.meeting.outcomes import Described, Finished, Given, Gone, Known, Outcome, Revised
from service.memory.meeting.people import track_of
from service.memory.meeting.roll import Roll
from service.memory.meeting.shelf import Draft, Shelf
from service.memory.meeting.state import MeetingState, Origin, Utterance, Waiting
from service.memory.meeting.turns import View, line_of, turns_of
from service.memory.meeting.utterances import in_reason, is_newer, is_over, place_for, place_of, told_at, uid_of
from service.types.meeting import (
    NOBODY,
    Base,
    Began,
    Ended,
    Joined,
    Left,
    MeetingEvent,
    Renamed,
    Speaker,
    Spoke,
    Uttered,
    Withdrawn,
)


class Desk:
    def __init__(self, state: MeetingState) -> None:
        self._state = state
        self._config = state.config
        self._seen = Draft(state.seen)
        self._open = Draft(state.open)
        self._closed = Draft(state.closed)
        self._said = Draft(state.said)
        self._given = Draft(state.given)
        self._unmarked = Draft(state.unmarked)
        self._roll = Roll(state.everybody, state.config.people)
        self._around = Around(state.around, state.config.copies, state.config.marks)
        self._waiting = list(state.waiting)
        self._changed: dict[str, None] = {}
        """Utterances that may be other turns than was told, in the order of their change."""
        self._outcomes: list[Outcome] = []
        self._stirred = False
        """Whether something came after which the meeting is not over."""
        self._clock, self._last, self._finished = state.clock, state.last, state.finished

    def done(self) -> tuple[MeetingState, tuple[Outcome, ...]]:
        state = replace(
            self._state,
            clock=self._clock,
            last=self._last,
            finished=self._finished,
            seen=self._seen.done(),
            open=self._open.done(),
            closed=self._closed.done(),
            said=self._said.done(),
            given=self._given.done(),
            unmarked=self._unmarked.done(),
            everybody=self._roll.done(),
            around=self._around.done(),
            waiting=tuple(self._waiting),
        )
        return state, tuple(self._outcomes)

    # ---- time

    def advance(self, now: float) -> None:
        """Tell what is due up to `now`, each moment for itself."""
        while (moment := self.next_moment()) is not None and moment <= now:
            self._clock = moment if self._clock is None else max(self._clock, moment)
            if self._waiting:
                self._give(moment)
            else:
                self._finish()
        self._clock = now if self._clock is None else max(self._clock, now)

    def next_moment(self) -> float | None:
        if self._waiting:
            return self._waiting[0].due
        if self._finished or self._last is None:
            return None
        config, ends = self._config, min(self._state.ends, 9)
        linger = min(config.linger * config.longer**ends, max(config.linger, config.longest_linger))
        return self._last + (linger if self._state.ended else config.idle)

    def _give(self, moment: float) -> None:
        """Whose wait is over, and before each of them what was said before it."""
        self._settle_origin()
        placed = [(waiting.place or self._place(waiting.uid), waiting) for waiting in self._waiting]
        until = max(place for place, waiting in placed if waiting.due <= moment)
        self._waiting = [waiting for place, waiting in placed if place > until]
        for place in sorted(place for place, _ in placed if place <= until):
            self._given.put(place[-1], ())
            self._tell(place[-1])
        self._tell_changed()  # else what a delivery changes next would be told in another order than without one

    def _finish(self) -> None:
        """What never became final is told as it is. Where nothing was told yet, what comes late may still say when it began."""
        known = (self._state.began, self._state.zero, self._state.first)
        left = [utterance for _, utterance in self._open.items()]
        if left or any(self._roll.everybody()) or any(time is not None for time in known):
            self._settle_origin()
        left.sort(key=lambda utterance: place_of(utterance, self._origin, self._config))
        for partial in left:
            self._open.drop(partial.uid)
            self._keep(partial)
        for partial in left:
            self._given.put(partial.uid, ())
            self._tell(partial.uid)
        self._tell_changed()
        self._finished = True
        for track in self._roll.everybody():
            self._know(track)
        failed, ends = self._state.failed, self._state.ends + self._state.ended
        self._state = replace(self._state, ends=ends)
        reason = "failed" if failed is not None else "ended" if self._state.ended else "idle"
        self._outcomes.append(Finished(reason, failed, self._state.duration))

    # ---- events

    def take(self, events: Sequence[MeetingEvent]) -> None:
        self._last = self._now
        told = len(self._outcomes)
        for event in events:
            self._take(event)
        self._tell_changed()
        if self._stirred or len(self._outcomes) > told:
            self._finished = False

    def _take(self, event: MeetingEvent) -> None:
        if isinstance(event, Uttered):
            self._uttered(in_reason(event, self._config))
            return
        if event.key in self._seen:
            return
        self._seen.put(event.key, True)
        match event:
            case Began():
                self._began(event)
            case Ended():
                self._ended(event)
            case Joined(speaker=speaker):
                self._meet(speaker, event, came=True)
            case Left(speaker=speaker):
                self._meet(speaker, event, went=True)
            case Renamed(speaker=speaker):
                self._meet(speaker, event)
            case Withdrawn(id=id):
                for name in [name for name, partial in self._open.items() if partial.event.id == id]:
                    self._open.drop(name)
                self._withdraw(f"id:{id}")
            case Spoke():
                self._spoke(event)

    def _began(self, event: Began) -> None:
        about = self._state.about
        about = replace(
            about,
            title=event.title or about.title,
            zone=event.zone or about.zone,
            platform=event.platform or about.platform,
            invited=event.invited or about.invited,
        )
        began, at = self._state.began, told_at(event, self._config)
        if at is not None:
            began = at if began is None else min(began, at)
        if about != self._state.about and self._state.origin is not None:
            self._outcomes.append(Described(about))
        self._state = replace(self._state, about=about, began=began)

    def _ended(self, event: Ended) -> None:
        before = self._state
        failed, duration = event.failed or before.failed, event.duration or before.duration
        self._state = replace(before, ended=True, failed=failed, duration=duration)
        self._stirred = self._stirred or self._state != before

    def _spoke(self, event: Spoke) -> None:
        self._meet(event.speaker, event)
        track = track_of(event.speaker)
        if track is None:
            return
        self._changed.update(dict.fromkeys(self._roll.mark(track)))
        if self._state.origin is None:
            self._unmarked.put(event.key, event)
        else:
            self._mark(track, event)

    def _mark(self, track: str, event: Spoke) -> None:
        start = self._origin.seconds(event.start, event.base)
        end = None if event.end is None else self._origin.seconds(event.end, event.base)
        if not abs(start) <= self._config.longest or (end is not None and not start <= end <= self._config.longest):
            return
        span = self._around.mark(Mark(track, start, end))
        for uid in sorted(self._around.within(span)):
            self._changed[uid] = None

    # ---- who

    def _meet(self, speaker: Speaker, event: MeetingEvent, *, came: bool = False, went: bool = False) -> None:
        for uid in self._roll.meet(speaker, self._moment(event), self._now, came=came, went=went):
            self._look_again(uid)

    def _moment(self, event: MeetingEvent) -> float:
        """When it happened, seconds since 1970: as told, else as it came."""
        at = told_at(event, self._config)
        return self._now if at is None else at

    # ---- what is said

    def _uttered(self, event: Uttered) -> None:
        if event.final and event.key in self._seen:
            return
        self._meet(event.speaker, event)
        self._time(event)
        if event.final:
            self._seen.put(event.key, True)
            self._final(event)
        else:
            self._partial(event)

    def _final(self, event: Uttered) -> None:
        uid = place_for(event, self._said.get, self._config)
        before = self._said.get(uid)
        if before is None or (not before.gone and (not before.event.final or self._corrects(event, before.event))):
            self._say(uid, event)
        self._open.drop(uid)
        if event.slot is not None:
            self._close(event.slot, event.end)

    def _corrects(self, event: Uttered, before: Uttered) -> bool:
        """Whether a second final of an utterance holds over the first."""
        return not (self._config.finals_hold and event.id is not None) and is_newer(event, before)

    def _close(self, slot: str, until: float) -> None:
        """Finals have come up to `until`: what was partial before is said."""
        name = f"slot:{slot}"
        until = max(until, self._closed.get(slot) or until)
        self._closed.put(slot, until)
        partial = self._open.get(name)
        if partial is not None and is_over(partial.event, until):
            self._open.drop(name)
        told = self._said.get(name)
        if told is not None and not told.gone and is_over(told.event, until):
            self._withdraw(name)

    def _partial(self, event: Uttered) -> None:
        uid = uid_of(event)
        said = self._said.get(uid)
        if said is not None and (said.gone or said.event.final):
            return
        name = f"slot:{event.slot}" if event.slot is not None else uid
        until = self._closed.get(event.slot) if event.slot is not None else None
        if until is not None and is_over(event, until):
            return
        told = self._said.get(name)
        if told is not None and not told.gone:  # at an end that was none
            if event.key != told.event.key and is_newer(event, told.event):
                self._say(name, event)
            return
        before = self._open.get(name)
        if before is None:
            self._open.put(name, self._utterance(name, event))
        elif event.key != before.event.key and event.key not in before.before and is_newer(event, before.event):
            keys = (*before.before, before.event.key)
            self._open.put(name, replace(before, event=event, before=keys, told=self._moment(event)))
        else:
            return
        self._stirred = True

    def _say(self, uid: str, event: Uttered) -> None:
        is_new = uid not in self._said
        self._keep(self._utterance(uid, event))
        place = self._place(uid) if self._state.origin is not None else None
        if is_new:
            self._waiting.append(Waiting(uid, self._now + self._config.settle, place))
        elif self._given.get(uid) is None:
            self._waiting = [replace(w, place=place) if w.uid == uid else w for w in self._waiting]
        self._stirred = True

    def _withdraw(self, uid: str) -> None:
        self._open.drop(uid)
        known = self._said.get(uid)
        if known is None:
            nothing = Uttered(key="", speaker=NOBODY, text="", start=0.0, end=0.0, base=Base.MEETING)
            self._said.put(uid, replace(self._utterance(uid, nothing), gone=True))
        else:
            self._said.put(uid, replace(known, gone=True))
            self._look_again(uid)

    def _keep(self, utterance: Utterance) -> None:
        uid, track = utterance.uid, track_of(utterance.event.speaker)
        before = self._said.get(uid)
        self._said.put(uid, utterance)
        if track is not None and (before is None or track_of(before.event.speaker) != track):
            self._roll.says(track, uid)
        self._look_again(uid)

    def _look_again(self, uid: str) -> None:
        """What it is, and what stands beside it, may be other turns than was told."""
        utterance = self._said.get(uid)
        if self._state.origin is not None and utterance is not None:
            self._changed[uid] = None
            for other in sorted(self._around.put(uid, line_of(utterance, self._view))):
                self._changed[other] = None
            for track in self._around.met:
                self._changed.update(dict.fromkeys(self._roll.said_by(track)))
            self._around.met.clear()

    # ---- times

    def _time(self, event: Uttered) -> None:
        """Keep what second 0 may be worked out from."""
        state = self._state
        if state.origin is not None:
            return
        if event.base is Base.MEETING and abs(event.end) <= self._config.longest:
            zero = self._moment(event) - event.end
            if state.zero is None or zero < state.zero:
                self._state = replace(state, zero=zero)
        elif event.base is Base.EPOCH and self._config.epoch_from <= event.start <= self._config.epoch_to:
            self._state = replace(state, first=event.start if state.first is None else min(state.first, event.start))

    def _settle_origin(self) -> None:
        """Second 0: as told; else such that the words that came soonest after they were said came at once; else the first
        word."""
        state = self._state
        if state.origin is not None:
            return
        epoch = next((time for time in (state.began, state.zero, state.first) if time is not None), self._now)
        origin = Origin(epoch, state.began is not None)
        about = replace(state.about, started_at=datetime.fromtimestamp(epoch, UTC), is_exact=origin.is_exact)
        self._state = replace(state, origin=origin, about=about)
        self._outcomes.append(Described(about))
        for track in self._roll.everybody():
            self._know(track)
        self._waiting = [replace(waiting, place=self._place(waiting.uid)) for waiting in self._waiting]
        for waiting in self._waiting:
            self._look_again(waiting.uid)
        marks = ((math.isnan(event.start), event.start, key, event) for key, event in self._unmarked.items())
        for *_, event in sorted(marks, key=lambda mark: mark[:3]):
            self._mark(track_of(event.speaker) or "", event)
        self._unmarked = Draft(Shelf())

    # ---- what is told

    def _tell_changed(self) -> None:
        if self._state.origin is None:
            return
        for track in list(self._roll.met):
            self._know(track)
        changed, self._changed = self._changed, {}
        for uid in changed:
            if self._given.get(uid) is not None:
                self._tell(uid)

    def _tell(self, uid: str) -> None:
        """What an utterance is now, as far as it is something else than was told."""
        utterance = self._said.get(uid)
        turns = turns_of(utterance, self._view) if utterance is not None else []
        before = {turn.key: turn for turn in self._given.get(uid) or ()}
        now = {turn.key for turn in turns}
        self._outcomes.extend(Gone(key) for key in before if key not in now)
        for turn in turns:
            if turn.key not in before:
                self._outcomes.append(Given(turn))
            elif turn != before[turn.key]:
                self._outcomes.append(Revised(turn))
        self._given.put(uid, tuple(turns))
        latest = max((turn.segment.end for turn in turns), default=0.0)
        if latest > self._state.latest:
            self._state = replace(self._state, latest=latest)

    def _know(self, track: str) -> None:
        until = self._state.latest if self._finished else None
        participant = self._roll.participant(track, self._origin.epoch, until)
        if participant is not None:
            self._outcomes.append(Known(participant))

    # ---- small things

    @property
    def _view(self) -> View:
        return View(self._config, self._origin, self._said.get, self._roll.get, self._around)

    def _place(self, uid: str) -> tuple[float, float, str]:
        utterance = self._said.get(uid)
        assert utterance is not None  # it waits, so it was said
        return place_of(utterance, self._origin, self._config)

    def _utterance(self, uid: str, event: Uttered) -> Utterance:
        return Utterance(uid, event, self._moment(event))

    @property
    def _now(self) -> float:
        assert self._clock is not None  # a step begins with the time at which it came
        return self._clock

    @property
    def _origin(self) -> Origin:
        assert self._state.origin is not None
        return self._state.origin
