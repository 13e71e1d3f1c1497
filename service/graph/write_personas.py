"""How is it written how a turn's speaker felt, and what of it stays? Only of people who agreed to it, in a space that is no
workplace: both are looked at in the transaction that writes, under the lock that giving and withdrawing consent take, too.

A turn's affect names whose it is (`affect_of`): where the turn is put down to somebody else later, it is nobody's until it is
read again. The nodes of a person are those of their own id: merging and undoing a merge moves none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from service.graph.cypher import holding
from service.graph.driver import Tx, rows
from service.graph.forget_inferred import INFER_PERSONA
from service.graph.spaces import lock_space
from service.types.affect import Aspect, Emotion, Mark, Persona, Prosody, Shown, TurnAffect
from service.types.facts import ADDRESSEE
from service.types.ids import derived
from service.types.memory import SessionStatus


@dataclass(frozen=True, slots=True)
class TurnToFeel:
    """A turn of somebody who agreed, as the reader of feelings gets it; for nobody else: no gate stands before it."""

    message_id: str
    person: str
    text: str
    language: str | None
    start: float
    end: float
    net_speech: float
    level: float | None
    channel: str | None
    track: str
    """Label of its voice within the session."""
    audience: str | None
    """Id of the Audience that may read it; None: not settled."""
    pending: bool
    """Not read yet, or as somebody else's."""
    prosody: Prosody | None
    """As measured before."""


LIST_WILLING = holding("""
MATCH (s:Space {id: $space}) WHERE NOT coalesce(s.workplace, false)
MATCH (p:Person {space: $space}) WHERE p.id IN $ids AND coalesce(p.tombstone, false) = false
WITH p, COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: $purpose})
                  <holds> } AS own,
  COLLECT {
    MATCH (p)-[:MERGED_INTO]-+(member:Person)
    WITH DISTINCT member WHERE member <> p
    RETURN COLLECT { MATCH (member)-[:GAVE]->(c:Consent {purpose: $purpose})
                     <holds> }[0]
  } AS of_set
WHERE own = ['granted'] AND none(state IN of_set WHERE coalesce(state, '') IN ['withdrawn', 'opted_out'])
RETURN p.id AS id
""")

LIST_TURNS_TO_FEEL = """
MATCH (m:Message)-[:IN_SESSION]->(s:Session {space: $space, id: $session_id, status: $complete})
WHERE m.text IS NOT NULL AND m.erased_at IS NULL
MATCH (p:Person)-[:SPEAKS]->(m)
MATCH (l:LocalSpeaker)-[:UTTERED]->(m)
RETURN m {message_id: m.id, .text, .language, .start, .end, .net_speech, .channel, .audience, level: m.level_dbfs} AS turn,
       p.id AS person, l.label AS track, coalesce(m.affect_of, '') <> p.id OR coalesce(m.affect_by, '') <> $by AS pending,
       CASE WHEN m.affect_of = p.id THEN m {.pitch, .pitch_range, rate: m.speech_rate} END AS prosody
ORDER BY m.index
"""

LIST_MEASURED_BEFORE = """
MATCH (s:Session {space: $space, id: $session_id})
UNWIND $people AS person
MATCH (p:Person {space: $space, id: person})
RETURN person, COLLECT {
  MATCH (p)-[:SPEAKS]->(m:Message)
  WHERE m.affect_of = p.id AND m.pitch IS NOT NULL AND m.said_at < s.started_at
  RETURN m {.channel, .pitch, .pitch_range, rate: m.speech_rate, level: m.level_dbfs} ORDER BY m.said_at DESC, m.id LIMIT $limit
} AS measured
"""

LIST_SESSIONS_TO_FEEL = holding("""
MATCH (space:Space {id: $space}) WHERE NOT coalesce(space.workplace, false)
MATCH (p:Person {space: $space})-[:GAVE]->(:Consent {purpose: $purpose, state: 'granted'})
WITH DISTINCT p
WHERE COLLECT { MATCH (p)-[:GAVE]->(c:Consent {purpose: $purpose})
                <holds> } = ['granted']
MATCH (p)-[:SPEAKS]->(m:Message)-[:IN_SESSION]->(s:Session {status: $complete})
WHERE m.text IS NOT NULL AND ($again OR coalesce(m.affect_of, '') <> p.id OR coalesce(m.affect_by, '') <> $by)
WITH DISTINCT s
RETURN s.id AS id ORDER BY s.started_at, id
""")

SAVE_AFFECT = """
UNWIND $turns AS row
MATCH (p:Person {space: $space, id: row.person})-[:SPEAKS]->(m:Message {space: $space, id: row.message_id})
SET m += row.properties, m.affect_of = p.id, m.affect_by = $by
"""

LIST_SHOWN_OF = """
MATCH (p:Person {space: $space, id: $person})-[:SPEAKS]->(m:Message)
WHERE m.affect_of = p.id
RETURN m.id AS message_id, m.session_id AS session_id, m.said_at AS said_at, m.marks AS marks,
       COLLECT { MATCH (m)-[to:ADDRESSES]->(q:Person) WHERE to.confidence >= $sure
                 RETURN q.id ORDER BY to.confidence DESC, q.id LIMIT 2 } AS addressees
ORDER BY said_at, message_id
"""

LIST_FELT_IN = """
MATCH (m:Message)-[:IN_SESSION]->(s:Session {space: $space})
WHERE s.id IN $sessions AND m.affect_of IS NOT NULL
RETURN DISTINCT m.affect_of AS id ORDER BY id
"""

SAVE_PERSONAS = """
MATCH (p:Person {space: $space, id: $person})
UNWIND $personas AS row
MERGE (n:PersonaNode {id: row.id})
ON CREATE SET n.space = $space, n.created_at = datetime()
SET n += row.properties
MERGE (p)-[:HAS_PERSONA]->(n)
WITH n, row
CALL (n) {
  MATCH (n)-[old:EVIDENCED_BY|CROSS_BRAIN]->()
  DELETE old
}
CALL (n, row) {
  UNWIND row.evidence AS message
  MATCH (m:Message {space: $space, id: message})
  MERGE (n)-[:EVIDENCED_BY]->(m)
}
CALL (n, row) {
  MATCH (q:Person {space: $space, id: row.concerns})
  MERGE (n)-[:CROSS_BRAIN]->(q)
}
CALL (n, row) {
  UNWIND row.evidence AS message
  MATCH (:Message {space: $space, id: message})<-[said:MENTIONED_IN]-(e:Entity)
  WHERE e.normal_name IN row.named OR toLower(said.surface) IN row.named
  MERGE (n)-[:CROSS_BRAIN]->(e)
}
"""

FORGET_OTHER_PERSONAS = """
MATCH (p:Person {space: $space, id: $person})-[:HAS_PERSONA]->(n:PersonaNode)
WHERE NOT n.id IN $ids
DETACH DELETE n
"""

SURE = 0.5
"""Confidence of an addressee from which on "you" is them: likelier than not."""


async def list_willing(tx: Tx, space: str, people: Sequence[str], purpose: str = INFER_PERSONA) -> frozenset[str]:
    """Those of `people` of whom something may be inferred (or what else `purpose` says): they agreed themselves, nobody merged
    with them refused, and the space is no workplace."""
    found = await rows(tx, LIST_WILLING, space=space, ids=list(people), purpose=purpose)
    return frozenset(row["id"] for row in found)


async def list_turns_to_feel(tx: Tx, space: str, session_id: str, by: str) -> tuple[TurnToFeel, ...]:
    """Turns with words of a complete session by people who agreed, in spoken order; none of a session that is not complete."""
    found = await rows(
        tx, LIST_TURNS_TO_FEEL, space=space, session_id=session_id, by=by, complete=SessionStatus.COMPLETE.value
    )  # fmt: skip
    willing = await list_willing(tx, space, sorted({row["person"] for row in found})) if found else frozenset()
    return tuple(
        TurnToFeel(
            **row["turn"],
            person=row["person"],
            track=row["track"],
            pending=row["pending"],
            prosody=_prosody(row["prosody"], row["turn"]["level"]),
        )
        for row in found
        if row["person"] in willing
    )


async def list_measured_before(
    tx: Tx, space: str, session_id: str, people: Sequence[str], limit: int
) -> dict[str, list[tuple[str | None, Prosody]]]:
    """How each of `people` sounded before this session, with the channel, the newest first."""
    found = await rows(tx, LIST_MEASURED_BEFORE, space=space, session_id=session_id, people=list(people), limit=limit)
    return {
        row["person"]: [(one["channel"], made) for one in row["measured"] if (made := _prosody(one, one["level"])) is not None]
        for row in found
    }


async def list_sessions_to_feel(tx: Tx, space: str, by: str, *, again: bool = False) -> list[str]:
    """Ids of complete sessions with turns of people who agreed that are not read yet, the oldest first; `again`: with any."""
    found = await rows(
        tx, LIST_SESSIONS_TO_FEEL, space=space, by=by, again=again, purpose=INFER_PERSONA, complete=SessionStatus.COMPLETE.value
    )  # fmt: skip
    return [row["id"] for row in found]


async def save_affect(tx: Tx, space: str, turns: Sequence[tuple[str, TurnAffect]], by: str) -> frozenset[str]:
    """Write (person, affect) of turns that are still theirs, of those who still agree; these people."""
    await lock_space(tx, space)
    willing = await list_willing(tx, space, sorted({person for person, _ in turns}))
    batch = [
        {"person": person, "message_id": turn.message_id, "properties": _properties(turn)}
        for person, turn in turns
        if person in willing
    ]
    await tx.run(SAVE_AFFECT, space=space, turns=batch, by=by)
    return willing


async def list_shown_of(tx: Tx, space: str, person: str) -> tuple[list[Shown], dict[str, datetime]]:
    """What turns that are this very person's show of them, targets as they were said (a slot where it is whom the turn is
    said to), and when they were first heard in each session that was read."""
    return shown_and_heard(await rows(tx, LIST_SHOWN_OF, space=space, person=person, sure=SURE))


async def list_felt_in(tx: Tx, space: str, sessions: Sequence[str]) -> list[str]:
    """Ids of the people whose turns of these sessions were read, whoever these are put down to now."""
    return [row["id"] for row in await rows(tx, LIST_FELT_IN, space=space, sessions=list(sessions))]


async def save_personas(tx: Tx, space: str, person: str, personas: Sequence[Persona], described: Mapping[Persona, str]) -> None:
    """The person has these nodes and no others; none where they do not agree (any more). The caller holds the lock."""
    if person not in await list_willing(tx, space, [person]):
        personas = ()
    batch = [{"id": persona_id(person, one), **_node(one, described[one])} for one in personas]
    await tx.run(FORGET_OTHER_PERSONAS, space=space, person=person, ids=[row["id"] for row in batch])
    if batch:
        await tx.run(SAVE_PERSONAS, space=space, person=person, personas=batch)


def persona_id(person: str, persona: Persona) -> str:
    return derived("persona", person, *persona.key)


def shown_and_heard(found: Sequence[Mapping[str, Any]]) -> tuple[list[Shown], dict[str, datetime]]:
    """Of rows with message_id, session_id, said_at, marks and addressees, the earliest first: what they show ("you" is the
    addressee where it is one alone), and when each session's first was."""
    heard: dict[str, datetime] = {}
    shown = []
    for row in found:
        heard.setdefault(row["session_id"], row["said_at"])
        for mark in map(mark_of, json.loads(row["marks"] or "[]")):
            target = _target(mark, row["addressees"])
            shown.append(Shown(mark, row["message_id"], row["session_id"], row["said_at"], target))
    return shown, heard


def _target(mark: Mark, addressees: Sequence[str]) -> str | None:
    if mark.target != ADDRESSEE:
        return mark.target
    return f"person:{addressees[0]}" if len(addressees) == 1 else None


def mark_of(told: Mapping[str, Any]) -> Mark:
    emotion = told.get("emotion")
    return Mark(**{**told, "aspect": Aspect(told["aspect"]), "emotion": Emotion(emotion) if emotion else None})


def _prosody(measured: Mapping[str, Any] | None, level: float | None) -> Prosody | None:
    if measured is None or measured["pitch"] is None:
        return None
    return Prosody(measured["pitch"], measured["pitch_range"], level or 0.0, measured["rate"])


def _properties(turn: TurnAffect) -> dict[str, Any]:
    """With what is not there as null: that takes away what an earlier reading said."""
    sound = turn.prosody
    marks = [{name: value for name, value in asdict(mark).items() if value not in (None, False)} for mark in turn.marks]
    return {
        "valence": turn.affect.valence,
        "arousal": turn.affect.arousal,
        "emotion": turn.affect.emotion.value if turn.affect.emotion else None,
        "marks": json.dumps(marks, ensure_ascii=False) if marks else None,
        **({"pitch": sound.pitch, "pitch_range": sound.pitch_range, "speech_rate": sound.rate} if sound else {}),
    }


def _node(persona: Persona, description: str) -> dict[str, Any]:
    target = persona.target or ""
    person = target.removeprefix("person:") if target.startswith("person:") else None
    plain = (persona.words or "").casefold()
    named = [] if person or not plain else sorted({plain, plain.removeprefix("my "), target})
    return {
        "evidence": list(persona.evidence),
        "concerns": person,
        "named": named if persona.kind.value == "cross_entity" else [],
        "properties": {
            "kind": persona.kind.value,
            "aspect": persona.aspect.value,
            "emotion": persona.emotion.value if persona.emotion else None,
            "description": description,
            "polarity": persona.polarity,
            "intensity": persona.intensity,
            "support": persona.support,
            "num_sessions": persona.num_sessions,
            "since": persona.since,
            "last_shown": persona.last,
        },
    }
