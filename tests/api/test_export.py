"""Everything that is kept of somebody goes to themselves, and to nobody else; with nothing that is others'. Over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from graph_schema.schema import NODES
from service.api.tokens import account_id
from service.graph.driver import changes, rows
from service.graph.export import NOT_EXPORTED, SECTIONS
from service.pipelines.export import VECTORS
from service.types.erasure import Subject, SubjectKind
from tests.api.serving import Api
from tests.conftest import A_VALUE as VALUES
from tests.graph.graph_builders import Said, World, seed

SAID = [
    Said("ana", "I moved to Cork.", ("ana", "ben"), to=("ben",)),
    Said("ben", "Cork is lovely, Ana.", ("ana", "ben"), to=("ana",)),
    Said("ben", "The surprise for Ana is a boat.", ("ben", "cleo"), to=("cleo",)),
    Said("ben", "Whisper it to Ana later.", ("ben",), to=("ana",)),
    Said("ana", "Nobody hears this.", ("ana",), session="attic"),
]
EDGES = {
    "Consent": "(p)-[:GAVE]->(n)",
    "OptOut": "(p)-[:REFUSED]->(n)",
    "Account": "(n)-[:IS]->(p)",
    "Grant": "(n)-[:LETS_ASK_FOR]->(p)",
    "NameProposal": "(n)-[:ABOUT]->(p), (n)-[:EVIDENCED_BY]->(m)",
    "Fact": "(n)-[:EVIDENCED_BY {role: 'source'}]->(m), (n)-[:FOR]->(a)",
    "Image": "(n)-[:ATTACHED_TO]->(m)",
    "Entity": "(n)-[:MENTIONED_IN {surface: 'Cork'}]->(m)",
    "Exemplar": "(p)-[:HAS_EXEMPLAR]->(n)",
    "AudioMemory": "(n)-[:ATTACHED_TO]->(m)",
    "PersonaNode": "(p)-[:HAS_PERSONA]->(n)",
}
"""Label → how one of Ana's hangs together."""
BY_A_TOKEN = """
CREATE (:Job {id: $id, space: $space, created_at: datetime(), kind: 'ingest', key: 'k', account: $account, status: 'complete'})
"""
BY_ID = {
    "Query": ("asked_by", "$ana"),
    "Correction": ("people", "[$ana, $ben]"),
    "AuditEvent": ("target", "$ana"),
    "Receipt": ("asked_by", "$ana"),
    "Event": ("people", "[$ana, $ben]"),
    "Webhook": ("person_id", "$ana"),
    "Job": ("account", "$space + '/Account'"),
    "Grant": ("by", "$space + '/Account'"),
}
"""Label → the property that says whose it is."""
A_VALUE = {**VALUES, "datetime": "datetime({timezone: 'UTC'}) + duration({days: 1})"}
"""Nothing of it has had its time when the service sweeps."""
UNPLANTED = ("id", "space", "tombstone", "follows_since", "checkpoint")
"""What the service itself goes by."""
NAMED = """
MATCH (e:Entity {id: $space + '/Entity'}), (m:Message {id: $id})
SET e.type = 'person', e.normal_name = 'ana'
CREATE (e)-[:MENTIONED_IN {surface: 'Ana'}]->(m)
"""
GIVEN_BY_ANOTHER = """
MATCH (p:Person {id: $ana})
CREATE (:Grant {id: $space + '/another', space: $space, created_at: datetime(), account: 'a', issuer: 'local', subject: 'x',
  by: 'admin', why: 'she is away ill', until: datetime() + duration('P9D')})-[:LETS_ASK_FOR]->(p)
"""
FOR_OTHERS_ALONE = """
MATCH (p:Person {id: $ana}), (n:NameProposal {id: $space + '/NameProposal'}), (w:Webhook {id: $space + '/Webhook'})
MATCH (hers:Message {id: $hers}), (secret:Message {id: $secret})
SET p.named_by = 'account-of-the-administrator', n.held = 'taken', w.url = 'https://x.example/told?key=abracadabra'
CREATE (rests:NameProposal {id: $space + '/rests', space: $space, name: 'Anuschka'})-[:ABOUT]->(p),
  (rests)-[:EVIDENCED_BY]->(hers), (rests)-[:EVIDENCED_BY]->(secret),
  (:NameProposal {id: $space + '/bare', space: $space, name: 'Annabel'})-[:ABOUT]->(p)
"""
"""What the gate tells her nowhere: that a name is somebody's, one that rests on what she may not read, who named her, and what
an address asks with."""
WHOLE = {"Person", "Message", "Session", *EDGES, "Query", "Receipt", "Job"}
"""Labels of which every declared property is there, but for those that are said to be left out."""


async def planted(api: Api) -> World:
    """Of every label one node that is Ana's, with every property set; what somebody else's is has other words."""
    world = await seed(api.services.graph, api.space, ("ana", "ben", "cleo"), SAID)
    await world.attended("ana", "monday")
    given = {"space": api.space, "ana": world.person("ana"), "ben": world.person("ben"), "message": world.message(0)}
    for node in NODES:
        values = {p.name: A_VALUE[p.type] for p in node.properties if p.name not in UNPLANTED}
        made = ", ".join(f"{name}: {value}" for name, value in values.items())
        if node.label in ("Person", "Message", "Session"):
            query = (
                f"MATCH (n:{node.label} {{space: $space}}) WHERE n.id IN [$ana, $message, $session] "
                f"WITH n, properties(n) AS old SET n = {{{made}}}, n += old"
            )
        elif node.label in EDGES or node.label in BY_ID:
            name, value = BY_ID.get(node.label, ("of", "$ana") if node.label == "AudioMemory" else ("space", "$space"))
            edges = f"CREATE {EDGES[node.label]}" if node.label in EDGES else ""
            query = (
                "MATCH (p:Person {id: $ana}), (m:Message {id: $message})-[:FOR]->(a:Audience) "
                f"CREATE (n:{node.label} {{{made}}}) SET n.id = $space + '/{node.label}', n.space = $space, n.{name} = {value} "
                f"{edges}"
            )
        else:
            continue
        await api.services.graph.write(changes, query, **given, session=world.session("monday"))
    await api.services.graph.write(
        changes, "MATCH (p:Person {id: $ana}), (q:Person {id: $ben}) CREATE (p)-[:SHARES {trait: 'x', at: datetime()}]->(q)",
        **given,
    )  # fmt: skip
    await api.services.graph.write(changes, NAMED, space=api.space, id=world.message(1))
    await api.services.graph.write(changes, GIVEN_BY_ANOTHER, space=api.space, ana=world.person("ana"))
    between = {"hers": world.message(0), "secret": world.message(2)}
    await api.services.graph.write(changes, FOR_OTHERS_ALONE, space=api.space, ana=world.person("ana"), **between)
    return world


async def exported(
    api: Api, token: str | None, headers: Mapping[str, str] = MappingProxyType({}), *, vectors: bool = False
) -> tuple[int, Any]:
    sent = {"authorization": f"Bearer {token}", **headers} if token else headers
    answer = await api.http.post(f"/v1/export?vectors={vectors}", headers=sent, timeout=60)
    return answer.status_code, answer.json()


def test_every_label_is_exported_or_said_why_not() -> None:
    exported = {section.label for section in SECTIONS}
    assert exported | set(NOT_EXPORTED) == {node.label for node in NODES} and not exported & set(NOT_EXPORTED)
    declared = {node.label: {p.name for p in node.properties} for node in NODES}
    for section in SECTIONS:
        assert section.without <= declared[section.label], f"{section.name} leaves out what is not there"


async def test_somebody_gets_everything_of_themselves_and_nothing_of_others(api: Api) -> None:
    world = await planted(api)
    ana = api.token("ana", person_id=world.person("ana"))
    job = {"account": account_id(api.space, "local", "ana"), "id": f"{api.space}/by-her-token"}
    await api.services.graph.write(changes, BY_A_TOKEN, space=api.space, **job)
    status, found = await exported(api, ana)
    assert status == 200 and job["id"] in {one["id"] for one in found["jobs"]}, "of an account that no login says"
    declared = {node.label: {p.name for p in node.properties} for node in NODES}
    for section in SECTIONS:
        assert found[section.name], f"nothing in {section.name}"
        if section.label in WHOLE and section.name not in ("said_to_them", "spoken_of", "let_know_of_it"):
            wanted = declared[section.label] - section.without - VECTORS[section.label] - {"space", "tombstone"}
            fullest = max(found[section.name], key=len)
            assert wanted <= fullest.keys(), (section.name, wanted - fullest.keys())
    text = json.dumps(found, ensure_ascii=False)
    assert "I moved to Cork." in text and "Nobody hears this." in text and "Cork is lovely, Ana." in text
    assert {one["text"] for one in found["said_to_them"]} == {"Cork is lovely, Ana."}, "not what she may not read"
    assert [one["text"] for one in found["spoken_of"]] == ["Cork is lovely, Ana."]
    assert len(found["may_ask_for_them"]) == 2 and "she is away ill" not in text, "the reason is of who gave it"
    assert [one["id"] for one in found["names_proposed"]] == [f"{api.space}/NameProposal"]
    assert not any(told in text for told in ('"taken"', "account-of-the-administrator", "abracadabra", "Anuschka", "Annabel"))
    assert [one["url"] for one in found["webhooks"]] == ["https://x.example/told?…"]
    assert "surprise" not in text and "Whisper" not in text and world.person("cleo") not in text
    assert not any(name in one for rows_ in found.values() if isinstance(rows_, list) for one in rows_ for name in one
                   if name.startswith(("embedding_", "vector_", "voiceprint_")))  # fmt: skip
    _, with_vectors = await exported(api, ana, vectors=True)
    assert "vector__campplus" in with_vectors["voices"][0] and "voiceprint__campplus" in with_vectors["person"][0]
    audit = "MATCH (e:AuditEvent {space: $space, action: 'export'}) RETURN e.target AS target"
    assert [row["target"] for row in await api.services.graph.read(rows, audit, space=api.space)] == [world.person("ana")] * 2


async def test_nobody_else_gets_it(api: Api) -> None:
    world = await seed(api.services.graph, api.space, ("ana", "ben", "cleo"), SAID)
    ana, ben = world.person("ana"), world.person("ben")
    _, bens = await exported(api, api.token("ben", person_id=ben))
    assert bens["person_id"] == ben and "Nobody hears this." not in json.dumps(bens)
    acting = {"x-voicegraph-acting-for": ana}
    refused = [
        await exported(api, None),
        await exported(api, api.token("root", scopes=["admin", "read_all", "ask"]), acting),
        await exported(api, api.token("helper", person_id=ben, may_act_for=[ana]), acting),
        await exported(api, api.token("ana", person_id=ana), {"x-voicegraph-heard-by": ben}),
    ]
    assert {status for status, _ in refused} == {403}
    audit = "MATCH (e:AuditEvent {space: $space, action: 'export', target: $ana}) RETURN e"
    assert await api.services.graph.read(rows, audit, space=api.space, ana=ana) == []


async def test_what_is_hidden_is_given_out_no_more_and_one_is_sent_at_a_time(api: Api) -> None:
    """Between the moment that hides somebody, or a message, and the end of the sweep, which may take days."""
    world = await seed(api.services.graph, api.space, ("ana", "ben", "cleo"), SAID)
    ana = api.token("ana", person_id=world.person("ana"))
    erase = await api.services.erase()
    await erase.begin(api.space, Subject(SubjectKind.MESSAGE, world.message(4)), asked_by="admin")
    at_once = await asyncio.gather(*(exported(api, ana) for _ in range(4)))
    sent = [found for status, found in at_once if status == 200]
    assert sent and {found["errors"][0]["extensions"]["code"] for status, found in at_once if status == 429} == {"export_runs"}
    assert {one["text"] for one in sent[0]["messages"]} == {"I moved to Cork."}
    await erase.begin(api.space, Subject(SubjectKind.PERSON, world.person("ana")), asked_by="admin")
    status, found = await exported(api, ana)
    assert status == 200 and not any(found[section.name] for section in SECTIONS)
