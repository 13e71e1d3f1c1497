"""How is one delivery worked into what is known? A working copy of the state, which one step changes and then puts back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from service.memory.meeting.outcomes import Described, Finished, Given, Gone, Known, Outcome, Participant, Revised, Turn
from service.memory.meeting.people import Presence, came, met, parent_of, participant, track_of, went
from service.memory.meeting.shelf import Draft
from service.memory.meeting.state import MeetingState, Origin, Utterance, Waiting
from service.memory.meeting.turns import turns_of
from service.memory.meeting.utterances import in_reason, is_newer, is_over, place_of, uid_of
from service.types.meeting import (
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
        self._seen = Draft(state.seen)
        self._open = Draft(state.open)
        self._closed = Draft(state.closed)
        self._said = Draft(state.said)
        self._given = Draft(state.given)
        self._present = Draft(state.present)
        self._waiting = list(state.waiting)
        self._changed: dict[str, None] = {}
        """Utterances that may be other turns than was told, in the order of their change."""
        self._met: dict[str, None] = {}
        """Tracks of whom something new may be known."""
        self._outcomes: list[Outcome] = []
        self._clock = state.clock

    def done(self) -> tuple[MeetingState, tuple[Outcome, ...]]:
        state = replace(
            self._state,
            clock=self._clock,
            seen=self._seen.done(),
            open=self._open.done(),
            closed=self._closed.done(),
            said=self._said.done(),
            given=self._given.done(),
            present=self._present.done(),
            waiting=tuple(self._waiting),
        )
        return state, tuple(self._outcomes)

    # ---- time

    def advance(self, now: float) -> None:
        """Tell what is due up to `now`, each moment for itself."""
        while (moment := self.next_moment()) is not None and moment <= now:
            self._clock = moment if self._clock is None else max(self._clock, moment)
            if self._waiting and self._waiting[0].due <= moment:
                self._give(moment)
            else:
                self._finish()
        self._clock = now if self._clock is None else max(self._clock, now)

    def next_moment(self) -> float | None:
        if self._waiting:
            return self._waiting[0].due
        state = self._state
        if state.finished or state.last is None:
            return None
        return state.last + (state.config.linger if state.ended else state.config.idle)

    def _give(self, moment: float) -> None:
        """Whose wait is over, and before each of them what was said before it."""
        self._settle_origin()
        placed = {waiting.uid: self._place(waiting.uid) for waiting in self._waiting}
        until = max(placed[waiting.uid] for waiting in self._waiting if waiting.due <= moment)
        ready = [waiting.uid for waiting in self._waiting if placed[waiting.uid] <= until]
        self._waiting = [waiting for waiting in self._waiting if placed[waiting.uid] > until]
        for uid in sorted(ready, key=placed.__getitem__):
            self._given.put(uid, ())
            self._tell(uid)

    def _finish(self) -> None:
        """What never became final is told as it is."""
        self._settle_origin()
        left = sorted(self._open.items(), key=lambda item: place_of(item[1], self._origin))
        for name, utterance in left:
            self._open.drop(name)
            self._said.put(utterance.uid, utterance)
            self._given.put(utterance.uid, ())
            self._tell(utterance.uid)
        self._state = replace(self._state, finished=True)
        for track, _ in sorted(self._present.items()):
            self._know(track)
        failed = self._state.failed
        reason = "failed" if failed is not None else "ended" if self._state.ended else "idle"
        self._outcomes.append(Finished(reason, failed, self._state.duration))

    # ---- events

    def take(self, events: Sequence[MeetingEvent]) -> None:
        self._state = replace(self._state, last=self._now)
        told = len(self._outcomes)
        for event in events:
            self._take(event)
        if self._origin_or_none is not None:
            for track in list(self._met):
                self._know(track)
            for uid in self._changed:
                if self._given.get(uid) is not None:
                    self._tell(uid)
        if len(self._outcomes) > told or self._waiting:
            self._state = replace(self._state, finished=False)

    def _take(self, event: MeetingEvent) -> None:
        if isinstance(event, Uttered):
            self._uttered(in_reason(event, self._state.config))
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
                self._meet(speaker, event, came)
            case Left(speaker=speaker):
                self._meet(speaker, event, went)
            case Renamed(speaker=speaker):
                self._meet(speaker, event)
            case Withdrawn(id=id):
                self._withdraw(f"id:{id}")
            case Spoke(speaker=speaker):
                self._meet(speaker, event)

    def _began(self, event: Began) -> None:
        about = self._state.about
        told = {"title": event.title, "zone": event.zone, "platform": event.platform, "invited": event.invited}
        about = replace(about, **{name: value for name, value in told.items() if value})  # type: ignore[arg-type]
        began = self._state.began
        if event.at is not None and event.at.tzinfo is not None:  # without a zone it is nobody knows which hour
            at = event.at.timestamp()
            began = at if began is None else min(began, at)
        if about != self._state.about and self._origin_or_none is not None:
            self._outcomes.append(Described(about))
        self._state = replace(self._state, about=about, began=began)

    def _ended(self, event: Ended) -> None:
        state = self._state
        failed, duration = event.failed or state.failed, event.duration or state.duration
        self._state = replace(state, ended=True, failed=failed, duration=duration, finished=False)

    def _meet(self, speaker: Speaker, event: MeetingEvent, does: object = None) -> None:
        track = track_of(speaker)
        if track is None:
            return
        moment = self._moment(event)
        known = self._present.get(track)
        presence = met(known, track, speaker, moment)
        if does is came or does is went:
            presence = came(presence, moment) if does is came else went(presence, moment)
        if presence != known:
            self._present.put(track, presence)
            self._met[track] = None

    def _moment(self, event: MeetingEvent) -> float:
        """When it happened, seconds since 1970: as told, else as it came."""
        return event.at.timestamp() if event.at is not None and event.at.tzinfo is not None else self._now

    # ---- what is said

    def _uttered(self, event: Uttered) -> None:
        self._meet(event.speaker, event)
        self._time(event)
        if event.final:
            if event.key not in self._seen:
                self._seen.put(event.key, True)
                self._final(event)
        else:
            self._partial(event)

    def _final(self, event: Uttered) -> None:
        uid = uid_of(event)
        before = self._said.get(uid)
        if before is None or (not before.gone and (not before.event.final or is_newer(event, before.event))):
            self._say(uid, event, is_new=before is None)
        self._open.drop(uid)
        if event.slot is not None:
            self._close(event.slot, event.end)

    def _close(self, slot: str, until: float) -> None:
        name = f"slot:{slot}"
        until = max(until, self._closed.get(slot) or until)
        self._closed.put(slot, until)
        partial = self._open.get(name)
        if partial is not None and is_over(partial.event, until):
            self._open.drop(name)
        told = self._said.get(name)
        if told is not None and is_over(told.event, until):
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
        if told is not None and not told.gone:  # told at an end that was none
            if is_newer(event, told.event):
                self._say(name, event, is_new=False)
            return
        before = self._open.get(name)
        if before is None:
            self._open.put(name, Utterance(name, event, self._next()))
        elif event.key != before.event.key and event.key not in before.before and is_newer(event, before.event):
            keys = (*before.before, before.event.key)
            self._open.put(name, replace(before, event=event, before=keys))

    def _say(self, uid: str, event: Uttered, *, is_new: bool) -> None:
        known = self._said.get(uid)
        self._said.put(uid, Utterance(uid, event, known.order if known else self._next()))
        if is_new:
            self._waiting.append(Waiting(uid, self._now + self._state.config.settle))
        self._changed[uid] = None

    def _withdraw(self, uid: str) -> None:
        self._open.drop(uid)
        known = self._said.get(uid)
        if known is not None:
            self._said.put(uid, replace(known, gone=True))
            self._changed[uid] = None
        else:
            nothing = Uttered(key="", speaker=Speaker(None), text="", start=0.0, end=0.0, base=Base.MEETING)
            self._said.put(uid, Utterance(uid, nothing, self._next(), gone=True))

    # ---- times

    def _time(self, event: Uttered) -> None:
        """Keep what second 0 may be worked out from."""
        state = self._state
        if state.origin is not None:
            return
        if event.base is Base.EPOCH:
            self._state = replace(state, first=event.start if state.first is None else min(state.first, event.start))
        else:
            zero = self._moment(event) - event.end
            self._state = replace(state, zero=zero if state.zero is None else min(state.zero, zero))

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
        for track, _ in sorted(self._present.items()):
            self._know(track)

    # ---- what is told

    def _tell(self, uid: str) -> None:
        """What an utterance is now, as far as it is something else than was told."""
        before = {turn.key: turn for turn in self._given.get(uid) or ()}
        turns = self._turns(uid)
        for turn in turns:
            if turn.key not in before:
                self._outcomes.append(Given(turn))
            elif turn != before[turn.key]:
                self._outcomes.append(Revised(turn))
        now = {turn.key for turn in turns}
        self._outcomes.extend(Gone(key) for key in before if key not in now)
        self._given.put(uid, tuple(turns))
        latest = max((turn.segment.end for turn in turns), default=0.0)
        if latest > self._state.latest:
            self._state = replace(self._state, latest=latest)

    def _turns(self, uid: str) -> list[Turn]:
        utterance = self._said.get(uid)
        return turns_of(utterance, self._origin, self._present.get) if utterance is not None else []

    def _know(self, track: str) -> None:
        self._met.pop(track, None)
        presence = self._present.get(track)
        if presence is not None:
            self._outcomes.append(Known(self._participant(presence)))

    def _participant(self, presence: Presence) -> Participant:
        parent = parent_of(presence)
        until = self._state.latest if self._state.finished else None
        return participant(presence, self._origin.epoch, until, has_parent=parent is not None and parent in self._present)

    # ---- small things

    def _place(self, uid: str) -> tuple[float, float, str]:
        utterance = self._said.get(uid)
        assert utterance is not None
        return place_of(utterance, self._origin)

    def _next(self) -> int:
        self._state = replace(self._state, order=self._state.order + 1)
        return self._state.order

    @property
    def _now(self) -> float:
        assert self._clock is not None  # a step begins with the time at which it came
        return self._clock

    @property
    def _origin_or_none(self) -> Origin | None:
        return self._state.origin

    @property
    def _origin(self) -> Origin:
        assert self._state.origin is not None
        return self._state.origin
