"""Two sessions of a household, with something of one of them, Dana Quill, in every store; and what of it is left, looked for by
other means than the product's: in the dump of the whole space."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from service.graph.driver import Graph, changes, rows
from service.graph.dump import Dump, dump_space
from service.graph.write_people import name_person
from service.identity.opt_outs import Marker
from service.language.chat_cache import AnswerCache
from service.pipelines.erase import Erase, EraseConfig
from service.pipelines.erase_files import Files
from service.pipelines.erase_plan import NameConfig
from service.pipelines.erase_sweep import SweepConfig
from service.pipelines.erasure_ledger import Ledger
from service.pipelines.receipts import load_key
from service.types.audio import TextEmbedder
from service.types.ids import derived
from tests.graph.correction_builders import EMBEDDER, ingest, message, session_id, speakers, track

MONDAY = [
    ("dana", "I hid the sapphire in the teapot."),
    ("ben", "Then it is safe there."),
    ("dana", "Ben, bring the ladder on Friday."),
    ("ben", "Dana is fond of ladders."),
    ("cleo", "I brought a melon."),
]
TUESDAY = [("ben", "The melon was sweet."), ("dana", "Zanzibar is where I go in May."), ("cleo", "Send us a card.")]
WORDS = ("sapphire", "ladder on friday", "zanzibar")
"""Of hers, which nobody else said."""

PLANT = """
MATCH (dana:Person {id: $dana, space: $space}), (ben:Person {id: $ben, space: $space}), (cleo:Person {id: $cleo, space: $space})
MATCH (hers:Message {id: $hers, space: $space}), (his:Message {id: $his, space: $space}), (next:Message {id: $next, space: $space})
MATCH (melon:Message {id: $melon, space: $space})
MATCH (session:Session {id: $session, space: $space}), (track:LocalSpeaker {id: $track, space: $space})
MATCH (his)-[:FOR]->(audience:Audience)
SET session.title = 'Tea with Dana Quill and Ben', session.roster = [$dana, $ben], session.sounds_of = [$dana, $ben],
    track.label = 'Dana Quill', his.said_to = ['Dana Quill', 'cleo'],
    his.marks = '[{"aspect": "feeling", "target": "Dana", "intensity": 0.5, "polarity": 1.0}, {"aspect": "attitude", "target": "ladders", "intensity": 0.5, "polarity": 1.0}]', his.affect_of = $ben
CREATE (own:Fact {id: $space + '/own', space: $space, created_at: datetime(), session_id: $session, kind: 'statement',
          statement: '{speaker} hid the sapphire', said_at: hers.said_at, extractor: 'test'})-[:EVIDENCED_BY {role: 'source'}]->(hers),
  (owes:Fact {id: $space + '/owes', space: $space, created_at: datetime(), session_id: $session, kind: 'statement',
          statement: 'The sapphire is safe', said_at: his.said_at, extractor: 'test'})-[:EVIDENCED_BY {role: 'source'}]->(his),
  (owes)-[:EVIDENCED_BY {role: 'context'}]->(hers),
  (kept:Fact {id: $space + '/kept', space: $space, created_at: datetime(), session_id: $session, kind: 'statement',
          statement: 'It is safe there', said_at: his.said_at, extractor: 'test'})-[:EVIDENCED_BY {role: 'source'}]->(his),
  (kept)-[:EVIDENCED_BY {role: 'context'}]->(hers),
  (about:Fact {id: $space + '/about', space: $space, created_at: datetime(), session_id: $session, kind: 'preference',
          statement: 'Dana is fond of ladders', said_at: next.said_at, extractor: 'test'})-[:EVIDENCED_BY {role: 'source'}]->(next),
  (plain:Fact {id: $space + '/plain', space: $space, created_at: datetime(), session_id: $session, kind: 'statement',
          statement: '{speaker} brought a melon', said_at: melon.said_at, extractor: 'test'})-[:EVIDENCED_BY {role: 'source'}]->(melon)
FOREACH (f IN [own, owes, kept, about, plain] | CREATE (f)-[:FOR]->(audience) SET f.audience = audience.id, f.readers = his.readers)
CREATE (theme:Schema {id: $space + '/theme', space: $space, created_at: datetime(), label: 'things'}),
  (gem:Entity {id: $space + '/gem', space: $space, created_at: datetime(), type: 'thing', normal_name: 'sapphire'})
    -[:MENTIONED_IN {surface: 'the sapphire', kind: 'noun'}]->(hers), (gem)-[:IN_SCHEMA]->(theme),
  (ladder:Entity {id: $space + '/ladder', space: $space, created_at: datetime(), type: 'thing', normal_name: 'ladder'})
    -[:MENTIONED_IN {surface: 'the ladder', kind: 'noun'}]->(hers), (ladder)-[:MENTIONED_IN {surface: 'ladders', kind: 'noun'}]->(next),
  (ladder)-[:IN_SCHEMA]->(theme),
  (named:Entity {id: $space + '/named', space: $space, created_at: datetime(), type: 'person', normal_name: 'dana'})
    -[:MENTIONED_IN {surface: 'Dana', kind: 'name'}]->(next), (named)-[:IN_SCHEMA]->(theme),
  (gem)-[:MICRO {weight: 1.0, at: hers.said_at}]->(ladder),
  (dana)-[:HAS_PERSONA]->(:PersonaNode {id: $space + '/trait', space: $space, created_at: datetime(), kind: 'independent',
    aspect: 'attitude', description: 'is fond of Zanzibar'})-[:EVIDENCED_BY]->(hers),
  (ben)-[:HAS_PERSONA]->(:PersonaNode {id: $space + '/toward', space: $space, created_at: datetime(), kind: 'cross_entity',
    aspect: 'feeling', description: 'is fond of them'})-[:CROSS_BRAIN]->(dana),
  (dana)-[:SHARES {trait: 'x', against: false, at: datetime()}]->(ben),
  (:AudioMemory {id: $space + '/laugh', space: $space, created_at: datetime(), label: 'laughing', of: $dana, waveform: 'T2dn'})
    -[:ATTACHED_TO]->(hers),
  (:Image {id: $space + '/image', space: $space, created_at: datetime(), caption: 'a sapphire', position: 0})-[:ATTACHED_TO]->(hers),
  (:Query {id: $space + '/asked', space: $space, created_at: datetime(), text: 'Where is the sapphire?', asked_by: $dana})
    -[:FOUND {score: 0.9}]->(hers),
  (:Query {id: $space + '/of-her', space: $space, created_at: datetime(), text: 'What did Dana say?', asked_by: $ben, about: [$dana]}),
  (:Query {id: $space + '/of-melons', space: $space, created_at: datetime(), text: 'Who brought a melon?', asked_by: $ben})
    -[:FOUND {score: 0.9}]->(melon),
  (:Account {id: $account, space: $space, created_at: datetime(), issuer: 'mailto', subject: 'dana@example.org',
    name: 'Dana Q.'})-[:IS {by: 'admin', decision: 'assigned'}]->(dana),
  (:Account {id: $space + '/bens', space: $space, created_at: datetime(), issuer: 'zoom', subject: 'u-2', name: 'Ben'})
    -[:IS {by: $dana, decision: 'assigned'}]->(ben),
  (:Grant {id: $space + '/let', space: $space, created_at: datetime(), account: 'a', issuer: 'local', subject: 'speaker', by: 'b',
    why: '', until: datetime() + duration('P9D')})-[:LETS_ASK_FOR]->(dana),
  (:Grant {id: $space + '/lets', space: $space, created_at: datetime(), account: $account, issuer: 'mailto',
    subject: 'dana@example.org', by: 'b', why: '', until: datetime() + duration('P9D')})-[:LETS_ASK_FOR]->(ben),
  (:Grant {id: $space + '/bens-let', space: $space, created_at: datetime(), account: 'a', issuer: 'local', subject: 'speaker',
    by: $account, why: 'Dana Quill said so', until: datetime() + duration('P9D')})-[:LETS_ASK_FOR]->(ben),
  (:NameProposal {id: $space + '/proposed', space: $space, created_at: datetime(), name: 'Dana Quill', normal_name: 'dana quill',
    status: 'open', sources: [], num_claims: 1, confidence: 0.5})-[:ABOUT]->(track),
  (:Event {id: $space + '/event', space: $space, created_at: datetime(), kind: 'identity.revised', what: 'merge',
    people: [$dana, $ben], voices: [], counts: '{}'}),
  (:Job {id: $space + '/job', space: $space, created_at: datetime(), kind: 'name_person', key: 'k', account: 'a',
    status: 'complete', result: '{"person_id": "' + $dana + '"}'}),
  (:Job {id: $space + '/bens-job', space: $space, created_at: datetime(), kind: 'name_person', key: 'l', account: 'a',
    status: 'complete', result: '{"person_id": "' + $ben + '"}'}),
  (:AuditEvent {id: $space + '/audit', space: $space, created_at: datetime(), actor: 'admin', action: 'apply_name',
    target: $dana, why: 'she is Dana Quill'}),
  (cleo)-[:NOT_SAME_AS {by: $dana, why: 'Dana said so'}]->(ben), (cleo)-[:MAY_BE {why: 'alike', cosine: 0.4}]->(dana),
  (:Meeting {id: $space + '/meeting', space: $space, created_at: datetime(), source: 'zoom', provider: 'zoom', external_id: 'm1',
    session_id: $session, status: 'closed', num_deliveries: 1}),
  (:MeetingWork {id: $space + '/meeting', space: $space, created_at: datetime(), num_folded: 1}),
  (:Delivery {id: $space + '/delivery', space: $space, created_at: datetime(), meeting_id: $space + '/meeting', source: 'zoom',
    key: 'd1', seq: 0, folded: 0, status: 'done', body: '{"name": "Dana Quill", "text": "I hid the sapphire"}'}),
  (:Delivery {id: $space + '/dead', space: $space, created_at: datetime(), source: 'zoom', key: 'd2', seq: -1, status: 'dead',
    body: '{"name": "dana@example.org"}'}),
  (:Webhook {id: $space + '/hook', space: $space, created_at: datetime(), url: 'https://x.example/', kinds: ['erased'],
    person_id: $dana, status: 'active', generation: 1})
SET his.mirrored = ['graphiti/e5/x'], hers.mirrored = ['graphiti/e5/x']
"""  # noqa: E501 - a line a node


@dataclass
class Household:
    graph: Graph
    space: str
    folder: Path
    dana: str
    ben: str
    cleo: str
    forgotten: list[str] = field(default_factory=list)
    """Messages that an engine was told of."""

    @property
    def account(self) -> str:
        return derived("account", self.space, "dana")

    def eraser(
        self,
        *,
        batch: int = 500,
        graph: Graph | None = None,
        most_elsewhere: int = 100,
        marker: Callable[[], Marker | None] = lambda: None,
    ) -> Erase:
        async def forget_mirrored(space: str, ids: Sequence[str]) -> None:
            assert space == self.space
            self.forgotten += [id for id in ids if id not in self.forgotten]

        async def embedder() -> TextEmbedder:
            return EMBEDDER

        names = NameConfig(most_elsewhere=most_elsewhere)
        sweep = SweepConfig(turns=batch, facts=batch, some=batch, audiences=batch, moved=batch, names=names)
        return Erase(
            graph or self.graph,
            lambda: load_key(self.folder / "receipts.key"),
            Ledger(self.folder / "erasures.jsonl"),
            Files(self.folder / "uploads", self.folder / "meetings", self.folder / "chat", self.folder / "tokens.json"),
            forget_mirrored=forget_mirrored,
            embedder=embedder,
            marker=marker,
            config=EraseConfig(sweep=sweep),
        )

    async def dump(self) -> Dump:
        return await self.graph.read(dump_space, self.space)

    async def left(self) -> list[str]:
        """Every node or edge that still tells of Dana, but for what is kept as proof and what others said."""
        dump, found = await self.dump(), []
        needles = [self.dana, self.dana.replace("-", ""), "dana", "quill", *WORDS]
        for one in (*dump["nodes"], *dump["edges"]):
            labels = one.get("labels", [one.get("type")])
            if labels == ["Event"] and one["kind"] == "erased":
                continue
            told = {k: v for k, v in one.items() if not _is_proof(labels[0], k, v, self.dana)}
            text = json.dumps(told, ensure_ascii=False).lower()
            if labels == ["Receipt"]:
                text = text.replace(self.dana, "")
            found += [f"{labels[0]} {needle}: {text[:300]}" for needle in needles if needle in text]
        return found


def _is_proof(label: str, key: str, value: Any, dana: str) -> bool:
    tombstone = label == "Person" and key == "id" and value == dana
    audit = label == "AuditEvent" and key in ("target", "actor", "id")
    others = label == "Message" and key == "text" and not any(word in str(value).lower() for word in WORDS)
    gave = label == "GAVE" and key == "from"
    return tombstone or audit or others or gave


async def a_household(graph: Graph, space: str, folder: Path) -> Household:
    """Everything in its place, also files."""
    found = await ingest(graph, space, "monday", MONDAY)
    await ingest(graph, space, "tuesday", TUESDAY)
    dana, ben, cleo = found[0], found[1], (await speakers(graph, space, "tuesday"))[2]
    assert dana and ben and cleo
    household = Household(graph, space, folder, dana, ben, cleo)
    for person, name in ((dana, "Dana Quill"), (ben, "Ben"), (cleo, "Cleo")):
        await graph.write(name_person, space, person, name, by="admin")
    await graph.write(
        changes, PLANT, space=space, dana=dana, ben=ben, cleo=cleo, account=household.account,
        hers=message(space, "monday", 0), his=message(space, "monday", 1), next=message(space, "monday", 3),
        melon=message(space, "monday", 4), session=session_id(space, "monday"), track=track(space, "monday", "dana"),
    )  # fmt: skip
    sent = folder / "uploads" / household.account / ("0" * 64)
    sent.parent.mkdir(parents=True, exist_ok=True)
    sent.write_text("sound")
    AnswerCache(folder / "chat").save(space, "x", "I hid the sapphire")
    return household


async def told(household: Household, query: str, **more: Any) -> list[dict[str, Any]]:
    return await household.graph.read(rows, query, space=household.space, **more)


class Broken(Exception):
    pass


class Breaking(Graph):
    """The same database, to a process that ends with its `last` transaction."""

    def __init__(self, graph: Graph, last: int) -> None:
        super().__init__(graph._driver, graph.config, graph.version)
        self.left = last

    async def write(self, work: Any, *args: Any, **kwargs: Any) -> Any:
        done = await super().write(work, *args, **kwargs)
        self.left -= 1
        if self.left <= 0:
            raise Broken
        return done
