"""Is a scenario whole and fair: does everybody speak only where they are, and may each asker read their gold?"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from tests.bench.spoken.format import Kind, Question, Scenario, Session, Turn


@dataclass(frozen=True, slots=True)
class SetConfig:
    """How large the set is to be (issue 5), and what counts as a slip."""

    people: tuple[int, int] = (3, 5)
    sessions: int = 6
    turns: tuple[int, int] = (18, 30)  # of a session; about 22
    questions: int = 50
    of_each_kind: int = 10
    max_words: int = 60  # of a turn: some twenty seconds of talk
    pause: tuple[float, float] = (-1.0, 6.0)  # seconds
    max_evidence: int = 8
    alike: float = 0.75  # Jaccard of two turns' words from which they look like one template
    supported: float = 0.25  # of the answer's words in its evidence: what is below points at a wrong turn id


DEFAULT = SetConfig()
_COMMON = (
    "about after all also and are because been before but can could did does for from get going had has have her him his how "
    "into its just like more not now off one our out over said says she should some than that the their them then there they "
    "this told was were what when where which who will with would you your"
)
COMMON = frozenset(_COMMON.split())
ORDER = re.compile(r"s(\d+)t(\d+)")


def problems(scenario: Scenario, config: SetConfig = DEFAULT) -> list[str]:
    """What is wrong with the scenario, one line a thing; empty for a good one."""
    return [f"{scenario.id}: {what}" for part in (_frame, _dialogue, _questions) for what in part(scenario, config)]


# ---- people and sessions


def _frame(scenario: Scenario, config: SetConfig) -> Iterator[str]:
    names = [p.name for p in scenario.people]
    called = [name for p in scenario.people for name in (p.name, *p.aliases)]
    if not config.people[0] <= len(names) <= config.people[1]:
        yield f"{len(names)} people"
    if len(set(called)) < len(called) or len({p.voice for p in scenario.people}) < len(names):
        yield "two people share a name or a voice"
    if [s.id for s in scenario.sessions] != [f"s{i + 1}" for i in range(config.sessions)]:
        yield f"sessions {[s.id for s in scenario.sessions]}"
    times = [*(s.started_at for s in scenario.sessions), scenario.asked_at]
    if any(time.utcoffset() is None for time in times):
        yield "a time without a zone"
    elif times != sorted(times):
        yield "sessions are not in the order of their times, or the questions are asked before the last"
    for session in scenario.sessions:
        if unknown := set(session.attends) - set(names):
            yield f"{session.id}: {sorted(unknown)} attends and is nobody"
        if len(session.attends) < config.people[0]:
            yield f"{session.id}: {len(session.attends)} people"
        if not config.turns[0] <= len(session.turns) <= config.turns[1]:
            yield f"{session.id}: {len(session.turns)} turns"


# ---- what is said


def _dialogue(scenario: Scenario, config: SetConfig) -> Iterator[str]:
    for session in scenario.sessions:
        ids = [turn.id for turn in session.turns]
        if ids != [f"{session.id}t{i + 1:02}" for i in range(len(ids))]:
            yield f"{session.id}: turn ids {ids}"
            continue
        edges = {edge for stretches in session.attends.values() for stretch in stretches for edge in stretch}
        if edges - set(ids) or any(a > b for stretches in session.attends.values() for a, b in stretches):
            yield f"{session.id}: attends from and to turns that are not there, or backwards"
            continue
        for turn in session.turns:
            yield from (f"{turn.id}: {what}" for what in _turn(session, turn, config))
        if silent := set(session.attends) - {turn.speaker for turn in session.turns}:
            yield f"{session.id}: {sorted(silent)} never speaks"
    for one, other in combinations(scenario.turns.values(), 2):
        if _jaccard(one.text, other.text) >= config.alike:
            yield f"{one.id} and {other.id} say nearly the same"


def _turn(session: Session, turn: Turn, config: SetConfig) -> Iterator[str]:
    present = session.present(turn.id)
    if turn.speaker not in present:
        yield f"{turn.speaker} speaks and is away"
    if away := set(turn.addressees) - present:
        yield f"{sorted(away)} is spoken to and away"
    if turn.speaker in turn.addressees or len(set(turn.addressees)) < len(turn.addressees):
        yield "speaks to themself, or to somebody twice"
    if turn.reply_to is not None:
        answered = next((t for t in session.turns if t.id == turn.reply_to and t.id < turn.id), None)
        if answered is None or answered.speaker == turn.speaker or turn.speaker not in session.present(answered.id):
            yield f"cannot answer {turn.reply_to}"
    words = len(turn.text.split())
    if not 0 < words <= config.max_words or turn.text != " ".join(turn.text.split()) or turn.text[-1] not in ".?!":
        yield f"{words} words, or blanks or the end not as they should be"
    if not config.pause[0] <= turn.pause <= config.pause[1]:
        yield f"a pause of {turn.pause} s"


# ---- what is asked


def _questions(scenario: Scenario, config: SetConfig) -> Iterator[str]:
    counted = Counter(question.kind for question in scenario.questions)
    if len(scenario.questions) < config.questions or any(counted[kind] < config.of_each_kind for kind in Kind):
        yield f"{len(scenario.questions)} questions: { ({kind.value: counted[kind] for kind in Kind}) }"
    for what, number in Counter(q.id for q in scenario.questions).items():
        if number > 1:
            yield f"{what}: an id of {number} questions"
    for (text, asker), number in Counter((q.text, q.asker) for q in scenario.questions).items():
        if number > 1:
            yield f"{asker} asks {number} times: {text}"
    visible = {person.name: scenario.visible(person.name) for person in scenario.people}
    for question in scenario.questions:
        if question.asker not in visible:
            yield f"{question.id}: asked by {question.asker}, who is nobody"
        else:
            yield from (f"{question.id}: {w}" for w in _question(scenario, question, visible[question.asker], config))
    yield from _personalised(q for q in scenario.questions if q.kind is Kind.PERSONALISATION)


def _question(scenario: Scenario, question: Question, visible: frozenset[str], config: SetConfig) -> Iterator[str]:
    turns = scenario.turns
    if unknown := {*question.evidence, *question.outdated, *question.forbidden} - set(turns):
        yield f"there are no turns {sorted(unknown)}"
        return
    if hidden := set(question.evidence + question.outdated) - visible:
        yield f"{question.asker} was away at {sorted(hidden)}"
    if seen := set(question.forbidden) & visible:
        yield f"{question.asker} was there at {sorted(seen)}, which are forbidden"
    if set(question.evidence) & set(question.outdated) or len(set(question.evidence)) < len(question.evidence):
        yield "evidence given twice, or outdated as well"
    if not question.evidence and not question.forbidden:
        yield "neither evidence nor what is forbidden"
    if len(question.evidence) > config.max_evidence:
        yield f"{len(question.evidence)} turns of evidence"
    if question.evidence and question.outdated and not _order(question.outdated) < _order(question.evidence):
        yield "what is outdated is said after the evidence"
    if not question.text.endswith("?") or not question.answer:
        yield "no question, or no answer"
    if question.evidence and _support(scenario, question) < config.supported:
        yield f"its evidence hardly says {question.answer!r}"
    if question.who is not None:
        yield from _who(scenario, question)


def _who(scenario: Scenario, question: Question) -> Iterator[str]:
    who, turns = question.who, scenario.turns
    if who is None or question.kind is not Kind.ATTRIBUTION or who.role not in ("speaker", "addressee"):
        yield "asks for people and is not of kind attribution, or by no known role"
        return
    if who.role == "speaker":
        people = {turns[id].speaker for id in question.evidence}
    else:
        people = {name for id in question.evidence for name in spoken_to(scenario, id)}
    if people != set(who.people):
        yield f"asks for {sorted(who.people)}; by the evidence: {sorted(people)}"


def _personalised(questions: Iterable[Question]) -> Iterator[str]:
    by_text: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_text[question.text].append(question)
    for text, asked in by_text.items():
        if len({q.asker for q in asked}) < 2 or len({q.evidence for q in asked}) < 2:
            yield f"{text!r} is not asked by two who get different evidence"


def spoken_to(scenario: Scenario, turn_id: str) -> frozenset[str]:
    """To whom a turn is said: as given, else everybody there."""
    turn = scenario.turns[turn_id]
    session = next(s for s in scenario.sessions if turn in s.turns)
    return frozenset(turn.addressees) or session.present(turn_id) - {turn.speaker}


def _support(scenario: Scenario, question: Question) -> float:
    """Share of the words of the answer that its evidence, those who say and hear it, or the question have."""
    turns = scenario.turns
    turns_said = (f"{turns[id].speaker} {' '.join(turns[id].addressees)} {turns[id].text}" for id in question.evidence)
    said = " ".join((*turns_said, question.text))
    needed = _stems(question.answer)
    return len(needed & _stems(said)) / max(1, len(needed))


def _stems(text: str) -> frozenset[str]:
    """First five letters of the words that carry something."""
    return frozenset(w[:5] for w in re.findall(r"[a-z0-9]+", text.lower()) if len(w) > 2 and w not in COMMON)


def _jaccard(one: str, other: str) -> float:
    words, others = (set(re.findall(r"[a-z']+", text.lower())) for text in (one, other))
    return len(words & others) / len(words | others) if min(len(words), len(others)) >= 5 else 0.0


def _order(ids: Iterable[str]) -> tuple[int, int]:
    """Session and number of the last of `ids`."""
    return max((int(m[1]), int(m[2])) for id in ids if (m := ORDER.fullmatch(id)))
