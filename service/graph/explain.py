"""Why is this message held to be this person's? The decision as it was made, what it rests on, and what has changed since.

Who may read a message may know how its speaker was found, with the limits that hold everywhere: a runner-up they do not
know of is a number, evidence they may not read is left out, and what somebody wrote as a reason is for who reads all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from service.errors import NotFound
from service.graph.driver import rows
from service.graph.inbox import Suggestion, list_suggestions
from service.graph.people import find_people
from service.types.people import Person

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

MAX_EVIDENCE = 24
"""Turns that a voice is known by: at most 12 a channel are kept, two channels are the usual."""
MACHINE = frozenset({"router", "settlement", "account", "voicegraph"})
"""What decides without a human; all others are people, and which of them is for who reads all."""


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision with everything it was based on; cosines in [-1, 1], None where there was nothing to compare."""

    decision: str | None
    """link | create | assigned | corrected | unresolved"""
    cosine: float | None
    runner_up: float | None
    margin: float | None
    threshold: float | None
    """What the cosine was compared with."""
    channels: str | None
    """What the threshold is for: wideband | telephone | cross | compensated"""
    policy: str | None
    encoder: str | None
    by: str | None
    """router, settlement, account (a login), voicegraph (a merge), or `somebody`: a human."""
    reason: str | None
    person: Person | None
    """As merges show them; None for nobody, and for somebody the viewer may not know of."""
    runner_up_person: Person | None


@dataclass(frozen=True, slots=True)
class MergeApplied:
    """A merge between the voice that was decided for and the person shown."""

    by: str
    why: str | None
    confirmed: bool
    """Only confirmed merges widen what somebody may read."""
    cosine: float | None
    correction_id: str | None
    """What undoes it; only for who reads all."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An exemplar: a turn that the speaker's voice is known by."""

    message_id: str
    net_speech: float
    snr_db: float | None
    channel: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    message_id: str
    turn: Decided
    """As it stands on SPEAKS; while unresolved, what was found and not believed."""
    local_speaker: str
    label: str | None
    """The local speaker's, as diariser, channel or platform gave it."""
    voice: Decided | None
    """Whose the local speaker as a whole was decided to be; decides for its turns that were too short or too noisy."""
    net_speech: float | None
    """Seconds of this speaker alone."""
    overlapped: float | None
    """Seconds while somebody else spoke too."""
    snr_db: float | None
    channel: str | None
    learned: bool
    """The turn itself is one that the voice is known by now."""
    evidence: tuple[Evidence, ...]
    """Visible turns that the voice decided for is known by now, in spoken order; this turn is not among them."""
    from_enrolment: int
    """How many pieces of an enrolment clip it is known by besides."""
    merges: tuple[MergeApplied, ...]
    """From the voice decided for to the person shown, in that order."""
    suggestions: tuple[Suggestion, ...]
    """Whom the local speaker may be, while the turn is nobody's."""


FIND_DECISIONS = """
MATCH (m:Message {id: $message_id, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
MATCH (l:LocalSpeaker)-[u:UTTERED]->(m)
RETURN m {.net_speech, .overlapped, .snr_db, .channel, .decision, .reason} AS message, l {.id, .label} AS voice,
  u {.cosine, .runner_up, .runner_up_id, .margin, .threshold, .channels, .policy, .encoder, .by, .reason} AS uttered,
  head(COLLECT {
    MATCH (p:Person)-[s:SPEAKS]->(m)
    MATCH (p) ((from:Person)-[merged:MERGED_INTO]->(:Person)){0,12} (shown:Person)
    WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
    RETURN {member: p.id, person: shown.id,
      edge: s {.decision, .cosine, .runner_up, .runner_up_id, .margin, .threshold, .channels, .policy, .encoder, .by, .reason},
      merges: [r IN merged | r {.by, .why, .confirmed, .cosine, .correction}]}
  }) AS spoken,
  head(COLLECT {
    MATCH (l)-[i:IS]->(p:Person)
    MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person) WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
    RETURN {person: shown.id,
      edge: i {.decision, .cosine, .runner_up, .runner_up_id, .margin, .threshold, .channels, .policy, .encoder, .by, .reason}}
  }) AS bound
"""

FIND_ROOTS = """
UNWIND $ids AS wanted
MATCH (:Person {id: wanted, space: $space}) (()-[:MERGED_INTO]->()){0,12} (shown:Person)
WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
RETURN wanted, shown.id AS person_id
"""

LIST_EVIDENCE = """
MATCH (:Person {id: $member, space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar)
WHERE e.encoder = $encoder AND e.twin_of IS NULL
MATCH (m:Message {id: e.message_id, space: $space})-[:FOR]->(a:Audience)
WHERE a.id IN $audiences
RETURN m.id AS message_id, e.net_speech AS net_speech, e.snr_db AS snr_db, e.channel AS channel
ORDER BY m.said_at, m.id
"""

COUNT_ENROLMENT = """
MATCH (:Person {id: $member, space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar)
WHERE e.encoder = $encoder AND e.twin_of IS NULL AND NOT EXISTS { MATCH (m:Message {id: e.message_id}) RETURN m }
RETURN count(e) AS n
"""


async def get_explanation(tx: Tx, scope: ReadScope, message_id: str) -> Explanation:
    """Raises NotFound, the same for what does not exist and for what lies outside the scope."""
    found = await rows(tx, FIND_DECISIONS, space=scope.space, audiences=scope.audiences, message_id=message_id)
    if not found:
        raise NotFound(kind="message", id=message_id)
    row = found[0]
    spoken, bound, message = row["spoken"], row["bound"], row["message"]
    turn = spoken["edge"] if spoken else {**row["uttered"], "decision": message["decision"], "reason": message["reason"]}
    people = await _people(tx, scope, spoken, bound, [turn, bound["edge"] if bound else {}])
    evidence, from_enrolment = await _evidence(tx, scope, spoken)
    suggestions = {} if spoken else await list_suggestions(tx, scope, [row["voice"]["id"]])
    return Explanation(
        message_id=message_id,
        turn=_decided(scope, turn, spoken and spoken["person"], people),
        local_speaker=row["voice"]["id"],
        label=row["voice"]["label"],
        voice=_decided(scope, bound["edge"], bound["person"], people) if bound else None,
        net_speech=message["net_speech"],
        overlapped=message["overlapped"],
        snr_db=message["snr_db"],
        channel=message["channel"],
        learned=any(e.message_id == message_id for e in evidence),
        evidence=tuple(e for e in evidence if e.message_id != message_id)[:MAX_EVIDENCE],
        from_enrolment=from_enrolment,
        merges=tuple(_merge(scope, merge) for merge in (spoken["merges"] if spoken else ())),
        suggestions=suggestions.get(row["voice"]["id"], ()),
    )


async def _people(tx: Tx, scope: ReadScope, spoken: Any, bound: Any, edges: list[Mapping[str, Any]]) -> dict[str, Person]:
    """Visible people named in the decisions, by the ids that the decisions have (a runner-up may have been merged since)."""
    runners_up = sorted({edge["runner_up_id"] for edge in edges if edge.get("runner_up_id")})
    roots = {row["wanted"]: row["person_id"] for row in await rows(tx, FIND_ROOTS, space=scope.space, ids=runners_up)}
    shown = {one["person"] for one in (spoken, bound) if one}
    known = await find_people(tx, scope, sorted(shown | set(roots.values())))
    return {**known, **{id: known[root] for id, root in roots.items() if root in known}}


async def _evidence(tx: Tx, scope: ReadScope, spoken: Any) -> tuple[list[Evidence], int]:
    if not spoken or not spoken["edge"]["encoder"]:
        return [], 0
    of = {"space": scope.space, "member": spoken["member"], "encoder": spoken["edge"]["encoder"]}
    found = await rows(tx, LIST_EVIDENCE, audiences=scope.audiences, **of)
    (enrolled,) = await rows(tx, COUNT_ENROLMENT, **of)
    return [Evidence(**row) for row in found], int(enrolled["n"])


def _decided(scope: ReadScope, edge: Mapping[str, Any], person_id: str | None, people: Mapping[str, Person]) -> Decided:
    by = edge["by"]
    return Decided(
        decision=edge["decision"],
        cosine=edge["cosine"],
        runner_up=edge["runner_up"],
        margin=edge["margin"],
        threshold=edge["threshold"],
        channels=edge["channels"],
        policy=edge["policy"],
        encoder=edge["encoder"],
        by=_who(scope, by),
        reason=edge["reason"] if by in MACHINE or scope.reads_all else None,
        person=people.get(person_id or ""),
        runner_up_person=people.get(edge["runner_up_id"] or ""),
    )


def _merge(scope: ReadScope, edge: Mapping[str, Any]) -> MergeApplied:
    return MergeApplied(
        by=_who(scope, edge["by"]) or "somebody",
        why=edge["why"] if edge["by"] in MACHINE or scope.reads_all else None,
        confirmed=bool(edge["confirmed"]),
        cosine=edge["cosine"],
        correction_id=edge["correction"] if scope.reads_all else None,
    )


def _who(scope: ReadScope, by: str | None) -> str | None:
    return by if by is None or by in MACHINE or scope.reads_all else "somebody"
