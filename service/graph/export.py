"""What is kept of one person? Read for themselves (their ReadScope), label by label, a page at a time; what others said is told
as far as they may read it, and what of it is others' is left out. Of who is erased, and of messages that are, there is nothing
from the moment they are hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from service.graph.driver import rows

if TYPE_CHECKING:
    from service.graph.access import ReadScope
    from service.graph.driver import Tx


@dataclass(frozen=True, slots=True)
class Section:
    """One list of the export. `query` takes space, ids, audiences, names, accounts, after and limit, and returns `id`
    (rising), `node` (properties, or those that are told) and `more` (what edges tell)."""

    name: str
    label: str
    query: str
    without: frozenset[str] = field(default=frozenset())
    """Properties that are others', or that nobody could read anything in."""


PEOPLE = """
MATCH (p:Person {space: $space}) WHERE p.id IN $ids AND p.id > $after
RETURN p.id AS id, properties(p) AS node,
       {shown_as: head(COLLECT { MATCH (p)-[:MERGED_INTO]->(q:Person) WHERE q.id IN $ids RETURN q.id })} AS more
ORDER BY id LIMIT $limit
"""

MESSAGES = """
MATCH (p:Person {space: $space})-[r:SPEAKS]->(m:Message) WHERE p.id IN $ids AND m.id > $after
  AND EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH p, r, m ORDER BY m.id LIMIT $limit
RETURN m.id AS id, properties(m) AS node, {
  decided: r {.decision, .cosine, .margin, .threshold, .channels, .policy, .encoder},
  voice_of_the_session: head(COLLECT { MATCH (l:LocalSpeaker)-[:UTTERED]->(m) RETURN l.label }),
  said_to: COLLECT { MATCH (m)-[to:ADDRESSES]->(q:Person) RETURN {person_id: q.id, confidence: to.confidence, how: to.how}
                     ORDER BY q.id },
  replies_to: COLLECT { MATCH (m)-[:REPLIES_TO]->(before:Message)-[:FOR]->(a:Audience) WHERE a.id IN $audiences
                        RETURN before.id ORDER BY before.id },
  num_readers: head(COLLECT { MATCH (m)-[:FOR]->(a:Audience) RETURN a.num_readers })
} AS more
ORDER BY id
"""

SAID_TO_THEM = """
MATCH (m:Message)-[:ADDRESSES]->(p:Person {space: $space})
WHERE p.id IN $ids AND m.id > $after AND NOT coalesce(m.speaker_id, '') IN $ids
  AND EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH DISTINCT m ORDER BY m.id LIMIT $limit
RETURN m.id AS id, m {.text, .captions, .said_at, .session_id, .language, .start, .end, .speaker_id} AS node, {} AS more
ORDER BY id
"""

SPOKEN_OF = """
MATCH (e:Entity {space: $space, type: 'person'})-[said:MENTIONED_IN]->(m:Message)
WHERE e.normal_name IN $names AND m.id > $after AND NOT coalesce(m.speaker_id, '') IN $ids
  AND EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH DISTINCT m, e ORDER BY m.id LIMIT $limit
RETURN m.id AS id, m {.text, .said_at, .session_id, .speaker_id} AS node, {named: e.normal_name} AS more
ORDER BY id
"""

FACTS = """
MATCH (p:Person {space: $space})-[:SPEAKS]->(m:Message)<-[:EVIDENCED_BY {role: 'source'}]-(f:Fact)
WHERE p.id IN $ids AND f.id > $after AND EXISTS { MATCH (f)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH DISTINCT f, m ORDER BY f.id LIMIT $limit
RETURN f.id AS id, properties(f) AS node, {said_in: m.id} AS more
ORDER BY id
"""

SESSIONS = """
MATCH (s:Session {space: $space}) WHERE s.id > $after AND EXISTS {
  MATCH (p:Person)-[:ATTENDED]->(s) WHERE p.id IN $ids
  RETURN p
  UNION
  MATCH (p:Person)-[:SPEAKS]->(:Message)-[:IN_SESSION]->(s) WHERE p.id IN $ids
  RETURN p
}
WITH s ORDER BY s.id LIMIT $limit
RETURN s.id AS id, properties(s) AS node, {
  there: COLLECT { MATCH (p:Person)-[was:ATTENDED]->(s) WHERE p.id IN $ids RETURN {starts: was.starts, ends: was.ends,
                   source: was.source} }
} AS more
ORDER BY id
"""

EXEMPLARS = """
MATCH (p:Person {space: $space})-[:HAS_EXEMPLAR]->(e:Exemplar) WHERE p.id IN $ids AND e.id > $after
RETURN e.id AS id, properties(e) AS node, {} AS more
ORDER BY id LIMIT $limit
"""

PERSONAS = """
MATCH (p:Person {space: $space})-[:HAS_PERSONA]->(n:PersonaNode) WHERE p.id IN $ids AND n.id > $after
RETURN n.id AS id, properties(n) AS node, {
  rests_on: COLLECT { MATCH (n)-[:EVIDENCED_BY]->(m:Message) RETURN m.id ORDER BY m.id },
  concerns: COLLECT { MATCH (n)-[:CROSS_BRAIN]->(q) RETURN coalesce(q.normal_name, q.id) ORDER BY q.id }
} AS more
ORDER BY id LIMIT $limit
"""

SHARED = """
MATCH (p:Person {space: $space})-[r:SHARES]->(q:Person) WHERE p.id IN $ids
WITH r, q, r.trait + '/' + q.id AS id WHERE id > $after
RETURN id, r {.trait, .at, .against} AS node, {with_person: q.id} AS more
ORDER BY id LIMIT $limit
"""

SOUNDS = """
MATCH (a:AudioMemory {space: $space})-[:ATTACHED_TO]->(m:Message) WHERE m.speaker_id IN $ids AND a.of IN $ids AND a.id > $after
  AND EXISTS { MATCH (m)-[:FOR]->(said_to:Audience) WHERE said_to.id IN $audiences }
RETURN a.id AS id, properties(a) AS node, {heard_in: m.id} AS more
ORDER BY id LIMIT $limit
"""

IMAGES = """
MATCH (i:Image {space: $space})-[:ATTACHED_TO]->(m:Message) WHERE m.speaker_id IN $ids AND i.id > $after
  AND EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
RETURN i.id AS id, properties(i) AS node, {shown_with: m.id} AS more
ORDER BY id LIMIT $limit
"""

ENTITIES = """
MATCH (p:Person {space: $space})-[:SPEAKS]->(m:Message)<-[said:MENTIONED_IN]-(e:Entity) WHERE p.id IN $ids AND e.id > $after
  AND EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
WITH e, collect(DISTINCT m.id) AS messages, collect(DISTINCT said.surface) AS said_as
RETURN e.id AS id, properties(e) AS node, {
  spoken_of_in: messages, said_as: said_as, theme: head(COLLECT { MATCH (e)-[:IN_SCHEMA]->(t:Schema) RETURN t.label })
} AS more
ORDER BY id LIMIT $limit
"""

NAMES = """
MATCH (n:NameProposal {space: $space})-[:ABOUT]->(p:Person) WHERE p.id IN $ids AND n.id > $after
  AND EXISTS { (n)-[:EVIDENCED_BY]->(:Message) } AND NOT EXISTS {
    MATCH (n)-[:EVIDENCED_BY]->(m:Message)
    WHERE NOT EXISTS { MATCH (m)-[:FOR]->(a:Audience) WHERE a.id IN $audiences }
    RETURN m
  }
RETURN n.id AS id, properties(n) AS node, {} AS more
ORDER BY id LIMIT $limit
"""

ACCOUNTS = """
MATCH (a:Account {space: $space})-[r:IS]->(p:Person) WHERE p.id IN $ids AND a.id > $after
RETURN a.id AS id, properties(a) AS node, {
  since: r.at,
  there: COLLECT { MATCH (a)-[was:ATTENDED]->(s:Session) RETURN {session_id: s.id, starts: was.starts, ends: was.ends} }
} AS more
ORDER BY id LIMIT $limit
"""

GRANTS = """
MATCH (g:Grant {space: $space})-[:LETS_ASK_FOR]->(p:Person) WHERE p.id IN $ids AND g.id > $after
RETURN g.id AS id, g {.*, why: CASE WHEN g.by IN $accounts THEN g.why END} AS node, {person_id: p.id} AS more
ORDER BY id LIMIT $limit
"""

CONSENTS = """
MATCH (p:Person {space: $space})-[:GAVE]->(c:Consent) WHERE p.id IN $ids AND c.id > $after
RETURN c.id AS id, properties(c) AS node, {person_id: p.id} AS more
ORDER BY id LIMIT $limit
"""

OPT_OUTS = """
MATCH (p:Person {space: $space})-[:REFUSED]->(o:OptOut) WHERE p.id IN $ids AND o.id > $after
RETURN o.id AS id, properties(o) AS node, {} AS more
ORDER BY id LIMIT $limit
"""

QUESTIONS = """
MATCH (q:Query {space: $space}) WHERE q.asked_by IN $ids AND q.id > $after
RETURN q.id AS id, properties(q) AS node, {found: COLLECT { MATCH (q)-[:FOUND]->(m:Message) RETURN m.id ORDER BY m.id }} AS more
ORDER BY id LIMIT $limit
"""

CORRECTIONS = """
MATCH (c:Correction {space: $space}) WHERE any(id IN c.people WHERE id IN $ids) AND c.id > $after
RETURN c.id AS id, c {.kind, .created_at, .undone_at} AS node, {people: [id IN c.people WHERE id IN $ids]} AS more
ORDER BY id LIMIT $limit
"""

AUDIT = """
MATCH (e:AuditEvent {space: $space}) WHERE (e.target IN $ids OR e.actor IN $ids OR e.actor IN $accounts) AND e.id > $after
RETURN e.id AS id, e {.action, .target, .created_at} AS node, {by_them: e.actor IN $ids OR e.actor IN $accounts} AS more
ORDER BY id LIMIT $limit
"""

RECEIPTS = """
MATCH (r:Receipt {space: $space}) WHERE (r.asked_by IN $ids OR r.asked_by IN $accounts) AND r.id > $after
RETURN r.id AS id, properties(r) AS node, {} AS more
ORDER BY id LIMIT $limit
"""

JOBS = """
MATCH (j:Job {space: $space}) WHERE j.account IN $accounts AND j.id > $after
RETURN j.id AS id, properties(j) AS node, {} AS more
ORDER BY id LIMIT $limit
"""

EVENTS = """
MATCH (e:Event {space: $space}) WHERE any(id IN e.people WHERE id IN $ids) AND e.id > $after
RETURN e.id AS id, e {.kind, .what, .session_id, .created_at} AS node, {} AS more
ORDER BY id LIMIT $limit
"""

WEBHOOKS = """
MATCH (w:Webhook {space: $space}) WHERE w.person_id IN $ids AND w.id > $after
RETURN w.id AS id, w {.url, .kinds, .status, .created_at, .last_sent_at} AS node, {} AS more
ORDER BY id LIMIT $limit
"""

SECTIONS: tuple[Section, ...] = (
    Section("person", "Person", PEOPLE, frozenset({"revision", "named_by"})),
    Section("consents", "Consent", CONSENTS, frozenset({"recorded_by"})),
    Section("opt_outs", "OptOut", OPT_OUTS, frozenset({"mark", "key"})),
    Section("accounts", "Account", ACCOUNTS, frozenset({"follows_since"})),
    Section("may_ask_for_them", "Grant", GRANTS, frozenset({"by", "revoked_by"})),
    Section("names_proposed", "NameProposal", NAMES, frozenset({"decided_by", "held"})),
    Section(
        "sessions",
        "Session",
        SESSIONS,
        frozenset(
            {"roster", "addressed_to", "sounds_of", "checkpoint", "thinned_of", "content_hash", "external_id", "transcript",
             "erased_facts", "erased_sources", "erased_names", "words_left_out", "captions_mended", "facts_by", "entities_by",
             "sounds_by", "encoder", "embedder", "error"}
        ),
    ),
    Section("messages", "Message", MESSAGES, frozenset({"readers", "audience", "mirrored", "speaker_id"})),
    Section("said_to_them", "Message", SAID_TO_THEM),
    Section("spoken_of", "Message", SPOKEN_OF),
    Section("facts", "Fact", FACTS, frozenset({"readers", "audience", "compared_as"})),
    Section("images", "Image", IMAGES),
    Section("spoken_of_by_them", "Entity", ENTITIES),
    Section("voices", "Exemplar", EXEMPLARS),
    Section("sounds", "AudioMemory", SOUNDS),
    Section("what_they_are_like", "PersonaNode", PERSONAS),
    Section("let_know_of_it", "Person", SHARED),
    Section("questions", "Query", QUESTIONS, frozenset({"about"})),
    Section("corrections", "Correction", CORRECTIONS),
    Section("audit", "AuditEvent", AUDIT),
    Section("receipts", "Receipt", RECEIPTS, frozenset({"document", "signature", "key"})),
    Section("jobs", "Job", JOBS, frozenset({"key", "body_hash", "request"})),
    Section("events", "Event", EVENTS),
    Section("webhooks", "Webhook", WEBHOOKS),
)  # fmt: skip

NOT_EXPORTED = {
    "Space": "policies of the tenant",
    "LocalSpeaker": "a voice within a session: its label stands with each of their messages",
    "Channel": "what all voices on a line have in common",
    "Schema": "a theme: stands with what they spoke of",
    "Audience": "who else may read: of others; how many stands with each of their messages",
    "Erasure": "of who is being erased, and so no more to be had; over when its receipt is there",
    "Meeting": "what a backend delivers of a meeting, of all who were there; theirs are the messages and sessions made of it",
    "MeetingWork": "how far a meeting is taken in",
    "Delivery": "as a backend sent it, of all who were there, for 72 hours; theirs are the messages made of it",
    "WebhookDelivery": "one event for one webhook: ids",
}
"""Labels of which nothing is exported, and why."""

LIST_LIVING = """
MATCH (p:Person {space: $space}) WHERE p.id IN $ids AND coalesce(p.tombstone, false) = false
RETURN p.id AS id ORDER BY id
"""

LIST_NAMES = """
MATCH (p:Person {space: $space}) WHERE p.id IN $ids
RETURN coalesce(p.aliases, []) + coalesce(p.display_name, []) AS names
"""

LIST_LOGINS = """
MATCH (a:Account {space: $space})-[:IS]->(p:Person) WHERE p.id IN $ids
RETURN a.id AS id ORDER BY id
"""


async def list_names_and_logins(tx: Tx, scope: ReadScope) -> tuple[list[str], list[str]]:
    """What the asker is called, and ids of their logins; of the asker themselves alone."""
    names = [name for row in await rows(tx, LIST_NAMES, space=scope.space, ids=scope.own) for name in row["names"]]
    return names, [row["id"] for row in await rows(tx, LIST_LOGINS, space=scope.space, ids=scope.own)]


async def list_section(
    tx: Tx, scope: ReadScope, section: Section, *, names: Sequence[str], accounts: Sequence[str], after: str, limit: int
) -> list[dict[str, Any]]:
    """The next `limit` of a section for the asker themselves (scope.own): maps of `id`, `node` and `more`. `names`: normal.
    Nothing more from the moment that they are erased: asked for each page, as the export of much takes a while."""
    living = [row["id"] for row in await rows(tx, LIST_LIVING, space=scope.space, ids=list(scope.own))]
    if not living:
        return []
    return await rows(
        tx,
        section.query,
        space=scope.space,
        ids=living,
        audiences=list(scope.audiences),
        names=list(names),
        accounts=list(accounts),
        after=after,
        limit=limit,
    )
