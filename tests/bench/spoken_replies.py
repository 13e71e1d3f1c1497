"""Who answers whom, and to whom is it said, in talk of three to five people? The spoken set's gold labels (scenarios 1 to 3
were looked at while the rules were made, 4 to 6 were not), with gold speakers and times as the words are long.

`python -m tests.bench.spoken_replies [--json PATH]`"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from service.memory.interactions import Spoken, addressees, replies
from service.memory.vocatives import normal_name
from service.types.memory import Attendance, How
from tests.bench.report import Report, arguments
from tests.bench.spoken.format import Scenario, Session, laid_out, load_all
from tests.bench.spoken.gold import attendance_of, person_id, spoken_turns

SEEN = ("1", "2", "3")


@dataclass(frozen=True, slots=True)
class Talk:
    session: Session
    turns: list[Spoken]
    names: Mapping[str, tuple[str, ...]]
    attendance: tuple[Attendance, ...]

    @property
    def participants(self) -> tuple[str, ...]:
        return tuple(a.person_id for a in self.attendance)


@dataclass(frozen=True, slots=True)
class Found:
    answers: Mapping[str, str]
    """message id → message id"""
    to: Mapping[str, frozenset[str]]
    """message id → person ids; nobody: to all"""


def talks(scenario: Scenario) -> list[Talk]:
    names = {person_id("", p.name): (p.name, *p.aliases) for p in scenario.people}
    found = []
    for session in scenario.sessions:
        times = laid_out(session.turns)
        turns = [Spoken(t.message_id, t.segment, t.track, t.speaker_id, t.text) for t in spoken_turns("", session, times)]
        attendance = attendance_of("", session, times, max(time.end for time in times))
        found.append(Talk(session, turns, names, attendance))
    return found


def ours(talk: Talk) -> Found:
    to = addressees(talk.turns, talk.names, talk.participants)
    particular = {m: frozenset(a.person_id for a in people if a.how is not How.ALL) for m, people in to.items()}
    return Found(replies(talk.turns), particular)


def previous_speaker(talk: Talk) -> Found:
    answers, to = {}, {}
    for i, turn in enumerate(talk.turns):
        before = next((t for t in reversed(talk.turns[:i]) if t.voice != turn.voice), None)
        if before is not None and before.speaker_id is not None:
            answers[turn.message_id], to[turn.message_id] = before.message_id, frozenset((before.speaker_id,))
    return Found(answers, to)


def the_named_one(talk: Talk) -> Found:
    """Any name in the text, called out or not, and that person's last turn."""
    answers, to = {}, {}
    known = {normal_name(name): person for person, names in talk.names.items() for name in names}
    for i, turn in enumerate(talk.turns):
        words = [word.strip(".,;:!?'\"") for word in normal_name(turn.text or "").replace("'s", "").split()]
        person = next((known[word] for word in words if word in known and known[word] != turn.speaker_id), None)
        if person is not None:
            to[turn.message_id] = frozenset((person,))
            before = next((t for t in reversed(talk.turns[:i]) if t.speaker_id == person), None)
            if before is not None:
                answers[turn.message_id] = before.message_id
    return Found(answers, to)


SYSTEMS: Mapping[str, Callable[[Talk], Found]] = {
    "ours": ours,
    "previous_speaker": previous_speaker,
    "the_named_one": the_named_one,
}


def counts(talk: Talk, found: Found) -> np.ndarray:
    """Replies right, given, in the gold; turns to somebody in particular with a right one found and nobody wrong, of them;
    turns to all that are held to be to nobody in particular, of them."""
    by_turn = {turn.id: spoken for turn, spoken in zip(talk.session.turns, talk.turns, strict=True)}
    n = np.zeros(7)
    for turn, spoken in zip(talk.session.turns, talk.turns, strict=True):
        gold = by_turn[turn.reply_to].message_id if turn.reply_to else None
        given = found.answers.get(spoken.message_id)
        n[:3] += (given is not None and given == gold, given is not None, gold is not None)
        to, said_to = found.to.get(spoken.message_id, frozenset()), {person_id("", name) for name in turn.addressees}
        n[3:] += (bool(to) and to <= said_to, bool(said_to), not to and not said_to, not said_to)
    return n


FIGURES: Mapping[str, Callable[[np.ndarray], float]] = {
    "reply_precision": lambda n: n[0] / max(n[1], 1),
    "reply_recall": lambda n: n[0] / max(n[2], 1),
    "reply_f1": lambda n: 2 * n[0] / max(n[1] + n[2], 1),
    "addressee_accuracy": lambda n: n[3] / max(n[4], 1),
    "to_all_accuracy": lambda n: n[5] / max(n[6], 1),
}
OF = {"reply_precision": 1, "reply_recall": 2, "reply_f1": 2, "addressee_accuracy": 4, "to_all_accuracy": 6}


def run(report: Report, *, resamples: int = 2_000) -> None:
    scenarios = load_all()
    for condition, shown in (
        ("spoken_gold/seen", [s for s in scenarios if s.id in SEEN]),
        ("spoken_gold/unseen", [s for s in scenarios if s.id not in SEEN]),
    ):
        given = [talk for scenario in shown for talk in talks(scenario)]
        for system, find in SYSTEMS.items():
            each = np.stack([counts(talk, find(talk)) for talk in given])
            drawn = each[np.random.default_rng(0).integers(0, len(each), (resamples, len(each)))].sum(axis=1)
            total = each.sum(axis=0)
            for name, figure in FIGURES.items():
                low, high = np.percentile([figure(n) for n in drawn], (2.5, 97.5))  # over sessions, seed 0
                report.add(name, condition, system, figure(total), "share", int(total[OF[name]]), (low, high))


def main() -> None:
    chosen = arguments(__doc__ or "").parse_args()
    report = Report("spoken_replies")
    run(report)
    report.finish(chosen.json)


if __name__ == "__main__":
    main()
