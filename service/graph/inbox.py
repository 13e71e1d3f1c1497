"""Who is this? Voices that nobody has a name for, with what may help to tell: when they were heard, whom they may be, and
which names are proposed. Two kinds: turns of a session's voice that were left unresolved, and people without a name.

All of it counts and shows visible turns only, suggests visible people only, and never a pair that somebody rejected. Who has
a name that the viewer may not know (service.graph.people) is without one here, too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows
from service.graph.names import ProposedName, list_names_of
from service.graph.paging import Page, Paged, paged, parameters
from service.graph.people import find_people
from service.graph.write_names import CONTRADICTING_LABEL
from service.types.people import Person

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx

MAX_HEARD = 20
"""Sessions told of one voice, the latest; `num_turns` counts the turns of all."""
MAX_TURNS = 5
"""Turns shown of one voice: enough to know somebody by what they said."""
MAX_SUGGESTED = 10
"""People suggested for one voice; more help nobody to decide."""
MAX_UNRESOLVED = 1_000
"""Turns of one local speaker that can be given to somebody at once."""


class UnknownKind(StrEnum):
    LOCAL_SPEAKER = "local_speaker"
    """A voice within one session; its turns are nobody's yet."""
    PERSON = "person"
    """Recognised from session to session, and never named."""


@dataclass(frozen=True, slots=True)
class Heard:
    """When the voice was heard in one session: from the first to the last of its visible turns."""

    session_id: str
    start: float
    """Seconds from the session's start."""
    end: float
    num_turns: int


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Somebody the voice may be."""

    person: Person
    cosine: float | None
    """Of the two voices, [-1, 1]; None where no voices were compared."""
    margin: float | None
    """Ahead of the next likeliest person, [0, 2]."""
    threshold: float | None
    """From which cosine on it would have been decided without asking."""
    why: str
    """exclusive | alike | contradicting_label; account | contradicts_account | several_accounts: by the login it came with; or
    same_voice: other turns of the same voice are this person's."""


@dataclass(frozen=True, slots=True)
class UnknownVoice:
    id: str
    """Of the LocalSpeaker or of the Person."""
    kind: UnknownKind
    label: str | None
    """The name that diariser, channel or platform gave a local speaker; means nothing outside the session."""
    num_turns: int
    net_speech: float
    """Seconds of speech in these turns."""
    first_heard: datetime
    last_heard: datetime
    """Start of the first and of the last of these turns, UTC."""
    heard: tuple[Heard, ...]
    """By session, at most MAX_HEARD, the latest first."""
    turns: tuple[str, ...]
    """Ids of at most MAX_TURNS messages: those with most speech, in spoken order."""
    unresolved: tuple[str, ...] = ()
    """Ids of all these turns of a local speaker, in spoken order, at most MAX_UNRESOLVED: to give them to somebody."""
    people: tuple[Suggestion, ...] = ()
    """The likeliest first."""
    names: tuple[ProposedName, ...] = ()


_nameless = """coalesce(shown.kind, '') <> 'bot' AND coalesce(shown.tombstone, false) = false AND NOT EXISTS {
    MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person) WHERE p.display_name IS NOT NULL
    OPTIONAL MATCH (n:NameProposal {id: p.named_by})
    WITH p, n WHERE n IS NULL OR $reads_all OR EXISTS {
      MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (same:Person) WHERE same.id IN $themselves RETURN same
    } OR EXISTS { MATCH (n)-[:EVIDENCED_BY]->(:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences RETURN a }
    RETURN p
  }"""
"""Part of queries, not one itself: `shown` is no bot, lives, and nobody of those merged into one with them has a name that
the viewer may know: an automatic one is for whoever may read a turn it rests on, and for its bearer."""

LIST_UNKNOWN = """
CALL () {
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(m:Message {space: $space})<-[:UTTERED]-(l:LocalSpeaker)
  WHERE NOT EXISTS { (m)<-[:SPEAKS]-() } AND NOT 'bot' IN coalesce(m.doubts, [])
  RETURN l.id AS id, m.said_at AS said_at
  UNION ALL
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(m:Message {space: $space})<-[:SPEAKS]-(p:Person)
  MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person)
  WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
  WITH shown, max(m.said_at) AS said_at
  WHERE <nameless>
  RETURN shown.id AS id, said_at
}
WITH id, max(said_at) AS last
WITH [last.epochSeconds * 1000000000 + last.nanosecond, id] AS place
WHERE ($above IS NULL OR place > $above) AND ($below IS NULL OR place < $below)
RETURN place ORDER BY CASE WHEN NOT $reverse THEN place END, CASE WHEN $reverse THEN place END DESC LIMIT $limit
""".replace("<nameless>", _nameless)


async def list_unknown(tx: Tx, scope: ReadScope, *, page: Page) -> Paged[UnknownVoice]:
    """Unknown voices with a visible turn, those heard last first."""
    found = await rows(tx, LIST_UNKNOWN, **scope.gate, **parameters(page, newest_first=True))
    places = [row["place"] for row in found]
    return paged(page, places, await find_unknown(tx, scope, [id for _, id in places]))


COUNT_UNKNOWN = """
CALL () {
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(m:Message {space: $space})<-[:UTTERED]-(l:LocalSpeaker)
  WHERE NOT EXISTS { (m)<-[:SPEAKS]-() } AND NOT 'bot' IN coalesce(m.doubts, [])
  RETURN l.id AS id
  UNION
  MATCH (a:Audience) WHERE a.id IN $audiences
  MATCH (a)<-[:FOR]-(m:Message {space: $space})<-[:SPEAKS]-(p:Person)
  MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person)
  WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
  WITH DISTINCT shown
  WHERE <nameless>
  RETURN shown.id AS id
}
RETURN count(id) AS n
""".replace("<nameless>", _nameless)


async def count_unknown(tx: Tx, scope: ReadScope) -> int:
    (row,) = await rows(tx, COUNT_UNKNOWN, **scope.gate)
    return int(row["n"])


FIND_UNKNOWN = """
UNWIND $ids AS wanted
CALL (wanted) {
  MATCH (l:LocalSpeaker {id: wanted, space: $space})-[:UTTERED]->(m:Message)-[:FOR]->(a:Audience)
  WHERE a.id IN $audiences AND NOT EXISTS { (m)<-[:SPEAKS]-() }
  RETURN 'local_speaker' AS kind, l.label AS label, m
  UNION
  MATCH (shown:Person {id: wanted, space: $space})
  WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() }
  AND <nameless>
  MATCH (shown) (()<-[:MERGED_INTO]-()){0,12} (p:Person)
  MATCH (p)-[:SPEAKS]->(m:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
  RETURN 'person' AS kind, null AS label, m
}
WITH wanted, kind, label, m ORDER BY coalesce(m.net_speech, 0.0) DESC, m.said_at, m.id
WITH wanted, kind, label, m.session_id AS session_id, collect(m)[..$max_turns] AS longest, count(m) AS num_turns,
  collect(CASE kind WHEN 'local_speaker' THEN m END) AS unresolved,
  min(m.start) AS start, max(m.end) AS end, sum(m.net_speech) AS net_speech, min(m.said_at) AS first, max(m.said_at) AS last
ORDER BY last DESC, session_id
WITH wanted, kind, label, sum(num_turns) AS num_turns, toFloat(sum(net_speech)) AS net_speech, min(first) AS first,
  max(last) AS last, collect({session_id: session_id, start: start, end: end, num_turns: num_turns})[..$max_heard] AS heard,
  collect(longest) AS longest, collect(unresolved) AS unresolved
RETURN wanted AS id, kind, label, num_turns, net_speech, first, last, heard, COLLECT {
  UNWIND unresolved AS some UNWIND some AS m
  RETURN m.id ORDER BY m.said_at, m.id LIMIT $max_unresolved
} AS unresolved, COLLECT {
  UNWIND longest AS some UNWIND some AS m
  WITH m ORDER BY coalesce(m.net_speech, 0.0) DESC, m.said_at, m.id LIMIT $max_turns
  RETURN m.id ORDER BY m.said_at, m.id
} AS turns
""".replace("<nameless>", _nameless)


async def find_unknown(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, UnknownVoice]:
    """Those of `ids` (local speakers and people) that are unknown voices with a visible turn, by id."""
    found = await rows(
        tx,
        FIND_UNKNOWN,
        **scope.gate,
        ids=list(ids),
        max_heard=MAX_HEARD,
        max_turns=MAX_TURNS,
        max_unresolved=MAX_UNRESOLVED,
    )
    if not found:
        return {}
    unknown = [row["id"] for row in found]
    people = await list_suggestions(tx, scope, unknown)
    names = await list_names_of(tx, scope, unknown)
    return {row["id"]: _unknown(row, people.get(row["id"], ()), names.get(row["id"], ())) for row in found}


LIST_SUGGESTIONS = """
UNWIND $ids AS wanted
CALL (wanted) {
  MATCH (l:LocalSpeaker {id: wanted, space: $space})-[b:MAY_BE]->(p:Person)
  RETURN p, b {.cosine, .margin, .threshold, .why} AS b
  UNION
  MATCH (l:LocalSpeaker {id: wanted, space: $space})-[i:IS]->(p:Person)
  RETURN p, i {.cosine, .margin, .threshold, why: 'same_voice'} AS b
  UNION
  MATCH (:Person {id: wanted, space: $space}) (()<-[:MERGED_INTO]-()){0,12} (one:Person)-[b:MAY_BE]-(p:Person)
  RETURN p, b {.cosine, .margin, .threshold, .why} AS b
}
MATCH (p) (()-[:MERGED_INTO]->()){0,12} (shown:Person)
WHERE NOT EXISTS { (shown)-[:MERGED_INTO]->() } AND shown.id <> wanted AND NOT EXISTS {
  MATCH (:Person {id: wanted, space: $space}) (()<-[:MERGED_INTO]-()){0,12} (one:Person)-[:NOT_SAME_AS]-(other:Person)
  MATCH (other) (()-[:MERGED_INTO]->()){0,12} (same:Person {id: shown.id})
  RETURN same
}
RETURN wanted, shown.id AS person_id, b
"""


async def list_suggestions(tx: Tx, scope: ReadScope, ids: Sequence[str]) -> dict[str, tuple[Suggestion, ...]]:
    """Visible people that each of `ids` (local speakers, and people as merges show them) may be, the likeliest first. Whose
    name a label gives, they know who know that name."""
    found = await rows(tx, LIST_SUGGESTIONS, space=scope.space, ids=list(ids))
    people = await find_people(tx, scope, sorted({row["person_id"] for row in found}))
    best: dict[str, dict[str, Suggestion]] = defaultdict(dict)
    for row in found:
        if row["person_id"] not in people:
            continue
        if row["b"]["why"] == CONTRADICTING_LABEL and people[row["person_id"]].display_name is None:
            continue  # the label would tell the name
        one, before = Suggestion(people[row["person_id"]], **row["b"]), best[row["wanted"]].get(row["person_id"])
        if before is None or _likely(one) < _likely(before):
            best[row["wanted"]][row["person_id"]] = one
    return {id: tuple(sorted(of.values(), key=_likely)[:MAX_SUGGESTED]) for id, of in best.items()}


def _likely(suggestion: Suggestion) -> tuple[float, str, str]:
    """Sort key: the likeliest first; without a cosine last."""
    return -(suggestion.cosine if suggestion.cosine is not None else -2.0), suggestion.why, suggestion.person.id


def _unknown(row: Mapping[str, Any], people: tuple[Suggestion, ...], names: tuple[ProposedName, ...]) -> UnknownVoice:
    return UnknownVoice(
        id=row["id"],
        kind=UnknownKind(row["kind"]),
        label=row["label"],
        num_turns=row["num_turns"],
        net_speech=row["net_speech"],
        first_heard=row["first"],
        last_heard=row["last"],
        heard=tuple(Heard(**heard) for heard in row["heard"]),
        turns=tuple(row["turns"]),
        unresolved=tuple(row["unresolved"]),
        people=people,
        names=names,
    )
